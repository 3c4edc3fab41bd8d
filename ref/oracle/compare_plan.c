/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>

#include "oracle/compare.h"

/*
 * The comparison of registration plans.  A plan is right if its published fragments, resolved through its
 * registration, yield the bytes of the segments; the form of the plan is free (docs/modes.md).
 */

#define NONE O2_CHECKS /* the mode has no such check */

#define OF_PEER(MODE)                                                                               \
	O2_CHECK_REG_##MODE##_PEER_LIMIT, O2_CHECK_REG_##MODE##_ACCESS, O2_CHECK_REG_SOURCE_ACCESS, \
		O2_CHECK_REG_SINK_FRAGMENTS
#define RANGE(MODE) O2_CHECK_REG_##MODE##_RANGE, O2_CHECK_REG_FMR_RANGE_IN_PAGES
#define PAGES(MODE) O2_CHECK_REG_##MODE##_PAGES
#define IOVA(MODE)  O2_CHECK_REG_##MODE##_IOVA

/* The checks of stage reg_plan by mode.  Where this table has NONE, other stages do not check the mode either. */
static const struct o2_plan_checks terms[O2_REG_MODES] = {
	[O2_REG_GLOBAL] = {OF_PEER(GLOBAL), NONE, NONE, NONE, NONE, NONE},
	[O2_REG_FMR] = {OF_PEER(FMR), RANGE(FMR), PAGES(FMR), NONE, NONE},
	[O2_REG_FASTREG] = {OF_PEER(FASTREG), RANGE(FASTREG), PAGES(FASTREG), IOVA(FASTREG), NONE},
	[O2_REG_USER] = {OF_PEER(USER), RANGE(USER), NONE, IOVA(USER), NONE},
	[O2_REG_PHYS] = {OF_PEER(PHYS), RANGE(PHYS), PAGES(PHYS), IOVA(PHYS), NONE},
	[O2_REG_FASTREG_GAPS] = {OF_PEER(FASTREG_GAPS), RANGE(FASTREG_GAPS), NONE, IOVA(FASTREG_GAPS),
				 O2_CHECK_REG_FASTREG_GAPS_ENTRIES},
};

#define BYTES(MODE) O2_CHECK_REG_##MODE##_BYTES, O2_CHECK_REG_##MODE##_FRAGMENTS
#define LIST(MODE)  O2_CHECK_REG_##MODE##_PAGE_LIST

/* The checks that compare a plan with the segments of the question. */
static const struct {
	enum o2_check_id bytes, fragments, page_list;
} checks[O2_REG_MODES] = {
	[O2_REG_GLOBAL] = {BYTES(GLOBAL), NONE},
	[O2_REG_FMR] = {BYTES(FMR), LIST(FMR)},
	[O2_REG_FASTREG] = {BYTES(FASTREG), LIST(FASTREG)},
	[O2_REG_USER] = {BYTES(USER), NONE},
	[O2_REG_PHYS] = {BYTES(PHYS), LIST(PHYS)},
	[O2_REG_FASTREG_GAPS] = {BYTES(FASTREG_GAPS), NONE},
};

/* The range that the fragments span. */
static void span_of(const struct o2_reg_plan *plan, uint64_t *low, uint64_t *high)
{
	*low = UINT64_MAX;
	*high = 0;
	for (uint32_t i = 0; i < plan->nfrags; i++) {
		const uint64_t end = plan->frag[i].rf_addr + plan->frag[i].rf_nob;

		if (plan->frag[i].rf_addr < *low)
			*low = plan->frag[i].rf_addr;
		if (end > *high)
			*high = end;
	}
}

/* How the range that a plan registers fits the range that its fragments span. */
enum region_fit {
	REGION_EXACT,
	REGION_IN_PAGES, /* mode fmr: the spanned range, extended to whole pages at both ends */
	REGION_OTHER,
};

static enum region_fit region_fit(const struct o2_reg_plan *plan, uint32_t page_bytes)
{
	const uint64_t region_end = plan->iova + plan->length;
	uint64_t low, high;

