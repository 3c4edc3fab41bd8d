/* SPDX-License-Identifier: MIT */

/* The data that the network commands move (docs/peer.md, "Fragments" and "Verifying"). */

#include "base/mix.h"
#include "base/monotonic.h"
#include "base/stream.h"
#include "cli/net/look.h"
#include "cli/net/memory.h"
#include "cli/net/report.h"
#include "cli/net/session.h"
#include "mem/sg_build.h"
#include "tests/lib/unit_test.h"

#define PAGES	   600u
#define PAGE_BYTES 4096u

TEST(test_streams)
{
	uint8_t whole[300], part[300];

	o2_stream_fill(whole, sizeof(whole), 7, 3, 1001);
	/* Any part of a stream has the same bytes as the whole stream. */
	for (size_t from = 0; from < 20; from++)
		for (size_t n = 0; n < 40; n++) {
			o2_stream_fill(part, n, 7, 3, 1001 + from);
			assert_memory_equal(part, whole + from, n);
		}
	assert_int_equal(o2_stream_match(whole, sizeof(whole), 7, 3, 1001), sizeof(whole));
	for (size_t at = 0; at < sizeof(whole); at++) {
		whole[at] ^= 0x10;
		assert_int_equal(o2_stream_match(whole, sizeof(whole), 7, 3, 1001), at);
		whole[at] ^= 0x10;
	}
	/* Another seed, stream or offset does not match, beyond a few bytes that are equal by chance. */
	assert_true(o2_stream_match(whole, sizeof(whole), 8, 3, 1001) < 16);
	assert_true(o2_stream_match(whole, sizeof(whole), 7, 4, 1001) < 16);
	assert_true(o2_stream_match(whole, sizeof(whole), 7, 3, 1002) < 16);
	assert_true(o2_stream_match(whole, sizeof(whole), 7, 3, 1009) < 16);
}

TEST(bytes_of_a_stream_say_where_they_stand)
{
	static const uint64_t offsets[] = {0, 1, 7, 8, 1001, UINT32_MAX, (UINT64_C(1) << 33) - 40};
	uint8_t bytes[40];
	uint64_t offset;

	for (size_t i = 0; i < sizeof(offsets) / sizeof(offsets[0]); i++)
		for (size_t n = 0; n <= sizeof(bytes); n++) {
			o2_stream_fill(bytes, n, 7, 3, offsets[i]);
			assert_int_equal(o2_stream_find(bytes, n, 7, 3, &offset), n >= O2_STREAM_FIND_BYTES);
			if (n < O2_STREAM_FIND_BYTES)
				continue;
			assert_true(offset == offsets[i]);
			assert_false(o2_stream_find(bytes, n, 7, 4, &offset));
			assert_false(o2_stream_find(bytes, n, 8, 3, &offset));
			bytes[n - 1] ^= 1;
			assert_false(o2_stream_find(bytes, n, 7, 3, &offset));
		}
	for (uint64_t x = 1; x != 0; x <<= 1)
		assert_true(o2_unmix64(o2_mix64(x - 1)) == x - 1);
}

/* Assert that the pieces have all bytes, do not touch each other, and stay within the counted pages. */
static void check_layout(const struct o2_arena *arena, uint32_t size_bytes, uint32_t nfragments)
{
	const uint32_t npages = (size_bytes + PAGE_BYTES - 1) / PAGE_BYTES;
	struct o2_address_space space = o2_arena_space(arena);
	struct o2_net_memory memory;
	struct o2_sg_list list;
	struct o2_error error;
	uint64_t total = 0, end = 0;

	assert_int_equal(o2_net_memory_lay(arena, 5, size_bytes, nfragments, O2_REG_GLOBAL, &memory), 0);
	assert_int_equal(memory.npages, o2_net_memory_pages(PAGE_BYTES, size_bytes, nfragments));
	assert_int_equal(memory.memory.buffer.count, nfragments);
	assert_int_equal(memory.memory.buffer.nob, size_bytes);
	for (uint32_t i = 0; i < nfragments; i++) {
		const struct o2_iov *piece = &memory.iov[i];

		assert_true(piece->len > 0);
		assert_true(i == 0 || piece->base > end);
		assert_int_equal((piece->base - arena->view[0].base) % PAGE_BYTES, 0);
		end = piece->base + piece->len;
		total += piece->len;
	}
	assert_int_equal(total, size_bytes);
	assert_true(memory.iov[0].base == arena->view[0].base + 5 * PAGE_BYTES);
	assert_true(end <= arena->view[0].base + (5 + (uint64_t)memory.npages) * PAGE_BYTES);
	assert_int_equal(o2_sg_build(&memory.memory.buffer, &space, O2_MAX_FRAGS, &list, &error), 0);
	assert_int_equal(list.gaps, nfragments > npages && nfragments > 1);
	o2_net_memory_free(&memory);
	assert_null(memory.iov);
}

