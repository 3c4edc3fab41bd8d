/* SPDX-License-Identifier: MIT */
#include "props/stage/rdma.h"

#include <inttypes.h>
#include <string.h>

#include "props/scenario/draw.h"

#define SITUATION_LIST(ENTRY)                                                     \
	ENTRY(NOTHING, "nothing_to_move")                                         \
	ENTRY(WORK_REQUESTS_254, "work_requests_254")                             \
	ENTRY(WORK_REQUESTS_255, "work_requests_255")                             \
	ENTRY(WORK_REQUESTS_256, "work_requests_256")                             \
	ENTRY(WORK_REQUESTS_257, "work_requests_257")                             \
	ENTRY(ENTRIES_254, "gather_entries_254")                                  \
	ENTRY(ENTRIES_255, "gather_entries_255")                                  \
	ENTRY(ENTRIES_256, "gather_entries_256")                                  \
	ENTRY(ENTRIES_257, "gather_entries_257")                                  \
	ENTRY(ENTRIES_258, "gather_entries_258")                                  \
	ENTRY(MIB, "a_mebibyte")                                                  \
	ENTRY(MIB_AND_ONE, "a_mebibyte_and_one_refused")                          \
	ENTRY(SEVERAL_ENTRIES, "several_entries_in_a_work_request")               \
	ENTRY(AS_MANY_ENTRIES_AS_ALLOWED, "as_many_entries_as_allowed")           \
	ENTRY(CUT_BY_ENTRIES, "fragment_of_the_sink_in_several_work_requests")    \
	ENTRY(FRAGMENT_SPREAD, "fragment_of_the_source_in_several_work_requests") \
	ENTRY(ENDS_INSIDE_A_FRAGMENT, "ends_inside_a_fragment_of_the_sink")       \
	ENTRY(EMPTY_FRAGMENT, "empty_fragment")                                   \
	ENTRY(ONE_BYTE, "one_byte")                                               \
	ENTRY(LAST_WORK_REQUEST_ALLOWED, "as_many_work_requests_as_allowed")      \
	ENTRY(POSTED, "posted")                                                   \
	ENTRY(NOT_POSTED, "posted_in_part")

enum situation {
	REFUSED, /* followed by the other rules */
	LAST_REFUSED = REFUSED + 8 - 1,
	SITUATION_LIST(O2_SITUATION_ID) SITUATIONS,
};

static const char *const rules[NOTHING - REFUSED] = {
	"rdma/max-wrs", "rdma/wrq-sge",		 "rdma/source-nfrags",	"rdma/sink-nfrags",
	"rdma/nob",	"rdma/source-too-small", "rdma/sink-too-small", "rdma/too-many-work-requests",
};

static const char *const situations[SITUATIONS] = {"refused_max_wrs",
						   "refused_wrq_sge",
						   "refused_source_nfrags",
						   "refused_sink_nfrags",
						   "refused_nob",
						   "refused_source_too_small",
						   "refused_sink_too_small",
						   "refused_too_many_work_requests",
						   SITUATION_LIST(O2_SITUATION_NAME)};

static bool has_empty(const struct o2_rdma_desc *desc)
{
	for (uint32_t i = 0; i < desc->rd_nfrags; i++)
		if (desc->rd_frags[i].rf_nob == 0)
			return true;
	return false;
}

/* True if the transfer ends inside a fragment of the sink. */
static bool ends_inside(const struct o2_rdma_run *run)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < run->asked.sink.rd_nfrags && sum < run->asked.nob; i++)
		sum += run->asked.sink.rd_frags[i].rf_nob;
	return sum > run->asked.nob;
}