	span_of(plan, &low, &high);
	/* A region that wraps past the last address must not match, although its fragments wrap to the same end. */
	if (plan->length > UINT64_MAX - plan->iova)
		return REGION_OTHER;
	if (plan->nfrags == 0 || (plan->iova == low && region_end == high))
		return REGION_EXACT;
	if (plan->mode == O2_REG_FMR && plan->iova == low - low % page_bytes &&
	    region_end % page_bytes == 0 && region_end >= high && region_end - high < page_bytes)
		return REGION_IN_PAGES;
	return REGION_OTHER;
}

/* Resolve the fragments as the device would.  A fragment that leaves the region is a difference. */
static bool resolve(struct o2_comparison *comparison, const struct o2_reg_plan *plan,
		    struct o2_stream *stream)
{
	o2_stream_clear(stream);
	for (uint32_t i = 0; i < plan->nfrags; i++) {
		struct o2_difference *item;
		uint64_t bad = 0;

		if (o2_stream_of_region(plan, plan->frag[i].rf_addr, plan->frag[i].rf_nob, stream, &bad))
			continue;
		item = o2_differ_text(comparison, checks[plan->mode].bytes, "frag[]", "");
		if (item == NULL)
			return false;
		snprintf(item->field, sizeof(item->field), "frag[%u]", i);
		snprintf(item->expected, sizeof(item->expected), "bytes of the region");
		if (bad - plan->iova >= plan->length)
			snprintf(item->found, sizeof(item->found),
				 "byte 0x%" PRIx64 " lies outside the region [0x%" PRIx64 ",+%" PRIu64 ")",
				 bad, plan->iova, plan->length);
		else
			snprintf(item->found, sizeof(item->found),
				 "byte 0x%" PRIx64 " of the region has no page or entry (%" PRIu32 " listed)",
				 bad, plan->npages + plan->nentries);
		return false;
	}
	return true;
}

/* --- what device and peer require of a plan, apart from its bytes --- */

/* The two plans to compare.  field: buffer for the name of a field of the found plan. */
struct look {
	struct o2_comparison *comparison;
	const struct o2_plan_terms *terms;
	const struct o2_reg_plan *expected, *found;
	char field[64];
};

static const char *name(struct look *look, const char *field)
{
	snprintf(look->field, sizeof(look->field), "%s%s", look->terms->of, field);
	return look->field;
}

/* A peer that decodes a descriptor with an illegal fragment closes the connection (docs/wire.md, "Rules"). */
static void look_at_fragments(struct look *look)
{
	const enum o2_check_id check = look->terms->checks->sink_fragments;
	const struct o2_reg_plan *found = look->found;
	uint64_t sum = 0;

	for (uint32_t i = 0; i < found->nfrags; i++) {
		const struct o2_rdma_frag *frag = &found->frag[i];

		sum += frag->rf_nob;
		if (frag->rf_nob == 0)
			o2_differ(look->comparison, check, name(look, "frag[].rf_nob"), i,
				  i < look->expected->nfrags ? look->expected->frag[i].rf_nob : 1, 0);
		if (frag->rf_addr > UINT64_MAX - frag->rf_nob)
			o2_differ_hex(look->comparison, check, name(look, "frag[].rf_addr"), i,
				      i < look->expected->nfrags ? look->expected->frag[i].rf_addr
								 : UINT64_MAX - frag->rf_nob,
				      frag->rf_addr);
	}
	if (sum > O2_MAX_TRANSFER_BYTES)
		o2_differ(look->comparison, check, name(look, "frags"), O2_NO_INDEX, O2_MAX_TRANSFER_BYTES,
			  sum);
}

