/* SPDX-License-Identifier: MIT */
#include "oracle/compare.h"

/* Scatter lists and segments must have the same bytes in the same order, in any division (docs/mapping.md). */

#define LIST_CHECKS(KIND)                                                                 \
	[O2_##KIND] = {O2_CHECK_SG_##KIND##_BYTES,	   O2_CHECK_SG_##KIND##_NOB,      \
		       O2_CHECK_SG_##KIND##_ENTRY_IN_PAGE, O2_CHECK_SG_##KIND##_ENTRIES,  \
		       O2_CHECK_SG_##KIND##_TOO_MANY,	   O2_CHECK_SG_##KIND##_GAP_FLAG, \
		       O2_CHECK_SG_##KIND##_GAP_EXACT}
#define SEGMENT_CHECKS(KIND)                                                       \
	[O2_DMA_##KIND] = {O2_CHECK_DMA_##KIND##_BYTES, O2_CHECK_DMA_##KIND##_NOB, \
			   O2_CHECK_DMA_##KIND##_EMPTY_SEGMENT, O2_CHECK_DMA_##KIND##_SEGMENTS}

/* The checks of a scatter list, by kind of vector. */
static const struct {
	enum o2_check_id bytes, nob, in_page, entries, too_many, gap_flag, gap_exact;
} list_checks[] = {
	LIST_CHECKS(IOV),
	LIST_CHECKS(KIOV),
};

/* Whether, by the exact rule, each two consecutive entries are adjacent or meet at page boundaries. */
static bool is_dense(const struct o2_sg_list *list, uint32_t page_bytes)
{
	for (uint32_t i = 1; i < list->count; i++) {
		const struct o2_sg_entry *before = &list->entry[i - 1], *entry = &list->entry[i];
		const uint32_t end = before->offset + before->length;

		if ((end != page_bytes || entry->offset != 0) &&
		    (before->page != entry->page || end != entry->offset))
			return false;
	}
	return true;
}

void o2_compare_sg(struct o2_comparison *comparison, const struct o2_case_sg *asked,
		   const struct o2_sg_list *expected, const struct o2_sg_list *found)
{
	const enum o2_vector_kind kind = asked->memory.buffer.kind;
	const uint32_t page_bytes = asked->memory.space.page_bytes;

	if (found->count > asked->max_entries)
		o2_differ(comparison, list_checks[kind].too_many, "count", O2_NO_INDEX, expected->count,
			  found->count);
	for (uint32_t i = 0; i < found->count; i++) {
		const struct o2_sg_entry *entry = &found->entry[i];

		if (entry->length == 0 || (uint64_t)entry->offset + entry->length > page_bytes)
			o2_differ(comparison, list_checks[kind].in_page, "entry[].length", i,
				  i < expected->count ? expected->entry[i].length : 0, entry->length);
	}
	o2_stream_of_list(expected, &comparison->expected_from);
	o2_stream_of_list(found, &comparison->found_from);
	o2_differ_stream(comparison, list_checks[kind].bytes, "list", &comparison->expected_from,
			 &comparison->found_from);
	o2_expect(comparison, list_checks[kind].nob, "nob", O2_NO_INDEX, expected->nob, found->nob);
	o2_expect(comparison, list_checks[kind].entries, "count", O2_NO_INDEX, expected->count, found->count);
	if (found->gaps != expected->gaps)
		o2_differ(comparison,
			  !found->gaps && is_dense(expected, page_bytes) ? list_checks[kind].gap_exact
									 : list_checks[kind].gap_flag,
			  "gaps", O2_NO_INDEX, expected->gaps, found->gaps);
}

static const struct {
	enum o2_check_id bytes, nob, empty, segments;
} segment_checks[] = {
	SEGMENT_CHECKS(BUS),
	SEGMENT_CHECKS(VIRTUAL),
	SEGMENT_CHECKS(IOMMU),
};

void o2_compare_dma(struct o2_comparison *comparison, const struct o2_case_dma *asked,
		    const struct o2_dma_list *expected, const struct o2_dma_list *found)
{
	const enum o2_dma_kind kind = asked->device.device.kind;

	for (uint32_t i = 0; i < found->count; i++)
		if (found->segment[i].length == 0)
			o2_differ(comparison, segment_checks[kind].empty, "segment[].length", i,
				  i < expected->count ? expected->segment[i].length : 0, 0);
	o2_stream_of_segments(expected, &comparison->expected_from);
	o2_stream_of_segments(found, &comparison->found_from);
	o2_differ_stream(comparison, segment_checks[kind].bytes, "list", &comparison->expected_from,
			 &comparison->found_from);
	o2_expect(comparison, segment_checks[kind].nob, "nob", O2_NO_INDEX, expected->nob, found->nob);
	o2_expect(comparison, segment_checks[kind].segments, "count", O2_NO_INDEX, expected->count,
		  found->count);
}
