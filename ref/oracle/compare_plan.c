/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>

#include "oracle/compare.h"

/*
 * Registration plans: the published fragments, looked up in what is registered, are the bytes of the
 * segments. That decides, and not how the plan puts it (docs/modes.md).
 */

#define NONE O2_CHECKS /* the mode has no such check */

#define FRAGMENTS(MODE)                                                                                 \
	O2_CHECK_REG_##MODE##_BYTES, O2_CHECK_REG_##MODE##_FRAGMENTS, O2_CHECK_REG_##MODE##_PEER_LIMIT, \
		O2_CHECK_REG_##MODE##_ACCESS
#define RANGE(MODE) O2_CHECK_REG_##MODE##_RANGE
#define PAGES(MODE) O2_CHECK_REG_##MODE##_PAGES, O2_CHECK_REG_##MODE##_PAGE_LIST
#define IOVA(MODE)  O2_CHECK_REG_##MODE##_IOVA

static const struct {
	enum o2_check_id bytes, fragments, peer_limit, access, range, pages, page_list, iova, entries;
} checks[O2_REG_MODES] = {
	[O2_REG_GLOBAL] = {FRAGMENTS(GLOBAL), NONE, NONE, NONE, NONE, NONE},
	[O2_REG_FMR] = {FRAGMENTS(FMR), RANGE(FMR), PAGES(FMR), NONE, NONE},
	[O2_REG_FASTREG] = {FRAGMENTS(FASTREG), RANGE(FASTREG), PAGES(FASTREG), IOVA(FASTREG), NONE},
	[O2_REG_USER] = {FRAGMENTS(USER), RANGE(USER), NONE, NONE, IOVA(USER), NONE},
	[O2_REG_PHYS] = {FRAGMENTS(PHYS), RANGE(PHYS), PAGES(PHYS), IOVA(PHYS), NONE},
	[O2_REG_FASTREG_GAPS] = {FRAGMENTS(FASTREG_GAPS), RANGE(FASTREG_GAPS), NONE, NONE, IOVA(FASTREG_GAPS),
				 O2_CHECK_REG_FASTREG_GAPS_ENTRIES},
};

enum o2_region_fit o2_region_fit(const struct o2_reg_plan *plan, uint32_t page_bytes)
{
	const uint64_t region_end = plan->iova + plan->length;
	uint64_t low = UINT64_MAX;
	uint64_t high = 0;

	for (uint32_t i = 0; i < plan->nfrags; i++) {
		const uint64_t end = plan->frag[i].rf_addr + plan->frag[i].rf_nob;

		if (plan->frag[i].rf_addr < low)
			low = plan->frag[i].rf_addr;
		if (end > high)
			high = end;
	}
	if (plan->nfrags == 0 || (plan->iova == low && region_end == high))
		return O2_REGION_EXACT;
	if (plan->mode == O2_REG_FMR && plan->iova == low - low % page_bytes &&
	    region_end % page_bytes == 0 && region_end >= high && region_end - high < page_bytes)
		return O2_REGION_IN_PAGES;
	return O2_REGION_OTHER;
}

/* The fragments as the device would find them; a fragment that leaves the region is a difference. */
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
		snprintf(item->expected, sizeof(item->expected),
			 "in the region [0x%" PRIx64 ", +%" PRIu64 ")", plan->iova, plan->length);
		snprintf(item->found, sizeof(item->found), "no such byte: 0x%" PRIx64, bad);
		return false;
	}
	return true;
}

