/* SPDX-License-Identifier: MIT */
/* sg_build against tables: the lists of small vectors, the limit of entries, and every refusal. */
#include <inttypes.h>

#include "mem/sg_build.h"
#include "tests/lib/refused.h"

#define MIB	    O2_MAX_TRANSFER_BYTES
#define TABLE_PAGES 64u

/* --- tables: small page vectors --- */

struct kiov_case {
	const char *name;
	uint32_t page_bytes;
	uint64_t offset;
	uint64_t nob;
	struct o2_kiov piece[6]; /* up to the first {0, 0, 0} after `count` */
	uint32_t count;
	bool gaps;
	uint32_t nentries;
	struct o2_sg_entry entry[6];
};

/* clang-format off */
static const struct kiov_case kiov_cases[] = {
	{"one byte", 4096, 0, 1, {{3, 0, 4096}}, 1, false, 1, {{3, 0, 1}}},
	{"one whole page", 4096, 0, 4096, {{3, 0, 4096}}, 1, false, 1, {{3, 0, 4096}}},
	{"inside one page", 4096, 100, 7, {{3, 50, 200}}, 1, false, 1, {{3, 150, 7}}},
	{"offset one before a boundary", 4096, 4095, 2, {{1, 0, 4096}, {9, 0, 4096}}, 2, false, 2, {{1,
	 4095, 1}, {9, 0, 1}}},
	{"offset on a boundary", 4096, 4096, 2, {{1, 0, 4096}, {9, 0, 4096}}, 2, false, 1, {{9, 0, 2}}},
	{"offset one past a boundary", 4096, 4097, 2, {{1, 0, 4096}, {9, 0, 4096}}, 2, false, 1, {{9, 1,
	 2}}},
	{"offset on the second boundary", 4096, 4296, 8, {{1, 0, 4096}, {5, 8, 200}, {7, 0, 8}}, 3, false,
	 1, {{7, 0, 8}}},
	{"the last byte of the vector", 4096, 8191, 1, {{1, 0, 4096}, {9, 0, 4096}}, 2, false, 1, {{9, 4095,
	 1}}},
	{"empty piece in front", 4096, 0, 8, {{60, 4096, 0}, {2, 0, 8}}, 2, false, 1, {{2, 0, 8}}},
	{"empty pieces in front, offset", 4096, 4096, 8, {{60, 7, 0}, {1, 0, 4096}, {2, 9, 0}, {3, 0, 8}},
	 4, false, 1, {{3, 0, 8}}},
	{"empty piece in the middle has no verdict", 4096, 0, 8192, {{1, 0, 4096}, {9, 77, 0}, {2, 0,
	 4096}}, 3, false, 2, {{1, 0, 4096}, {2, 0, 4096}}},
	{"empty piece in the middle hides no gap", 4096, 0, 200, {{1, 0, 100}, {9, 0, 0}, {2, 0, 100}}, 3,
	 true, 2, {{1, 0, 100}, {2, 0, 100}}},
	{"empty piece at the end", 4096, 0, 100, {{1, 8, 100}, {9, 77, 0}}, 2, false, 1, {{1, 8, 100}}},
	{"a page that does not exist, but empty", 4096, 0, 8, {{9999, 9999, 0}, {2, 0, 8}}, 2, false, 1,
	 {{2, 0, 8}}},
	{"pieces after the last byte are not looked at", 4096, 0, 8, {{2, 0, 8}, {9999, 0, 1}}, 2, false, 1,
	 {{2, 0, 8}}},
	{"first starts inside, last ends inside", 4096, 0, 6144, {{1, 0xe00, 0x200}, {2, 0, 4096}, {3, 0,
	 1536}}, 3, false, 3, {{1, 0xe00, 0x200}, {2, 0, 4096}, {3, 0, 1536}}},
	{"first ends inside, second starts inside", 4096, 0, 0x1300, {{1, 0xe00, 0x100}, {2, 0x400, 0xc00},
	 {3, 0, 0x600}}, 3, true, 3, {{1, 0xe00, 0x100}, {2, 0x400, 0xc00}, {3, 0, 0x600}}},
	{"only an end inside", 4096, 0, 4195, {{1, 0, 4095}, {2, 0, 100}}, 2, true, 2, {{1, 0, 4095}, {2, 0,
	 100}}},
	{"only a start inside", 4096, 0, 4196, {{1, 0, 4096}, {2, 1, 100}}, 2, true, 2, {{1, 0, 4096}, {2,
	 1, 100}}},
	{"a start inside behind the last byte", 4096, 0, 4096, {{1, 0, 4096}, {2, 1, 100}}, 2, false, 1,
	 {{1, 0, 4096}}},
	{"the last is cut short", 4096, 0, 4097, {{1, 0, 4096}, {2, 0, 100}}, 2, false, 2, {{1, 0, 4096},
	 {2, 0, 1}}},
	{"halves of one page that touch count as a gap", 4096, 0, 4096, {{1, 0, 2048}, {1, 2048, 2048}}, 2,
	 true, 2, {{1, 0, 2048}, {1, 2048, 2048}}},
	{"the same page twice, whole", 4096, 0, 8192, {{1, 0, 4096}, {1, 0, 4096}}, 2, false, 2, {{1, 0,
	 4096}, {1, 0, 4096}}},
	{"a gap that the offset skips", 4096, 100, 4096, {{1, 0, 100}, {2, 0, 4096}}, 2, false, 1, {{2, 0,
	 4096}}},
	{"4096 is inside a page of 16384", 16384, 0, 8192, {{1, 0, 4096}, {2, 0, 4096}}, 2, true, 2, {{1, 0,
	 4096}, {2, 0, 4096}}},
	{"a page of 16384", 16384, 0, 16484, {{1, 0, 16384}, {2, 0, 4096}}, 2, false, 2, {{1, 0, 16384}, {2,
	 0, 100}}},
	{"pages of 65536", 65536, 65535, 3, {{1, 0, 65536}, {2, 0, 65536}}, 2, false, 2, {{1, 65535, 1}, {2,
	 0, 2}}},
};
/* clang-format on */

