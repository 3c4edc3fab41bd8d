/* SPDX-License-Identifier: MIT */

/* LNet's place, docs/peer.md: what two of them say to each other, and what a peer may not make of one. */

#include "tests/lib/lnet_pair.h"

/* Sizes on both sides of what fits into an IMMEDIATE, and the largest transfer. */
static const uint32_t sizes[] = {1, 100, 3976, 3977, 65536, O2_MAX_TRANSFER_BYTES};

static int setup(void **state)
{
	static struct lnet_pair pair;

	lnet_pair_open(&pair, NULL);
	*state = &pair;
	return 0;
}

static int teardown(void **state)
{
	lnet_pair_close(*state);
	return 0;
}

static void expect_result(struct lnet_side *side, int status, uint64_t length_bytes)
{
	assert_int_equal(side->nresults, 1);
	assert_int_equal(side->result[0].status, status);
	assert_int_equal(side->result[0].length_bytes, length_bytes);
	assert_int_equal(o2_lnet_messages(side->lnet), 0);
	side->nresults = 0;
}

static void expect_dropped(struct lnet_side *side, const char *rule)
{
	assert_non_null(side->dropped);
	assert_string_equal(side->dropped, rule);
	side->dropped = NULL;
	side->nevents = 0;
}

/* Attach 1 MiB at the side's page 256. */
static void offer(struct lnet_side *side, uint32_t options)
{
	const struct o2_transfer_memory memory = lnet_side_memory(side, 3, 256, O2_MAX_TRANSFER_BYTES);
	struct o2_lnet_entry entry = entry_of(&memory);

	entry.options |= options;
	assert_true(o2_lnet_attach(side->lnet, &entry, NULL) >= 0);
}

static void test_ping(void **state)
{
	struct lnet_pair *pair = *state;
	const struct o2_transfer_memory sink = lnet_side_memory(&pair->a, 0, 2, O2_PING_SINK_BYTES);
	const struct o2_lnet_target target = {
		.nid = NID_B, .portal = O2_PING_PORTAL, .match_bits = O2_PING_MATCH_BITS};
	struct o2_ping_info info;

	assert_int_equal(o2_lnet_get(pair->a.lnet, &target, &sink, NULL, NULL), 0);
	lnet_deliver_all(pair);
	expect_result(&pair->a, 0, O2_PING_INFO_BYTES);
	assert_int_equal(o2_ping_decode(lnet_side_bytes(&pair->a, 2), O2_PING_INFO_BYTES, &info, NULL), 2);
	assert_int_equal(info.ni[1].nid, NID_B);
	/* The same with a sink that only RDMA can serve, and one that is too small for all of it. */
	for (unsigned int i = 0; i < 2; i++) {
		const uint32_t length = i == 0 ? 8192 : 20;
		const struct o2_transfer_memory other = lnet_side_memory(&pair->a, 1, 4, length);

		assert_int_equal(o2_lnet_get(pair->a.lnet, &target, &other, NULL, NULL), 0);
		lnet_deliver_all(pair);
		expect_result(&pair->a, 0, i == 0 ? O2_PING_INFO_BYTES : 20);
		assert_memory_equal(lnet_side_bytes(&pair->a, 4), lnet_side_bytes(&pair->a, 2), 20);
	}
}

static void test_push(void **state)
{
	struct lnet_pair *pair = *state;
	const struct o2_ping_info info = o2_ping_info_make(NID_A, 12345, 0x1e, 2);
	const struct o2_transfer_memory source = lnet_side_memory(&pair->a, 0, 2, O2_PING_INFO_BYTES);
	const struct o2_lnet_target target = {
		.nid = NID_B, .portal = O2_PING_PORTAL, .match_bits = O2_PING_MATCH_BITS, .ack = true};

	assert_int_equal(o2_ping_encode(&info, lnet_side_bytes(&pair->a, 2), 48), 48);
	assert_int_equal(o2_lnet_put(pair->a.lnet, &target, &source, NULL, NULL), 0);
	lnet_deliver_all(pair);
	expect_result(&pair->a, 0, 48);
	assert_memory_equal(lnet_side_bytes(&pair->b, 1), lnet_side_bytes(&pair->a, 2), 48);
}

