/* SPDX-License-Identifier: MIT */
/* Memory windows: binding, keys, invalidation, and their bounds. */
#include "tests/device/loopverbs/pair.h"

#define WINDOW_AT    1000u
#define WINDOW_BYTES 5000u

static int post_bind(struct ibv_qp *qp, uint64_t wr_id, struct ibv_mw *mw, uint32_t key,
		     struct ibv_mw_bind_info info)
{
	struct ibv_send_wr wr = {.wr_id = wr_id, .opcode = IBV_WR_BIND_MW, .send_flags = IBV_SEND_SIGNALED};
	struct ibv_send_wr *bad;
	int error;

	wr.bind_mw.mw = mw;
	wr.bind_mw.rkey = key;
	wr.bind_mw.bind_info = info;
	error = ibv_post_send(qp, &wr, &bad);
	if (!error)
		mw->rkey = key; /* the program must set the key; the device does not */
	return error;
}

static struct ibv_mw_bind_info window(struct pair *p, unsigned int access)
{
	return (struct ibv_mw_bind_info){p->b.mr, addr_of(p->b.buf) + WINDOW_AT, WINDOW_BYTES, access};
}

static void bind_ok(struct pair *p, struct ibv_mw *mw, struct ibv_mw_bind_info info)
{
	assert_int_equal(post_bind(p->b.qp, 7, mw, ibv_inc_rkey(mw->rkey), info), 0);
	assert_int_equal(expect_wc(p->b.scq, 7, IBV_WC_SUCCESS).opcode, IBV_WC_BIND_MW);
}

static void invalidate_ok(struct pair *p, struct ibv_mw *mw)
{
	assert_int_equal(post_key(p->b.qp, 8, IBV_WR_LOCAL_INV, mw->rkey), 0);
	assert_int_equal(expect_wc(p->b.scq, 8, IBV_WC_SUCCESS).opcode, IBV_WC_LOCAL_INV);
}

/* Let the peer access memory with the key; after a refusal, connect both sides again. */
static enum ibv_wc_status use(struct pair *p, enum ibv_wr_opcode opcode, uint64_t remote, uint32_t rkey,
			      uint32_t length)
{
	struct ibv_sge sge = sge_of(p->a.mr, addr_of(p->a.buf), length);
	struct ibv_wc wc = {0};

	assert_int_equal(post_rdma(p->a.qp, 1, opcode, &sge, 1, remote, rkey), 0);
	assert_int_equal(ibv_poll_cq(p->a.scq, 1, &wc), 1);
	if (wc.status != IBV_WC_SUCCESS)
		pair_reconnect(p, &pair_defaults);
	return wc.status;
}

#define WRITE(p, remote, rkey, length) use(p, IBV_WR_RDMA_WRITE, remote, rkey, length)

PAIR_TEST(type2_life)
{
	struct ibv_mw *mw = ibv_alloc_mw(p->b.pd, IBV_MW_TYPE_2);
	uint64_t at = addr_of(p->b.buf) + WINDOW_AT;
	uint32_t unbound = mw->rkey, old;

	assert_int_equal(WRITE(p, at, unbound, 64), IBV_WC_REM_ACCESS_ERR);
	bind_ok(p, mw, window(p, IBV_ACCESS_REMOTE_WRITE));
	fill(p->a.buf, WINDOW_BYTES, 3);
	assert_int_equal(WRITE(p, at, mw->rkey, WINDOW_BYTES), IBV_WC_SUCCESS);
	assert_memory_equal(p->b.buf + WINDOW_AT, p->a.buf, WINDOW_BYTES);
	assert_int_equal(WRITE(p, at, unbound, 64), IBV_WC_REM_ACCESS_ERR);
	/* The binding survives a reset of its queue pair. */
	assert_int_equal(WRITE(p, at, mw->rkey, 64), IBV_WC_SUCCESS);
	assert_int_equal(use(p, IBV_WR_RDMA_READ, at, mw->rkey, 64), IBV_WC_REM_ACCESS_ERR);
	assert_int_equal(ibv_dereg_mr(p->b.mr), EINVAL);
	assert_int_equal(ibv_destroy_qp(p->b.qp), EBUSY);
	old = mw->rkey;
	invalidate_ok(p, mw);
	assert_int_equal(WRITE(p, at, old, 64), IBV_WC_REM_ACCESS_ERR);
	/* Only the low byte of the key changes, and it wraps around. */
	for (int i = 0; i < 300; i++) {
		bind_ok(p, mw, window(p, IBV_ACCESS_REMOTE_WRITE));
		assert_int_equal(mw->rkey >> 8, old >> 8);
		assert_int_equal(WRITE(p, at, mw->rkey, 8), IBV_WC_SUCCESS);
		invalidate_ok(p, mw);
	}
	assert_int_equal(ibv_dealloc_mw(mw), 0);
	assert_int_equal(WRITE(p, at, old, 64), IBV_WC_REM_ACCESS_ERR);
}

