/* SPDX-License-Identifier: MIT */
/* The rules about gaps: the verdict of each rule for some shapes, and that G3 flags every list that the exact rule
 * flags. */
#include <inttypes.h>

#include "oracle/gap_rules.h"
#include "props/engine/prng.h"
#include "tests/lib/unit_test.h"

#define PAGE  4096u
#define PAGES 64u
#define BASE  0x10000u

TEST(shapes)
{
	/* clang-format off */
	static const struct {
		const char *what;
		uint32_t count;
		struct o2_kiov kiov[4];
		uint64_t offset, nob;
		bool g1, g2, g3;
	} rows[] = {
		{"whole pages", 3, {{0, 0xe00, 0x200}, {1, 0, PAGE}, {2, 0, 0x600}}, 0, 0x1800, false, false, false},
		{"a hole: neither G1 nor G2 sees it", 3, {{0, 0xe00, 0x100}, {1, 0x400, 0xc00}, {2, 0, 0x600}}, 0, 0x1300, false, false, true},
		{"an end inside a page, and more pieces behind it", 3, {{0, 0, PAGE}, {1, 0, PAGE}, {2, 0, PAGE}}, 0, 0x1800, true, false, false},
		{"two halves of a page", 2, {{0, 0, 0x800}, {0, 0x800, 0x800}}, 0, PAGE, false, false, true},
		{"empty pieces have no say", 4, {{0, 0, PAGE}, {9, 7, 0}, {1, 0, 0x700}, {9, 7, 0}}, 0, PAGE + 0x600, false, false, false},
	};
	/* clang-format on */

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct o2_buffer buffer = {.kind = O2_KIOV,
					   .count = rows[i].count,
					   .offset = rows[i].offset,
					   .nob = rows[i].nob,
					   .kiov = rows[i].kiov};

		if (o2_gap_verdict(O2_GAP_G1, &buffer, PAGE) != rows[i].g1 ||
		    o2_gap_verdict(O2_GAP_G2, &buffer, PAGE) != rows[i].g2 ||
		    o2_gap_verdict(O2_GAP_G3, &buffer, PAGE) != rows[i].g3)
			fail_msg("%s", rows[i].what);
	}
}

TEST(shapes_of_iov)
{
	/* clang-format off */
	static const struct {
		const char *what;
		uint32_t count;
		struct o2_iov iov[3];
		bool g1, g2, g3;
	} rows[] = {
		{"one range", 1, {{0x10e00, 0x3000}}, false, false, false},
		{"the first ends inside a page: G2 does not look", 2, {{0x10000, 0x800}, {0x11000, 0x800}}, true, false, true},
		{"the second ends inside a page", 3, {{0x10000, 0x1000}, {0x12000, 0x800}, {0x14000, 0x1000}}, true, true, true},
		{"the last starts inside a page: only G3 looks", 2, {{0x10000, 0x1000}, {0x12800, 0x800}}, false, false, true},
	};
	/* clang-format on */

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct o2_buffer buffer = {.kind = O2_IOV, .count = rows[i].count, .iov = rows[i].iov};

		for (uint32_t k = 0; k < buffer.count; k++)
			buffer.nob += rows[i].iov[k].len;
		if (o2_gap_verdict(O2_GAP_G1, &buffer, PAGE) != rows[i].g1 ||
		    o2_gap_verdict(O2_GAP_G2, &buffer, PAGE) != rows[i].g2 ||
		    o2_gap_verdict(O2_GAP_G3, &buffer, PAGE) != rows[i].g3)
			fail_msg("%s", rows[i].what);
	}
}

