/* SPDX-License-Identifier: MIT */
#include "tests/lib/lnd_memory.h"
#include "tests/lib/lnd_message.h"
#include "tests/lib/lnd_pair.h"

/* Messages that break rules, closing, and what happens to open transfers (docs/transport.md, "Errors"). */

PAIR_TEST(refuses_bytes_that_are_no_message)
{
	static const uint8_t noise[48] = {0x6f, 0x32, 1, 2, 3};
	struct o2_transfer_memory memory = dense(kiov_from, 0, 9000, O2_REG_FASTREG);

	assert_int_equal(start_get(pair->a.conn, &memory, 0, NULL, NULL), 0);
	send_raw(&pair->b, noise, sizeof(noise));
	pair_run_until_closed(pair, pair->a.conn);
	assert_closed(&pair->a, O2_FAULT_PEER_MESSAGE, -EPROTO);
	assert_non_null(o2_conn_get_fault(pair->a.conn)->error.rule);
	assert_int_equal(o2_conn_get_fault(pair->a.conn)->error.class, O2_CLASS_CONNECTION);
	assert_int_equal(pair->a.nresults, 1);
	assert_int_equal(pair->a.result[0].status, -ECONNABORTED);
	assert_int_equal(pair->a.result[0].fault.side, O2_FAULT_CLOSED);
}

/* Well-formed messages that are never legal on a connection, or not yet. */
TEST(handles_every_type)
{
	static const enum o2_msg_type refused[] = {O2_MSG_CONNREQ, O2_MSG_CONNACK};
	struct pair *pair = pair_default();
	struct o2_wire_options options = O2_WIRE_DEFAULTS;
	uint8_t bytes[O2_MSG_BYTES];

	o2_msg_begin(pair->b.conn, O2_MSG_NOOP);
	send_msg(&pair->b);
	assert_alive(pair);
	/* A payload that runs past the message's end loses the message, but not the connection. */
	o2_msg_begin(pair->b.conn, O2_MSG_IMMEDIATE)->u.immediate.hdr =
		o2_conn_lnet_hdr(pair->b.conn, O2_LNET_PUT, 0, 0);
	assert_int_equal(o2_msg_encode(&pair->b.conn->tx_msg, &options, bytes, sizeof(bytes), NULL),
			 O2_MSG_HEADER_BYTES + O2_LNET_HDR_BYTES);
	bytes[O2_MSG_HEADER_BYTES + 28] = 1; /* payload_length, little-endian */
	send_raw(&pair->b, bytes, O2_MSG_HEADER_BYTES + O2_LNET_HDR_BYTES);
	assert_alive(pair);
	pair_close(pair);
	for (int i = 0; i < 2; i++) {
		pair = pair_default();
		memset(bytes, 0, sizeof(bytes));
		o2_msg_begin(pair->b.conn, O2_MSG_IMMEDIATE)->u.immediate.hdr =
			o2_conn_lnet_hdr(pair->b.conn, O2_LNET_PUT, 0, 0);
		assert_true(o2_msg_encode(&pair->b.conn->tx_msg, &options, bytes, sizeof(bytes), NULL) > 0);
		bytes[6] = (uint8_t)refused[i]; /* ibm_type; none of these types needs more bytes */
		send_raw(&pair->b, bytes, O2_MSG_HEADER_BYTES + O2_LNET_HDR_BYTES);
		side_run_until_closed(&pair->a);
		assert_closed(&pair->a, O2_FAULT_PEER_MESSAGE, -EPROTO);
		assert_string_equal(o2_conn_get_fault(pair->a.conn)->error.rule, "conn/unexpected-type");
		assert_int_equal(o2_conn_get_fault(pair->a.conn)->error.value, refused[i]);
		pair_close(pair);
	}
}

/* Each of the four fields that identify the sender and the receiver: both NIDs and both stamps. */
TEST(refuses_stale_messages)
{
	static const char *const rules[] = {"conn/srcnid", "conn/dstnid", "conn/srcstamp", "conn/dststamp"};

	for (int i = 0; i < 4; i++) {
		struct pair *pair = pair_default();
		struct o2_conn *b = pair->b.conn;
		struct o2_transfer_memory memory = dense(kiov_from, 0, 9000, O2_REG_FMR);
		uint64_t *const number[] = {&b->self.nid, &b->peer.nid, &b->self.incarnation,
					    &b->peer.incarnation};

		*number[i] += 1;
		assert_int_equal(start_put(b, &memory, 0, NULL, NULL), 0);
		pair_run_until_closed(pair, pair->a.conn);
		assert_closed(&pair->a, O2_FAULT_PEER_MESSAGE, -ESTALE);
		assert_string_equal(o2_conn_get_fault(pair->a.conn)->error.rule, rules[i]);
		assert_true(o2_conn_get_fault(pair->a.conn)->error.value == *number[i]);
		assert_true(o2_conn_get_fault(pair->a.conn)->error.limit == *number[i] - 1);
		assert_int_equal(pair->a.nmatched, 0);
		pair_close(pair);
	}
}

