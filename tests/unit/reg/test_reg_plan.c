/* SPDX-License-Identifier: MIT */
/* Tests reg_plan with worked examples, page counts, and every refusal.  Random lists: test_reg_random.c. */
#include <inttypes.h>

#include "reg/plan.h"
#include "tests/lib/refused.h"

#define MIB O2_MAX_TRANSFER_BYTES

/* --- worked examples (docs/modes.md) --- */

struct example {
	const char *name;
	enum o2_reg_mode mode;
	bool gaps;
	struct o2_dma_segment segment[4];
	uint32_t nsegments;
	uint64_t iova;
	uint64_t length;
	uint32_t page_offset;
	uint32_t npages;
	uint64_t page[6];
	uint32_t nfrags;
	struct o2_rdma_frag frag[4];
};

#define DENSE  {{0x10000e00, 0x200}, {0x20000000, 0x1000}, {0x30000000, 0x600}}, 3
#define GAPPED {{0x10000e00, 0x100}, {0x20000400, 0xc00}, {0x30000000, 0x600}}, 3
/* One whole page and parts of both neighbours, in one segment, as a merging mapping may return. */
#define MERGED {{0x10000800, 0x1c00}}, 1

/* clang-format off */
static const struct example examples[] = {
	{"global, dense", O2_REG_GLOBAL, false, DENSE, 0, 0, 0, 0, {0},
	 3, {{0x200, 0x10000e00}, {0x1000, 0x20000000}, {0x600, 0x30000000}}},
	{"global, gapped", O2_REG_GLOBAL, true, GAPPED, 0, 0, 0, 0, {0},
	 3, {{0x100, 0x10000e00}, {0xc00, 0x20000400}, {0x600, 0x30000000}}},
	{"fmr, dense: one fragment", O2_REG_FMR, false, DENSE, 0xe00, 0x1800, 0xe00,
	 3, {0x10000000, 0x20000000, 0x30000000}, 1, {{0x1800, 0xe00}}},
	{"fmr, dense, but flagged: one each", O2_REG_FMR, true, DENSE, 0xe00, 0x1800, 0xe00,
	 3, {0x10000000, 0x20000000, 0x30000000}, 3, {{0x200, 0xe00}, {0x1000, 0x1000}, {0x600, 0x2000}}},
	{"fmr, gapped: one each", O2_REG_FMR, true, GAPPED, 0xe00, 0x1800, 0xe00,
	 3, {0x10000000, 0x20000000, 0x30000000}, 3, {{0x100, 0xe00}, {0xc00, 0x1400}, {0x600, 0x2000}}},
	{"fastreg, dense", O2_REG_FASTREG, false, DENSE, 0x10000e00, 0x1800, 0xe00,
	 3, {0x10000000, 0x20000000, 0x30000000}, 1, {{0x1800, 0x10000e00}}},
	{"fmr, merged: pages by span", O2_REG_FMR, false, MERGED, 0x800, 0x1c00, 0x800,
	 3, {0x10000000, 0x10001000, 0x10002000}, 1, {{0x1c00, 0x800}}},
	{"fastreg, merged: pages by span", O2_REG_FASTREG, false, MERGED, 0x10000800, 0x1c00, 0x800,
	 3, {0x10000000, 0x10001000, 0x10002000}, 1, {{0x1c00, 0x10000800}}},
	{"fmr, merged and gapped: slots, not indices", O2_REG_FMR, true,
	 {{0x10000800, 0x1c00}, {0x20000100, 0x80}}, 2, 0x800, 0x2980, 0x800,
	 4, {0x10000000, 0x10001000, 0x10002000, 0x20000000}, 2, {{0x1c00, 0x800}, {0x80, 0x3100}}},
	{"fmr, two pieces of one page that touch", O2_REG_FMR, false,
	 {{0x10000000, 0x800}, {0x10000800, 0x800}}, 2, 0, 0x1000, 0, 1, {0x10000000}, 1, {{0x1000, 0}}},
	{"fastreg, two pieces of one page that touch", O2_REG_FASTREG, false,
	 {{0x10000000, 0x800}, {0x10000800, 0x1000}}, 2, 0x10000000, 0x1800, 0, 2,
	 {0x10000000, 0x10001000}, 1, {{0x1800, 0x10000000}}},
	{"fmr, two pieces of one page with a hole", O2_REG_FMR, true,
	 {{0x10000100, 0x100}, {0x10000300, 0x100}}, 2, 0x100, 0x300, 0x100, 1, {0x10000000},
	 2, {{0x100, 0x100}, {0x100, 0x300}}},
	{"fmr, two pieces of one page, the later first", O2_REG_FMR, true,
	 {{0x10000300, 0x100}, {0x10000100, 0x100}}, 2, 0x100, 0x300, 0x100, 1, {0x10000000},
	 2, {{0x100, 0x300}, {0x100, 0x100}}},
	{"fmr, a whole page twice", O2_REG_FMR, false, {{0x10000000, 0x1000}, {0x10000000, 0x1000}}, 2,
	 0, 0x2000, 0, 2, {0x10000000, 0x10000000}, 1, {{0x2000, 0}}},
	{"fastreg, a whole page twice", O2_REG_FASTREG, false,
	 {{0x10000000, 0x1000}, {0x10000000, 0x800}}, 2, 0x10000000, 0x1800, 0, 2,
	 {0x10000000, 0x10000000}, 1, {{0x1800, 0x10000000}}},
	{"fastreg, a page and the one before it", O2_REG_FASTREG, false,
	 {{0x10001000, 0x1000}, {0x10000000, 0x1000}}, 2, 0x10001000, 0x2000, 0, 2,
	 {0x10001000, 0x10000000}, 1, {{0x2000, 0x10001000}}},
	{"fmr, one byte at the end of a page", O2_REG_FMR, false, {{0x10000fff, 1}}, 1,
	 0xfff, 1, 0xfff, 1, {0x10000000}, 1, {{1, 0xfff}}},
};
/* clang-format on */

