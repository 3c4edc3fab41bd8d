/* SPDX-License-Identifier: MIT */
/* Failures: the status that each side gets, the order of flushed requests, and the bytes that are moved. */
#include "tests/device/loopverbs/pair.h"

#define SEND_AT	  (32 * PAIR_PAGE)
#define BIG_BYTES 10000u

/*
 * A row of the error table in docs/loopverbs.md: a request of a that must fail, with receives posted at b.
 */
struct row {
	const char *name;
	enum ibv_wr_opcode opcode;
	enum {
		NOTHING,
		BAD_RKEY,
		BAD_LKEY,
		SHORT_MR,
		READ_ONLY_LOCAL,
		BAD_RECEIVE
	} wrong; /* what is wrong, apart from the length */
	enum ibv_wc_status want;
	enum ibv_qp_state peer;	  /* final state of b */
	enum ibv_wc_status first; /* status of b's first receive, if b is in error */
	uint32_t recv_bytes;
	uint32_t length;
	uint32_t moved; /* bytes that arrive nevertheless */
};

static const struct row rows[] = {
	{"write, bad rkey", IBV_WR_RDMA_WRITE, BAD_RKEY, IBV_WC_REM_ACCESS_ERR, IBV_QPS_ERR,
	 IBV_WC_WR_FLUSH_ERR, 64, BIG_BYTES, 0},
	{"read, bad rkey", IBV_WR_RDMA_READ, BAD_RKEY, IBV_WC_REM_ACCESS_ERR, IBV_QPS_ERR,
	 IBV_WC_WR_FLUSH_ERR, 64, BIG_BYTES, 0},
	{"send too long", IBV_WR_SEND, NOTHING, IBV_WC_REM_OP_ERR, IBV_QPS_ERR, IBV_WC_LOC_QP_OP_ERR, 64, 65,
	 0},
	{"send too long, whole packets arrive", IBV_WR_SEND, NOTHING, IBV_WC_REM_OP_ERR, IBV_QPS_ERR,
	 IBV_WC_LOC_QP_OP_ERR, BIG_BYTES - 1, BIG_BYTES, 8192},
	{"bad lkey", IBV_WR_RDMA_WRITE, BAD_LKEY, IBV_WC_LOC_QP_OP_ERR, IBV_QPS_RTS, IBV_WC_SUCCESS, 64,
	 BIG_BYTES, 0},
	{"local range, packets before the fault", IBV_WR_RDMA_WRITE, SHORT_MR, IBV_WC_LOC_PROT_ERR,
	 IBV_QPS_RTS, IBV_WC_SUCCESS, 64, BIG_BYTES, 8192},
	{"bad entry in the receive", IBV_WR_SEND, BAD_RECEIVE, IBV_WC_REM_OP_ERR, IBV_QPS_ERR,
	 IBV_WC_LOC_QP_OP_ERR, 64, 64, 0},
	{"read, bad lkey", IBV_WR_RDMA_READ, BAD_LKEY, IBV_WC_LOC_PROT_ERR, IBV_QPS_RTS, IBV_WC_SUCCESS, 64,
	 BIG_BYTES, 0},
	{"read past a region", IBV_WR_RDMA_READ, SHORT_MR, IBV_WC_LOC_PROT_ERR, IBV_QPS_RTS, IBV_WC_SUCCESS,
	 64, BIG_BYTES, 8192},
	{"read into a region without local write", IBV_WR_RDMA_READ, READ_ONLY_LOCAL, IBV_WC_LOC_PROT_ERR,
	 IBV_QPS_RTS, IBV_WC_SUCCESS, 64, BIG_BYTES, 0},
};

/* Assert that exactly `moved` bytes of the source have arrived at the sink. */
static void assert_moved(const uint8_t *source, const uint8_t *sink, uint32_t moved)
{
	assert_memory_equal(sink, source, moved);
	for (uint32_t i = moved; i < BIG_BYTES; i++)
		assert_int_equal(sink[i], 0xee);
}

