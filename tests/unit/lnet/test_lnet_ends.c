/* SPDX-License-Identifier: MIT */

/* LNet (docs/peer.md): entries that unlink themselves, and operations that are cancelled. */

#include "tests/lib/lnet_pair.h"

#define POISON 0xee

/* Start a PUT or GET.  Returns the name of the operation. */
static uint64_t start(struct o2_lnet_side *side, bool get, uint32_t size, const struct o2_lnet_target *target)
{
	const struct o2_transfer_memory memory = lnet_side_memory(side, 0, 2, size);
	uint64_t operation;

	memset(o2_lnet_side_bytes(side, 2), POISON, size);
	assert_int_equal(get ? o2_lnet_get(side->lnet, target, &memory, &operation, NULL)
			     : o2_lnet_put(side->lnet, target, &memory, &operation, NULL),
			 0);
	return operation;
}

/* Assert that the side has one event of this kind, which says whether the entry was unlinked. */
static void expect_event(struct o2_lnet_side *side, enum o2_lnet_event_kind kind, bool unlinked)
{
	assert_int_equal(side->nevents, 1);
	assert_int_equal(side->event[0].kind, kind);
	assert_int_equal(side->event[0].unlinked, unlinked);
	side->nevents = 0;
}

static int attach(struct o2_lnet_side *side, uint32_t options, uint32_t uses)
{
	const struct o2_transfer_memory memory = lnet_side_memory(side, 3, 256, 65536);
	struct o2_lnet_entry entry = entry_of(&memory);

	entry.options |= options;
	entry.uses = uses;
	return o2_lnet_attach(side->lnet, &entry, NULL);
}

LNET_PAIR_TEST(test_unlinked_with_its_last_use)
{
	const struct o2_lnet_target target = target_at(NID_B, false);

	for (unsigned int i = 0; i < 4; i++) {
		const bool get = i % 2 == 1;
		const uint32_t size = i < 2 ? 160 : 8192;
		const int index = attach(&pair->b, O2_LNET_MD_UNLINK, 2);

		assert_int_equal(index, 2);
		for (unsigned int use = 0; use < 2; use++) {
			start(&pair->a, get, size, &target);
			o2_lnet_deliver_all(pair);
			lnet_expect_result(&pair->a, 0, size);
			expect_event(&pair->b, get ? O2_LNET_EVENT_GET : O2_LNET_EVENT_PUT, use == 1);
		}
		assert_int_equal(o2_lnet_detach(pair->b.lnet, 2), -ENOENT);
	}
}

/* While a PUT by RDMA is under way, an unlinked entry accepts nothing more; it is removed when the PUT ends. */
LNET_PAIR_TEST(test_unlink_in_use)
{
	const struct o2_lnet_hdr put = {
		.dest_nid = NID_B,
		.src_nid = NID_A,
		.type = O2_LNET_PUT,
		.payload_length = 8192,
		.msg.put = {.ack_wmd = {UINT64_MAX, UINT64_MAX}, .match_bits = 0x1234, .ptl_index = 60}};
	struct o2_transfer_memory memory;
	uint64_t tag, other;

	assert_int_equal(attach(&pair->b, 0, O2_LNET_USES_ENDLESS), 2);
	assert_int_equal(o2_lnet_match(pair->b.lnet, NID_A, &put, &memory, &tag, NULL), 0);
	assert_int_equal(o2_lnet_detach(pair->b.lnet, 2), -EBUSY);
	assert_int_equal(o2_lnet_unlink(pair->b.lnet, 2), 1);
	assert_int_equal(o2_lnet_match(pair->b.lnet, NID_A, &put, &memory, &other, NULL), -ENODATA);
	lnet_expect_dropped(&pair->b, "lnet/match/none");
	o2_lnet_finished(pair->b.lnet, tag, 0, 8192, NULL);
	expect_event(&pair->b, O2_LNET_EVENT_PUT, true);
	assert_int_equal(o2_lnet_unlink(pair->b.lnet, 2), -ENOENT);
	/* An unused entry is removed at once. */
	assert_int_equal(attach(&pair->b, 0, 1), 2);
	assert_int_equal(o2_lnet_unlink(pair->b.lnet, 2), 0);
	assert_int_equal(o2_lnet_unlink(pair->b.lnet, 2), -ENOENT);
}