static void compare(const struct example *row, enum o2_side side, const struct o2_reg_plan *plan)
{
	if (plan->iova != row->iova || plan->length != row->length || plan->page_offset != row->page_offset ||
	    plan->npages != row->npages || plan->nfrags != row->nfrags)
		fail_msg("%s: iova 0x%" PRIx64 ", length 0x%" PRIx64 ", page_offset 0x%" PRIx32 ", %" PRIu32
			 " pages, %" PRIu32 " fragments",
			 row->name, plan->iova, plan->length, plan->page_offset, plan->npages, plan->nfrags);
	for (uint32_t i = 0; i < row->npages; i++) {
		if (plan->page[i] != row->page[i])
			fail_msg("%s: page %" PRIu32 " is 0x%" PRIx64, row->name, i, plan->page[i]);
	}
	for (uint32_t i = 0; i < row->nfrags; i++) {
		if (plan->frag[i].rf_addr != row->frag[i].rf_addr ||
		    plan->frag[i].rf_nob != row->frag[i].rf_nob)
			fail_msg("%s: fragment %" PRIu32 " is 0x%" PRIx64 ", 0x%" PRIx32, row->name, i,
				 plan->frag[i].rf_addr, plan->frag[i].rf_nob);
	}
	assert_int_equal(plan->mode, row->mode);
	assert_int_equal(plan->side, side);
	assert_int_equal(plan->page_bytes, 4096);
	/* A peer writes only to a sink. */
	assert_int_equal(plan->access,
			 side == O2_SINK ? (O2_ACCESS_LOCAL_WRITE | O2_ACCESS_REMOTE_WRITE) : 0);
}

TEST(test_examples)
{
	for (size_t i = 0; i < sizeof(examples) / sizeof(examples[0]); i++) {
		const struct example *row = &examples[i];
		struct o2_dma_list list = {.count = row->nsegments};

		memcpy(list.segment, row->segment, sizeof(row->segment));
		for (uint32_t side = O2_SOURCE; side <= O2_SINK; side++) {
			struct o2_reg_request request = {row->mode,    (enum o2_side)side, 4096, O2_MAX_FRAGS,
							 O2_MAX_FRAGS, row->gaps,	   0,	 false};
			struct o2_reg_plan plan;
			struct o2_error error = {0};

			if (o2_reg_plan(&request, &list, &plan, &error) != 0)
				fail_msg("%s: refused by %s", row->name, error.rule);
			compare(row, (enum o2_side)side, &plan);
		}
	}
}

