/* SPDX-License-Identifier: MIT */
#include "mem/kmap.h"
#include "tests/judge/player/stage.h"

/* Checks that our endpoint sends the messages that our side of the recording sent. */

/* Start the operation that the recorded side's application started; only once for each step. */
static void operate(struct stage *stage, const struct player_step *step)
{
	const uint32_t index = (uint32_t)(step - stage->script->step);
	struct o2_transfer_memory memory;
	struct o2_lnet_target target;
	uint32_t length_bytes;
	struct o2_error error;
	int rc;

	if (index < stage->started)
		return;
	stage->started = index + 1;
	stage->noperations++;
	target = player_target(step, &length_bytes);
	memory = stage_memory(stage, stage->page, length_bytes);
	stage->operation_page = stage->page;
	stage->page += length_bytes / stage->ni.arena.page_bytes + 1;
	if (step->msg.ibm_type == O2_MSG_IMMEDIATE && player_lnet_hdr(step)->payload_length > 0)
		assert_int_equal(o2_copy_to_buffer(&stage->ni.arena, &memory.buffer, step->payload, &error),
				 0);
	rc = player_lnet_hdr(step)->type == O2_LNET_GET
		     ? o2_lnet_get(stage->endpoint.lnet, &target, &memory, NULL, &error)
		     : o2_lnet_put(stage->endpoint.lnet, &target, &memory, NULL, &error);
	assert_int_equal(rc, 0);
	stage_settle(stage);
}

/* Start our next operation in the recording, because it is the reason for the connection request. */
static void operate_next(struct stage *stage, const struct player_step *from)
{
	const struct player_step *end = stage->script->step + stage->script->count;

	for (const struct player_step *step = from; step < end; step++)
		if (step->from_a == stage->we_are_a && player_is_operation(step)) {
			operate(stage, step);
			return;
		}
	STEP_FAIL(from, "the recording does not say why it connects");
}

/* The parts of a message that hold names (handles, keys, cookies); NULL: the message does not have this part. */
struct parts {
	struct o2_lnet_hdr *hdr;
	struct o2_rdma_desc *desc;
	uint64_t *cookie;
};

static struct parts parts_of(struct o2_msg *msg)
{
	switch (msg->ibm_type) {
	case O2_MSG_IMMEDIATE:
		return (struct parts){.hdr = &msg->u.immediate.hdr};
	case O2_MSG_PUT_REQ:
		return (struct parts){.hdr = &msg->u.putreq.hdr, .cookie = &msg->u.putreq.ibprm_cookie};
	case O2_MSG_GET_REQ:
		return (struct parts){&msg->u.get.hdr, &msg->u.get.ibgm_rd, &msg->u.get.ibgm_cookie};
	case O2_MSG_PUT_ACK:
		return (struct parts){.desc = &msg->u.putack.ibpam_rd,
				      .cookie = &msg->u.putack.ibpam_dst_cookie};
	default:
		return (struct parts){.hdr = NULL};
	}
}

/* Note our names for the recorded ones, and clear what may differ in both messages, which have the same type. */
static void mask(struct stage *stage, struct o2_msg *ours, struct o2_msg *recorded)
{
	const struct parts our = parts_of(ours), their = parts_of(recorded);
	struct o2_lnet_hdr *our_hdr = our.hdr, *recorded_hdr = their.hdr;

	if (our.cookie != NULL) {
		stage_add_name(stage, (struct name){.recorded = *their.cookie, .ours = *our.cookie});
		*our.cookie = *their.cookie = 0;
	}
	if (our.desc != NULL) {
		stage->sink = (struct sink){our.desc->rd_frags[0].rf_addr, our.desc->rd_key};
		our.desc->rd_key = their.desc->rd_key = 0;
		our.desc->rd_frags[0].rf_addr = their.desc->rd_frags[0].rf_addr = 0;
	}
	if (our_hdr == NULL || our_hdr->type != recorded_hdr->type)
		return;
	if (our_hdr->type == O2_LNET_PUT && recorded_hdr->msg.put.ack_wmd.wh_object_cookie != UINT64_MAX &&
	    our_hdr->msg.put.ack_wmd.wh_object_cookie != UINT64_MAX) {
		stage_add_name(stage,
			       (struct name){.recorded = recorded_hdr->msg.put.ack_wmd.wh_object_cookie,
					     .handle = our_hdr->msg.put.ack_wmd});
		our_hdr->msg.put.ack_wmd = recorded_hdr->msg.put.ack_wmd;
	}
	if (our_hdr->type == O2_LNET_GET) {
		stage_add_name(stage,
			       (struct name){.recorded = recorded_hdr->msg.get.return_wmd.wh_object_cookie,
					     .handle = our_hdr->msg.get.return_wmd});
		our_hdr->msg.get.return_wmd = recorded_hdr->msg.get.return_wmd;
	}
}