PAIR_TEST(bounds_are_enforced)
{
	struct ibv_mw *mw = ibv_alloc_mw(p->b.pd, IBV_MW_TYPE_2);
	uint64_t at = addr_of(p->b.buf) + WINDOW_AT;

	bind_ok(p, mw, window(p, IBV_ACCESS_REMOTE_WRITE));
	assert_int_equal(WRITE(p, at + WINDOW_BYTES - 64, mw->rkey, 64), IBV_WC_SUCCESS);
	assert_int_equal(WRITE(p, at + WINDOW_BYTES - 63, mw->rkey, 64), IBV_WC_REM_ACCESS_ERR);
	assert_int_equal(WRITE(p, at - 1, mw->rkey, 64), IBV_WC_REM_ACCESS_ERR);
	/* Without this option the device acts as soft-RoCE does: any address inside the region is accepted. */
	assert_int_equal(o2_loop_set_option(O2_LOOP_WINDOW_BOUNDS, 0), 0);
	assert_int_equal(WRITE(p, at - 1, mw->rkey, 64), IBV_WC_SUCCESS);
	assert_int_equal(WRITE(p, addr_of(p->b.buf) - 1, mw->rkey, 64), IBV_WC_REM_ACCESS_ERR);
	assert_int_equal(o2_loop_set_option(O2_LOOP_WINDOW_BOUNDS, 1), 0);
	invalidate_ok(p, mw);
	/* The addresses of a zero-based window start at 0. */
	bind_ok(p, mw, window(p, IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_ZERO_BASED));
	fill(p->a.buf, 64, 9);
	assert_int_equal(WRITE(p, 100, mw->rkey, 64), IBV_WC_SUCCESS);
	assert_memory_equal(p->b.buf + WINDOW_AT + 100, p->a.buf, 64);
	assert_int_equal(WRITE(p, WINDOW_BYTES - 63, mw->rkey, 64), IBV_WC_REM_ACCESS_ERR);
	assert_int_equal(WRITE(p, at, mw->rkey, 64), IBV_WC_REM_ACCESS_ERR);
	assert_int_equal(ibv_dealloc_mw(mw), 0); /* while bound: allowed */
}

/* A bind that must fail: the queue pair goes to error and nothing is bound. */
static void bind_bad(struct pair *p, struct ibv_mw *mw, struct ibv_mw_bind_info info)
{
	uint32_t key = mw->rkey;

	assert_int_equal(post_bind(p->b.qp, 7, mw, ibv_inc_rkey(key), info), 0);
	expect_wc(p->b.scq, 7, IBV_WC_MW_BIND_ERR);
	expect_state(p->b.qp, IBV_QPS_ERR);
	expect_state(p->a.qp, IBV_QPS_RTS);
	mw->rkey = key;
	pair_reconnect(p, &pair_defaults);
}