/* Assert that the list of the buffer has these entries and all bytes. */
static void assert_built(const char *name, const struct o2_buffer *buffer,
			 const struct o2_address_space *space, const struct o2_sg_entry *entry,
			 uint32_t count, bool gaps)
{
	struct o2_sg_list list;
	struct o2_error error = {0};

	if (o2_sg_build(buffer, space, O2_MAX_FRAGS, &list, &error) != 0)
		fail_msg("%s: refused by %s", name, error.rule);
	if (list.count != count)
		fail_msg("%s: %" PRIu32 " entries, expected %" PRIu32, name, list.count, count);
	for (uint32_t i = 0; i < count; i++) {
		const struct o2_sg_entry *got = &list.entry[i];

		if (got->page != entry[i].page || got->offset != entry[i].offset ||
		    got->length != entry[i].length)
			fail_msg("%s: entry %" PRIu32 " is page %" PRIu32 " + %" PRIu32 ", %" PRIu32 " bytes",
				 name, i, got->page, got->offset, got->length);
	}
	if (list.gaps != gaps || list.nob != buffer->nob)
		fail_msg("%s: gaps %d, nob %" PRIu64, name, list.gaps, list.nob);
}

TEST(test_kiov_table)
{
	for (size_t i = 0; i < sizeof(kiov_cases) / sizeof(kiov_cases[0]); i++) {
		const struct kiov_case *row = &kiov_cases[i];
		struct o2_buffer buffer = {.kind = O2_KIOV,
					   .count = row->count,
					   .offset = row->offset,
					   .nob = row->nob,
					   .kiov = row->piece};
		struct o2_address_space space = {.page_bytes = row->page_bytes, .npages = TABLE_PAGES};

		assert_built(row->name, &buffer, &space, row->entry, row->nentries, row->gaps);
	}
}

/* --- tables: address vectors over scattered pages --- */

static const uint32_t low_pages[] = {5, 2, 9, 7};
static const uint32_t high_pages[] = {30, 31};
static const uint32_t bad_pages[] = {4, TABLE_PAGES};

#define LOW  0x100000u
#define HIGH 0xffffffffffffe000u
#define BAD  0x200000u

static const struct o2_vrange table_ranges[] = {
	{LOW, 4, low_pages},
	{HIGH, 2, high_pages},
	{BAD, 2, bad_pages},
};