static void test_put(void **state)
{
	struct lnet_pair *pair = *state;

	offer(&pair->b, 0);
	for (unsigned int i = 0; i < 2 * sizeof(sizes) / sizeof(sizes[0]); i++) {
		const uint32_t size = sizes[i / 2];
		const struct o2_transfer_memory source = lnet_side_memory(&pair->a, 0, 2, size);
		struct o2_lnet_target target = target_at(NID_B, i % 2 == 1);

		target.hdr_data = 0x1122334455667788;
		memset(lnet_side_bytes(&pair->b, 256), 0, O2_MAX_TRANSFER_BYTES);
		fill_bytes(lnet_side_bytes(&pair->a, 2), size, (uint8_t)i);
		assert_int_equal(o2_lnet_put(pair->a.lnet, &target, &source, NULL, NULL), 0);
		lnet_deliver_all(pair);
		expect_result(&pair->a, 0, size);
		assert_memory_equal(lnet_side_bytes(&pair->b, 256), lnet_side_bytes(&pair->a, 2), size);
		assert_int_equal(pair->b.nevents, 1);
		assert_int_equal(pair->b.event[0].kind, O2_LNET_EVENT_PUT);
		assert_int_equal(pair->b.event[0].entry_tag, 77);
		assert_int_equal(pair->b.event[0].length_bytes, size);
		assert_int_equal(pair->b.event_hdr[0].msg.put.hdr_data, target.hdr_data);
		pair->b.nevents = 0;
	}
}

static void test_get(void **state)
{
	struct lnet_pair *pair = *state;

	offer(&pair->b, 0);
	fill_bytes(lnet_side_bytes(&pair->b, 256), O2_MAX_TRANSFER_BYTES, 3);
	for (unsigned int i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		const struct o2_transfer_memory sink = lnet_side_memory(&pair->a, 0, 2, sizes[i]);
		const struct o2_lnet_target target = target_at(NID_B, false);

		memset(lnet_side_bytes(&pair->a, 2), 0xee, O2_MAX_TRANSFER_BYTES);
		assert_int_equal(o2_lnet_get(pair->a.lnet, &target, &sink, NULL, NULL), 0);
		lnet_deliver_all(pair);
		expect_result(&pair->a, 0, sizes[i]);
		assert_memory_equal(lnet_side_bytes(&pair->a, 2), lnet_side_bytes(&pair->b, 256), sizes[i]);
		assert_int_equal(lnet_side_bytes(&pair->a, 2)[sizes[i]],
				 sizes[i] == O2_MAX_TRANSFER_BYTES ? 0 : 0xee);
		assert_int_equal(pair->b.nevents, 1);
		assert_int_equal(pair->b.event[0].kind, O2_LNET_EVENT_GET);
		pair->b.nevents = 0;
	}
}

/* A peer that takes shorter messages. */
static void test_small_messages(void **state)
{
	struct lnet_pair *pair = *state;

	offer(&pair->b, 0);
	pair->a.immediate_max = pair->b.immediate_max = 28;
	for (uint32_t size = 28; size <= 29; size++) {
		const struct o2_transfer_memory memory = lnet_side_memory(&pair->a, 0, 2, size);
		const struct o2_lnet_target target = target_at(NID_B, true);

		fill_bytes(lnet_side_bytes(&pair->a, 2), size, (uint8_t)size);
		assert_int_equal(o2_lnet_put(pair->a.lnet, &target, &memory, NULL, NULL), 0);
		assert_int_equal(pair->a.letter[0].kind, size == 28 ? LETTER_IMMEDIATE : LETTER_PUT);
		lnet_deliver_all(pair);
		expect_result(&pair->a, 0, size);
		assert_memory_equal(lnet_side_bytes(&pair->b, 256), lnet_side_bytes(&pair->a, 2), size);
		assert_int_equal(o2_lnet_get(pair->a.lnet, &target, &memory, NULL, NULL), 0);
		assert_int_equal(pair->a.letter[0].kind, size == 28 ? LETTER_IMMEDIATE : LETTER_GET);
		lnet_deliver_all(pair);
		expect_result(&pair->a, 0, size);
	}
}