PAIR_TEST(bad_binds)
{
	struct ibv_mw *mw = ibv_alloc_mw(p->b.pd, IBV_MW_TYPE_2);
	struct ibv_mr *plain = ibv_reg_mr(p->b.pd, p->b.buf, 8192, IBV_ACCESS_LOCAL_WRITE);
	struct ibv_mr *read_only = ibv_reg_mr(p->b.pd, p->b.buf, 8192, IBV_ACCESS_MW_BIND);
	struct ibv_pd *other = ibv_alloc_pd(p->b.context);
	struct ibv_mr *foreign = ibv_reg_mr(other, p->b.buf, 8192, PAIR_ALL_ACCESS);
	struct ibv_mw_bind_info good = window(p, IBV_ACCESS_REMOTE_WRITE), info;

	assert_null(ibv_alloc_mw(p->b.pd, (enum ibv_mw_type)3));
	info = good, info.mr = plain;
	bind_bad(p, mw, info); /* no right to bind */
	info = good, info.mr = read_only;
	bind_bad(p, mw, info); /* write through a region that may not be written */
	info = good, info.mr = foreign;
	bind_bad(p, mw, info); /* another protection domain */
	info = good, info.length = PAIR_BUF_BYTES;
	bind_bad(p, mw, info); /* past the region */
	info = good, info.addr = addr_of(p->b.buf) - 1;
	bind_bad(p, mw, info);
	info = good, info.length = 0;
	bind_bad(p, mw, info);
	bind_ok(p, mw, good);
	bind_bad(p, mw, good); /* bound already */
	invalidate_ok(p, mw);
	/* Binding is refused before the send queue accepts work. */
	assert_int_equal(pair_to_state(p->b.qp, IBV_QPS_RESET), 0);
	assert_int_equal(pair_to_init(p->b.qp, PAIR_ALL_ACCESS), 0);
	assert_int_equal(post_bind(p->b.qp, 1, mw, mw->rkey, good), EINVAL);
	assert_int_equal(ibv_dealloc_mw(mw), 0);
	assert_int_equal(ibv_dereg_mr(plain), 0);
	assert_int_equal(ibv_dereg_mr(read_only), 0);
	assert_int_equal(ibv_dereg_mr(foreign), 0);
	assert_int_equal(ibv_dealloc_pd(other), 0);
}

PAIR_TEST(only_the_binding_queue_pair)
{
	struct ibv_mw *mw = ibv_alloc_mw(p->b.pd, IBV_MW_TYPE_2);
	struct ibv_qp *first = p->b.qp;

	bind_ok(p, mw, window(p, IBV_ACCESS_REMOTE_WRITE));
	p->b.qp = pair_create_qp(&p->b, 0);
	pair_to_state(p->a.qp, IBV_QPS_RESET);
	pair_connect(p, &pair_defaults);
	assert_int_equal(WRITE(p, addr_of(p->b.buf) + WINDOW_AT, mw->rkey, 64), IBV_WC_REM_ACCESS_ERR);
	assert_int_equal(post_key(p->b.qp, 2, IBV_WR_LOCAL_INV, mw->rkey), 0);
	expect_wc(p->b.scq, 2, IBV_WC_LOC_QP_OP_ERR);
	assert_int_equal(ibv_dealloc_mw(mw), 0);
	assert_int_equal(ibv_destroy_qp(first), 0);
}

/* A LOCAL_INV of a key that is not bound fails, and puts the queue pair into error. */
PAIR_TEST(invalidating_nothing)
{
	struct ibv_mw *mw = ibv_alloc_mw(p->b.pd, IBV_MW_TYPE_2);
	const uint32_t keys[] = {mw->rkey, mw->rkey + 0x100, 0, p->b.mr->rkey};

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		assert_int_equal(post_key(p->b.qp, 2, IBV_WR_LOCAL_INV, keys[i]), 0);
		expect_wc(p->b.scq, 2, IBV_WC_LOC_QP_OP_ERR);
		expect_state(p->b.qp, IBV_QPS_ERR);
		pair_reconnect(p, &pair_defaults);
	}
	assert_int_equal(ibv_dealloc_mw(mw), 0);
}

