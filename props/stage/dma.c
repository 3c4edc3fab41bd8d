/* SPDX-License-Identifier: MIT */
#include "props/stage/dma.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#define LABEL_STEP 1u

#define SITUATION_LIST(ENTRY)                                                \
	ENTRY(BUS, "bus")                                                    \
	ENTRY(VIRTUAL, "virtual")                                            \
	ENTRY(IOMMU, "iommu")                                                \
	ENTRY(MERGED, "entries_merged")                                      \
	ENTRY(MERGED_SEVERAL, "three_entries_in_one_segment")                \
	ENTRY(NOT_JOINED, "merge_of_what_does_not_join_up")                  \
	ENTRY(ENTRIES_254, "entries_254")                                    \
	ENTRY(ENTRIES_255, "entries_255")                                    \
	ENTRY(ENTRIES_256, "entries_256")                                    \
	ENTRY(ENTRIES_257, "entries_257")                                    \
	ENTRY(UNMAPPED_HARMLESS, "page_without_cpu_mapping_on_another_kind") \
	ENTRY(ONE_BYTE, "one_byte_entry")                                    \
	ENTRY(PAGE_TWICE, "page_twice_in_a_row")                             \
	ENTRY(SEVERAL_LIVE, "several_mappings_alive")                        \
	ENTRY(FAILED_NOT_ENTERED, "failed_mapping_left_nothing_to_unmap")    \
	ENTRY(MAPPED_TWICE, "mapped_while_mapped")                           \
	ENTRY(UNMAPPED_TWICE, "unmapped_what_is_not_mapped")                 \
	ENTRY(UNMAPPED_OTHER_WAY, "unmapped_in_another_direction")           \
	ENTRY(UNMAPPED_BY_SEGMENTS, "unmapped_with_fewer_entries")           \
	ENTRY(BALANCED, "ledger_balanced")

enum situation {
	RULE, /* followed by the other rules of o2_dma_rules */
	LAST_RULE = RULE + O2_DMA_RULES - 1,
	SITUATION_LIST(O2_SITUATION_ID) SITUATIONS,
};

static const char *const situations[SITUATIONS] = {"refused_kind",
						   "refused_page_size",
						   "refused_base_alignment",
						   "refused_base_wraps",
						   "refused_count",
						   "refused_no_such_page",
						   "refused_entry_past_page",
						   "refused_no_table",
						   "refused_no_such_device_page",
						   "refused_mapping_failed",
						   "refused_mapped_nothing",
						   "refused_no_cpu_mapping",
						   SITUATION_LIST(O2_SITUATION_NAME)};

static void count_mapped(struct o2_dma_run *run)
{
	uint64_t *seen = run->tally.seen;
	const struct o2_dma_device *d = &run->device;
	uint64_t longest = 0;

	seen[BUS + d->kind - O2_DMA_BUS] += 1;
	if (run->sg.count >= 254)
		seen[ENTRIES_254 + run->sg.count - 254]++;
	seen[MERGED] += run->list.count < run->sg.count;
	for (uint32_t i = 0; i < run->list.count; i++)
		longest = run->list.segment[i].length > longest ? run->list.segment[i].length : longest;
	seen[MERGED_SEVERAL] += longest > 2ull * d->page_bytes;
	seen[NOT_JOINED] += d->kind == O2_DMA_IOMMU && d->iommu.merge == UINT64_MAX && run->list.count > 1;
	for (uint32_t i = 0; i < run->sg.count; i++) {
		const struct o2_sg_entry *entry = &run->sg.entry[i];

		seen[ONE_BYTE] += entry->length == 1;
		seen[PAGE_TWICE] += i > 0 && entry->page == run->sg.entry[i - 1].page;
		seen[UNMAPPED_HARMLESS] +=
			d->unmapped != NULL && (d->unmapped[entry->page / 8] & 1u << entry->page % 8);
	}
}

/*
 * A refusal is right if it names a broken rule with that rule's errno, and an entry that breaks it.
 */
static void check_refusal(struct o2_dma_run *run, int rc, const struct o2_error *error, uint32_t broken,
			  struct o2_report *report)
{
	uint32_t rule = 0;

	while (rule < O2_DMA_RULES && (error->rule == NULL || strcmp(error->rule, o2_dma_rules[rule]) != 0))
		rule++;
	if (rule == O2_DMA_RULES || (broken & 1u << rule) == 0 || rc != o2_dma_code(run, rule) ||
	    error->code != rc) {
		o2_report_fail(report, "dma/refusal",
			       "refused with %d by rule %s, which is not broken or has another errno", rc,
			       error->rule == NULL ? "none" : error->rule);
		return;
	}
	if (error->field != NULL && strncmp(error->field, "entry[]", 7) == 0 &&
	    (error->index >= run->sg.count || (o2_dma_broken(run, error->index) & 1u << rule) == 0))
		o2_report_fail(report, "dma/refusal/index", "rule %s is not broken by entry %" PRIu32,
			       error->rule, error->index);
	if (!report->failed)
		o2_dma_check_figures(run, rule, error, report);
	run->tally.seen[RULE + rule]++;
}

