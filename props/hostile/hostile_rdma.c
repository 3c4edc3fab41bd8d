/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "props/hostile/hostile.h"

/* Misbehaviours with RDMA: writes to memory that was not, or is no longer, described to the liar. */

static bool write_at(struct o2_hostile *h, const struct o2_liar_sink *sink, uint64_t address, uint32_t length)
{
	return o2_liar_write(h, address, sink->desc.rd_key, length);
}

/* Write, complete, and write again: the memory may be in other use by then. */
static bool after_done(struct o2_hostile *h)
{
	struct o2_liar_sink sink;
	uint64_t start;

	if (!o2_victim_waits(h, O2_REG_FMR, &sink))
		return false;
	start = sink.desc.rd_frags[0].rf_addr;
	if (!write_at(h, &sink, start, 64) || !o2_liar_completes(h, sink.done, sink.cookie, 5000))
		return false;
	o2_hostile_settle(h);
	return o2_victim_ended(h, 0) && write_at(h, &sink, start, 64);
}

/* Write the last byte and the byte after it. */
static bool beyond(struct o2_hostile *h)
{
	struct o2_liar_sink sink;
	const struct o2_rdma_frag *last;

	if (!o2_victim_waits(h, O2_REG_FMR, &sink))
		return false;
	last = &sink.desc.rd_frags[sink.desc.rd_nfrags - 1];
	return write_at(h, &sink, last->rf_addr + last->rf_nob - 1, 2);
}

static bool before(struct o2_hostile *h)
{
	struct o2_liar_sink sink;

	return o2_victim_waits(h, O2_REG_FMR, &sink) &&
	       write_at(h, &sink, sink.desc.rd_frags[0].rf_addr - 1, 2);
}

/* Write to the victim's receive buffers, under their own key. */
static bool into_slots(struct o2_hostile *h)
{
	uint64_t address;
	uint32_t key;

	return o2_victim_place(h, O2_ACT_SLOTS, &address, &key) && o2_liar_write(h, address, key, 64);
}

/* Write to the memory that the victim sends from, in mode global, which has one region for all memory. */
static bool into_source(struct o2_hostile *h)
{
	uint64_t address;
	uint32_t key;

	if (!o2_victim_does(h, O2_ACT_PUT, 5000, O2_REG_GLOBAL))
		return false;
	o2_hostile_settle(h);
	return o2_victim_place(h, O2_ACT_SOURCE, &address, &key) && o2_liar_write(h, address, key, 64);
}

#define WRITES(name, text, rule, ...)                                                                    \
	{                                                                                                \
		name, "rdma", text, rule, "modes.md", O2_REACT_DEVICE, -EIO, NULL, .script = __VA_ARGS__ \
	}

const struct o2_misbehaviour o2_hostile_rdma[] = {
	WRITES("after-done", "writes into a sink of mode fmr that is done", "reg/key-dies", after_done),
	WRITES("beyond", "writes one byte beyond a sink", "reg/exact-length", beyond),
	WRITES("before", "writes one byte before a sink", "reg/exact-start", before),
	WRITES("into-slots", "writes into its victim's receives", "reg/slots-local", into_slots),
	WRITES("into-source", "writes into what its victim sends", "reg/source-local", into_source),
	{.name = NULL},
};
