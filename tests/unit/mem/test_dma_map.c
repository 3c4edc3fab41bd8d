/* SPDX-License-Identifier: MIT */
/* dma_map: the kinds of addresses, pages without a CPU mapping, and every refusal.  Random lists are tested by the
 * property "dma" (props/stage/dma.h). */

#include <inttypes.h>

#include "mem/dma_map.h"
#include "tests/lib/refused.h"

#define NO_IOMMU           \
	{                  \
		NULL, 0, 0 \
	}

TEST(test_table)
{
	/* clang-format off */
	static const struct {
		struct o2_dma_device device;
		struct o2_sg_entry entry;
		uint64_t addr;
	} rows[] = {
		{{O2_DMA_BUS, 4096, 8, 0, NULL, NO_IOMMU}, {0, 0, 4096}, 0},
		{{O2_DMA_BUS, 4096, 8, 0, NULL, NO_IOMMU}, {7, 4095, 1}, 0x7fff},
		{{O2_DMA_BUS, 4096, 8, 0x10000000, NULL, NO_IOMMU}, {3, 0xe00, 0x200}, 0x10003e00},
		{{O2_DMA_BUS, 16384, 8, 0x10000000, NULL, NO_IOMMU}, {3, 0xe00, 0x200}, 0x1000ce00},
		{{O2_DMA_BUS, 65536, 8, 0x10000000, NULL, NO_IOMMU}, {3, 0xe00, 0x200}, 0x10030e00},
		{{O2_DMA_VIRTUAL, 4096, 8, 0x7f1234567000, NULL, NO_IOMMU}, {1, 1, 1}, 0x7f1234568001},
		/* Addresses that need 64-bit sums. */
		{{O2_DMA_BUS, 65536, UINT32_MAX, 0x10000, NULL, NO_IOMMU}, {UINT32_MAX - 1, 65535, 1}, 0xffffffffffff},
		/* The last byte of the device's memory may have the last but one of all 64-bit addresses. */
		{{O2_DMA_BUS, 4096, 1, 0xffffffffffffe000, NULL, NO_IOMMU}, {0, 0, 4096}, 0xffffffffffffe000},
	};
	/* clang-format on */

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct o2_sg_list sg = {.count = 1, .nob = rows[i].entry.length, .entry = {rows[i].entry}};
		struct o2_dma_list list;
		struct o2_error error = {0};

		if (o2_dma_map(&sg, &rows[i].device, &list, &error) != 0)
			fail_msg("row %zu: refused by %s", i, error.rule);
		assert_int_equal(list.count, 1);
		assert_int_equal(list.nob, rows[i].entry.length);
		assert_int_equal(list.segment[0].length, rows[i].entry.length);
		if (list.segment[0].addr != rows[i].addr)
			fail_msg("row %zu: 0x%" PRIx64, i, list.segment[0].addr);
	}
}

/* Only the virtual kind needs pages that the CPU can reach. */
TEST(test_unmapped_pages)
{
	static const uint8_t unmapped[] = {0x80, 0x01}; /* pages 7 and 8 */

	for (uint32_t kind = O2_DMA_BUS; kind <= O2_DMA_VIRTUAL; kind++) {
		struct o2_dma_device device = {(enum o2_dma_kind)kind, 4096, 16, 0x10000, unmapped, NO_IOMMU};

		for (uint32_t page = 0; page < 16; page++) {
			struct o2_sg_list sg = {.count = 2, .nob = 2, .entry = {{0, 0, 1}, {page, 0, 1}}};
			bool refused = kind == O2_DMA_VIRTUAL && (page == 7 || page == 8);
			struct o2_dma_list list;
			struct o2_error error = {0};

			assert_int_equal(o2_dma_map(&sg, &device, &list, &error), refused ? -EFAULT : 0);
			if (!refused)
				continue;
			assert_string_equal(error.rule, "dma/virtual/no-cpu-mapping");
			assert_int_equal(error.index, 1);
			assert_int_equal(error.value, page);
		}
	}
}

struct refusal {
	const char *rule; /* NULL: accepted */
	uint64_t value;
	uint64_t limit;
	uint32_t index;
	struct o2_dma_device device;
	uint32_t count;
	struct o2_sg_entry entry; /* the last one of the list */
};

#define N O2_NO_INDEX

