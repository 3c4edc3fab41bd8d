/* SPDX-License-Identifier: MIT */
/* Packets that a sender repeats, in captures that lack some of them (docs/judge.md, "What it cannot see"). */
#include "cli/cm_layout.h"
#include "cli/flows.h"
#include "cli/links.h"
#include "tests/lib/judge_say.h"
#include "tests/lib/unit_test.h"
#include "wire/bytes.h"

#define A	      O2_JUDGE_A
#define B	      O2_JUDGE_B
#define QP_A	      0x201u
#define QP_B	      0x301u
#define PSN	      100u /* of each side's first packet */
#define FILE_BYTES    262144u
#define HEADERS_BYTES (14u + 20u + 8u)
#define SEND_ONLY     0x04u
#define WRITE_FIRST   0x06u
#define WRITE_MIDDLE  0x07u
#define WRITE_LAST    0x08u
#define READ	      0x0cu
#define ATOMIC	      0x13u
#define DATAGRAM      0x64u
#define DETH_BYTES    8u

/* A capture that a test makes up, packet by packet, and what the walk reports of it. */
struct made {
	uint8_t file[FILE_BYTES];
	size_t file_bytes;
	uint64_t now_us;
	char text[512]; /* what the walk reports */
	struct say say;
	struct o2_links *links; /* NULL: nobody judges */
};

static void add(struct made *made, const void *bytes, size_t count)
{
	assert_true(made->file_bytes + count <= sizeof(made->file));
	memcpy(made->file + made->file_bytes, bytes, count);
	made->file_bytes += count;
}

static void add_number(struct made *made, uint64_t value, size_t count, enum o2_byte_order order)
{
	for (size_t i = 0; i < count; i++) {
		const size_t byte = order == O2_BIG_ENDIAN ? count - 1 - i : i;
		const uint8_t digit = (uint8_t)(value >> (8 * byte));

		add(made, &digit, 1);
	}
}

static struct made *opened(void)
{
	static const uint32_t head[] = {0xa1b2c3d4, 0x00040002, 0, 0, 65535, 1};
	static struct made made;

	made = (struct made){.now_us = 1000000};
	for (size_t i = 0; i < sizeof(head) / sizeof(head[0]); i++)
		add_number(&made, head[i], 4, O2_LITTLE_ENDIAN);
	return &made;
}

static void closed(struct made *made)
{
	if (made->links == NULL)
		return;
	o2_links_free(made->links);
	say_close(&made->say);
}

#define REPLAY_TEST(name) TEST_ON(name, struct made, made, opened(), closed)

/* Add a packet to a queue pair, 1 ms after the one before. */
static void packet(struct made *made, enum o2_judge_side from, uint32_t qp, uint8_t opcode, uint32_t psn,
		   const void *bytes, size_t count)
{
	static const uint8_t ethernet[14] = {[12] = 8}, ip[8] = {0, 0, 0x40, 0, 64, 17};
	const size_t length = 12 + count + 4;
	const uint32_t host = 0x0a000001;

	made->now_us += 1000;
	add_number(made, made->now_us / 1000000, 4, O2_LITTLE_ENDIAN);
	add_number(made, made->now_us % 1000000, 4, O2_LITTLE_ENDIAN);
	for (int i = 0; i < 2; i++)
		add_number(made, HEADERS_BYTES + length, 4, O2_LITTLE_ENDIAN);
	add(made, ethernet, sizeof(ethernet));
	add_number(made, 0x4500, 2, O2_BIG_ENDIAN);
	add_number(made, 28 + length, 2, O2_BIG_ENDIAN);
	add(made, ip, sizeof(ip));
	add_number(made, from == A ? host : host + 1, 4, O2_BIG_ENDIAN);
	add_number(made, from == A ? host + 1 : host, 4, O2_BIG_ENDIAN);
	add_number(made, 0xc00012b7, 4, O2_BIG_ENDIAN);
	add_number(made, (8 + length) << 16, 4, O2_BIG_ENDIAN);
	add_number(made, (uint64_t)opcode << 24 | 0xffff, 4, O2_BIG_ENDIAN);
	add_number(made, qp, 4, O2_BIG_ENDIAN);
	add_number(made, psn & 0xffffff, 4, O2_BIG_ENDIAN);
	add(made, bytes, count);
	add_number(made, 0, 4, O2_LITTLE_ENDIAN);
}

