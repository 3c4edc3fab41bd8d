/* SPDX-License-Identifier: MIT */

#include "lnd/conn/credits.h"
#include "tests/lib/unit_test.h"

/* The tables of docs/transport.md, "Flow control" and "Tunables", row by row. */

#define V1 O2_MSG_VERSION_1
#define V2 O2_MSG_VERSION_2

static struct o2_credits start(uint16_t version, uint32_t depth)
{
	struct o2_flow_tunables tunables = {.queue_depth = depth};
	struct o2_credits credits;

	o2_flow_resolve(&tunables, version);
	o2_credits_init(&credits, version, depth, &tunables);
	return credits;
}

TEST(resolves_tunables)
{
	static const struct {
		uint16_t version;
		struct o2_flow_tunables in, out;
	} rows[] = {
		{V2, {8, 0, 0, 0}, {8, 8, 4, 8}},     {V2, {8, 0, 3, 0}, {8, 8, 4, 8}},
		{V2, {8, 0, 8, 0}, {8, 8, 7, 8}},     {V2, {8, 0, 5, 0}, {8, 8, 5, 8}},
		{V2, {8, 32, 0, 0}, {8, 32, 16, 32}}, {V2, {8, 32, 99, 0}, {8, 32, 31, 32}},
		{V2, {8, 0, 0, 3}, {8, 8, 4, 4}},     {V2, {8, 0, 0, 17}, {8, 8, 4, 16}},
		{V2, {2, 0, 0, 0}, {2, 2, 1, 2}},     {V2, {255, 0, 0, 600}, {255, 255, 127, 510}},
		{V2, {1, 1, 0, 0}, {1, 1, 0, 1}},     {V1, {8, 0, 0, 0}, {8, 8, 4, 8}},
		{V1, {2, 0, 0, 0}, {2, 2, 1, 4}},     {V1, {64, 0, 0, 0}, {64, 64, 32, 16}},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct o2_flow_tunables tunables = rows[i].in;

		o2_flow_resolve(&tunables, rows[i].version);
		assert_memory_equal(&tunables, &rows[i].out, sizeof(tunables));
	}
}

/* Agreed depth, peer_tx_credits, peercredits_hiw -> high-water mark. */
TEST(scales_the_high_water_mark)
{
	static const struct {
		uint16_t version;
		uint32_t depth, credits, hiw, mark;
	} rows[] = {
		{V2, 8, 8, 4, 4},   {V2, 8, 8, 7, 7},	  {V2, 4, 8, 4, 2},	{V2, 2, 8, 4, 1},
		{V2, 2, 32, 16, 1}, {V2, 3, 255, 127, 1}, {V2, 8, 255, 127, 3}, {V2, 255, 255, 254, 254},
		{V2, 3, 8, 4, 1},   {V2, 4, 8, 7, 3},	  {V2, 5, 8, 4, 2},	{V2, 2, 2, 0, 1},
		{V2, 2, 3, 1, 1},   {V2, 9, 9, 4, 4},	  {V2, 7, 255, 127, 3}, {V2, 1, 255, 127, 1},
		{V1, 8, 8, 4, 7},   {V1, 3, 8, 4, 2},	  {V1, 16, 16, 8, 7},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct o2_flow_tunables tunables = {rows[i].depth, rows[i].credits, rows[i].hiw, 8};
		struct o2_credits credits;

		o2_credits_init(&credits, rows[i].version, rows[i].depth, &tunables);
		assert_int_equal(credits.high_water, rows[i].mark);
		assert_int_equal(credits.credits, rows[i].depth);
		assert_int_equal(credits.reserved, rows[i].depth);
		assert_int_equal(credits.granted, rows[i].depth);
		assert_int_equal(credits.outstanding, 0);
	}
}

TEST(knows_what_each_message_takes)
{
	static const struct {
		enum o2_msg_type type;
		bool credit_v2, credit_v1, reserve;
		enum o2_repost v2, v1, acknowledged;
	} rows[] = {
		{O2_MSG_NOOP, false, true, false, O2_REPOST_NONE, O2_REPOST_PEER, O2_REPOST_NONE},
		{O2_MSG_IMMEDIATE, true, true, false, O2_REPOST_PEER, O2_REPOST_PEER, O2_REPOST_PEER},
		{O2_MSG_PUT_REQ, true, true, true, O2_REPOST_PEER, O2_REPOST_PEER, O2_REPOST_NONE},
		{O2_MSG_PUT_NAK, false, false, false, O2_REPOST_RESERVED, O2_REPOST_RESERVED,
		 O2_REPOST_RESERVED},
		{O2_MSG_PUT_ACK, false, false, false, O2_REPOST_RESERVED, O2_REPOST_RESERVED,
		 O2_REPOST_RESERVED},
		{O2_MSG_PUT_DONE, false, false, false, O2_REPOST_PEER, O2_REPOST_PEER, O2_REPOST_PEER},
		{O2_MSG_GET_REQ, true, true, true, O2_REPOST_PEER, O2_REPOST_PEER, O2_REPOST_PEER},
		{O2_MSG_GET_DONE, false, false, false, O2_REPOST_RESERVED, O2_REPOST_RESERVED,
		 O2_REPOST_RESERVED},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_int_equal(o2_takes_credit(V2, rows[i].type), rows[i].credit_v2);
		assert_int_equal(o2_takes_credit(V1, rows[i].type), rows[i].credit_v1);
		assert_int_equal(o2_takes_reserve(rows[i].type), rows[i].reserve);
		assert_int_equal(o2_repost_of(V2, rows[i].type, false), rows[i].v2);
		assert_int_equal(o2_repost_of(V1, rows[i].type, false), rows[i].v1);
		assert_int_equal(o2_repost_of(V2, rows[i].type, true), rows[i].acknowledged);
	}
}

