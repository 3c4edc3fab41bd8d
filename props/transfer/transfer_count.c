/* SPDX-License-Identifier: MIT */
#include "props/transfer/transfer_internal.h"

/* Counts the situations of a case for the totals of a run (docs/properties.md, "Counters"). */

static void count_refused(struct o2_counters *c, const struct o2_scenario *scenario,
			  const struct o2_prediction *told)
{
	c->refused++;
	c->rule[told->side][told->rule]++;
	/* The cells are of this rule alone. */
	if (told->rule == O2_PREDICT_NOT_CONTIGUOUS)
		o2_cross_refused(&c->cross, scenario, told->side);
}

static void count_side(struct o2_counters *c, enum o2_side which, const struct o2_scenario_side *side,
		       const struct o2_extent *extent, int count)
{
	uint32_t found = o2_situations_of(side, extent, (uint32_t)count);

	for (uint32_t i = 0; i < O2_SITUATIONS; i++)
		c->situation[which][i] += found >> i & 1;
}

static bool is_per_segment(const struct o2_scenario_side *side, bool gaps)
{
	return side->per_segment && !gaps;
}

static void count_ways(struct o2_counters *c, const struct o2_scenario *scenario, const uint32_t ways[2])
{
	const uint32_t any = ways[O2_SOURCE] | ways[O2_SINK], both = ways[O2_SOURCE] & ways[O2_SINK];

	c->formed[scenario->order][scenario->cksum_flavour] += (both & O2_WAY_FORMED) != 0;
	c->kept += (any & O2_WAY_KEPT) != 0;
	c->staged += (any & O2_WAY_STAGED) != 0;
	c->bounced_both += (both & O2_WAY_BOUNCED) != 0;
	for (uint32_t i = 0; i < 2; i++) {
		c->bounced[i] += (ways[i] & O2_WAY_BOUNCED) != 0;
		c->kmapped[i] += (ways[i] & O2_WAY_KMAPPED) != 0;
	}
}

static void count_moved(struct o2_transfer_run *run)
{
	struct o2_counters *c = &run->counters;
	const struct o2_scenario *scenario = &run->scenario;
	const struct o2_prediction *told = &run->prediction;
	const struct o2_transfer_scratch *s = run->scratch;
	const bool put = scenario->op == O2_OP_PUT;
	const struct o2_scenario_side *asks = put ? &scenario->source : &scenario->sink;
	const struct o2_scenario_side *answers = put ? &scenario->sink : &scenario->source;
	uint64_t moved = o2_scenario_moved(scenario);
	uint32_t entries =
		told->source_entries > told->sink_entries ? told->source_entries : told->sink_entries;

	c->moved++;
	c->bytes += moved;
	c->deep += run->observed.queue_depth > INT8_MAX;
	c->deepest += run->observed.queue_depth == O2_MAX_QUEUE_DEPTH;
	c->pair[scenario->source.mode][scenario->sink.mode]++;
	c->put += scenario->op == O2_OP_PUT;
	c->get += scenario->op == O2_OP_GET;
	c->short_transfers += answers->nob < asks->nob;
	c->roomy_transfers += answers->nob > asks->nob;
	c->source_vector[scenario->source.vector]++;
	c->sink_vector[scenario->sink.vector]++;
	c->kind_pair[scenario->source.kind][scenario->sink.kind]++;
	c->fragments_3 += entries >= 3;
	c->fragments_65 += entries >= 65;
	c->bytes_256k += moved >= 256 * 1024;
	c->one_byte += moved == 1;
	c->gaps += told->source_gaps || told->sink_gaps;
	c->per_segment += is_per_segment(&scenario->source, told->source_gaps) ||
			  is_per_segment(&scenario->sink, told->sink_gaps);
	count_ways(c, scenario, run->observed.ways);
	c->coalesced[O2_SOURCE] += told->source_segments < told->source_entries;
	c->coalesced[O2_SINK] += told->sink_segments < told->sink_entries;
	c->work_requests += run->observed.nwr;
	c->stale_key[scenario->sink.mode] += run->observed.stale_tried;
	count_side(c, O2_SOURCE, &scenario->source, s->source, s->nsource);
	count_side(c, O2_SINK, &scenario->sink, s->sink, s->nsink);
	o2_cross_moved(&c->cross, scenario);
}

static void count_drawn(struct o2_counters *c, const struct o2_scenario *scenario,
			const struct o2_prediction *told)
{
	const uint32_t entries[2] = {[O2_SOURCE] = told->source_entries, [O2_SINK] = told->sink_entries};
	const bool moved = told->verdict == O2_MOVES;

	o2_drawn_add(&c->drawn_bytes, o2_scenario_moved(scenario), moved);
	for (uint32_t i = 0; i < 2; i++)
		if (entries[i] > 0)
			o2_drawn_add(&c->drawn_fragments[i], entries[i], moved);
}

void o2_transfer_count(struct o2_transfer_run *run)
{
	run->counters.cases++;
	count_drawn(&run->counters, &run->scenario, &run->prediction);
	if (run->prediction.verdict == O2_MOVES)
		count_moved(run);
	else
		count_refused(&run->counters, &run->scenario, &run->prediction);
}