/* Mode phys: the iova of the first page and that of the first byte request the same region. */
TEST(test_phys_iova)
{
	static const struct example row = {"phys",
					   O2_REG_PHYS,
					   false,
					   DENSE,
					   0x7f0000000e00,
					   0x1800,
					   0xe00,
					   3,
					   {0x10000000, 0x20000000, 0x30000000},
					   1,
					   {{0x1800, 0x7f0000000e00}}};
	static const uint64_t asked[] = {0x7f0000000000, 0x7f0000000e00};

	for (size_t i = 0; i < sizeof(asked) / sizeof(asked[0]); i++) {
		struct o2_reg_request request = {O2_REG_PHYS,  O2_SINK, 4096,	  O2_MAX_FRAGS,
						 O2_MAX_FRAGS, false,	asked[i], false};
		struct o2_dma_list list = {.count = row.nsegments};
		struct o2_reg_plan plan;

		memcpy(list.segment, row.segment, sizeof(row.segment));
		assert_int_equal(o2_reg_plan(&request, &list, &plan, NULL), 0);
		compare(&row, O2_SINK, &plan);
	}
}

/* The region may end at the last address but one, because its end must be an address as well. */
TEST(test_phys_iova_at_the_end)
{
	struct o2_reg_request request = {O2_REG_PHYS,  O2_SINK, 4096, O2_MAX_FRAGS,
					 O2_MAX_FRAGS, false,	0,    false};
	struct o2_dma_list list = {.count = 1, .segment = {{0x10000001, 4094}}};
	struct o2_reg_plan plan;
	struct o2_error error;

	request.iova = UINT64_MAX - 4095;
	assert_int_equal(o2_reg_plan(&request, &list, &plan, NULL), 0);
	assert_true(plan.iova == UINT64_MAX - 4094 && plan.length == 4094);
	list.segment[0].length++;
	assert_error(o2_reg_plan(&request, &list, &plan, &error), -EINVAL, &error, "reg/phys/iova-wraps");
}

/* --- page counts --- */

/* Makes `count` pages, all whole but the first and last; every other page of the address space is used. */
static void make_pages(struct o2_dma_list *list, uint32_t count, uint32_t offset, uint32_t last)
{
	list->count = count;
	for (uint32_t i = 0; i < count; i++)
		list->segment[i] = (struct o2_dma_segment){0x40000000 + (uint64_t)i * 0x2000, 0x1000};
	list->segment[0].addr += offset;
	list->segment[0].length -= offset;
	list->segment[count - 1].length = last;
}

TEST(test_page_limit)
{
	static const enum o2_reg_mode modes[] = {O2_REG_FMR, O2_REG_FASTREG};
	struct o2_dma_list list;
	struct o2_reg_plan plan;
	struct o2_error error;

	for (uint32_t m = 0; m < 2; m++) {
		for (uint32_t max = O2_MAX_FRAGS_LEGACY; max <= O2_MAX_FRAGS; max++) {
			struct o2_reg_request request = {modes[m],     O2_SINK, 4096, max,
							 O2_MAX_FRAGS, false,	0,    false};

			make_pages(&list, 256, 0, 4096);
			assert_int_equal(o2_reg_plan(&request, &list, &plan, &error), 0);
			assert_int_equal(plan.npages, 256);
			assert_int_equal(plan.length, MIB);
			make_pages(&list, 257, 512, 512); /* 1 MiB, not on a boundary */
			if (max == 257) {
				assert_int_equal(o2_reg_plan(&request, &list, &plan, &error), 0);
				assert_int_equal(plan.npages, 257);
				assert_int_equal(plan.length, MIB);
				assert_int_equal(plan.frag[0].rf_nob, MIB);
				continue;
			}
			assert_error(o2_reg_plan(&request, &list, &plan, &error), -EINVAL, &error,
				     "reg/too-many-pages");
			assert_int_equal(error.index, 256);
			assert_true(error.value == 257 && error.limit == 256);
		}
	}
	/* The pages that one segment spans count: 1 MiB from inside a page is 257 pages. */
	for (uint32_t offset = 0; offset < 4096; offset += 512) {
		struct o2_reg_request request = {O2_REG_FMR, O2_SOURCE, 4096, 256, 0, false, 0, false};

		list.count = 1;
		list.segment[0] = (struct o2_dma_segment){0x40000000 + offset, MIB};
		assert_int_equal(o2_reg_plan(&request, &list, &plan, NULL), offset == 0 ? 0 : -EINVAL);
		request.max_pages = 257;
		assert_int_equal(o2_reg_plan(&request, &list, &plan, NULL), 0);
		assert_int_equal(plan.npages, offset == 0 ? 256 : 257);
	}
}

