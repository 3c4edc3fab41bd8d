/* SPDX-License-Identifier: MIT */
#ifndef O2_TEST_LND_TALK_H
#define O2_TEST_LND_TALK_H

#include "tests/lib/test_lnd_pair.h"

/*
 * Conversations over a pair whose completions the test hands out one by one.  They run on loop devices only:
 * there, nothing happens between two calls.
 */

#define QUIET_ROUNDS 8

/* Completions that were taken from a queue and not handed to the connection yet. */
struct held {
	struct ibv_wc wc[256];
	uint32_t count;
};

static inline uint32_t work_bit(enum o2_work work)
{
	return 1u << work;
}

/* Hand over what is there, but for the kinds of work in `keep`, which are held.  Returns how many there were.
 */
static inline uint32_t deliver(struct side *side, struct held *held, uint32_t keep)
{
	struct ibv_wc wc;
	uint32_t count = 0;

	while (side->conn->qp != NULL && ibv_poll_cq(side->conn->cq, 1, &wc) == 1) {
		count++;
		if (keep & work_bit(O2_WR_ID_WORK(wc.wr_id))) {
			assert_true(held->count < 256);
			held->wc[held->count++] = wc;
		} else {
			o2_conn_complete(side->conn, &wc);
		}
	}
	return count;
}

/* Hand over the oldest of what is held. */
static inline void release(struct side *side, struct held *held)
{
	struct ibv_wc wc = held->wc[0];

	assert_true(held->count > 0);
	held->count--;
	memmove(held->wc, held->wc + 1, held->count * sizeof(wc));
	o2_conn_complete(side->conn, &wc);
}

/* Drive both ends until nothing happens any more. */
static inline void quiet(struct pair *pair)
{
	uint32_t rounds = 0, steps = 0;

	while (rounds < QUIET_ROUNDS) {
		int a = o2_conn_progress(pair->a.conn);
		int b = o2_conn_progress(pair->b.conn);

		rounds = a > 0 || b > 0 ? 0 : rounds + 1;
		assert_true(++steps < 100000);
	}
}

static inline struct o2_conn_view view_of(const struct side *side)
{
	struct o2_conn_view view;

	o2_conn_view(side->conn, &view);
	return view;
}

/* One direction, while nothing is on its way: every credit and every reservation is somewhere. */
static inline void assert_direction(const struct side *from, const struct side *to)
{
	struct o2_conn_view a = view_of(from), b = view_of(to);

	assert_int_equal(a.credits + b.parked + b.puts_accepted + b.outstanding, a.queue_depth);
	assert_int_equal(a.reserved + a.waiting, a.queue_depth);
	assert_int_equal(b.granted, a.credits);
	assert_true(b.outstanding < b.high_water || a.credits >= 2 * b.high_water);
	assert_int_equal(a.sends_in_flight, 0);
	assert_int_equal(a.send_wrs, 0);
	assert_int_equal(a.recv_wrs, a.recv_wrs_max);
	assert_int_equal(a.credit_messages_sent, b.credit_messages_handled);
	assert_int_equal(a.credits_sent, b.credits_received);
}

/* Nothing is open, and the account balances both ways. */
static inline void assert_settled(const struct pair *pair)
{
	assert_int_equal(o2_conn_get_state(pair->a.conn), O2_CONN_ESTABLISHED);
	assert_int_equal(o2_conn_get_state(pair->b.conn), O2_CONN_ESTABLISHED);
	assert_int_equal(view_of(&pair->a).open, 0);
	assert_int_equal(view_of(&pair->b).open, 0);
	assert_direction(&pair->a, &pair->b);
	assert_direction(&pair->b, &pair->a);
}

static inline void send_text(struct side *side, uint32_t nob)
{
	struct o2_lnet_hdr hdr = o2_conn_lnet_hdr(side->conn, O2_LNET_PUT, 0, 0);
	static const uint8_t bytes[O2_IMMEDIATE_MAX];

	assert_int_equal(o2_conn_send_bytes(side->conn, &hdr, bytes, nob, 0, NULL, NULL), 0);
}

/* A good message of that type, past the connection's own logic. */
static inline void send_plain(struct side *side, enum o2_msg_type type, uint8_t credits)
{
	struct o2_msg *msg = o2_msg_begin(side->conn, type);

	msg->ibm_credits = credits;
	if (type == O2_MSG_IMMEDIATE)
		msg->u.immediate.hdr = o2_conn_lnet_hdr(side->conn, O2_LNET_PUT, 0, 0);
	if (type == O2_MSG_PUT_REQ) {
		msg->u.putreq.hdr = o2_conn_lnet_hdr(side->conn, O2_LNET_PUT, 0, 0);
		msg->u.putreq.hdr.payload_length = 5000;
	}
	if (type == O2_MSG_GET_REQ) {
		msg->u.get.hdr = o2_conn_lnet_hdr(side->conn, O2_LNET_GET, 0, 5000);
		msg->u.get.ibgm_rd.rd_nfrags = 1;
		msg->u.get.ibgm_rd.rd_frags[0].rf_nob = 5000;
	}
	send_msg(side);
}

static inline void assert_refused(const struct side *side, const char *rule)
{
	assert_int_equal(o2_conn_get_state(side->conn), O2_CONN_DISCONNECTED);
	assert_int_equal(o2_conn_get_fault(side->conn)->side, O2_FAULT_PEER_MESSAGE);
	assert_string_equal(o2_conn_get_fault(side->conn)->error.rule, rule);
	assert_int_equal(side->ni.domain.nbound, 0);
}

/* A pair with this depth and version on both sides; a depth of 2 stands for the least there is. */
static inline struct pair *pair_of(uint16_t version, uint32_t depth)
{
	struct o2_conn_config config = O2_CONN_DEFAULTS;

	config.version = version;
	config.queue_depth = depth < o2_min_queue_depth(version) ? o2_min_queue_depth(version) : depth;
	config.max_transfers = 64;
	return pair_open(&config, &config);
}

#endif