/* Assert that both messages are equal byte for byte after masking.  Compares fields first, for a clear report. */
static void assert_same(struct stage *stage, const struct player_step *step, const uint8_t *bytes,
			size_t length)
{
	static struct o2_msg ours, recorded;
	static uint8_t our_bytes[O2_MSG_BYTES], recorded_bytes[O2_MSG_BYTES];
	struct o2_error error;
	int n;

	assert_int_equal(o2_msg_decode(bytes, length, NULL, &ours, &error), 0);
	recorded = step->msg;
	if (ours.ibm_type != recorded.ibm_type)
		STEP_FAIL(step, "ours is a %s", o2_msg_type_name(ours.ibm_type));
	if (ours.ibm_credits != recorded.ibm_credits)
		STEP_FAIL(step, "ours returns %u credits, not %u", ours.ibm_credits, recorded.ibm_credits);
	assert_int_equal(ours.cksum_flavour, recorded.cksum_flavour);
	assert_int_equal(ours.ibm_nob, recorded.ibm_nob);
	mask(stage, &ours, &recorded);
	ours.cksum_flavour = recorded.cksum_flavour = O2_CKSUM_NONE;
	n = o2_msg_encode(&ours, NULL, our_bytes, sizeof(our_bytes), &error);
	assert_int_equal(o2_msg_encode(&recorded, NULL, recorded_bytes, sizeof(recorded_bytes), &error), n);
	if (memcmp(our_bytes, recorded_bytes, (size_t)n) != 0)
		print_message("%s: ours differs\n", player_step_text(step));
	assert_memory_equal(our_bytes, recorded_bytes, (size_t)n);
}

static void expect_message(struct stage *stage, const struct player_step *step)
{
	static struct player_heard heard;

	if (stage->peer.nheard == 0 && player_is_operation(step))
		operate(stage, step);
	if (!player_peer_take(&stage->peer, &heard))
		STEP_FAIL(step, "we say nothing");
	assert_same(stage, step, heard.bytes, heard.length_bytes);
}

static void expect_reject(struct stage *stage, const struct player_step *step)
{
	const struct player_heard_cm heard = stage_take_cm(stage, step, O2_CM_REJECTED);
	struct o2_reject reject;
	struct o2_error error;

	assert_int_equal(heard.reason, 28);
	assert_int_equal(o2_reject_decode(heard.private_data, heard.private_bytes, &reject, &error), 0);
	assert_memory_equal(&reject, &step->reject, sizeof(reject));
}

void stage_expect(struct stage *stage, const struct player_step *step)
{
	struct player_heard_cm heard;

	switch (step->kind) {
	case STEP_MESSAGE:
		expect_message(stage, step);
		return;
	case STEP_REQUEST:
		if (stage->peer.nheard_cm == 0)
			operate_next(stage, step);
		heard = stage_take_cm(stage, step, O2_CM_REQUEST);
		/* Put the event back: the puppet's answer needs it. */
		stage->peer.heard_cm[stage->peer.nheard_cm++] = heard;
		assert_same(stage, step, heard.private_data, heard.private_bytes);
		return;
	case STEP_REPLY:
		heard = stage_take_cm(stage, step, O2_CM_ESTABLISHED);
		assert_same(stage, step, heard.private_data, heard.private_bytes);
		return;
	case STEP_REJECT:
		expect_reject(stage, step);
		return;
	case STEP_READY:
		stage_take_cm(stage, step, O2_CM_ESTABLISHED);
		return;
	case STEP_DISCONNECT:
		o2_node_close_peer(stage->endpoint.node, stage->peer.ni.config.nid, 0);
		stage_settle(stage);
		stage_take_cm(stage, step, O2_CM_DISCONNECTED);
		return;
	case STEP_DISCONNECTED:
		stage_take_cm(stage, step, O2_CM_DISCONNECTED);
		return;
	case STEP_WRITE:
		stage_assert_moved(stage, step);
		return;
	}
}
