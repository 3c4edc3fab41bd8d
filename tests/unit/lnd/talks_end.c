/* SPDX-License-Identifier: MIT */
#include "tests/unit/lnd/lnd_talks.h"

#include "lnd/conn/transfer.h"
#include "lnd/ni/path.h"
#include "loopverbs/loopverbs.h"
#include "props/engine/process_held.h"

/* Conversations about how operations and connections end (docs/transport.md, "Time", "Closing"), and about
 * messages that arrive before the connection is established. */

void assert_late(const struct o2_transfer_result *result, enum o2_wait wait, uint64_t age_ms)
{
	const struct o2_transfer_fault *fault = &result->fault;
	const bool late = wait != O2_WAIT_NONE;

	assert_int_equal(result->status, late ? -ETIMEDOUT : -ECONNABORTED);
	assert_int_equal(fault->code, result->status);
	assert_int_equal(fault->side, late ? O2_FAULT_DEADLINE : O2_FAULT_CLOSED);
	assert_int_equal(fault->closed_by, late ? O2_FAULT_NONE : O2_FAULT_DEADLINE);
	if (late)
		assert_int_equal(fault->wait, wait);
	assert_string_equal(fault->error.rule, "conn/deadline");
	assert_int_equal(fault->error.value, age_ms);
	assert_int_equal(fault->error.limit, 50000);
}

/* One late operation closes the connection.  The state of each operation decides which health code it gets. */
TEST(misses_a_deadline)
{
	struct pair *pair = pair_of(O2_MSG_VERSION_2, 2);
	struct o2_transfer_memory memory = talk_memory(0, 9000, O2_REG_FASTREG);
	struct held held = {.count = 0};

	assert_int_equal(start_put(pair->a.conn, &memory, 0, NULL, NULL), 0); /* waits for b's answer */
	deliver(&pair->a, NULL, 0);
	o2_conn_clock(pair->a.conn, 10);
	assert_int_equal(start_put(pair->a.conn, &memory, 1, NULL, NULL), 0); /* has no send completion yet */
	deliver(&pair->a, &held, work_bit(O2_WORK_MESSAGE));
	assert_int_equal(start_put(pair->a.conn, &memory, 2, NULL, NULL), 0); /* queued */
	o2_conn_clock(pair->a.conn, 49999);
	assert_int_equal(o2_conn_get_state(pair->a.conn), O2_CONN_ESTABLISHED);
	o2_conn_clock(pair->a.conn, 50000);
	assert_closed(&pair->a, O2_FAULT_DEADLINE, -ETIMEDOUT);
	assert_string_equal(o2_conn_get_fault(pair->a.conn)->error.rule, "conn/deadline");
	assert_int_equal(pair->a.nresults, 3);
	/* The late operation reports what it waited for; the others report what closed the connection. */
	for (int i = 0; i < 3; i++)
		assert_late(&pair->a.result[i], i == 1 ? O2_WAIT_PUT_ACK : O2_WAIT_NONE, 50000);
	assert_int_equal(o2_conn_get_fault(pair->a.conn)->wait, O2_WAIT_PUT_ACK);
	/* The queued operation ends first. */
	assert_int_equal(pair->a.result[0].health, O2_HEALTH_LOCAL_TIMEOUT);
	assert_int_equal(pair->a.result[1].health, O2_HEALTH_REMOTE_TIMEOUT);
	assert_int_equal(pair->a.result[2].health, O2_HEALTH_NETWORK_TIMEOUT);
	pair_close(pair);
}

/* The deadline of a PUT is renewed when its bytes are sent. */
TEST(renews_a_deadline)
{
	struct pair *pair = pair_default();
	struct o2_transfer_memory memory = talk_memory(0, 9000, O2_REG_FASTREG);
	struct held held = {.count = 0};

	pair->b.answer = talk_memory(1, 9000, O2_REG_FASTREG);
	assert_int_equal(start_put(pair->a.conn, &memory, 0, NULL, NULL), 0);
	o2_conn_clock(pair->a.conn, 40000);
	o2_conn_clock(pair->b.conn, 40000);
	deliver(&pair->b, NULL, 0);
	deliver(&pair->a, &held, work_bit(O2_WORK_MESSAGE)); /* the PUT_ACK; PUT_DONE goes out */
	o2_conn_clock(pair->a.conn, 89999);
	assert_int_equal(o2_conn_get_state(pair->a.conn), O2_CONN_ESTABLISHED);
	o2_conn_clock(pair->a.conn, 90000);
	assert_closed(&pair->a, O2_FAULT_DEADLINE, -ETIMEDOUT);
	pair_close(pair);
}

