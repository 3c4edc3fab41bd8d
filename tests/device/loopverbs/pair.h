/* SPDX-License-Identifier: MIT */
#ifndef TESTS_LOOPVERBS_PAIR_H
#define TESTS_LOOPVERBS_PAIR_H

/*
 * Two connected queue pairs on two devices, with a buffer each: the starting point of most tests of
 * loopverbs.  Everything here is static, for programs of one source file.
 */

#include <errno.h>
#include <infiniband/verbs.h>
#include <stdlib.h>
#include <string.h>

#include "loopverbs/loopverbs.h"
#include "tests/lib/unit_test.h"

#define PAIR_PAGE      4096u
#define PAIR_BUF_BYTES (64u * PAIR_PAGE)
#define PAIR_ALL_ACCESS                                                              \
	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | \
	 IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_MW_BIND)

struct side {
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct ibv_cq *scq; /* separate from rcq, so that a test sees the order of each kind */
	struct ibv_cq *rcq;
	struct ibv_qp *qp;
	struct ibv_mr *mr; /* all of buf, with PAIR_ALL_ACCESS */
	uint8_t *buf;
};

struct pair {
	struct side a; /* on loop0 */
	struct side b; /* on loop1 */
	struct ibv_device **list;
};

/* Attributes of a connection; zero is not a default, see pair_defaults. */
struct pair_options {
	uint8_t rnr_retry;
	uint8_t retry_cnt;
	uint8_t timeout;
	unsigned int access;
	enum ibv_mtu mtu;
};

static const struct pair_options pair_defaults = {
	.rnr_retry = 7, .retry_cnt = 6, .timeout = 14, .access = PAIR_ALL_ACCESS, .mtu = IBV_MTU_4096};

static inline struct ibv_qp *pair_create_qp(struct side *s, int sig_all)
{
	struct ibv_qp_init_attr init = {
		.send_cq = s->scq,
		.recv_cq = s->rcq,
		.cap = {.max_send_wr = 64, .max_recv_wr = 64, .max_send_sge = 32, .max_recv_sge = 32},
		.qp_type = IBV_QPT_RC,
		.sq_sig_all = sig_all,
	};

	return ibv_create_qp(s->pd, &init);
}

static inline void side_open(struct side *s, struct ibv_device *device)
{
	s->context = ibv_open_device(device);
	assert_non_null(s->context);
	s->pd = ibv_alloc_pd(s->context);
	assert_non_null(s->pd);
	s->scq = ibv_create_cq(s->context, 255, NULL, NULL, 0);
	s->rcq = ibv_create_cq(s->context, 255, NULL, NULL, 0);
	assert_non_null(s->scq);
	assert_non_null(s->rcq);
	assert_int_equal(posix_memalign((void **)&s->buf, PAIR_PAGE, PAIR_BUF_BYTES), 0);
	memset(s->buf, 0, PAIR_BUF_BYTES);
	s->mr = ibv_reg_mr(s->pd, s->buf, PAIR_BUF_BYTES, PAIR_ALL_ACCESS);
	assert_non_null(s->mr);
	s->qp = pair_create_qp(s, 0);
	assert_non_null(s->qp);
}

static inline int pair_to_init(struct ibv_qp *qp, unsigned int access)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT, .port_num = 1, .qp_access_flags = access};

	return ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
}

static inline int pair_to_rtr(struct ibv_qp *qp, struct ibv_qp *peer, const struct pair_options *o)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTR,
		.path_mtu = o->mtu,
		.dest_qp_num = peer->qp_num,
		.rq_psn = 100,
		.max_dest_rd_atomic = 4,
		.min_rnr_timer = 12,
		.ah_attr = {.is_global = 1,
			    .port_num = 1,
			    .grh = {.sgid_index = O2_LOOP_GID_INDEX, .hop_limit = 64}},
	};

	if (ibv_query_gid(peer->context, 1, O2_LOOP_GID_INDEX, &attr.ah_attr.grh.dgid))
		return errno;
	return ibv_modify_qp(qp, &attr,
			     IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
				     IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER);
}

static inline int pair_to_rts(struct ibv_qp *qp, const struct pair_options *o)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTS,
		.timeout = o->timeout,
		.retry_cnt = o->retry_cnt,
		.rnr_retry = o->rnr_retry,
		.sq_psn = 100,
		.max_rd_atomic = 4,
	};

	return ibv_modify_qp(qp, &attr,
			     IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
				     IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC);
}

static inline int pair_to_state(struct ibv_qp *qp, enum ibv_qp_state state)
{
	struct ibv_qp_attr attr = {.qp_state = state};

	return ibv_modify_qp(qp, &attr, IBV_QP_STATE);
}

static inline void pair_connect(struct pair *p, const struct pair_options *o)
{
	assert_int_equal(pair_to_init(p->a.qp, o->access), 0);
	assert_int_equal(pair_to_init(p->b.qp, o->access), 0);
	assert_int_equal(pair_to_rtr(p->a.qp, p->b.qp, o), 0);
	assert_int_equal(pair_to_rtr(p->b.qp, p->a.qp, o), 0);
	assert_int_equal(pair_to_rts(p->a.qp, o), 0);
	assert_int_equal(pair_to_rts(p->b.qp, o), 0);
}

static inline void pair_reconnect(struct pair *p, const struct pair_options *o)
{
	assert_int_equal(pair_to_state(p->a.qp, IBV_QPS_RESET), 0);
	assert_int_equal(pair_to_state(p->b.qp, IBV_QPS_RESET), 0);
	pair_connect(p, o);
}