/* A request that is refused for lack of room uses up nothing of an entry. */
TEST(test_no_room_uses_nothing)
{
	const struct o2_lnet_target target = target_at(NID_B, false), back = target_at(NID_A, true);
	struct o2_lnet_config config = O2_LNET_DEFAULTS;
	struct o2_lnet_pair pair;

	config.max_messages = 1;
	lnet_pair_open(&pair, &config);
	assert_int_equal(attach(&pair.b, O2_LNET_MD_UNLINK, 1), 2);
	start(&pair.b, false, 100, &back);
	start(&pair.a, false, 8192, &target);
	assert_int_equal(o2_lnet_deliver(&pair.a), -ENOSPC);
	lnet_expect_dropped(&pair.b, "lnet/messages");
	lnet_expect_result(&pair.a, -ENOSPC, 0);
	start(&pair.a, true, 160, &target);
	assert_int_equal(o2_lnet_deliver(&pair.a), 0);
	lnet_expect_dropped(&pair.b, "lnet/messages");
	assert_int_equal(o2_lnet_unlink(pair.b.lnet, 2), 0);
	o2_lnet_deliver_all(&pair);
	lnet_pair_close(&pair);
}

static struct o2_lnet *ends;
static uint32_t nended, nsent;

static int take_one(void *context, uint64_t nid, enum o2_lnd_form form, const struct o2_lnet_hdr *hdr,
		    const struct o2_transfer_memory *memory, struct o2_error *error)
{
	*(uint64_t *)context = memory->tag;
	nsent++;
	return 0;
}

static uint32_t takes_all(void *context, uint64_t nid)
{
	return O2_IMMEDIATE_MAX;
}

/* The owner tries again, as it does whenever a connection is lost. */
static void try_again(void *context, const struct o2_lnet_result *result)
{
	const struct o2_lnet_target target = target_at(NID_B, true);
	struct o2_error error;

	nended++;
	assert_int_equal(result->status, -ECONNABORTED);
	assert_error(o2_lnet_put(ends, &target, NULL, NULL, &error), -ESHUTDOWN, &error, "lnet/ending");
}

/* What an operation starts as it ends with LNet itself is refused: nobody would tell its end. */
LNET_PAIR_TEST(test_nothing_starts_as_all_ends)
{
	const struct o2_lnet_target target = target_at(NID_B, true);
	const struct o2_lnet_ops ops = {.done = try_again};
	struct o2_lnet_config config = O2_LNET_DEFAULTS;
	uint64_t tag = 0;
	const struct o2_lnet_transport transport = {&tag, takes_all, take_one};
	struct o2_clock clock = {0};

	config.nid = NID_A;
	nended = nsent = 0;
	assert_int_equal(o2_lnet_create(&config, &transport, &pair->a.arena, &clock, &ops, NULL, &ends, NULL),
			 0);
	for (uint32_t i = 0; i < 2; i++) {
		assert_int_equal(o2_lnet_put(ends, &target, NULL, NULL, NULL), 0);
		o2_lnet_finished(ends, tag, 0, 0, NULL);
	}
	o2_lnet_destroy(ends);
	assert_int_equal(nended, 2);
	assert_int_equal(nsent, 2);
}

LNET_PAIR_TEST(test_cancel_of_what_waits)
{
	const struct o2_lnet_target target = target_at(NID_B, true);

	for (unsigned int i = 0; i < 2; i++) {
		uint64_t operation;

		assert_true(attach(&pair->b, O2_LNET_MD_UNLINK, 1) >= 0);
		memset(o2_lnet_side_bytes(&pair->b, 256), 0x11, 160);
		operation = start(&pair->a, i == 1, 160, &target);
		assert_int_equal(o2_lnet_deliver(&pair->a), 0);
		assert_int_equal(pair->a.nresults, 0);
		assert_int_equal(o2_lnet_cancel(pair->a.lnet, operation), 0);
		lnet_expect_result(&pair->a, -ECANCELED, 0);
		assert_int_equal(pair->a.fault[0].code, 0);
		assert_int_equal(o2_lnet_cancel(pair->a.lnet, operation), -ENOENT);
		/* The answer finds no operation, and writes no bytes. */
		o2_lnet_deliver_all(pair);
		lnet_expect_dropped(&pair->a, "lnet/unknown-handle");
		assert_int_equal(o2_lnet_side_bytes(&pair->a, 2)[0], POISON);
		pair->b.nevents = 0;
	}
}

