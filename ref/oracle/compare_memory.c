/* SPDX-License-Identifier: MIT */
#include "oracle/compare.h"

/* Scatter lists and segments: the same bytes in the same order, however they are cut (docs/mapping.md). */

/* The checks of a scatter list, by kind of vector. */
static const struct {
	enum o2_check_id bytes, nob, in_page, entries, too_many, gap_flag;
} list_checks[] = {
	[O2_IOV] = {O2_CHECK_SG_IOV_BYTES, O2_CHECK_SG_IOV_NOB, O2_CHECK_SG_IOV_ENTRY_IN_PAGE,
		    O2_CHECK_SG_IOV_ENTRIES, O2_CHECK_SG_IOV_TOO_MANY, O2_CHECK_SG_IOV_GAP_FLAG},
	[O2_KIOV] = {O2_CHECK_SG_KIOV_BYTES, O2_CHECK_SG_KIOV_NOB, O2_CHECK_SG_KIOV_ENTRY_IN_PAGE,
		     O2_CHECK_SG_KIOV_ENTRIES, O2_CHECK_SG_KIOV_TOO_MANY, O2_CHECK_SG_KIOV_GAP_FLAG},
};

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
	if (found->nob != expected->nob)
		o2_differ(comparison, list_checks[kind].nob, "nob", O2_NO_INDEX, expected->nob, found->nob);
	if (found->count != expected->count)
		o2_differ(comparison, list_checks[kind].entries, "count", O2_NO_INDEX, expected->count,
			  found->count);
	if (found->gaps != expected->gaps)
		o2_differ(comparison, list_checks[kind].gap_flag, "gaps", O2_NO_INDEX, expected->gaps,
			  found->gaps);
}

static const struct {
	enum o2_check_id bytes, nob, empty, segments;
} segment_checks[] = {
	[O2_DMA_BUS] = {O2_CHECK_DMA_BUS_BYTES, O2_CHECK_DMA_BUS_NOB, O2_CHECK_DMA_BUS_EMPTY_SEGMENT,
			O2_CHECK_DMA_BUS_SEGMENTS},
	[O2_DMA_VIRTUAL] = {O2_CHECK_DMA_VIRTUAL_BYTES, O2_CHECK_DMA_VIRTUAL_NOB,
			    O2_CHECK_DMA_VIRTUAL_EMPTY_SEGMENT, O2_CHECK_DMA_VIRTUAL_SEGMENTS},
	[O2_DMA_IOMMU] = {O2_CHECK_DMA_IOMMU_BYTES, O2_CHECK_DMA_IOMMU_NOB, O2_CHECK_DMA_IOMMU_EMPTY_SEGMENT,
			  O2_CHECK_DMA_IOMMU_SEGMENTS},
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
	if (found->nob != expected->nob)
		o2_differ(comparison, segment_checks[kind].nob, "nob", O2_NO_INDEX, expected->nob,
			  found->nob);
	if (found->count != expected->count)
		o2_differ(comparison, segment_checks[kind].segments, "count", O2_NO_INDEX, expected->count,
			  found->count);
}
