/* SPDX-License-Identifier: MIT */
#include "tests/judge/player/stage.h"

/* Lets the puppet send the other side's recorded messages, with our names in place of the recorded ones. */

static void point_to_data(const struct stage *stage, struct o2_rdma_desc *desc)
{
	assert_int_equal(desc->rd_nfrags, 1);
	desc->rd_key = stage->peer.data_mr->rkey;
	desc->rd_frags[0].rf_addr = (uintptr_t)stage->peer.data;
}

/* Replace recorded names of our objects in the puppet's message by ours. */
static void substitute(struct stage *stage, const struct player_step *step, struct o2_msg *msg)
{
	struct o2_lnet_hdr *hdr = &msg->u.immediate.hdr;

	switch (msg->ibm_type) {
	case O2_MSG_IMMEDIATE:
		if (hdr->type == O2_LNET_ACK)
			hdr->msg.ack.dst_wmd =
				stage_find_name(stage, step, hdr->msg.ack.dst_wmd.wh_object_cookie)->handle;
		if (hdr->type == O2_LNET_REPLY)
			hdr->msg.reply.dst_wmd =
				stage_find_name(stage, step, hdr->msg.reply.dst_wmd.wh_object_cookie)->handle;
		return;
	case O2_MSG_PUT_ACK:
		msg->u.putack.ibpam_src_cookie =
			stage_find_name(stage, step, msg->u.putack.ibpam_src_cookie)->ours;
		point_to_data(stage, &msg->u.putack.ibpam_rd);
		return;
	case O2_MSG_GET_REQ:
		point_to_data(stage, &msg->u.get.ibgm_rd);
		return;
	case O2_MSG_PUT_NAK:
	case O2_MSG_PUT_DONE:
	case O2_MSG_GET_DONE:
		msg->u.completion.ibcm_cookie =
			stage_find_name(stage, step, msg->u.completion.ibcm_cookie)->ours;
		return;
	default:
		return;
	}
}

static void inject_message(struct stage *stage, const struct player_step *step)
{
	static struct o2_msg msg;
	uint8_t bytes[O2_MSG_BYTES];

	msg = step->msg;
	substitute(stage, step, &msg);
	assert_int_equal(player_peer_send(&stage->peer, bytes, (uint32_t)stage_encode(&msg, bytes)), 0);
}

void stage_inject(struct stage *stage, const struct player_step *step)
{
	uint8_t bytes[O2_MSG_BYTES];
	struct player_heard_cm heard;

	switch (step->kind) {
	case STEP_MESSAGE:
		inject_message(stage, step);
		break;
	case STEP_WRITE:
		assert_int_equal(player_peer_write(&stage->peer, stage->sink.addr, stage->sink.key,
						   (uint32_t)step->bytes),
				 0);
		stage_settle(stage);
		stage_assert_moved(stage, step);
		break;
	case STEP_REQUEST:
		assert_int_equal(player_peer_request(&stage->peer, O2_SERVICE_PORT, bytes,
						     (size_t)stage_encode(&step->msg, bytes)),
				 0);
		break;
	case STEP_REPLY:
		heard = stage_take_cm(stage, step, O2_CM_REQUEST);
		assert_int_equal(player_peer_reply(&stage->peer, heard.id, bytes,
						   (size_t)stage_encode(&step->msg, bytes)),
				 0);
		break;
	case STEP_REJECT:
		heard = stage_take_cm(stage, step, O2_CM_REQUEST);
		assert_int_equal(o2_reject_encode(&step->reject, bytes, sizeof(bytes), NULL),
				 O2_REJECT_BYTES);
		player_peer_reject(heard.id, bytes, O2_REJECT_BYTES);
		break;
	case STEP_DISCONNECT:
		player_peer_disconnect(&stage->peer);
		break;
	case STEP_READY: /* the earlier steps cause it */
	case STEP_DISCONNECTED:
		break;
	}
	stage_settle(stage);
}
