/* SPDX-License-Identifier: MIT */
#include "tests/lib/lnd_talk.h"

/*
 * Calls to the device that fail, each at every time that it is made (docs/transport.md, "Errors").  The
 * linker wraps the calls that create objects; the others are entries of the device's table.
 */

static struct o2_kiov kiov[2][O2_MAX_FRAGS];

/* 0: never fails; n: the n-th call from now on fails with `code`, and only that one. */
struct fault {
	uint32_t countdown;
	int code;
	uint32_t calls;
};

static struct fault fault, creation_fault;

static bool is_due(struct fault *which)
{
	which->calls++;
	return which->countdown > 0 && --which->countdown == 0;
}

/* Creating a queue pair with more send requests than this fails with ENOMEM; 0: never fails. */
static uint32_t wrs_in_memory;

struct ibv_qp *__real_ibv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr);
struct ibv_qp *__wrap_ibv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr);
struct ibv_qp *__wrap_ibv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
	if (wrs_in_memory != 0 && attr->cap.max_send_wr > wrs_in_memory) {
		errno = ENOMEM;
		return NULL;
	}
	if (is_due(&creation_fault)) {
		errno = creation_fault.code;
		return NULL;
	}
	return __real_ibv_create_qp(pd, attr);
}

struct ibv_cq *__real_ibv_create_cq(struct ibv_context *context, int cqe, void *cq_context,
				    struct ibv_comp_channel *channel, int vector);
struct ibv_cq *__wrap_ibv_create_cq(struct ibv_context *context, int cqe, void *cq_context,
				    struct ibv_comp_channel *channel, int vector);
struct ibv_cq *__wrap_ibv_create_cq(struct ibv_context *context, int cqe, void *cq_context,
				    struct ibv_comp_channel *channel, int vector)
{
	if (is_due(&creation_fault)) {
		errno = creation_fault.code;
		return NULL;
	}
	return __real_ibv_create_cq(context, cqe, cq_context, channel, vector);
}

static struct ibv_context_ops real;

static int post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	if (is_due(&fault)) {
		*bad = wr;
		return fault.code;
	}
	return real.post_send(qp, wr, bad);
}

static int post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	if (is_due(&fault)) {
		*bad = wr;
		return fault.code;
	}
	return real.post_recv(qp, wr, bad);
}

static int poll_cq(struct ibv_cq *cq, int count, struct ibv_wc *wc)
{
	return is_due(&fault) ? -1 : real.poll_cq(cq, count, wc);
}

enum call {
	POST_SEND,
	POST_RECV,
	POLL_CQ,
	CALLS,
};

/* Puts the failing call into the device table of the given side. */
static void arm(struct side *side, enum call call, uint32_t countdown, int code)
{
	struct ibv_context_ops *ops = &side->ni.context->ops;

	real = *ops;
	if (call == POST_SEND)
		ops->post_send = post_send;
	else if (call == POST_RECV)
		ops->post_recv = post_recv;
	else
		ops->poll_cq = poll_cq;
	fault.countdown = countdown;
	fault.code = code;
	fault.calls = 0;
}

/* Starts operations of every kind, in both directions. */
static uint32_t start_some(struct pair *pair)
{
	struct o2_transfer_memory from = dense(kiov[0], 0, 9000, O2_REG_FASTREG);

	pair->a.answer = pair->b.answer = dense(kiov[1], 300, 9000, O2_REG_FASTREG);
	for (int end = 0; end < 2; end++) {
		struct side *side = end == 0 ? &pair->a : &pair->b;

		if (o2_conn_get_state(side->conn) != O2_CONN_ESTABLISHED)
			return (uint32_t)end * 3;
		assert_int_equal(start_put(side->conn, &from, 0, NULL, NULL), 0);
		if (o2_conn_get_state(side->conn) != O2_CONN_ESTABLISHED)
			return (uint32_t)end * 3 + 1;
		send_text(side, 100);
		if (o2_conn_get_state(side->conn) != O2_CONN_ESTABLISHED)
			return (uint32_t)end * 3 + 2;
		assert_int_equal(start_get(side->conn, &from, 0, NULL, NULL), 0);
	}
	return 6;
}

/* A call fails once, at every time that it is made: everything ends once, and everything is released. */
static void fail_each(enum call call, const char *rule)
{
	bool failed = true;

	for (uint32_t nth = 1; failed; nth++) {
		struct pair *pair = pair_of(O2_MSG_VERSION_2, 4);
		uint32_t started, ours;

		arm(&pair->b, call, nth, ENOMEM);
		started = start_some(pair);
		quiet(pair);
		failed = fault.countdown == 0;
		if (failed) {
			const struct o2_transfer_fault *why = o2_conn_get_fault(pair->b.conn);

			assert_int_equal(o2_conn_get_state(pair->b.conn), O2_CONN_DISCONNECTED);
			assert_int_equal(why->side, call == POLL_CQ ? O2_FAULT_DEVICE : O2_FAULT_LOCAL_STAGE);
			assert_int_equal(why->code, call == POLL_CQ ? -EIO : -ENOMEM);
			assert_string_equal(why->error.rule, rule);
		}
		o2_conn_close(pair->a.conn, 0);
		o2_conn_close(pair->b.conn, 0);
		ours = 0;
		for (uint32_t i = 0; i < pair->a.nresults; i++)
			ours += pair->a.result[i].initiator;
		for (uint32_t i = 0; i < pair->b.nresults; i++)
			ours += pair->b.result[i].initiator;
		assert_int_equal(ours, started);
		assert_int_equal(pair->a.nresults + pair->b.nresults - ours,
				 pair->a.nmatched + pair->b.nmatched);
		pair->b.ni.context->ops = real;
		pair_close(pair);
		assert_true(nth < 200);
	}
	assert_true(fault.calls > 3);
}

