/* SPDX-License-Identifier: MIT */
/* What was missed of a connection, as its sequence numbers and acknowledgements show. */
#include "tests/lib/links_hear.h"
#include "tests/lib/unit_test.h"

#include <errno.h>

#define A O2_JUDGE_A
#define B O2_JUDGE_B

/*
 * A connection seen later, whose second side has sent nothing yet: A's acknowledgement shows that B's answer was
 * missed.  Without one it is not known whether it came.  An acknowledgement of the first packets of B's first message shows nothing.
 * psn: of B's answer that was missed.
 */
TEST(test_a_first_message_that_was_missed)
{
	enum { MISSED, WRAPPED, MISSED_EARLY, NONE, IN_PARTS, WAYS };

	for (int way = 0; way < WAYS; way++) {
		struct heard *heard = heard_opened();
		const uint32_t psn = way == WRAPPED ? 0xffffff : 7;

		hear_send(heard, A, QP_B, a_get_req(1));
		if (way == MISSED_EARLY)
			hear_ack(heard, A, QP_B, psn);
		hear_ack(heard, B, QP_A, 0);
		if (way == MISSED || way == WRAPPED)
			hear_ack(heard, A, QP_B, psn);
		heard->now_ns += 60 * (uint64_t)SECOND_NS;
		hear_send(heard, A, QP_B, a_get_req(2));
		heard->psn[B] = (psn + 1) & 0xffffff;
		if (way == IN_PARTS)
			hear_ack(heard, A, QP_B, psn + 1);
		hear_send(heard, B, QP_A, a_get_done(2));
		/* What A acknowledges from now on is not missed. */
		hear_ack(heard, A, QP_B, psn + 1);
		hear_send(heard, B, QP_A, a_put(B, 0));
		assert_int_equal(heard->say.times[O2_JUDGE_TRANSPORT_LOST], way < NONE);
		assert_int_equal(heard->say.times[O2_JUDGE_TRANSFER_UNANSWERED], way >= NONE);
		assert_int_equal(heard->say.last[O2_JUDGE_TRANSFER_UNANSWERED].unproven, way >= NONE);
		heard_closed(heard);
	}
}

/*
 * A packet that was cut before its addresses can be from either side, so it proves nothing that depends on the next
 * packet of one side.  Here a side spends credits that it lacks, unless the cut packet returned some.  What is
 * missing between other hosts does not count.
 */
TEST(test_a_loss_of_either_side)
{
	static const uint32_t qp_of_other[] = {[A] = QP_B, [B] = QP_A};

	for (int from = A; from < O2_JUDGE_SIDES; from++)
		for (int lost = 0; lost < 3; lost++) {
			const enum o2_judge_side spends = from, gives = 1 - from;
			struct heard *heard = heard_opened();
			struct o2_event note = {
				.kind = O2_EVENT_NOTE, .missing = true, .frame = 99, .time_ns = SECOND_NS};

			hear_connect(heard, 0, QP_B);
			for (uint32_t i = 0; i <= SAY_DEPTH; i++)
				hear_send(heard, spends, qp_of_other[spends], a_put(spends, 0));
			assert_int_equal(heard->say.times[O2_JUDGE_CREDITS_NONE], 0);
			if (lost == 2) {
				note.src = note.dst = (struct o2_roce_address){4, {10, 0, 9, 9}};
				note.dest_qp = QP_A;
			}
			if (lost != 0)
				assert_int_equal(o2_links_hear(heard->links, &note), 0);
			hear_send(heard, gives, qp_of_other[gives], a_put(gives, 1));
			assert_int_equal(heard->say.times[O2_JUDGE_CREDITS_NONE], lost == 1 ? 0 : 1);
			heard_closed(heard);
		}
}

static struct o2_msg moved(uint64_t cookie, int32_t bytes)
{
	struct o2_msg done = a_get_done(cookie);

	done.u.completion.ibcm_status = bytes;
	return done;
}

/* B writes this part of what A's GET with this cookie has described. */
static void hear_write(struct heard *heard, uint64_t cookie, uint32_t from, uint32_t bytes)
{
	hear(heard, B,
	     (struct o2_event){.kind = O2_EVENT_WRITE,
			       .dest_qp = QP_A,
			       .psn = heard->psn[B]++,
			       .packets = 1,
			       .va = 0x10000 * cookie + from,
			       .rkey = (uint32_t)cookie,
			       .bytes = bytes,
			       .dma_bytes = bytes});
}

