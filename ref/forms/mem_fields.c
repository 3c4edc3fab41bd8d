/* SPDX-License-Identifier: MIT */
#include "forms/mem_fields.h"

const char *const o2_vector_kind_names[] = {[O2_IOV] = "iov", [O2_KIOV] = "kiov"};
const char *const o2_dma_kind_names[] = {
	[O2_DMA_BUS] = "bus", [O2_DMA_VIRTUAL] = "virtual", [O2_DMA_IOMMU] = "iommu"};
const char *const o2_dma_fault_names[] = {[O2_DMA_NO_FAULT] = "none",
					  [O2_DMA_FAULT_EIO] = "eio",
					  [O2_DMA_FAULT_ENOMEM] = "enomem",
					  [O2_DMA_FAULT_NOTHING] = "nothing"};

static const struct o2_field sg_entry_fields[] = {
	{O2_FIELD("list.entries[].page", UINT, struct o2_sg_entry, page)},
	{O2_FIELD("list.entries[].offset", UINT, struct o2_sg_entry, offset)},
	{O2_FIELD("list.entries[].length", UINT, struct o2_sg_entry, length)},
	{0},
};

const struct o2_field o2_sg_list_fields[] = {
	{O2_FIELD("list.gaps", BOOL, struct o2_sg_list, gaps)},
	{O2_FIELD("list.nob", LENGTH, struct o2_sg_list, nob)},
	{O2_FIELD("list.entries", LIST, struct o2_sg_list, entry), .part = sg_entry_fields,
	 .stride_bytes = sizeof(struct o2_sg_entry), .count_bytes = offsetof(struct o2_sg_list, count)},
	{0},
};

const struct o2_field o2_dma_segment_fields[] = {
	{O2_FIELD("addr", HEX, struct o2_dma_segment, addr)},
	{O2_FIELD("length", UINT, struct o2_dma_segment, length)},
	{0},
};

const struct o2_field o2_dma_list_fields[] = {
	{O2_FIELD("list.nob", LENGTH, struct o2_dma_list, nob)},
	{O2_FIELD("list.segments", LIST, struct o2_dma_list, segment), .part = o2_dma_segment_fields,
	 .stride_bytes = sizeof(struct o2_dma_segment), .count_bytes = offsetof(struct o2_dma_list, count),
	 .inside = (const char *const[]){"list.segments[].addr", "list.segments[].length", NULL}},
	{0},
};
