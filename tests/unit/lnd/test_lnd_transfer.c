/* SPDX-License-Identifier: MIT */
#include "tests/lib/lnd_memory.h"
#include "tests/lib/lnd_pair.h"

/* PUTs and GETs that move bytes, or rightly move none (docs/transport.md). */

#define NOB 70001u

static struct o2_iov iov_from[3], iov_to[3];

/* Runs a transfer that must succeed on both sides; `from` belongs to b in a GET and to a in a PUT. */
static void move(struct pair *pair, enum o2_transfer_op op, struct o2_transfer_memory from,
		 struct o2_transfer_memory to)
{
	struct side *source = op == O2_OP_PUT ? &pair->a : &pair->b;
	struct side *sink = op == O2_OP_PUT ? &pair->b : &pair->a;
	uint64_t nob = from.buffer.nob < to.buffer.nob ? from.buffer.nob : to.buffer.nob;
	struct images images = images_take(source, sink, (uint32_t)nob + from.mode * 3 + to.mode);
	struct o2_error error;
	uint64_t cookie = 0;
	int rc;

	o2_error_clear(&error);
	pair->a.nresults = 0;
	pair->b.nresults = 0;
	pair->b.answer = op == O2_OP_PUT ? to : from;
	pair->b.match_rc = 0;
	rc = op == O2_OP_PUT ? start_put(pair->a.conn, &from, 0x1234, &cookie, &error)
			     : start_get(pair->a.conn, &to, 0x1234, &cookie, &error);
	if (rc != 0) {
		show_error("start", &error);
		fail();
	}
	pair_run(pair, 1, 1);
	if (o2_conn_get_state(pair->a.conn) == O2_CONN_DISCONNECTED)
		show_error("closed", &o2_conn_get_fault(pair->a.conn)->error);
	assert_int_equal(pair->a.nresults, 1);
	assert_int_equal(pair->b.nresults, 1);
	assert_int_equal(source->result[0].status, 0);
	assert_int_equal(sink->result[0].status, 0);
	assert_int_equal(source->result[0].nob, nob);
	assert_int_equal(sink->result[0].nob, nob);
	assert_int_equal(source->result[0].nfrags, sink->result[0].nfrags);
	assert_true(source->result[0].nwr > 0);
	assert_int_equal(sink->result[0].nwr, 0);
	assert_int_equal(pair->a.result[0].cookie, cookie);
	assert_true(pair->a.result[0].initiator);
	assert_false(pair->b.result[0].initiator);
	assert_int_equal(pair->a.nbound_at_done, 0);
	assert_int_equal(pair->b.nbound_at_done, 0);
	images_check(&images, source, &from.buffer, sink, &to.buffer, nob);
}

static struct o2_transfer_memory memory(const struct o2_buffer *buffer, int mode)
{
	return (struct o2_transfer_memory){
		.buffer = *buffer, .mode = (enum o2_reg_mode)mode, .iova = 0x10000};
}

/* Returns whether a mode takes a page vector, with gaps or without. */
static bool can_register(int mode, bool gaps)
{
	return mode != O2_REG_USER && !(gaps && (mode == O2_REG_FASTREG || mode == O2_REG_PHYS));
}

static void each_mode_pair(struct pair *pair, enum o2_transfer_op op, struct o2_buffer from,
			   struct o2_buffer to, bool gaps)
{
	for (int source = 0; source < O2_REG_MODES; source++)
		for (int sink = 0; sink < O2_REG_MODES; sink++)
			if (can_register(source, gaps) && can_register(sink, gaps))
				move(pair, op, memory(&from, source), memory(&to, sink));
}

/* Runs both operations in all modes, and closes the pair. */
static void put_and_get(struct pair *pair, struct o2_buffer from, struct o2_buffer to, bool gaps)
{
	each_mode_pair(pair, O2_OP_PUT, from, to, gaps);
	each_mode_pair(pair, O2_OP_GET, from, to, gaps);
	pair_close(pair);
}

TEST(moves_page_lists_without_gaps)
{
	put_and_get(pair_default(), dense_kiov(kiov_from, 0, 100, NOB), dense_kiov(kiov_to, 300, 4000, NOB),
		    false);
}

TEST(moves_page_lists_with_gaps)
{
	put_and_get(pair_default(), gapped_kiov(kiov_from, 0, 40, 700), gapped_kiov(kiov_to, 300, 70, 400),
		    true);
}