TEST(refuses_unknown_cookies)
{
	static const enum o2_msg_type types[] = {O2_MSG_PUT_NAK, O2_MSG_PUT_DONE, O2_MSG_GET_DONE,
						 O2_MSG_PUT_ACK};

	for (int i = 0; i < 4; i++)
		for (int open = 0; open < 2; open++) {
			struct pair *pair = pair_default();
			struct o2_transfer_memory memory = dense(kiov_from, 0, 9000, O2_REG_FASTREG);
			bool for_put = types[i] == O2_MSG_PUT_NAK || types[i] == O2_MSG_PUT_ACK;
			uint64_t cookie = 0x7777;

			/* Also test a valid cookie, of a transfer that waits for something else. */
			if (open)
				start_op(pair->a.conn, for_put ? O2_OP_GET : O2_OP_PUT, &memory, &cookie);
			if (types[i] == O2_MSG_PUT_ACK) {
				struct o2_msg *msg = o2_msg_begin(pair->b.conn, O2_MSG_PUT_ACK);

				msg->u.putack.ibpam_src_cookie = cookie;
				msg->u.putack.ibpam_rd.rd_nfrags = 1;
				msg->u.putack.ibpam_rd.rd_frags[0].rf_nob = 1;
				send_msg(&pair->b);
			} else {
				send_completion(&pair->b, types[i], cookie, 0);
			}
			side_run_until_closed(&pair->a);
			assert_closed(&pair->a, O2_FAULT_PEER_MESSAGE, -EPROTO);
			assert_string_equal(o2_conn_get_fault(pair->a.conn)->error.rule,
					    "conn/unknown-cookie");
			assert_true(o2_conn_get_fault(pair->a.conn)->error.value == cookie);
			assert_int_equal(pair->a.nresults, open);
			pair_close(pair);
		}
}

/* A status above or below what was described: the transfer fails, and the connection with it. */
static void refuses_impossible_status(enum o2_msg_type type, int32_t status, const char *rule)
{
	struct pair *pair = pair_default();
	struct o2_transfer_memory memory = dense(kiov_from, 0, 9000, O2_REG_FASTREG);
	struct side *victim = type == O2_MSG_PUT_DONE ? &pair->b : &pair->a;
	struct side *liar = type == O2_MSG_PUT_DONE ? &pair->a : &pair->b;

	pair->b.answer = dense(kiov_to, 300, 9000, O2_REG_FASTREG);
	start_op(pair->a.conn, type == O2_MSG_GET_DONE ? O2_OP_GET : O2_OP_PUT, &memory, NULL);
	/* The sink of a PUT must have sent its PUT_ACK before it can wait for a PUT_DONE. */
	if (type == O2_MSG_PUT_DONE)
		side_run_until(&pair->b, &pair->b.nmatched, 1);
	send_completion(liar, type, 0, status); /* 0 is the first cookie of either side */
	side_run_until_closed(victim);
	assert_closed(victim, O2_FAULT_PEER_MESSAGE, -EPROTO);
	assert_string_equal(o2_conn_get_fault(victim->conn)->error.rule, rule);
	assert_int_equal(victim->nresults, 1);
	assert_int_equal(victim->result[0].status, -EPROTO);
	assert_int_equal(victim->result[0].fault.side, O2_FAULT_PEER_MESSAGE);
	assert_int_equal(victim->result[0].nob, 0);
	pair_close(pair);
}

TEST(refuses_impossible_statuses)
{
	refuses_impossible_status(O2_MSG_GET_DONE, 9001, "conn/get-done-status");
	refuses_impossible_status(O2_MSG_PUT_DONE, 9001, "conn/put-done-status");
	refuses_impossible_status(O2_MSG_PUT_DONE, 8999, "conn/put-done-status");
	refuses_impossible_status(O2_MSG_PUT_DONE, 0, "conn/put-done-status");
	refuses_impossible_status(O2_MSG_PUT_NAK, 1, "conn/nak-status");
}