/* Packets of A, each a SEND that is no message, in this order. */
static void sends(struct made *made, const uint32_t *psn, size_t count)
{
	for (size_t i = 0; i < count; i++)
		packet(made, A, QP_B, SEND_ONLY, psn[i], "none", 4);
}

#define SENDS(made, ...) \
	sends(made, (const uint32_t[]){__VA_ARGS__}, sizeof((uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t))

static void take(void *context, const struct o2_event *event)
{
	static const char *const names[] = {[O2_EVENT_SEND] = "S", [O2_EVENT_WRITE] = "W"};
	struct made *made = context;
	char *end = made->text + strlen(made->text);
	const size_t room = sizeof(made->text) - strlen(made->text);

	if (event->kind == O2_EVENT_NOTE)
		snprintf(end, room, "%s ", event->missing ? "missing" : "note");
	else if (event->kind == O2_EVENT_BACK || event->kind == O2_EVENT_ANEW)
		snprintf(end, room, event->kind == O2_EVENT_BACK ? "back " : "anew ");
	else if (event->kind == O2_EVENT_SEND || event->kind == O2_EVENT_WRITE)
		snprintf(end, room, "%s%s%u ", event->again ? "again-" : "", names[event->kind], event->psn);
	if (made->links != NULL)
		assert_int_equal(o2_links_hear(made->links, event), 0);
}

static struct o2_walk_totals walk(struct made *made)
{
	const struct o2_wire_options options = O2_WIRE_DEFAULTS;
	struct o2_walk_totals totals;
	char why[O2_PCAP_WHY_BYTES];

	assert_int_equal(o2_pcap_walk_bytes(made->file, made->file_bytes, &options, take, made, &totals, why),
			 0);
	return totals;
}

static void expect(struct made *made, const char *text, uint64_t repeated)
{
	const struct o2_walk_totals totals = walk(made);

	assert_string_equal(made->text, text);
	assert_int_equal(totals.repeated, repeated);
}

/* From the missing packet on, what comes may be known; the first that is new follows another mark. */
REPLAY_TEST(test_a_sender_goes_back)
{
	SENDS(made, 5, 7, 8, 6, 7, 8, 9, 8, 10);
	expect(made, "anew S5 missing S7 S8 back again-S6 again-S7 again-S8 back S9 S10 ", 1);
}

/* Packets can be missing from the replay as well, and the sender goes back once more. */
REPLAY_TEST(test_a_gap_in_the_replay)
{
	SENDS(made, 5, 7, 8, 9, 6, 8, 7, 8, 9, 10);
	expect(made,
	       "anew S5 missing S7 S8 S9 back again-S6 missing again-S8 back again-S7 again-S8 again-S9 back "
	       "S10 ",
	       0);
}

/* The gap goes beyond the end of the replay. */
REPLAY_TEST(test_a_gap_at_the_end_of_the_replay)
{
	SENDS(made, 5, 7, 8, 6, 10, 7, 8, 9, 10, 11);
	expect(made,
	       "anew S5 missing S7 S8 back again-S6 missing S10 back again-S7 again-S8 again-S9 again-S10 "
	       "back "
	       "S11 ",
	       0);
}

/* With two gaps, the sender can go back to either. */
REPLAY_TEST(test_two_gaps_back_to_the_first)
{
	SENDS(made, 5, 7, 9, 6, 7, 8, 9);
	expect(made, "anew S5 missing S7 missing S9 back again-S6 again-S7 again-S8 again-S9 ", 0);
}

REPLAY_TEST(test_two_gaps_back_to_the_last)
{
	SENDS(made, 5, 7, 9, 8, 9, 10);
	expect(made, "anew S5 missing S7 missing S9 back again-S8 again-S9 back S10 ", 0);
}

/* Behind a gap, a WRITE of three packets whose second one is missing. */
static void write_with_gap(struct made *made)
{
	static const uint8_t reth[20] = {[15] = 12};

	SENDS(made, 5);
	packet(made, A, QP_B, WRITE_FIRST, 7, reth, sizeof(reth));
	packet(made, A, QP_B, WRITE_LAST, 9, "last", 4);
}

/* A WRITE in the middle of which there is a second gap goes on only if the sender goes back to that one. */
REPLAY_TEST(test_a_suspended_write_after_an_earlier_gap)
{
	write_with_gap(made);
	packet(made, A, QP_B, WRITE_MIDDLE, 8, "next", 4);
	packet(made, A, QP_B, WRITE_LAST, 9, "last", 4);
	SENDS(made, 10);
	expect(made, "anew S5 missing missing back again-W9 back S10 ", 0);
}

REPLAY_TEST(test_a_suspended_write_that_is_sent_again)
{
	static const uint8_t reth[20] = {[15] = 12};

	write_with_gap(made);
	SENDS(made, 6);
	packet(made, A, QP_B, WRITE_FIRST, 7, reth, sizeof(reth));
	packet(made, A, QP_B, WRITE_MIDDLE, 8, "next", 4);
	packet(made, A, QP_B, WRITE_LAST, 9, "last", 4);
	expect(made, "anew S5 missing missing back again-S6 again-W9 ", 0);
}

/* A message that the replay reaches, but does not complete, is new. */
REPLAY_TEST(test_a_write_that_ends_after_the_replay)
{
	static const uint8_t reth[20] = {[15] = 12};

	SENDS(made, 5);
	packet(made, A, QP_B, WRITE_FIRST, 7, reth, sizeof(reth));
	SENDS(made, 6);
	packet(made, A, QP_B, WRITE_FIRST, 7, reth, sizeof(reth));
	packet(made, A, QP_B, WRITE_MIDDLE, 8, "next", 4);
	packet(made, A, QP_B, WRITE_LAST, 9, "last", 4);
	expect(made, "anew S5 missing back again-S6 back W9 ", 0);
}

/* A reply of B's connection manager. */
static void reply(struct made *made, uint32_t cm_id, uint32_t psn)
{
	uint8_t bytes[DETH_BYTES + O2_MAD_BYTES] = {0}, *mad = bytes + DETH_BYTES,
				   *data = mad + O2_MAD_AT_DATA;

	mad[O2_MAD_AT_CLASS] = O2_MAD_CLASS_CM;
	mad[O2_MAD_AT_ATTRIBUTE + 1] = O2_CM_REP;
	data[O2_CM_AT_LOCAL_ID] = (uint8_t)cm_id;
	o2_store32(data + O2_CM_REP_AT_QP, O2_BIG_ENDIAN, QP_B << 8);
	o2_store32(data + O2_CM_REP_AT_PSN, O2_BIG_ENDIAN, psn << 8);
	packet(made, B, 1, DATAGRAM, 0, bytes, sizeof(bytes));
}

/* A reply that is repeated is no new connection: packets that come again after it are repetitions still. */
REPLAY_TEST(test_a_reply_comes_again)
{
	for (uint32_t i = 0; i < 3; i++) {
		closed(made);
		made = opened();
		reply(made, 1, 5);
		SENDS(made, 5, 6);
		reply(made, 1 + (i == 1), 5 + (i == 2));
		SENDS(made, 6, 7);
		expect(made, i == 0 ? "anew S5 S6 S7 " : "anew S5 S6 anew S6 S7 ", i == 0);
	}
}

/* A queue pair's earlier setup counts as new after another one. */
REPLAY_TEST(test_a_reply_comes_again_after_another)
{
	for (uint32_t i = 0; i < 3; i++) {
		reply(made, i % 2, 5);
		SENDS(made, 5);
	}
	expect(made, "anew S5 anew S5 anew S5 ", 0);
}

/* A flow that is far from where the setup lets it begin belongs to a connection whose setup was not captured. */
REPLAY_TEST(test_a_reply_comes_again_to_another_life)
{
	reply(made, 1, 5);
	SENDS(made, 5, 5 + 0x10001);
	reply(made, 1, 5);
	SENDS(made, 5);
	expect(made, "anew S5 missing S65542 anew S5 ", 0);
}

/* How many sequence numbers an RDMA READ takes is not known, but what was before it is. */
REPLAY_TEST(test_packets_around_a_read)
{
	static const uint8_t reth[16] = {0};

	SENDS(made, 5, 6);
	packet(made, A, QP_B, READ, 7, reth, sizeof(reth));
	SENDS(made, 6, 7, 8);
	packet(made, A, QP_B, READ, 9, reth, sizeof(reth));
	SENDS(made, 12, 13);
	expect(made, "anew S5 S6 note S8 note anew S12 S13 ", 2);
}

/* An RDMA READ or an atomic operation that is asked for again is no further one. */
REPLAY_TEST(test_a_read_that_comes_again)
{
	static const uint8_t zeros[28] = {0};

	packet(made, A, QP_B, READ, 7, zeros, 16);
	packet(made, A, QP_B, READ, 7, zeros, 16);
	packet(made, A, QP_B, ATOMIC, 8, zeros, 28);
	packet(made, A, QP_B, ATOMIC, 8, zeros, 28);
	packet(made, A, QP_B, READ, 7, zeros, 16);
	expect(made, "anew note note ", 3);
}

/* --- what the judge makes of it --- */

static void hear_cm(struct made *made, enum o2_judge_side from, struct o2_cm_mad cm, const struct o2_msg *msg)
{
	struct o2_event event = {.kind = O2_EVENT_CM, .cm = cm, .msg = msg, .frame = 1, .time_ns = 1};
	struct o2_roce_address *const ends[] = {[A] = &event.src, [B] = &event.dst};

	*ends[from] = (struct o2_roce_address){4, {10, 0, 0, 1}};
	*ends[1 - from] = (struct o2_roce_address){4, {10, 0, 0, 2}};
	assert_int_equal(o2_links_hear(made->links, &event), 0);
}

/* Set up a connection that is judged. */
static void connected(struct made *made)
{
	const struct o2_judge_options options = {50000, 1000, true, 1};
	const struct o2_msg request = say_request_of(SAY_DEPTH, SAY_FRAGS);
	struct o2_msg reply = say_header(B, O2_MSG_CONNACK, 0);

	reply.u = request.u;
	say_open(&made->say, &options);
	made->links = o2_links_new(made->say.judge);
	assert_non_null(made->links);
	hear_cm(made, A,
		(struct o2_cm_mad){.kind = O2_CM_REQ,
				   .local_id = 1,
				   .qp = QP_A,
				   .psn = PSN,
				   .service_id = O2_RDMA_SERVICE_O2IBLND},
		&request);
	hear_cm(made, B,
		(struct o2_cm_mad){.kind = O2_CM_REP, .local_id = 2, .remote_id = 1, .qp = QP_B, .psn = PSN},
		&reply);
}

static void message(struct made *made, enum o2_judge_side from, uint32_t psn, struct o2_msg msg)
{
	uint8_t bytes[O2_MSG_BYTES];
	int length;

	msg.ibm_nob = o2_msg_canonical_bytes(&msg);
	length = o2_msg_encode(&msg, NULL, bytes, sizeof(bytes), NULL);
	assert_true(length > 0 && length % 4 == 0);
	packet(made, from, from == A ? QP_B : QP_A, SEND_ONLY, PSN + psn, bytes, (size_t)length);
}

/* PUTs of A: each takes a credit. */
static void puts_of_a(struct made *made, uint32_t first, uint32_t end)
{
	struct o2_msg msg = say_header(A, O2_MSG_IMMEDIATE, 0);

	msg.u.immediate.hdr.type = O2_LNET_PUT;
	msg.u.immediate.hdr.msg.put.ack_wmd = (struct o2_lnet_handle){UINT64_MAX, UINT64_MAX};
	for (uint32_t psn = first; psn < end; psn++)
		message(made, A, psn, msg);
}

static void noop_of_b(struct made *made, uint32_t psn, uint8_t credits)
{
	message(made, B, psn, say_header(B, O2_MSG_NOOP, credits));
}

static uint32_t faults(const struct made *made)
{
	return say_findings(&made->say);
}

/*
 * The capture lacks one packet, which has arrived; so has all after it.  Only the acknowledgement was lost, so the
 * sender repeats all, and no message takes a second credit.
 */
REPLAY_TEST(test_credits_and_a_replay)
{
	for (uint32_t lost = 0; lost < 2; lost++) {
		closed(made);
		made = opened();
		connected(made);
		puts_of_a(made, 0, 1);
		puts_of_a(made, 1 + lost, SAY_DEPTH);
		noop_of_b(made, 0, SAY_DEPTH);
		puts_of_a(made, 1, SAY_DEPTH);
		puts_of_a(made, SAY_DEPTH, 2 * SAY_DEPTH);
		noop_of_b(made, 1, SAY_DEPTH);
		walk(made);
		assert_int_equal(faults(made), 0);
	}
}

/* After the replay the judge hears on: a message that lacks a credit is found again. */
REPLAY_TEST(test_a_fault_after_a_replay)
{
	connected(made);
	puts_of_a(made, 0, 1);
	puts_of_a(made, 2, 4);
	puts_of_a(made, 1, 4);
	puts_of_a(made, 4, 4 + SAY_DEPTH + 1);
	noop_of_b(made, 0, 1);
	walk(made);
	assert_int_equal(made->say.times[O2_JUDGE_CREDITS_NONE], 1);
	assert_int_equal(made->say.times[O2_JUDGE_TRANSPORT_LOST], 3);
}

/* A NOOP that is repeated right after a missing message says nothing of its sender's quiet time. */
REPLAY_TEST(test_a_quiet_time_and_a_replay)
{
	struct o2_msg noop = say_header(A, O2_MSG_NOOP, 1);

	connected(made);
	puts_of_a(made, 0, 1);
	noop_of_b(made, 0, 1);
	made->now_us += 1200000;
	message(made, A, 2, noop);
	puts_of_a(made, 1, 2);
	message(made, A, 2, noop);
	puts_of_a(made, 3, 4);
	noop_of_b(made, 1, 1);
	walk(made);
	assert_int_equal(faults(made), 0);
}

/* Queue pairs that only READ are many; the directions of the connection are forgotten to make room. */
REPLAY_TEST(test_a_direction_that_was_forgotten)
{
	static const uint8_t reth[16] = {0};
	struct o2_msg msg = say_header(A, O2_MSG_PUT_REQ, 0);

	msg.u.putreq.hdr.type = O2_LNET_PUT;
	msg.u.putreq.hdr.payload_length = 8192;
	msg.u.putreq.ibprm_cookie = 7;
	connected(made);
	message(made, A, 0, msg);
	for (uint32_t i = 0; i < O2_FLOWS_MAX; i++)
		packet(made, A, QP_B + 1 + i, READ, 1, reth, sizeof(reth));
	message(made, A, 0, msg);
	noop_of_b(made, 0, 1);
	walk(made);
	assert_int_equal(faults(made), 0);
	assert_int_equal(made->say.times[O2_JUDGE_TRANSPORT_LOST], 1);
}