static void run_row(const struct row *r)
{
	struct pair *p = pair_open(&pair_defaults);
	struct ibv_mr *exact = ibv_reg_mr(p->a.pd, p->a.buf + SEND_AT, BIG_BYTES - 1, IBV_ACCESS_LOCAL_WRITE);
	struct ibv_mr *read_only = ibv_reg_mr(p->a.pd, p->a.buf + SEND_AT, BIG_BYTES, 0);
	struct ibv_sge from = sge_of(p->a.mr, addr_of(p->a.buf) + SEND_AT, r->length);
	struct ibv_sge to = sge_of(p->b.mr, addr_of(p->b.buf), r->recv_bytes), ok = from, own = to;
	const uint8_t *sink = r->opcode == IBV_WR_RDMA_READ ? p->a.buf + SEND_AT : p->b.buf;

	print_message("%s\n", r->name);
	own.lkey = p->a.mr->lkey;
	own.addr = addr_of(p->a.buf);
	if (r->wrong == BAD_LKEY)
		from.lkey ^= 0x80;
	else if (r->wrong == SHORT_MR)
		from.lkey = exact->lkey;
	else if (r->wrong == READ_ONLY_LOCAL)
		from.lkey = read_only->lkey;
	else if (r->wrong == BAD_RECEIVE)
		to.lkey ^= 0x80;
	fill(p->a.buf + SEND_AT, BIG_BYTES, 1);
	fill(p->b.buf, PAIR_BUF_BYTES, 2);
	if (r->opcode != IBV_WR_RDMA_READ)
		memset(p->b.buf, 0xee, BIG_BYTES + 1);
	else
		memset(p->a.buf + SEND_AT, 0xee, BIG_BYTES);
	ok.length = 16;
	assert_int_equal(post_recv(p->b.qp, 50, &to, 1), 0);
	assert_int_equal(post_recv(p->b.qp, 51, &to, 1), 0);
	assert_int_equal(post_recv(p->a.qp, 60, &own, 1), 0);
	assert_int_equal(pair_to_state(p->a.qp, IBV_QPS_SQD), 0); /* queue all requests first */
	assert_int_equal(
		post_rdma(p->a.qp, 1, IBV_WR_RDMA_WRITE, &ok, 1, addr_of(p->b.buf) + SEND_AT, p->b.mr->rkey),
		0);
	assert_int_equal(post_rdma(p->a.qp, 2, r->opcode, &from, 1, addr_of(p->b.buf),
				   p->b.mr->rkey ^ (r->wrong == BAD_RKEY)),
			 0);
	assert_int_equal(post_send(p->a.qp, 3, IBV_WR_SEND, 0, &ok, 1), 0); /* unsignalled */
	assert_int_equal(post_rdma(p->a.qp, 4, IBV_WR_RDMA_WRITE, &ok, 1, addr_of(p->b.buf), p->b.mr->rkey),
			 0);
	assert_int_equal(pair_to_state(p->a.qp, IBV_QPS_RTS), 0);
	/* Completions: earlier successes, the failing request, then the rest in order, including unsignalled
	 * requests; a's receives are flushed too. */
	expect_wc(p->a.scq, 1, IBV_WC_SUCCESS);
	expect_wc(p->a.scq, 2, r->want);
	expect_wc(p->a.scq, 3, IBV_WC_WR_FLUSH_ERR);
	expect_wc(p->a.scq, 4, IBV_WC_WR_FLUSH_ERR);
	expect_empty(p->a.scq);
	expect_wc(p->a.rcq, 60, IBV_WC_WR_FLUSH_ERR);
	expect_state(p->a.qp, IBV_QPS_ERR);
	expect_state(p->b.qp, r->peer);
	if (r->peer == IBV_QPS_ERR) {
		expect_wc(p->b.rcq, 50, r->first);
		expect_wc(p->b.rcq, 51, IBV_WC_WR_FLUSH_ERR);
	}
	expect_empty(p->b.rcq);
	assert_moved(r->opcode == IBV_WR_RDMA_READ ? p->b.buf : p->a.buf + SEND_AT, sink, r->moved);
	/* Afterwards, sends are accepted and flushed; receives are accepted but never complete. */
	assert_int_equal(post_send(p->a.qp, 5, IBV_WR_SEND, 0, &ok, 1), 0);
	expect_wc(p->a.scq, 5, IBV_WC_WR_FLUSH_ERR);
	assert_int_equal(post_recv(p->a.qp, 61, &own, 1), 0);
	expect_empty(p->a.rcq);
	pair_reconnect(p, &pair_defaults);
	assert_int_equal(post_rdma(p->a.qp, 6, IBV_WR_RDMA_WRITE, &ok, 1, addr_of(p->b.buf), p->b.mr->rkey),
			 0);
	expect_wc(p->a.scq, 6, IBV_WC_SUCCESS);
	assert_int_equal(ibv_dereg_mr(exact), 0);
	assert_int_equal(ibv_dereg_mr(read_only), 0);
	pair_close(p);
}