TEST(survives_failing_calls)
{
	static const char *const rules[CALLS] = {"post/send", "conn/post-recv", "conn/poll"};

	for (int call = 0; call < CALLS; call++)
		fail_each((enum call)call, rules[call]);
}

/* The answer has come, and the key waits to be invalidated, as the connection fails: no word against the path. */
TEST(answered_before_the_failure)
{
	struct pair *pair = pair_of(O2_MSG_VERSION_2, 4);
	struct o2_transfer_memory sink = dense(kiov[0], 0, 9000, O2_REG_FASTREG);

	pair->b.answer = dense(kiov[1], 300, 9000, O2_REG_FASTREG);
	arm(&pair->a, POST_RECV, 1, ENOMEM);
	assert_int_equal(start_get(pair->a.conn, &sink, 0, NULL, NULL), 0);
	quiet(pair);
	assert_int_equal(fault.countdown, 0);
	assert_int_equal(pair->a.nresults, 1);
	assert_int_equal(pair->a.result[0].status, -ECONNABORTED);
	assert_int_equal(pair->a.result[0].health, O2_HEALTH_OK);
	pair->a.ni.context->ops = real;
	pair_close(pair);
}

/* Opening a connection: each call fails once, and nothing is left behind. */
TEST(survives_failing_creation)
{
	struct side side;
	struct o2_conn *conn;
	struct o2_error error;
	int rc = -1;

	side_open(&side, true, O2_DMA_BUS, 0);
	for (uint32_t nth = 1; nth <= 3; nth++) {
		creation_fault = (struct fault){.countdown = nth, .code = EPERM};
		rc = o2_conn_create(&side.ni, &O2_CONN_DEFAULTS, side_ops(), &side, &conn, &error);
		assert_int_equal(rc, nth < 3 ? -EPERM : 0);
		if (nth < 3) {
			assert_string_equal(error.rule, nth == 1 ? "conn/create-cq" : "conn/create-qp");
			assert_null(conn);
			side_assert_idle(&side);
		}
	}
	creation_fault.countdown = 0;
	o2_conn_destroy(conn);
	/* A connection posts 18 receives. */
	for (uint32_t nth = 1; nth <= 19; nth++) {
		arm(&side, POST_RECV, nth, ENOMEM);
		rc = o2_conn_create(&side.ni, &O2_CONN_DEFAULTS, side_ops(), &side, &conn, &error);
		assert_int_equal(rc, nth <= 18 ? -ENOMEM : 0);
		side.ni.context->ops = real;
		if (rc != 0)
			assert_string_equal(error.rule, "conn/post-recv");
	}
	o2_conn_destroy(conn);
	o2_ni_close(&side.ni);
	assert_objects(0, 0, 0);
}

/* With less memory than the depth needs, the depth shrinks, down to the minimum. */
TEST(shrinks_without_memory)
{
	static const struct {
		uint16_t version;
		uint32_t wrs, depth;
	} rows[] = {
		{O2_MSG_VERSION_2, 0, 8},
		{O2_MSG_VERSION_2, 8 * 260, 8},
		{O2_MSG_VERSION_2, 8 * 260 - 1, 7},
		{O2_MSG_VERSION_2, 5 * 260, 5},
		{O2_MSG_VERSION_2, 2 * 260, 2},
		{O2_MSG_VERSION_2, 2 * 260 - 1, 0},
		/* Version 1 needs at least four messages in flight. */
		{O2_MSG_VERSION_1, 5 * 260, 5},
		{O2_MSG_VERSION_1, 4 * 260, 4},
		{O2_MSG_VERSION_1, 4 * 260 - 1, 0},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct o2_conn_config config = O2_CONN_DEFAULTS;
		struct o2_conn_address address;
		struct o2_error error;
		struct side side;
		int rc;

		config.version = rows[i].version;
		side_open(&side, true, O2_DMA_BUS, 0);
		wrs_in_memory = rows[i].wrs;
		rc = o2_conn_create(&side.ni, &config, side_ops(), &side, &side.conn, &error);
		wrs_in_memory = 0;
		assert_int_equal(rc, rows[i].depth == 0 ? -ENOMEM : 0);
		if (rc == 0) {
			o2_conn_get_address(side.conn, &address);
			assert_int_equal(address.queue_depth, rows[i].depth);
			assert_int_equal(view_of(&side).flow.queue_depth, rows[i].depth);
			assert_true(view_of(&side).flow.high_water <= rows[i].depth);
			assert_int_equal(view_of(&side).recv_wrs,
					 2 * rows[i].depth + (rows[i].version == O2_MSG_VERSION_2 ? 2 : 0));
			o2_conn_destroy(side.conn);
		}
		o2_ni_close(&side.ni);
		assert_objects(0, 0, 0);
	}
}