TEST(says_what_may_be_posted)
{
	static const struct {
		uint16_t version;
		enum o2_msg_type type;
		uint32_t credits, in_flight;
		bool may;
	} rows[] = {
		{V2, O2_MSG_IMMEDIATE, 1, 0, true},  {V2, O2_MSG_IMMEDIATE, 0, 0, false},
		{V2, O2_MSG_PUT_REQ, 1, 0, true},    {V2, O2_MSG_PUT_REQ, 0, 0, false},
		{V2, O2_MSG_GET_REQ, 0, 0, false},   {V2, O2_MSG_PUT_ACK, 0, 0, true},
		{V2, O2_MSG_PUT_NAK, 0, 0, true},    {V2, O2_MSG_PUT_DONE, 0, 0, true},
		{V2, O2_MSG_GET_DONE, 0, 0, true},   {V2, O2_MSG_NOOP, 0, 0, true},
		{V2, O2_MSG_IMMEDIATE, 8, 8, false}, {V2, O2_MSG_GET_DONE, 8, 8, false},
		{V2, O2_MSG_NOOP, 8, 8, false},	     {V2, O2_MSG_GET_DONE, 8, 7, true},
		{V1, O2_MSG_IMMEDIATE, 2, 0, true},  {V1, O2_MSG_IMMEDIATE, 1, 0, false},
		{V1, O2_MSG_PUT_REQ, 1, 0, false},   {V1, O2_MSG_GET_REQ, 1, 0, false},
		{V1, O2_MSG_NOOP, 1, 0, true},	     {V1, O2_MSG_NOOP, 0, 0, false},
		{V1, O2_MSG_PUT_ACK, 0, 0, true},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct o2_credits credits = start(rows[i].version, 8);

		credits.credits = rows[i].credits;
		credits.in_flight = rows[i].in_flight;
		assert_int_equal(o2_credits_may_post(&credits, rows[i].type), rows[i].may);
	}
}

TEST(accounts_for_a_post)
{
	struct o2_credits credits = start(V2, 8);

	credits.outstanding = 3;
	credits.granted = 5;
	credits.peer_requests = 2;
	assert_int_equal(o2_credits_byte(&credits), 3);
	o2_credits_post(&credits, O2_MSG_PUT_REQ);
	assert_int_equal(credits.credits, 7);
	assert_int_equal(credits.outstanding, 0);
	assert_int_equal(credits.granted, 8);
	assert_int_equal(credits.in_flight, 1);
	assert_int_equal(credits.peer_requests, 2);
	o2_credits_post(&credits, O2_MSG_PUT_ACK);
	assert_int_equal(credits.credits, 7);
	assert_int_equal(credits.peer_requests, 1);
	o2_credits_post(&credits, O2_MSG_PUT_DONE);
	assert_int_equal(credits.peer_requests, 1);
	o2_credits_post(&credits, O2_MSG_NOOP);
	assert_int_equal(credits.noops_in_flight, 1);
	assert_int_equal(credits.in_flight, 4);
	o2_credits_sent(&credits, O2_MSG_NOOP);
	o2_credits_sent(&credits, O2_MSG_PUT_DONE);
	assert_int_equal(credits.noops_in_flight, 0);
	assert_int_equal(credits.in_flight, 2);
	o2_credits_repost(&credits, O2_MSG_PUT_ACK, O2_REPOST_RESERVED);
	o2_credits_repost(&credits, O2_MSG_IMMEDIATE, O2_REPOST_PEER);
	o2_credits_repost(&credits, O2_MSG_NOOP, O2_REPOST_NONE);
	assert_int_equal(credits.reserved, 9);
	assert_int_equal(credits.outstanding, 1);
	assert_int_equal(credits.messages_handled, 1);
}