static void test_offset_and_truncation(void **state)
{
	struct lnet_pair *pair = *state;
	const struct o2_transfer_memory memory = lnet_side_memory(&pair->a, 0, 2, 65536);
	struct o2_lnet_target target = target_at(NID_B, true);

	offer(&pair->b, O2_LNET_MD_TRUNCATE);
	fill_bytes(lnet_side_bytes(&pair->a, 2), 65536, 9);
	target.offset = O2_MAX_TRANSFER_BYTES - 8192;
	assert_int_equal(o2_lnet_put(pair->a.lnet, &target, &memory, NULL, NULL), 0);
	lnet_deliver_all(pair);
	expect_result(&pair->a, 0, 8192);
	assert_memory_equal(lnet_side_bytes(&pair->b, 256) + target.offset, lnet_side_bytes(&pair->a, 2),
			    8192);
	memset(lnet_side_bytes(&pair->a, 2), 0, 65536);
	assert_int_equal(o2_lnet_get(pair->a.lnet, &target, &memory, NULL, NULL), 0);
	lnet_deliver_all(pair);
	expect_result(&pair->a, 0, 8192);
	assert_memory_equal(lnet_side_bytes(&pair->b, 256) + target.offset, lnet_side_bytes(&pair->a, 2),
			    8192);
	/* At the very end there is room for nothing, and that looks like no match. */
	target.offset = O2_MAX_TRANSFER_BYTES;
	assert_int_equal(o2_lnet_put(pair->a.lnet, &target, &memory, NULL, NULL), 0);
	lnet_deliver_all(pair);
	expect_result(&pair->a, -ENODATA, 0);
}

/* The header has 32 bits for it: no place is reached by another one's number. */
static void test_offset_too_large(void **state)
{
	struct lnet_pair *pair = *state;
	const struct o2_transfer_memory memory = lnet_side_memory(&pair->a, 0, 2, 8192);
	struct o2_lnet_target target = target_at(NID_B, true);
	struct o2_error error;

	offer(&pair->b, 0);
	target.offset = UINT64_C(1) << 32;
	assert_int_equal(o2_lnet_put(pair->a.lnet, &target, &memory, NULL, &error), -EINVAL);
	assert_string_equal(error.rule, "lnet/offset");
	assert_int_equal(error.value, target.offset);
	assert_int_equal(error.limit, UINT32_MAX);
	assert_int_equal(o2_lnet_get(pair->a.lnet, &target, &memory, NULL, &error), -EINVAL);
	assert_string_equal(error.rule, "lnet/offset");
	assert_int_equal(o2_lnet_messages(pair->a.lnet), 0);
}

/* The last result says why: the rule and its figures. */
static void expect_fault(const struct lnet_side *side, enum o2_fault_side blamed, const char *rule,
			 uint64_t value, uint64_t limit)
{
	const struct o2_transfer_fault *fault = &side->fault[0];

	assert_int_equal(fault->side, blamed);
	assert_non_null(fault->error.rule);
	assert_string_equal(fault->error.rule, rule);
	assert_int_equal(fault->code, fault->error.code);
	assert_true(fault->error.value == value && fault->error.limit == limit);
}

static void test_no_match(void **state)
{
	struct lnet_pair *pair = *state;
	const struct o2_lnet_config defaults = O2_LNET_DEFAULTS;

	for (unsigned int i = 0; i < 4; i++) {
		const uint32_t size = i < 2 ? 100 : 8192;
		const struct o2_transfer_memory memory = lnet_side_memory(&pair->a, 0, 2, size);
		const struct o2_lnet_target target = target_at(NID_B, true);

		if (i % 2 == 0)
			assert_int_equal(o2_lnet_put(pair->a.lnet, &target, &memory, NULL, NULL), 0);
		else
			assert_int_equal(o2_lnet_get(pair->a.lnet, &target, &memory, NULL, NULL), 0);
		lnet_deliver_all(pair);
		expect_dropped(&pair->b, "lnet/match/none");
		if (size == 100) {
			/* Silence: only time tells. */
			assert_int_equal(pair->a.nresults, 0);
			lnet_side_clock(&pair->a, (i + 1) * defaults.response_timeout_ms - 1);
			assert_int_equal(pair->a.nresults, 0);
			lnet_side_clock(&pair->a, (i + 1) * defaults.response_timeout_ms);
		}
		expect_result(&pair->a, size == 100 ? -ETIMEDOUT : -ENODATA, 0);
		if (size != 100) {
			if (i % 2 == 0)
				expect_fault(&pair->a, O2_FAULT_PEER_STATUS, "lnet/put/no-match", 0,
					     O2_NO_LIMIT);
			continue;
		}
		assert_int_equal(pair->a.fault[0].side, O2_FAULT_DEADLINE);
		assert_int_equal(pair->a.fault[0].wait, i == 0 ? O2_WAIT_LNET_ACK : O2_WAIT_LNET_REPLY);
		assert_int_equal(pair->a.fault[0].error.value, defaults.response_timeout_ms);
		assert_int_equal(pair->a.fault[0].error.limit, defaults.response_timeout_ms);
	}
	assert_int_equal(o2_lnet_messages(pair->b.lnet), 0);
}

