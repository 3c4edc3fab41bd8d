/* SPDX-License-Identifier: MIT */

/* The match table, docs/peer.md "Matching". */

#include "lnet/match.h"
#include "tests/lib/unit_test.h"
#include "wire/nid.h"

#define NID UINT64_C(0x000500000a4d0001)

static struct o2_lnet_entry entry(uint32_t options)
{
	return (struct o2_lnet_entry){
		.portal = 60,
		.match_bits = 0x1234,
		O2_LNET_FOR_ANYBODY,
		.options = options,
		.memory = {.buffer = {.nob = 1000, .offset = 50}},
	};
}

static const struct o2_match_request put_100 = {
	.operation = O2_LNET_MD_OP_PUT,
	.nid = NID,
	.pid = 12345,
	.portal = 60,
	.match_bits = 0x1234,
	.length_bytes = 100,
};

static int setup(void **state)
{
	static struct o2_match_table table;

	*state = &table;
	return o2_match_table_create(4, &table);
}

static int teardown(void **state)
{
	o2_match_table_destroy(*state);
	return 0;
}

static void refused(struct o2_match_table *table, const struct o2_match_request *request, const char *rule)
{
	struct o2_match match;
	struct o2_error error;

	assert_error(o2_match_take(table, request, &match, &error), -ENODATA, &error, rule);
}

TEST_WITH(test_each_criterion_counts, setup, teardown)
{
	struct o2_match_table *table = *state;
	struct o2_lnet_entry only = entry(O2_LNET_MD_OP_PUT);
	struct o2_match_request request;
	struct o2_match match;

	only.nid = NID;
	only.pid = 12345;
	only.ignore_bits = 0xf000;
	assert_int_equal(o2_match_attach(table, &only, NULL), 0);

	request = put_100;
	request.operation = O2_LNET_MD_OP_GET;
	refused(table, &request, "lnet/match/none");
	request = put_100;
	request.nid++;
	refused(table, &request, "lnet/match/none");
	request = put_100;
	request.pid++;
	refused(table, &request, "lnet/match/none");
	request = put_100;
	request.portal++;
	refused(table, &request, "lnet/match/none");
	request = put_100;
	request.match_bits = 0x0234; /* differs from the entry in ignored bits alone */
	assert_int_equal(o2_match_take(table, &request, &match, NULL), 0);
	request.match_bits = 0x11234;
	refused(table, &request, "lnet/match/none");
	assert_int_equal(o2_match_take(table, &put_100, &match, NULL), 0);
}

TEST_WITH(test_first_attached_matches_first, setup, teardown)
{
	struct o2_match_table *table = *state;
	struct o2_lnet_entry once = entry(O2_LNET_MD_OP_PUT), always = entry(O2_LNET_MD_OP_PUT);
	struct o2_match match;

	/* A free slot in front does not change the order. */
	assert_int_equal(o2_match_attach(table, &always, NULL), 0);
	once.uses = 1;
	assert_int_equal(o2_match_attach(table, &once, NULL), 1);
	assert_int_equal(o2_match_detach(table, 0), 0);
	assert_int_equal(o2_match_attach(table, &always, NULL), 0);
	assert_int_equal(o2_match_take(table, &put_100, &match, NULL), 0);
	assert_int_equal(match.index, 1);
	/* Used up: the next one is tried. */
	assert_int_equal(o2_match_take(table, &put_100, &match, NULL), 0);
	assert_int_equal(match.index, 0);
}

TEST_WITH(test_offsets, setup, teardown)
{
	struct o2_match_table *table = *state;
	struct o2_lnet_entry local = entry(O2_LNET_MD_OP_PUT);
	struct o2_match_request request = put_100;
	struct o2_transfer_memory memory;
	struct o2_match match;

	assert_int_equal(o2_match_attach(table, &local, NULL), 0);
	/* What the peer says about an offset does not count; it grows with each use. */
	request.offset = 999;
	for (unsigned int i = 0; i < 10; i++) {
		assert_int_equal(o2_match_take(table, &request, &match, NULL), 0);
		assert_int_equal(match.offset, 100 * i);
		memory = o2_match_memory(table, &match);
		assert_int_equal(memory.buffer.offset, 50 + 100 * i);
		assert_int_equal(memory.buffer.nob, 100);
		o2_match_release(table, 0);
	}
	refused(table, &request, "lnet/match/too-long");
	request.length_bytes = 0;
	assert_int_equal(o2_match_take(table, &request, &match, NULL), 0);
	assert_int_equal(match.length_bytes, 0);
	assert_int_equal(o2_match_detach(table, 0), -EBUSY);
	o2_match_release(table, 0);

	assert_int_equal(o2_match_detach(table, 0), 0);
	local.options |= O2_LNET_MD_MANAGE_REMOTE;
	assert_int_equal(o2_match_attach(table, &local, NULL), 0);
	request = put_100;
	request.offset = 900;
	assert_int_equal(o2_match_take(table, &request, &match, NULL), 0);
	assert_int_equal(match.offset, 900);
	request.offset = 901;
	refused(table, &request, "lnet/match/too-long");
	request.offset = 1001;
	request.length_bytes = 0;
	refused(table, &request, "lnet/match/offset-past-end");
	request.offset = UINT32_MAX;
	request.length_bytes = UINT32_MAX;
	refused(table, &request, "lnet/match/offset-past-end");
}

TEST_WITH(test_truncation, setup, teardown)
{
	struct o2_match_table *table = *state;
	struct o2_lnet_entry cut = entry(O2_LNET_MD_OP_PUT | O2_LNET_MD_TRUNCATE | O2_LNET_MD_MANAGE_REMOTE);
	struct o2_match_request request = put_100;
	struct o2_match match;

	assert_int_equal(o2_match_attach(table, &cut, NULL), 0);
	request.length_bytes = UINT32_MAX;
	assert_int_equal(o2_match_take(table, &request, &match, NULL), 0);
	assert_int_equal(match.length_bytes, 1000);
	request.offset = 1000;
	assert_int_equal(o2_match_take(table, &request, &match, NULL), 0);
	assert_int_equal(match.length_bytes, 0);
}

TEST_WITH(test_attaching, setup, teardown)
{
	struct o2_match_table *table = *state;
	struct o2_lnet_entry good = entry(O2_LNET_MD_OP_GET), bad = good;
	struct o2_error error;

	bad.options = O2_LNET_MD_TRUNCATE;
	assert_error(o2_match_attach(table, &bad, &error), -EINVAL, &error, "lnet/entry/operation");
	bad = good;
	bad.uses = 0;
	assert_error(o2_match_attach(table, &bad, &error), -EINVAL, &error, "lnet/entry/uses");
	bad = good;
	bad.memory.buffer.nob = 0;
	assert_error(o2_match_attach(table, &bad, &error), -EINVAL, &error, "lnet/entry/empty");
	for (int i = 0; i < 4; i++)
		assert_int_equal(o2_match_attach(table, &good, &error), i);
	assert_error(o2_match_attach(table, &good, &error), -ENOSPC, &error, "lnet/entry/table-full");
	assert_int_equal(o2_match_detach(table, 4), -ENOENT);
	assert_int_equal(o2_match_detach(table, 2), 0);
	assert_int_equal(o2_match_detach(table, 2), -ENOENT);
	assert_int_equal(o2_match_attach(table, &good, &error), 2);
}