PAIR_TEST(reports_any_negative_status)
{
	struct o2_transfer_memory memory = dense(kiov_from, 0, 9000, O2_REG_FASTREG);

	assert_int_equal(start_get(pair->a.conn, &memory, 0, NULL, NULL), 0);
	send_completion(&pair->b, O2_MSG_GET_DONE, 0, INT32_MIN);
	side_run_until(&pair->a, &pair->a.nresults, 1);
	assert_int_equal(pair->a.result[0].status, -EIO); /* the status is not a Linux errno */
	assert_int_equal(pair->a.result[0].fault.side, O2_FAULT_PEER_STATUS);
	assert_true(pair->a.result[0].fault.error.value == 0x80000000u);
}

/* Closing ends each transfer once and releases everything, in whatever state the transfers are. */
TEST(closes_in_every_state)
{
	for (int steps = 0; steps < 12; steps++) {
		struct pair *pair = pair_default();
		struct o2_transfer_memory memory = dense(kiov_from, 0, 9000, O2_REG_FASTREG);
		struct o2_error error;
		uint64_t cookie[4];

		pair->b.answer = dense(kiov_to, 300, 9000, O2_REG_FASTREG);
		for (int i = 0; i < 4; i++)
			start_op(pair->a.conn, i % 2 ? O2_OP_PUT : O2_OP_GET, &memory, &cookie[i]);
		for (int i = 0; i < steps; i++)
			o2_conn_progress(i % 2 ? pair->a.conn : pair->b.conn);
		o2_conn_close(pair->b.conn, -ETIMEDOUT);
		assert_closed(&pair->b, O2_FAULT_CLOSED, -ETIMEDOUT);
		assert_int_equal(pair->b.nresults, pair->b.nmatched);
		o2_conn_close(pair->a.conn, 0);
		assert_int_equal(o2_conn_progress(pair->a.conn), -ENOTCONN);
		assert_int_equal(pair->a.nresults, 4);
		assert_int_equal(pair->a.ni.domain.nbound, 0);
		for (int i = 0; i < 4; i++) {
			int times = 0;

			for (int j = 0; j < 4; j++)
				times += pair->a.result[j].cookie == cookie[i];
			assert_int_equal(times, 1);
			assert_true(pair->a.result[i].status == 0 ||
				    pair->a.result[i].status == -ECONNABORTED);
		}
		assert_int_equal(start_put(pair->a.conn, &memory, 0, NULL, &error), -ENOTCONN);
		o2_conn_close(pair->a.conn, -EIO); /* the first reason is kept */
		assert_int_equal(o2_conn_get_fault(pair->a.conn)->code, 0);
		pair_close(pair);
	}
}

/* A failed post closes the connection, and the operation that it was for ends with its errno. */
TEST(survives_a_failed_post)
{
	for (enum o2_transfer_op op = O2_OP_PUT; op <= O2_OP_GET; op++) {
		struct pair *pair = pair_default();
		struct o2_transfer_memory memory = dense(kiov_from, 0, 9000, O2_REG_FASTREG);
		struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RESET};
		const struct o2_transfer_result *result = &pair->b.result[0];
		struct o2_conn_view view;

		assert_int_equal(start_get(pair->a.conn, &memory, 0, NULL, NULL), 0);
		/* A queue pair in RESET refuses posts; b believes that it is still connected. */
		assert_int_equal(ibv_modify_qp(pair->b.conn->qp, &attr, IBV_QP_STATE), 0);
		start_op(pair->b.conn, op, &memory, NULL);
		assert_int_equal(pair->b.nresults, 1);
		assert_true(result->status < 0);
		assert_int_equal(result->fault.side, O2_FAULT_LOCAL_STAGE);
		assert_string_equal(result->fault.error.rule, "post/send");
		o2_conn_view(pair->b.conn, &view);
		assert_int_equal(view.flow.credits, view.flow.queue_depth);
		assert_int_equal(view.flow.in_flight + view.send_wrs + view.flow.messages_sent, 0);
		assert_closed(&pair->b, O2_FAULT_LOCAL_STAGE, result->status);
		pair_close(pair);
	}
}