static void step_map(struct o2_dma_run *run, struct o2_choice *c, struct o2_dma_step *step,
		     struct o2_report *report)
{
	static const uint32_t faults[] = {12, 1, 1, 1};
	const bool mapped = run->entries[step->slot] != 0;
	struct o2_error error = {0};
	enum o2_dma_direction direction;
	uint32_t broken;
	int rc;

	run->device.iommu.fault = O2_DMA_NO_FAULT;
	if (run->device.kind == O2_DMA_IOMMU)
		run->device.iommu.fault = (enum o2_dma_fault)o2_draw_weighted(c, faults, 4);
	o2_dma_draw_list(run, c);
	broken = o2_dma_broken(run, UINT32_MAX);
	rc = o2_dma_map(&run->sg, &run->device, &run->list, &error);
	step->entries = run->sg.count;
	step->segments = rc == 0 ? run->list.count : 0;
	step->code = rc;
	step->rule = rc == 0 ? NULL : error.rule;
	if (rc == 0 && broken != 0) {
		o2_report_fail(report, "dma/accepted", "accepted, although %s is broken",
			       o2_dma_rules[__builtin_ctz(broken)]);
	} else if (rc != 0) {
		check_refusal(run, rc, &error, broken, report);
		run->tally.seen[FAILED_NOT_ENTERED]++;
	} else {
		o2_dma_check_list(run, report);
	}
	if (rc != 0 || report->failed)
		return;
	count_mapped(run);
	direction = (enum o2_dma_direction)o2_draw(c, O2_DMA_FROM_DEVICE);
	rc = o2_ledger_map(&run->ledger, run->sg.count, direction, &run->mapping[step->slot], &error);
	if (rc != (mapped ? -EBUSY : 0))
		o2_report_fail(report, "dma/ledger/map", "the ledger answers %d for a mapping that is %s", rc,
			       mapped ? "there" : "new");
	run->tally.seen[MAPPED_TWICE] += mapped;
	if (mapped)
		return;
	run->maps++;
	run->entries[step->slot] = run->sg.count;
	run->direction[step->slot] = direction;
}

static void step_unmap(struct o2_dma_run *run, struct o2_choice *c, struct o2_dma_step *step,
		       struct o2_report *report)
{
	const bool mapped = run->entries[step->slot] != 0;
	const bool other = o2_draw_bool(c, 7, 1);
	const enum o2_dma_direction direction =
		(enum o2_dma_direction)((uint32_t)run->direction[step->slot] ^ (uint32_t)other);
	const bool wrong = !mapped || other;
	const uint32_t kept = run->entries[step->slot] > 1 && o2_draw_bool(c, 7, 1);
	struct o2_error error = {0};

	step->code = o2_ledger_unmap(&run->ledger, run->entries[step->slot] - kept, direction,
				     &run->mapping[step->slot], &error);
	step->rule = step->code == 0 ? NULL : error.rule;
	if (step->code != (wrong ? -EINVAL : 0))
		o2_report_fail(report, "dma/ledger/unmap",
			       "the ledger answers %d for a mapping that is %s, in %s direction", step->code,
			       mapped ? "there" : "gone", other ? "another" : "its");
	run->entries[step->slot] = 0;
	run->kept += kept;
	run->tally.seen[UNMAPPED_BY_SEGMENTS] += kept;
	run->wrong_unmaps += wrong;
	run->tally.seen[UNMAPPED_TWICE] += !mapped;
	run->tally.seen[UNMAPPED_OTHER_WAY] += mapped && other;
}