TEST(error_table)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		run_row(&rows[i]);
}

/* The queue pair's access rights are checked before the region's, even if no byte is to be moved. */
TEST(queue_pair_rights)
{
	struct pair_options o = pair_defaults;
	struct ibv_sge from;
	struct pair *p;

	o.access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ;
	p = pair_open(&o);
	from = sge_of(p->a.mr, addr_of(p->a.buf), 64);
	assert_int_equal(post_rdma(p->a.qp, 1, IBV_WR_RDMA_READ, &from, 1, addr_of(p->b.buf), p->b.mr->rkey),
			 0);
	expect_wc(p->a.scq, 1, IBV_WC_SUCCESS);
	assert_int_equal(post_rdma(p->a.qp, 2, IBV_WR_RDMA_WRITE, &from, 1, addr_of(p->b.buf), p->b.mr->rkey),
			 0);
	expect_wc(p->a.scq, 2, IBV_WC_REM_INV_REQ_ERR);
	expect_state(p->b.qp, IBV_QPS_ERR);
	pair_reconnect(p, &o);
	assert_int_equal(post_rdma(p->a.qp, 3, IBV_WR_RDMA_WRITE, NULL, 0, 0, 0), 0);
	expect_wc(p->a.scq, 3, IBV_WC_REM_INV_REQ_ERR);
	expect_state(p->b.qp, IBV_QPS_ERR);
	pair_close(p);
}

static void count_message(void *arg, const struct o2_loop_seen *seen)
{
	assert_true(seen->is_write);
	++*(int *)arg;
}

/* The tap is told of a refused WRITE, but not of one that its own list cut short. */
PAIR_TEST(refused_and_cut_short)
{
	struct ibv_mr *half = ibv_reg_mr(p->a.pd, p->a.buf, PAIR_PAGE, 0);
	struct ibv_sge from = sge_of(half, addr_of(p->a.buf), 2 * PAIR_PAGE);
	int told = 0;

	o2_loop_set_tap(count_message, &told);
	assert_int_equal(post_rdma(p->a.qp, 1, IBV_WR_RDMA_WRITE, &from, 1, 0, 1), 0);
	expect_wc(p->a.scq, 1, IBV_WC_REM_ACCESS_ERR);
	assert_int_equal(told, 0);
	pair_reconnect(p, &pair_defaults);
	from.length = PAIR_PAGE;
	assert_int_equal(post_rdma(p->a.qp, 2, IBV_WR_RDMA_WRITE, &from, 1, 0, 1), 0);
	expect_wc(p->a.scq, 2, IBV_WC_REM_ACCESS_ERR);
	assert_int_equal(told, 1);
	o2_loop_set_tap(NULL, NULL);
	assert_int_equal(ibv_dereg_mr(half), 0);
}

