/* SPDX-License-Identifier: MIT */
#include "tests/lib/lnd_talk.h"

struct o2_kiov talk_kiov[2][O2_MAX_FRAGS];

uint32_t work_bit(enum o2_work work)
{
	return 1u << work;
}

uint32_t deliver(struct side *side, struct held *held, uint32_t keep)
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

void release(struct side *side, struct held *held)
{
	struct ibv_wc wc = held->wc[0];

	assert_true(held->count > 0);
	held->count--;
	memmove(held->wc, held->wc + 1, held->count * sizeof(wc));
	o2_conn_complete(side->conn, &wc);
}

void quiet(struct pair *pair)
{
	uint32_t rounds = 0, steps = 0;

	while (rounds < QUIET_ROUNDS) {
		int a = o2_conn_progress(pair->a.conn);
		int b = o2_conn_progress(pair->b.conn);

		rounds = a > 0 || b > 0 ? 0 : rounds + 1;
		assert_true(++steps < 100000);
	}
}

struct o2_conn_view view_of(const struct side *side)
{
	struct o2_conn_view view;

	o2_conn_view(side->conn, &view);
	return view;
}

/* Assert that, with no message under way, every credit and reservation of this direction is accounted for. */
static void assert_direction(const struct side *from, const struct side *to)
{
	struct o2_conn_view a = view_of(from), b = view_of(to);

	assert_int_equal(a.flow.credits + b.parked + b.puts_accepted + b.flow.outstanding,
			 a.flow.queue_depth);
	assert_int_equal(a.flow.reserved + a.waiting, a.flow.queue_depth);
	assert_int_equal(b.flow.granted, a.flow.credits);
	assert_true(b.flow.outstanding < b.flow.high_water || a.flow.credits >= 2 * b.flow.high_water);
	assert_int_equal(a.flow.in_flight, 0);
	assert_int_equal(a.send_wrs, 0);
	assert_int_equal(a.recv_wrs, a.recv_wrs_max);
	assert_int_equal(a.flow.messages_sent, b.flow.messages_handled);
	assert_int_equal(a.flow.credits_sent, b.flow.credits_received);
}

void assert_settled(const struct pair *pair)
{
	assert_int_equal(o2_conn_get_state(pair->a.conn), O2_CONN_ESTABLISHED);
	assert_int_equal(o2_conn_get_state(pair->b.conn), O2_CONN_ESTABLISHED);
	assert_int_equal(view_of(&pair->a).open, 0);
	assert_int_equal(view_of(&pair->b).open, 0);
	assert_direction(&pair->a, &pair->b);
	assert_direction(&pair->b, &pair->a);
}

void pair_close_settled(struct pair *pair)
{
	assert_settled(pair);
	pair_close(pair);
}

void send_text(struct side *side, uint32_t nob)
{
	struct o2_lnet_hdr hdr = o2_conn_lnet_hdr(side->conn, O2_LNET_PUT, 0, 0);
	static const uint8_t bytes[O2_IMMEDIATE_MAX];

	assert_int_equal(o2_conn_send_bytes(side->conn, &hdr, bytes, nob, 0, NULL, NULL), 0);
}

void assert_refused(const struct side *side, const char *rule)
{
	assert_int_equal(o2_conn_get_state(side->conn), O2_CONN_DISCONNECTED);
	assert_int_equal(o2_conn_get_fault(side->conn)->side, O2_FAULT_PEER_MESSAGE);
	assert_string_equal(o2_conn_get_fault(side->conn)->error.rule, rule);
	assert_int_equal(side->ni.domain.nbound, 0);
}

struct pair *pair_of(uint16_t version, uint32_t depth)
{
	struct o2_conn_config config = O2_CONN_DEFAULTS;

	config.version = version;
	config.queue_depth = depth < o2_min_queue_depth(version) ? o2_min_queue_depth(version) : depth;
	config.max_transfers = 64;
	return pair_open(&config, &config);
}

struct o2_transfer_memory talk_memory(int which, uint64_t nob, enum o2_reg_mode mode)
{
	return dense(talk_kiov[which], 300u * (uint32_t)which, nob, mode);
}