/* An ACK or REPLY may be there before our own send has completed. */
static void test_answer_before_completion(void **state)
{
	struct lnet_pair *pair = *state;

	offer(&pair->b, 0);
	for (unsigned int i = 0; i < 2; i++) {
		const struct o2_transfer_memory memory = lnet_side_memory(&pair->a, 0, 2, 100);
		const struct o2_lnet_target target = target_at(NID_B, true);
		static struct letter request;

		if (i == 0)
			assert_int_equal(o2_lnet_put(pair->a.lnet, &target, &memory, NULL, NULL), 0);
		else
			assert_int_equal(o2_lnet_get(pair->a.lnet, &target, &memory, NULL, NULL), 0);
		request = pair->a.letter[0];
		pair->a.nletters = 0;
		assert_int_equal(o2_lnet_receive(pair->b.lnet, NID_A, &request.hdr, request.payload, NULL),
				 0);
		assert_int_equal(lnet_deliver(&pair->b), 0);
		assert_int_equal(pair->a.nresults, 0);
		/* Even a failed completion takes nothing back. */
		o2_lnet_finished(pair->a.lnet, request.tag, i == 0 ? 0 : -EIO, 0, NULL);
		expect_result(&pair->a, 0, 100);
	}
}

/* The sink is small enough for an IMMEDIATE, but the peer replies by RDMA. */
static void test_reply_by_rdma(void **state)
{
	struct lnet_pair *pair = *state;
	const struct o2_transfer_memory sink = lnet_side_memory(&pair->a, 0, 2, 1000);
	const struct o2_lnet_target target = target_at(NID_B, false);
	struct o2_lnet_hdr reply = {
		.dest_nid = NID_A, .src_nid = NID_B, .type = O2_LNET_REPLY, .payload_length = 900};
	struct o2_transfer_memory memory;
	struct o2_error error;
	uint64_t tag, again;

	assert_int_equal(o2_lnet_get(pair->a.lnet, &target, &sink, NULL, NULL), 0);
	reply.msg.reply.dst_wmd = pair->a.letter[0].hdr.msg.get.return_wmd;
	assert_int_equal(lnet_deliver(&pair->a), 0);
	assert_int_equal(o2_lnet_match(pair->a.lnet, NID_B, &reply, &memory, &tag, &error), 0);
	assert_int_equal(memory.buffer.nob, 900);
	assert_ptr_equal(memory.buffer.iov, sink.buffer.iov);
	/* A second one is not let in, and while the first is under way nothing times out. */
	assert_int_equal(o2_lnet_match(pair->a.lnet, NID_B, &reply, &memory, &again, &error), -ENODATA);
	expect_dropped(&pair->a, "lnet/unknown-handle");
	lnet_side_clock(&pair->a, 10000000);
	o2_lnet_peer_down(pair->a.lnet, NID_B, -ECONNRESET, NULL);
	assert_int_equal(pair->a.nresults, 0);
	o2_lnet_finished(pair->a.lnet, tag, 0, 900, NULL);
	expect_result(&pair->a, 0, 900);

	/* It fails, before our own completion. */
	assert_int_equal(o2_lnet_get(pair->a.lnet, &target, &sink, NULL, NULL), 0);
	reply.msg.reply.dst_wmd = pair->a.letter[0].hdr.msg.get.return_wmd;
	assert_int_equal(o2_lnet_match(pair->a.lnet, NID_B, &reply, &memory, &tag, &error), 0);
	o2_lnet_finished(pair->a.lnet, tag, -EIO, 0, NULL);
	assert_int_equal(pair->a.nresults, 0);
	assert_int_equal(lnet_deliver(&pair->a), 0);
	expect_result(&pair->a, -EIO, 0);
}

