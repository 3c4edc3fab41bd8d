/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stddef.h>

#include "second.h"

/*
 * device: the registration mode (docs/modes.md, "Choosing a mode") and the depths of the queues
 * (docs/transport.md, "Sizes", "Tunables").
 */

#define OLD 0x11u

struct room {
	uint64_t depth;
	uint64_t sends;
	uint64_t send_wrs;
	uint64_t recv_wrs;
};

static int32_t choose(const struct o2_impl_device_in *in, uint32_t *mode, struct o2_impl_refusal *refusal)
{
	const bool newer = in->preference == O2_IMPL_PREFER_MAPPING;
	bool map = in->map_on_demand > 0;

	if (in->map_on_demand > 256)
		return refuse(refusal, EINVAL, "choose/map-on-demand", NO_INDEX);
	if (in->segments == 0)
		return refuse(refusal, EINVAL, "choose/segments", NO_INDEX);
	if (!newer && map)
		map = in->segments > 1 && in->segments >= in->map_on_demand;
	if (!map && in->global)
		*mode = O2_IMPL_GLOBAL;
	else if (in->fmr)
		*mode = O2_IMPL_FMR;
	else if (in->fastreg)
		*mode = in->gaps && in->use_gaps ? O2_IMPL_FASTREG_GAPS : O2_IMPL_FASTREG;
	else if (in->global && newer)
		*mode = O2_IMPL_GLOBAL;
	else
		return refuse(refusal, ENOSYS, "choose/no-way-to-register", NO_INDEX);
	return O2_IMPL_OK;
}

static bool outside(uint32_t value, uint32_t low, uint32_t high)
{
	return value < low || value > high;
}

static int32_t check(const struct o2_impl_device_in *in, struct o2_impl_refusal *refusal)
{
	const char *rule = NULL;

	if (outside(in->queue_depth, in->ibm_version == OLD ? 3 : 2, 255))
		rule = "conn/queue-depth";
	else if (outside(in->max_frags, 1, O2_IMPL_MAX_FRAGS))
		rule = "conn/max-frags";
	else if (outside(in->wrq_sge, 1, O2_IMPL_MAX_WRQ_SGE))
		rule = "conn/wrq-sge";
	else if (in->wrq_sge > in->max_sge)
		rule = "conn/device-sge";
	else if (outside(in->ibm_version, OLD, 0x12))
		rule = "conn/version";
	else if (in->peer_tx_credits > 255)
		rule = "conn/peer-tx-credits";
	return rule ? refuse(refusal, EINVAL, rule, NO_INDEX) : O2_IMPL_OK;
}

static uint64_t between(uint64_t value, uint64_t low, uint64_t high)
{
	return value < low ? low : value > high ? high : value;
}

static uint64_t larger(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static struct room room_for(const struct o2_impl_device_in *in, uint64_t depth, uint64_t sends)
{
	return (struct room){
		.depth = depth,
		.sends = sends,
		.send_wrs = larger(depth, sends) * (in->max_frags + 3),
		.recv_wrs = 2 * depth + (in->ibm_version == OLD ? 0 : 2),
	};
}

static bool fits(const struct o2_impl_device_in *in, const struct room *room)
{
	return room->send_wrs <= in->max_qp_wr && room->recv_wrs <= in->max_qp_wr &&
	       room->send_wrs + room->recv_wrs <= in->max_cqe;
}

/* Try the requested depth and sends first, then cap both at a falling limit until the queues fit. */
static bool find_room(const struct o2_impl_device_in *in, struct room *room)
{
	const uint64_t credits = in->peer_tx_credits ? in->peer_tx_credits : in->queue_depth;
	const uint64_t least = in->ibm_version == OLD ? 4 : 2;
	uint64_t sends = in->concurrent_sends ? in->concurrent_sends : credits;
	uint64_t full;

	sends = between(sends, credits / 2, 2 * credits);
	if (in->ibm_version == OLD)
		sends = between(sends, 4, 16);
	sends = between(sends, 0, 2 * in->queue_depth);
	for (full = larger(in->queue_depth, sends); full >= least && full > 0; full--) {
		*room = room_for(in, between(in->queue_depth, 0, full), between(sends, 0, full));
		if (fits(in, room))
			return true;
	}
	return false;
}

int32_t second_device(const struct o2_impl_device_in *in, struct o2_impl_device_out *out,
		      struct o2_impl_refusal *refusal)
{
	int32_t status = choose(in, &out->mode, refusal);
	struct room room;

	if (status == O2_IMPL_OK)
		status = check(in, refusal);
	if (status != O2_IMPL_OK)
		return status;
	if (!find_room(in, &room))
		return refuse(refusal, EINVAL, "conn/device-queue", NO_INDEX);
	out->usable = 1u << O2_IMPL_USER | 1u << O2_IMPL_PHYS;
	if (in->global)
		out->usable |= 1u << O2_IMPL_GLOBAL;
	if (in->fmr)
		out->usable |= 1u << O2_IMPL_FMR;
	if (in->fastreg)
		out->usable |= 1u << O2_IMPL_FASTREG;
	if (in->fastreg && in->gaps)
		out->usable |= 1u << O2_IMPL_FASTREG_GAPS;
	out->queue_depth = (uint32_t)room.depth;
	out->concurrent_sends = (uint32_t)room.sends;
	out->send_wrs = (uint32_t)room.send_wrs;
	out->recv_wrs = (uint32_t)room.recv_wrs;
	out->cq_entries = out->send_wrs + out->recv_wrs;
	return O2_IMPL_OK;
}
