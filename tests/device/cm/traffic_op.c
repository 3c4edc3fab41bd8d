/* SPDX-License-Identifier: MIT */
#include "tests/device/cm/traffic_op.h"

#include <errno.h>
#include <string.h>

#include "base/limits.h"
#include "props/engine/prng.h"
#include "props/pattern/pattern.h"

#define PAGE 4096u

/* The modes that bind memory windows come last, so that a run without windows can leave them out. */
static const enum o2_reg_mode modes[] = {O2_REG_GLOBAL, O2_REG_FMR,	O2_REG_USER,
					 O2_REG_PHYS,	O2_REG_FASTREG, O2_REG_FASTREG_GAPS};
#define MODES		      (sizeof(modes) / sizeof(modes[0]))
#define MODES_WITHOUT_WINDOWS 4u

/* One operation of so many is of a rare kind.  Its number decides, so every long run has some. */
#define LARGE_EVERY    16u
#define NO_MATCH_EVERY 13u

#define IMMEDIATE_MAX 3000u /* a payload that fits into any message */

/* Each is coprime to the pages of a slot, so that stepping by it visits every page: an order of the pages. */
static const uint32_t strides[] = {1, 5, 7, 13, 25, 35};
#define STRIDES (sizeof(strides) / sizeof(strides[0]))

static uint32_t upto(struct o2_prng *prng, uint32_t max)
{
	return (uint32_t)o2_prng_upto(prng, max);
}

static uint32_t draw_bytes(struct o2_prng *prng, uint32_t number)
{
	if (number % LARGE_EVERY == LARGE_EVERY - 1)
		return O2_MAX_TRANSFER_BYTES - upto(prng, O2_MAX_TRANSFER_BYTES - TRAFFIC_LARGE_BYTES);
	switch (upto(prng, 7)) {
	case 0:
		return 1 + upto(prng, 199);
	case 1:
		return 1 + upto(prng, O2_MAX_TRANSFER_BYTES - 1);
	case 2:
	case 3:
		return 1 + upto(prng, (128u << 10) - 1);
	default:
		return 1 + upto(prng, (16u << 10) - 1);
	}
}

/* Only these modes take pieces with gaps between them. */
static bool takes_gaps(enum o2_reg_mode mode)
{
	return mode == O2_REG_GLOBAL || mode == O2_REG_FMR || mode == O2_REG_FASTREG_GAPS;
}

/*
 * Draws pieces, each on a page of its own, in some order of the pages.  They have gaps only if nob is small, so
 * that they fit the table.  In mode user the pages are in the order of their addresses.
 */
static void draw_memory(struct o2_prng *prng, uint32_t nmodes, uint32_t slot, uint64_t nob,
			struct traffic_memory *memory)
{
	uint32_t stride = strides[upto(prng, STRIDES - 1)], start = upto(prng, TRAFFIC_SLOT_PAGES - 1);
	bool gaps;
	uint64_t left = nob;

	memory->first_page = slot * TRAFFIC_SLOT_PAGES;
	memory->nob = nob;
	memory->mode = modes[upto(prng, nmodes - 1)];
	memory->count = 0;
	gaps = takes_gaps(memory->mode) && nob <= 100000 && upto(prng, 1) == 1;
	if (memory->mode == O2_REG_USER) {
		stride = 1;
		start = 0;
	}
	for (uint32_t offset = upto(prng, PAGE - 1); left > 0; offset = gaps ? upto(prng, PAGE / 4) : 0) {
		uint32_t room = PAGE - offset;
		uint32_t take = gaps && room > 1000 ? 1000 + upto(prng, room - 1000) : room;
		uint32_t page = (start + memory->count * stride) % TRAFFIC_SLOT_PAGES;

		if (take > left)
			take = (uint32_t)left;
		memory->kiov[memory->count++] = (struct o2_kiov){memory->first_page + page, offset, take};
		left -= take;
	}
}

void traffic_draw(uint32_t seed, uint32_t number, uint32_t slot, struct traffic_op *op)
{
	static const enum traffic_kind kinds[] = {TRAFFIC_PUT, TRAFFIC_GET, TRAFFIC_PUT, TRAFFIC_GET,
						  TRAFFIC_IMMEDIATE};
	struct o2_prng prng = o2_prng_init(seed, number);
	uint32_t nmodes = seed & TRAFFIC_NO_WINDOWS ? MODES_WITHOUT_WINDOWS : MODES;
	uint32_t nob, moved;

	op->key = o2_prng_next(&prng);
	op->kind = kinds[upto(&prng, sizeof(kinds) / sizeof(kinds[0]) - 1)];
	op->no_match = op->kind != TRAFFIC_IMMEDIATE && number % NO_MATCH_EVERY == NO_MATCH_EVERY - 1;
	nob = op->kind == TRAFFIC_IMMEDIATE ? 1 + upto(&prng, IMMEDIATE_MAX - 1) : draw_bytes(&prng, number);
	moved = nob;
	if (upto(&prng, 3) == 0)
		moved = 1 + upto(&prng, nob - 1);
	draw_memory(&prng, nmodes, slot, nob, &op->initiator);
	draw_memory(&prng, nmodes, slot, moved, &op->responder);
}