/* A source's region must not allow remote writes.  A sink's region must allow remote and local writes. */
static void look_at_rights(struct look *look)
{
	const struct o2_plan_checks *ids = look->terms->checks;
	const bool sink = look->terms->side == O2_SINK;

	o2_expect(look->comparison, sink ? ids->access : ids->source_access, name(look, "remote_write"),
		  O2_NO_INDEX, sink, (look->found->access & O2_ACCESS_REMOTE_WRITE) != 0);
	if (!sink)
		return;
	if ((look->found->access & O2_ACCESS_LOCAL_WRITE) == 0)
		o2_differ(look->comparison, ids->access, name(look, "local_write"), O2_NO_INDEX, 1, 0);
	if (look->found->nfrags > look->terms->max_frags)
		o2_differ(look->comparison, ids->peer_limit, name(look, "nfrags"), O2_NO_INDEX,
			  look->expected->nfrags, look->found->nfrags);
	look_at_fragments(look);
}

/*
 * A plan can be wrong by itself, where each of its numbers is the reference's.  So its parts are shown: what the plan
 * itself requires, and what it has.
 */
static void look_at_range(struct look *look)
{
	const struct o2_reg_plan *found = look->found;
	const enum region_fit fit = region_fit(found, look->terms->page_bytes);
	const enum o2_check_id check =
		fit == REGION_IN_PAGES ? look->terms->checks->range_in_pages : look->terms->checks->range;
	struct o2_difference *item;
	uint64_t low, high;

	if (fit == REGION_EXACT || check == NONE)
		return;
	item = o2_differ_text(look->comparison, check, name(look, "length"), "");
	if (item == NULL)
		return;
	span_of(found, &low, &high);
	snprintf(item->field, sizeof(item->field), "%s", look->field);
	snprintf(item->expected, sizeof(item->expected),
		 "%" PRIu64 ": the fragments span [0x%" PRIx64 ",0x%" PRIx64 ")", look->expected->length, low,
		 high);
	snprintf(item->found, sizeof(item->found),
		 "%" PRIu64 ": the region is [0x%" PRIx64 ",+0x%" PRIx64 ")", found->length, found->iova,
		 found->length);
}

/* The list of pages or entries is too long, or it lists fewer bytes than the region has. */
static void differ_listed(struct look *look, enum o2_check_id check, const char *field, uint32_t expected,
			  uint32_t found, uint64_t bytes)
{
	struct o2_difference *item = o2_differ_text(look->comparison, check, name(look, field), "");

	if (item == NULL)
		return;
	snprintf(item->field, sizeof(item->field), "%s", look->field);
	snprintf(item->expected, sizeof(item->expected), "%" PRIu32 " (at most %" PRIu32 ")", expected,
		 look->terms->max_pages);
	snprintf(item->found, sizeof(item->found),
		 "%" PRIu32 ", which list %" PRIu64 " bytes of a region of %" PRIu64, found, bytes,
		 look->found->length);
}

/* Whether the region extends beyond the last of its listed pages. */
static bool ends_behind(const struct o2_reg_plan *plan, uint64_t listed)
{
	return plan->page_offset > listed || plan->length > listed - plan->page_offset;
}

static void look_at_pages(struct look *look)
{
	const struct o2_reg_plan *expected = look->expected, *found = look->found;
	const enum o2_check_id check = look->terms->checks->pages;
	const uint32_t page_bytes = look->terms->page_bytes;
	const uint64_t listed = (uint64_t)found->npages * page_bytes;

	if (found->npages > look->terms->max_pages || ends_behind(found, listed))
		differ_listed(look, check, "npages", expected->npages, found->npages,
			      found->page_offset > listed ? 0 : listed - found->page_offset);
	if (found->iova % page_bytes != found->page_offset && found->page_offset == expected->page_offset)
		o2_differ_hex(look->comparison, check, name(look, "iova"), O2_NO_INDEX, expected->iova,
			      found->iova);
	else if (found->iova % page_bytes != found->page_offset)
		o2_differ(look->comparison, check, name(look, "page_offset"), O2_NO_INDEX,
			  expected->page_offset, found->page_offset);
	for (uint32_t i = 0; i < found->npages; i++)
		if (found->page[i] % page_bytes != 0)
			o2_differ_hex(look->comparison, check, name(look, "page[]"), i,
				      i < expected->npages ? expected->page[i] : 0, found->page[i]);
}

