/* SPDX-License-Identifier: MIT */
/* Tests rdma_plan with worked examples, and every refusal.  Random descriptors: test_rdma_random.c. */
#include <inttypes.h>

#include "rdma/rdma_plan.h"
#include "tests/lib/unit_test.h"

#define MIB O2_MAX_TRANSFER_BYTES

static struct o2_rdma_plan plan; /* too large for a stack */

/* --- worked examples (docs/mapping.md) --- */

struct example {
	const char *name;
	uint32_t source[4]; /* fragment lengths, up to the first 0 */
	uint32_t sink[4];
	uint32_t nob;
	uint32_t wrq_sge;
	uint32_t nwr;
	uint32_t wr_length[5];
	uint32_t num_sge[5];
};

/* clang-format off */
static const struct example examples[] = {
	{"one to one", {100}, {100}, 100, 2, 1, {100}, {1}},
	{"nothing", {100}, {100}, 0, 2, 0, {0}, {0}},
	{"short: one to one", {100}, {100}, 1, 2, 1, {1}, {1}},
	{"short by a byte", {100}, {100}, 99, 2, 1, {99}, {1}},
	{"short: ends in the second sink", {300}, {100, 100, 100}, 150, 2, 2, {100, 50}, {1, 1}},
	{"short: ends with a sink", {300}, {100, 100, 100}, 200, 2, 2, {100, 100}, {1, 1}},
	{"short: the last is cut by the source too", {60, 60, 60}, {100, 100}, 150, 3, 2, {100, 50}, {2, 2}},
	{"two gathered", {50, 50}, {100}, 100, 2, 1, {100}, {2}},
	{"two, one at a time", {50, 50}, {100}, 100, 1, 2, {50, 50}, {1, 1}},
	{"three, two at a time", {50, 30, 20}, {100}, 100, 2, 2, {80, 20}, {2, 1}},
	{"three, three at a time", {50, 30, 20}, {100}, 100, 3, 1, {100}, {3}},
	{"cut by the sink", {100}, {50, 30, 20}, 100, 2, 3, {50, 30, 20}, {1, 1, 1}},
	{"both cut", {60, 40}, {50, 50}, 100, 2, 2, {50, 50}, {1, 2}},
	{"sink larger than the source", {60}, {1000}, 60, 2, 1, {60}, {1}},
	{"source larger than the sink", {1000}, {60}, 60, 2, 1, {60}, {1}},
};
/* clang-format on */

/* Makes a descriptor of fragments that lie far apart. */
static void fill_desc(struct o2_rdma_desc *desc, const uint32_t *length, uint32_t key, uint64_t base)
{
	memset(desc, 0, sizeof(*desc));
	desc->rd_key = key;
	while (desc->rd_nfrags < 4 && length[desc->rd_nfrags] != 0) {
		desc->rd_frags[desc->rd_nfrags] = (struct o2_rdma_frag){
			length[desc->rd_nfrags], base - (uint64_t)desc->rd_nfrags * 0x10000};
		desc->rd_nfrags++;
	}
}

TEST(test_examples)
{
	for (size_t i = 0; i < sizeof(examples) / sizeof(examples[0]); i++) {
		const struct example *row = &examples[i];
		struct o2_rdma_limits limits = {O2_MAX_FRAGS, row->wrq_sge};
		struct o2_rdma_desc source;
		struct o2_rdma_desc sink;
		uint32_t nsge = 0;

		fill_desc(&source, row->source, 0x11, 0x7fff0000);
		fill_desc(&sink, row->sink, 0x22, 0xffffffffff000000);
		assert_int_equal(o2_rdma_plan(&source, &sink, row->nob, &limits, &plan, NULL), 0);
		if (plan.nwr != row->nwr || plan.nob != row->nob)
			fail_msg("%s: %" PRIu32 " work requests", row->name, plan.nwr);
		for (uint32_t k = 0; k < plan.nwr; k++) {
			if (plan.wr[k].length != row->wr_length[k] || plan.wr[k].num_sge != row->num_sge[k] ||
			    plan.wr[k].first_sge != nsge)
				fail_msg("%s: work request %" PRIu32 " has %" PRIu32 " bytes in %" PRIu32
					 " entries from %" PRIu32,
					 row->name, k, plan.wr[k].length, plan.wr[k].num_sge,
					 plan.wr[k].first_sge);
			nsge += plan.wr[k].num_sge;
		}
		assert_int_equal(plan.nsge, nsge);
		assert_int_equal(plan.lkey, 0x11);
		assert_int_equal(plan.rkey, 0x22);
	}
}

