/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "props/stage/dma.h"

/*
 * The required result of dma_map, from docs/mapping.md alone: which rules are broken, and the place of each byte.
 * Sums are computed in 128 bits.
 */

enum {
	KIND,
	PAGE_SIZE,
	BASE_ALIGNMENT,
	BASE_WRAPS,
	COUNT,
	NO_SUCH_PAGE,
	PAST_PAGE,
	NO_TABLE,
	NO_SUCH_DEVICE_PAGE,
	FAILED,
	MAPPED_NOTHING,
	NO_CPU_MAPPING,
};

const char *const o2_dma_rules[O2_DMA_RULES] = {
	[KIND] = "dma/kind",
	[PAGE_SIZE] = "dma/page-size",
	[BASE_ALIGNMENT] = "dma/base-alignment",
	[BASE_WRAPS] = "dma/base-wraps",
	[COUNT] = "dma/count",
	[NO_SUCH_PAGE] = "dma/no-such-page",
	[PAST_PAGE] = "dma/entry-past-page",
	[NO_TABLE] = "dma/iommu/no-table",
	[NO_SUCH_DEVICE_PAGE] = "dma/iommu/no-such-device-page",
	[FAILED] = "dma/iommu/failed",
	[MAPPED_NOTHING] = "dma/iommu/mapped-nothing",
	[NO_CPU_MAPPING] = "dma/virtual/no-cpu-mapping",
};

int o2_dma_code(const struct o2_dma_run *run, uint32_t rule)
{
	if (rule == NO_CPU_MAPPING)
		return -EFAULT;
	if (rule == FAILED)
		return run->device.iommu.fault == O2_DMA_FAULT_ENOMEM ? -ENOMEM : -EIO;
	return rule == MAPPED_NOTHING ? -EIO : -EINVAL;
}

static uint32_t bit(uint32_t rule, bool broken)
{
	return broken ? 1u << rule : 0;
}

static uint32_t broken_by_device(const struct o2_dma_device *d)
{
	const bool legal_page = d->page_bytes == 4096 || d->page_bytes == 16384 || d->page_bytes == 65536;
	const bool iommu = d->kind == O2_DMA_IOMMU;
	const unsigned __int128 end =
		(unsigned __int128)d->base + (unsigned __int128)d->npages * d->page_bytes;

	return bit(KIND, d->kind != O2_DMA_BUS && d->kind != O2_DMA_VIRTUAL && !iommu) |
	       bit(PAGE_SIZE, !legal_page) | bit(BASE_ALIGNMENT, legal_page && d->base % d->page_bytes != 0) |
	       bit(BASE_WRAPS, end > UINT64_MAX) | bit(NO_TABLE, iommu && d->iommu.device_page == NULL) |
	       bit(FAILED,
		   iommu && (d->iommu.fault == O2_DMA_FAULT_EIO || d->iommu.fault == O2_DMA_FAULT_ENOMEM)) |
	       bit(MAPPED_NOTHING, iommu && d->iommu.fault == O2_DMA_FAULT_NOTHING);
}

static uint32_t broken_by_entry(const struct o2_dma_device *d, const struct o2_sg_entry *entry)
{
	const uint64_t end = (uint64_t)entry->offset + entry->length;
	const bool exists = entry->page < d->npages;

	return bit(NO_SUCH_PAGE, !exists) |
	       bit(PAST_PAGE, entry->length == 0 || end > d->page_bytes || entry->offset >= d->page_bytes) |
	       bit(NO_SUCH_DEVICE_PAGE, d->kind == O2_DMA_IOMMU && exists && d->iommu.device_page != NULL &&
						d->iommu.device_page[entry->page] >= d->npages) |
	       bit(NO_CPU_MAPPING, d->kind == O2_DMA_VIRTUAL && exists && d->unmapped != NULL &&
					   (d->unmapped[entry->page / 8] & 1u << entry->page % 8) != 0);
}

uint32_t o2_dma_broken(const struct o2_dma_run *run, uint32_t entry)
{
	const bool countable = run->sg.count > 0 && run->sg.count <= O2_MAX_FRAGS;
	uint32_t broken;

	if (entry != UINT32_MAX)
		return broken_by_entry(&run->device, &run->sg.entry[entry]);
	broken = broken_by_device(&run->device) | bit(COUNT, !countable);
	for (uint32_t i = 0; countable && i < run->sg.count; i++)
		broken |= broken_by_entry(&run->device, &run->sg.entry[i]);
	return broken;
}

