/* SPDX-License-Identifier: MIT */

/* A peer's answers and headers (docs/peer.md), in any order, and those that must not harm our LNet. */

#include "tests/lib/lnet_pair.h"

/* An ACK or REPLY may arrive before our own send has completed. */
LNET_PAIR_TEST(test_answer_before_completion)
{
	lnet_offer(&pair->b, 0);
	for (unsigned int i = 0; i < 2; i++) {
		const struct o2_transfer_memory memory = lnet_side_memory(&pair->a, 0, 2, 100);
		const struct o2_lnet_target target = target_at(NID_B, true);
		static struct o2_letter request;

		(i == 0 ? lnet_put : lnet_get)(&pair->a, &target, &memory);
		request = pair->a.letter[0];
		pair->a.nletters = 0;
		assert_int_equal(o2_lnet_receive(pair->b.lnet, NID_A, &request.hdr, request.payload, NULL),
				 0);
		assert_int_equal(o2_lnet_deliver(&pair->b), 0);
		assert_int_equal(pair->a.nresults, 0);
		/* Even a failed completion does not change the result. */
		o2_lnet_finished(pair->a.lnet, request.tag, i == 0 ? 0 : -EIO, 0, NULL);
		lnet_expect_result(&pair->a, 0, 100);
	}
}

/* The sink is small enough for an IMMEDIATE, but the peer replies by RDMA. */
LNET_PAIR_TEST(test_reply_by_rdma)
{
	const struct o2_transfer_memory sink = lnet_side_memory(&pair->a, 0, 2, 1000);
	const struct o2_lnet_target target = target_at(NID_B, false);
	struct o2_lnet_hdr reply = {
		.dest_nid = NID_A, .src_nid = NID_B, .type = O2_LNET_REPLY, .payload_length = 900};
	struct o2_transfer_memory memory;
	struct o2_error error;
	uint64_t tag, again;

	lnet_get(&pair->a, &target, &sink);
	reply.msg.reply.dst_wmd = pair->a.letter[0].hdr.msg.get.return_wmd;
	assert_int_equal(o2_lnet_deliver(&pair->a), 0);
	assert_int_equal(o2_lnet_match(pair->a.lnet, NID_B, &reply, &memory, &tag, &error), 0);
	assert_int_equal(memory.buffer.nob, 900);
	assert_ptr_equal(memory.buffer.iov, sink.buffer.iov);
	/* A second REPLY is refused, and while the first is under way the operation does not time out. */
	assert_int_equal(o2_lnet_match(pair->a.lnet, NID_B, &reply, &memory, &again, &error), -ENODATA);
	lnet_expect_dropped(&pair->a, "lnet/unknown-handle");
	o2_lnet_side_clock(&pair->a, 10000000);
	o2_lnet_peer_down(pair->a.lnet, NID_B, NULL);
	assert_int_equal(pair->a.nresults, 0);
	o2_lnet_finished(pair->a.lnet, tag, 0, 900, NULL);
	lnet_expect_result(&pair->a, 0, 900);

	/* The REPLY fails before our own send has completed. */
	lnet_get(&pair->a, &target, &sink);
	reply.msg.reply.dst_wmd = pair->a.letter[0].hdr.msg.get.return_wmd;
	assert_int_equal(o2_lnet_match(pair->a.lnet, NID_B, &reply, &memory, &tag, &error), 0);
	o2_lnet_finished(pair->a.lnet, tag, -EIO, 0, NULL);
	assert_int_equal(pair->a.nresults, 0);
	assert_int_equal(o2_lnet_deliver(&pair->a), 0);
	lnet_expect_result(&pair->a, -EIO, 0);
}