/* clang-format off */
static const struct refusal refusals[] = {
	{"dma/kind", O2_DMA_KINDS, O2_DMA_KINDS - 1, N, {O2_DMA_KINDS, 4096, 8, 0, NULL, NO_IOMMU}, 1, {0, 0, 1}},
	{"dma/page-size", 0, 65536, N, {O2_DMA_BUS, 0, 8, 0, NULL, NO_IOMMU}, 1, {0, 0, 1}},
	{"dma/page-size", 8192, 65536, N, {O2_DMA_BUS, 8192, 8, 0, NULL, NO_IOMMU}, 1, {0, 0, 1}},
	{"dma/page-size", 131072, 65536, N, {O2_DMA_BUS, 131072, 8, 0, NULL, NO_IOMMU}, 1, {0, 0, 1}},
	{"dma/base-alignment", 4095, 4096, N, {O2_DMA_BUS, 4096, 8, 4095, NULL, NO_IOMMU}, 1, {0, 0, 1}},
	{"dma/base-alignment", 4096, 16384, N, {O2_DMA_BUS, 16384, 8, 4096, NULL, NO_IOMMU}, 1, {0, 0, 1}},
	{"dma/base-wraps", 2, 1, N, {O2_DMA_BUS, 4096, 2, 0xffffffffffffe000, NULL, NO_IOMMU}, 1, {0, 0, 1}},
	{"dma/count", 0, 257, N, {O2_DMA_BUS, 4096, 8, 0, NULL, NO_IOMMU}, 0, {0, 0, 1}},
	{NULL, 0, 0, N, {O2_DMA_BUS, 4096, 8, 0, NULL, NO_IOMMU}, 257, {0, 0, 1}},
	{"dma/count", 258, 257, N, {O2_DMA_BUS, 4096, 8, 0, NULL, NO_IOMMU}, 258, {0, 0, 1}},
	{NULL, 0, 0, N, {O2_DMA_BUS, 4096, 8, 0, NULL, NO_IOMMU}, 3, {7, 0, 1}},
	{"dma/no-such-page", 8, 8, 2, {O2_DMA_BUS, 4096, 8, 0, NULL, NO_IOMMU}, 3, {8, 0, 1}},
	{"dma/no-such-page", 0, 0, 0, {O2_DMA_BUS, 4096, 0, 0, NULL, NO_IOMMU}, 1, {0, 0, 1}},
	{"dma/entry-past-page", 0, 4096, 0, {O2_DMA_BUS, 4096, 8, 0, NULL, NO_IOMMU}, 1, {0, 0, 0}},
	{NULL, 0, 0, N, {O2_DMA_BUS, 4096, 8, 0, NULL, NO_IOMMU}, 1, {0, 1, 4095}},
	{"dma/entry-past-page", 4096, 4095, 0, {O2_DMA_BUS, 4096, 8, 0, NULL, NO_IOMMU}, 1, {0, 1, 4096}},
	{"dma/entry-past-page", 1, 0, 0, {O2_DMA_BUS, 4096, 8, 0, NULL, NO_IOMMU}, 1, {0, 4096, 1}},
	{"dma/entry-past-page", UINT32_MAX, 4095, 0, {O2_DMA_BUS, 4096, 8, 0, NULL, NO_IOMMU}, 1, {0, 1, UINT32_MAX}},
};
/* clang-format on */

#undef N

TEST(test_refusals)
{
	for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
		const struct refusal *row = &refusals[i];
		static struct o2_sg_list sg;
		struct o2_dma_list list;
		struct o2_error error = {0};
		int rc;

		sg.count = row->count;
		for (uint32_t k = 0; k < O2_MAX_FRAGS; k++)
			sg.entry[k] = (struct o2_sg_entry){0, 0, 1};
		if (row->count >= 1 && row->count <= O2_MAX_FRAGS)
			sg.entry[row->count - 1] = row->entry;
		rc = o2_dma_map(&sg, &row->device, &list, &error);
		if (!assert_refused_row(i, rc, &error, row->rule, -EINVAL, row->value, row->limit,
					row->index))
			continue;
		assert_int_equal(error.limit_kind, strcmp(row->rule, "dma/base-alignment") == 0
							   ? O2_LIMIT_MULTIPLE
							   : O2_LIMIT_BOUND);
		assert_int_equal(o2_dma_map(&sg, &row->device, &list, NULL), rc);
	}
}

/* A device behind an IOMMU: its addresses, merged entries, and failures (docs/mapping.md, "Remapping"). */
static const uint32_t device_page[8] = {4, 5, 6, 0, 1, 7, 2, 3};

static const struct o2_sg_list remapped = {
	.count = 5,
	.nob = 0x3500,
	.entry = {{0, 0xe00, 0x200}, {1, 0, 0x1000}, {2, 0, 0x1000}, {3, 0, 0x1000}, {4, 0, 0x300}},
};

TEST(test_iommu_merge)
{
	static const struct {
		uint64_t merge;
		uint32_t count;
		struct o2_dma_segment segment[5];
	} rows[] = {
		/* clang-format off */
		{0, 5, {{0x14e00, 0x200}, {0x15000, 0x1000}, {0x16000, 0x1000}, {0x10000, 0x1000}, {0x11000, 0x300}}},
		{UINT64_MAX, 2, {{0x14e00, 0x2200}, {0x10000, 0x1300}}},
		{1u << 2, 4, {{0x14e00, 0x200}, {0x15000, 0x2000}, {0x10000, 0x1000}, {0x11000, 0x300}}},
		/* Entries that are not adjacent are not merged, even if asked for; the first has no predecessor. */
		{1u << 3 | 1u, 5, {{0x14e00, 0x200}, {0x15000, 0x1000}, {0x16000, 0x1000}, {0x10000, 0x1000}, {0x11000, 0x300}}},
		/* clang-format on */
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct o2_dma_device device = {
			O2_DMA_IOMMU, 4096, 8, 0x10000, NULL, {device_page, rows[i].merge, O2_DMA_NO_FAULT}};
		struct o2_dma_list list;

		assert_int_equal(o2_dma_map(&remapped, &device, &list, NULL), 0);
		assert_int_equal(list.count, rows[i].count);
		assert_int_equal(list.nob, 0x3500);
		for (uint32_t k = 0; k < list.count; k++) {
			assert_true(list.segment[k].addr == rows[i].segment[k].addr);
			assert_int_equal(list.segment[k].length, rows[i].segment[k].length);
		}
	}
}