TEST(refuses_what_a_peer_cannot_have)
{
	static const struct {
		enum o2_msg_type type;
		uint32_t credits, granted, requests;
		uint8_t byte;
		const char *rule; /* NULL: accepted */
		uint64_t value;	  /* that the refusal names */
	} rows[] = {
		{O2_MSG_NOOP, 7, 8, 0, 1, NULL, 0},
		{O2_MSG_NOOP, 8, 8, 0, 1, "conn/credits-over-depth", 9},
		{O2_MSG_NOOP, 0, 8, 0, 255, "conn/credits-over-depth", 255},
		{O2_MSG_IMMEDIATE, 8, 1, 0, 0, NULL, 0},
		{O2_MSG_IMMEDIATE, 8, 0, 0, 0, "conn/no-credit", 1},
		{O2_MSG_GET_REQ, 8, 0, 0, 0, "conn/no-credit", 1},
		{O2_MSG_PUT_REQ, 8, 0, 0, 0, "conn/no-credit", 1},
		{O2_MSG_PUT_DONE, 8, 0, 0, 0, NULL, 0},
		{O2_MSG_GET_DONE, 8, 0, 0, 0, NULL, 0},
		{O2_MSG_NOOP, 8, 0, 0, 0, NULL, 0},
		{O2_MSG_GET_REQ, 8, 4, 7, 0, NULL, 0},
		{O2_MSG_GET_REQ, 8, 4, 8, 0, "conn/too-many-requests", 9},
		{O2_MSG_PUT_REQ, 8, 4, 8, 0, "conn/too-many-requests", 9},
		{O2_MSG_IMMEDIATE, 8, 4, 8, 0, NULL, 0},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct o2_credits credits = start(V2, 8);
		struct o2_error error = {0};
		int rc;

		credits.credits = rows[i].credits;
		credits.granted = rows[i].granted;
		credits.peer_requests = rows[i].requests;
		rc = o2_credits_receive(&credits, rows[i].type, rows[i].byte, &error);
		assert_int_equal(rc, rows[i].rule == NULL ? 0 : -EPROTO);
		if (rows[i].rule != NULL) {
			assert_string_equal(error.rule, rows[i].rule);
			assert_int_equal(error.value, rows[i].value);
			assert_int_equal(error.class, O2_CLASS_CONNECTION);
		} else {
			assert_int_equal(credits.credits, rows[i].credits + rows[i].byte);
		}
	}
}

TEST(says_when_a_noop_is_due)
{
	static const struct {
		uint16_t version;
		uint32_t outstanding, credits;
		struct o2_noop_question question; /* keepalive, nocred, noop, queued */
		bool need;
	} rows[] = {
		{V2, 3, 8, {false, false, false, false}, false},
		{V2, 4, 8, {false, false, false, false}, true},
		{V2, 4, 8, {false, true, false, false}, false},
		{V2, 4, 8, {false, false, false, true}, false},
		{V2, 4, 0, {false, false, false, true}, true},
		{V2, 0, 8, {true, false, false, false}, true},
		{V2, 0, 8, {true, true, false, false}, false},
		{V2, 0, 8, {true, false, false, true}, false},
		{V2, 0, 0, {false, false, false, false}, false},
		{V1, 6, 8, {false, false, false, false}, false},
		{V1, 7, 8, {false, false, false, false}, true},
		{V1, 7, 8, {false, true, false, false}, false},
		{V1, 7, 8, {false, false, true, false}, false},
		{V1, 7, 0, {false, false, false, false}, false},
		{V1, 7, 8, {false, false, false, true}, false},
		{V1, 7, 1, {false, false, false, true}, true},
		{V1, 7, 1, {false, false, false, false}, true},
		{V1, 0, 1, {true, false, false, false}, false},
		{V1, 1, 1, {true, false, false, false}, true},
		{V1, 0, 2, {true, false, false, false}, true},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct o2_credits credits = start(rows[i].version, 8);

		credits.outstanding = rows[i].outstanding;
		credits.credits = rows[i].credits;
		assert_int_equal(o2_need_noop(&credits, &rows[i].question), rows[i].need);
	}
}

/*
 * At a mark of 2: after two NOOPs that returned credits, a third is sent only once the peer has used a credit
 * of the first.
 */
TEST(keeps_a_third_noop_back)
{
	const struct o2_noop_question idle = {.queued = false}, alive = {.keepalive_due = true};
	struct o2_flow_tunables tunables = {6, 7, 3, 6};
	struct o2_credits credits;
	struct o2_error error;

	o2_credits_init(&credits, V2, 6, &tunables);
	assert_int_equal(credits.high_water, 2);
	for (uint32_t i = 0; i < 6; i++) {
		assert_int_equal(o2_credits_receive(&credits, O2_MSG_IMMEDIATE, 0, &error), 0);
		o2_credits_repost(&credits, O2_MSG_IMMEDIATE, O2_REPOST_PEER);
		assert_int_equal(o2_need_noop(&credits, &idle), i == 1 || i == 3);
		if (i == 1 || i == 3) {
			o2_credits_post(&credits, O2_MSG_NOOP);
			o2_credits_sent(&credits, O2_MSG_NOOP);
		}
	}
	assert_int_equal(credits.outstanding, 2);
	assert_int_equal(credits.granted, 4);
	assert_true(o2_need_noop(&credits, &alive));
	/* The seventh message uses a credit that the first NOOP returned. */
	assert_int_equal(o2_credits_receive(&credits, O2_MSG_IMMEDIATE, 0, &error), 0);
	assert_true(o2_need_noop(&credits, &idle));
}