/* Both our own send and the REPLY by RDMA fail: status and fault are those of the REPLY, in either order. */
LNET_PAIR_TEST(test_request_and_reply_fail)
{
	const struct o2_transfer_memory sink = lnet_side_memory(&pair->a, 0, 2, 1000);
	const struct o2_lnet_target target = target_at(NID_B, false);
	const struct o2_transfer_fault late = o2_fault_late(O2_WAIT_SEND, -ETIMEDOUT, "test/late", 7, 6);
	const struct o2_error why = {.code = -EIO, .rule = "test/reply", .value = 2, .limit = 1};
	const struct o2_transfer_fault wrong = o2_fault_of(O2_FAULT_PEER_MESSAGE, -EIO, &why);
	struct o2_lnet_hdr reply = {
		.dest_nid = NID_A, .src_nid = NID_B, .type = O2_LNET_REPLY, .payload_length = 900};
	struct o2_transfer_memory memory;
	uint64_t request, tag;

	for (unsigned int i = 0; i < 2; i++) {
		lnet_get(&pair->a, &target, &sink);
		request = pair->a.letter[0].tag;
		reply.msg.reply.dst_wmd = pair->a.letter[0].hdr.msg.get.return_wmd;
		pair->a.nletters = 0;
		assert_int_equal(o2_lnet_match(pair->a.lnet, NID_B, &reply, &memory, &tag, NULL), 0);
		if (i == 0)
			o2_lnet_finished(pair->a.lnet, request, -ETIMEDOUT, 0, &late);
		o2_lnet_finished(pair->a.lnet, tag, -EIO, 0, &wrong);
		if (i == 1)
			o2_lnet_finished(pair->a.lnet, request, -ETIMEDOUT, 0, &late);
		lnet_expect_result(&pair->a, -EIO, 0);
		lnet_expect_fault(&pair->a, O2_FAULT_PEER_MESSAGE, "test/reply", 2, 1);
	}
}

LNET_PAIR_TEST(test_long_reply)
{
	const struct o2_transfer_memory sink = lnet_side_memory(&pair->a, 0, 2, 1000);
	const struct o2_lnet_target target = target_at(NID_B, false);
	struct o2_lnet_hdr reply = {
		.dest_nid = NID_A, .src_nid = NID_B, .type = O2_LNET_REPLY, .payload_length = 1001};
	static uint8_t payload[1001];
	struct o2_transfer_memory memory;
	struct o2_error error;
	uint64_t tag;

	memset(payload, 0x55, sizeof(payload));
	lnet_get(&pair->a, &target, &sink);
	reply.msg.reply.dst_wmd = pair->a.letter[0].hdr.msg.get.return_wmd;
	assert_int_equal(o2_lnet_deliver(&pair->a), 0);
	pair->b.nletters = 0;
	assert_int_equal(o2_lnet_receive(pair->a.lnet, NID_B, &reply, payload, &error), 0);
	lnet_expect_result(&pair->a, -EMSGSIZE, 0);
	lnet_expect_fault(&pair->a, O2_FAULT_PEER_MESSAGE, "lnet/reply/too-long", 1001, 1000);
	assert_int_equal(o2_lnet_side_bytes(&pair->a, 2)[0], 0);

	lnet_get(&pair->a, &target, &sink);
	reply.msg.reply.dst_wmd = pair->a.letter[0].hdr.msg.get.return_wmd;
	assert_int_equal(o2_lnet_deliver(&pair->a), 0);
	assert_int_equal(o2_lnet_match(pair->a.lnet, NID_B, &reply, &memory, &tag, &error), -EMSGSIZE);
	lnet_expect_result(&pair->a, -EMSGSIZE, 0);
	lnet_expect_fault(&pair->a, O2_FAULT_PEER_MESSAGE, "lnet/reply/too-long", 1001, 1000);
}

/* The REPLY fits, but our own sink cannot take it: the operation says so, and not what befell the request's send. */
LNET_PAIR_TEST(test_reply_into_no_memory)
{
	const struct o2_kiov nowhere = {O2_LNET_SIDE_PAGES, 0, 100};
	const struct o2_transfer_memory sink = {
		.buffer = {.kind = O2_KIOV, .count = 1, .nob = 100, .kiov = &nowhere}};
	const struct o2_transfer_fault gone = o2_fault_local_close(-ECONNABORTED);
	const struct o2_lnet_target target = target_at(NID_B, false);
	struct o2_lnet_hdr reply = {
		.dest_nid = NID_A, .src_nid = NID_B, .type = O2_LNET_REPLY, .payload_length = 100};
	static const uint8_t payload[100];

	lnet_get(&pair->a, &target, &sink);
	reply.msg.reply.dst_wmd = pair->a.letter[0].hdr.msg.get.return_wmd;
	assert_int_equal(o2_lnet_receive(pair->a.lnet, NID_B, &reply, payload, NULL), 0);
	o2_lnet_finished(pair->a.lnet, pair->a.letter[0].tag, -ECONNABORTED, 0, &gone);
	pair->a.nletters = 0;
	lnet_expect_result(&pair->a, -EINVAL, 0);
	lnet_expect_fault(&pair->a, O2_FAULT_LOCAL_STAGE, "sg/kiov/no-such-page", O2_LNET_SIDE_PAGES,
			  O2_LNET_SIDE_PAGES);
}