/* A sink may have as many fragments as the peer takes, and no more; a source has no such limit. */
TEST(test_peer_limit)
{
	struct o2_dma_list list = {.count = 3,
				   .segment = {{0x10000e00, 0x100}, {0x20000400, 0xc00}, {0x30000000, 1}}};
	struct o2_reg_plan plan;
	struct o2_error error;

	for (uint32_t mode = O2_REG_GLOBAL; mode <= O2_REG_FMR; mode++) {
		struct o2_reg_request request = {
			(enum o2_reg_mode)mode, O2_SINK, 4096, O2_MAX_FRAGS, 3, true, 0, false};

		assert_int_equal(o2_reg_plan(&request, &list, &plan, &error), 0);
		assert_int_equal(plan.nfrags, 3);
		request.peer_max_frags = 2;
		assert_error(o2_reg_plan(&request, &list, &plan, &error), -EFBIG, &error,
			     "reg/more-fragments-than-peer-accepts");
		assert_true(error.value == 3 && error.limit == 2);
		request.side = O2_SOURCE;
		assert_int_equal(o2_reg_plan(&request, &list, &plan, &error), 0);
	}
	/* A single published fragment passes, whatever the number of segments. */
	make_pages(&list, 256, 0, 4096);
	for (uint32_t mode = O2_REG_FMR; mode <= O2_REG_FASTREG; mode++) {
		struct o2_reg_request request = {
			(enum o2_reg_mode)mode, O2_SINK, 4096, O2_MAX_FRAGS, 1, false, 0, false};

		assert_int_equal(o2_reg_plan(&request, &list, &plan, &error), 0);
		assert_int_equal(plan.nfrags, 1);
	}
}

/* --- refusals --- */

struct refusal {
	const char *rule; /* NULL: accepted */
	int code;
	uint64_t value, limit;
	uint32_t index;
	struct o2_reg_request request;
	uint32_t count;
	struct o2_dma_segment segment[3];
};

#define N  O2_NO_INDEX
#define OK NULL, 0, 0, 0, N
#define G                                                               \
	{                                                               \
		O2_REG_GLOBAL, O2_SINK, 4096, 257, 257, false, 0, false \
	}
#define FM                                                           \
	{                                                            \
		O2_REG_FMR, O2_SINK, 4096, 257, 257, false, 0, false \
	}
#define FA                                                               \
	{                                                                \
		O2_REG_FASTREG, O2_SINK, 4096, 257, 257, false, 0, false \
	}

