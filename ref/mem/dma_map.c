/* SPDX-License-Identifier: MIT */
#include "mem/dma_map.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int check_device(const struct o2_dma_device *device, struct o2_error *error)
{
	uint32_t page_bytes = device->page_bytes;

	if ((uint32_t)device->kind >= O2_DMA_KINDS)
		return o2_refuse_value(error, -EINVAL, "dma/kind", "kind", device->kind, O2_DMA_KINDS - 1);
	if (!o2_page_bytes_legal(page_bytes))
		return o2_refuse_value(error, -EINVAL, "dma/page-size", "page_bytes", page_bytes,
				       O2_PAGE_BYTES_MAX);
	if (device->base % page_bytes != 0)
		return o2_refuse_multiple(error, -EINVAL, "dma/base-alignment", "base", device->base,
					  page_bytes);
	if ((uint64_t)device->npages * page_bytes > UINT64_MAX - device->base)
		return o2_refuse_value(error, -EINVAL, "dma/base-wraps", "npages", device->npages,
				       (UINT64_MAX - device->base) / page_bytes);
	if (device->kind == O2_DMA_IOMMU && device->iommu.device_page == NULL)
		return o2_refuse_value(error, -EINVAL, "dma/iommu/no-table", "iommu.device_page", 0,
				       device->npages);
	return 0;
}

static int check_entry(const struct o2_dma_device *device, const struct o2_sg_entry *entry, uint32_t index,
		       struct o2_error *error)
{
	const uint32_t room = entry->offset < device->page_bytes ? device->page_bytes - entry->offset : 0;

	if (entry->page >= device->npages)
		return o2_refuse(error, -EINVAL, "dma/no-such-page", "entry[].page", index, entry->page,
				 device->npages);
	if (entry->length == 0 || entry->length > room)
		return o2_refuse(error, -EINVAL, "dma/entry-past-page", "entry[].length", index,
				 entry->length, room);
	if (device->kind == O2_DMA_VIRTUAL && !o2_dma_has_cpu_mapping(device, entry->page))
		return o2_refuse(error, -EFAULT, "dma/virtual/no-cpu-mapping", "entry[].page", index,
				 entry->page, O2_NO_LIMIT);
	if (device->kind == O2_DMA_IOMMU && device->iommu.device_page[entry->page] >= device->npages)
		return o2_refuse(error, -EINVAL, "dma/iommu/no-such-device-page", "iommu.device_page[]",
				 entry->page, device->iommu.device_page[entry->page], device->npages);
	return 0;
}

static uint64_t address_of(const struct o2_dma_device *device, const struct o2_sg_entry *entry)
{
	bool remap = device->kind == O2_DMA_IOMMU;
	uint32_t page = remap ? device->iommu.device_page[entry->page] : entry->page;

	return device->base + (uint64_t)page * device->page_bytes + entry->offset;
}

/* A failed mapping has mapped nothing, and a mapping of no entries counts as failed. */
static int check_fault(const struct o2_dma_device *device, uint32_t count, struct o2_error *error)
{
	if (device->kind != O2_DMA_IOMMU || device->iommu.fault == O2_DMA_NO_FAULT)
		return 0;
	if (device->iommu.fault == O2_DMA_FAULT_NOTHING)
		return o2_refuse_value(error, -EIO, "dma/iommu/mapped-nothing", "count", 0, count);
	return o2_refuse_value(error, device->iommu.fault == O2_DMA_FAULT_ENOMEM ? -ENOMEM : -EIO,
			       "dma/iommu/failed", "count", count, count);
}

int o2_dma_map(const struct o2_sg_list *sg, const struct o2_dma_device *device, struct o2_dma_list *list,
	       struct o2_error *error)
{
	const uint64_t merge = device->kind == O2_DMA_IOMMU ? device->iommu.merge : 0;
	struct o2_dma_segment *last = NULL;
	int rc = check_device(device, error);