PAIR_TEST(moves_virtual_buffers)
{
	/* A view's base belongs to the arena of its side, so PUT and GET need different buffers. */
	for (int op = O2_OP_PUT; op <= O2_OP_GET; op++) {
		struct side *source = op == O2_OP_PUT ? &pair->a : &pair->b;
		struct side *sink = op == O2_OP_PUT ? &pair->b : &pair->a;

		for (int i = 0; i < O2_REG_MODES * O2_REG_MODES; i++) {
			struct o2_transfer_memory from = {
				.buffer = view_iov(source, iov_from, 1, 4096 * 10 + 999, NOB),
				.mode = (enum o2_reg_mode)(i / O2_REG_MODES)};
			struct o2_transfer_memory to = {.buffer =
								view_iov(sink, iov_to, 2, 4096 * 50 + 3, NOB),
							.mode = (enum o2_reg_mode)(i % O2_REG_MODES)};

			/* Two pieces meet inside a page, which makes a gap; one piece has no gap. */
			if (!can_register(from.mode, true) || !can_register(to.mode, true)) {
				iov_from[0].len = NOB + 5;
				iov_to[0].len = NOB + 5;
			}
			move(pair, (enum o2_transfer_op)op, from, to);
		}
	}
}

TEST(moves_the_largest_transfer)
{
	struct o2_buffer to = dense_kiov(kiov_to, 500, 4095, O2_MAX_TRANSFER_BYTES);

	assert_int_equal(to.count, O2_MAX_FRAGS);
	put_and_get(pair_default(), dense_kiov(kiov_from, 0, 1, O2_MAX_TRANSFER_BYTES), to, false);
}

TEST(moves_one_byte)
{
	put_and_get(pair_default(), dense_kiov(kiov_from, 0, 4095, 1), dense_kiov(kiov_to, 500, 7, 1), false);
}

PAIR_TEST(moves_short_gets_and_truncated_puts)
{
	/* A GET whose source is shorter than the described sink ends inside a fragment of the sink. */
	each_mode_pair(pair, O2_OP_GET, dense_kiov(kiov_from, 0, 100, 50001),
		       dense_kiov(kiov_to, 300, 5, 90000), false);
	/* A PUT whose sink takes less than what was offered. */
	each_mode_pair(pair, O2_OP_PUT, dense_kiov(kiov_from, 0, 100, 90000),
		       dense_kiov(kiov_to, 300, 5, 50001), false);
}

TEST(moves_in_the_other_byte_order)
{
	struct o2_conn_config big = O2_CONN_DEFAULTS;
	struct o2_conn_config little = O2_CONN_DEFAULTS;
	struct o2_buffer from = gapped_kiov(kiov_from, 0, 40, 700);
	struct o2_buffer to = gapped_kiov(kiov_to, 300, 70, 400);

	big.order = O2_BIG_ENDIAN;
	big.cksum_flavour = O2_CKSUM_SIGNED;
	little.cksum_flavour = O2_CKSUM_UNSIGNED;
	big.wrq_sge = 7;
	put_and_get(pair_open(&big, &little), from, to, true);
}

/* match gets all members of the request that an upper layer needs. */
PAIR_TEST(tells_match_about_the_request)
{
	struct o2_transfer_memory from = {.buffer = dense_kiov(kiov_from, 0, 100, 5000), .mode = O2_REG_FMR};
	struct o2_transfer_memory to = {.buffer = dense_kiov(kiov_to, 300, 4000, 5000),
					.mode = O2_REG_FASTREG};

	move(pair, O2_OP_PUT, from, to);
	assert_int_equal(pair->b.request.ibm_type, O2_MSG_PUT_REQ);
	assert_int_equal(pair->b.request.u.putreq.hdr.type, O2_LNET_PUT);
	assert_int_equal(pair->b.request.u.putreq.hdr.payload_length, 5000);
	assert_int_equal(pair->b.request.u.putreq.hdr.msg.put.match_bits, 0x1234);
	assert_int_equal(pair->b.request.u.putreq.hdr.dest_pid, O2_LNET_PID);
	assert_true(pair->b.request.u.putreq.hdr.src_nid == NID_A);
	assert_true(pair->b.request.u.putreq.hdr.dest_nid == NID_B);
	move(pair, O2_OP_GET, from, to);
	assert_int_equal(pair->b.request.ibm_type, O2_MSG_GET_REQ);
	assert_int_equal(pair->b.request.u.get.hdr.type, O2_LNET_GET);
	assert_int_equal(pair->b.request.u.get.hdr.payload_length, 0);
	assert_int_equal(pair->b.request.u.get.hdr.msg.get.match_bits, 0x1234);
	assert_int_equal(pair->b.request.u.get.hdr.msg.get.sink_length, 5000);
	assert_int_equal(pair->b.sink_bytes, 5000);
}