static const struct o2_address_space table_space = {
	.page_bytes = 4096, .npages = TABLE_PAGES, .nranges = 3, .range = table_ranges};

struct iov_case {
	const char *name;
	uint64_t offset;
	uint64_t nob;
	struct o2_iov piece[4];
	uint32_t count;
	bool gaps;
	uint32_t nentries;
	struct o2_sg_entry entry[6];
};

/* clang-format off */
static const struct iov_case iov_cases[] = {
	{"one piece in one page", 0, 10, {{LOW + 20, 10}}, 1, false, 1, {{5, 20, 10}}},
	{"one piece over four scattered pages", 0, 12000, {{LOW + 4000, 12000}}, 1, false, 4, {{5, 4000,
	 96}, {2, 0, 4096}, {9, 0, 4096}, {7, 0, 3712}}},
	{"offset into the second page of a piece", 4096, 100, {{LOW, 16384}}, 1, false, 1, {{2, 0, 100}}},
	{"offset up to one byte before a page", 4095, 2, {{LOW, 16384}}, 1, false, 2, {{5, 4095, 1}, {2, 0,
	 1}}},
	{"offset on a piece boundary", 100, 50, {{LOW, 100}, {LOW + 8192, 50}}, 2, false, 1, {{9, 0, 50}}},
	{"a piece ends inside a page", 0, 150, {{LOW, 100}, {LOW + 8192, 50}}, 2, true, 2, {{5, 0, 100}, {9,
	 0, 50}}},
	{"a piece starts inside a page", 0, 4146, {{LOW, 4096}, {LOW + 8200, 50}}, 2, true, 2, {{5, 0,
	 4096}, {9, 8, 50}}},
	{"pieces meet on page boundaries", 0, 8192, {{LOW + 4096, 4096}, {LOW, 4096}}, 2, false, 2, {{2, 0,
	 4096}, {5, 0, 4096}}},
	{"the first piece's own pages join, the next piece does not", 0, 8292, {{LOW, 8192 - 100}, {LOW +
	 8192, 200}}, 2, true, 3, {{5, 0, 4096}, {2, 0, 3996}, {9, 0, 200}}},
	{"empty pieces may point anywhere", 0, 20, {{1, 0}, {LOW, 10}, {UINT64_MAX, 0}, {LOW + 10, 10}}, 4,
	 true, 2, {{5, 0, 10}, {5, 10, 10}}},
	{"the end of the address space, less one", 0, 4095, {{HIGH + 4096, 4095}}, 1, false, 1, {{31, 0,
	 4095}}},
	{"the last byte of a range", 0, 1, {{LOW + 16383, 1}}, 1, false, 1, {{7, 4095, 1}}},
	{"a range's good page next to a bad one", 0, 4096, {{BAD, 4096}}, 1, false, 1, {{4, 0, 4096}}},
};
/* clang-format on */

TEST(test_iov_table)
{
	for (size_t i = 0; i < sizeof(iov_cases) / sizeof(iov_cases[0]); i++) {
		const struct iov_case *row = &iov_cases[i];
		struct o2_buffer buffer = {.kind = O2_IOV,
					   .count = row->count,
					   .offset = row->offset,
					   .nob = row->nob,
					   .iov = row->piece};

		assert_built(row->name, &buffer, &table_space, row->entry, row->nentries, row->gaps);
	}
}

/* --- how many entries fit --- */

TEST(test_entry_limit)
{
	static const uint32_t limits[] = {O2_MAX_FRAGS_LEGACY, O2_MAX_FRAGS};
	struct o2_kiov kiov[2 * 258];
	struct o2_address_space space = {.page_bytes = 4096, .npages = 258};

	/* An empty piece before every page, which takes no entry. */
	for (uint32_t i = 0; i < 258; i++) {
		kiov[2 * i] = (struct o2_kiov){.page = i};
		kiov[2 * i + 1] = (struct o2_kiov){.page = 257 - i, .offset = i == 0 ? 4095 : 0, .len = 1};
	}
	for (uint32_t limit = 0; limit < 2; limit++) {
		for (uint32_t pages = 255; pages <= 258; pages++) {
			struct o2_buffer buffer = {
				.kind = O2_KIOV, .count = 2 * pages, .nob = pages, .kiov = kiov};
			struct o2_sg_list list;
			struct o2_error error;
			int rc = o2_sg_build(&buffer, &space, limits[limit], &list, &error);

			if (pages <= limits[limit]) {
				assert_int_equal(rc, 0);
				assert_int_equal(list.count, pages);
				assert_true(list.gaps);
				continue;
			}
			assert_int_equal(rc, -EFAULT);
			assert_string_equal(error.rule, "sg/too-many-entries");
			assert_int_equal(error.value, limits[limit] + 1);
			assert_int_equal(error.limit, limits[limit]);
		}
	}
}