/* clang-format off */
static const struct refusal refusals[] = {
	{"reg/mode", -EINVAL, O2_REG_MODES, O2_REG_MODES - 1, N, {O2_REG_MODES, O2_SINK, 4096, 257, 257, false, 0, false}, 1, {{0, 1}}},
	{"reg/side", -EINVAL, 2, 1, N, {O2_REG_FMR, (enum o2_side)2, 4096, 257, 257, false, 0, false}, 1, {{0, 1}}},
	{"reg/page-size", -EINVAL, 0, 65536, N, {O2_REG_FMR, O2_SINK, 0, 257, 257, false, 0, false}, 1, {{0, 1}}},
	{"reg/page-size", -EINVAL, 8192, 65536, N, {O2_REG_FMR, O2_SINK, 8192, 257, 257, false, 0, false}, 1, {{0, 1}}},
	{"reg/max-pages", -EINVAL, 255, 257, N, {O2_REG_FMR, O2_SINK, 4096, 255, 257, false, 0, false}, 1, {{0, 1}}},
	{"reg/max-pages", -EINVAL, 258, 257, N, {O2_REG_FMR, O2_SINK, 4096, 258, 257, false, 0, false}, 1, {{0, 1}}},
	{"reg/peer-max-frags", -EINVAL, 0, 257, N, {O2_REG_FMR, O2_SINK, 4096, 257, 0, false, 0, false}, 1, {{0, 1}}},
	{"reg/peer-max-frags", -EINVAL, 258, 257, N, {O2_REG_FMR, O2_SINK, 4096, 257, 258, false, 0, false}, 1, {{0, 1}}},
	{OK, {O2_REG_FMR, O2_SINK, 4096, 257, 1, false, 0, false}, 1, {{0, 1}}},
	{OK, {O2_REG_FMR, O2_SOURCE, 4096, 257, 0, false, 0, false}, 1, {{0, 1}}},
	{"reg/count", -EINVAL, 0, 257, N, G, 0, {{0, 1}}},
	{"reg/count", -EINVAL, 258, 257, N, G, 258, {{0, 1}}},
	{"reg/empty-segment", -EINVAL, 0, 1, 1, G, 2, {{0, 1}, {4096, 0}}},
	{OK, G, 1, {{UINT64_MAX - 1, 1}}},
	{"reg/segment-wraps", -EINVAL, 2, 1, 0, G, 1, {{UINT64_MAX - 1, 2}}},
	{OK, G, 2, {{0, MIB - 1}, {0x40000000, 1}}},
	{"reg/too-long", -EMSGSIZE, MIB + 1, MIB, 0, G, 1, {{0, MIB + 1}}},
	{"reg/too-long", -EMSGSIZE, MIB + 1, MIB, 1, G, 2, {{0, MIB}, {0x40000000, 1}}},
	{"reg/too-long", -EMSGSIZE, UINT64_C(0x100000000), MIB, 1, G, 2, {{0, 1}, {0, UINT32_MAX}}},
	{"reg/fmr/undeclared-gap", -EINVAL, 0x2000, 0xfff, 1, FM, 2, {{0, 0xfff}, {0x2000, 1}}},
	{"reg/fmr/undeclared-gap", -EINVAL, 0x2001, 0x1000, 2, FM, 3, {{1, 1}, {2, 0xffe}, {0x2001, 1}}},
	{OK, FM, 3, {{1, 1}, {2, 0xffe}, {0x2000, 1}}},
	{"reg/fastreg/short-map", -EINVAL, 0x2000, 0xfff, 1, FA, 2, {{0, 0xfff}, {0x2000, 1}}},
	{"reg/fastreg/short-map", -EINVAL, 0x2001, 0x1000, 2, FA, 3, {{1, 1}, {2, 0xffe}, {0x2001, 1}}},
	{OK, FA, 3, {{1, 1}, {2, 0xffe}, {0x2000, 1}}},
	{"reg/fastreg/gaps", -EPROTONOSUPPORT, 1, 0, N, {O2_REG_FASTREG, O2_SINK, 4096, 257, 257, true, 0, false}, 1,
	 {{0, 1}}},
	{"reg/fastreg/gaps", -EPROTONOSUPPORT, 1, 0, N, {O2_REG_FASTREG, O2_SOURCE, 4096, 257, 257, true, 0, false}, 1,
	 {{0, 1}}},
	/* The region continues from the first address: it must not wrap, wherever the other pages lie. */
	{OK, FA, 2, {{UINT64_MAX - 0x1fff, 0x1000}, {0, 0xfff}}},
	{"reg/fastreg/iova-wraps", -EINVAL, 0x2000, 0x1fff, 0, FA, 2, {{UINT64_MAX - 0x1fff, 0x1000}, {0, 0x1000}}},
	{"reg/user/not-contiguous", -EPROTONOSUPPORT, 0, 1, N, {O2_REG_USER, O2_SINK, 4096, 257, 257, false, 0, false}, 1, {{0, 1}}},
	{OK, {O2_REG_USER, O2_SINK, 4096, 257, 257, true, UINT64_MAX - 2, true}, 2, {{0, 1}, {9, 1}}},
	{"reg/user/address-wraps", -EINVAL, 3, 2, N, {O2_REG_USER, O2_SINK, 4096, 257, 257, true, UINT64_MAX - 2, true}, 2, {{0, 1}, {9, 2}}},
	{"reg/phys/gaps", -EINVAL, 1, 0, N, {O2_REG_PHYS, O2_SOURCE, 4096, 257, 257, true, 0, false}, 1, {{0, 1}}},
	{"reg/phys/undeclared-gap", -EINVAL, 0x2000, 0xfff, 1, {O2_REG_PHYS, O2_SINK, 4096, 257, 257, false, 0, false}, 2, {{0, 0xfff}, {0x2000, 1}}},
	{"reg/phys/iova-alignment", -EINVAL, 0x800, 4096, N, {O2_REG_PHYS, O2_SINK, 4096, 257, 257, false, 0x800, false}, 1, {{0, 1}}},
	/* Illegal: one more than the first byte's offset in its page; another offset in that page. */
	{"reg/phys/iova-alignment", -EINVAL, 0x1002, 4096, N, {O2_REG_PHYS, O2_SINK, 4096, 257, 257, false, 0x1002, false}, 1, {{0x5001, 2}}},
	{"reg/phys/iova-alignment", -EINVAL, 0x5001, 16384, N, {O2_REG_PHYS, O2_SINK, 16384, 257, 257, false, 0x5001, false}, 1, {{0x6001, 2}}},
	{OK, {O2_REG_PHYS, O2_SINK, 4096, 257, 257, false, UINT64_MAX - 0xfff, false}, 1, {{0x5001, 0xffe}}},
	{OK, {O2_REG_PHYS, O2_SINK, 4096, 257, 257, false, UINT64_MAX - 0xffe, false}, 1, {{0x5001, 0xffe}}},
	{"reg/phys/iova-wraps", -EINVAL, 0x1000, 0xfff, N, {O2_REG_PHYS, O2_SINK, 4096, 257, 257, false, UINT64_MAX - 0xffe, false}, 1, {{0x5001, 0xfff}}},
	{"reg/phys/iova-wraps", -EINVAL, 0x1000, 0xfff, N, {O2_REG_PHYS, O2_SINK, 4096, 257, 257, false, UINT64_MAX - 0xfff, false}, 1, {{0x5001, 0xfff}}},
	{"reg/fastreg_gaps/iova-wraps", -EINVAL, 2, 1, 0, {O2_REG_FASTREG_GAPS, O2_SINK, 4096, 257, 257, true, 0, false}, 2, {{UINT64_MAX - 1, 1}, {0, 1}}},
	{OK, {O2_REG_FASTREG_GAPS, O2_SINK, 4096, 257, 1, true, 0, false}, 2, {{0x1001, 7}, {0x9003, 9}}},
};
/* clang-format on */