/* A forged request acts like one of the peer: it puts the queue pair that refuses it into error, at once. */
PAIR_TEST(forged_and_too_long)
{
	static const uint8_t bytes[65];
	struct ibv_sge to = sge_of(p->b.mr, addr_of(p->b.buf), 64);

	for (uint64_t id = 50; id <= 52; id++)
		assert_int_equal(post_recv(p->b.qp, id, &to, 1), 0);
	assert_true(o2_loop_forge(p->b.qp->qp_num, bytes, 64));
	expect_state(p->b.qp, IBV_QPS_RTS);
	assert_false(o2_loop_forge(p->b.qp->qp_num, bytes, 65));
	expect_state(p->b.qp, IBV_QPS_ERR);
	expect_state(p->a.qp, IBV_QPS_RTS);
	expect_wc(p->b.rcq, 50, IBV_WC_SUCCESS);
	expect_wc(p->b.rcq, 51, IBV_WC_LOC_QP_OP_ERR);
	expect_wc(p->b.rcq, 52, IBV_WC_WR_FLUSH_ERR);
	expect_empty(p->b.rcq);
}

TEST(receive_not_ready)
{
	struct pair_options o = pair_defaults;

	for (uint8_t retry = 0; retry <= 6; retry++) {
		struct pair *p;

		o.rnr_retry = retry;
		p = pair_open(&o);
		assert_int_equal(post_send(p->a.qp, 1, IBV_WR_SEND, 0, NULL, 0), 0);
		/* Every empty poll lets one timer expire. */
		for (uint8_t i = 0; i < retry; i++)
			assert_int_equal(post_recv(p->a.qp, i, NULL, 0), 0);
		expect_wc(p->a.scq, 1, IBV_WC_RNR_RETRY_EXC_ERR);
		expect_state(p->a.qp, IBV_QPS_ERR);
		expect_state(p->b.qp, IBV_QPS_RTS);
		pair_close(p);
	}
}

PAIR_TEST(waits_for_a_receive)
{
	struct ibv_sge sge = sge_of(p->b.mr, addr_of(p->b.buf), 64);

	assert_int_equal(post_send(p->a.qp, 1, IBV_WR_SEND, IBV_SEND_SIGNALED, NULL, 0), 0);
	assert_int_equal(post_rdma(p->a.qp, 2, IBV_WR_RDMA_WRITE, NULL, 0, 0, 0), 0);
	for (int i = 0; i < 1000; i++)
		expect_empty(p->a.scq); /* no later request overtakes it */
	assert_int_equal(post_recv(p->b.qp, 3, &sge, 1), 0);
	expect_wc(p->a.scq, 1, IBV_WC_SUCCESS);
	expect_wc(p->a.scq, 2, IBV_WC_SUCCESS);
	expect_wc(p->b.rcq, 3, IBV_WC_SUCCESS);
}

/* Only a receive, or the end of the peer, wakes a request that waits: nothing else costs it a retry. */
APART_TEST(waits_for_nothing_but_a_receive)
{
	struct ibv_srq_init_attr srq_init = {.attr = {.max_wr = 8, .max_sge = 1}};
	struct ibv_srq *srq = ibv_create_srq(p->b.pd, &srq_init);
	struct ibv_qp_init_attr init = {
		.send_cq = p->b.scq, .recv_cq = p->b.rcq, .srq = srq, .qp_type = IBV_QPT_RC};
	struct ibv_qp *other = ibv_create_qp(p->b.pd, &init);
	struct ibv_recv_wr wr = {.wr_id = 5, .num_sge = 2}, *bad;
	struct pair_options o = pair_defaults;

	assert_int_equal(ibv_destroy_qp(p->b.qp), 0);
	p->b.qp = ibv_create_qp(p->b.pd, &init);
	o.rnr_retry = 1;
	pair_connect(p, &o);
	assert_int_equal(post_send(p->a.qp, 1, IBV_WR_SEND, IBV_SEND_SIGNALED, NULL, 0), 0);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(ibv_post_srq_recv(srq, &wr, &bad), EINVAL);
		assert_int_equal(pair_to_state(other, IBV_QPS_RESET), 0);
		assert_int_equal(pair_to_init(other, 0), 0);
		assert_int_equal(pair_to_state(other, IBV_QPS_ERR), 0);
	}
	assert_int_equal(ibv_destroy_qp(other), 0);
	assert_int_equal(o2_loop_sends_waiting(p->a.qp->qp_num), 1);
	wr.num_sge = 0;
	assert_int_equal(ibv_post_srq_recv(srq, &wr, &bad), 0);
	expect_wc(p->a.scq, 1, IBV_WC_SUCCESS);
	expect_wc(p->b.rcq, 5, IBV_WC_SUCCESS);
	/* The end of the peer itself does: then nobody answers. */
	assert_int_equal(post_send(p->a.qp, 2, IBV_WR_SEND, 0, NULL, 0), 0);
	assert_int_equal(pair_to_state(p->b.qp, IBV_QPS_ERR), 0);
	expect_wc(p->a.scq, 2, IBV_WC_RETRY_EXC_ERR);
	assert_int_equal(ibv_destroy_qp(p->b.qp), 0);
	p->b.qp = NULL;
	assert_int_equal(ibv_destroy_srq(srq), 0);
}

