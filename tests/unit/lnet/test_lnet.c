/* SPDX-License-Identifier: MIT */

/* LNet (docs/peer.md): the messages between two nodes, and their limits. */

#include "tests/lib/lnet_pair.h"

/* Sizes below and above the largest payload of an IMMEDIATE, and the largest transfer. */
static const uint32_t sizes[] = {1, 100, 3976, 3977, 65536, O2_MAX_TRANSFER_BYTES};

LNET_PAIR_TEST(test_ping)
{
	const struct o2_transfer_memory sink = lnet_side_memory(&pair->a, 0, 2, O2_PING_SINK_BYTES);
	const struct o2_lnet_target target = {
		.nid = NID_B, .portal = O2_PING_PORTAL, .match_bits = O2_PING_MATCH_BITS};
	struct o2_ping_info info;

	lnet_get(&pair->a, &target, &sink);
	o2_lnet_deliver_all(pair);
	lnet_expect_result(&pair->a, 0, O2_PING_INFO_BYTES);
	assert_int_equal(o2_ping_decode(o2_lnet_side_bytes(&pair->a, 2), O2_PING_INFO_BYTES, &info, NULL), 2);
	assert_int_equal(info.ni[1].nid, NID_B);
	/* The same with a sink so large that RDMA is used, and with one too small for the whole ping info. */
	for (unsigned int i = 0; i < 2; i++) {
		const uint32_t length = i == 0 ? 8192 : 20;
		const struct o2_transfer_memory other = lnet_side_memory(&pair->a, 1, 4, length);

		lnet_get(&pair->a, &target, &other);
		o2_lnet_deliver_all(pair);
		lnet_expect_result(&pair->a, 0, i == 0 ? O2_PING_INFO_BYTES : 20);
		assert_memory_equal(o2_lnet_side_bytes(&pair->a, 4), o2_lnet_side_bytes(&pair->a, 2), 20);
	}
}

LNET_PAIR_TEST(test_push)
{
	const struct o2_ping_info info = o2_ping_info_make(NID_A, 12345, 0x1e, 2);
	const struct o2_transfer_memory source = lnet_side_memory(&pair->a, 0, 2, O2_PING_INFO_BYTES);
	const struct o2_lnet_target target = {
		.nid = NID_B, .portal = O2_PING_PORTAL, .match_bits = O2_PING_MATCH_BITS, .ack = true};

	assert_int_equal(o2_ping_encode(&info, o2_lnet_side_bytes(&pair->a, 2), 48), 48);
	lnet_put(&pair->a, &target, &source);
	o2_lnet_deliver_all(pair);
	lnet_expect_result(&pair->a, 0, 48);
	assert_memory_equal(o2_lnet_side_bytes(&pair->b, 1), o2_lnet_side_bytes(&pair->a, 2), 48);
}

LNET_PAIR_TEST(test_put)
{
	lnet_offer(&pair->b, 0);
	for (unsigned int i = 0; i < 2 * sizeof(sizes) / sizeof(sizes[0]); i++) {
		const uint32_t size = sizes[i / 2];
		const struct o2_transfer_memory source = lnet_side_memory(&pair->a, 0, 2, size);
		struct o2_lnet_target target = target_at(NID_B, i % 2 == 1);

		target.hdr_data = 0x1122334455667788;
		memset(o2_lnet_side_bytes(&pair->b, 256), 0, O2_MAX_TRANSFER_BYTES);
		fill_bytes(o2_lnet_side_bytes(&pair->a, 2), size, (uint8_t)i);
		lnet_put(&pair->a, &target, &source);
		o2_lnet_deliver_all(pair);
		lnet_expect_result(&pair->a, 0, size);
		assert_memory_equal(o2_lnet_side_bytes(&pair->b, 256), o2_lnet_side_bytes(&pair->a, 2), size);
		assert_int_equal(pair->b.nevents, 1);
		assert_int_equal(pair->b.event[0].kind, O2_LNET_EVENT_PUT);
		assert_int_equal(pair->b.event[0].entry_tag, 77);
		assert_int_equal(pair->b.event[0].length_bytes, size);
		assert_int_equal(pair->b.event_hdr[0].msg.put.hdr_data, target.hdr_data);
		pair->b.nevents = 0;
	}
}