/* An operation may be started in any state of the connection, and ends exactly once. */
TEST(starts_in_every_state)
{
	struct o2_transfer_memory memory = talk_memory(0, 9000, O2_REG_FASTREG);
	struct pair *pair = calloc(1, sizeof(*pair));
	struct o2_lnet_hdr hdr = {.type = O2_LNET_PUT};
	uint32_t started = 0;
	struct o2_conn *conn;

	assert_non_null(pair);
	side_open(&pair->a, true, O2_DMA_BUS, 0);
	assert_int_equal(o2_conn_create(&pair->a.ni, &O2_CONN_DEFAULTS, side_ops(), &pair->a, &conn, NULL),
			 0);
	pair->a.conn = conn;
	for (int closed = 0; closed < 2; closed++) {
		started += o2_conn_put(conn, &hdr, &memory, NULL, NULL) == 0;
		started += o2_conn_send(conn, &hdr, NULL, NULL, NULL) == 0;
		hdr.type = O2_LNET_GET;
		started += o2_conn_get(conn, &hdr, &memory, NULL, NULL) == 0;
		hdr.type = O2_LNET_PUT;
		o2_conn_close(conn, -EIO);
	}
	assert_int_equal(pair->a.nresults, started);
	assert_int_equal(pair->a.ni.domain.nbound, 0);
	o2_conn_destroy(conn);
	assert_int_equal(pair->a.nresults, started);
	side_assert_idle(&pair->a);
	o2_ni_close(&pair->a.ni);
	free(pair);
}

static uint32_t closed_calls, open_when_closed;

static enum o2_conn_state state_when_closed;

static void note_closed(void *context, const struct o2_transfer_fault *fault)
{
	const struct side *side = context;

	closed_calls++;
	assert_int_equal(fault->code, -ESHUTDOWN);
	state_when_closed = o2_conn_get_state(side->conn);
	open_when_closed = view_of(side).open + side->ni.domain.nbound;
}

/* A peer that disconnects in order has acknowledged our messages; what it sent stays in our receive queue. */
TEST(counts_what_was_sent)
{
	static const struct o2_transfer_fault faults[] = {{.side = O2_FAULT_PEER_CLOSED},
							  {.side = O2_FAULT_CLOSED, .code = -ESHUTDOWN}};
	struct o2_transfer_memory memory = talk_memory(0, 9000, O2_REG_FASTREG);

	for (int i = 0; i < 2; i++) {
		struct pair *pair = pair_of(O2_MSG_VERSION_2, 8);
		struct ibv_wc request;
		uint64_t put;

		pair->b.answer = talk_memory(1, 9000, O2_REG_FASTREG);
		assert_int_equal(start_get(pair->a.conn, &memory, 0, NULL, NULL), 0);
		assert_int_equal(ibv_poll_cq(pair->b.conn->cq, 1, &request), 1);
		o2_conn_complete(pair->b.conn, &request); /* and GET_DONE goes out */
		send_text(&pair->b, 5);
		assert_int_equal(start_put(pair->b.conn, &memory, 0, &put, NULL), 0);
		send_text(&pair->a, 5);
		assert_int_equal(pair->b.nresults, 0);
		o2_conn_end(pair->b.conn, &faults[i]);
		assert_int_equal(pair->b.nmatched, 1);
		assert_int_equal(pair->b.nresults, 3);
		assert_int_equal(pair->b.result[0].op, O2_OP_GET);
		assert_int_equal(pair->b.result[0].status, i == 0 ? 0 : -ECONNABORTED);
		assert_int_equal(pair->b.result[1].op, O2_OP_SEND);
		assert_int_equal(pair->b.result[1].status, i == 0 ? 0 : -ECONNABORTED);
		/* b's PUT_REQ has arrived, but is not answered. */
		assert_true(pair->b.result[2].cookie == put);
		assert_int_equal(pair->b.result[2].status, -ECONNABORTED);
		pair_close(pair);
	}
}