/* Flags have an expected value, addresses must be multiples, and seams have no limit of their own. */
static enum o2_limit_kind kind_of_limit(const char *rule)
{
	static const struct {
		const char *rule;
		enum o2_limit_kind kind;
	} rows[] = {
		{"reg/user/not-contiguous", O2_LIMIT_EXACT}, {"reg/fastreg/gaps", O2_LIMIT_EXACT},
		{"reg/phys/gaps", O2_LIMIT_EXACT},	     {"reg/phys/iova-alignment", O2_LIMIT_MULTIPLE},
		{"reg/fmr/undeclared-gap", O2_LIMIT_OTHER},  {"reg/phys/undeclared-gap", O2_LIMIT_OTHER},
		{"reg/fastreg/short-map", O2_LIMIT_OTHER},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (strcmp(rule, rows[i].rule) == 0)
			return rows[i].kind;
	return O2_LIMIT_BOUND;
}

TEST(test_refusals)
{
	for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
		const struct refusal *row = &refusals[i];
		struct o2_dma_list list = {.count = row->count};
		struct o2_reg_plan plan;
		struct o2_error error = {0};
		int rc;

		memcpy(list.segment, row->segment, sizeof(row->segment));
		rc = o2_reg_plan(&row->request, &list, &plan, &error);
		if (!assert_refused_row(i, rc, &error, row->rule, row->code, row->value, row->limit,
					row->index))
			continue;
		assert_int_equal(error.limit_kind, kind_of_limit(row->rule));
		assert_int_equal(o2_reg_plan(&row->request, &list, &plan, NULL), rc);
	}
}

TEST(test_mode_names)
{
	static const char *const names[O2_REG_MODES] = {"global", "fmr",  "fastreg",
							"user",	  "phys", "fastreg_gaps"};

	for (uint32_t i = 0; i < O2_REG_MODES; i++)
		assert_string_equal(o2_reg_mode_name(i), names[i]);
	assert_null(o2_reg_mode_name(O2_REG_MODES));
}
