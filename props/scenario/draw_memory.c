/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "props/scenario/draw.h"

/*
 * Draws lists and devices for dma_map, segments and requests for reg_plan: mostly what a legal caller passes,
 * dense or gapped on purpose, and sometimes arbitrary numbers.
 */

#define MAX_PAGES   UINT8_MAX
#define SHORT_BYTES 512u

static uint32_t draw_legal_page_bytes(struct o2_choice *c)
{
	static const uint32_t legal[] = {4096, 16384, 65536};
	static const uint32_t weights[] = {8, 1, 1};

	return legal[o2_draw_weighted(c, weights, 3)];
}

/* Draw an entry: whole pages in a row, parts of pages, or a form that no list should have. */
static void draw_entry(struct o2_choice *c, const struct o2_dma_device *device, uint32_t previous_page,
		       struct o2_sg_entry *entry)
{
	static const uint32_t shapes[] = {16, 4, 8, 8, 1};
	const size_t shape = o2_draw_weighted(c, shapes, 5);
	const uint32_t page_bytes = device->page_bytes;

	entry->page = (previous_page + 1) % device->npages;
	entry->offset = 0;
	entry->length = page_bytes;
	if (shape == 1) /* the previous page again, or any page */
		entry->page = (uint32_t)o2_draw(c, device->npages - 1);
	if (shape == 2) { /* to the end of its page */
		entry->offset = (uint32_t)o2_draw(c, page_bytes - 1);
		entry->length = page_bytes - entry->offset;
	}
	if (shape == 3) { /* inside it */
		entry->page = (uint32_t)o2_draw(c, device->npages - 1);
		entry->offset = (uint32_t)o2_draw(c, page_bytes - 1);
		entry->length = 1 + (uint32_t)o2_draw(c, page_bytes - 1 - entry->offset);
	}
	if (shape == 4) {
		entry->page = (uint32_t)o2_draw_wild(c);
		entry->offset = (uint32_t)o2_draw_wild(c);
		entry->length = (uint32_t)o2_draw_wild(c);
	}
}

/* Draw where an IOMMU puts each page: in order, backwards, or scattered by a stride; rarely out of range. */
static void draw_table(struct o2_choice *c, struct o2_case_device *drawn)
{
	static const uint32_t merges[] = {2, 1, 2};
	static const uint32_t faults[] = {60, 1, 1, 1};
	const uint32_t npages = drawn->device.npages;
	const uint32_t start = (uint32_t)o2_draw(c, npages - 1);
	const uint32_t stride = (uint32_t)o2_draw(c, npages - 1) + 1;
	const uint32_t modulus = npages + o2_draw_bool(c, 31, 1);
	struct o2_dma_iommu *iommu = &drawn->device.iommu;

	for (uint32_t i = 0; i < npages; i++)
		drawn->device_page[i] = (start + i * stride) % modulus;
	iommu->device_page = drawn->device_page;
	switch (o2_draw_weighted(c, merges, 3)) {
	case 0:
		iommu->merge = UINT64_MAX;
		break;
	case 1:
		iommu->merge = 0;
		break;
	default:
		iommu->merge = o2_draw(c, UINT64_MAX);
	}
	iommu->fault = (enum o2_dma_fault)o2_draw_weighted(c, faults, O2_DMA_FAULTS);
}