/*
 * Maybe B has sent something before its first packet that was seen, and has ended A's GET, or written for it.  Only
 * who writes the first byte has written nothing before.
 */
TEST(test_what_a_first_packet_leaves_open)
{
	enum { REUSED, REUSED_LATER, LATE, WRITTEN_BEFORE, WRITTEN_IN_PART, WRITTEN_SINCE, WAYS };

	for (int way = 0; way < WAYS; way++) {
		struct heard *heard = heard_opened();

		hear_send(heard, A, QP_B, a_get_req(1));
		hear_ack(heard, B, QP_A, 0);
		if (way == REUSED)
			hear_send(heard, A, QP_B, a_get_req(1));
		if (way == WRITTEN_IN_PART)
			hear_write(heard, 1, 2048, 2048);
		if (way == WRITTEN_SINCE)
			hear_write(heard, 1, 0, 2048);
		hear_send(heard, B, QP_A, way >= WRITTEN_BEFORE ? moved(1, 4096) : a_put(B, 0));
		heard->now_ns += way == LATE ? 60 * (uint64_t)SECOND_NS : 0;
		hear_send(heard, A, QP_B, way == REUSED_LATER ? a_get_req(1) : a_put(A, 0));
		hear_send(heard, B, QP_A, a_put(B, 0));
		assert_int_equal(heard->say.times[O2_JUDGE_TRANSFER_COOKIE_REUSED], way == REUSED);
		assert_int_equal(heard->say.last[O2_JUDGE_TRANSFER_COOKIE_REUSED].unproven, way == REUSED);
		assert_int_equal(heard->say.times[O2_JUDGE_TRANSFER_BYTES], way == WRITTEN_SINCE);
		assert_int_equal(heard_findings(heard), way == REUSED || way == WRITTEN_SINCE);
		heard_closed(heard);
	}
}

/* B's first message names another incarnation of A: only A's next one shows which is right. */
TEST(test_a_first_message_to_another_incarnation)
{
	for (int old = 0; old < 2; old++) {
		struct heard *heard = heard_opened();
		struct o2_msg first = a_put(B, 0), second = a_put(A, 0);

		first.ibm_dststamp += 5;
		second.ibm_srcstamp += old ? 0 : 5;
		hear_send(heard, A, QP_B, a_put(A, 0));
		hear_ack(heard, B, QP_A, 0);
		hear_send(heard, B, QP_A, first);
		hear_send(heard, A, QP_B, second);
		assert_int_equal(heard_findings(heard), 0);
		hear_send(heard, B, QP_A, first);
		assert_int_equal(heard->say.times[O2_JUDGE_MESSAGE_STAMPS], old);
		heard_closed(heard);
	}
}

/*
 * A's GET_REQ was missed, and comes after its answer as a repetition.  An acknowledgement proves that; the cookie alone
 * does not.  The repetition asks for nothing.
 */
TEST(test_a_request_that_comes_again)
{
	enum { ACKED, REPEATED, OTHER, NEVER, WAYS };

	for (int way = 0; way < WAYS; way++) {
		struct heard *heard = heard_opened();

		hear_connect(heard, 0, QP_B);
		if (way == ACKED)
			hear_ack(heard, B, QP_A, 1);
		hear_send(heard, B, QP_A, a_get_done(1));
		hear_send(heard, A, QP_B, way == NEVER ? a_put(A, 0) : a_get_req(way == OTHER ? 2 : 1));
		assert_int_equal(heard->say.times[O2_JUDGE_TRANSFER_UNASKED], way != ACKED);
		assert_int_equal(heard->say.last[O2_JUDGE_TRANSFER_UNASKED].unproven, way == REPEATED);
		assert_int_equal(heard->say.times[O2_JUDGE_TRANSPORT_LOST], way < OTHER);
		hear_send(heard, A, QP_B, a_get_req(1));
		hear_send(heard, B, QP_A, a_put(B, 0));
		assert_int_equal(heard->say.times[O2_JUDGE_TRANSFER_COOKIE_REUSED], 0);
		heard_closed(heard);
	}
}

