/* SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "base/errno_name.h"
#include "props/transfer/transfer_run.h"
#include "props/world/judged.h"

/*
 * Situations that a run must meet.  The generator draws each so often that a run of the size named here
 * misses it less than once in a million runs; shorter runs have no requirement (docs/properties.md,
 * "Counters").
 */
#define ENOUGH_FOR_SHARES     1000u
#define ENOUGH_FOR_SITUATIONS 2000u
#define ENOUGH_FOR_RARE	      10000u
#define ENOUGH_FOR_CROSS      50000u

/* A rung that closes working connections makes at least one in so many transfers. */
#define MOVED_PER_CONNECTION 32u

/* Payload of the largest RoCE packet, for the least number of packets. */
#define MTU_BYTES 4096u

static void need(json_t *missing, bool met, const char *what)
{
	if (!met)
		json_array_append_new(missing, json_string(what));
}

static bool uses(const struct o2_transfer_run *run, enum o2_reg_mode mode)
{
	return run->space.mode_weight[mode] > 0;
}

static bool uses_all_modes(const struct o2_transfer_run *run)
{
	for (uint32_t i = 0; i < O2_REG_MODES; i++) {
		if (!uses(run, (enum o2_reg_mode)i))
			return false;
	}
	return true;
}

static void need_shares(const struct o2_transfer_run *run, json_t *missing)
{
	const struct o2_counters *c = &run->counters;
	char what[64];

	need(missing, c->fragments_3 * 2 >= c->moved, "3 or more fragments in half of the transfers");
	need(missing, c->fragments_65 * 10 >= c->moved, "more than 64 fragments in a tenth of the transfers");
	need(missing, c->bytes_256k * 10 >= c->moved, "256 KiB or more in a tenth of the transfers");
	need(missing, c->short_transfers > 0, "a short transfer");
	need(missing, c->roomy_transfers > 0, "a side that is asked for less than it has");
	need(missing, c->put > 0 && c->get > 0, "both PUT and GET");
	for (uint32_t i = 0; i < O2_DMA_KINDS * O2_DMA_KINDS; i++)
		need(missing, c->kind_pair[i / O2_DMA_KINDS][i % O2_DMA_KINDS] > 0,
		     "all pairs of address kinds");
	for (uint32_t i = 0; i < O2_POLARITY_PAIRS; i++) {
		const struct o2_cross_polarity found = o2_cross_of_polarity(&c->cross, i);

		snprintf(what, sizeof(what), "a transfer between devices of polarity %s", found.name);
		need(missing, found.moved > 0, what);
	}
	for (uint32_t i = 0; i < O2_REG_MODES * O2_REG_MODES; i++)
		need(missing,
		     c->pair[i / O2_REG_MODES][i % O2_REG_MODES] > 0 ||
			     !uses(run, (enum o2_reg_mode)(i / O2_REG_MODES)) ||
			     !uses(run, (enum o2_reg_mode)(i % O2_REG_MODES)),
		     "every ordered pair of modes");
	need(missing, c->per_segment > 0 || !uses(run, O2_REG_FMR),
	     "fmr with one fragment per segment of a list without gaps");
}

/* What only ends can tell that run the transport. */
static void need_ways(const struct o2_transfer_run *run, json_t *missing)
{
	const struct o2_counters *c = &run->counters;
	char what[64];

	for (uint32_t i = 0; i < 2 * (O2_CKSUM_SIGNED + 1) && !o2_judged_deaf; i++) {
		snprintf(what, sizeof(what), "messages in the form %s",
			 o2_counters_form((enum o2_byte_order)(i % 2), (enum o2_cksum_flavour)(i / 2)));
		need(missing, c->formed[i % 2][i / 2] > 0, what);
	}
	need(missing, c->bounced[O2_SOURCE] > 0, "a source whose device bounces");
	need(missing, c->bounced[O2_SINK] > 0, "a sink whose device bounces");
	need(missing, c->bounced_both > 0, "two devices that bounce");
	need(missing, c->kept > 0 || !uses(run, O2_REG_FMR), "fmr with a region that is kept");
	need(missing, c->staged > 0 || !uses(run, O2_REG_FASTREG_GAPS),
	     "a contiguous region in place of one with gaps");
	if (c->moved < ENOUGH_FOR_SITUATIONS || !uses_all_modes(run))
		return;
	need(missing, c->kmapped[O2_SOURCE] > 0, "bytes copied from a page without a CPU mapping");
	need(missing, c->kmapped[O2_SINK] > 0, "bytes copied to a page without a CPU mapping");
}

