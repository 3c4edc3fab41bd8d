/* SPDX-License-Identifier: MIT */
#include "props/stage/reg_plan.h"

#include <inttypes.h>
#include <string.h>

enum situation {
	RULE,				       /* followed by the other rules of o2_plan_rules */
	PLANNED = RULE + O2_PLAN_RULES,	       /* followed by the other modes */
	PLANNED_GAPS = PLANNED + O2_REG_MODES, /* global, fmr, user, fastreg_gaps */
	PHYS_INSIDE_PAGE = PLANNED_GAPS + 4,
	PAGES_254, /* followed by 255, 256, 257 */
	FRAGMENTS_254 = PAGES_254 + 4,
	BYTES_MIB = FRAGMENTS_254 + 4,
	BYTES_MIB_AND_ONE,
	SHARED_PAGE,
	SEVERAL_PAGES,
	SOURCES,
	SINKS,
	AS_MANY_AS_ACCEPTED,
	SITUATIONS,
};

static const char *const situations[SITUATIONS] = {
	"refused_mode",
	"refused_side",
	"refused_page_size",
	"refused_max_pages",
	"refused_peer_max_frags",
	"refused_count",
	"refused_empty_segment",
	"refused_segment_wraps",
	"refused_too_long",
	"refused_too_many_pages",
	"refused_fmr_undeclared_gap",
	"refused_fastreg_gaps",
	"refused_fastreg_short_map",
	"refused_fastreg_iova_wraps",
	"refused_user_not_contiguous",
	"refused_user_address_wraps",
	"refused_phys_gaps",
	"refused_phys_undeclared_gap",
	"refused_phys_iova_alignment",
	"refused_phys_iova_wraps",
	"refused_fastreg_gaps_too_many_entries",
	"refused_fastreg_gaps_iova_wraps",
	"refused_more_fragments_than_peer_accepts",
	[PLANNED + O2_REG_GLOBAL] = "planned_global",
	[PLANNED + O2_REG_FMR] = "planned_fmr",
	[PLANNED + O2_REG_FASTREG] = "planned_fastreg",
	[PLANNED + O2_REG_USER] = "planned_user",
	[PLANNED + O2_REG_PHYS] = "planned_phys",
	[PLANNED + O2_REG_FASTREG_GAPS] = "planned_fastreg_gaps",
	[PLANNED_GAPS] = "planned_global_with_gaps",
	[PLANNED_GAPS + 1] = "planned_fmr_with_gaps",
	[PLANNED_GAPS + 2] = "planned_user_with_gaps",
	[PLANNED_GAPS + 3] = "planned_fastreg_gaps_with_gaps",
	[PHYS_INSIDE_PAGE] = "planned_phys_at_an_iova_inside_a_page",
	[PAGES_254] = "pages_254",
	[PAGES_254 + 1] = "pages_255",
	[PAGES_254 + 2] = "pages_256",
	[PAGES_254 + 3] = "pages_257",
	[FRAGMENTS_254] = "fragments_254",
	[FRAGMENTS_254 + 1] = "fragments_255",
	[FRAGMENTS_254 + 2] = "fragments_256",
	[FRAGMENTS_254 + 3] = "fragments_257",
	[BYTES_MIB] = "a_mebibyte_planned",
	[BYTES_MIB_AND_ONE] = "a_mebibyte_and_one_refused",
	[SHARED_PAGE] = "segments_that_share_a_page",
	[SEVERAL_PAGES] = "segment_of_several_pages",
	[SOURCES] = "sources",
	[SINKS] = "sinks",
	[AS_MANY_AS_ACCEPTED] = "as_many_fragments_as_the_peer_accepts",
};

static void count_planned(struct o2_plan_run *run)
{
	const struct o2_reg_plan *plan = &run->plan;
	uint64_t *seen = run->tally.seen;

	seen[PLANNED + plan->mode]++;
	if (!o2_plan_is_dense(run)) {
		seen[PLANNED_GAPS] += plan->mode == O2_REG_GLOBAL;
		seen[PLANNED_GAPS + 1] += plan->mode == O2_REG_FMR;
		seen[PLANNED_GAPS + 2] += plan->mode == O2_REG_USER;
		seen[PLANNED_GAPS + 3] += plan->mode == O2_REG_FASTREG_GAPS;
	}
	seen[PHYS_INSIDE_PAGE] += plan->mode == O2_REG_PHYS && run->request.iova % plan->page_bytes != 0;
	if (plan->npages >= 254)
		seen[PAGES_254 + plan->npages - 254]++;
	if (plan->nfrags >= 254)
		seen[FRAGMENTS_254 + plan->nfrags - 254]++;
	seen[BYTES_MIB] += run->list.nob == O2_MAX_TRANSFER_BYTES;
	seen[SHARED_PAGE] += plan->npages > 0 && plan->npages < run->list.count;
	seen[SEVERAL_PAGES] += plan->npages > run->list.count + 1;
	seen[SOURCES] += plan->side == O2_SOURCE;
	seen[SINKS] += plan->side == O2_SINK;
	seen[AS_MANY_AS_ACCEPTED] += plan->side == O2_SINK && plan->nfrags == run->request.peer_max_frags;
}