static void count(struct o2_rdma_run *run)
{
	const struct o2_rdma_outcome *outcome = &run->outcome;
	const struct o2_rdma_plan *plan = &outcome->plan;
	uint64_t *seen = run->tally.seen;
	uint32_t most = 0;

	if (outcome->error.code != 0) {
		for (uint32_t i = 0; i < NOTHING - REFUSED; i++)
			seen[REFUSED + i] += strcmp(outcome->error.rule, rules[i]) == 0;
		seen[MIB_AND_ONE] += strcmp(outcome->error.rule, "rdma/nob") == 0 &&
				     run->asked.nob == O2_MAX_TRANSFER_BYTES + 1;
		return;
	}
	for (uint32_t i = 0; i < plan->nwr; i++)
		most = plan->wr[i].num_sge > most ? plan->wr[i].num_sge : most;
	seen[NOTHING] += plan->nwr == 0;
	if (plan->nwr >= 254)
		seen[WORK_REQUESTS_254 + plan->nwr - 254]++;
	if (plan->nsge >= 254 && plan->nsge <= 258)
		seen[ENTRIES_254 + plan->nsge - 254]++;
	seen[MIB] += run->asked.nob == O2_MAX_TRANSFER_BYTES;
	seen[SEVERAL_ENTRIES] += most > 1;
	seen[AS_MANY_ENTRIES_AS_ALLOWED] += most == run->asked.limits.wrq_sge && most > 1;
	seen[CUT_BY_ENTRIES] += plan->nwr > outcome->expected.sink.count;
	seen[FRAGMENT_SPREAD] += plan->nsge > outcome->expected.source.count;
	seen[ENDS_INSIDE_A_FRAGMENT] += ends_inside(run);
	seen[EMPTY_FRAGMENT] += has_empty(&run->asked.source) || has_empty(&run->asked.sink);
	seen[ONE_BYTE] += run->asked.nob == 1;
	seen[LAST_WORK_REQUEST_ALLOWED] += plan->nwr == run->asked.limits.max_wrs;
}

static enum o2_status run_case(void *context, struct o2_choice *choice, struct o2_report *report)
{
	static const uint32_t kinds[] = {15, 1};
	struct o2_rdma_run *run = context;

	o2_report_clear(report);
	if (o2_draw_weighted(choice, kinds, 2) == 0)
		o2_draw_rdma(choice, &run->asked);
	else
		o2_draw_rdma_full(choice, &run->asked);
	if (!o2_choice_ok(choice))
		return o2_choice_status(choice, O2_STATUS_VALID);
	o2_rdma_check(&run->asked, &run->outcome, report);
	if (!report->failed)
		count(run);
	if (!report->failed && run->outcome.error.code == 0 && o2_draw_bool(choice, 7, 1))
		run->tally.seen[o2_rdma_post(run, choice, report) ? POSTED : NOT_POSTED]++;
	return o2_tally_case(&run->tally, choice, report);
}

static void print_descriptor(const struct o2_rdma_desc *desc, const char *name, uint32_t pieces, FILE *out)
{
	const uint32_t count = desc->rd_nfrags <= O2_MAX_FRAGS ? desc->rd_nfrags : O2_MAX_FRAGS;
	const uint32_t shown = count < pieces ? count : pieces;

	fprintf(out, "%s: key 0x%" PRIx32 ", %" PRIu32 " fragments\n", name, desc->rd_key, desc->rd_nfrags);
	for (uint32_t i = 0; i < shown; i++)
		fprintf(out, "  [%" PRIu32 "] 0x%" PRIx64 ", %" PRIu32 " bytes\n", i,
			desc->rd_frags[i].rf_addr, desc->rd_frags[i].rf_nob);
	if (shown < count)
		fprintf(out, "  ... %" PRIu32 " more\n", count - shown);
}

static void print(const void *context, uint32_t pieces, FILE *out)
{
	const struct o2_rdma_run *run = context;

	fprintf(out, "%" PRIu64 " bytes, at most %" PRIu32 " work requests of %" PRIu32 " entries\n",
		run->asked.nob, run->asked.limits.max_wrs, run->asked.limits.wrq_sge);
	print_descriptor(&run->asked.source, "source", pieces, out);
	print_descriptor(&run->asked.sink, "sink", pieces, out);
}

static void print_held(const void *context, FILE *out)
{
	const struct o2_rdma_run *run = context;

	if (run->outcome.error.code != 0)
		fprintf(out, "held: refused by %s\n", run->outcome.error.rule);
	else
		fprintf(out, "held: %" PRIu32 " work requests, %" PRIu32 " gather entries\n",
			run->outcome.plan.nwr, run->outcome.plan.nsge);
}

struct o2_property o2_rdma_property(struct o2_rdma_run *run)
{
	static const struct o2_property_ops ops = {
		O2_TALLY_PROPERTY("rdma", "rdma_plan takes each byte of the source to its place in the sink, "
					  "within every limit, or refuses by a broken rule")};

	return o2_tally_property(&ops, run, situations, SITUATIONS, 50000);
}
