/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "props/engine/prng.h"
#include "props/talk/nodes_internal.h"

/*
 * Memory of operations.  Number k of a node has slot k of its arena, and one of the node it goes to: behind
 * that one's own there are as many for each other node.  They have them for the whole case.
 */

#define PAGE_BYTES 4096u

static uint8_t source_byte(uint64_t key, uint64_t at)
{
	return (uint8_t)(o2_mix64(key + at / 8) >> at % 8 * 8);
}

bool o2_nodes_bytes_are(const uint8_t *bytes, uint64_t key, uint32_t length)
{
	for (uint32_t at = 0; at < length; at++)
		if (bytes[at] != source_byte(key, at))
			return false;
	return true;
}

/* What stands on a page of the sink before the transfer. */
static void poison(uint64_t key, uint32_t page, uint8_t *bytes)
{
	uint64_t word = o2_mix64(~key - page);

	for (uint32_t i = 0; i < PAGE_BYTES; i += 8) {
		word = word * 6364136223846793005ull + 1442695040888963407ull;
		memcpy(bytes + i, &word, 8);
	}
}

static enum o2_reg_mode draw_mode(struct o2_choice *c)
{
	static const enum o2_reg_mode modes[] = {O2_REG_GLOBAL, O2_REG_FASTREG, O2_REG_FMR,
						 O2_REG_USER,	O2_REG_PHYS,	O2_REG_FASTREG_GAPS};
	static const uint32_t weights[] = {6, 6, 4, 2, 2, 2};

	return modes[o2_draw_weighted(c, weights, sizeof(weights) / sizeof(weights[0]))];
}

/* Pieces on pages of their own with holes between, or one after the other from the first page on. */
static void cut(struct o2_nodes_memory *m, uint32_t offset, uint32_t stride, uint32_t bytes)
{
	uint32_t left = bytes, each = (bytes + O2_NODES_SLOT_PAGES - 1) / O2_NODES_SLOT_PAGES;

	while (left > 0) {
		uint32_t most = m->gapped ? each : PAGE_BYTES - offset, take = left < most ? left : most;
		uint32_t page = m->npieces * stride % O2_NODES_SLOT_PAGES;

		m->kiov[m->npieces++] = (struct o2_kiov){m->first_page + page, offset, take};
		left -= take;
		offset = m->gapped ? 8 + 16 * m->npieces : 0;
	}
}

void o2_nodes_memory_draw(struct o2_choice *c, const struct o2_nodes_seat *seat, uint32_t first_page,
			  uint32_t bytes, struct o2_nodes_memory *m)
{
	uint32_t offset = 0, stride = 1;

	*m = (struct o2_nodes_memory){.first_page = first_page};
	m->memory.mode = draw_mode(c);
	m->gapped = m->memory.mode != O2_REG_USER && m->memory.mode != O2_REG_PHYS &&
		    bytes >= O2_NODES_SLOT_PAGES && o2_draw_bool(c, 3, 1);
	if (o2_draw_bool(c, 1, 1))
		offset = (uint32_t)o2_draw(c, m->gapped ? 511 : PAGE_BYTES - 1);
	if (m->memory.mode != O2_REG_USER && o2_draw_bool(c, 1, 1))
		stride = 2;
	cut(m, offset, stride, bytes);
	m->memory.buffer =
		(struct o2_buffer){.kind = O2_KIOV, .count = m->npieces, .nob = bytes, .kiov = m->kiov};
	if (m->memory.mode == O2_REG_USER) {
		m->iov = (struct o2_iov){
			seat->ni.arena.view[0].base + (uint64_t)first_page * PAGE_BYTES + offset, bytes};
		m->memory.buffer =
			(struct o2_buffer){.kind = O2_IOV, .count = 1, .nob = bytes, .iov = &m->iov};
	}
}

void o2_nodes_memory_plain(uint32_t first_page, uint32_t bytes, enum o2_reg_mode mode,
			   struct o2_nodes_memory *m)
{
	*m = (struct o2_nodes_memory){.first_page = first_page, .npieces = 1, .memory.mode = mode};
	m->kiov[0] = (struct o2_kiov){first_page, 0, bytes};
	m->memory.buffer = (struct o2_buffer){.kind = O2_KIOV, .count = 1, .nob = bytes, .kiov = m->kiov};
}

int o2_nodes_memory_refusal(const struct o2_nodes_memory *m)
{
	return m->memory.mode == O2_REG_FASTREG && m->gapped ? -EPROTONOSUPPORT : 0;
}

static uint8_t *page_of(const struct o2_nodes_seat *seat, uint32_t page)
{
	return o2_arena_page(&seat->ni.arena, page);
}

void o2_nodes_memory_source(const struct o2_nodes_seat *seat, const struct o2_nodes_memory *m, uint64_t key)
{
	uint64_t at = 0;

	for (uint32_t i = 0; i < m->npieces; i++) {
		uint8_t *bytes = page_of(seat, m->kiov[i].page) + m->kiov[i].offset;

		for (uint32_t k = 0; k < m->kiov[i].len; k++)
			bytes[k] = source_byte(key, at++);
	}
}

void o2_nodes_memory_sink(const struct o2_nodes_seat *seat, const struct o2_nodes_memory *m, uint64_t key)
{
	for (uint32_t page = 0; page < O2_NODES_SLOT_PAGES; page++)
		poison(key, page, page_of(seat, m->first_page + page));
}

/* What the slot should hold; found: what it does. */
static void expect(const struct o2_nodes_memory *m, uint64_t key, uint64_t nob, bool failed,
		   const uint8_t *found, uint8_t *bytes)
{
	uint64_t at = 0;

	for (uint32_t page = 0; page < O2_NODES_SLOT_PAGES; page++)
		poison(key, page, bytes + page * PAGE_BYTES);
	for (uint32_t i = 0; i < m->npieces; i++) {
		uint32_t place = (m->kiov[i].page - m->first_page) * PAGE_BYTES + m->kiov[i].offset;

		for (uint32_t k = 0; k < m->kiov[i].len; k++, at++) {
			if (failed)
				bytes[place + k] = found[place + k];
			else if (at < nob)
				bytes[place + k] = source_byte(key, at);
		}
	}
}

void o2_nodes_memory_check(const struct o2_nodes_seat *seat, const struct o2_nodes_memory *m, uint64_t key,
			   uint64_t nob, bool failed)
{
	uint8_t bytes[O2_NODES_SLOT_PAGES * PAGE_BYTES];
	const uint8_t *found = page_of(seat, m->first_page);

	expect(m, key, nob, failed, found, bytes);
	for (uint32_t i = 0; i < sizeof(bytes); i++)
		if (bytes[i] != found[i]) {
			o2_report_fail(seat->nodes->report, "nodes/bytes",
				       "node %" PRIu32 ", page %" PRIu32 ", byte %" PRIu32
				       " is 0x%02x, expected 0x%02x, after %" PRIu64 " bytes%s",
				       seat->index, m->first_page + i / PAGE_BYTES, i % PAGE_BYTES, found[i],
				       bytes[i], nob, failed ? " of an operation that failed" : "");
			return;
		}
}
