/* SPDX-License-Identifier: MIT */
#include "props/hostile/hostile_internal.h"

/* Memory of the victim's that waits to be written to. */

bool o2_victim_waits_for_put(struct o2_hostile *h, uint64_t nob, enum o2_reg_mode mode,
			     struct o2_liar_sink *sink)
{
	struct o2_msg ack;

	*sink = (struct o2_liar_sink){.done = O2_MSG_PUT_DONE};
	if (!o2_victim_serves(h, nob, mode))
		return false;
	o2_liar_begin(h, O2_MSG_PUT_REQ);
	if (!o2_liar_send(h) || !o2_liar_hears(h, O2_MSG_PUT_ACK, &ack))
		return false;
	sink->desc = ack.u.putack.ibpam_rd;
	sink->cookie = ack.u.putack.ibpam_dst_cookie;
	return true;
}

bool o2_victim_waits(struct o2_hostile *h, uint64_t nob, enum o2_reg_mode mode, struct o2_liar_sink *sink)
{
	struct o2_msg request;

	if (h->world->outside)
		return o2_victim_waits_for_put(h, nob, mode, sink);
	*sink = (struct o2_liar_sink){.done = O2_MSG_GET_DONE};
	if (!o2_victim_get(h, nob, mode) || !o2_liar_hears(h, O2_MSG_GET_REQ, &request))
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
