/* SPDX-License-Identifier: MIT */
#include "props/hostile/hostile_internal.h"

/* Shared by the scripts: a victim that waits, and the one message of most rows. */

#define UNKNOWN_COOKIE 0x7777u

/* Always the sink of a PUT: the victim serves the bytes, and has answered the PUT_REQ. */
static bool waits_for_put(struct o2_hostile *h, enum o2_reg_mode mode, struct o2_liar_sink *sink)
{
	struct o2_msg ack;

	*sink = (struct o2_liar_sink){.done = O2_MSG_PUT_DONE};
	if (!o2_victim_does(h, O2_ACT_SERVE, O2_VICTIM_BYTES, mode))
		return false;
	o2_liar_begin(h, O2_MSG_PUT_REQ);
	if (!o2_liar_send(h) || !o2_liar_hears(h, O2_MSG_PUT_ACK, &ack))
		return false;
	sink->desc = ack.u.putack.ibpam_rd;
	sink->cookie = ack.u.putack.ibpam_dst_cookie;
	return true;
}

bool o2_victim_waits(struct o2_hostile *h, enum o2_reg_mode mode, struct o2_liar_sink *sink)
{
	struct o2_msg request;

	if (h->world->outside)
		return waits_for_put(h, mode, sink);
	*sink = (struct o2_liar_sink){.done = O2_MSG_GET_DONE};
	if (!o2_victim_does(h, O2_ACT_GET, O2_VICTIM_BYTES, mode) ||
	    !o2_liar_hears(h, O2_MSG_GET_REQ, &request))
		return false;
	sink->desc = request.u.get.ibgm_rd;
	sink->cookie = request.u.get.ibgm_cookie;
	return true;
}

bool o2_liar_completes(struct o2_hostile *h, enum o2_msg_type type, uint64_t cookie, int32_t status)
{
	struct o2_msg *msg = o2_liar_begin(h, type);

	msg->u.completion.ibcm_cookie = cookie;
	msg->u.completion.ibcm_status = status;
	return o2_liar_send(h);
}

bool o2_victim_awaits(struct o2_hostile *h, enum o2_msg_type said, enum o2_reg_mode mode, uint64_t *cookie)
{
	const bool put = said == O2_MSG_PUT_REQ;
	struct o2_liar_sink sink;
	struct o2_msg request;

	if (said == O2_MSG_PUT_ACK) {
		bool waits = waits_for_put(h, mode, &sink);

		*cookie = sink.cookie;
		return waits;
	}
	if (!o2_victim_does(h, put ? O2_ACT_PUT : O2_ACT_GET, O2_VICTIM_BYTES, mode) ||
	    !o2_liar_hears(h, said, &request))
		return false;
	*cookie = put ? request.u.putreq.ibprm_cookie : request.u.get.ibgm_cookie;
	return true;
}

static bool say(struct o2_hostile *h, const struct o2_lie *lie, uint64_t cookie)
{
	struct o2_msg *msg = o2_liar_begin(h, lie->type);

	if (lie->type == O2_MSG_PUT_ACK) {
		msg->u.putack.ibpam_src_cookie = cookie;
	} else if (lie->type == O2_MSG_PUT_NAK || lie->type == O2_MSG_PUT_DONE ||
		   lie->type == O2_MSG_GET_DONE) {
		msg->u.completion.ibcm_cookie = cookie;
		msg->u.completion.ibcm_status = lie->status;
	}
	return o2_liar_send_spoiled(h, &lie->spoil);
}

bool o2_misbehaviour_do(struct o2_hostile *h, const struct o2_misbehaviour *what)
{
	const struct o2_lie *lie = &what->lie;
	uint64_t cookie = UNKNOWN_COOKIE;

	if (what->script != NULL)
		return what->script(h);
	if (lie->type == O2_MSG_CONNREQ)
		return o2_liar_asks(h, &lie->spoil);
	if (lie->type == O2_MSG_CONNACK)
		return o2_liar_answers(h, &lie->spoil);
	if (lie->after != 0 && !o2_victim_awaits(h, lie->after, lie->mode, &cookie))
		return false;
	for (uint32_t said = 0; said <= lie->more; said++)
		if (!say(h, lie, cookie))
			return false;
	return true;
}