static void check_ledger(struct o2_dma_run *run, struct o2_report *report)
{
	const struct o2_dma_ledger *ledger = &run->ledger;
	uint64_t entries = run->kept;
	uint32_t live = 0;
	bool balanced;

	for (uint32_t i = 0; i < O2_DMA_SLOTS; i++) {
		entries += run->entries[i];
		live += run->entries[i] != 0;
	}
	balanced = live == 0 && run->kept == 0 && run->wrong_unmaps == 0;
	if (ledger->maps != run->maps || ledger->unmaps != run->maps - live || ledger->live != live ||
	    ledger->live_entries != entries || ledger->wrong_unmaps != run->wrong_unmaps ||
	    o2_ledger_balanced(ledger) != balanced)
		o2_report_fail(report, "dma/ledger",
			       "%" PRIu64 " maps, %" PRIu64 " unmaps, %" PRIu32 " alive with %" PRIu64
			       " entries, %" PRIu32 " wrong; expected %" PRIu32 ", %" PRIu32 ", %" PRIu32
			       ", %" PRIu64 ", %" PRIu32,
			       ledger->maps, ledger->unmaps, ledger->live, ledger->live_entries,
			       ledger->wrong_unmaps, run->maps, run->maps - live, live, entries,
			       run->wrong_unmaps);
	run->tally.seen[SEVERAL_LIVE] += live > 1;
	run->tally.seen[BALANCED] += balanced && run->maps > 0;
}

static enum o2_status run_case(void *context, struct o2_choice *choice, struct o2_report *report)
{
	struct o2_dma_run *run = context;
	bool more = true;

	o2_report_clear(report);
	memset(&run->ledger, 0, sizeof(run->ledger));
	memset(run->mapping, 0, sizeof(run->mapping));
	memset(run->entries, 0, sizeof(run->entries));
	memset(run->direction, 0, sizeof(run->direction));
	run->maps = run->wrong_unmaps = run->kept = run->steps = 0;
	o2_dma_draw_device(run, choice);
	while (more && !report->failed) {
		struct o2_dma_step *step = &run->step[run->steps];

		o2_span_begin(choice, LABEL_STEP);
		more = o2_draw_more(choice, run->steps, 1, O2_DMA_STEPS, 2);
		if (more) {
			memset(step, 0, sizeof(*step));
			step->unmap = o2_draw_bool(choice, 2, 1);
			step->slot = (uint32_t)o2_draw(choice, O2_DMA_SLOTS - 1);
			run->steps++;
			if (step->unmap)
				step_unmap(run, choice, step, report);
			else
				step_map(run, choice, step, report);
			if (!report->failed)
				check_ledger(run, report);
			if (report->failed)
				o2_report_add(report, "this was step %" PRIu32, run->steps - 1);
		}
		o2_span_end(choice);
	}
	return o2_tally_case(&run->tally, choice, report);
}

static void print(const void *context, uint32_t pieces, FILE *out)
{
	static const char *const kinds[] = {"bus", "virtual", "iommu", "no kind"};
	const struct o2_dma_run *run = context;
	const struct o2_dma_device *d = &run->device;
	const uint32_t count = run->sg.count <= O2_MAX_FRAGS ? run->sg.count : 0;
	const uint32_t shown = count < pieces ? count : pieces;

	fprintf(out, "device: %s, %" PRIu32 " pages of %" PRIu32 ", base 0x%" PRIx64 "%s\n",
		kinds[d->kind <= O2_DMA_IOMMU ? d->kind : 3], d->npages, d->page_bytes, d->base,
		d->unmapped != NULL ? ", one page without a CPU mapping" : "");
	if (d->kind == O2_DMA_IOMMU)
		fprintf(out, "  merge 0x%" PRIx64 "%s\n", d->iommu.merge,
			d->iommu.device_page == NULL ? ", no table" : "");
	for (uint32_t i = 0; i < run->steps; i++) {
		const struct o2_dma_step *step = &run->step[i];

		fprintf(out, "  [%" PRIu32 "] %s slot %" PRIu32, i, step->unmap ? "unmap" : "map",
			step->slot);
		if (!step->unmap)
			fprintf(out, ": %" PRIu32 " entries, %" PRIu32 " segments", step->entries,
				step->segments);
		fprintf(out, "%s%s\n", step->rule == NULL ? "" : ": ", step->rule == NULL ? "" : step->rule);
	}
	fprintf(out, "the last list:\n");
	for (uint32_t i = 0; i < shown; i++)
		fprintf(out, "  page %" PRIu32 " +%" PRIu32 ", %" PRIu32 " bytes\n", run->sg.entry[i].page,
			run->sg.entry[i].offset, run->sg.entry[i].length);
	if (shown < count)
		fprintf(out, "  ... %" PRIu32 " more\n", count - shown);
}

static void print_held(const void *context, FILE *out)
{
	const struct o2_dma_run *run = context;

	fprintf(out, "held: %" PRIu32 " mappings in %" PRIu32 " steps\n", run->maps, run->steps);
}

struct o2_property o2_dma_property(struct o2_dma_run *run)
{
	static const struct o2_property_ops ops = {O2_TALLY_PROPERTY(
		"dma",
		"dma_map covers each byte of its list where the device has it, or refuses by a broken rule")};

	return o2_tally_property(&ops, run, situations, SITUATIONS, 10000);
}