PAIR_TEST(remote_invalidate)
{
	struct ibv_mw *mw = ibv_alloc_mw(p->b.pd, IBV_MW_TYPE_2);
	struct ibv_sge to = sge_of(p->b.mr, addr_of(p->b.buf), 64);
	struct ibv_wc wc;

	bind_ok(p, mw, window(p, IBV_ACCESS_REMOTE_WRITE));
	assert_int_equal(post_recv(p->b.qp, 20, &to, 1), 0);
	assert_int_equal(post_key(p->a.qp, 10, IBV_WR_SEND_WITH_INV, mw->rkey), 0);
	expect_wc(p->a.scq, 10, IBV_WC_SUCCESS);
	wc = expect_wc(p->b.rcq, 20, IBV_WC_SUCCESS);
	assert_int_equal(wc.wc_flags & IBV_WC_WITH_INV, IBV_WC_WITH_INV);
	assert_int_equal(wc.invalidated_rkey, mw->rkey);
	assert_int_equal(WRITE(p, addr_of(p->b.buf) + WINDOW_AT, mw->rkey, 64), IBV_WC_REM_ACCESS_ERR);
	/* The same again, now with a key that is not bound: the send succeeds, but the receiver fails. */
	assert_int_equal(post_recv(p->b.qp, 21, &to, 1), 0);
	assert_int_equal(post_recv(p->b.qp, 22, &to, 1), 0);
	assert_int_equal(post_key(p->a.qp, 11, IBV_WR_SEND_WITH_INV, mw->rkey), 0);
	expect_wc(p->a.scq, 11, IBV_WC_SUCCESS);
	expect_wc(p->b.rcq, 21, IBV_WC_REM_INV_REQ_ERR);
	expect_wc(p->b.rcq, 22, IBV_WC_WR_FLUSH_ERR);
	expect_state(p->a.qp, IBV_QPS_RTS);
	expect_state(p->b.qp, IBV_QPS_ERR);
	assert_int_equal(ibv_dealloc_mw(mw), 0);
}

PAIR_TEST(type1_life)
{
	struct ibv_mw *mw = ibv_alloc_mw(p->b.pd, IBV_MW_TYPE_1);
	struct ibv_mw_bind bind = {
		.wr_id = 3, .send_flags = IBV_SEND_SIGNALED, .bind_info = window(p, IBV_ACCESS_REMOTE_WRITE)};
	uint64_t at = addr_of(p->b.buf) + WINDOW_AT;
	uint32_t first;

	assert_int_equal(ibv_bind_mw(p->b.qp, mw, &bind), 0);
	expect_wc(p->b.scq, 3, IBV_WC_SUCCESS);
	first = mw->rkey;
	assert_int_equal(WRITE(p, at, first, 64), IBV_WC_SUCCESS);
	assert_int_equal(WRITE(p, at - 1, first, 64), IBV_WC_REM_ACCESS_ERR);
	assert_int_equal(ibv_bind_mw(p->b.qp, mw, &bind), 0); /* again, without invalidating */
	expect_wc(p->b.scq, 3, IBV_WC_SUCCESS);
	assert_int_not_equal(mw->rkey, first);
	assert_int_equal(WRITE(p, at, first, 64), IBV_WC_REM_ACCESS_ERR);
	assert_int_equal(WRITE(p, at, mw->rkey, 64), IBV_WC_SUCCESS);
	bind.bind_info.length = 0; /* unbind */
	assert_int_equal(ibv_bind_mw(p->b.qp, mw, &bind), 0);
	expect_wc(p->b.scq, 3, IBV_WC_SUCCESS);
	assert_int_equal(WRITE(p, at, mw->rkey, 64), IBV_WC_REM_ACCESS_ERR);
	/* A type 1 window cannot be bound by a posted request. */
	assert_int_equal(post_bind(p->b.qp, 4, mw, mw->rkey, window(p, IBV_ACCESS_REMOTE_WRITE)), EINVAL);
	assert_int_equal(ibv_dealloc_mw(mw), 0);
}