/* The same for B's PUT_ACK, which comes again after A's PUT_DONE. */
TEST(test_an_answer_that_comes_again)
{
	for (uint64_t other = 0; other < 2; other++) {
		struct heard *heard = heard_opened();
		struct o2_msg request = say_header(A, O2_MSG_PUT_REQ, 0),
			      done = say_header(A, O2_MSG_PUT_DONE, 0);
		struct o2_msg ack = say_header(B, O2_MSG_PUT_ACK, 0);

		request.u.putreq.ibprm_cookie = ack.u.putack.ibpam_src_cookie = 5;
		request.u.putreq.hdr.type = O2_LNET_PUT;
		request.u.putreq.hdr.payload_length = 4096;
		done.u.completion.ibcm_cookie = 6;
		done.u.completion.ibcm_status = -EIO;
		ack.u.putack.ibpam_dst_cookie = 6 + other;
		ack.u.putack.ibpam_rd = a_get_req(7).u.get.ibgm_rd;
		hear_connect(heard, 0, QP_B);
		hear_send(heard, A, QP_B, request);
		hear_send(heard, A, QP_B, done);
		hear_send(heard, B, QP_A, ack);
		assert_int_equal(heard->say.times[O2_JUDGE_TRANSFER_UNASKED], 1);
		assert_int_equal(heard->say.last[O2_JUDGE_TRANSFER_UNASKED].unproven, !other);
		heard_closed(heard);
	}
}

static void set_handle(struct o2_msg *msg, enum o2_lnet_type type, struct o2_lnet_handle handle)
{
	struct o2_lnet_hdr *hdr = &msg->u.immediate.hdr;

	hdr->type = type;
	if (type == O2_LNET_PUT)
		hdr->msg.put.ack_wmd = handle;
	else if (type == O2_LNET_GET)
		hdr->msg.get.return_wmd = handle;
	else if (type == O2_LNET_ACK)
		hdr->msg.ack.dst_wmd = handle;
	else
		hdr->msg.reply.dst_wmd = handle;
}

/*
 * A's PUT or GET in an IMMEDIATE was missed, and comes after LNet's answer, which has given back a credit that A seemed
 * not to have used.  B has given back too many if the request was heard, or another one comes.
 */
TEST(test_an_immediate_that_comes_again)
{
	enum {
		PUT,
		GET,
		FIRST_OF_TWO,
		SECOND_OF_TWO,
		AGAIN,
		OTHER = AGAIN,
		HEARD,
		WANTS_NO_ACK,
		NO_HANDLE,
		WAYS
	};

	for (int way = 0; way < WAYS; way++) {
		struct heard *heard = heard_opened();
		const bool get = way == GET;
		const struct o2_lnet_handle none = a_put(A, 0).u.immediate.hdr.msg.put.ack_wmd;
		struct o2_lnet_handle handle = way == NO_HANDLE ? none : (struct o2_lnet_handle){7, 9};
		struct o2_msg request = a_put(A, 0),
			      answer = say_header(B, O2_MSG_IMMEDIATE, 1 + (way == HEARD));

		set_handle(&request, get ? O2_LNET_GET : O2_LNET_PUT, handle);
		set_handle(&answer, get ? O2_LNET_REPLY : O2_LNET_ACK, handle);
		hear_connect(heard, 0, QP_B);
		if (way == HEARD)
			hear_send(heard, A, QP_B, request);
		hear_send(heard, B, QP_A, answer);
		handle.wh_object_cookie += way == OTHER || way == FIRST_OF_TWO || way == SECOND_OF_TWO;
		answer.ibm_credits = 0;
		set_handle(&answer, O2_LNET_ACK, handle);
		if (way == FIRST_OF_TWO || way == SECOND_OF_TWO)
			hear_send(heard, B, QP_A, answer);
		if (way == OTHER || way == SECOND_OF_TWO)
			set_handle(&request, O2_LNET_PUT, handle);
		hear_send(heard, A, QP_B, way == WANTS_NO_ACK ? a_put(A, 0) : request);
		assert_int_equal(heard->say.times[O2_JUDGE_CREDITS_OVER_OWED], 1);
		assert_int_equal(heard->say.last[O2_JUDGE_CREDITS_OVER_OWED].unproven, way < AGAIN);
		assert_int_equal(heard->say.times[O2_JUDGE_TRANSPORT_LOST], way < AGAIN);
		/* A second repetition changes nothing. */
		hear_send(heard, A, QP_B, request);
		assert_int_equal(heard->say.times[O2_JUDGE_TRANSPORT_LOST], way < AGAIN);
		heard_closed(heard);
	}
}

