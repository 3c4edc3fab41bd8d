/* SPDX-License-Identifier: MIT */
/* How events of a capture are assigned to connections (docs/judge.md, "Captures"). */
#include "cli/links.h"
#include "tests/lib/judge_say.h"
#include "tests/lib/unit_test.h"

#include <errno.h>

#define A	  O2_JUDGE_A
#define B	  O2_JUDGE_B
#define QP_A	  0x201u
#define QP_B	  0x301u
#define O2IBLND	  0x10603dbu /* port 987 of the RDMA connection manager's services */
#define SECOND_NS 1000000000u

/* A capture of two hosts that a test makes up, event by event. */
struct heard {
	struct say say;
	struct o2_links *links;
	uint64_t frame, now_ns;
	uint32_t psn[O2_JUDGE_SIDES]; /* of the side's next packet */
	uint64_t stamp_b;
};

static struct heard *opened(void)
{
	const struct o2_judge_options options = {50000, 1000, true, 1};
	static struct heard heard;

	heard = (struct heard){.now_ns = SECOND_NS};
	say_open(&heard.say, &options);
	heard.links = o2_links_new(heard.say.judge);
	assert_non_null(heard.links);
	heard.stamp_b = say_header(B, O2_MSG_NOOP, 0).ibm_srcstamp;
	return &heard;
}

static void closed(struct heard *heard)
{
	o2_links_free(heard->links);
	say_close(&heard->say);
}

#define LINKS_TEST(name) TEST_ON(name, struct heard, heard, opened(), closed)

static void hear(struct heard *heard, enum o2_judge_side from, struct o2_event event)
{
	struct o2_roce_address *const ends[] = {[A] = &event.src, [B] = &event.dst};

	event.frame = ++heard->frame;
	event.time_ns = heard->now_ns;
	ends[from]->bytes[0] = 1;
	ends[1 - from]->bytes[0] = 2;
	assert_int_equal(o2_links_hear(heard->links, &event), 0);
}

/* Set B's incarnation in the message to the one that the test has chosen. */
static struct o2_msg stamped(const struct heard *heard, enum o2_judge_side from, struct o2_msg msg)
{
	*(from == A ? &msg.ibm_dststamp : &msg.ibm_srcstamp) = heard->stamp_b;
	return msg;
}

static void say_cm(struct heard *heard, enum o2_judge_side from, struct o2_cm_mad cm,
		   const struct o2_msg *msg)
{
	hear(heard, from, (struct o2_event){.kind = O2_EVENT_CM, .cm = cm, .msg = msg});
}

/* Set up the n-th connection, from A to queue pair qp_b of B. */
static void connect(struct heard *heard, uint32_t n, uint32_t qp_b)
{
	const struct o2_msg request = say_request_of(SAY_DEPTH, SAY_FRAGS);
	struct o2_msg reply = stamped(heard, B, say_header(B, O2_MSG_CONNACK, 0));

	reply.u = request.u;
	heard->psn[A] = heard->psn[B] = 1;
	say_cm(heard, A,
	       (struct o2_cm_mad){
		       .kind = O2_CM_REQ, .local_id = n, .qp = QP_A + n, .psn = 1, .service_id = O2IBLND},
	       &request);
	for (uint32_t again = 0; again < 2; again++)
		say_cm(heard, B,
		       (struct o2_cm_mad){
			       .kind = O2_CM_REP, .local_id = 100 + n, .remote_id = n, .qp = qp_b, .psn = 1},
		       &reply);
}

static void send(struct heard *heard, enum o2_judge_side from, uint32_t qp, struct o2_msg msg)
{
	msg = stamped(heard, from, msg);
	msg.ibm_nob = o2_msg_canonical_bytes(&msg);
	hear(heard, from,
	     (struct o2_event){.kind = O2_EVENT_SEND,
			       .dest_qp = qp,
			       .psn = heard->psn[from]++,
			       .packets = 1,
			       .bytes = msg.ibm_nob,
			       .msg = &msg});
}

static struct o2_msg put(enum o2_judge_side from, uint8_t credits)
{
	struct o2_msg msg = say_header(from, O2_MSG_IMMEDIATE, credits);

	msg.u.immediate.hdr.type = O2_LNET_PUT;
	msg.u.immediate.hdr.msg.put.ack_wmd = (struct o2_lnet_handle){UINT64_MAX, UINT64_MAX};
	return msg;
}

static uint32_t findings(const struct heard *heard)
{
	uint32_t count = 0;

	for (int i = 0; i < O2_JUDGE_RULES; i++)
		count += heard->say.times[i];
	return count;
}