/* Describes 1 MiB in pages; the first fragment starts `shift` bytes into its page. */
static void page_desc(struct o2_rdma_desc *desc, uint32_t shift)
{
	uint32_t left = MIB;

	desc->rd_nfrags = 0;
	for (uint32_t take = 4096 - shift; left > 0; take = left < 4096 ? left : 4096) {
		desc->rd_frags[desc->rd_nfrags] = (struct o2_rdma_frag){
			take, UINT64_C(0x2000) * desc->rd_nfrags + (desc->rd_nfrags == 0 ? shift : 0)};
		desc->rd_nfrags++;
		left -= take;
	}
}

/* The figures for one MiB: pages that line up, and pages that are shifted by half a page. */
TEST(test_one_mebibyte)
{
	struct o2_rdma_limits limits = {257, 2};
	struct o2_rdma_desc pages;
	struct o2_rdma_desc shifted;
	struct o2_rdma_desc whole = {.rd_nfrags = 1, .rd_frags = {{MIB, 0}}};
	struct o2_error error;

	page_desc(&pages, 0);
	page_desc(&shifted, 2048);
	assert_int_equal(pages.rd_nfrags, 256);
	assert_int_equal(shifted.rd_nfrags, 257);
	assert_int_equal(o2_rdma_plan(&pages, &whole, MIB, &limits, &plan, &error), 0);
	assert_int_equal(plan.nwr, 128);
	assert_int_equal(plan.nsge, 256);
	assert_int_equal(o2_rdma_plan(&pages, &shifted, MIB, &limits, &plan, &error), 0);
	assert_int_equal(plan.nwr, 257);
	assert_int_equal(plan.nsge, 512);
	limits.max_wrs = 256;
	assert_error(o2_rdma_plan(&pages, &shifted, MIB, &limits, &plan, &error), -EMSGSIZE, &error,
		     "rdma/too-many-work-requests");
	assert_true(error.value == 257 && error.limit == 256);
	limits = (struct o2_rdma_limits){257, 1};
	assert_int_equal(o2_rdma_plan(&pages, &shifted, MIB, &limits, &plan, &error), -EMSGSIZE);
	assert_int_equal(o2_rdma_plan(&whole, &shifted, MIB, &limits, &plan, &error), 0);
	assert_int_equal(plan.nwr, 257);
	limits = (struct o2_rdma_limits){8, 32};
	assert_int_equal(o2_rdma_plan(&pages, &whole, MIB, &limits, &plan, &error), 0);
	assert_int_equal(plan.nwr, 8);
	assert_int_equal(plan.nsge, 256);
	limits.max_wrs = 7;
	assert_int_equal(o2_rdma_plan(&pages, &whole, MIB, &limits, &plan, &error), -EMSGSIZE);
}

/* Empty fragments make no work request, on either side, wherever they stand. */
TEST(test_empty_fragments)
{
	struct o2_rdma_limits limits = {2, 2};
	struct o2_rdma_desc source = {.rd_nfrags = 5,
				      .rd_frags = {{0, 9}, {50, 100}, {0, 9}, {50, 200}, {0, 9}}};
	struct o2_rdma_desc sink = {.rd_nfrags = 4, .rd_frags = {{0, 9}, {70, 500}, {0, 9}, {30, 700}}};
	struct o2_error error;

	assert_int_equal(o2_rdma_plan(&source, &sink, 100, &limits, &plan, NULL), 0);
	assert_int_equal(plan.nwr, 2);
	assert_int_equal(plan.nsge, 3);
	assert_true(plan.wr[0].remote_addr == 500 && plan.wr[0].length == 70 && plan.wr[0].num_sge == 2);
	assert_true(plan.wr[1].remote_addr == 700 && plan.wr[1].length == 30 && plan.wr[1].num_sge == 1);
	source.rd_nfrags = 3;
	assert_error(o2_rdma_plan(&source, &sink, 51, &limits, &plan, &error), -EPROTO, &error,
		     "rdma/source-too-small");
}