/*
 * B may acknowledge the first packets of A's message before the last one is heard.  An acknowledgement that is too far
 * ahead is of another connection.
 */
TEST(test_an_acknowledgement_in_a_message)
{
	for (uint32_t psn = 2; psn < 5; psn++) {
		struct heard *heard = heard_opened();

		hear_connect(heard, 0, QP_B);
		hear_send(heard, A, QP_B, a_put(A, 0));
		hear_ack(heard, B, QP_A, psn == 2 ? 2 + 0x10001 : 3);
		heard->psn[A] = psn;
		hear_send(heard, A, QP_B, a_put(A, 0));
		assert_int_equal(heard->say.times[O2_JUDGE_TRANSPORT_LOST], psn == 3);
		assert_int_equal(o2_links_totals(heard->links).messages, psn == 3 ? 1 : 2);
		/* From then on all is new. */
		hear_send(heard, A, QP_B, a_put(A, 0));
		assert_int_equal(heard->say.times[O2_JUDGE_TRANSPORT_LOST], psn == 3);
		heard_closed(heard);
	}
}

/* After a loss the agreed number of fragments still holds, unless the sequence numbers are those of another connection. */
TEST(test_a_jump_to_another_connection)
{
	static const struct {
		uint32_t sent, jump;
		bool is_far;
	} rows[] = {{2, 10, false},	 {2, 0x10001, true}, {2, 0xfffffe, false}, {2, 0xff0001, false},
		    {2, 0x800000, true}, {0, 10, false},     {0, 0x20000, true}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct heard *heard = heard_opened();
		struct o2_msg get = a_get_req(1);

		hear_connect(heard, 0, QP_B);
		for (uint32_t n = 0; n < rows[i].sent; n++)
			hear_send(heard, A, QP_B, a_put(A, 0));
		heard->psn[A] = (heard->psn[A] + rows[i].jump - 1) & 0xffffff;
		if (rows[i].sent != 0)
			hear(heard, A,
			     (struct o2_event){.kind = O2_EVENT_NOTE,
					       .missing = true,
					       .dest_qp = QP_B,
					       .psn = heard->psn[A] + 0x100000});
		get.u.get.ibgm_rd.rd_nfrags = SAY_FRAGS + 1;
		for (uint32_t n = 0; n <= SAY_FRAGS; n++)
			get.u.get.ibgm_rd.rd_frags[n] = (struct o2_rdma_frag){16, 0x10000 + 4096 * n};
		hear_send(heard, A, QP_B, get);
		assert_int_equal(heard->say.times[O2_JUDGE_TRANSPORT_LOST], 1);
		assert_int_equal(heard->say.times[O2_JUDGE_TRANSFER_FRAGS], !rows[i].is_far);
		heard_closed(heard);
	}
}

/* In dense traffic an acknowledgement is not of the last packet.  It joins two directions if it fits only one. */
TEST(test_an_acknowledgement_of_an_earlier_packet)
{
	static const struct {
		uint32_t sent, psn;
		bool another, joins;
	} rows[] = {{4, 3, false, true},      {4, 1, false, true},	   {4, 0, false, true},
		    {4, 4, false, false},     {4, 0xffffff, false, false}, {4, 1, true, false},
		    {4, 3, true, false},      {5000, 5, false, false},	   {5000, 903, false, true},
		    {5000, 902, false, false}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct heard *heard = heard_opened();

		for (uint32_t n = 0; n < rows[i].sent; n++)
			hear_send(heard, A, QP_B, a_put(A, 0));
		hear_send(heard, B, QP_A, a_put(B, 0));
		heard->psn[A] = 0;
		for (uint32_t n = 0; rows[i].another && n < rows[i].sent; n++)
			hear_send(heard, A, QP_B + 1, a_put(A, 0));
		hear_ack(heard, B, QP_A, rows[i].psn);
		assert_int_equal(o2_links_totals(heard->links).one_way,
				 rows[i].joins ? 0 : 2 + rows[i].another);
		heard_closed(heard);
	}
}
