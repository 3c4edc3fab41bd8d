/* SPDX-License-Identifier: MIT */

/*
 * Plays recordings of two kernels' o2iblnd against our complete stack: LNet, node, connections, and queue pairs
 * of an in-process device.  A puppet (player/peer.h) sends the messages of one side, with our cookies, keys,
 * addresses and handles in place of the recorded ones.  All that our stack sends, including private data and
 * rejects of the connection manager, must be what the other side of the recording sent, byte for byte, except
 * for these names and for stamps.  Each recording is played twice, once for each side.
 */

#include "tests/judge/player/play.h"
#include "tests/judge/player/stage.h"

/* A message from the puppet that is not in the recording. */
static struct o2_msg extra(const struct stage *stage, enum o2_msg_type type)
{
	return (struct o2_msg){
		.ibm_version = O2_MSG_VERSION_2,
		.ibm_type = (uint8_t)type,
		.ibm_srcnid = stage->peer.ni.config.nid,
		.ibm_srcstamp = stage->peer.ni.config.incarnation,
		.ibm_dstnid = stage->ni.config.nid,
		.ibm_dststamp = stage->ni.config.incarnation,
	};
}

/* For a recording that starts on an open connection: connect, and bring each side to owe its recorded credits. */
static void connect_before(struct stage *stage)
{
	const uint32_t ours = stage->we_are_a ? stage->recording->owed_by_a : stage->recording->owed_by_b;
	const uint32_t theirs = stage->we_are_a ? stage->recording->owed_by_b : stage->recording->owed_by_a;
	const struct o2_lnet_target nowhere = {.nid = stage->peer.ni.config.nid, .portal = 1};
	struct o2_msg msg = extra(stage, O2_MSG_CONNREQ);
	struct player_heard_cm heard;
	static struct player_heard ignored;
	uint8_t bytes[O2_MSG_BYTES];

	msg.ibm_dststamp = 0;
	msg.u.connparams.ibcp_queue_depth = 8;
	msg.u.connparams.ibcp_max_frags = O2_MAX_FRAGS;
	msg.u.connparams.ibcp_max_msg_size = O2_MSG_BYTES;
	assert_int_equal(
		player_peer_request(&stage->peer, O2_SERVICE_PORT, bytes, (size_t)stage_encode(&msg, bytes)),
		0);
	stage_settle(stage);
	assert_true(player_peer_take_cm(&stage->peer, O2_CM_ESTABLISHED, &heard));
	for (uint32_t i = 0; i < theirs; i++) {
		assert_int_equal(o2_lnet_put(stage->endpoint.lnet, &nowhere, NULL, NULL, NULL), 0);
		stage_settle(stage);
		assert_true(player_peer_take(&stage->peer, &ignored));
		stage->nresults--;
	}
	for (uint32_t i = 0; i < ours; i++) {
		msg = extra(stage, O2_MSG_IMMEDIATE);
		msg.u.immediate.hdr = (struct o2_lnet_hdr){.dest_nid = stage->ni.config.nid,
							   .src_nid = stage->peer.ni.config.nid,
							   .type = O2_LNET_ACK};
		assert_int_equal(player_peer_send(&stage->peer, bytes, (uint32_t)stage_encode(&msg, bytes)),
				 0);
		stage_settle(stage);
	}
}

static void play(const struct player_recording *recording, bool we_are_a)
{
	static struct stage stage;
	struct player_heard_cm heard;
	uint32_t i = 0;

	stage_open(&stage, recording, we_are_a);
	/* Skip the end of a connection that was set up before the recording started. */
	while (stage.script->step[i].kind == STEP_DISCONNECT ||
	       stage.script->step[i].kind == STEP_DISCONNECTED)
		i++;
	if (stage.script->step[i].kind == STEP_MESSAGE)
		connect_before(&stage);
	for (; i < stage.script->count; i++) {
		const struct player_step *step = &stage.script->step[i];

		if (step->from_a == we_are_a)
			stage_expect(&stage, step);
		else
			stage_inject(&stage, step);
	}
	/* Ignore the confirmation of the last disconnect, because recordings end before it. */
	player_peer_take_cm(&stage.peer, O2_CM_DISCONNECTED, &heard);
	/* No message is missing or left over, and every operation ended with the recorded result. */
	assert_int_equal(stage.peer.nheard, 0);
	assert_int_equal(stage.peer.nheard_cm, 0);
	assert_int_equal(o2_lnet_messages(stage.endpoint.lnet), 0);
	assert_int_equal(stage.nresults, stage.noperations);
	assert_int_equal(stage.nfailed, recording->nomatch ? stage.noperations : 0);
	if (recording->nomatch && stage.noperations > 0)
		assert_int_equal(stage.status, -ENODATA);
	stage_close(&stage);
}

int main(void)
{
	return player_run(play);
}