/* Answers to no request of ours: each is dropped, the connection stays, and the operation goes on. */
LNET_PAIR_TEST(test_answers_that_nobody_asked_for)
{
	const struct o2_transfer_memory memory = lnet_side_memory(&pair->a, 0, 2, 100);
	const struct o2_transfer_memory large = lnet_side_memory(&pair->a, 1, 4, 5000);
	struct o2_lnet_hdr ack = {.dest_nid = NID_A, .src_nid = NID_B, .type = O2_LNET_ACK};
	struct o2_lnet_hdr reply = {.dest_nid = NID_A, .src_nid = NID_B, .type = O2_LNET_REPLY};
	struct o2_lnet_target target = target_at(NID_B, true);
	struct o2_lnet_handle put, get, rdma_get, no_ack;

	lnet_put(&pair->a, &target, &memory);
	lnet_get(&pair->a, &target, &memory);
	lnet_get(&pair->a, &target, &large);
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
		lnet_expect_dropped(&pair->a, "lnet/unknown-handle");
	}
	for (unsigned int i = 0; i < sizeof(bad_replies) / sizeof(bad_replies[0]); i++) {
		reply.msg.reply.dst_wmd = bad_replies[i];
		assert_int_equal(o2_lnet_receive(pair->a.lnet, NID_B, &reply, NULL, NULL), 0);
		lnet_expect_dropped(&pair->a, "lnet/unknown-handle");
	}
	/* The ACK claims more bytes than were sent. */
	ack.msg.ack.dst_wmd = put;
	ack.msg.ack.mlength = 101;
	assert_int_equal(o2_lnet_receive(pair->a.lnet, NID_B, &ack, NULL, NULL), 0);
	lnet_expect_dropped(&pair->a, "lnet/ack/mlength");
	/* The ACK comes from another peer, even though its header has the right NID. */
	ack.msg.ack.mlength = 100;
	assert_int_equal(o2_lnet_receive(pair->a.lnet, NID_B + 1, &ack, NULL, NULL), 0);
	lnet_expect_dropped(&pair->a, "lnet/header/src-nid");
	ack.src_nid = NID_B + 1;
	assert_int_equal(o2_lnet_receive(pair->a.lnet, NID_B + 1, &ack, NULL, NULL), 0);
	lnet_expect_dropped(&pair->a, "lnet/unknown-handle");
	assert_int_equal(pair->a.nresults, 0);
	/* The right ACK, twice. */
	ack.src_nid = NID_B;
	assert_int_equal(o2_lnet_receive(pair->a.lnet, NID_B, &ack, NULL, NULL), 0);
	assert_int_equal(o2_lnet_receive(pair->a.lnet, NID_B, &ack, NULL, NULL), 0);
	lnet_expect_dropped(&pair->a, "lnet/unknown-handle");
	lnet_offer(&pair->b, 0);
	o2_lnet_deliver_all(pair);
	assert_int_equal(pair->a.nresults, 3);
	for (unsigned int i = 0; i < 3; i++)
		assert_int_equal(pair->a.result[i].status, 0);
}

/* An ACK that contradicts what the RDMA moved. */
LNET_PAIR_TEST(test_ack_against_rdma)
{
	const struct o2_transfer_memory memory = lnet_side_memory(&pair->a, 0, 2, 8192);
	const struct o2_lnet_target target = target_at(NID_B, true);
	struct o2_lnet_hdr ack = {.dest_nid = NID_A, .src_nid = NID_B, .type = O2_LNET_ACK};

	lnet_put(&pair->a, &target, &memory);
	ack.msg.ack.dst_wmd = pair->a.letter[0].hdr.msg.put.ack_wmd;
	ack.msg.ack.mlength = 8191;
	assert_int_equal(o2_lnet_receive(pair->a.lnet, NID_B, &ack, NULL, NULL), 0);
	o2_lnet_finished(pair->a.lnet, pair->a.letter[0].tag, 0, 8192, NULL);
	lnet_expect_result(&pair->a, -EPROTO, 0);
	lnet_expect_fault(&pair->a, O2_FAULT_PEER_MESSAGE, "lnet/ack/other-length", 8191, 8192);
	pair->a.nletters = 0;
}

LNET_PAIR_TEST(test_headers_that_are_not_for_us)
{
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

		assert_error(o2_lnet_receive(pair->a.lnet, NID_B, &hdr, NULL, &error), -EPROTO, &error,
			     "lnet/header/type");
		assert_int_equal(o2_lnet_match(pair->a.lnet, NID_B, &hdr, &memory, &tag, &error), -EPROTO);
	}
	assert_int_equal(o2_lnet_messages(pair->a.lnet), 0);
}