/* More operations than credits, in both directions; and more than the limit allows. */
TEST(runs_full_queues_both_ways)
{
	struct o2_conn_config config = O2_CONN_DEFAULTS;
	struct pair *pair;
	static struct o2_kiov kiov[2][16][4];
	uint32_t depth = 12;
	uint32_t rounds = 12;

	config.max_transfers = depth;
	pair = pair_open(&config, &config);
	for (uint32_t round = 0; round < rounds; round++) {
		struct o2_error error;

		pair->a.nresults = 0;
		pair->b.nresults = 0;
		for (uint32_t i = 0; i < 2; i++) {
			struct side *side = i == 0 ? &pair->a : &pair->b;
			struct side *other = i == 0 ? &pair->b : &pair->a;
			struct o2_transfer_memory source = {.buffer =
								    dense_kiov(kiov[i][0], 100 * i, 9, 9000),
							    .mode = (enum o2_reg_mode)(round % 3)};

			other->answer = (struct o2_transfer_memory){
				.buffer = dense_kiov(kiov[i][1], 50 + 100 * i, 77, 9000),
				.mode = (enum o2_reg_mode)(round / 3 % 3)};
			for (uint32_t n = 0; n < depth; n++) {
				int rc = n % 2 == 0 ? start_put(side->conn, &source, n, NULL, &error)
						    : start_get(side->conn, &source, n, NULL, &error);

				assert_int_equal(rc, 0);
			}
			assert_int_equal(start_put(side->conn, &source, 0, NULL, &error), -EBUSY);
			assert_int_equal(error.limit, depth);
		}
		pair_run(pair, 2 * depth, 2 * depth);
		for (uint32_t n = 0; n < 2 * depth; n++) {
			assert_int_equal(pair->a.result[n].status, 0);
			assert_int_equal(pair->b.result[n].status, 0);
			assert_int_equal(pair->a.result[n].nob, 9000);
		}
	}
	pair_close(pair);
}

/* A key has a counter of 8 bits: it wraps after 255 binds, and windows are reused. */
PAIR_TEST(rotates_keys)
{
	struct o2_transfer_memory from = {.buffer = dense_kiov(kiov_from, 0, 100, 9000),
					  .mode = O2_REG_FASTREG};
	struct o2_transfer_memory to = {.buffer = dense_kiov(kiov_to, 300, 4000, 9000),
					.mode = O2_REG_FASTREG};

	pair->b.answer = to;
	for (uint32_t i = 0; i < 600; i++) {
		uint32_t want = i + 1;

		assert_int_equal(start_put(pair->a.conn, &from, i, NULL, NULL), 0);
		pair_run(pair, want, want);
		assert_int_equal(pair->b.result[i % PAIR_RESULTS].status, 0);
		assert_int_equal(pair->b.result[i % PAIR_RESULTS].nob, 9000);
	}
	move(pair, O2_OP_PUT, from, to);
}

PAIR_TEST(answers_without_a_match)
{
	struct o2_transfer_memory memory = {.buffer = dense_kiov(kiov_from, 0, 100, 9000),
					    .mode = O2_REG_FASTREG};
	struct images images = images_take(&pair->a, &pair->b, 1);

	pair->b.match_rc = -ENODATA;
	assert_int_equal(start_put(pair->a.conn, &memory, 1, NULL, NULL), 0);
	pair_run(pair, 1, 0);
	assert_int_equal(pair->a.result[0].status, 0);
	assert_int_equal(pair->a.result[0].nob, 0);
	assert_int_equal(start_get(pair->a.conn, &memory, 1, NULL, NULL), 0);
	pair_run(pair, 2, 0);
	assert_int_equal(pair->a.result[1].status, -ENODATA);
	assert_int_equal(pair->a.result[1].fault.side, O2_FAULT_PEER_STATUS);
	pair->b.match_rc = -EACCES;
	assert_int_equal(start_put(pair->a.conn, &memory, 1, NULL, NULL), 0);
	pair_run(pair, 3, 0);
	assert_int_equal(pair->a.result[2].status, -EACCES);
	/* done is not called for a request that match refused. */
	assert_int_equal(pair->b.nmatched, 3);
	assert_int_equal(pair->b.nresults, 0);
	/* match accepted no bytes: this is an empty transfer, so done is called. */
	pair->b.match_rc = 0;
	pair->b.answer.buffer.nob = 0;
	assert_int_equal(start_put(pair->a.conn, &memory, 1, NULL, NULL), 0);
	pair_run(pair, 4, 1);
	assert_int_equal(start_get(pair->a.conn, &memory, 1, NULL, NULL), 0);
	pair_run(pair, 5, 2);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(pair->a.result[3 + i].status, 0);
		assert_int_equal(pair->a.result[3 + i].nob, 0);
		assert_int_equal(pair->b.result[i].status, 0);
	}
	images_check(&images, &pair->a, NULL, &pair->b, NULL, 0);
}