static inline struct pair *pair_open(const struct pair_options *o)
{
	struct pair *p = calloc(1, sizeof(*p));
	int devices;

	assert_non_null(p);
	p->list = ibv_get_device_list(&devices);
	assert_non_null(p->list);
	assert_int_equal(devices, O2_LOOP_DEVICES);
	side_open(&p->a, p->list[0]);
	side_open(&p->b, p->list[1]);
	if (o)
		pair_connect(p, o);
	return p;
}

/* Destroys all objects in order.  Every call must succeed: a test that leaks an object fails here. */
static inline void side_close(struct side *s)
{
	if (s->qp)
		assert_int_equal(ibv_destroy_qp(s->qp), 0);
	assert_int_equal(ibv_dereg_mr(s->mr), 0);
	assert_int_equal(ibv_destroy_cq(s->scq), 0);
	assert_int_equal(ibv_destroy_cq(s->rcq), 0);
	assert_int_equal(ibv_dealloc_pd(s->pd), 0);
	assert_int_equal(ibv_close_device(s->context), 0);
	free(s->buf);
}

static inline void pair_close(struct pair *p)
{
	struct o2_loop_counters c;

	side_close(&p->a);
	side_close(&p->b);
	ibv_free_device_list(p->list);
	free(p);
	o2_loop_get_counters(&c);
	assert_int_equal(c.live_contexts + c.live_pds + c.live_mrs + c.live_mws + c.live_cqs +
				 c.live_channels + c.live_qps + c.live_srqs + c.live_ahs,
			 0);
}

/* A test on a connected pair, and a test on two queue pairs that are not connected. */
#define PAIR_TEST(name)	 TEST_ON(name, struct pair, p, pair_open(&pair_defaults), pair_close)
#define APART_TEST(name) TEST_ON(name, struct pair, p, pair_open(NULL), pair_close)

static inline struct ibv_sge sge_of(const struct ibv_mr *mr, uint64_t addr, uint32_t length)
{
	return (struct ibv_sge){addr, length, mr->lkey};
}

static inline uint64_t addr_of(const void *p)
{
	return (uint64_t)(uintptr_t)p;
}

static inline int post_recv(struct ibv_qp *qp, uint64_t wr_id, struct ibv_sge *sge, int count)
{
	struct ibv_recv_wr wr = {.wr_id = wr_id, .sg_list = sge, .num_sge = count}, *bad;

	return ibv_post_recv(qp, &wr, &bad);
}

static inline int post_send(struct ibv_qp *qp, uint64_t wr_id, enum ibv_wr_opcode opcode, unsigned int flags,
			    struct ibv_sge *sge, int count)
{
	struct ibv_send_wr wr = {
		.wr_id = wr_id, .sg_list = sge, .num_sge = count, .opcode = opcode, .send_flags = flags};
	struct ibv_send_wr *bad;

	return ibv_post_send(qp, &wr, &bad);
}

static inline int post_rdma(struct ibv_qp *qp, uint64_t wr_id, enum ibv_wr_opcode opcode, struct ibv_sge *sge,
			    int count, uint64_t remote, uint32_t rkey)
{
	struct ibv_send_wr wr = {.wr_id = wr_id,
				 .sg_list = sge,
				 .num_sge = count,
				 .opcode = opcode,
				 .send_flags = IBV_SEND_SIGNALED,
				 .wr.rdma = {remote, rkey}};
	struct ibv_send_wr *bad;

	return ibv_post_send(qp, &wr, &bad);
}

static inline int post_key(struct ibv_qp *qp, uint64_t wr_id, enum ibv_wr_opcode opcode, uint32_t rkey)
{
	struct ibv_send_wr wr = {
		.wr_id = wr_id, .opcode = opcode, .send_flags = IBV_SEND_SIGNALED, .invalidate_rkey = rkey};
	struct ibv_send_wr *bad;

	return ibv_post_send(qp, &wr, &bad);
}

/* Polls one completion, which must have this wr_id and status. */
static inline struct ibv_wc expect_wc(struct ibv_cq *cq, uint64_t wr_id, enum ibv_wc_status status)
{
	struct ibv_wc wc = {0};

	for (int i = 0; i < 64 && ibv_poll_cq(cq, 1, &wc) == 0; i++)
		wc.wr_id = UINT64_MAX;
	assert_int_equal(wc.wr_id, wr_id);
	assert_string_equal(ibv_wc_status_str(wc.status), ibv_wc_status_str(status));
	return wc;
}

static inline void expect_empty(struct ibv_cq *cq)
{
	struct ibv_wc wc;

	assert_int_equal(ibv_poll_cq(cq, 1, &wc), 0);
}

static inline void expect_state(struct ibv_qp *qp, enum ibv_qp_state state)
{
	struct ibv_qp_attr attr;
	struct ibv_qp_init_attr init;

	assert_int_equal(ibv_query_qp(qp, &attr, IBV_QP_STATE, &init), 0);
	assert_int_equal(attr.qp_state, state);
}

/* Writes bytes that depend on the place and the seed. */
static inline void fill(uint8_t *p, size_t length, uint32_t seed)
{
	for (size_t i = 0; i < length; i++) {
		seed = seed * 1664525u + 1013904223u;
		p[i] = (uint8_t)(seed >> 24);
	}
}

#endif
