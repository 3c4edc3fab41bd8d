/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "props/transfer/transfer_internal.h"

/*
 * Cases differ in their data, so that bytes that arrive late or by an old mapping are detected.  Nothing but
 * the case decides it: where two bytes change places, a replay must find the same two.
 */
static uint64_t case_seed(const struct o2_transfer_run *run)
{
	return (run->scenario.pattern_seed << 8) ^ run->epoch;
}

static struct o2_image *image_of(const struct o2_transfer_run *run, enum o2_side side)
{
	return run->image[side][side == O2_SOURCE ? run->scenario.source.kind : run->scenario.sink.kind];
}

const uint32_t *o2_transfer_view_page(const struct o2_transfer_run *run, enum o2_side side)
{
	const struct o2_scenario_side *memory =
		side == O2_SOURCE ? &run->scenario.source : &run->scenario.sink;

	return memory->vector == O2_IOV ? image_of(run, side)->arena->view[memory->view].page : NULL;
}

/* Collect the pages of a list, each once. */
static uint32_t collect_pages(const struct o2_extent *extent, int n, uint32_t *page)
{
	uint8_t seen[O2_SCENARIO_PAGES] = {0};
	uint32_t count = 0;

	for (int i = 0; i < n; i++) {
		if (!seen[extent[i].page])
			page[count++] = extent[i].page;
		seen[extent[i].page] = 1;
	}
	return count;
}

static uint64_t vector_bytes(const struct o2_scenario_side *side)
{
	uint64_t total = 0;

	for (uint32_t i = 0; i < side->count; i++)
		total += side->vector == O2_IOV ? side->iov[i].len : side->kiov[i].len;
	return total;
}

int o2_transfer_prepare(struct o2_transfer_run *run)
{
	struct o2_transfer_scratch *s = run->scratch;
	const struct o2_scenario *scenario = &run->scenario;
	const uint32_t *source_view = o2_transfer_view_page(run, O2_SOURCE);
	const uint32_t *sink_view = o2_transfer_view_page(run, O2_SINK);
	uint64_t moved = o2_scenario_moved(scenario);

	s->nsource_all =
		o2_scenario_extents(&scenario->source, source_view, 0, vector_bytes(&scenario->source),
				    s->source_all, O2_SCENARIO_EXTENTS);
	s->nsink_all = o2_scenario_extents(&scenario->sink, sink_view, 0, vector_bytes(&scenario->sink),
					   s->sink_all, O2_SCENARIO_EXTENTS);
	s->nsource = o2_scenario_extents(&scenario->source, source_view, scenario->source.offset_bytes, moved,
					 s->source, O2_SCENARIO_EXTENTS);
	s->nsink = o2_scenario_extents(&scenario->sink, sink_view, scenario->sink.offset_bytes, moved,
				       s->sink, O2_SCENARIO_EXTENTS);
	if (s->nsource_all < 0 || s->nsink_all < 0 || s->nsource < 0 || s->nsink < 0)
		return -EINVAL;
	s->nsource_pages = collect_pages(s->source_all, s->nsource_all, s->source_page);
	s->nsink_pages = collect_pages(s->sink_all, s->nsink_all, s->sink_page);
	for (uint32_t i = 0; i < s->nsource_pages; i++)
		o2_image_fill_data(image_of(run, O2_SOURCE), s->source_page[i], case_seed(run));
	for (uint32_t i = 0; i < s->nsink_pages; i++)
		o2_image_fill_poison(image_of(run, O2_SINK), s->sink_page[i], case_seed(run), run->epoch);
	return 0;
}

static struct o2_origin poison_at(const struct o2_transfer_run *run, uint32_t page, uint32_t offset)
{
	return (struct o2_origin){
		.kind = O2_FILL_POISON,
		.id = run->epoch,
		.offset_bytes = (uint64_t)page * O2_SCENARIO_PAGE_BYTES + offset,
	};
}

static void expect(struct o2_transfer_run *run, uint32_t page, uint32_t offset, uint32_t length,
		   struct o2_origin expected, uint32_t fragment, uint32_t fragment_byte)
{
	struct o2_transfer_scratch *s = run->scratch;

	if (length == 0 || s->nexpect == O2_EXPECTS)
		return;
	s->fragment[s->nexpect] = fragment;
	s->fragment_byte[s->nexpect] = fragment_byte;
	s->expect[s->nexpect++] = (struct o2_expect){
		.actual = o2_arena_page(image_of(run, O2_SINK)->arena, page) + offset,
		.length_bytes = length,
		.expected = expected,
		.before = poison_at(run, page, offset),
	};
}