/* After an answer, a request has all its retries again. */
TEST(retries_begin_anew)
{
	struct pair_options o = pair_defaults;
	struct ibv_wc wc;
	struct pair *p;
	int polls = 0;

	o.retry_cnt = 2;
	p = pair_open(&o);
	assert_int_equal(pair_to_state(p->b.qp, IBV_QPS_RESET), 0);
	assert_int_equal(post_rdma(p->a.qp, 1, IBV_WR_RDMA_WRITE, NULL, 0, 0, 0), 0);
	expect_empty(p->a.scq);
	assert_int_equal(pair_to_init(p->b.qp, PAIR_ALL_ACCESS), 0);
	assert_int_equal(pair_to_rtr(p->b.qp, p->a.qp, &o), 0);
	expect_wc(p->a.scq, 1, IBV_WC_SUCCESS);
	assert_int_equal(pair_to_state(p->b.qp, IBV_QPS_RESET), 0);
	assert_int_equal(post_rdma(p->a.qp, 2, IBV_WR_RDMA_WRITE, NULL, 0, 0, 0), 0);
	while (ibv_poll_cq(p->a.scq, 1, &wc) == 0)
		assert_true(++polls < 10);
	assert_int_equal(wc.status, IBV_WC_RETRY_EXC_ERR);
	assert_int_equal(polls, 2);
	pair_close(p);
}

/* The peer does not answer: it is destroyed, in error, reset, or expects another packet number. */
TEST(nobody_answers)
{
	struct pair_options o = pair_defaults;
	struct ibv_wc wc;

	for (int how = 0; how < 4; how++) {
		struct pair *p;
		int polls = 0;

		o.retry_cnt = 2;
		p = pair_open(&o);
		if (how == 0) {
			assert_int_equal(ibv_destroy_qp(p->b.qp), 0);
			p->b.qp = NULL;
		} else if (how == 1) {
			assert_int_equal(pair_to_state(p->b.qp, IBV_QPS_ERR), 0);
		} else if (how == 2) {
			assert_int_equal(pair_to_state(p->b.qp, IBV_QPS_RESET), 0);
		} else {
			/* Only one end is connected anew, so packet numbers no longer agree. */
			assert_int_equal(post_rdma(p->a.qp, 9, IBV_WR_RDMA_WRITE, NULL, 0, 0, 0), 0);
			expect_wc(p->a.scq, 9, IBV_WC_SUCCESS);
			assert_int_equal(pair_to_state(p->a.qp, IBV_QPS_RESET), 0);
			assert_int_equal(pair_to_init(p->a.qp, PAIR_ALL_ACCESS), 0);
			assert_int_equal(pair_to_rtr(p->a.qp, p->b.qp, &o), 0);
			assert_int_equal(pair_to_rts(p->a.qp, &o), 0);
		}
		assert_int_equal(post_rdma(p->a.qp, 1, IBV_WR_RDMA_WRITE, NULL, 0, 0, 0), 0);
		while (ibv_poll_cq(p->a.scq, 1, &wc) == 0)
			assert_true(++polls < 10);
		assert_int_equal(wc.status, IBV_WC_RETRY_EXC_ERR);
		assert_int_equal(polls, 2); /* the third poll returns the completion */
		expect_state(p->a.qp, IBV_QPS_ERR);
		pair_close(p);
	}
}