static void need_situations(const struct o2_transfer_run *run, json_t *missing)
{
	static const char *const sides[] = {[O2_SOURCE] = "source", [O2_SINK] = "sink"};
	const struct o2_counters *c = &run->counters;
	char what[96];

	for (uint32_t i = 0; i < 2 * O2_SITUATIONS; i++) {
		enum o2_side side = (enum o2_side)(i / O2_SITUATIONS);
		enum o2_situation situation = (enum o2_situation)(i % O2_SITUATIONS);

		/* The pieces of a sink are disjoint, so it names no page twice. */
		if (side == O2_SINK && situation == O2_PAGE_USED_TWICE)
			continue;
		snprintf(what, sizeof(what), "%s of a %s", o2_situation_name(situation), sides[side]);
		need(missing, c->situation[side][situation] > 0, what);
	}
	need(missing, c->coalesced[O2_SOURCE] > 0, "entries of a source that were merged");
	need(missing, c->coalesced[O2_SINK] > 0, "entries of a sink that were merged");
}

/* Can a transfer be refused by this rule for the memory of this side? */
static bool can_refuse(enum o2_side side, enum o2_predict_rule rule)
{
	switch (rule) {
	case O2_PREDICT_SIZE:
	case O2_PREDICT_VECTOR_SHORT:
		return false; /* the generator draws legal vectors */
	case O2_PREDICT_FRAGMENTS:
		return side == O2_SINK; /* a source publishes none */
	case O2_PREDICT_WORK_REQUESTS:
		return side == O2_SOURCE;
	default:
		return true;
	}
}

static void need_refusals(const struct o2_transfer_run *run, json_t *missing)
{
	char what[128];

	for (uint32_t i = 2 * (O2_PREDICT_NONE + 1); i < 2 * O2_PREDICT_RULES; i++) {
		enum o2_side side = (enum o2_side)(i % 2);
		enum o2_predict_rule rule = (enum o2_predict_rule)(i / 2);

		if (!can_refuse(side, rule))
			continue;
		snprintf(what, sizeof(what), "a %s refused by %s (%s)", side == O2_SOURCE ? "source" : "sink",
			 o2_predict_rule_name(rule), o2_errno_name(o2_predict_rule_code(rule)));
		need(missing, run->counters.rule[side][rule] > 0, what);
	}
}

/* Every mode but global must have tried a stale key; a key of mode global never dies. */
static void need_stale_keys(const struct o2_counters *c, json_t *missing)
{
	char what[64];

	for (uint32_t i = 0; i < O2_REG_MODES; i++) {
		snprintf(what, sizeof(what), "a stale key tried, mode %s",
			 o2_reg_mode_name((enum o2_reg_mode)i));
		need(missing, c->stale_key[i] > 0 || i == O2_REG_GLOBAL, what);
	}
}

json_t *o2_counters_missing(const void *transfer, uint64_t packets_sent)
{
	const struct o2_transfer_run *run = transfer;
	const struct o2_counters *c = &run->counters;
	json_t *missing = json_array();

	if (packets_sent != UINT64_MAX && !run->rung->elsewhere)
		need(missing, packets_sent >= c->bytes / MTU_BYTES,
		     "packets on the device: fewer than bytes / MTU");
	if (run->rung->ops->reconnects)
		need(missing, run->rung->connections >= c->moved / MOVED_PER_CONNECTION,
		     "connections closed and made again");
	if (run->space.max_nob < O2_MAX_TRANSFER_BYTES)
		return missing;
	if (run->rung->ops->has_depths && c->moved >= ENOUGH_FOR_SHARES) {
		need(missing, c->deep > 0, "a connection deeper than 127");
		need(missing, c->deepest > 0, "a connection as deep as can be");
	}
	if (c->moved >= ENOUGH_FOR_SHARES)
		need_shares(run, missing);
	if (c->moved >= ENOUGH_FOR_SHARES && run->rung->ops->has_ways)
		need_ways(run, missing);
	/* A run with fewer modes meets fewer situations. */
	if (!uses_all_modes(run))
		return missing;
	if (c->moved >= ENOUGH_FOR_SHARES) {
		need(missing, c->gaps > 0, "a list with gaps");
		for (uint32_t i = 0; i < 2; i++)
			need(missing, c->source_vector[i] > 0 && c->sink_vector[i] > 0,
			     "IOV and KIOV on both sides");
	}
	if (c->moved >= ENOUGH_FOR_SITUATIONS) {
		need_situations(run, missing);
		need_refusals(run, missing);
	}
	if (c->moved >= ENOUGH_FOR_RARE)
		need(missing, c->one_byte > 0, "a transfer of one byte");
	if (c->moved >= ENOUGH_FOR_RARE && run->rung->ops->has_keys)
		need_stale_keys(c, missing);
	if (c->moved >= ENOUGH_FOR_CROSS)
		need(missing, o2_cross_complete(&c->cross), "every cell of the cross table");
	return missing;
}
