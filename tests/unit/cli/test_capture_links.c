/* SPDX-License-Identifier: MIT */
/* How events of a capture are assigned to connections (docs/judge.md, "Captures"). */
#include "tests/lib/links_hear.h"
#include "tests/lib/unit_test.h"

#define A O2_JUDGE_A
#define B O2_JUDGE_B

/* Each side sends PUTs, and returns the credits that the other has used. */
static void talk(struct heard *heard, uint32_t qp_a, uint32_t qp_b)
{
	for (uint32_t i = 0; i < 4; i++) {
		hear_send(heard, A, qp_b, a_put(A, i != 0));
		hear_send(heard, B, qp_a, a_put(B, 1));
	}
}

/* A restarted acceptor can use the number of an earlier queue pair again. */
LINKS_TEST(test_a_queue_pair_of_who_accepts_comes_again)
{
	for (uint32_t n = 0; n < 3; n++) {
		heard->stamp_b++;
		hear_connect(heard, n, QP_B);
		talk(heard, QP_A + n, QP_B);
	}
	assert_int_equal(heard_findings(heard), 0);
	assert_int_equal(o2_links_totals(heard->links).whole, 3);
	assert_int_equal(o2_links_totals(heard->links).messages, 3 * 8);
}

/* A connection request for this service, whose private data is not a CONNREQ but begins with these bytes. */
static void ask(struct heard *heard, uint64_t service, const uint8_t bytes[4])
{
	const struct o2_error refused = {.rule = "wire/header/magic"};
	const struct o2_cm_mad cm = {.kind = O2_CM_REQ,
				     .local_id = 1,
				     .qp = QP_A,
				     .psn = 1,
				     .service_id = service,
				     .private_data = bytes,
				     .private_bytes = 4};

	hear(heard, A, (struct o2_event){.kind = O2_EVENT_CM, .cm = cm, .refused = &refused});
	hear(heard, B,
	     (struct o2_event){.kind = O2_EVENT_CM,
			       .cm = {.kind = O2_CM_REP, .local_id = 2, .remote_id = 1, .qp = QP_B, .psn = 1},
			       .refused = &refused});
}

/* Packets in both directions that are not o2iblnd messages, together with other events. */
static void send_other(struct heard *heard, const uint8_t bytes[4], uint32_t count)
{
	const struct o2_error refused = {.rule = "wire/header/magic"};

	for (uint32_t i = 0; i < count; i++)
		for (int from = A; from < O2_JUDGE_SIDES; from++) {
			const uint32_t qp = from == A ? QP_B : QP_A;
			const uint32_t psn = heard->psn[from]++;

			hear(heard, (enum o2_judge_side)from,
			     (struct o2_event){.kind = O2_EVENT_SEND,
					       .dest_qp = qp,
					       .psn = psn,
					       .packets = 1,
					       .bytes = 4,
					       .raw = bytes,
					       .raw_bytes = 4,
					       .refused = &refused});
			hear(heard, (enum o2_judge_side)from,
			     (struct o2_event){.kind = O2_EVENT_BACK, .dest_qp = qp});
			hear(heard, (enum o2_judge_side)(1 - from),
			     (struct o2_event){
				     .kind = O2_EVENT_ACK, .dest_qp = from == A ? QP_A : QP_B, .psn = psn});
		}
}

static const uint8_t little[4] = {0x91, 0x1b, 0xe9, 0x0b}, big[4] = {0x0b, 0xe9, 0x1b, 0x91},
		     none[4] = {2, 64};

static void expect_others(struct heard *heard, uint64_t others, uint64_t judged)
{
	const struct o2_links_totals totals = o2_links_totals(heard->links);

	assert_int_equal(totals.other_protocols, others);
	assert_int_equal(totals.connections, judged);
	if (others != 0)
		assert_int_equal(heard_findings(heard), 0);
}