/* No list of transmits is empty when the connection closes: the queues are emptied first, in their order. */
TEST(ends_what_is_open)
{
	struct o2_conn_config config = O2_CONN_DEFAULTS;
	struct o2_transfer_memory memory = talk_memory(0, 9000, O2_REG_FASTREG);
	struct pair *pair;
	struct held held = {.count = 0};
	uint64_t cookie[5];

	config.queue_depth = 2;
	pair = pair_open(&config, &config);
	pair->a.conn->ops.closed = note_closed;
	closed_calls = 0;
	pair->b.answer = talk_memory(1, 9000, O2_REG_FASTREG);
	assert_int_equal(start_get(pair->a.conn, &memory, 0, &cookie[0], NULL), 0); /* active */
	assert_int_equal(start_get(pair->a.conn, &memory, 0, &cookie[1], NULL), 0);
	assert_int_equal(start_get(pair->a.conn, &memory, 0, &cookie[2], NULL), 0); /* reserved */
	send_text(&pair->a, 5);							    /* waits for a credit */
	send_plain(&pair->b, O2_MSG_GET_REQ, 0); /* the limit of messages in flight delays the answer */
	deliver(&pair->a, &held, work_bit(O2_WORK_MESSAGE));
	assert_int_equal(view_of(&pair->a).queued, 1);
	assert_int_equal(view_of(&pair->a).queued_reserved, 1);
	assert_int_equal(view_of(&pair->a).queued_nocred, 1);
	assert_int_equal(view_of(&pair->a).active, 2);
	o2_conn_close(pair->a.conn, -ESHUTDOWN);
	assert_int_equal(pair->a.nresults, 5);
	assert_int_equal(pair->a.result[0].op, O2_OP_SEND);
	assert_true(pair->a.result[1].cookie == cookie[2]);
	assert_false(pair->a.result[2].initiator);
	assert_true(pair->a.result[3].cookie == cookie[0]);
	assert_true(pair->a.result[4].cookie == cookie[1]);
	for (int i = 0; i < 5; i++) {
		assert_int_equal(pair->a.result[i].status, -ECONNABORTED);
		assert_int_equal(pair->a.result[i].fault.closed_by, O2_FAULT_CLOSED);
		assert_int_equal(pair->a.result[i].health, i < 3 ? O2_HEALTH_LOCAL_ERROR : O2_HEALTH_OK);
	}
	assert_int_equal(closed_calls, 1);
	assert_int_equal(state_when_closed, O2_CONN_DISCONNECTED);
	assert_int_equal(open_when_closed, 0);
	pair_close(pair);
	assert_int_equal(closed_calls, 1);
}

static uint32_t early_received, recv_wrs_free;

static int early_receive(void *context, const struct o2_msg *msg)
{
	struct o2_conn_view view = view_of(context);

	recv_wrs_free = view.recv_wrs_max - view.recv_wrs;
	if (msg->u.immediate.hdr.type == O2_LNET_PUT)
		assert_int_equal(msg->u.immediate.payload[0], ++early_received);
	return 0;
}

/* Messages that arrive before the connection is established are kept, and handled in order afterwards. */
TEST(hears_early)
{
	struct pair *pair = calloc(1, sizeof(*pair));
	struct o2_conn_address a, b;
	struct o2_qp_path path;

	assert_non_null(pair);
	side_open(&pair->a, true, O2_DMA_BUS, 0);
	side_open(&pair->b, false, O2_DMA_BUS, 0);
	assert_int_equal(
		o2_conn_create(&pair->a.ni, &O2_CONN_DEFAULTS, side_ops(), &pair->a, &pair->a.conn, NULL), 0);
	assert_int_equal(
		o2_conn_create(&pair->b.ni, &O2_CONN_DEFAULTS, side_ops(), &pair->b, &pair->b.conn, NULL), 0);
	pair->b.conn->ops.receive = early_receive;
	early_received = 0;
	o2_conn_get_address(pair->a.conn, &a);
	o2_conn_get_address(pair->b.conn, &b);
	assert_int_equal(o2_conn_connect(pair->a.conn, &b, NULL), 0);
	/* b's queue pair is ready, but b's connection is not established yet. */
	path = (struct o2_qp_path){a.gid, a.qp_num, a.psn, b.psn, 5, 6, 14};
	assert_int_equal(o2_qp_to_rts(&pair->b.ni, pair->b.conn->qp, &path, NULL), 0);
	for (uint8_t i = 1; i <= 8; i++) {
		struct o2_lnet_hdr hdr = o2_conn_lnet_hdr(pair->a.conn, O2_LNET_PUT, 0, 0);

		assert_int_equal(o2_conn_send_bytes(pair->a.conn, &hdr, &i, 1, 0, NULL, NULL), 0);
	}
	deliver(&pair->b, NULL, 0);
	assert_int_equal(view_of(&pair->b).parked, 8);
	assert_int_equal(early_received, 0);
	{
		struct o2_conn_peer peer = {.nid = NID_A,
					    .incarnation = pair->a.conn->self.incarnation,
					    .version = O2_MSG_VERSION_2,
					    .queue_depth = 8,
					    .max_frags = 257,
					    .max_msg_bytes = 4096};

		assert_int_equal(o2_conn_set_peer(pair->b.conn, &peer, NULL), 0);
	}
	o2_conn_establish(pair->b.conn);
	assert_int_equal(early_received, 8);
	quiet(pair);
	pair_close_settled(pair);
}