TEST(test_layouts)
{
	static const uint32_t sizes[] = {1, 2, 4095, 4096, 4097, 8192, 65536, 65537, 1u << 20};
	static const uint32_t counts[] = {1, 2, 3, 16, 17, 100, 256, 257};
	struct o2_arena arena;
	struct o2_error error;

	assert_int_equal(o2_arena_create(PAGES, &arena, &error), 0);
	if (arena.page_bytes == PAGE_BYTES)
		for (unsigned int i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
			for (unsigned int j = 0; j < sizeof(counts) / sizeof(counts[0]); j++)
				if (counts[j] <= sizes[i])
					check_layout(&arena, sizes[i], counts[j]);
	o2_arena_destroy(&arena);
}

static uint8_t *byte_of(const struct o2_net_memory *memory, uint64_t at)
{
	const struct o2_iov *piece = memory->iov;

	while (at >= piece->len)
		at -= (piece++)->len;
	return (uint8_t *)(uintptr_t)(piece->base + at);
}

/* Returns where the first wrong byte is; *look has details. */
static uint64_t first_wrong(const struct o2_arena *arena, const struct o2_net_memory *memory, uint64_t offset,
			    struct o2_net_look *look)
{
	struct o2_transfer_memory slice = memory->memory;
	uint64_t at = 0, left;

	for (; at < memory->memory.buffer.nob; at += slice.buffer.nob) {
		const struct o2_net_bytes belong = {9, 2, offset + at};

		left = memory->memory.buffer.nob - at;
		slice.buffer.offset = at;
		slice.buffer.nob = left < O2_MAX_TRANSFER_BYTES ? left : O2_MAX_TRANSFER_BYTES;
		assert_true(o2_net_look(arena, &slice, slice.buffer.nob, &belong, look));
		if (look->right < slice.buffer.nob)
			return at + look->right;
	}
	return at;
}

/* A single wrong byte is found and reported, wherever it is. */
TEST(test_one_wrong_byte)
{
	const uint32_t size_bytes = (2u << 20) + 5;
	const uint64_t places[] = {0, 1, 4095, 4096, (1u << 20) - 1, 1u << 20, 1234567, size_bytes - 1};
	struct o2_net_memory memory;
	struct o2_arena arena;
	struct o2_error error;
	struct o2_net_look look;
	uint8_t want = 0;

	assert_int_equal(o2_arena_create(PAGES, &arena, &error), 0);
	assert_int_equal(o2_net_memory_lay(&arena, 5, size_bytes, 17, O2_REG_GLOBAL, &memory), 0);
	assert_true(o2_net_fill(&arena, &memory.memory, 9, 2, 77, false));
	assert_int_equal(first_wrong(&arena, &memory, 77, &look), size_bytes);
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		uint8_t *byte = byte_of(&memory, places[i]);

		*byte ^= 1;
		assert_int_equal(first_wrong(&arena, &memory, 77, &look), places[i]);
		assert_int_equal(look.got, *byte);
		assert_int_equal(look.want, *byte ^ 1);
		assert_int_equal(look.untouched, 0);
		*byte ^= 1;
	}
	/* The fill before a GET makes every byte wrong, so unwritten bytes are noticed. */
	assert_true(o2_net_fill(&arena, &memory.memory, 9, 2, 77, true));
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		uint8_t is = *byte_of(&memory, places[i]);

		o2_stream_fill(&want, 1, 9, 2, 77 + places[i]);
		assert_int_not_equal(is, want);
	}
	o2_net_memory_free(&memory);
	o2_arena_destroy(&arena);
}

/* Progress is printed once a second; rates are averages over the whole run so far. */
TEST(test_progress)
{
	const struct o2_net_options options = {.command = O2_NET_PUT, .progress = true};
	struct o2_net_report report = {
		.started_ns = 1, .done = 30, .failed = 2, .bytes = 12000000, .next_progress_ns = 0};
	static const struct {
		uint64_t now_ns;
		const char *said;
	} rows[] = {{O2_NS_PER_S, ""},
		    {2 * O2_NS_PER_S - 1, ""},
		    {3 * O2_NS_PER_S, "put: 30 done, 2 failed, 4.0 MB/s, 10/s\n"},
		    {4 * O2_NS_PER_S - 1, ""}};
	char *text;
	size_t bytes;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		FILE *was = stderr;

		stderr = open_memstream(&text, &bytes);
		assert_non_null(stderr);
		o2_net_report_progress(&report, &options, rows[i].now_ns);
		fclose(stderr);
		stderr = was;
		assert_string_equal(text, rows[i].said);
		free(text);
	}
}