/* At every page size, 1 MiB at an offset inside a page touches one page more than 1 MiB on a page boundary. */
TEST(test_one_mebibyte)
{
	static const uint32_t sizes[] = {4096, 16384, 65536};
	uint32_t page[257];

	for (uint32_t i = 0; i < 257; i++)
		page[i] = (i * 101 + 7) % 257;
	for (uint32_t s = 0; s < 3; s++) {
		uint32_t pages = MIB / sizes[s];
		struct o2_vrange range = {UINT64_C(1) << 32, pages + 1, page};
		struct o2_address_space space = {
			.page_bytes = sizes[s], .npages = 257, .nranges = 1, .range = &range};
		struct o2_iov iov = {range.base, MIB + sizes[s]};
		struct o2_buffer buffer = {.kind = O2_IOV, .count = 1, .nob = MIB, .iov = &iov};
		struct o2_sg_list list;

		for (uint32_t shift = 0; shift <= sizes[s]; shift += sizes[s] / 8) {
			bool aligned = shift % sizes[s] == 0;
			int rc;

			buffer.offset = shift;
			assert_int_equal(o2_sg_build(&buffer, &space, O2_MAX_FRAGS, &list, NULL), 0);
			assert_int_equal(list.count, aligned ? pages : pages + 1);
			assert_false(list.gaps);
			assert_int_equal(list.entry[0].page, page[shift / sizes[s]]);
			rc = o2_sg_build(&buffer, &space, O2_MAX_FRAGS_LEGACY, &list, NULL);
			assert_int_equal(rc, aligned || s > 0 ? 0 : -EFAULT);
		}
	}
}

/* --- refusals: the last legal value and the first illegal one --- */

struct refusal {
	const char *rule; /* NULL: accepted */
	int code;
	uint64_t value, limit;
	uint32_t index;
	enum o2_vector_kind kind;
	uint32_t page_bytes;
	uint32_t max_entries;
	uint64_t offset;
	uint64_t nob;
	struct o2_kiov kiov[2];
	struct o2_iov iov[2];
};

#define K O2_KIOV, 4096, 257
#define I O2_IOV, 4096, 257
#define N O2_NO_INDEX