/* A header that the codec refuses is not sent, and the connection stays up. */
PAIR_TEST(refuses_to_send_what_nobody_may_receive)
{
	struct o2_transfer_memory memory = dense(kiov_from, 0, 9000, O2_REG_FASTREG);
	uint64_t nid = pair->a.conn->self.nid;
	struct o2_conn_view view;

	pair->a.conn->self.nid = UINT64_MAX;
	assert_int_equal(start_put(pair->a.conn, &memory, 0, NULL, NULL), 0);
	assert_int_equal(start_get(pair->a.conn, &memory, 0, NULL, NULL), 0);
	assert_int_equal(pair->a.ni.domain.nbound, 0);
	assert_int_equal(pair->a.nresults, 2);
	for (uint32_t i = 0; i < 2; i++) {
		assert_int_equal(pair->a.result[i].fault.side, O2_FAULT_LOCAL_STAGE);
		assert_true(pair->a.result[i].status < 0);
	}
	o2_conn_view(pair->a.conn, &view);
	assert_int_equal(view.flow.credits, view.flow.queue_depth);
	assert_int_equal(view.flow.reserved, view.flow.queue_depth);
	pair->a.conn->self.nid = nid;
	assert_alive(pair);
}

/* A DONE may not be left out, because the peer would wait for it: the connection closes. */
TEST(closes_when_the_codec_refuses_a_done)
{
	for (enum o2_transfer_op op = O2_OP_PUT; op <= O2_OP_GET; op++) {
		struct pair *pair = pair_default();
		struct side *writer = op == O2_OP_PUT ? &pair->a : &pair->b;
		struct o2_transfer_memory memory = dense(kiov_from, 0, 9000, O2_REG_FASTREG);

		pair->b.answer = dense(kiov_to, 300, 9000, O2_REG_FASTREG);
		start_op(pair->a.conn, op, &memory, NULL);
		writer->conn->peer.max_msg_bytes = O2_MSG_HEADER_BYTES;
		pair_run_until_closed(pair, writer->conn);
		assert_closed(writer, O2_FAULT_LOCAL_STAGE, -ENOSPC);
		assert_int_equal(writer->nresults, 1);
		assert_int_equal(writer->result[0].status, -ENOSPC);
		assert_string_equal(writer->result[0].fault.error.rule, "wire/encode/capacity");
		pair_close(pair);
	}
}

/* Requests that arrive while all transmits are taken wait, in order, and are served. */
PAIR_TEST(parks_requests)
{
	struct o2_conn *b = pair->b.conn;
	struct o2_transfer_memory memory = dense(kiov_from, 0, 9000, O2_REG_FMR);
	uint32_t depth = O2_CONN_DEFAULTS.queue_depth;
	struct o2_tx *taken[2 * O2_MAX_QUEUE_DEPTH], *more;

	pair->b.answer = dense(kiov_to, 300, 9000, O2_REG_FMR);
	for (uint32_t i = 0; i < 2 * depth; i++)
		assert_int_equal(o2_tx_start(b, O2_TX_PEERS, O2_OP_PUT, &taken[i], NULL), 0);
	assert_int_equal(o2_tx_start(b, O2_TX_PEERS, O2_OP_PUT, &more, NULL), -EBUSY);
	for (uint32_t i = 0; i < depth; i++)
		assert_int_equal(start_put(pair->a.conn, &memory, 100 + i, NULL, NULL), 0);
	side_run_until(&pair->b, &b->nparked, depth);
	assert_int_equal(pair->b.nmatched, 0);
	o2_tx_end(b, taken[3]);
	/* Any kind of event lets the first waiting request continue. */
	o2_conn_clock(b, 1);
	assert_int_equal(pair->b.nmatched, 1);
	pair_run(pair, depth, depth);
	assert_int_equal(b->nparked, 0);
	assert_int_equal(pair->b.request.u.putreq.hdr.msg.put.match_bits, 100 + depth - 1);
	for (uint32_t i = 0; i < depth; i++)
		assert_int_equal(pair->a.result[i].status, 0);
	for (uint32_t i = 0; i < 2 * depth; i++)
		if (i != 3)
			o2_tx_end(b, taken[i]);
}