/* A cancelled operation ends when the transport is done with its memory; with 0 if that completes the operation. */
LNET_PAIR_TEST(test_cancel_in_transport)
{
	static const struct {
		bool get, ack;
		uint32_t size;
		int status;
	} rows[] = {
		{false, false, 160, 0},		 /* nothing to wait for */
		{false, true, 160, -ECANCELED},	 /* sent; the ACK is not awaited */
		{true, false, 160, -ECANCELED},	 /* the REPLY is not awaited */
		{false, false, 8192, 0},	 /* by RDMA: PUT_DONE, GET_DONE */
		{false, true, 8192, -ECANCELED}, /* the ACK comes afterwards */
		{true, false, 8192, 0},
	};

	assert_true(attach(&pair->b, 0, O2_LNET_USES_ENDLESS) >= 0);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct o2_lnet_target target = target_at(NID_B, rows[i].ack);
		const uint64_t operation = start(&pair->a, rows[i].get, rows[i].size, &target);

		assert_int_equal(o2_lnet_cancel(pair->a.lnet, operation), 0);
		assert_int_equal(pair->a.nresults, 0);
		assert_int_equal(o2_lnet_deliver(&pair->a), 0);
		lnet_expect_result(&pair->a, rows[i].status, rows[i].status == 0 ? rows[i].size : 0);
		o2_lnet_deliver_all(pair);
	}
	assert_int_equal(o2_lnet_cancel(pair->a.lnet, UINT64_MAX), -ENOENT);
}

/* A cancelled GET waits for a REPLY by RDMA that is writing to its sink. */
LNET_PAIR_TEST(test_cancel_while_replying)
{
	const struct o2_lnet_target target = target_at(NID_B, false);
	struct o2_transfer_memory memory;
	struct o2_lnet_hdr reply;
	uint64_t operation, tag;

	assert_true(attach(&pair->b, 0, O2_LNET_USES_ENDLESS) >= 0);
	pair->b.immediate_max = 28;
	operation = start(&pair->a, true, 160, &target);
	assert_int_equal(o2_lnet_deliver(&pair->a), 0);
	reply = pair->b.letter[0].hdr;
	assert_int_equal(o2_lnet_match(pair->a.lnet, NID_B, &reply, &memory, &tag, NULL), 0);
	assert_int_equal(o2_lnet_cancel(pair->a.lnet, operation), 0);
	assert_int_equal(pair->a.nresults, 0);
	o2_lnet_finished(pair->a.lnet, tag, 0, 160, NULL);
	lnet_expect_result(&pair->a, 0, 160);
	assert_int_equal(o2_lnet_deliver(&pair->b), -ENODATA);
}

/* Each operation may have its own timeout. */
LNET_PAIR_TEST(test_own_response_timeout)
{
	const struct o2_lnet_config defaults = O2_LNET_DEFAULTS;

	for (unsigned int i = 0; i < 2; i++) {
		struct o2_lnet_target target = target_at(NID_B, true);

		target.response_timeout_ms = defaults.response_timeout_ms + 14000;
		start(&pair->a, i == 1, 160, &target);
		o2_lnet_deliver_all(pair);
		o2_lnet_side_clock(&pair->a, (i + 1) * target.response_timeout_ms - 1);
		assert_int_equal(pair->a.nresults, 0);
		o2_lnet_side_clock(&pair->a, (i + 1) * target.response_timeout_ms);
		lnet_expect_result(&pair->a, -ETIMEDOUT, 0);
		lnet_expect_fault(&pair->a, O2_FAULT_DEADLINE, "lnet/deadline", target.response_timeout_ms,
				  target.response_timeout_ms);
	}
	pair->b.nevents = 0;
}

/* The process id at the peer that an operation is sent to. */
LNET_PAIR_TEST(test_pid)
{
	static const uint32_t pids[][2] = {{0, O2_LNET_PID_KERNEL}, {7, 7}, {UINT32_MAX, UINT32_MAX}};

	for (unsigned int i = 0; i < 6; i++) {
		struct o2_lnet_target target = target_at(NID_B, false);

		assert_int_equal(attach(&pair->b, O2_LNET_MD_UNLINK, 1), 2);
		target.pid = pids[i / 2][0];
		start(&pair->a, i % 2 == 1, 160, &target);
		assert_int_equal(pair->a.letter[0].hdr.dest_pid, pids[i / 2][1]);
		o2_lnet_deliver_all(pair);
		lnet_expect_result(&pair->a, 0, 160);
		expect_event(&pair->b, i % 2 == 1 ? O2_LNET_EVENT_GET : O2_LNET_EVENT_PUT, true);
	}
}