PAIR_TEST(error_by_hand)
{
	for (uint64_t i = 0; i < 4; i++)
		assert_int_equal(post_recv(p->b.qp, i, NULL, 0), 0);
	for (uint64_t i = 0; i < 3; i++)
		assert_int_equal(post_send(p->b.qp, 10 + i, IBV_WR_SEND, 0, NULL, 0),
				 0); /* no receive at a */
	assert_int_equal(pair_to_state(p->b.qp, IBV_QPS_ERR), 0);
	for (uint64_t i = 0; i < 4; i++)
		expect_wc(p->b.rcq, i, IBV_WC_WR_FLUSH_ERR);
	for (uint64_t i = 0; i < 3; i++)
		expect_wc(p->b.scq, 10 + i, IBV_WC_WR_FLUSH_ERR);
	/* A reset, in contrast, drops requests without completions. */
	pair_reconnect(p, &pair_defaults);
	assert_int_equal(post_recv(p->b.qp, 1, NULL, 0), 0);
	assert_int_equal(pair_to_state(p->b.qp, IBV_QPS_RESET), 0);
	expect_empty(p->b.rcq);
}

/* The ends have different path MTUs: what takes several packets at one of them is not taken. */
TEST(path_mtus_differ)
{
	static const struct {
		enum ibv_wr_opcode opcode;
		enum ibv_wc_status want;
		enum ibv_qp_state peer;
	} row[] = {{IBV_WR_SEND, IBV_WC_REM_INV_REQ_ERR, IBV_QPS_ERR},
		   {IBV_WR_RDMA_WRITE, IBV_WC_REM_INV_REQ_ERR, IBV_QPS_ERR},
		   {IBV_WR_RDMA_READ, IBV_WC_RETRY_EXC_ERR, IBV_QPS_RTS}};
	struct pair_options options[2] = {pair_defaults, pair_defaults};

	options[1].mtu = IBV_MTU_1024;
	for (uint32_t i = 0; i < 6; i++) {
		struct pair *p = pair_open(&pair_defaults);
		struct ibv_sge from = sge_of(p->a.mr, addr_of(p->a.buf), 1024),
			       to = sge_of(p->b.mr, addr_of(p->b.buf) + SEND_AT, BIG_BYTES);

		assert_int_equal(pair_to_state(p->a.qp, IBV_QPS_RESET), 0);
		assert_int_equal(pair_to_state(p->b.qp, IBV_QPS_RESET), 0);
		assert_int_equal(pair_to_init(p->a.qp, PAIR_ALL_ACCESS), 0);
		assert_int_equal(pair_to_init(p->b.qp, PAIR_ALL_ACCESS), 0);
		assert_int_equal(pair_to_rtr(p->a.qp, p->b.qp, &options[i % 2]), 0);
		assert_int_equal(pair_to_rtr(p->b.qp, p->a.qp, &options[1 - i % 2]), 0);
		assert_int_equal(pair_to_rts(p->a.qp, &pair_defaults), 0);
		assert_int_equal(pair_to_rts(p->b.qp, &pair_defaults), 0);
		assert_int_equal(post_recv(p->b.qp, 50, &to, 1), 0);
		assert_int_equal(post_recv(p->b.qp, 51, &to, 1), 0);
		for (uint32_t more = 0; more < 2; more++) {
			from.length += more;
			fill(p->a.buf, PAIR_PAGE, 1);
			memset(p->b.buf, 0xee, PAIR_PAGE);
			assert_int_equal(post_rdma(p->a.qp, 1, row[i / 2].opcode, &from, 1, addr_of(p->b.buf),
						   p->b.mr->rkey),
					 0);
			expect_wc(p->a.scq, 1, more ? row[i / 2].want : IBV_WC_SUCCESS);
		}
		expect_state(p->b.qp, row[i / 2].peer);
		assert_int_equal(p->b.buf[0], 0xee);
		if (row[i / 2].opcode == IBV_WR_SEND) {
			expect_wc(p->b.rcq, 50, IBV_WC_SUCCESS);
			expect_wc(p->b.rcq, 51, IBV_WC_REM_INV_REQ_ERR);
		}
		pair_close(p);
	}
}