static void test_long_reply(void **state)
{
	struct lnet_pair *pair = *state;
	const struct o2_transfer_memory sink = lnet_side_memory(&pair->a, 0, 2, 1000);
	const struct o2_lnet_target target = target_at(NID_B, false);
	struct o2_lnet_hdr reply = {
		.dest_nid = NID_A, .src_nid = NID_B, .type = O2_LNET_REPLY, .payload_length = 1001};
	static uint8_t payload[1001];
	struct o2_transfer_memory memory;
	struct o2_error error;
	uint64_t tag;

	memset(payload, 0x55, sizeof(payload));
	assert_int_equal(o2_lnet_get(pair->a.lnet, &target, &sink, NULL, NULL), 0);
	reply.msg.reply.dst_wmd = pair->a.letter[0].hdr.msg.get.return_wmd;
	assert_int_equal(lnet_deliver(&pair->a), 0);
	pair->b.nletters = 0;
	assert_int_equal(o2_lnet_receive(pair->a.lnet, NID_B, &reply, payload, &error), 0);
	expect_result(&pair->a, -EMSGSIZE, 0);
	expect_fault(&pair->a, O2_FAULT_PEER_MESSAGE, "lnet/reply/too-long", 1001, 1000);
	assert_int_equal(lnet_side_bytes(&pair->a, 2)[0], 0);

	assert_int_equal(o2_lnet_get(pair->a.lnet, &target, &sink, NULL, NULL), 0);
	reply.msg.reply.dst_wmd = pair->a.letter[0].hdr.msg.get.return_wmd;
	assert_int_equal(lnet_deliver(&pair->a), 0);
	assert_int_equal(o2_lnet_match(pair->a.lnet, NID_B, &reply, &memory, &tag, &error), -EMSGSIZE);
	expect_result(&pair->a, -EMSGSIZE, 0);
	expect_fault(&pair->a, O2_FAULT_PEER_MESSAGE, "lnet/reply/too-long", 1001, 1000);
}

/* Answers to what was not asked: each is dropped, the connection stays, the operation goes on. */
static void test_answers_that_nobody_asked_for(void **state)
{
	struct lnet_pair *pair = *state;
	const struct o2_transfer_memory memory = lnet_side_memory(&pair->a, 0, 2, 100);
	const struct o2_transfer_memory large = lnet_side_memory(&pair->a, 1, 4, 5000);
	struct o2_lnet_hdr ack = {.dest_nid = NID_A, .src_nid = NID_B, .type = O2_LNET_ACK};
	struct o2_lnet_hdr reply = {.dest_nid = NID_A, .src_nid = NID_B, .type = O2_LNET_REPLY};
	struct o2_lnet_target target = target_at(NID_B, true);
	struct o2_lnet_handle put, get, rdma_get, no_ack;

	assert_int_equal(o2_lnet_put(pair->a.lnet, &target, &memory, NULL, NULL), 0);
	assert_int_equal(o2_lnet_get(pair->a.lnet, &target, &memory, NULL, NULL), 0);
	assert_int_equal(o2_lnet_get(pair->a.lnet, &target, &large, NULL, NULL), 0);
	put = pair->a.letter[0].hdr.msg.put.ack_wmd;
	get = pair->a.letter[1].hdr.msg.get.return_wmd;
	rdma_get = pair->a.letter[2].hdr.msg.get.return_wmd;
	target.ack = false;
	no_ack = (struct o2_lnet_handle){UINT64_MAX, UINT64_MAX};
	const struct o2_lnet_handle bad_acks[] = {
		get,
		no_ack,
		{0, 0},
		{put.wh_interface_cookie + 1, put.wh_object_cookie},
		{put.wh_interface_cookie, put.wh_object_cookie + (UINT64_C(1) << 32)},
		{put.wh_interface_cookie, put.wh_object_cookie | 0xffffffff},
	};
	const struct o2_lnet_handle bad_replies[] = {
		put, rdma_get, {get.wh_interface_cookie, get.wh_object_cookie - (UINT64_C(1) << 32)}};

	for (unsigned int i = 0; i < sizeof(bad_acks) / sizeof(bad_acks[0]); i++) {
		ack.msg.ack.dst_wmd = bad_acks[i];
		assert_int_equal(o2_lnet_receive(pair->a.lnet, NID_B, &ack, NULL, NULL), 0);
		expect_dropped(&pair->a, "lnet/unknown-handle");
	}
	for (unsigned int i = 0; i < sizeof(bad_replies) / sizeof(bad_replies[0]); i++) {
		reply.msg.reply.dst_wmd = bad_replies[i];
		assert_int_equal(o2_lnet_receive(pair->a.lnet, NID_B, &reply, NULL, NULL), 0);
		expect_dropped(&pair->a, "lnet/unknown-handle");
	}
	/* More than was sent cannot have been taken. */
	ack.msg.ack.dst_wmd = put;
	ack.msg.ack.mlength = 101;
	assert_int_equal(o2_lnet_receive(pair->a.lnet, NID_B, &ack, NULL, NULL), 0);
	expect_dropped(&pair->a, "lnet/ack/mlength");
	/* From another peer, even if it says the right NID. */
	ack.msg.ack.mlength = 100;
	assert_int_equal(o2_lnet_receive(pair->a.lnet, NID_B + 1, &ack, NULL, NULL), 0);
	expect_dropped(&pair->a, "lnet/header/src-nid");
	ack.src_nid = NID_B + 1;
	assert_int_equal(o2_lnet_receive(pair->a.lnet, NID_B + 1, &ack, NULL, NULL), 0);
	expect_dropped(&pair->a, "lnet/unknown-handle");
	assert_int_equal(pair->a.nresults, 0);
	/* The right one, then once more. */
	ack.src_nid = NID_B;
	assert_int_equal(o2_lnet_receive(pair->a.lnet, NID_B, &ack, NULL, NULL), 0);
	assert_int_equal(o2_lnet_receive(pair->a.lnet, NID_B, &ack, NULL, NULL), 0);
	expect_dropped(&pair->a, "lnet/unknown-handle");
	offer(&pair->b, 0);
	lnet_deliver_all(pair);
	assert_int_equal(pair->a.nresults, 3);
	for (unsigned int i = 0; i < 3; i++)
		assert_int_equal(pair->a.result[i].status, 0);
}