/* Value and limit of a refusal that is about no entry. */
static void figures_of_device(const struct o2_dma_run *run, uint32_t rule, uint64_t *value, uint64_t *limit)
{
	const struct o2_dma_device *d = &run->device;
	const struct {
		uint64_t value, limit;
	} rows[O2_DMA_RULES] = {
		[KIND] = {d->kind, 2},
		[PAGE_SIZE] = {d->page_bytes, 65536},
		[BASE_ALIGNMENT] = {d->base, d->page_bytes},
		[BASE_WRAPS] = {d->npages, d->page_bytes == 0 ? 0 : (UINT64_MAX - d->base) / d->page_bytes},
		[COUNT] = {run->sg.count, 257},
		[NO_TABLE] = {0, d->npages},
		[FAILED] = {run->sg.count, run->sg.count},
		[MAPPED_NOTHING] = {0, run->sg.count},
	};

	*value = rows[rule].value;
	*limit = rows[rule].limit;
}

/* The same for an entry, and for a page that the table maps outside. */
static void figures_of_entry(const struct o2_dma_device *d, uint32_t rule, const struct o2_sg_entry *entry,
			     uint32_t index, uint64_t *value, uint64_t *limit)
{
	*limit = d->npages;
	if (rule == NO_SUCH_DEVICE_PAGE) {
		*value = index < d->npages ? d->iommu.device_page[index] : O2_NO_LIMIT;
		return;
	}
	*value = entry->page;
	if (rule == PAST_PAGE) {
		*value = entry->length;
		*limit = entry->offset >= d->page_bytes ? 0 : d->page_bytes - entry->offset;
	} else if (rule == NO_CPU_MAPPING) {
		*limit = O2_NO_LIMIT;
	}
}

/* docs/mapping.md, "Refusals of dma_map". */
void o2_dma_check_figures(const struct o2_dma_run *run, uint32_t rule, const struct o2_error *error,
			  struct o2_report *report)
{
	const bool of_page = rule == NO_SUCH_DEVICE_PAGE;
	uint64_t value, limit;

	if (error->index == O2_NO_INDEX)
		figures_of_device(run, rule, &value, &limit);
	else
		figures_of_entry(&run->device, rule, &run->sg.entry[of_page ? 0 : error->index], error->index,
				 &value, &limit);
	if (error->value != value || error->limit != limit)
		o2_report_fail(report, "dma/refusal/figures",
			       "rule %s says %" PRIu64 ", limit %" PRIu64 ", expected %" PRIu64
			       ", limit %" PRIu64,
			       error->rule, error->value, error->limit, value, limit);
}

static uint64_t address_of(const struct o2_dma_device *d, const struct o2_sg_entry *entry)
{
	const uint32_t page = d->kind == O2_DMA_IOMMU ? d->iommu.device_page[entry->page] : entry->page;

	return d->base + (uint64_t)page * d->page_bytes + entry->offset;
}

/* True if entry i (not the first) must extend the segment of the one before. */
static bool is_merged(const struct o2_dma_run *run, uint32_t i, bool *asked)
{
	const struct o2_sg_entry *before = &run->sg.entry[i - 1];
	const bool joins = address_of(&run->device, before) + before->length ==
			   address_of(&run->device, &run->sg.entry[i]);

	*asked = run->device.kind == O2_DMA_IOMMU && (run->device.iommu.merge & 1ull << i % 64) != 0;
	return *asked && joins;
}

void o2_dma_check_list(struct o2_dma_run *run, struct o2_report *report)
{
	const struct o2_dma_list *list = &run->list;
	uint32_t segment = 0;
	uint64_t used = 0, nob = 0;
	bool asked;

	for (uint32_t i = 0; i < run->sg.count; i++) {
		const struct o2_sg_entry *entry = &run->sg.entry[i];
		const uint64_t want = address_of(&run->device, entry);

		/* Each entry begins where the one before ended, or at the start of a new segment. */
		if (i > 0 && !is_merged(run, i, &asked)) {
			if (segment < list->count && used != list->segment[segment].length)
				o2_report_fail(report, "dma/cut",
					       "entry %" PRIu32 " is not merged, but segment %" PRIu32
					       " goes on behind its %" PRIu64 " bytes",
					       i, segment, used);
			segment++;
			used = 0;
		}
		if (segment >= list->count || used + entry->length > list->segment[segment].length) {
			o2_report_fail(report, "dma/covered",
				       "entry %" PRIu32 " is not covered: %" PRIu32 " segments", i,
				       list->count);
			return;
		}
		if (list->segment[segment].addr + used != want) {
			o2_report_fail(report, "dma/address",
				       "entry %" PRIu32 " is at 0x%" PRIx64 ", expected 0x%" PRIx64, i,
				       list->segment[segment].addr + used, want);
			return;
		}
		used += entry->length;
		nob += entry->length;
	}
	if (segment + 1 != list->count || used != list->segment[segment].length || nob != list->nob)
		o2_report_fail(report, "dma/count",
			       "%" PRIu32 " segments with %" PRIu64 " bytes, expected %" PRIu32
			       " with %" PRIu64,
			       list->count, list->nob, segment + 1, nob);
}