static void look_at_entries(struct look *look)
{
	const struct o2_reg_plan *expected = look->expected, *found = look->found;
	const enum o2_check_id check = look->terms->checks->entries;
	uint64_t listed = 0;

	for (uint32_t i = 0; i < found->nentries; i++)
		listed += found->entry[i].length;
	if (found->nentries > look->terms->max_pages || found->length > listed)
		differ_listed(look, check, "nentries", expected->nentries, found->nentries, listed);
	for (uint32_t i = 0; i < found->nentries; i++)
		if (found->entry[i].length == 0)
			o2_differ(look->comparison, check, name(look, "entry[].length"), i,
				  i < expected->nentries ? expected->entry[i].length : 1, 0);
}

void o2_compare_terms(struct o2_comparison *comparison, const struct o2_plan_terms *asked,
		      const struct o2_reg_plan *expected, const struct o2_reg_plan *found)
{
	const struct o2_plan_checks *of_mode = &terms[asked->mode];
	struct look look = {.comparison = comparison, .terms = asked, .expected = expected, .found = found};

	if (asked->checks->access != NONE)
		look_at_rights(&look);
	if (of_mode->range != NONE)
		look_at_range(&look);
	if (of_mode->iova != NONE)
		o2_expect_hex(comparison, asked->checks->iova, name(&look, "iova"), O2_NO_INDEX,
			      expected->iova, found->iova);
	if (of_mode->pages != NONE)
		look_at_pages(&look);
	if (of_mode->entries != NONE)
		look_at_entries(&look);
}

/* --- two plans for the same segments --- */

static void compare_page_list(struct o2_comparison *comparison, enum o2_check_id list,
			      const struct o2_reg_plan *expected, const struct o2_reg_plan *found)
{
	o2_expect(comparison, list, "npages", O2_NO_INDEX, expected->npages, found->npages);
	for (uint32_t i = 0; i < found->npages && i < expected->npages; i++)
		o2_expect_hex(comparison, list, "page[]", i, expected->page[i], found->page[i]);
}

static void compare_entries(struct o2_comparison *comparison, const struct o2_reg_plan *expected,
			    const struct o2_reg_plan *found)
{
	const enum o2_check_id check = terms[O2_REG_FASTREG_GAPS].entries;

	o2_expect(comparison, check, "nentries", O2_NO_INDEX, expected->nentries, found->nentries);
	for (uint32_t i = 0; i < found->nentries && i < expected->nentries; i++) {
		o2_expect_hex(comparison, check, "entry[].addr", i, expected->entry[i].addr,
			      found->entry[i].addr);
		o2_expect(comparison, check, "entry[].length", i, expected->entry[i].length,
			  found->entry[i].length);
	}
}

void o2_compare_reg(struct o2_comparison *comparison, const struct o2_reg_request *request,
		    const struct o2_reg_plan *expected, const struct o2_reg_plan *found)
{
	const enum o2_reg_mode mode = request->mode;
	const struct o2_plan_terms asked = {.of = "",
					    .mode = mode,
					    .side = request->side,
					    .page_bytes = request->page_bytes,
					    .max_pages = request->max_pages,
					    .max_frags = request->peer_max_frags,
					    .checks = &terms[mode]};

	if (resolve(comparison, found, &comparison->found_from) &&
	    resolve(comparison, expected, &comparison->expected_from))
		o2_differ_stream(comparison, checks[mode].bytes, "fragments", &comparison->expected_from,
				 &comparison->found_from);
	o2_compare_terms(comparison, &asked, expected, found);
	o2_expect(comparison, checks[mode].fragments, "nfrags", O2_NO_INDEX, expected->nfrags, found->nfrags);
	if (checks[mode].page_list != NONE)
		compare_page_list(comparison, checks[mode].page_list, expected, found);
	if (terms[mode].entries != NONE)
		compare_entries(comparison, expected, found);
}