static void check_refusal(struct o2_plan_run *run, const struct o2_error *error, uint32_t broken,
			  struct o2_report *report)
{
	const char *name = error->rule == NULL ? "none" : error->rule;
	struct o2_plan_figures figures;
	uint32_t rule = 0;

	while (rule < O2_PLAN_RULES && strcmp(name, o2_plan_rules[rule].name) != 0)
		rule++;
	if (rule == O2_PLAN_RULES || (broken & 1u << rule) == 0 || run->code != o2_plan_rules[rule].code ||
	    error->code != run->code)
		o2_report_fail(report, "reg_plan/refusal", "refused with %d by rule %s, expected %s",
			       run->code, name,
			       broken == 0 ? "a plan" : o2_plan_rules[__builtin_ctz(broken)].name);
	else {
		figures = o2_plan_figures(run, rule);
		if (error->index != figures.index || error->value != figures.value ||
		    error->limit != figures.limit)
			o2_report_fail(report, "reg_plan/figures",
				       "%s of [%" PRIu32 "]: %" PRIu64 ", limit %" PRIu64
				       "; expected [%" PRIu32 "]: %" PRIu64 ", limit %" PRIu64,
				       name, error->index, error->value, error->limit, figures.index,
				       figures.value, figures.limit);
		run->tally.seen[RULE + rule]++;
	}
	run->tally.seen[BYTES_MIB_AND_ONE] +=
		strcmp(name, "reg/too-long") == 0 && run->list.nob == O2_MAX_TRANSFER_BYTES + 1;
}

static enum o2_status run_case(void *context, struct o2_choice *choice, struct o2_report *report)
{
	struct o2_plan_run *run = context;
	struct o2_error error = {0};
	uint32_t broken;

	o2_report_clear(report);
	o2_plan_draw(run, choice);
	if (!o2_choice_ok(choice))
		return o2_choice_status(choice, O2_STATUS_VALID);
	broken = o2_plan_broken(run);
	run->code = o2_reg_plan(&run->request, &run->list, &run->plan, &error);
	run->rule = run->code == 0 ? NULL : error.rule;
	if (run->code != 0)
		check_refusal(run, &error, broken, report);
	else if (broken != 0)
		o2_report_fail(report, "reg_plan/accepted", "accepted, although %s is broken",
			       o2_plan_rules[__builtin_ctz(broken)].name);
	else
		o2_plan_check(run, report);
	if (run->code == 0 && !report->failed)
		count_planned(run);
	return o2_tally_case(&run->tally, choice, report);
}

static void print(const void *context, uint32_t pieces, FILE *out)
{
	const struct o2_plan_run *run = context;
	const struct o2_reg_request *r = &run->request;
	const char *mode = o2_reg_mode_name(r->mode);
	const uint32_t count = run->list.count <= O2_MAX_FRAGS ? run->list.count : 0;
	const uint32_t shown = count < pieces ? count : pieces;

	fprintf(out,
		"%s, side %d, pages of %" PRIu32 ", at most %" PRIu32 " pages and %" PRIu32
		" fragments, %s, iova 0x%" PRIx64 "%s\n",
		mode == NULL ? "no mode" : mode, (int)r->side, r->page_bytes, r->max_pages, r->peer_max_frags,
		r->gaps ? "gaps" : "no gaps", r->iova, r->contiguous ? ", one virtual range" : "");
	fprintf(out, "%" PRIu32 " segments, %" PRIu64 " bytes\n", run->list.count, run->list.nob);
	for (uint32_t i = 0; i < shown; i++)
		fprintf(out, "  0x%" PRIx64 ", %" PRIu32 " bytes\n", run->list.segment[i].addr,
			run->list.segment[i].length);
	if (shown < count)
		fprintf(out, "  ... %" PRIu32 " more\n", count - shown);
}

static void print_held(const void *context, FILE *out)
{
	const struct o2_plan_run *run = context;

	if (run->code != 0)
		fprintf(out, "held: refused by rule %s\n", run->rule);
	else
		fprintf(out, "held: %" PRIu32 " pages, %" PRIu32 " fragments\n", run->plan.npages,
			run->plan.nfrags);
}

struct o2_property o2_plan_property(struct o2_plan_run *run)
{
	static const struct o2_property_ops ops = {
		O2_TALLY_PROPERTY("reg_plan", "a plan publishes and registers exactly the bytes of its "
					      "segments, or a broken rule refuses it")};

	return o2_tally_property(&ops, run, situations, SITUATIONS, 50000);
}