static void draw_device(struct o2_choice *c, struct o2_case_device *drawn)
{
	static const uint32_t bases[] = {30, 10, 1, 1};
	struct o2_dma_device *device = &drawn->device;

	memset(device, 0, sizeof(*device));
	device->kind = (enum o2_dma_kind)o2_draw(c, O2_DMA_KINDS - 1);
	device->page_bytes = draw_legal_page_bytes(c);
	device->npages = 1 + (uint32_t)o2_draw(c, MAX_PAGES - 1);
	switch (o2_draw_weighted(c, bases, 4)) {
	case 0:
		device->base = 0x10000000;
		break;
	case 1:
		device->base = o2_draw(c, UINT32_MAX) * device->page_bytes;
		break;
	case 2: /* up to the end of the address space, or a page too far */
		device->base = UINT64_MAX - (uint64_t)device->npages * device->page_bytes + 1 -
			       o2_draw(c, 1) * device->page_bytes;
		break;
	default:
		device->base = o2_draw_wild(c);
	}
	if (o2_draw_bool(c, 3, 1)) {
		memset(drawn->unmapped, 0, sizeof(drawn->unmapped));
		for (uint32_t n = (uint32_t)o2_draw(c, 2); n > 0; n--) {
			const uint64_t page = o2_draw(c, device->npages - 1);

			drawn->unmapped[page / 8] |= (uint8_t)(1u << page % 8);
			device->unmapped = drawn->unmapped;
		}
	}
	if (device->kind == O2_DMA_IOMMU)
		draw_table(c, drawn);
}

void o2_draw_dma(struct o2_choice *c, struct o2_case_dma *drawn)
{
	struct o2_sg_list *list = &drawn->list;
	struct o2_dma_device *device = &drawn->device.device;
	const bool none = o2_draw_bool(c, 255, 1);
	uint32_t previous = UINT32_MAX;

	draw_device(c, &drawn->device);
	list->count = 0;
	list->nob = 0;
	list->gaps = false;
	while (!none && o2_draw_more(c, list->count, 1, O2_MAX_FRAGS, 15)) {
		draw_entry(c, device, previous, &list->entry[list->count]);
		previous = list->entry[list->count].page % device->npages;
		list->nob += list->entry[list->count++].length;
	}
	/* An impossible page size: drawn last, so that nothing above divides by it. */
	if (o2_draw_bool(c, 127, 1))
		device->page_bytes = (uint32_t)o2_draw_wild(c);
}

/* Draw the segment that follows one that ended at `end`. */
static void draw_segment(struct o2_choice *c, uint32_t page_bytes, bool dense, bool many, uint64_t end,
			 struct o2_dma_segment *segment)
{
	static const uint32_t shapes[] = {20, 8, 4, 2, 1};
	const size_t shape = dense ? 0 : o2_draw_weighted(c, shapes, many ? 2 : 5);
	uint32_t more;
	bool merged;

	if (dense && end % page_bytes != 0) {
		/* There is no gap only if the addresses continue. */
		segment->addr = end;
		segment->length = page_bytes - (uint32_t)(end % page_bytes);
		return;
	}
	/* Whole pages anywhere; several of them as after a mapping that merged. */
	segment->addr = 0x10000000 + o2_draw(c, UINT8_MAX) * page_bytes;
	if (o2_draw_bool(c, 63, 1)) /* the last pages of the address space */
		segment->addr = 0 - (1 + o2_draw(c, 3)) * page_bytes;
	merged = o2_draw_bool(c, 7, 1);
	more = (uint32_t)o2_draw(c, 3);
	segment->length = page_bytes * (merged ? 1 + more : 1);
	if (shape == 1) {
		segment->addr += o2_draw(c, page_bytes - 1);
		segment->length = 1 + (uint32_t)o2_draw(c, page_bytes * UINT64_C(2));
	}
	if (shape == 2) { /* touches the previous segment */
		segment->addr = end;
		segment->length = 1 + (uint32_t)o2_draw(c, page_bytes);
	}
	if (shape == 3) { /* in the page of the previous segment, probably before it */
		segment->addr = end - 1 - (end - 1) % page_bytes + o2_draw(c, 63);
		segment->length = 1 + (uint32_t)o2_draw(c, 63);
	}
	if (shape == 4) {
		segment->addr = o2_draw_wild(c);
		segment->length = (uint32_t)o2_draw_wild(c);
	}
}

/* The gap flag that sg_build would give, from offsets in pages alone. */
static bool has_gaps(const struct o2_dma_list *list, uint32_t page_bytes)
{
	for (uint32_t i = 1; i < list->count; i++) {
		const struct o2_dma_segment *before = &list->segment[i - 1];

		if (list->segment[i].addr % page_bytes != 0 ||
		    (before->addr + before->length) % page_bytes != 0)
			return true;
	}
	return false;
}