static void compare_pages(struct o2_comparison *comparison, const struct o2_reg_request *request,
			  const struct o2_reg_plan *expected, const struct o2_reg_plan *found)
{
	const enum o2_check_id pages = checks[request->mode].pages;
	const enum o2_check_id list = checks[request->mode].page_list;

	if (found->npages > request->max_pages)
		o2_differ(comparison, pages, "npages", O2_NO_INDEX, expected->npages, found->npages);
	if (found->page_offset >= request->page_bytes ||
	    found->iova % request->page_bytes != found->page_offset)
		o2_differ(comparison, pages, "page_offset", O2_NO_INDEX, expected->page_offset,
			  found->page_offset);
	for (uint32_t i = 0; i < found->npages; i++)
		if (found->page[i] % request->page_bytes != 0)
			o2_differ_hex(comparison, pages, "page[]", i,
				      i < expected->npages ? expected->page[i] : 0, found->page[i]);
	o2_expect(comparison, list, "npages", O2_NO_INDEX, expected->npages, found->npages);
	for (uint32_t i = 0; i < found->npages && i < expected->npages; i++)
		o2_expect_hex(comparison, list, "page[]", i, expected->page[i], found->page[i]);
}

static void compare_entries(struct o2_comparison *comparison, const struct o2_reg_plan *expected,
			    const struct o2_reg_plan *found)
{
	const enum o2_check_id check = checks[O2_REG_FASTREG_GAPS].entries;

	o2_expect(comparison, check, "nentries", O2_NO_INDEX, expected->nentries, found->nentries);
	for (uint32_t i = 0; i < found->nentries && i < expected->nentries; i++) {
		o2_expect_hex(comparison, check, "entry[].addr", i, expected->entry[i].addr,
			      found->entry[i].addr);
		o2_expect(comparison, check, "entry[].length", i, expected->entry[i].length,
			  found->entry[i].length);
	}
}

/* A source's region admits no writes by the peer, whatever else it admits; a sink's must. */
static bool same_access(const struct o2_reg_plan *expected, const struct o2_reg_plan *found)
{
	return ((expected->access ^ found->access) & O2_ACCESS_REMOTE_WRITE) == 0;
}

static void compare_range(struct o2_comparison *comparison, uint32_t page_bytes,
			  const struct o2_reg_plan *expected, const struct o2_reg_plan *found)
{
	const enum o2_region_fit fit = o2_region_fit(found, page_bytes);

	if (fit != O2_REGION_EXACT)
		o2_differ_hex(comparison,
			      fit == O2_REGION_IN_PAGES ? O2_CHECK_REG_FMR_RANGE_IN_PAGES
							: checks[expected->mode].range,
			      "length", O2_NO_INDEX, expected->length, found->length);
}

void o2_compare_reg(struct o2_comparison *comparison, const struct o2_reg_request *request,
		    const struct o2_reg_plan *expected, const struct o2_reg_plan *found)
{
	const enum o2_reg_mode mode = request->mode;

	if (resolve(comparison, found, &comparison->found_from) &&
	    resolve(comparison, expected, &comparison->expected_from))
		o2_differ_stream(comparison, checks[mode].bytes, "fragments", &comparison->expected_from,
				 &comparison->found_from);
	if (request->side == O2_SINK && found->nfrags > request->peer_max_frags)
		o2_differ(comparison, checks[mode].peer_limit, "nfrags", O2_NO_INDEX, expected->nfrags,
			  found->nfrags);
	o2_expect(comparison, checks[mode].fragments, "nfrags", O2_NO_INDEX, expected->nfrags, found->nfrags);
	if (!same_access(expected, found))
		o2_differ(comparison,
			  request->side == O2_SINK ? checks[mode].access : O2_CHECK_REG_SOURCE_ACCESS,
			  "remote_write", O2_NO_INDEX, (expected->access & O2_ACCESS_REMOTE_WRITE) != 0,
			  (found->access & O2_ACCESS_REMOTE_WRITE) != 0);
	if (checks[mode].range != NONE)
		compare_range(comparison, request->page_bytes, expected, found);
	if (checks[mode].iova != NONE)
		o2_expect_hex(comparison, checks[mode].iova, "iova", O2_NO_INDEX, expected->iova,
			      found->iova);
	if (checks[mode].pages != NONE)
		compare_pages(comparison, request, expected, found);
	if (checks[mode].entries != NONE)
		compare_entries(comparison, expected, found);
}