/* Every range that lies in one extent of both lists must hold the source's bytes. */
static void expect_moved(struct o2_transfer_run *run)
{
	struct o2_transfer_scratch *s = run->scratch;
	uint32_t from = 0, from_used = 0;

	for (int to = 0; to < s->nsink; to++) {
		uint32_t used = 0;

		while (used < s->sink[to].length) {
			uint32_t run_bytes = s->source[from].length - from_used;
			struct o2_origin origin = {
				.kind = O2_FILL_PAGE,
				.id = s->source[from].page,
				.offset_bytes = s->source[from].offset + from_used,
			};

			if (run_bytes > s->sink[to].length - used)
				run_bytes = s->sink[to].length - used;
			expect(run, s->sink[to].page, s->sink[to].offset + used, run_bytes, origin,
			       (uint32_t)to, used);
			used += run_bytes;
			from_used += run_bytes;
			if (from_used == s->source[from].length) {
				from++;
				from_used = 0;
			}
		}
	}
}

static int by_place(const void *a, const void *b)
{
	const struct o2_extent *x = a, *y = b;

	if (x->page != y->page)
		return x->page < y->page ? -1 : 1;
	return x->offset < y->offset ? -1 : x->offset > y->offset;
}

/* All other bytes of the sink's pages must still be poison. */
static void expect_untouched(struct o2_transfer_run *run, int nmoved)
{
	struct o2_transfer_scratch *s = run->scratch;

	memcpy(s->sorted, s->sink, (size_t)nmoved * sizeof(s->sink[0]));
	qsort(s->sorted, (size_t)nmoved, sizeof(s->sorted[0]), by_place);
	for (uint32_t i = 0; i < s->nsink_pages; i++) {
		uint32_t page = s->sink_page[i];
		struct o2_extent key = {.page = page};
		uint32_t at = 0;
		int low = 0, high = nmoved;

		while (low < high) {
			int middle = (low + high) / 2;

			if (by_place(&s->sorted[middle], &key) < 0)
				low = middle + 1;
			else
				high = middle;
		}
		for (; low < nmoved && s->sorted[low].page == page; low++) {
			expect(run, page, at, s->sorted[low].offset - at, poison_at(run, page, at),
			       O2_NO_INDEX, 0);
			at = s->sorted[low].offset + s->sorted[low].length;
		}
		expect(run, page, at, O2_SCENARIO_PAGE_BYTES - at, poison_at(run, page, at), O2_NO_INDEX, 0);
	}
}

/* Describe a place in a source page: "source fragment 6 byte 0 (page 11 +0)". */
static void source_place(const struct o2_transfer_scratch *s, const struct o2_origin *origin, char *text,
			 size_t bytes)
{
	for (int i = 0; i < s->nsource; i++) {
		const struct o2_extent *e = &s->source[i];

		if (e->page == origin->id && origin->offset_bytes >= e->offset &&
		    origin->offset_bytes < e->offset + e->length) {
			snprintf(text, bytes, "source fragment %d byte %u (page %u +%u)", i,
				 (uint32_t)origin->offset_bytes - e->offset, origin->id,
				 (uint32_t)origin->offset_bytes);
			return;
		}
	}
	snprintf(text, bytes, "source page %u +%u, outside the transfer", origin->id,
		 (uint32_t)origin->offset_bytes);
}

static void describe_run(const struct o2_transfer_scratch *s, const struct o2_diff_run *found, char *text,
			 size_t bytes)
{
	switch (found->found) {
	case O2_FOUND_BEFORE:
		snprintf(text, bytes, "poison: never written");
		break;
	case O2_FOUND_ORIGIN:
		if (found->origin.kind == O2_FILL_PAGE)
			source_place(s, &found->origin, text, bytes);
		else
			snprintf(text, bytes, "%s of transfer %u",
				 found->origin.kind == O2_FILL_POISON ? "poison" : "red bytes",
				 found->origin.id);
		break;
	case O2_FOUND_ZERO:
		snprintf(text, bytes, "zeros");
		break;
	case O2_FOUND_BIT:
		snprintf(text, bytes, "0x%02x in place of 0x%02x", found->got, found->want);
		break;
	default:
		/* A few bytes occur in too many places to name their origin. */
		if (found->length_bytes < sizeof(uint64_t))
			snprintf(text, bytes, "other bytes (first 0x%02x)", found->got);
		else
			snprintf(text, bytes, "bytes that were never written anywhere (first 0x%02x)",
				 found->got);
		break;
	}
}