/* clang-format off */
static const struct refusal refusals[] = {
	{"sg/nob", -EINVAL, 0, MIB, N, K, 0, 0, {{1, 0, 4096}}, {{0}}},
	{NULL, 0, 0, 0, N, K, 0, 1, {{1, 0, 4096}}, {{0}}},
	{"sg/nob", -EINVAL, MIB + 1, MIB, N, K, 0, MIB + 1, {{1, 0, 4096}}, {{0}}},
	{"sg/nob", -EINVAL, UINT64_MAX, MIB, N, K, 0, UINT64_MAX, {{1, 0, 4096}}, {{0}}},
	{"sg/kind", -EINVAL, 2, O2_KIOV, N, (enum o2_vector_kind)2, 4096, 257, 0, 1, {{1, 0, 1}}, {{0}}},
	{"sg/page-size", -EINVAL, 0, 65536, N, O2_KIOV, 0, 257, 0, 1, {{1, 0, 1}}, {{0}}},
	{"sg/page-size", -EINVAL, 4095, 65536, N, O2_KIOV, 4095, 257, 0, 1, {{1, 0, 1}}, {{0}}},
	{"sg/page-size", -EINVAL, 8192, 65536, N, O2_KIOV, 8192, 257, 0, 1, {{1, 0, 1}}, {{0}}},
	{"sg/page-size", -EINVAL, 131072, 65536, N, O2_KIOV, 131072, 257, 0, 1, {{1, 0, 1}}, {{0}}},
	{"sg/max-entries", -EINVAL, 255, 257, N, O2_KIOV, 4096, 255, 0, 1, {{1, 0, 1}}, {{0}}},
	{NULL, 0, 0, 0, N, O2_KIOV, 4096, 256, 0, 1, {{1, 0, 1}}, {{0}}},
	{"sg/max-entries", -EINVAL, 258, 257, N, O2_KIOV, 4096, 258, 0, 1, {{1, 0, 1}}, {{0}}},
	{NULL, 0, 0, 0, N, K, 0, 1, {{TABLE_PAGES - 1, 0, 1}}, {{0}}},
	{"sg/kiov/no-such-page", -EINVAL, TABLE_PAGES, TABLE_PAGES, 0, K, 0, 1, {{TABLE_PAGES, 0, 1}},
	 {{0}}},
	{NULL, 0, 0, 0, N, K, 0, 2, {{1, 4095, 1}, {2, 0, 1}}, {{0}}},
	{"sg/kiov/entry-past-page", -EINVAL, 2, 1, 1, K, 0, 2, {{1, 0, 1}, {2, 4095, 2}}, {{0}}},
	{"sg/kiov/entry-past-page", -EINVAL, 4097, 4096, 0, K, 0, 1, {{1, 0, 4097}}, {{0}}},
	{"sg/kiov/entry-past-page", -EINVAL, 1, 0, 0, K, 0, 1, {{1, 4096, 1}}, {{0}}},
	{"sg/kiov/entry-past-page", -EINVAL, 1, 0, 0, K, 0, 1, {{1, 4097, 1}}, {{0}}},
	{"sg/kiov/entry-past-page", -EINVAL, UINT32_MAX, 4095, 0, K, 0, 1, {{1, 1, UINT32_MAX}}, {{0}}},
	/* A piece that is skipped is not checked; one of which any byte is used is checked completely. */
	{NULL, 0, 0, 0, N, K, 4097, 1, {{1, 0, 4097}, {2, 0, 1}}, {{0}}},
	{NULL, 0, 0, 0, N, K, 1, 1, {{TABLE_PAGES, 4096, 1}, {2, 0, 1}}, {{0}}},
	{"sg/kiov/entry-past-page", -EINVAL, 4097, 4096, 0, K, 4096, 1, {{1, 0, 4097}, {2, 0, 1}}, {{0}}},
	{NULL, 0, 0, 0, N, I, UINT64_MAX, 1, {{0}}, {{1, UINT64_MAX}, {LOW, 1}}},
	{"sg/iov/wraps", -EINVAL, UINT64_MAX, UINT64_MAX - 1, 0, I, UINT64_MAX - 1, 1, {{0}}, {{1, UINT64_MAX}}},
	{NULL, 0, 0, 0, N, K, 10, 190, {{1, 0, 100}, {2, 0, 100}}, {{0}}},
	{"sg/vector-too-short", -EINVAL, 191, 190, N, K, 10, 191, {{1, 0, 100}, {2, 0, 100}}, {{0}}},
	{"sg/vector-too-short", -EINVAL, 1, 0, N, K, 200, 1, {{1, 0, 100}, {2, 0, 100}}, {{0}}},
	{"sg/vector-too-short", -EINVAL, 1, 0, N, K, UINT64_MAX, 1, {{1, 0, 100}, {2, 0, 100}}, {{0}}},
	{"sg/vector-too-short", -EINVAL, 11, 10, N, I, 0, 11, {{0}}, {{LOW, 10}}},
	{"sg/iov/wraps", -EINVAL, 4096, 4095, 0, I, 0, 1, {{0}}, {{HIGH + 4096, 4096}}},
	{"sg/iov/wraps", -EINVAL, UINT64_MAX, UINT64_MAX - 1, 1, I, 0, 11, {{0}}, {{LOW, 10}, {1,
	 UINT64_MAX}}},
	{NULL, 0, 0, 0, N, I, 0, 1, {{0}}, {{LOW, 1}}},
	{"sg/iov/no-page", -EFAULT, LOW - 1, O2_NO_LIMIT, 0, I, 0, 1, {{0}}, {{LOW - 1, 1}}},
	{"sg/iov/no-page", -EFAULT, LOW + 16384, O2_NO_LIMIT, 0, I, 0, 16385, {{0}}, {{LOW, 16385}}},
	{"sg/iov/no-page", -EFAULT, BAD + 4096, O2_NO_LIMIT, 1, I, 0, 11, {{0}}, {{LOW, 10}, {BAD + 4096, 1}}},
};
/* clang-format on */