/* --- refusals --- */

struct refusal {
	const char *rule; /* NULL: accepted */
	int code;
	uint64_t value;
	uint64_t limit;
	struct o2_rdma_limits limits;
	uint64_t nob;
	uint32_t source_nfrags; /* of 100 bytes each */
	uint32_t sink_nfrags;	/* of 100 bytes each */
};

/* clang-format off */
static const struct refusal refusals[] = {
	{"rdma/max-wrs", -EINVAL, 0, 257, {0, 2}, 1, 1, 1},
	{NULL, 0, 0, 0, {1, 2}, 1, 1, 1},
	{NULL, 0, 0, 0, {257, 2}, 1, 1, 1},
	{"rdma/max-wrs", -EINVAL, 258, 257, {258, 2}, 1, 1, 1},
	{"rdma/wrq-sge", -EINVAL, 0, 32, {257, 0}, 1, 1, 1},
	{NULL, 0, 0, 0, {257, 32}, 1, 1, 1},
	{"rdma/wrq-sge", -EINVAL, 33, 32, {257, 33}, 1, 1, 1},
	{NULL, 0, 0, 0, {257, 2}, 25700, 257, 257},
	{"rdma/source-nfrags", -EINVAL, 258, 257, {257, 2}, 1, 258, 1},
	{"rdma/sink-nfrags", -EINVAL, 258, 257, {257, 2}, 1, 1, 258},
	{"rdma/nob", -EINVAL, MIB + 1, MIB, {257, 2}, MIB + 1, 1, 1},
	{"rdma/nob", -EINVAL, UINT64_MAX, MIB, {257, 2}, UINT64_MAX, 1, 1},
	{NULL, 0, 0, 0, {257, 2}, 0, 0, 0},
	{"rdma/source-too-small", -EPROTO, 1, 0, {257, 2}, 1, 0, 1},
	{"rdma/sink-too-small", -EPROTO, 1, 0, {257, 2}, 1, 1, 0},
	{NULL, 0, 0, 0, {257, 2}, 200, 2, 3},
	{"rdma/source-too-small", -EPROTO, 201, 200, {257, 2}, 201, 2, 3},
	{"rdma/sink-too-small", -EPROTO, 201, 200, {257, 2}, 201, 3, 2},
	/* Both are too small: the source is checked first. */
	{"rdma/source-too-small", -EPROTO, MIB, 200, {257, 2}, MIB, 2, 2},
	{NULL, 0, 0, 0, {2, 2}, 200, 2, 2},
	{"rdma/too-many-work-requests", -EMSGSIZE, 3, 2, {2, 2}, 201, 3, 3},
};
/* clang-format on */

TEST(test_refusals)
{
	for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
		const struct refusal *row = &refusals[i];
		struct o2_rdma_desc source = {.rd_nfrags = row->source_nfrags};
		struct o2_rdma_desc sink = {.rd_nfrags = row->sink_nfrags};
		struct o2_error error = {0};
		int rc;

		for (uint32_t k = 0; k < O2_MAX_FRAGS; k++)
			source.rd_frags[k] = sink.rd_frags[k] = (struct o2_rdma_frag){100, k * 4096};
		rc = o2_rdma_plan(&source, &sink, row->nob, &row->limits, &plan, &error);
		if (rc != row->code)
			fail_msg("row %zu: rc %d by %s", i, rc, rc == 0 ? "-" : error.rule);
		if (row->rule == NULL)
			continue;
		if (strcmp(error.rule, row->rule) != 0 || error.value != row->value ||
		    error.limit != row->limit)
			fail_msg("row %zu: %s, value %" PRIu64 ", limit %" PRIu64, i, error.rule, error.value,
				 error.limit);
		assert_int_equal(o2_rdma_plan(&source, &sink, row->nob, &row->limits, &plan, NULL), rc);
	}
}