static void report_run(struct o2_transfer_run *run, const struct o2_diff_run *found, struct o2_report *report)
{
	const struct o2_transfer_scratch *s = run->scratch;
	uint32_t fragment = s->fragment[found->expect_index];
	uint64_t first = found->offset_bytes;
	char what[128], where[128], wanted[128];

	describe_run(s, found, what, sizeof(what));
	if (fragment == O2_NO_INDEX) {
		uint64_t at = s->expect[found->expect_index].before.offset_bytes + first;

		snprintf(where, sizeof(where), "outside the sink, page %u +%u, %llu bytes",
			 (uint32_t)(at / O2_SCENARIO_PAGE_BYTES), (uint32_t)(at % O2_SCENARIO_PAGE_BYTES),
			 (unsigned long long)found->length_bytes);
		snprintf(wanted, sizeof(wanted), "poison");
	} else {
		first += s->fragment_byte[found->expect_index];
		snprintf(where, sizeof(where), "sink fragment %u of %d, bytes %llu..%llu", fragment, s->nsink,
			 (unsigned long long)first, (unsigned long long)(first + found->length_bytes - 1));
		source_place(s, &found->expected, wanted, sizeof(wanted));
	}
	o2_report_add(report, "%s: expected %s, found %s", where, wanted, what);
}

static void explain(struct o2_transfer_run *run, struct o2_report *report)
{
	struct o2_transfer_scratch *s = run->scratch;
	struct o2_diff_run found[O2_REPORT_LINES - 4];
	size_t n, shown;

	for (uint32_t i = 0; i < s->nsource_pages; i++)
		s->range[i] = (struct o2_origin_range){
			.from = {.kind = O2_FILL_PAGE, .id = s->source_page[i]},
			.length_bytes = O2_SCENARIO_PAGE_BYTES,
		};
	s->range[s->nsource_pages] = (struct o2_origin_range){
		.from = {.kind = O2_FILL_POISON, .id = run->epoch},
		.length_bytes = (uint64_t)O2_SCENARIO_PAGES * O2_SCENARIO_PAGE_BYTES,
	};
	n = o2_pattern_diff(s->expect, s->nexpect, case_seed(run), s->range, s->nsource_pages + 1, found,
			    O2_REPORT_LINES - 4);
	shown = n < O2_REPORT_LINES - 4 ? n : O2_REPORT_LINES - 4;
	for (size_t i = 0; i < shown; i++)
		report_run(run, &found[i], report);
	if (n > shown)
		o2_report_add(report, "and %zu more wrong stretches", n - shown);
}

static void check_source(struct o2_transfer_run *run, struct o2_report *report)
{
	struct o2_transfer_scratch *s = run->scratch;
	const struct o2_image *image = image_of(run, O2_SOURCE);

	for (uint32_t i = 0; i < s->nsource_pages; i++) {
		struct o2_origin origin = {.kind = O2_FILL_PAGE, .id = s->source_page[i]};
		size_t right = o2_fill_match(o2_arena_page(image->arena, s->source_page[i]),
					     O2_SCENARIO_PAGE_BYTES, case_seed(run), origin);

		if (right != O2_SCENARIO_PAGE_BYTES) {
			o2_report_kind(report, "source-changed");
			o2_report_add(report, "the source changed: page %u byte %zu", s->source_page[i],
				      right);
			return;
		}
	}
}

void o2_transfer_check_bytes(struct o2_transfer_run *run, uint64_t moved_bytes, struct o2_report *report)
{
	struct o2_transfer_scratch *s = run->scratch;

	s->nexpect = 0;
	if (moved_bytes > 0)
		expect_moved(run);
	expect_untouched(run, moved_bytes > 0 ? s->nsink : 0);
	if (!o2_pattern_equal(s->expect, s->nexpect, case_seed(run))) {
		o2_report_kind(report, "wrong-bytes");
		explain(run, report);
	}
	check_source(run, report);
	for (uint32_t i = 0; i < s->nsink_pages; i++)
		image_of(run, O2_SINK)->page[s->sink_page[i]].mixed = true;
}

void o2_transfer_clean(struct o2_transfer_run *run)
{
	struct o2_transfer_scratch *s = run->scratch;

	for (uint32_t i = 0; i < s->nsink_pages; i++)
		o2_image_fill_red(image_of(run, O2_SINK), s->sink_page[i]);
}
