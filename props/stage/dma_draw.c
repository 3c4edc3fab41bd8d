/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "props/scenario/draw.h"
#include "props/stage/dma.h"

/* Draws devices and lists for the dma property, valid for the most part. */

#define LABEL_ENTRY 2u

static void draw_table(struct o2_dma_run *run, struct o2_choice *c)
{
	static const uint32_t weights[] = {6, 6, 1, 1};
	const size_t order = o2_draw_weighted(c, weights, 4);
	const uint32_t n = run->device.npages;
	const uint32_t start = order == 0 ? 0 : (uint32_t)o2_draw(c, UINT8_MAX);
	const uint32_t stride = order == 1 ? 1 : (uint32_t)o2_draw(c, UINT8_MAX);

	for (uint32_t i = 0; i < n; i++) {
		uint32_t page = order == 0 ? i : start + i * stride;

		run->device_page[i] = page % (n + (order == 3)); /* order 3: up to one page too many */
	}
	run->device.iommu.device_page = o2_draw_bool(c, 31, 1) ? NULL : run->device_page;
	switch (o2_draw(c, 2)) {
	case 0:
		run->device.iommu.merge = UINT64_MAX;
		break;
	case 1:
		run->device.iommu.merge = 0;
		break;
	default:
		run->device.iommu.merge = o2_draw(c, UINT64_MAX);
		break;
	}
}

void o2_dma_draw_device(struct o2_dma_run *run, struct o2_choice *c)
{
	static const uint32_t kinds[] = {8, 8, 16, 1};
	static const uint32_t pages[] = {20, 6, 6, 1, 1};
	static const uint32_t page_bytes[] = {4096, 16384, 65536, 8192, 0};
	static const uint32_t bases[] = {8, 8, 4, 1, 1};
	struct o2_dma_device *d = &run->device;

	memset(d, 0, sizeof(*d));
	d->kind = (enum o2_dma_kind)o2_draw_weighted(c, kinds, 4);
	d->page_bytes = page_bytes[o2_draw_weighted(c, pages, 5)];
	d->npages = (uint32_t)o2_draw_range(c, 1, o2_draw_bool(c, 3, 1) ? O2_DMA_PAGES : 12);
	switch (o2_draw_weighted(c, bases, 5)) {
	case 1:
		d->base = o2_draw(c, UINT16_MAX) << 24;
		break;
	case 2: /* ends one page before the end of the address space */
		d->base = -((uint64_t)(d->npages + 1) * d->page_bytes);
		break;
	case 3:
		d->base = -((uint64_t)d->npages * d->page_bytes);
		break;
	case 4:
		d->base = 1 + o2_draw(c, 4094);
		break;
	default:
		break;
	}
	memset(run->unmapped, 0, sizeof(run->unmapped));
	if (o2_draw_bool(c, 3, 1)) {
		const uint32_t page = (uint32_t)o2_draw(c, d->npages - 1);

		run->unmapped[page / 8] |= (uint8_t)(1u << page % 8);
		d->unmapped = run->unmapped;
	}
	if (d->kind == O2_DMA_IOMMU)
		draw_table(run, c);
}

/* wild: the entry may also be an impossible one. */
static void draw_entry(struct o2_dma_run *run, struct o2_choice *c, uint32_t i, bool wild)
{
	static const uint32_t shapes[] = {16, 4, 4, 2, 3};
	static const uint32_t wheres[] = {12, 4, 1, 2};
	const uint32_t page_bytes = run->device.page_bytes, n = run->device.npages;
	const uint32_t last = page_bytes == 0 ? 0 : page_bytes - 1;
	struct o2_sg_entry *entry = &run->sg.entry[i];
	const uint32_t before = i == 0 ? 0 : run->sg.entry[i - 1].page;

	switch (o2_draw_weighted(c, wheres, wild ? 4 : 3)) {
	case 0:
		entry->page = i == 0 ? 0 : (before + 1) % n;
		break;
	case 1:
		entry->page = (uint32_t)o2_draw(c, n - 1);
		break;
	case 2:
		entry->page = before;
		break;
	default: /* a page that may not exist */
		entry->page = (uint32_t)o2_draw(c, 2 * n);
		break;
	}
	*entry = (struct o2_sg_entry){.page = entry->page, .length = page_bytes};
	switch (o2_draw_weighted(c, shapes, wild ? 5 : 4)) {
	case 1: /* the end of a page */
		entry->offset = (uint32_t)o2_draw(c, last);
		entry->length = page_bytes - entry->offset;
		break;
	case 2: /* the beginning of one */
		entry->length = 1 + (uint32_t)o2_draw(c, last);
		break;
	case 3:
		entry->offset = (uint32_t)o2_draw(c, last);
		entry->length = 1;
		break;
	case 4: /* anything */
		entry->offset = (uint32_t)o2_draw(c, o2_draw_bool(c, 3, 1) ? UINT32_MAX : page_bytes);
		entry->length = (uint32_t)o2_draw(c, o2_draw_bool(c, 3, 1) ? UINT32_MAX : page_bytes);
		break;
	default:
		break;
	}
}

void o2_dma_draw_list(struct o2_dma_run *run, struct o2_choice *c)
{
	static const uint32_t weights[] = {24, 1, 1};
	const size_t size = o2_draw_weighted(c, weights, 3);
	const bool wild = o2_draw_bool(c, 7, 1);
	struct o2_sg_list *sg = &run->sg;
	/* Nearly the maximum number of entries, around the end of a byte: 254 to O2_MAX_FRAGS. */
	const uint32_t least = size == 1 ? o2_draw_byte_end(c, O2_MAX_FRAGS) : 1;
	bool more = true;

	sg->count = 0;
	sg->nob = 0;
	sg->gaps = false;
	while (more) {
		o2_span_begin(c, LABEL_ENTRY);
		more = o2_draw_more(c, sg->count, least, size == 1 ? least : 24, 7);
		if (more)
			draw_entry(run, c, sg->count++, wild);
		o2_span_end(c);
	}
	if (size == 2) /* an invalid count */
		sg->count = o2_draw_bool(c, 1, 1) ? O2_MAX_FRAGS + 1 : 0;
}