#undef K
#undef I
#undef N

TEST(test_refusals)
{
	for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
		const struct refusal *row = &refusals[i];
		struct o2_buffer buffer = {
			.kind = row->kind, .count = 2, .offset = row->offset, .nob = row->nob};
		struct o2_address_space space = table_space;
		struct o2_sg_list list;
		struct o2_error error = {0};
		int rc;

		space.page_bytes = row->page_bytes;
		if (row->kind == O2_IOV)
			buffer.iov = row->iov;
		else
			buffer.kiov = row->kiov;
		rc = o2_sg_build(&buffer, &space, row->max_entries, &list, &error);
		if (!assert_refused_row(i, rc, &error, row->rule, row->code, row->value, row->limit,
					row->index))
			continue;
		/* The result is the same if the caller wants no error record. */
		assert_int_equal(o2_sg_build(&buffer, &space, row->max_entries, &list, NULL), row->code);
	}
}

/* --- one range of virtual addresses --- */

struct range_case {
	const char *name;
	uint64_t offset;
	uint64_t nob;
	struct o2_iov piece[3];
	bool one;
	uint64_t addr;
};

/* clang-format off */
static const struct range_case range_cases[] = {
	{"one piece", 0, 10, {{LOW, 10}}, true, LOW},
	{"inside one piece", 3, 5, {{LOW, 10}}, true, LOW + 3},
	{"neighbours", 0, 20, {{LOW, 10}, {LOW + 10, 10}}, true, LOW},
	{"neighbours, from the second on", 10, 10, {{HIGH, 10}, {LOW, 10}}, true, LOW},
	{"an empty piece in between", 0, 20, {{LOW, 10}, {HIGH, 0}, {LOW + 10, 10}}, true, LOW},
	{"what lies behind the last byte is not looked at", 0, 10, {{LOW, 10}, {HIGH, 10}}, true, LOW},
	{"the last address but one", 0, 16, {{UINT64_MAX - 16, 16}}, true, UINT64_MAX - 16},
	{"past the last address", 0, 16, {{UINT64_MAX - 15, 17}}, false, 0},
	{"a byte in between", 0, 20, {{LOW, 10}, {LOW + 11, 10}}, false, 0},
	{"a byte twice", 0, 20, {{LOW, 10}, {LOW + 9, 10}}, false, 0},
	{"the third lies elsewhere", 0, 30, {{LOW, 10}, {LOW + 10, 10}, {LOW + 21, 10}}, false, 0},
	{"too short", 1, 30, {{LOW, 10}, {LOW + 10, 10}, {LOW + 20, 10}}, false, 0},
	{"no bytes", 0, 0, {{LOW, 10}}, false, 0},
};
/* clang-format on */

TEST(test_one_range_of_virtual_addresses)
{
	const struct o2_kiov page = {.page = 1, .offset = 0, .len = 10};
	struct o2_buffer pages = {.kind = O2_KIOV, .count = 1, .nob = 10, .kiov = &page};
	uint64_t addr = 0;

	for (size_t i = 0; i < sizeof(range_cases) / sizeof(range_cases[0]); i++) {
		const struct range_case *row = &range_cases[i];
		struct o2_buffer buffer = {.kind = O2_IOV,
					   .count = 3,
					   .offset = row->offset,
					   .nob = row->nob,
					   .iov = row->piece};

		if (o2_virtual_range(&buffer, &addr) != row->one)
			fail_msg("%s: %s", row->name, row->one ? "is one range" : "is not");
		if (row->one && addr != row->addr)
			fail_msg("%s: begins at %#" PRIx64 ", not %#" PRIx64, row->name, addr, row->addr);
	}
	assert_false(o2_virtual_range(&pages, &addr));
}