LNET_PAIR_TEST(test_get)
{
	lnet_offer(&pair->b, 0);
	fill_bytes(o2_lnet_side_bytes(&pair->b, 256), O2_MAX_TRANSFER_BYTES, 3);
	for (unsigned int i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		const struct o2_transfer_memory sink = lnet_side_memory(&pair->a, 0, 2, sizes[i]);
		const struct o2_lnet_target target = target_at(NID_B, false);

		memset(o2_lnet_side_bytes(&pair->a, 2), 0xee, O2_MAX_TRANSFER_BYTES);
		lnet_get(&pair->a, &target, &sink);
		o2_lnet_deliver_all(pair);
		lnet_expect_result(&pair->a, 0, sizes[i]);
		assert_memory_equal(o2_lnet_side_bytes(&pair->a, 2), o2_lnet_side_bytes(&pair->b, 256),
				    sizes[i]);
		assert_int_equal(o2_lnet_side_bytes(&pair->a, 2)[sizes[i]],
				 sizes[i] == O2_MAX_TRANSFER_BYTES ? 0 : 0xee);
		assert_int_equal(pair->b.nevents, 1);
		assert_int_equal(pair->b.event[0].kind, O2_LNET_EVENT_GET);
		pair->b.nevents = 0;
	}
}

/* A peer that accepts only shorter messages. */
LNET_PAIR_TEST(test_small_messages)
{
	lnet_offer(&pair->b, 0);
	pair->a.immediate_max = pair->b.immediate_max = 28;
	for (uint32_t size = 28; size <= 29; size++) {
		const struct o2_transfer_memory memory = lnet_side_memory(&pair->a, 0, 2, size);
		const struct o2_lnet_target target = target_at(NID_B, true);

		fill_bytes(o2_lnet_side_bytes(&pair->a, 2), size, (uint8_t)size);
		lnet_put(&pair->a, &target, &memory);
		assert_int_equal(pair->a.letter[0].kind, size == 28 ? O2_LETTER_IMMEDIATE : O2_LETTER_PUT);
		o2_lnet_deliver_all(pair);
		lnet_expect_result(&pair->a, 0, size);
		assert_memory_equal(o2_lnet_side_bytes(&pair->b, 256), o2_lnet_side_bytes(&pair->a, 2), size);
		lnet_get(&pair->a, &target, &memory);
		assert_int_equal(pair->a.letter[0].kind, size == 28 ? O2_LETTER_IMMEDIATE : O2_LETTER_GET);
		o2_lnet_deliver_all(pair);
		lnet_expect_result(&pair->a, 0, size);
	}
}

LNET_PAIR_TEST(test_offset_and_truncation)
{
	const struct o2_transfer_memory memory = lnet_side_memory(&pair->a, 0, 2, 65536);
	struct o2_lnet_target target = target_at(NID_B, true);

	lnet_offer(&pair->b, O2_LNET_MD_TRUNCATE);
	fill_bytes(o2_lnet_side_bytes(&pair->a, 2), 65536, 9);
	target.offset = O2_MAX_TRANSFER_BYTES - 8192;
	lnet_put(&pair->a, &target, &memory);
	o2_lnet_deliver_all(pair);
	lnet_expect_result(&pair->a, 0, 8192);
	assert_memory_equal(o2_lnet_side_bytes(&pair->b, 256) + target.offset,
			    o2_lnet_side_bytes(&pair->a, 2), 8192);
	memset(o2_lnet_side_bytes(&pair->a, 2), 0, 65536);
	lnet_get(&pair->a, &target, &memory);
	o2_lnet_deliver_all(pair);
	lnet_expect_result(&pair->a, 0, 8192);
	assert_memory_equal(o2_lnet_side_bytes(&pair->b, 256) + target.offset,
			    o2_lnet_side_bytes(&pair->a, 2), 8192);
	/* At the end of the entry there is no room at all, which counts as no match. */
	target.offset = O2_MAX_TRANSFER_BYTES;
	lnet_put(&pair->a, &target, &memory);
	o2_lnet_deliver_all(pair);
	lnet_expect_result(&pair->a, -ENODATA, 0);
}