/* The answer may arrive before the completion of our own send: the operation ends after both. */
TEST(waits_for_its_sends)
{
	for (enum o2_transfer_op op = O2_OP_PUT; op <= O2_OP_GET; op++) {
		struct pair *pair = pair_default();
		struct o2_conn *a = pair->a.conn;
		struct o2_transfer_memory memory = dense(kiov_from, 0, 9000, O2_REG_FMR);
		time_t end = pair_now() + PAIR_SECONDS;
		struct ibv_wc held[4], wc;
		uint32_t nheld = 0;

		pair->b.answer = dense(kiov_to, 300, 9000, O2_REG_FMR);
		start_op(a, op, &memory, NULL);
		/* A PUT has two messages of ours, a GET has one: their completions are held back. */
		while (nheld < (op == O2_OP_PUT ? 2u : 1u) || pair->b.nresults == 0 ||
		       TAILQ_FIRST(&a->list[O2_LIST_ACTIVE])->waiting) {
			assert_true(o2_conn_progress(pair->b.conn) >= 0);
			assert_true(pair_now() <= end);
			if (ibv_poll_cq(a->cq, 1, &wc) != 1)
				continue;
			if (O2_WR_ID_WORK(wc.wr_id) == O2_WORK_MESSAGE)
				held[nheld++] = wc;
			else
				o2_conn_complete(a, &wc);
		}
		for (uint32_t i = 0; i < nheld; i++) {
			assert_int_equal(pair->a.nresults, 0);
			o2_conn_complete(a, &held[i]);
		}
		assert_int_equal(pair->a.nresults, 1);
		assert_int_equal(pair->a.result[0].status, 0);
		pair_close(pair);
	}
}

static struct o2_transfer_memory next_memory;

static void done_and_next(void *context, const struct o2_transfer_result *result)
{
	struct side *side = context;

	side_done(context, result);
	if (side->nresults < 40)
		assert_int_equal(start_put(side->conn, &next_memory, side->nresults, NULL, NULL), 0);
}

PAIR_TEST(may_be_used_by_done)
{
	next_memory = dense(kiov_from, 0, 9000, O2_REG_FASTREG);
	pair->b.answer = dense(kiov_to, 300, 9000, O2_REG_FASTREG);
	pair->a.conn->ops.done = done_and_next;
	for (uint32_t i = 0; i < O2_CONN_DEFAULTS.queue_depth; i++)
		assert_int_equal(start_put(pair->a.conn, &next_memory, 0, NULL, NULL), 0);
	pair_run(pair, 47, 47);
	for (uint32_t i = 0; i < 47; i++)
		assert_int_equal(pair->a.result[i].status, 0);
}

TEST(refuses_bad_configurations)
{
	static const struct {
		const char *rule;
		struct o2_conn_config config;
	} bad[] = {
		{"conn/queue-depth", {.queue_depth = 1, .max_frags = 1, .wrq_sge = 1}},
		{"conn/queue-depth", {.queue_depth = 256, .max_frags = 1, .wrq_sge = 1}},
		{"conn/max-frags", {.queue_depth = 8, .max_frags = 0, .wrq_sge = 1}},
		{"conn/max-frags", {.queue_depth = 8, .max_frags = 258, .wrq_sge = 1}},
		{"conn/wrq-sge", {.queue_depth = 8, .max_frags = 1, .wrq_sge = 0}},
		{"conn/wrq-sge", {.queue_depth = 8, .max_frags = 1, .wrq_sge = 33}},
		{"conn/retry-count", {.queue_depth = 8, .max_frags = 1, .wrq_sge = 1, .retry_count = 7}},
		{"conn/rnr-retry-count",
		 {.queue_depth = 8, .max_frags = 1, .wrq_sge = 1, .rnr_retry_count = 7}},
		{"conn/ack-timeout", {.queue_depth = 8, .max_frags = 1, .wrq_sge = 1, .ack_timeout = 32}},
	};
	struct side side;
	struct o2_conn *conn;
	struct o2_error error;
	struct o2_conn_address peer = {.qp_num = 1u << 24};

	side_open(&side, true, O2_DMA_BUS, 0);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct o2_conn_config config = bad[i].config;

		config.wire = O2_WIRE_DEFAULTS;
		assert_error(o2_conn_create(&side.ni, &config, side_ops(), &side, &conn, &error), -EINVAL,
			     &error, bad[i].rule);
		assert_null(conn);
	}
	assert_int_equal(o2_conn_create(&side.ni, &O2_CONN_DEFAULTS, side_ops(), &side, &conn, &error), 0);
	assert_error(o2_conn_connect(conn, &peer, &error), -EINVAL, &error, "conn/peer-qp-num");
	assert_int_equal(o2_conn_get_state(conn), O2_CONN_INIT);
	o2_conn_destroy(conn);
	assert_objects(1, side.ni.domain.live.regions, side.ni.domain.live.mws);
	o2_ni_close(&side.ni);
	assert_objects(0, 0, 0);
}