/* An ACK that contradicts what the RDMA moved. */
static void test_ack_against_rdma(void **state)
{
	struct lnet_pair *pair = *state;
	const struct o2_transfer_memory memory = lnet_side_memory(&pair->a, 0, 2, 8192);
	const struct o2_lnet_target target = target_at(NID_B, true);
	struct o2_lnet_hdr ack = {.dest_nid = NID_A, .src_nid = NID_B, .type = O2_LNET_ACK};

	assert_int_equal(o2_lnet_put(pair->a.lnet, &target, &memory, NULL, NULL), 0);
	ack.msg.ack.dst_wmd = pair->a.letter[0].hdr.msg.put.ack_wmd;
	ack.msg.ack.mlength = 8191;
	assert_int_equal(o2_lnet_receive(pair->a.lnet, NID_B, &ack, NULL, NULL), 0);
	o2_lnet_finished(pair->a.lnet, pair->a.letter[0].tag, 0, 8192, NULL);
	expect_result(&pair->a, -EPROTO, 0);
	expect_fault(&pair->a, O2_FAULT_PEER_MESSAGE, "lnet/ack/other-length", 8191, 8192);
	pair->a.nletters = 0;
}

static void test_headers_that_are_not_for_us(void **state)
{
	struct lnet_pair *pair = *state;
	const struct {
		uint64_t dest;
		bool rdma_get;
		int expected;
		const char *rule;
	} cases[] = {
		{NID_A + 5, false, -EPROTO, "lnet/header/dest-nid"},
		{0x0009000000000000, false, -EPROTO, "lnet/header/dest-nid"},
		{0, false, -ENODATA, "lnet/header/not-routed"},
		{UINT64_MAX, false, -ENODATA, "lnet/header/not-routed"},
		{0x000500010a4d0001, false, -ENODATA, "lnet/header/not-routed"},
		{0x000500010a4d0001, true, -EPROTO, "lnet/header/dest-nid"},
	};

	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct o2_lnet_hdr hdr = {.dest_nid = cases[i].dest,
					  .src_nid = NID_B,
					  .type = cases[i].rdma_get ? O2_LNET_GET : O2_LNET_PUT};
		struct o2_transfer_memory memory;
		struct o2_error error;
		uint64_t tag;

		assert_int_equal(o2_lnet_match(pair->a.lnet, NID_B, &hdr, &memory, &tag, &error),
				 cases[i].expected);
		assert_string_equal(error.rule, cases[i].rule);
		if (!cases[i].rdma_get)
			assert_int_equal(o2_lnet_receive(pair->a.lnet, NID_B, &hdr, NULL, &error),
					 cases[i].expected == -EPROTO ? -EPROTO : 0);
	}
	for (uint32_t type = O2_LNET_HELLO; type < 260; type += 51) {
		struct o2_lnet_hdr hdr = {.dest_nid = NID_A, .src_nid = NID_B, .type = type};
		struct o2_transfer_memory memory;
		struct o2_error error;
		uint64_t tag;

		assert_int_equal(o2_lnet_receive(pair->a.lnet, NID_B, &hdr, NULL, &error), -EPROTO);
		assert_string_equal(error.rule, "lnet/header/type");
		assert_int_equal(o2_lnet_match(pair->a.lnet, NID_B, &hdr, &memory, &tag, &error), -EPROTO);
	}
	assert_int_equal(o2_lnet_messages(pair->a.lnet), 0);
}