/* The header has 32 bits for the offset: a larger one must be refused, and not wrap to another place. */
LNET_PAIR_TEST(test_offset_too_large)
{
	const struct o2_transfer_memory memory = lnet_side_memory(&pair->a, 0, 2, 8192);
	struct o2_lnet_target target = target_at(NID_B, true);
	struct o2_error error;

	lnet_offer(&pair->b, 0);
	target.offset = UINT64_C(1) << 32;
	assert_error(o2_lnet_put(pair->a.lnet, &target, &memory, NULL, &error), -EINVAL, &error,
		     "lnet/offset");
	assert_int_equal(error.value, target.offset);
	assert_int_equal(error.limit, UINT32_MAX);
	assert_error(o2_lnet_get(pair->a.lnet, &target, &memory, NULL, &error), -EINVAL, &error,
		     "lnet/offset");
	assert_int_equal(o2_lnet_messages(pair->a.lnet), 0);
}

LNET_PAIR_TEST(test_no_match)
{
	const struct o2_lnet_config defaults = O2_LNET_DEFAULTS;

	for (unsigned int i = 0; i < 4; i++) {
		const uint32_t size = i < 2 ? 100 : 8192;
		const struct o2_transfer_memory memory = lnet_side_memory(&pair->a, 0, 2, size);
		const struct o2_lnet_target target = target_at(NID_B, true);

		(i % 2 == 0 ? lnet_put : lnet_get)(&pair->a, &target, &memory);
		o2_lnet_deliver_all(pair);
		lnet_expect_dropped(&pair->b, "lnet/match/none");
		if (size == 100) {
			/* Nothing is answered: the operation ends only by its timeout. */
			assert_int_equal(pair->a.nresults, 0);
			o2_lnet_side_clock(&pair->a, (i + 1) * defaults.response_timeout_ms - 1);
			assert_int_equal(pair->a.nresults, 0);
			o2_lnet_side_clock(&pair->a, (i + 1) * defaults.response_timeout_ms);
		}
		lnet_expect_result(&pair->a, size == 100 ? -ETIMEDOUT : -ENODATA, 0);
		if (size != 100) {
			if (i % 2 == 0)
				lnet_expect_fault(&pair->a, O2_FAULT_PEER_STATUS, "lnet/put/no-match", 0,
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

LNET_PAIR_TEST(test_transport_refuses)
{
	const struct o2_transfer_fault dreq = {.side = O2_FAULT_PEER_CLOSED};
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

	/* Our ACK and our REPLY cannot be sent: the peer waits, and we keep no state. */
	lnet_offer(&pair->b, 0);
	pair->a.refuse = 0;
	pair->b.refuse = -ENETDOWN;
	for (unsigned int i = 0; i < 2; i++) {
		const struct o2_transfer_memory memory = lnet_side_memory(&pair->a, 0, 2, 100);
		const struct o2_lnet_target target = target_at(NID_B, true);

		(i == 0 ? lnet_put : lnet_get)(&pair->a, &target, &memory);
		o2_lnet_deliver_all(pair);
		assert_int_equal(pair->a.nresults, 0);
		assert_int_equal(o2_lnet_messages(pair->b.lnet), 0);
		o2_lnet_peer_down(pair->a.lnet, NID_B + 1, NULL);
		assert_int_equal(pair->a.nresults, 0);
		o2_lnet_peer_down(pair->a.lnet, NID_B, i == 0 ? NULL : &dreq);
		lnet_expect_result(&pair->a, -ECONNABORTED, 0);
		assert_int_equal(pair->a.fault[0].code, i == 0 ? 0 : -ECONNABORTED);
		assert_int_equal(pair->a.fault[0].closed_by, i == 0 ? O2_FAULT_NONE : O2_FAULT_PEER_CLOSED);
	}
	/* The GET's event reports the failure. */
	assert_int_equal(pair->b.event[pair->b.nevents - 1].kind, O2_LNET_EVENT_GET);
	assert_int_equal(pair->b.event[pair->b.nevents - 1].status, -ENETDOWN);
}

LNET_PAIR_TEST(test_transfer_fails)
{
	lnet_offer(&pair->b, 0);
	pair->a.fail_transfer = -ECONNABORTED;
	for (unsigned int i = 0; i < 2; i++) {
		const struct o2_transfer_memory memory = lnet_side_memory(&pair->a, 0, 2, 5000);
		const struct o2_lnet_target target = target_at(NID_B, true);

		(i == 0 ? lnet_put : lnet_get)(&pair->a, &target, &memory);
		o2_lnet_deliver_all(pair);
		lnet_expect_result(&pair->a, -ECONNABORTED, 0);
		/* No ACK is sent. */
		assert_int_equal(pair->b.event[i].status, -ECONNABORTED);
		assert_int_equal(o2_lnet_messages(pair->b.lnet), 0);
	}
}

TEST(test_limits)
{
	struct o2_lnet_pair pair;
	struct o2_lnet_config config = O2_LNET_DEFAULTS;
	struct o2_transfer_memory memory;
	const struct o2_lnet_target target = target_at(NID_B, true), back = target_at(NID_A, true);
	struct o2_error error;

	config.max_messages = 2;
	config.max_entries = 3;
	lnet_pair_open(&pair, &config);
	memory = lnet_side_memory(&pair.a, 0, 2, 5000);
	lnet_put(&pair.a, &target, NULL);
	lnet_put(&pair.a, &target, &memory);
	assert_error(o2_lnet_put(pair.a.lnet, &target, &memory, NULL, &error), -ENOSPC, &error,
		     "lnet/messages");
	assert_int_equal(error.value, error.limit + 1);
	assert_int_equal(o2_lnet_get(pair.a.lnet, &target, &memory, NULL, &error), -ENOSPC);
	/* The limit also affects peers: there is no room for their PUT_REQ, for our ACK, or for our REPLY. */
	lnet_offer(&pair.a, 0);
	lnet_offer(&pair.b, 0);
	memory = lnet_side_memory(&pair.b, 0, 2, 5000);
	lnet_put(&pair.b, &back, &memory);
	assert_int_equal(o2_lnet_deliver(&pair.b), -ENOSPC);
	lnet_expect_dropped(&pair.a, "lnet/messages");
	memory = lnet_side_memory(&pair.b, 0, 2, 50);
	lnet_put(&pair.b, &back, &memory);
	assert_int_equal(o2_lnet_deliver(&pair.b), 0);
	lnet_expect_dropped(&pair.a, "lnet/messages");
	lnet_get(&pair.b, &back, &memory);
	assert_int_equal(o2_lnet_deliver(&pair.b), 0);
	lnet_expect_dropped(&pair.a, "lnet/messages");
	/* None of these requests still holds the offered entry: it can be detached. */
	assert_int_equal(o2_lnet_detach(pair.a.lnet, 2), 0);
	o2_lnet_deliver_all(&pair);
	/* Destroying the LNet ends waiting operations. */
	pair.b.nresults = 0;
	assert_int_equal(o2_lnet_messages(pair.b.lnet), 2);
	lnet_pair_close(&pair);
	assert_int_equal(pair.b.nresults, 2);
	assert_int_equal(pair.b.result[0].status, -ECONNABORTED);
}

LNET_PAIR_TEST(test_what_a_caller_may_not_ask)
{
	const struct o2_lnet_target target = target_at(NID_B, true);
	struct o2_transfer_memory memory = lnet_side_memory(&pair->a, 0, 2, 100);
	const struct o2_lnet_transport transport = o2_lnet_side_transport(&pair->a);
	const struct o2_lnet_ops ops = {.done = NULL};
	struct o2_lnet_config config = O2_LNET_DEFAULTS;
	struct o2_arena small = pair->a.arena;
	struct o2_lnet *lnet = NULL;
	struct o2_error error;

	memory.buffer.nob = O2_MAX_TRANSFER_BYTES + 1;
	assert_error(o2_lnet_put(pair->a.lnet, &target, &memory, NULL, &error), -EINVAL, &error,
		     "lnet/length");
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
	config.first_page = O2_LNET_SIDE_PAGES - 1;
	assert_error(o2_lnet_create(&config, &transport, &pair->a.arena, &pair->a.clock, &ops, NULL, &lnet,
				    &error),
		     -EINVAL, &error, "lnet/config/first-page");
	/* Two pages are enough, for LNet's own entries. */
	config.first_page = 0;
	small.npages = 1;
	assert_error(o2_lnet_create(&config, &transport, &small, &pair->a.clock, &ops, NULL, &lnet, &error),
		     -EINVAL, &error, "lnet/config/first-page");
	assert_null(lnet);
	small.npages = 2;
	assert_int_equal(
		o2_lnet_create(&config, &transport, &small, &pair->a.clock, &ops, NULL, &lnet, &error), 0);
	o2_lnet_destroy(lnet);
}