	if (rc != 0)
		return rc;
	if (sg->count == 0 || sg->count > O2_MAX_FRAGS)
		return o2_refuse_value(error, -EINVAL, "dma/count", "count", sg->count, O2_MAX_FRAGS);
	list->count = 0;
	list->nob = 0;
	for (uint32_t i = 0; i < sg->count; i++) {
		const struct o2_sg_entry *entry = &sg->entry[i];
		uint64_t addr;

		rc = check_entry(device, entry, i, error);
		if (rc != 0)
			return rc;
		addr = address_of(device, entry);
		if (last != NULL && (merge >> (i % 64) & 1) != 0 && last->addr + last->length == addr) {
			last->length += entry->length;
		} else {
			last = &list->segment[list->count++];
			*last = (struct o2_dma_segment){addr, entry->length};
		}
		list->nob += entry->length;
	}
	return check_fault(device, sg->count, error);
}

int o2_ledger_map(struct o2_dma_ledger *ledger, uint32_t entries, enum o2_dma_direction direction,
		  struct o2_dma_mapping *mapping, struct o2_error *error)
{
	if (mapping->ledger != NULL)
		return o2_refuse_value(error, -EBUSY, "ledger/already-mapped", "entries", entries, 0);
	if (entries == 0)
		return o2_refuse_value(error, -EINVAL, "ledger/nothing-mapped", "entries", 0, 1);
	*mapping = (struct o2_dma_mapping){.ledger = ledger, .direction = direction};
	ledger->maps++;
	ledger->live++;
	ledger->live_entries += entries;
	return 0;
}

int o2_ledger_unmap(struct o2_dma_ledger *ledger, uint32_t entries, enum o2_dma_direction direction,
		    struct o2_dma_mapping *mapping, struct o2_error *error)
{
	const enum o2_dma_direction mapped = mapping->direction;

	if (mapping->ledger != ledger) {
		ledger->wrong_unmaps++;
		return o2_fail(error, -EINVAL, "ledger/not-mapped", "entries", entries);
	}
	ledger->unmaps++;
	ledger->live--;
	ledger->live_entries -= entries;
	*mapping = (struct o2_dma_mapping){.ledger = NULL};
	if (direction == mapped)
		return 0;
	ledger->wrong_unmaps++;
	return o2_refuse_other(error, -EINVAL, "ledger/direction", "direction", direction, mapped);
}

bool o2_ledger_balanced(const struct o2_dma_ledger *ledger)
{
	return ledger->maps == ledger->unmaps && ledger->live == 0 && ledger->live_entries == 0 &&
	       ledger->wrong_unmaps == 0;
}

int o2_dma_map_single(void *cpu, size_t bytes, enum o2_dma_direction direction, bool bounce,
		      struct o2_dma_single *single, struct o2_error *error)
{
	void *device = bounce ? calloc(1, bytes) : cpu;

	assert(bytes > 0);
	*single = (struct o2_dma_single){.bytes = 0};
	if (device == NULL)
		return o2_fail(error, -ENOMEM, "dma/bounce-memory", "bytes", bytes);
	*single = (struct o2_dma_single){cpu, device, bytes, direction};
	return 0;
}

void o2_dma_unmap_single(struct o2_dma_single *single)
{
	if (single->device != single->cpu)
		free(single->device);
	*single = (struct o2_dma_single){.bytes = 0};
}

void o2_dma_sync_for_device(const struct o2_dma_single *single, size_t offset, size_t bytes)
{
	assert(offset <= single->bytes && bytes <= single->bytes - offset);
	if (single->device != single->cpu && single->direction == O2_DMA_TO_DEVICE)
		memcpy(single->device + offset, single->cpu + offset, bytes);
}

void o2_dma_sync_for_cpu(const struct o2_dma_single *single, size_t offset, size_t bytes)
{
	assert(offset <= single->bytes && bytes <= single->bytes - offset);
	if (single->device != single->cpu && single->direction == O2_DMA_FROM_DEVICE)
		memcpy(single->cpu + offset, single->device + offset, bytes);
}