static void test_transport_refuses(void **state)
{
	const struct o2_transfer_fault dreq = {.side = O2_FAULT_PEER_CLOSED};
	struct lnet_pair *pair = *state;
	struct o2_error error;

	pair->a.refuse = -ENETDOWN;
	for (unsigned int i = 0; i < 4; i++) {
		const struct o2_transfer_memory memory = lnet_side_memory(&pair->a, 0, 2, i < 2 ? 100 : 5000);
		const struct o2_lnet_target target = target_at(NID_B, true);
		const int rc = i % 2 == 0 ? o2_lnet_put(pair->a.lnet, &target, &memory, NULL, &error)
					  : o2_lnet_get(pair->a.lnet, &target, &memory, NULL, &error);

		assert_int_equal(rc, -ENETDOWN);
		assert_string_equal(error.rule, "test/refused");
	}
	assert_int_equal(pair->a.nresults, 0);
	assert_int_equal(o2_lnet_messages(pair->a.lnet), 0);

	/* Our ACK and our REPLY cannot be sent: the peer waits, and we leave nothing behind. */
	offer(&pair->b, 0);
	pair->a.refuse = 0;
	pair->b.refuse = -ENETDOWN;
	for (unsigned int i = 0; i < 2; i++) {
		const struct o2_transfer_memory memory = lnet_side_memory(&pair->a, 0, 2, 100);
		const struct o2_lnet_target target = target_at(NID_B, true);

		if (i == 0)
			assert_int_equal(o2_lnet_put(pair->a.lnet, &target, &memory, NULL, &error), 0);
		else
			assert_int_equal(o2_lnet_get(pair->a.lnet, &target, &memory, NULL, &error), 0);
		lnet_deliver_all(pair);
		assert_int_equal(pair->a.nresults, 0);
		assert_int_equal(o2_lnet_messages(pair->b.lnet), 0);
		o2_lnet_peer_down(pair->a.lnet, NID_B + 1, -ECONNRESET, NULL);
		assert_int_equal(pair->a.nresults, 0);
		o2_lnet_peer_down(pair->a.lnet, NID_B, -ECONNRESET, i == 0 ? NULL : &dreq);
		expect_result(&pair->a, -ECONNRESET, 0);
		assert_int_equal(pair->a.fault[0].code, i == 0 ? 0 : -ECONNRESET);
		assert_int_equal(pair->a.fault[0].closed_by, i == 0 ? O2_FAULT_NONE : O2_FAULT_PEER_CLOSED);
	}
	/* The GET's event says so. */
	assert_int_equal(pair->b.event[pair->b.nevents - 1].kind, O2_LNET_EVENT_GET);
	assert_int_equal(pair->b.event[pair->b.nevents - 1].status, -ENETDOWN);
}

static void test_transfer_fails(void **state)
{
	struct lnet_pair *pair = *state;

	offer(&pair->b, 0);
	pair->a.fail_transfer = -ECONNABORTED;
	for (unsigned int i = 0; i < 2; i++) {
		const struct o2_transfer_memory memory = lnet_side_memory(&pair->a, 0, 2, 5000);
		const struct o2_lnet_target target = target_at(NID_B, true);

		if (i == 0)
			assert_int_equal(o2_lnet_put(pair->a.lnet, &target, &memory, NULL, NULL), 0);
		else
			assert_int_equal(o2_lnet_get(pair->a.lnet, &target, &memory, NULL, NULL), 0);
		lnet_deliver_all(pair);
		expect_result(&pair->a, -ECONNABORTED, 0);
		/* And no ACK. */
		assert_int_equal(pair->b.event[i].status, -ECONNABORTED);
		assert_int_equal(o2_lnet_messages(pair->b.lnet), 0);
	}
}