static uint64_t draw_buffer(struct o2_prng *prng, struct o2_iov *iov, struct o2_kiov *kiov, uint32_t count,
			    bool is_iov, uint32_t page_bytes)
{
	uint64_t total = 0;

	for (uint32_t i = 0; i < count; i++) {
		uint32_t shape = (uint32_t)o2_prng_upto(prng, 3);
		uint64_t begin = shape == 0 ? o2_prng_upto(prng, page_bytes - 1) : 0;
		uint64_t length = shape <= 1 ? o2_prng_upto(prng, page_bytes - begin) : page_bytes - begin;

		kiov[i] = (struct o2_kiov){(uint32_t)o2_prng_upto(prng, PAGES - 1), (uint32_t)begin,
					   (uint32_t)length};
		iov[i] = (struct o2_iov){BASE * 16 + (uint64_t)kiov[i].page * page_bytes + begin, length};
		if (is_iov && i > 0 && o2_prng_upto(prng, 2) == 0)
			iov[i].base = iov[i - 1].base + iov[i - 1].len;
		total += length;
	}
	return total;
}

/* G3, which does not know the addresses, flags every list that the exact rule, which does, flags. */
TEST(g3_misses_nothing)
{
	const uint64_t seed = tests_seed(1);
	static struct o2_sg_list sg;
	static struct o2_dma_list dma;
	uint32_t seen[2][2] = {{0}};
	uint32_t page[PAGES + 16], device_page[PAGES];

	print_message("replay: O2_TEST_SEED=%" PRIu64 " test_gap_rules\n", seed);
	for (uint32_t i = 0; i < PAGES + 16; i++)
		page[i] = i % PAGES;
	for (uint32_t n = 0; n < 20000; n++) {
		struct o2_prng prng = o2_prng_init(seed, n);
		uint32_t page_bytes = 4096u << 2 * o2_prng_upto(&prng, 2);
		struct o2_vrange range = {BASE * 16, PAGES + 16, page};
		struct o2_address_space space = {page_bytes, PAGES, 1, &range};
		struct o2_iov iov[6];
		struct o2_kiov kiov[6];
		struct o2_buffer buffer = {.count = 1 + (uint32_t)o2_prng_upto(&prng, 5)};
		bool is_iov = o2_prng_upto(&prng, 1) != 0;
		uint64_t total = draw_buffer(&prng, iov, kiov, buffer.count, is_iov, page_bytes);
		struct o2_dma_device device = {
			(enum o2_dma_kind)o2_prng_upto(&prng, O2_DMA_KINDS - 1), page_bytes, PAGES, 0, NULL,
			{device_page, o2_prng_next(&prng), O2_DMA_NO_FAULT}};
		uint32_t turn = (uint32_t)o2_prng_upto(&prng, PAGES - 1);
		bool exact;

		if (total == 0)
			continue;
		for (uint32_t i = 0; i < PAGES; i++)
			device_page[i] = (i + turn) % PAGES;
		buffer.kind = is_iov ? O2_IOV : O2_KIOV;
		buffer.offset = o2_prng_upto(&prng, total - 1);
		buffer.nob = 1 + o2_prng_upto(&prng, total - buffer.offset - 1);
		if (is_iov)
			buffer.iov = iov;
		else
			buffer.kiov = kiov;
		if (o2_sg_build(&buffer, &space, O2_MAX_FRAGS, &sg, NULL) != 0)
			fail_msg("seed %" PRIu64 " case %" PRIu32 ": not built", seed, n);
		assert_int_equal(o2_dma_map(&sg, &device, &dma, NULL), 0);
		assert_int_equal(o2_gap_verdict(O2_GAP_G3, &buffer, page_bytes), sg.gaps);
		exact = o2_gap_exact(&dma, page_bytes);
		if (exact && !sg.gaps)
			fail_msg("seed %" PRIu64 " case %" PRIu32 ": a gap that G3 does not see", seed, n);
		if (!is_iov && o2_gap_verdict(O2_GAP_G2, &buffer, page_bytes))
			fail_msg("seed %" PRIu64 " case %" PRIu32 ": G2 set for a page vector", seed, n);
		seen[exact][sg.gaps]++;
	}
	print_message("no gap %" PRIu32 ", G3 alone %" PRIu32 ", both %" PRIu32 "\n", seen[0][0], seen[0][1],
		      seen[1][1]);
	assert_true(seen[0][0] > 100 && seen[0][1] > 100 && seen[1][1] > 100);
}