/* Each side sends PUTs, and returns the credits that the other has used. */
static void talk(struct heard *heard, uint32_t qp_a, uint32_t qp_b)
{
	for (uint32_t i = 0; i < 4; i++) {
		send(heard, A, qp_b, put(A, i != 0));
		send(heard, B, qp_a, put(B, 1));
	}
}

/* A restarted acceptor can use the number of an earlier queue pair again. */
LINKS_TEST(test_a_queue_pair_of_who_accepts_comes_again)
{
	for (uint32_t n = 0; n < 3; n++) {
		heard->stamp_b++;
		connect(heard, n, QP_B);
		talk(heard, QP_A + n, QP_B);
	}
	assert_int_equal(findings(heard), 0);
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
		assert_int_equal(findings(heard), 0);
}

/* Requests for another service whose first bytes are not o2iblnd's are ignored; all others must obey the rules. */
TEST(test_requests_of_other_protocols)
{
	static const struct {
		uint64_t service;
		const uint8_t *bytes;
		bool other;
	} rows[] = {
		{O2IBLND, none, false},	  {O2IBLND + 1, none, true}, {O2IBLND + 1, little, false},
		{UINT64_MAX, none, true}, {O2IBLND + 1, big, false}, {UINT64_MAX, little, false},
	};

	for (uint32_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct heard *heard = opened();

		heard->psn[A] = heard->psn[B] = 1;
		ask(heard, rows[i].service, rows[i].bytes);
		/* What follows does not matter: the request has decided which protocol it is. */
		send_other(heard, rows[i].other ? little : none, 2);
		expect_others(heard, rows[i].other, !rows[i].other);
		assert_int_equal(heard->say.times[O2_JUDGE_MESSAGE_WIRE], rows[i].other ? 0 : 2 + 4);
		closed(heard);
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
	assert_int_equal(findings(heard), 0);
	assert_int_equal(o2_links_totals(heard->links).messages, 8);
	send_other(heard, none, 1);
	assert_int_equal(heard->say.times[O2_JUDGE_MESSAGE_WIRE], 2);
}

/* A message with the right magic counts as o2iblnd's, in either byte order, even if the rest is wrong. */
TEST(test_a_wrong_message_seen_later)
{
	for (int order = 0; order < 2; order++) {
		struct heard *heard = opened();

		send_other(heard, order == 0 ? little : big, 1);
		expect_others(heard, 0, 1);
		assert_int_equal(heard->say.times[O2_JUDGE_MESSAGE_WIRE], 2);
		closed(heard);
	}
}

/* A request without an answer, on a connection that falls silent while another goes on, is not a proven fault. */
TEST(test_a_connection_that_falls_silent)
{
	for (uint32_t way = 0; way < 3; way++) {
		struct heard *heard = opened();
		struct o2_msg get = say_header(A, O2_MSG_GET_REQ, 0);

		get.u.get.hdr.msg.get.sink_length = 4096;
		get.u.get.ibgm_rd.rd_nfrags = 1;
		get.u.get.ibgm_rd.rd_frags[0] = (struct o2_rdma_frag){4096, 0x10000};
		connect(heard, 0, QP_B);
		send(heard, A, QP_B, get);
		if (way == 1)
			say_cm(heard, B,
			       (struct o2_cm_mad){.kind = O2_CM_DREQ, .local_id = 100, .remote_id = 0}, NULL);
		heard->now_ns += (way == 2 ? 50 : 51) * (uint64_t)SECOND_NS;
		connect(heard, 1, QP_B + 1);
		talk(heard, QP_A + 1, QP_B + 1);
		/* A last packet without a time does not hide how late it is. */
		heard->now_ns = 0;
		send(heard, A, QP_B + 1, put(A, 1));
		assert_int_equal(heard->say.times[O2_JUDGE_TRANSFER_UNANSWERED], 0);
		o2_links_free(heard->links);
		heard->links = NULL;
		assert_int_equal(heard->say.times[O2_JUDGE_TRANSFER_UNANSWERED], way == 0);
		if (way == 0) {
			assert_true(heard->say.last[O2_JUDGE_TRANSFER_UNANSWERED].unproven);
			assert_int_equal(heard->say.last[O2_JUDGE_TRANSFER_UNANSWERED].number, heard->frame);
			assert_int_equal(heard->say.last[O2_JUDGE_TRANSFER_UNANSWERED].earlier, 4);
		}
		closed(heard);
	}
}

/* A request of A with that id, and B's reject of it. */
static void rejected(struct heard *heard, uint32_t id)
{
	const struct o2_msg request = say_request_of(32, SAY_FRAGS);
	const struct o2_reject reject = {.ibr_version = O2_MSG_VERSION_2,
					 .ibr_why = O2_REJECT_MSG_QUEUE_SIZE,
					 .ibr_incarnation = heard->stamp_b,
					 .ibr_cp = {SAY_DEPTH, SAY_FRAGS, O2_MSG_BYTES}};

	say_cm(heard, A,
	       (struct o2_cm_mad){
		       .kind = O2_CM_REQ, .local_id = id, .qp = QP_A + id, .psn = 1, .service_id = O2IBLND},
	       &request);
	hear(heard, B,
	     (struct o2_event){.kind = O2_EVENT_CM,
			       .cm = {.kind = O2_CM_REJ, .local_id = 100, .remote_id = id},
			       .reject = &reject,
			       .raw = little,
			       .raw_bytes = sizeof(little)});
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
}

/* The side acknowledges what the other side has sent, up to that PSN. */
static void acknowledge(struct heard *heard, enum o2_judge_side from, uint32_t qp, uint32_t psn)
{
	hear(heard, from, (struct o2_event){.kind = O2_EVENT_ACK, .dest_qp = qp, .psn = psn});
}

static struct o2_msg get_req(uint64_t cookie)
{
	struct o2_msg get = say_header(A, O2_MSG_GET_REQ, 0);

	get.u.get.hdr.msg.get.sink_length = 4096;
	get.u.get.ibgm_cookie = cookie;
	get.u.get.ibgm_rd.rd_key = (uint32_t)cookie;
	get.u.get.ibgm_rd.rd_nfrags = 1;
	get.u.get.ibgm_rd.rd_frags[0] = (struct o2_rdma_frag){4096, 0x10000 * cookie};
	return get;
}

static struct o2_msg get_done(uint64_t cookie)
{
	struct o2_msg done = say_header(B, O2_MSG_GET_DONE, 1);

	done.u.completion.ibcm_cookie = cookie;
	done.u.completion.ibcm_status = -ENODATA;
	return done;
}

/*
 * A connection seen later, whose second side has sent nothing yet: A's acknowledgement shows that B's answer was
 * missed.  Without one it never came.  An acknowledgement of the first packets of B's first message shows nothing.
 * psn: of B's answer that was missed.
 */
TEST(test_a_first_message_that_was_missed)
{
	enum { MISSED, WRAPPED, MISSED_EARLY, NONE, IN_PARTS, WAYS };

	for (int way = 0; way < WAYS; way++) {
		struct heard *heard = opened();
		const uint32_t psn = way == WRAPPED ? 0xffffff : 7;

		send(heard, A, QP_B, get_req(1));
		if (way == MISSED_EARLY)
			acknowledge(heard, A, QP_B, psn);
		acknowledge(heard, B, QP_A, 0);
		if (way == MISSED || way == WRAPPED)
			acknowledge(heard, A, QP_B, psn);
		heard->now_ns += 60 * (uint64_t)SECOND_NS;
		send(heard, A, QP_B, get_req(2));
		heard->psn[B] = (psn + 1) & 0xffffff;
		if (way == IN_PARTS)
			acknowledge(heard, A, QP_B, psn + 1);
		send(heard, B, QP_A, get_done(2));
		/* What A acknowledges from now on is not missed. */
		acknowledge(heard, A, QP_B, psn + 1);
		send(heard, B, QP_A, put(B, 0));
		assert_int_equal(heard->say.times[O2_JUDGE_TRANSPORT_LOST], way < NONE);
		assert_int_equal(heard->say.times[O2_JUDGE_TRANSFER_UNANSWERED], way >= NONE);
		closed(heard);
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
			struct heard *heard = opened();
			struct o2_event note = {
				.kind = O2_EVENT_NOTE, .missing = true, .frame = 99, .time_ns = SECOND_NS};

			connect(heard, 0, QP_B);
			for (uint32_t i = 0; i <= SAY_DEPTH; i++)
				send(heard, spends, qp_of_other[spends], put(spends, 0));
			assert_int_equal(heard->say.times[O2_JUDGE_CREDITS_NONE], 0);
			if (lost == 2) {
				note.src = note.dst = (struct o2_roce_address){4, {10, 0, 9, 9}};
				note.dest_qp = QP_A;
			}
			if (lost != 0)
				assert_int_equal(o2_links_hear(heard->links, &note), 0);
			send(heard, gives, qp_of_other[gives], put(gives, 1));
			assert_int_equal(heard->say.times[O2_JUDGE_CREDITS_NONE], lost == 1 ? 0 : 1);
			closed(heard);
		}
}