static void test_limits(void **state)
{
	struct lnet_pair pair;
	struct o2_lnet_config config = O2_LNET_DEFAULTS;
	struct o2_transfer_memory memory;
	const struct o2_lnet_target target = target_at(NID_B, true);
	struct o2_error error;

	config.max_messages = 2;
	config.max_entries = 3;
	lnet_pair_open(&pair, &config);
	memory = lnet_side_memory(&pair.a, 0, 2, 5000);
	assert_int_equal(o2_lnet_put(pair.a.lnet, &target, NULL, NULL, &error), 0);
	assert_int_equal(o2_lnet_put(pair.a.lnet, &target, &memory, NULL, &error), 0);
	assert_int_equal(o2_lnet_put(pair.a.lnet, &target, &memory, NULL, &error), -ENOSPC);
	assert_string_equal(error.rule, "lnet/messages");
	assert_int_equal(o2_lnet_get(pair.a.lnet, &target, &memory, NULL, &error), -ENOSPC);
	/* Peers run into it as well: no room for their PUT_REQ, for our ACK, for our REPLY. */
	offer(&pair.a, 0);
	offer(&pair.b, 0);
	memory = lnet_side_memory(&pair.b, 0, 2, 5000);
	assert_int_equal(o2_lnet_put(pair.b.lnet, &(struct o2_lnet_target){NID_A, 60, 0x1234, 0, 0, true},
				     &memory, NULL, NULL),
			 0);
	assert_int_equal(lnet_deliver(&pair.b), -ENOSPC);
	expect_dropped(&pair.a, "lnet/messages");
	memory = lnet_side_memory(&pair.b, 0, 2, 50);
	assert_int_equal(o2_lnet_put(pair.b.lnet, &(struct o2_lnet_target){NID_A, 60, 0x1234, 0, 0, true},
				     &memory, NULL, NULL),
			 0);
	assert_int_equal(lnet_deliver(&pair.b), 0);
	expect_dropped(&pair.a, "lnet/messages");
	assert_int_equal(o2_lnet_get(pair.b.lnet, &(struct o2_lnet_target){NID_A, 60, 0x1234, 0, 0, true},
				     &memory, NULL, NULL),
			 0);
	assert_int_equal(lnet_deliver(&pair.b), 0);
	assert_int_equal(pair.a.event[pair.a.nevents - 1].status, -ENOSPC);
	/* None of this holds an entry: only that of one of the two pings' is left for a new one. */
	assert_int_equal(o2_lnet_detach(pair.a.lnet, 2), 0);
	lnet_deliver_all(&pair);
	/* Destroying ends what waits. */
	pair.b.nresults = 0;
	assert_int_equal(o2_lnet_messages(pair.b.lnet), 2);
	lnet_pair_close(&pair);
	assert_int_equal(pair.b.nresults, 2);
	assert_int_equal(pair.b.result[0].status, -ECONNABORTED);
}

static void test_what_a_caller_may_not_ask(void **state)
{
	struct lnet_pair *pair = *state;
	const struct o2_lnet_target target = target_at(NID_B, true);
	struct o2_transfer_memory memory = lnet_side_memory(&pair->a, 0, 2, 100);
	const struct o2_lnet_transport transport = lnet_side_transport(&pair->a);
	const struct o2_lnet_ops ops = {.done = NULL};
	struct o2_lnet_config config = O2_LNET_DEFAULTS;
	struct o2_lnet *lnet = NULL;
	struct o2_error error;

	memory.buffer.nob = O2_MAX_TRANSFER_BYTES + 1;
	assert_int_equal(o2_lnet_put(pair->a.lnet, &target, &memory, NULL, &error), -EINVAL);
	assert_string_equal(error.rule, "lnet/length");
	assert_int_equal(o2_lnet_get(pair->a.lnet, &target, &memory, NULL, &error), -EINVAL);
	memory.buffer.nob = 0;
	assert_int_equal(o2_lnet_get(pair->a.lnet, &target, &memory, NULL, &error), -EINVAL);
	config.max_messages = 0;
	assert_int_equal(o2_lnet_create(&config, &transport, &pair->a.arena, &pair->a.clock, &ops, NULL,
					&lnet, &error),
			 -EINVAL);
	config = O2_LNET_DEFAULTS;
	config.max_entries = 1;
	assert_int_equal(o2_lnet_create(&config, &transport, &pair->a.arena, &pair->a.clock, &ops, NULL,
					&lnet, &error),
			 -EINVAL);
	config = O2_LNET_DEFAULTS;
	config.first_page = LNET_PAGES - 1;
	assert_int_equal(o2_lnet_create(&config, &transport, &pair->a.arena, &pair->a.clock, &ops, NULL,
					&lnet, &error),
			 -EINVAL);
	assert_string_equal(error.rule, "lnet/config/first-page");
	assert_null(lnet);
}

int main(void)
{
#define EACH(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
	const struct CMUnitTest tests[] = {
		EACH(test_ping),
		EACH(test_push),
		EACH(test_put),
		EACH(test_get),
		EACH(test_small_messages),
		EACH(test_offset_and_truncation),
		EACH(test_offset_too_large),
		EACH(test_no_match),
		EACH(test_answer_before_completion),
		EACH(test_reply_by_rdma),
		EACH(test_long_reply),
		EACH(test_answers_that_nobody_asked_for),
		EACH(test_ack_against_rdma),
		EACH(test_headers_that_are_not_for_us),
		EACH(test_transport_refuses),
		EACH(test_transfer_fails),
		cmocka_unit_test(test_limits),
		EACH(test_what_a_caller_may_not_ask),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
