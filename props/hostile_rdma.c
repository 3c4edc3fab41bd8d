/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "props/hostile.h"

/* Writes to memory that was not given, or is not given any more. */

/* The victim is the sink of a GET of 5000 bytes. */
static bool learn(struct o2_hostile *h, enum o2_reg_mode mode, struct o2_msg *request)
{
	return o2_victim_get(h, 5000, mode) && o2_liar_hears(h, O2_MSG_GET_REQ, request);
}

static bool write_at(struct o2_hostile *h, const struct o2_rdma_desc *desc, int64_t offset, uint32_t length)
{
	return o2_liar_rdma(h, IBV_WR_RDMA_WRITE, desc->rd_frags[0].rf_addr + (uint64_t)offset, desc->rd_key,
			    length);
}

/* Write, say so, and write again behind the victim's back: other memory may be there by now. */
static bool after_done(struct o2_hostile *h)
{
	struct o2_msg request, *done;

	if (!learn(h, O2_REG_FMR, &request) || !write_at(h, &request.u.get.ibgm_rd, 0, 4000))
		return false;
	done = o2_liar_begin(h, O2_MSG_GET_DONE);
	done->u.completion.ibcm_cookie = request.u.get.ibgm_cookie;
	done->u.completion.ibcm_status = 5000;
	if (!o2_liar_send(h))
		return false;
	o2_hostile_settle(h);
	if (!o2_victim_ended(h, 0))
		return false;
	return write_at(h, &request.u.get.ibgm_rd, 0, 64);
}

static bool beyond(struct o2_hostile *h)
{
	struct o2_msg request;

	return learn(h, O2_REG_FMR, &request) && write_at(h, &request.u.get.ibgm_rd, 4999, 2);
}

static bool before(struct o2_hostile *h)
{
	struct o2_msg request;

	return learn(h, O2_REG_FMR, &request) && write_at(h, &request.u.get.ibgm_rd, -1, 2);
}

/* The victim's receives, under their own key. */
static bool into_slots(struct o2_hostile *h)
{
	uint64_t address;
	uint32_t key;

	return o2_victim_slots(h, &address, &key) && o2_liar_rdma(h, IBV_WR_RDMA_WRITE, address, key, 64);
}

/* What the victim sends from, in the mode that has one region for all. */
static bool into_source(struct o2_hostile *h)
{
	uint64_t address;
	uint32_t key;

	if (!o2_victim_put(h, 5000, O2_REG_GLOBAL))
		return false;
	o2_hostile_settle(h);
	return o2_victim_source(h, &address, &key) && o2_liar_rdma(h, IBV_WR_RDMA_WRITE, address, key, 64);
}

#define WRITES(name, text, rule, script)                                                  \
	{                                                                                 \
		name, "rdma", text, rule, "modes.md", O2_REACT_DEVICE, -EIO, NULL, script \
	}

const struct o2_misbehaviour o2_hostile_rdma[] = {
	WRITES("after-done", "writes into a sink of mode fmr that is done", "reg/key-dies", after_done),
	WRITES("beyond", "writes one byte beyond a sink", "reg/exact-length", beyond),
	WRITES("before", "writes one byte before a sink", "reg/exact-start", before),
	WRITES("into-slots", "writes into its victim's receives", "reg/slots-local", into_slots),
	WRITES("into-source", "writes into what its victim sends", "reg/source-local", into_source),
	{.name = NULL},
};
