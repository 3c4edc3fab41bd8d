/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "props/lnet/endpoints_internal.h"
#include "wire/bytes.h"
#include "wire/nid.h"

/*
 * The arena of an endpoint: LNet's pages, the entries' pages, pages of lines for small operations, and
 * pages of large ones.  Between two rests no two operations share a line or a page.
 */

#define PAGE_BYTES  4096u
#define LINES	    (PAGE_BYTES / O2_ENDPOINTS_LINE_BYTES)
#define LINE_PAGES  ((O2_ENDPOINTS_OPS + LINES - 1) / LINES)
#define ENTRIES_AT  O2_ENDPOINTS_LNET
#define LINES_AT    (ENTRIES_AT + O2_ENDPOINTS_ENTRIES * O2_ENDPOINTS_ENTRY_PAGES)
#define LARGE_AT    (LINES_AT + LINE_PAGES)
#define SMALL_BYTES (O2_ENDPOINTS_LINE_BYTES - 4) /* bytes used of a line; the rest is never written */

uint32_t o2_endpoints_pages(const struct o2_endpoints *endpoints)
{
	return LARGE_AT + o2_endpoints_most(endpoints) * O2_ENDPOINTS_OP_PAGES;
}

static struct o2_op_memory pages(struct o2_endpoints_seat *seat, uint32_t first_page, uint32_t npages)
{
	return (struct o2_op_memory){
		.shadow = &seat->place.shadow, .first_page = first_page, .npages = npages};
}

/* docs/peer.md, "Ping". */
static void write_info(const struct o2_endpoints_seat *seat, uint8_t *bytes)
{
	memset(bytes, 0, O2_ENDPOINTS_INFO_BYTES);
	o2_store32(bytes, O2_LITTLE_ENDIAN, 0x70696e67);
	o2_store32(bytes + 4, O2_LITTLE_ENDIAN, seat->lnet_config.ping_features);
	o2_store32(bytes + 8, O2_LITTLE_ENDIAN, seat->lnet_config.pid);
	o2_store32(bytes + 12, O2_LITTLE_ENDIAN, 2);
	o2_store64(bytes + 16, O2_LITTLE_ENDIAN, (uint64_t)O2_LND_LO << 48);
	o2_store32(bytes + 24, O2_LITTLE_ENDIAN, seat->lnet_config.ping_sequence);
	o2_store64(bytes + 32, O2_LITTLE_ENDIAN, o2_endpoints_nid(seat->endpoints, seat->index));
	o2_store32(bytes + 40, O2_LITTLE_ENDIAN, 0x15aac0de);
}

void o2_endpoints_lay_lnet(struct o2_endpoints_seat *seat)
{
	static const uint32_t bytes[O2_ENDPOINTS_LNET] = {O2_ENDPOINTS_INFO_BYTES, PAGE_BYTES};

	o2_shadow_touch(&seat->place.shadow, 0, O2_ENDPOINTS_LNET * PAGE_BYTES);
	write_info(seat, seat->place.shadow.bytes);
	for (uint32_t i = 0; i < O2_ENDPOINTS_LNET; i++) {
		seat->entry[i].memory = pages(seat, i, 1);
		o2_memory_lay(&seat->entry[i].memory, bytes[i], O2_REG_GLOBAL, 0);
	}
}

/* Draw the layout of the pieces, and a mode that can describe it. */
static void lay(struct o2_choice *c, struct o2_op_memory *m, uint32_t bytes)
{
	static const uint32_t weights[O2_MEMORY_MODES] = {4, 6, 4, 2, 2, 2};
	const enum o2_reg_mode mode = o2_memory_draw_mode(c, weights);
	uint32_t offset = 0;

	m->gapped = mode != O2_REG_USER && mode != O2_REG_PHYS && mode != O2_REG_FASTREG &&
		    bytes >= m->npages && o2_draw_bool(c, 3, 1);
	if (o2_draw_bool(c, 1, 1))
		offset = (uint32_t)o2_draw(c, m->gapped ? 15 : PAGE_BYTES / 16);
	m->scattered = mode != O2_REG_USER && o2_draw_bool(c, 1, 1);
	if (!m->gapped && offset + bytes > m->npages * PAGE_BYTES)
		offset = 0;
	o2_memory_lay(m, bytes, mode, offset);
}