TEST(test_iommu_fails)
{
	static const uint32_t outside[8] = {0, 1, 8};
	static const struct {
		struct o2_dma_iommu iommu;
		int code;
		const char *rule;
	} rows[] = {
		{{device_page, 0, O2_DMA_FAULT_EIO}, -EIO, "dma/iommu/failed"},
		{{device_page, 0, O2_DMA_FAULT_ENOMEM}, -ENOMEM, "dma/iommu/failed"},
		{{device_page, 0, O2_DMA_FAULT_NOTHING}, -EIO, "dma/iommu/mapped-nothing"},
		{{NULL, 0, O2_DMA_NO_FAULT}, -EINVAL, "dma/iommu/no-table"},
		{{outside, 0, O2_DMA_NO_FAULT}, -EINVAL, "dma/iommu/no-such-device-page"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct o2_dma_device device = {O2_DMA_IOMMU, 4096, 8, 0x10000, NULL, rows[i].iommu};
		struct o2_dma_list list;
		struct o2_error error = {0};

		assert_int_equal(o2_dma_map(&remapped, &device, &list, &error), rows[i].code);
		assert_string_equal(error.rule, rows[i].rule);
	}
}

TEST(test_ledger)
{
	struct o2_dma_ledger ledger = {0}, other = {0};
	struct o2_dma_mapping one = {0}, two = {0};
	struct o2_error error;

	assert_true(o2_ledger_balanced(&ledger));
	assert_int_equal(o2_ledger_map(&ledger, 0, O2_DMA_TO_DEVICE, &one, &error), -EINVAL);
	assert_int_equal(o2_ledger_map(&ledger, 5, O2_DMA_TO_DEVICE, &one, &error), 0);
	assert_int_equal(o2_ledger_map(&ledger, 5, O2_DMA_TO_DEVICE, &one, &error), -EBUSY);
	assert_int_equal(o2_ledger_map(&ledger, 7, O2_DMA_FROM_DEVICE, &two, &error), 0);
	assert_int_equal(ledger.live, 2);
	assert_int_equal(ledger.live_entries, 12);
	assert_int_equal(o2_ledger_unmap(&ledger, 5, O2_DMA_TO_DEVICE, &one, &error), 0);
	assert_false(o2_ledger_balanced(&ledger));
	assert_int_equal(o2_ledger_unmap(&other, 7, O2_DMA_FROM_DEVICE, &two, &error), -EINVAL);
	assert_false(o2_ledger_balanced(&other));
	assert_int_equal(o2_ledger_unmap(&ledger, 7, O2_DMA_FROM_DEVICE, &two, &error), 0);
	assert_true(o2_ledger_balanced(&ledger));
	assert_error(o2_ledger_unmap(&ledger, 7, O2_DMA_FROM_DEVICE, &two, &error), -EINVAL, &error,
		     "ledger/not-mapped");
	assert_false(o2_ledger_balanced(&ledger));
}

/* Unmapping in the wrong direction ends the mapping nevertheless, and the ledger counts the error. */
TEST(test_ledger_direction)
{
	struct o2_dma_ledger ledger = {0};
	struct o2_dma_mapping mapping = {0};
	struct o2_error error;

	assert_int_equal(o2_ledger_map(&ledger, 3, O2_DMA_TO_DEVICE, &mapping, &error), 0);
	assert_error(o2_ledger_unmap(&ledger, 3, O2_DMA_FROM_DEVICE, &mapping, &error), -EINVAL, &error,
		     "ledger/direction");
	assert_null(mapping.ledger);
	assert_int_equal(ledger.live, 0);
	assert_int_equal(ledger.wrong_unmaps, 1);
	assert_false(o2_ledger_balanced(&ledger));
}

/* An unmap with the number of segments leaves the entries that were merged. */
TEST(test_ledger_entries)
{
	struct o2_dma_ledger ledger = {0};
	struct o2_dma_mapping mapping = {0};

	assert_int_equal(o2_ledger_map(&ledger, 3, O2_DMA_TO_DEVICE, &mapping, NULL), 0);
	assert_int_equal(o2_ledger_unmap(&ledger, 2, O2_DMA_TO_DEVICE, &mapping, NULL), 0);
	assert_int_equal(ledger.live, 0);
	assert_int_equal(ledger.live_entries, 1);
	assert_false(o2_ledger_balanced(&ledger));
}
