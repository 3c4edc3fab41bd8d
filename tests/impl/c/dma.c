/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "second.h"

/* dma_map: docs/mapping.md, "dma_map". */

static int32_t check_input(const struct o2_impl_dma_in *in, struct o2_impl_refusal *refusal)
{
	const struct o2_impl_device *device = &in->device;

	if (device->kind > O2_IMPL_DMA_IOMMU)
		return refuse(refusal, EINVAL, "dma/kind", NO_INDEX);
	if (!page_size_known(device->page_bytes))
		return refuse(refusal, EINVAL, "dma/page-size", NO_INDEX);
	if (device->base % device->page_bytes)
		return refuse(refusal, EINVAL, "dma/base-alignment", NO_INDEX);
	if (device->npages > (UINT64_MAX - device->base) / device->page_bytes)
		return refuse(refusal, EINVAL, "dma/base-wraps", NO_INDEX);
	if (device->kind == O2_IMPL_DMA_IOMMU && !device->device_page)
		return refuse(refusal, EINVAL, "dma/iommu/no-table", NO_INDEX);
	if (in->list.count == 0 || in->list.count > O2_IMPL_MAX_FRAGS)
		return refuse(refusal, EINVAL, "dma/count", NO_INDEX);
	return O2_IMPL_OK;
}

/* The device address of entry i. */
static int32_t place(const struct o2_impl_dma_in *in, uint32_t i, uint64_t *addr,
		     struct o2_impl_refusal *refusal)
{
	const struct o2_impl_device *device = &in->device;
	const struct o2_impl_sg_entry *entry = &in->list.entry[i];
	uint32_t page = entry->page;

	if (page >= device->npages)
		return refuse(refusal, EINVAL, "dma/no-such-page", i);
	if (entry->length == 0 || (uint64_t)entry->offset + entry->length > device->page_bytes)
		return refuse(refusal, EINVAL, "dma/entry-past-page", i);
	if (device->kind == O2_IMPL_DMA_VIRTUAL && device->unmapped &&
	    device->unmapped[page / 8] >> page % 8 & 1)
		return refuse(refusal, EFAULT, "dma/virtual/no-cpu-mapping", i);
	if (device->kind == O2_IMPL_DMA_IOMMU) {
		page = device->device_page[page];
		if (page >= device->npages)
			return refuse(refusal, EINVAL, "dma/iommu/no-such-device-page", entry->page);
	}
	*addr = device->base + (uint64_t)page * device->page_bytes + entry->offset;
	return O2_IMPL_OK;
}

/* The result of the mapping itself: an IOMMU may be set to fail. */
static int32_t finish(const struct o2_impl_device *device, struct o2_impl_refusal *refusal)
{
	if (device->kind != O2_IMPL_DMA_IOMMU || device->fault == O2_IMPL_DMA_NO_FAULT)
		return O2_IMPL_OK;
	if (device->fault == O2_IMPL_DMA_FAULT_NOTHING)
		return refuse(refusal, EIO, "dma/iommu/mapped-nothing", NO_INDEX);
	return refuse(refusal, device->fault == O2_IMPL_DMA_FAULT_EIO ? EIO : ENOMEM, "dma/iommu/failed",
		      NO_INDEX);
}

int32_t second_dma_map(const struct o2_impl_dma_in *in, struct o2_impl_dma_list *out,
		       struct o2_impl_refusal *refusal)
{
	uint64_t merge = in->device.kind == O2_IMPL_DMA_IOMMU ? in->device.merge : 0;
	uint64_t addr = 0, end = 0;
	int32_t status = check_input(in, refusal);

	out->count = 0;
	out->nob = 0;
	for (uint32_t i = 0; status == O2_IMPL_OK && i < in->list.count; i++) {
		status = place(in, i, &addr, refusal);
		if (status != O2_IMPL_OK)
			break;
		if (i && addr == end && merge >> i % 64 & 1)
			out->segment[out->count - 1].length += in->list.entry[i].length;
		else
			out->segment[out->count++] =
				(struct o2_impl_segment){.addr = addr, .length = in->list.entry[i].length};
		end = addr + in->list.entry[i].length;
		out->nob += in->list.entry[i].length;
	}
	return status == O2_IMPL_OK ? finish(&in->device, refusal) : status;
}