static void fill(struct o2_endpoints *endpoints, const struct o2_op_memory *m, bool data)
{
	o2_memory_fill(m, ++endpoints->serial, data ? O2_FILL_DATA : O2_FILL_POISON);
}

void o2_endpoints_draw_entry_memory(struct o2_choice *c, struct o2_endpoints_seat *seat, uint32_t i)
{
	static const uint32_t weights[] = {4, 3, 3};
	static const uint32_t most[] = {SMALL_BYTES, 3900, (O2_ENDPOINTS_ENTRY_PAGES - 1) * PAGE_BYTES};
	const uint32_t bytes = (uint32_t)o2_draw_range(c, 1, most[o2_draw_weighted(c, weights, 3)]);

	seat->entry[i].memory =
		pages(seat, ENTRIES_AT + i * O2_ENDPOINTS_ENTRY_PAGES, O2_ENDPOINTS_ENTRY_PAGES);
	lay(c, &seat->entry[i].memory, bytes);
	fill(seat->endpoints, &seat->entry[i].memory, true);
}

/* Lay out a small operation in its own line; the line's fill pattern is unique. */
static void lay_line(struct o2_endpoints_seat *seat, struct o2_endpoints_op *op)
{
	const uint32_t k = (uint32_t)(op - seat->op);
	const uint32_t offset = k % LINES * O2_ENDPOINTS_LINE_BYTES;
	const uint64_t at = (LINES_AT + k / LINES) * (uint64_t)PAGE_BYTES + offset;

	op->memory = pages(seat, LINES_AT + k / LINES, 1);
	o2_memory_lay(&op->memory, op->bytes, O2_REG_GLOBAL, offset);
	o2_shadow_fill(&seat->place.shadow, at, O2_ENDPOINTS_LINE_BYTES, ++seat->endpoints->serial,
		       (struct o2_origin){.kind = o2_endpoints_is_get(op) ? O2_FILL_POISON : O2_FILL_DATA});
}

static void take_pages(struct o2_endpoints_seat *seat, struct o2_endpoints_op *op)
{
	op->memory = pages(seat, LARGE_AT + seat->nlarge++ * O2_ENDPOINTS_OP_PAGES, O2_ENDPOINTS_OP_PAGES);
}

void o2_endpoints_draw_op_memory(struct o2_choice *c, struct o2_endpoints_seat *seat,
				 struct o2_endpoints_op *op)
{
	if (op->bytes <= SMALL_BYTES) {
		lay_line(seat, op);
		return;
	}
	take_pages(seat, op);
	lay(c, &op->memory, op->bytes);
	fill(seat->endpoints, &op->memory, !o2_endpoints_is_get(op));
}

void o2_endpoints_same_op_memory(struct o2_endpoints_seat *seat, const struct o2_endpoints_op *like,
				 struct o2_endpoints_op *op)
{
	if (op->bytes <= SMALL_BYTES) {
		lay_line(seat, op);
		return;
	}
	take_pages(seat, op);
	op->memory.gapped = like->memory.gapped;
	op->memory.scattered = like->memory.scattered;
	o2_memory_lay(&op->memory, op->bytes, like->memory.memory.mode, like->memory.kiov[0].offset);
	fill(seat->endpoints, &op->memory, !o2_endpoints_is_get(op));
}

void o2_endpoints_check_memory(struct o2_endpoints *endpoints)
{
	for (uint32_t i = 0; i < endpoints->nseats; i++) {
		struct o2_endpoints_seat *seat = &endpoints->seat[i];

		o2_shadow_check(&seat->place.shadow, 0, LARGE_AT + seat->nlarge * O2_ENDPOINTS_OP_PAGES,
				endpoints->report, "endpoint/memory", "all is at rest");
	}
}