/* A payload is read before its receive is reposted.  For a GET, which has no payload, reposting comes first. */
TEST(reads_before_it_reposts)
{
	struct pair *pair = pair_default();
	struct o2_lnet_hdr hdr = o2_conn_lnet_hdr(pair->a.conn, O2_LNET_PUT, 0, 0);
	const uint8_t one = 1;

	pair->b.conn->ops.receive = early_receive;
	early_received = 0;
	assert_int_equal(o2_conn_send_bytes(pair->a.conn, &hdr, &one, 1, 0, NULL, NULL), 0);
	deliver(&pair->b, NULL, 0);
	assert_int_equal(early_received, 1);
	assert_int_equal(recv_wrs_free, 1);
	hdr = o2_conn_lnet_hdr(pair->a.conn, O2_LNET_GET, 0, 48);
	assert_int_equal(o2_conn_send(pair->a.conn, &hdr, NULL, NULL, NULL), 0);
	deliver(&pair->b, NULL, 0);
	assert_int_equal(recv_wrs_free, 0);
	pair_close(pair);
}

static uint8_t gathered[O2_IMMEDIATE_MAX];

static uint32_t ngathered;

static int gathered_receive(void *context, const struct o2_msg *msg)
{
	ngathered = msg->u.immediate.hdr.payload_length;
	memcpy(gathered, msg->u.immediate.payload, ngathered);
	return 0;
}

/* A payload is gathered from two pages, with a checksum over the bytes that are sent. */
TEST(gathers_a_payload)
{
	static struct o2_kiov kiov[2];
	struct o2_conn_config config = O2_CONN_DEFAULTS;
	struct o2_transfer_memory memory = {.buffer = dense_kiov(kiov, 5, 3000, 3500), .mode = O2_REG_GLOBAL};
	struct o2_lnet_hdr hdr;
	struct pair *pair;

	config.immediate_gather = true;
	config.cksum_flavour = O2_CKSUM_UNSIGNED;
	pair = pair_open(&config, &config);
	pair->b.conn->ops.receive = gathered_receive;
	ngathered = 0;
	side_fill(&pair->a, 9);
	hdr = o2_conn_lnet_hdr(pair->a.conn, O2_LNET_PUT, 0, 0);
	assert_int_equal(o2_conn_send(pair->a.conn, &hdr, &memory, NULL, NULL), 0);
	quiet(pair);
	assert_int_equal(ngathered, 3500);
	assert_memory_equal(gathered, o2_arena_page(&pair->a.ni.arena, scattered_page(5)) + 3000, 1096);
	assert_memory_equal(gathered + 1096, o2_arena_page(&pair->a.ni.arena, scattered_page(6)), 2404);
	pair_close_settled(pair);
}

static struct side *closing_side;

static int match_and_close(void *context, const struct o2_msg *request, uint64_t sink_bytes,
			   struct o2_transfer_memory *memory)
{
	int rc = side_match(context, request, sink_bytes, memory);

	o2_conn_close(closing_side->conn, -ESHUTDOWN);
	return rc;
}

