/* SPDX-License-Identifier: MIT */
#include "tests/lib/lnd_memory.h"

struct o2_kiov kiov_from[O2_MAX_FRAGS + 1], kiov_to[O2_MAX_FRAGS + 1];

void side_fill(struct side *side, uint32_t seed)
{
	uint64_t length = (uint64_t)side->ni.arena.npages * side->ni.arena.page_bytes;
	uint64_t x = seed * 0x9e3779b97f4a7c15ull + 1;

	for (uint64_t i = 0; i < length; i += 8) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		memcpy(side->ni.arena.memory + i, &x, 8);
	}
}

void side_locate(const struct side *side, const struct o2_buffer *buffer, uint64_t *offsets)
{
	static struct o2_sg_list sg;
	struct o2_address_space space = o2_arena_space(&side->ni.arena);
	uint64_t k = 0;

	assert_int_equal(o2_sg_build(buffer, &space, O2_MAX_FRAGS, &sg, NULL), 0);
	for (uint32_t i = 0; i < sg.count; i++)
		for (uint32_t j = 0; j < sg.entry[i].length; j++)
			offsets[k++] = (uint64_t)sg.entry[i].page * space.page_bytes + sg.entry[i].offset + j;
}

static uint8_t *side_copy(const struct side *side)
{
	uint64_t length = (uint64_t)side->ni.arena.npages * side->ni.arena.page_bytes;
	uint8_t *copy = malloc(length);

	assert_non_null(copy);
	memcpy(copy, side->ni.arena.memory, length);
	return copy;
}

struct images images_take(struct side *source, struct side *sink, uint32_t seed)
{
	side_fill(source, 2 * seed);
	side_fill(sink, 2 * seed + 1);
	return (struct images){side_copy(source), side_copy(sink)};
}

/* The bytes that move, in the images.  The tables are as long as the buffers: larger ones cost more than the test. */
static void images_move(struct images *images, const struct side *source, const struct o2_buffer *from,
			const struct side *sink, const struct o2_buffer *to, uint64_t nob)
{
	uint64_t *where_from = calloc(from->nob, sizeof(*where_from));
	uint64_t *where_to = calloc(to->nob, sizeof(*where_to));

	assert_non_null(where_from);
	assert_non_null(where_to);
	side_locate(source, from, where_from);
	side_locate(sink, to, where_to);
	for (uint64_t k = 0; k < nob; k++)
		images->sink[where_to[k]] = images->source[where_from[k]];
	free(where_from);
	free(where_to);
}

void images_check(struct images *images, const struct side *source, const struct o2_buffer *from,
		  const struct side *sink, const struct o2_buffer *to, uint64_t nob)
{
	uint64_t bytes = (uint64_t)PAIR_PAGES * source->ni.arena.page_bytes;

	if (nob > 0)
		images_move(images, source, from, sink, to, nob);
	assert_memory_equal(source->ni.arena.memory, images->source, bytes);
	assert_memory_equal(sink->ni.arena.memory, images->sink, bytes);
	free(images->source);
	free(images->sink);
}

uint32_t scattered_page(uint32_t i)
{
	return (i * 257u + 31u) % PAIR_PAGES;
}

struct o2_buffer dense_kiov(struct o2_kiov *kiov, uint32_t first, uint32_t first_offset, uint64_t nob)
{
	uint32_t page_bytes = 4096;
	uint64_t left = nob;
	uint32_t count = 0;

	for (uint32_t offset = first_offset; left > 0; offset = 0) {
		uint32_t take = left < page_bytes - offset ? (uint32_t)left : page_bytes - offset;

		kiov[count] = (struct o2_kiov){scattered_page(first + count), offset, take};
		left -= take;
		count++;
	}
	return (struct o2_buffer){.kind = O2_KIOV, .count = count, .nob = nob, .kiov = kiov};
}

struct o2_buffer gapped_kiov(struct o2_kiov *kiov, uint32_t first, uint32_t count, uint32_t piece_bytes)
{
	for (uint32_t i = 0; i < count; i++)
		kiov[i] = (struct o2_kiov){scattered_page(first + i), 8 + i % 64, piece_bytes};
	return (struct o2_buffer){
		.kind = O2_KIOV, .count = count, .nob = (uint64_t)count * piece_bytes, .kiov = kiov};
}

struct o2_buffer view_iov(struct side *side, struct o2_iov *iov, uint32_t view, uint64_t at, uint64_t nob)
{
	uint64_t base = side->ni.arena.view[view].base + at;

	assert_int_equal(o2_arena_map_view(&side->ni.arena, view, NULL), 0);
	iov[0] = (struct o2_iov){base, 5 + nob / 3};
	iov[1] = (struct o2_iov){0, 0};
	iov[2] = (struct o2_iov){base + 5 + nob / 3, nob - nob / 3};
	return (struct o2_buffer){.kind = O2_IOV, .count = 3, .offset = 5, .nob = nob, .iov = iov};
}

struct o2_transfer_memory dense(struct o2_kiov *kiov, uint32_t first, uint64_t nob, enum o2_reg_mode mode)
{
	return (struct o2_transfer_memory){.buffer = dense_kiov(kiov, first, 99, nob), .mode = mode};
}

struct o2_transfer_memory gapped(struct o2_kiov *kiov, uint32_t first, uint32_t count, uint32_t piece_bytes,
				 enum o2_reg_mode mode)
{
	return (struct o2_transfer_memory){.buffer = gapped_kiov(kiov, first, count, piece_bytes),
					   .mode = mode};
}