/* Requests for another service whose first bytes are not o2iblnd's are ignored; all others must obey the rules. */
TEST(test_requests_of_other_protocols)
{
	static const struct {
		uint64_t service;
		const uint8_t *bytes;
		bool other;
	} rows[] = {
		{HEARD_O2IBLND, none, false},	    {HEARD_O2IBLND + 1, none, true},
		{HEARD_O2IBLND + 1, little, false}, {UINT64_MAX, none, true},
		{HEARD_O2IBLND + 1, big, false},    {UINT64_MAX, little, false},
	};

	for (uint32_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct heard *heard = heard_opened();

		heard->psn[A] = heard->psn[B] = 1;
		ask(heard, rows[i].service, rows[i].bytes);
		/* What follows does not matter: the request has decided which protocol it is. */
		send_other(heard, rows[i].other ? little : none, 2);
		expect_others(heard, rows[i].other, !rows[i].other);
		assert_int_equal(heard->say.times[O2_JUDGE_MESSAGE_WIRE], rows[i].other ? 0 : 2 + 4);
		heard_closed(heard);
	}
}

/* A connection whose request was not seen is o2iblnd's from the first message with the magic, of either side. */
LINKS_TEST(test_other_protocols_seen_later)
{
	for (uint32_t i = 0; i < 2; i++) {
		const struct o2_event write = {.kind = O2_EVENT_WRITE, .dest_qp = QP_B, .packets = 1};

		/* A WRITE does not show the protocol; a message does. */
		hear(heard, A, write);
		expect_others(heard, i, 1 - i);
		assert_int_equal(o2_links_totals(heard->links).writes, 1 - i);
		send_other(heard, none, 3);
		expect_others(heard, 1, 0);
		assert_int_equal(o2_links_totals(heard->links).writes, 0);
	}
	talk(heard, QP_A, QP_B);
	expect_others(heard, 0, 1);
	assert_int_equal(heard_findings(heard), 0);
	assert_int_equal(o2_links_totals(heard->links).messages, 8);
	send_other(heard, none, 1);
	assert_int_equal(heard->say.times[O2_JUDGE_MESSAGE_WIRE], 2);
}

/* A message with the right magic counts as o2iblnd's, in either byte order, even if the rest is wrong. */
TEST(test_a_wrong_message_seen_later)
{
	for (int order = 0; order < 2; order++) {
		struct heard *heard = heard_opened();

		send_other(heard, order == 0 ? little : big, 1);
		expect_others(heard, 0, 1);
		assert_int_equal(heard->say.times[O2_JUDGE_MESSAGE_WIRE], 2);
		heard_closed(heard);
	}
}

/* A request without an answer, on a connection that falls silent while another goes on, is not a proven fault. */
TEST(test_a_connection_that_falls_silent)
{
	for (uint32_t way = 0; way < 3; way++) {
		struct heard *heard = heard_opened();
		struct o2_msg get = say_header(A, O2_MSG_GET_REQ, 0);

		get.u.get.hdr.msg.get.sink_length = 4096;
		get.u.get.ibgm_rd.rd_nfrags = 1;
		get.u.get.ibgm_rd.rd_frags[0] = (struct o2_rdma_frag){4096, 0x10000};
		hear_connect(heard, 0, QP_B);
		hear_send(heard, A, QP_B, get);
		if (way == 1)
			hear_cm(heard, B,
				(struct o2_cm_mad){.kind = O2_CM_DREQ, .local_id = 100, .remote_id = 0},
				NULL);
		heard->now_ns += (way == 2 ? 50 : 51) * (uint64_t)SECOND_NS;
		hear_connect(heard, 1, QP_B + 1);
		talk(heard, QP_A + 1, QP_B + 1);
		/* A last packet without a time does not hide how late it is. */
		heard->now_ns = 0;
		hear_send(heard, A, QP_B + 1, a_put(A, 1));
		assert_int_equal(heard->say.times[O2_JUDGE_TRANSFER_UNANSWERED], 0);
		o2_links_free(heard->links);
		heard->links = NULL;
		assert_int_equal(heard->say.times[O2_JUDGE_TRANSFER_UNANSWERED], way == 0);
		if (way == 0) {
			assert_true(heard->say.last[O2_JUDGE_TRANSFER_UNANSWERED].unproven);
			assert_int_equal(heard->say.last[O2_JUDGE_TRANSFER_UNANSWERED].number, heard->frame);
			assert_int_equal(heard->say.last[O2_JUDGE_TRANSFER_UNANSWERED].earlier, 4);
		}
		heard_closed(heard);
	}
}