int traffic_foretell(const struct traffic_op *op, uint64_t *nob)
{
	*nob = op->kind == TRAFFIC_IMMEDIATE ? op->initiator.nob : op->no_match ? 0 : op->responder.nob;
	return op->no_match && op->kind == TRAFFIC_GET ? -ENODATA : 0;
}

struct o2_transfer_memory traffic_transfer(struct traffic_memory *memory, const struct o2_arena *arena,
					   uint64_t tag)
{
	struct o2_transfer_memory transfer = {
		.buffer = {.kind = O2_KIOV, .count = memory->count, .nob = memory->nob, .kiov = memory->kiov},
		.mode = memory->mode,
		.tag = tag,
	};

	if (memory->mode == O2_REG_USER) {
		memory->iov = (struct o2_iov){arena->view[0].base + (uint64_t)memory->kiov[0].page * PAGE +
						      memory->kiov[0].offset,
					      memory->nob};
		transfer.buffer = (struct o2_buffer){
			.kind = O2_IOV, .count = 1, .nob = memory->nob, .iov = &memory->iov};
	}
	return transfer;
}

static void put_source(const struct traffic_op *op, uint8_t *bytes, uint64_t at, uint32_t length)
{
	o2_pattern_fill(bytes, length, op->key, 0, at);
}

bool traffic_bytes_are(const struct traffic_op *op, const uint8_t *bytes, uint32_t length)
{
	return o2_fill_match(bytes, length, op->key, (struct o2_origin){.kind = O2_FILL_DATA}) == length;
}

/* Writes the bytes that a page of the sink holds before the transfer. */
static void put_poison(const struct traffic_op *op, uint32_t page, uint8_t *bytes)
{
	o2_fill(bytes, PAGE, op->key,
		(struct o2_origin){.kind = O2_FILL_POISON, .offset_bytes = page * (uint64_t)PAGE});
}

void traffic_fill_source(const struct traffic_op *op, const struct traffic_memory *memory,
			 const struct o2_arena *arena)
{
	uint64_t at = 0;

	for (uint32_t i = 0; i < memory->count; at += memory->kiov[i++].len)
		put_source(op, o2_arena_page(arena, memory->kiov[i].page) + memory->kiov[i].offset, at,
			   memory->kiov[i].len);
}

void traffic_fill_sink(const struct traffic_op *op, const struct traffic_memory *memory,
		       const struct o2_arena *arena)
{
	for (uint32_t i = 0; i < TRAFFIC_SLOT_PAGES; i++)
		put_poison(op, memory->first_page + i, o2_arena_page(arena, memory->first_page + i));
}

/* A page holds at most one piece: expect its poison and at most one run of source bytes. */
static bool page_exact(const struct traffic_op *op, const struct o2_kiov *piece, uint32_t page, uint64_t at,
		       uint64_t nob, bool failed, const uint8_t *found)
{
	uint8_t expected[PAGE];

	put_poison(op, page, expected);
	if (piece != NULL && failed) {
		memcpy(expected + piece->offset, found + piece->offset, piece->len);
	} else if (piece != NULL && at < nob) {
		uint64_t length = nob - at < piece->len ? nob - at : piece->len;

		put_source(op, expected + piece->offset, at, (uint32_t)length);
	}
	return memcmp(expected, found, PAGE) == 0;
}

bool traffic_exact(const struct traffic_op *op, const struct traffic_memory *memory,
		   const struct o2_arena *arena, uint64_t nob, bool failed)
{
	const struct o2_kiov *piece_of[TRAFFIC_SLOT_PAGES] = {NULL};
	uint64_t at_of[TRAFFIC_SLOT_PAGES] = {0};
	uint64_t at = 0;

	for (uint32_t i = 0; i < memory->count; at += memory->kiov[i++].len) {
		piece_of[memory->kiov[i].page - memory->first_page] = &memory->kiov[i];
		at_of[memory->kiov[i].page - memory->first_page] = at;
	}
	for (uint32_t i = 0; i < TRAFFIC_SLOT_PAGES; i++) {
		uint32_t page = memory->first_page + i;

		if (!page_exact(op, piece_of[i], page, at_of[i], nob, failed, o2_arena_page(arena, page)))
			return false;
	}
	return true;
}