static void assert_aborted_there(const struct o2_transfer_result *result, enum o2_transfer_op op)
{
	assert_false(result->initiator);
	assert_int_equal(result->op, op);
	assert_int_equal(result->tag, 77);
	assert_int_equal(result->status, -ECONNABORTED);
	assert_int_equal(result->fault.side, O2_FAULT_CLOSED);
	assert_int_equal(result->nob, 0);
}

/* b closes its connection inside match, while an operation of its own is open. */
static void close_in_match(enum o2_transfer_op op, int match_rc)
{
	struct pair *pair = pair_default();
	struct o2_transfer_memory memory = talk_memory(0, 9000, O2_REG_FASTREG);
	struct side *b = &pair->b;

	closing_side = b;
	b->answer = talk_memory(1, 9000, O2_REG_FASTREG);
	b->answer.tag = 77;
	b->match_rc = match_rc;
	b->conn->ops.match = match_and_close;
	start_op(pair->a.conn, op, &memory, NULL);
	assert_int_equal(start_get(b->conn, &memory, 0, NULL, NULL), 0);
	side_run_until_closed(b);
	assert_closed(b, O2_FAULT_CLOSED, -ESHUTDOWN);
	assert_int_equal(b->nmatched, 1);
	assert_int_equal(b->nresults, match_rc == 0 ? 2 : 1);
	assert_true(b->result[0].initiator);
	if (match_rc == 0)
		assert_aborted_there(&b->result[1], op);
	pair_close(pair);
}

/* A request that match accepts gets done() exactly once, even if match closes the connection; a refused one not. */
TEST(ends_what_match_accepted)
{
	close_in_match(O2_OP_PUT, 0);
	close_in_match(O2_OP_GET, 0);
	close_in_match(O2_OP_PUT, -EACCES);
	close_in_match(O2_OP_GET, -EPROTO);
}

static int fail_polls(void *arg, enum o2_loop_call call, uint32_t qp_num)
{
	return call == O2_LOOP_CALL_POLL ? EIO : 0;
}

/* An error of polling a completion queue closes only the connection of that queue. */
TEST(cannot_poll)
{
	struct pair *pair = pair_default();

	o2_loop_set_fault(fail_polls, NULL);
	assert_int_equal(o2_conn_progress(pair->a.conn), -EIO);
	o2_loop_set_fault(NULL, NULL);
	assert_closed(&pair->a, O2_FAULT_DEVICE, -EIO);
	pair_close(pair);
}

static void meet_below_its_depth(void)
{
	struct o2_conn_config deep = O2_CONN_DEFAULTS, small = O2_CONN_DEFAULTS;
	struct pair *pair;

	deep.queue_depth = 16;
	pair = pair_open(&deep, &small);
	assert_int_equal(view_of(&pair->a).flow.queue_depth, 8);
	pair_close(pair);
}

/* A connection with more receives than the peer's depth needs releases all of them. */
TEST(gives_back_its_receives)
{
	struct o2_process_held before, now;

	meet_below_its_depth();
	o2_process_held_now(&before);
	meet_below_its_depth();
	assert_true(o2_process_held_again(&before, &now));
}

/* The PUT_ACK arrives before the send completion of the PUT_REQ, so PUT_DONE must wait for that completion. */
TEST(is_answered_before_it_is_sent)
{
	struct o2_conn_config config = O2_CONN_DEFAULTS;
	struct o2_transfer_memory memory = talk_memory(0, 9000, O2_REG_GLOBAL);
	struct held held = {.count = 0};
	struct pair *pair;

	config.queue_depth = 2;
	config.concurrent_sends = 1;
	pair = pair_open(&config, &config);
	pair->b.answer = talk_memory(1, 9000, O2_REG_GLOBAL);
	assert_int_equal(start_put(pair->a.conn, &memory, 0, NULL, NULL), 0);
	deliver(&pair->b, NULL, 0);
	deliver(&pair->a, &held, work_bit(O2_WORK_MESSAGE));
	assert_int_equal(held.count, 1);
	assert_int_equal(view_of(&pair->a).queued_nocred, 1);
	release(&pair->a, &held);
	quiet(pair);
	assert_int_equal(pair->a.nresults, 1);
	assert_int_equal(pair->a.result[0].nob, 9000);
	assert_int_equal(pair->b.nresults, 1);
	pair_close_settled(pair);
}