/* A request of A with that id and PSN, and B's reject of it. */
static void rejected_psn(struct heard *heard, uint32_t id, uint32_t psn)
{
	const struct o2_msg request = say_request_of(32, SAY_FRAGS);
	const struct o2_reject reject = {.ibr_version = O2_MSG_VERSION_2,
					 .ibr_why = O2_REJECT_MSG_QUEUE_SIZE,
					 .ibr_incarnation = heard->stamp_b,
					 .ibr_cp = {SAY_DEPTH, SAY_FRAGS, O2_MSG_BYTES}};

	hear_cm(heard, A,
		(struct o2_cm_mad){.kind = O2_CM_REQ,
				   .local_id = id,
				   .qp = QP_A + id,
				   .psn = psn,
				   .service_id = HEARD_O2IBLND},
		&request);
	hear(heard, B,
	     (struct o2_event){.kind = O2_EVENT_CM,
			       .cm = {.kind = O2_CM_REJ, .local_id = 100, .remote_id = id},
			       .reject = &reject,
			       .raw = little,
			       .raw_bytes = sizeof(little)});
}

static void rejected(struct heard *heard, uint32_t id)
{
	rejected_psn(heard, id, 1);
}

/* A request that comes again after its reject, which then comes again too, is one; another request is another. */
LINKS_TEST(test_a_rejected_request_comes_again)
{
	for (uint32_t id = 1; id <= 70; id++)
		for (uint32_t again = 0; again < 3; again++)
			rejected(heard, id);
	assert_int_equal(o2_links_totals(heard->links).connections, 70);
	assert_int_equal(heard->say.times[O2_JUDGE_CONNECT_REFUSED], 70);
	rejected(heard, 70 - 63);
	assert_int_equal(o2_links_totals(heard->links).connections, 70);
	rejected(heard, 70 - 64);
	assert_int_equal(o2_links_totals(heard->links).connections, 71);
	rejected_psn(heard, 70, 2);
	assert_int_equal(o2_links_totals(heard->links).connections, 72);
}

/* Who has asked may refuse the reply by a reject; it answers no request, and is no reject record. */
LINKS_TEST(test_a_reply_is_rejected)
{
	const struct o2_error refused = {.rule = "wire/reject/magic"};

	hear_connect(heard, 0, QP_B);
	hear(heard, A,
	     (struct o2_event){.kind = O2_EVENT_CM,
			       .cm = {.kind = O2_CM_REJ, .local_id = 0, .remote_id = 100},
			       .refused = &refused,
			       .raw = none,
			       .raw_bytes = sizeof(none)});
	assert_int_equal(heard_findings(heard), 0);
	assert_int_equal(o2_links_totals(heard->links).connections, 1);
	/* The link has gone: what comes now is of another connection. */
	hear_send(heard, A, QP_B, a_put(A, 0));
	assert_int_equal(o2_links_totals(heard->links).connections, 2);
}

/* A writes and B sends a message; then an acknowledgement shows that both are of one connection. */
static void join(struct heard *heard)
{
	const uint32_t psn = heard->psn[A]++;

	heard->psn[B] = 100000;
	hear(heard, A, (struct o2_event){.kind = O2_EVENT_WRITE, .dest_qp = QP_B, .psn = psn, .packets = 1});
	hear_send(heard, B, QP_A, a_put(B, 0));
	assert_int_equal(o2_links_totals(heard->links).one_way, 2);
	hear_ack(heard, B, QP_A, psn);
	assert_int_equal(o2_links_totals(heard->links).connections, 1);
	assert_int_equal(o2_links_totals(heard->links).one_way, 0);
	assert_int_equal(o2_links_totals(heard->links).messages, 1);
	assert_int_equal(o2_links_totals(heard->links).writes, 1);
}

/* What one direction has shown of the protocol counts for both. */
LINKS_TEST(test_the_protocol_of_directions_that_are_joined)
{
	join(heard);
	send_other(heard, none, 1);
	expect_others(heard, 0, 1);
	assert_int_equal(heard->say.times[O2_JUDGE_MESSAGE_WIRE], 2);
}