static void draw_request(struct o2_choice *c, struct o2_reg_request *request)
{
	static const uint32_t limits[] = {8, 2, 4, 1};

	request->mode = (enum o2_reg_mode)o2_draw(c, O2_REG_MODES - 1);
	request->side = (enum o2_side)o2_draw(c, 1);
	request->page_bytes = draw_legal_page_bytes(c);
	request->max_pages = o2_draw_bool(c, 3, 1) ? O2_MAX_FRAGS_LEGACY : O2_MAX_FRAGS;
	switch (o2_draw_weighted(c, limits, 4)) {
	case 0:
		request->peer_max_frags = O2_MAX_FRAGS;
		break;
	case 1:
		request->peer_max_frags = O2_MAX_FRAGS_LEGACY;
		break;
	case 2:
		request->peer_max_frags = 1 + (uint32_t)o2_draw(c, 15);
		break;
	default:
		request->peer_max_frags = (uint32_t)o2_draw_wild(c);
	}
	request->iova =
		o2_draw_bool(c, 7, 1)
			? o2_draw_wild(c)
			: o2_draw(c, UINT16_MAX) * (request->mode == O2_REG_PHYS ? request->page_bytes : 1);
	request->contiguous = !o2_draw_bool(c, 3, 1);
	/* Only these two modes use iova and contiguous. */
	if (request->mode != O2_REG_USER && request->mode != O2_REG_PHYS) {
		request->iova = 0;
		request->contiguous = false;
	}
}

void o2_draw_reg(struct o2_choice *c, struct o2_case_reg *drawn)
{
	struct o2_reg_request *request = &drawn->request;
	struct o2_dma_list *list = &drawn->list;
	const bool none = o2_draw_bool(c, 255, 1);
	uint64_t end = 0;
	uint32_t least;
	bool dense;

	draw_request(c, request);
	dense = o2_draw_bool(c, 1, 1);
	/* Sometimes nearly as many segments as allowed, which chance alone would hardly reach. */
	least = o2_draw_bool(c, 31, 1) ? O2_MAX_FRAGS_LEGACY - 1 : 1;
	list->count = 0;
	list->nob = 0;
	while (!none && o2_draw_more(c, list->count, least, O2_MAX_FRAGS, 15)) {
		struct o2_dma_segment *segment = &list->segment[list->count];

		draw_segment(c, request->page_bytes, dense, least > 1, end, segment);
		/* So many segments are legal only if they are short; the modes' limits are then reached. */
		if (least > 1 && !dense)
			segment->length = 1 + segment->length % SHORT_BYTES;
		/* The first segment may begin inside its page. */
		if (list->count == 0 && dense) {
			const uint32_t skip = (uint32_t)o2_draw(c, request->page_bytes - 1);

			segment->addr += skip;
			segment->length -= skip;
		}
		end = segment->addr + segment->length;
		list->nob += segment->length;
		list->count++;
	}
	/* The last segment may end inside its page. */
	if (list->count > 0 && dense && list->segment[list->count - 1].length > 1) {
		const uint32_t less = (uint32_t)o2_draw(c, list->segment[list->count - 1].length - 1);

		list->segment[list->count - 1].length -= less;
		list->nob -= less;
	}
	/* Mode phys: the iova may be that of the first byte. */
	if (request->mode == O2_REG_PHYS && list->count > 0 && o2_draw_bool(c, 1, 1))
		request->iova +=
			list->segment[0].addr % request->page_bytes - request->iova % request->page_bytes;
	request->gaps = has_gaps(list, request->page_bytes);
	if (o2_draw_bool(c, 31, 1)) /* a gap flag that is wrong for the list */
		request->gaps = !request->gaps;
	if (o2_draw_bool(c, 127, 1))
		request->page_bytes = (uint32_t)o2_draw_wild(c);
	if (o2_draw_bool(c, 127, 1))
		request->max_pages = (uint32_t)o2_draw_wild(c);
}