LINKS_TEST(test_another_protocol_of_directions_that_are_joined)
{
	const struct o2_event write = {.kind = O2_EVENT_WRITE, .dest_qp = QP_B, .psn = 7, .packets = 1};

	hear(heard, A, write);
	hear(heard, B,
	     (struct o2_event){.kind = O2_EVENT_SEND,
			       .dest_qp = QP_A,
			       .packets = 1,
			       .bytes = 4,
			       .raw = none,
			       .raw_bytes = 4});
	hear_ack(heard, B, QP_A, write.psn);
	expect_others(heard, 1, 0);
}

/* B was heard before the directions were joined: its next packet shows that it has not answered. */
LINKS_TEST(test_an_answer_in_directions_that_are_joined)
{
	join(heard);
	hear_send(heard, A, QP_B, a_get_req(1));
	heard->now_ns += 51 * (uint64_t)SECOND_NS;
	hear_send(heard, B, QP_A, a_put(B, 0));
	hear_send(heard, B, QP_A, a_put(B, 0));
	assert_int_equal(heard->say.times[O2_JUDGE_TRANSFER_UNANSWERED], 1);
	assert_false(heard->say.last[O2_JUDGE_TRANSFER_UNANSWERED].unproven);
}

/* .. nor has its sequence jumped, which would begin the account of credits anew. */
LINKS_TEST(test_the_credits_of_directions_that_are_joined)
{
	join(heard);
	for (uint32_t i = 0; i < O2_MAX_QUEUE_DEPTH; i++)
		hear_send(heard, A, QP_B, a_put(A, 0));
	hear_send(heard, B, QP_A, a_put(B, 0));
	hear_send(heard, A, QP_B, a_put(A, 0));
	hear_send(heard, B, QP_A, a_put(B, 0));
	assert_int_equal(heard->say.times[O2_JUDGE_CREDITS_NONE], 1);
	assert_int_equal(heard_findings(heard), 1);
}

/*
 * A request that was seen at two places comes again when its connection is in use, and is no other one.  One with another
 * PSN is.
 */
TEST(test_a_copy_of_a_request)
{
	for (uint32_t other = 0; other < 2; other++) {
		struct heard *heard = heard_opened();
		const struct o2_msg request = say_request_of(SAY_DEPTH, SAY_FRAGS);

		hear_connect(heard, 0, QP_B);
		hear_send(heard, A, QP_B, a_put(A, 0));
		hear_cm(heard, A,
			(struct o2_cm_mad){.kind = O2_CM_REQ,
					   .local_id = 0,
					   .qp = QP_A,
					   .psn = 1 + other,
					   .service_id = HEARD_O2IBLND},
			&request);
		assert_int_equal(o2_links_totals(heard->links).connections, 1 + other);
		for (uint32_t i = 0; i < SAY_DEPTH; i++)
			hear_send(heard, A, QP_B, a_put(A, 0));
		hear_send(heard, B, QP_A, a_put(B, 0));
		assert_int_equal(heard->say.times[O2_JUDGE_CREDITS_NONE], !other);
		heard_closed(heard);
	}
}

/* Without the reply, what either side sends may be of any connection; a request that comes again is one. */
TEST(test_a_request_without_a_reply)
{
	for (int from = A; from < O2_JUDGE_SIDES; from++) {
		const struct o2_msg request = say_request_of(SAY_DEPTH, SAY_FRAGS);
		struct heard *heard = heard_opened();

		for (uint32_t again = 0; again < 2; again++)
			hear_cm(heard, A,
				(struct o2_cm_mad){.kind = O2_CM_REQ,
						   .local_id = 1,
						   .qp = QP_A,
						   .psn = 1,
						   .service_id = HEARD_O2IBLND},
				&request);
		assert_int_equal(o2_links_totals(heard->links).connections, 1);
		hear_send(heard, (enum o2_judge_side)from, from == A ? QP_B : QP_A,
			  a_put((enum o2_judge_side)from, 0));
		assert_int_equal(o2_links_totals(heard->links).connections, 2);
		assert_int_equal(o2_links_totals(heard->links).one_way, 1);
		assert_int_equal(heard_findings(heard), 0);
		heard_closed(heard);
	}
}
