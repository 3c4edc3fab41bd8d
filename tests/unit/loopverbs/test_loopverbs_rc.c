/* SPDX-License-Identifier: MIT */
/* Reliable connections: states, and data that arrives byte for byte. */
#include "tests/device/loopverbs/pair.h"

/* Make a gather or scatter list of 1 to 32 entries, with odd lengths and offsets. */
static uint32_t make_list(struct ibv_sge *sges, uint32_t count, const struct ibv_mr *mr, uint64_t base,
			  uint32_t seed)
{
	uint32_t total = 0, at = 0;

	for (uint32_t i = 0; i < count; i++) {
		uint32_t length;

		seed = seed * 1664525u + 1013904223u;
		length = (seed >> 20) % 700;
		at += (seed >> 8) % 97;
		sges[i] = sge_of(mr, base + at, length);
		at += length;
		total += length;
	}
	return total;
}

static void copy_out(uint8_t *to, const struct ibv_sge *sges, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		memcpy(to, (const void *)(uintptr_t)sges[i].addr, sges[i].length);
		to += sges[i].length;
	}
}

PAIR_TEST(gather_write_read)
{
	static uint8_t want[32 * 700], got[32 * 700];

	for (uint32_t count = 1; count <= 32; count++) {
		struct ibv_sge sges[32];
		uint32_t total = make_list(sges, count, p->a.mr, addr_of(p->a.buf), count);
		uint64_t remote = addr_of(p->b.buf) + count * 3;

		fill(p->a.buf, PAIR_BUF_BYTES, count);
		memset(p->b.buf, 0xee, PAIR_BUF_BYTES);
		copy_out(want, sges, count);
		assert_int_equal(
			post_rdma(p->a.qp, count, IBV_WR_RDMA_WRITE, sges, (int)count, remote, p->b.mr->rkey),
			0);
		expect_wc(p->a.scq, count, IBV_WC_SUCCESS);
		assert_memory_equal(p->b.buf + count * 3, want, total);
		assert_int_equal(p->b.buf[count * 3 - 1], 0xee);
		assert_int_equal(p->b.buf[count * 3 + total], 0xee);
		/* Read the same bytes back into the same list. */
		memset(p->a.buf, 0x11, PAIR_BUF_BYTES);
		assert_int_equal(
			post_rdma(p->a.qp, count, IBV_WR_RDMA_READ, sges, (int)count, remote, p->b.mr->rkey),
			0);
		assert_int_equal(expect_wc(p->a.scq, count, IBV_WC_SUCCESS).byte_len, total);
		copy_out(got, sges, count);
		assert_memory_equal(got, want, total);
	}
}

PAIR_TEST(send_scatters)
{
	static uint8_t want[32 * 700], got[64 * 1024];

	for (uint32_t i = 1; i < 32; i++) {
		struct ibv_sge from[32], to[32];
		uint32_t total = make_list(from, i, p->a.mr, addr_of(p->a.buf), i);
		uint32_t room = make_list(to, 32 - i, p->b.mr, addr_of(p->b.buf), i + 100);
		struct ibv_wc wc;

		to[32 - i] = sge_of(p->b.mr, addr_of(p->b.buf) + 32 * 800, total > room ? total - room : 1);
		fill(p->a.buf, PAIR_BUF_BYTES, i);
		copy_out(want, from, i);
		assert_int_equal(post_recv(p->b.qp, 100 + i, to, (int)(33 - i)), 0);
		assert_int_equal(post_send(p->a.qp, i, IBV_WR_SEND, IBV_SEND_SIGNALED, from, (int)i), 0);
		expect_wc(p->a.scq, i, IBV_WC_SUCCESS);
		wc = expect_wc(p->b.rcq, 100 + i, IBV_WC_SUCCESS);
		assert_int_equal(wc.byte_len, total);
		assert_int_equal(wc.opcode, IBV_WC_RECV);
		assert_int_equal(wc.qp_num, p->b.qp->qp_num);
		copy_out(got, to, 33 - i);
		assert_memory_equal(got, want, total);
	}
}

PAIR_TEST(immediate_and_inline)
{
	struct ibv_sge from, to = sge_of(p->b.mr, addr_of(p->b.buf), 512);
	struct ibv_send_wr wr = {.wr_id = 1, .sg_list = &from, .num_sge = 1, .opcode = IBV_WR_SEND_WITH_IMM},
			   *bad;
	char secret[100] = "inline data is taken when it is posted, from memory that is not registered";
	struct ibv_wc wc;

	from = (struct ibv_sge){addr_of(secret), sizeof(secret), 0};
	wr.send_flags = IBV_SEND_INLINE | IBV_SEND_SIGNALED;
	wr.imm_data = 0x11223344;
	assert_int_equal(ibv_post_send(p->a.qp, &wr, &bad), 0); /* waits for a receive ... */
	memset(secret, 0, sizeof(secret));			/* ... but its memory is no longer needed */
	assert_int_equal(post_recv(p->b.qp, 2, &to, 1), 0);
	expect_wc(p->a.scq, 1, IBV_WC_SUCCESS);
	wc = expect_wc(p->b.rcq, 2, IBV_WC_SUCCESS);
	assert_int_equal(wc.wc_flags, IBV_WC_WITH_IMM);
	assert_int_equal(wc.imm_data, 0x11223344);
	assert_memory_equal(p->b.buf, "inline data is taken", 20);
	/* RDMA WRITE with immediate consumes a receive and does not touch its memory. */
	memset(p->b.buf, 0, 600);
	from = sge_of(p->a.mr, addr_of(p->a.buf), 300);
	fill(p->a.buf, 300, 4);
	wr.opcode = IBV_WR_RDMA_WRITE_WITH_IMM;
	wr.send_flags = IBV_SEND_SIGNALED;
	wr.wr.rdma.remote_addr = addr_of(p->b.buf) + 8192;
	wr.wr.rdma.rkey = p->b.mr->rkey;
	assert_int_equal(post_recv(p->b.qp, 3, &to, 1), 0);
	assert_int_equal(ibv_post_send(p->a.qp, &wr, &bad), 0);
	expect_wc(p->a.scq, 1, IBV_WC_SUCCESS);
	wc = expect_wc(p->b.rcq, 3, IBV_WC_SUCCESS);
	assert_int_equal(wc.opcode, IBV_WC_RECV_RDMA_WITH_IMM);
	assert_int_equal(wc.byte_len, 300);
	assert_memory_equal(p->b.buf + 8192, p->a.buf, 300);
	assert_int_equal(p->b.buf[0], 0);
}

PAIR_TEST(atomics)
{
	struct ibv_sge to = sge_of(p->a.mr, addr_of(p->a.buf), 8);
	struct ibv_send_wr wr = {.wr_id = 1, .sg_list = &to, .num_sge = 1, .send_flags = IBV_SEND_SIGNALED},
			   *bad;
	uint64_t value = 40, got;

	memcpy(p->b.buf + 8, &value, 8);
	wr.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD;
	wr.wr.atomic.remote_addr = addr_of(p->b.buf) + 8;
	wr.wr.atomic.rkey = p->b.mr->rkey;
	wr.wr.atomic.compare_add = 2;
	assert_int_equal(ibv_post_send(p->a.qp, &wr, &bad), 0);
	assert_int_equal(expect_wc(p->a.scq, 1, IBV_WC_SUCCESS).opcode, IBV_WC_FETCH_ADD);
	memcpy(&got, p->a.buf, 8);
	assert_int_equal(got, 40);
	wr.opcode = IBV_WR_ATOMIC_CMP_AND_SWP;
	wr.wr.atomic.compare_add = 42;
	wr.wr.atomic.swap = 7;
	for (int i = 0; i < 2; i++) { /* the second one finds 7, and so changes nothing */
		assert_int_equal(ibv_post_send(p->a.qp, &wr, &bad), 0);
		expect_wc(p->a.scq, 1, IBV_WC_SUCCESS);
	}
	memcpy(&got, p->b.buf + 8, 8);
	assert_int_equal(got, 7);
	wr.wr.atomic.remote_addr++;
	assert_int_equal(ibv_post_send(p->a.qp, &wr, &bad), EINVAL);
}

PAIR_TEST(empty_messages)
{
	struct ibv_sge none = {0};

	assert_int_equal(post_rdma(p->a.qp, 1, IBV_WR_RDMA_WRITE, NULL, 0, 0, 0), 0);
	assert_int_equal(post_rdma(p->a.qp, 2, IBV_WR_RDMA_READ, NULL, 0, 0, 0), 0);
	assert_int_equal(post_rdma(p->a.qp, 3, IBV_WR_RDMA_WRITE, &none, 1, 0, 0),
			 0); /* empty entry, no key */
	expect_wc(p->a.scq, 1, IBV_WC_SUCCESS);
	expect_wc(p->a.scq, 2, IBV_WC_SUCCESS);
	expect_wc(p->a.scq, 3, IBV_WC_SUCCESS);
	assert_int_equal(post_recv(p->b.qp, 4, NULL, 0), 0);
	assert_int_equal(post_send(p->a.qp, 5, IBV_WR_SEND, 0, NULL, 0), 0); /* unsignalled: no completion */
	assert_int_equal(expect_wc(p->b.rcq, 4, IBV_WC_SUCCESS).byte_len, 0);
	expect_empty(p->a.scq);
}

/* A queue pair that may have no READ or atomic under way refuses them, except in ERR, where all is flushed. */
PAIR_TEST(no_reads_under_way)
{
	struct ibv_sge to = sge_of(p->a.mr, addr_of(p->a.buf), 8);
	struct ibv_qp_attr attr = {.max_rd_atomic = 0};
	const uint64_t remote = addr_of(p->b.buf);

	assert_int_equal(pair_to_state(p->a.qp, IBV_QPS_SQD), 0);
	assert_int_equal(ibv_modify_qp(p->a.qp, &attr, IBV_QP_MAX_QP_RD_ATOMIC), 0);
	assert_int_equal(pair_to_state(p->a.qp, IBV_QPS_RTS), 0);
	assert_int_equal(post_rdma(p->a.qp, 1, IBV_WR_RDMA_READ, &to, 1, remote, p->b.mr->rkey), EINVAL);
	assert_int_equal(post_send(p->a.qp, 1, IBV_WR_ATOMIC_FETCH_AND_ADD, 0, &to, 1), EINVAL);
	assert_int_equal(post_rdma(p->a.qp, 2, IBV_WR_RDMA_WRITE, &to, 1, remote, p->b.mr->rkey), 0);
	expect_wc(p->a.scq, 2, IBV_WC_SUCCESS);
	assert_int_equal(pair_to_state(p->a.qp, IBV_QPS_ERR), 0);
	assert_int_equal(post_rdma(p->a.qp, 3, IBV_WR_RDMA_READ, &to, 1, remote, p->b.mr->rkey), 0);
	expect_wc(p->a.scq, 3, IBV_WC_WR_FLUSH_ERR);
}

PAIR_TEST(posting_limits)
{
	struct ibv_sge sges[33];
	struct ibv_send_wr wr[2] =
		{{.wr_id = 1, .next = &wr[1], .opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED},
		 {.wr_id = 2, .opcode = IBV_WR_TSO}},
			   *bad = NULL;

	for (int i = 0; i < 33; i++)
		sges[i] = sge_of(p->a.mr, addr_of(p->a.buf), 1);
	assert_int_equal(post_send(p->a.qp, 1, IBV_WR_SEND, 0, sges, 33), EINVAL);
	assert_int_equal(post_recv(p->a.qp, 1, sges, 33), EINVAL);
	sges[0].length = 513; /* 32 entries grant 512 bytes inline */
	assert_int_equal(post_send(p->a.qp, 1, IBV_WR_SEND, IBV_SEND_INLINE, sges, 1), EINVAL);
	sges[0].length = 8; /* only data that is sent can be inline */
	assert_int_equal(post_send(p->a.qp, 1, IBV_WR_RDMA_READ, IBV_SEND_INLINE, sges, 1), EINVAL);
	assert_int_equal(post_send(p->a.qp, 1, IBV_WR_ATOMIC_FETCH_AND_ADD, IBV_SEND_INLINE, sges, 1),
			 EINVAL);
	assert_int_equal(post_send(p->a.qp, 1, IBV_WR_LOCAL_INV, IBV_SEND_INLINE, NULL, 0), EINVAL);
	/* A chain of requests stops at the bad one; those before it are posted. */
	assert_int_equal(post_recv(p->b.qp, 9, NULL, 0), 0);
	assert_int_equal(ibv_post_send(p->a.qp, wr, &bad), EINVAL);
	assert_ptr_equal(bad, &wr[1]);
	expect_wc(p->a.scq, 1, IBV_WC_SUCCESS);
	expect_wc(p->b.rcq, 9, IBV_WC_SUCCESS);
	/* Full queues: sends that wait for a receive stay in the send queue. */
	for (int i = 0; i < 64; i++)
		assert_int_equal(post_send(p->a.qp, 1, IBV_WR_SEND, 0, NULL, 0), 0);
	assert_int_equal(post_send(p->a.qp, 1, IBV_WR_SEND, 0, NULL, 0), ENOMEM);
	for (int i = 0; i < 64; i++)
		assert_int_equal(post_recv(p->a.qp, 1, NULL, 0), 0);
	assert_int_equal(post_recv(p->a.qp, 1, NULL, 0), ENOMEM);
}

APART_TEST(posting_by_state)
{
	struct ibv_qp *qp = p->a.qp;

	assert_int_equal(post_send(qp, 1, IBV_WR_SEND, 0, NULL, 0), EINVAL);
	assert_int_equal(post_recv(qp, 1, NULL, 0), EINVAL);
	assert_int_equal(pair_to_init(qp, 0), 0);
	assert_int_equal(post_send(qp, 1, IBV_WR_SEND, 0, NULL, 0), EINVAL);
	assert_int_equal(post_recv(qp, 1, NULL, 0), 0);
	assert_int_equal(pair_to_rtr(qp, p->b.qp, &pair_defaults), 0);
	assert_int_equal(post_send(qp, 1, IBV_WR_SEND, 0, NULL, 0), EINVAL);
	assert_int_equal(pair_to_rts(qp, &pair_defaults), 0);
	/* A drained send queue accepts work but does not execute it. */
	assert_int_equal(pair_to_state(qp, IBV_QPS_SQD), 0);
	assert_int_equal(post_rdma(qp, 1, IBV_WR_RDMA_WRITE, NULL, 0, 0, 0), 0);
	expect_empty(p->a.scq);
	assert_int_equal(pair_to_init(p->b.qp, PAIR_ALL_ACCESS), 0);
	assert_int_equal(pair_to_rtr(p->b.qp, qp, &pair_defaults), 0);
	expect_empty(p->a.scq);
	assert_int_equal(pair_to_state(qp, IBV_QPS_RTS), 0);
	expect_wc(p->a.scq, 1, IBV_WC_SUCCESS);
}

/* A state change that lacks a required attribute, or has one that is not allowed, is refused. */
APART_TEST(state_machine)
{
	struct ibv_qp *qp = p->a.qp;
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT, .port_num = 1};
	int full = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS;

	assert_int_equal(pair_to_state(qp, IBV_QPS_RTS), EINVAL);
	assert_int_equal(pair_to_state(qp, IBV_QPS_RTR), EINVAL);
	assert_int_equal(pair_to_state(qp, IBV_QPS_SQD), EINVAL);
	assert_int_equal(pair_to_state(qp, IBV_QPS_ERR), EINVAL);
	assert_int_equal(ibv_modify_qp(qp, &attr, full & ~IBV_QP_PORT), EINVAL);
	assert_int_equal(ibv_modify_qp(qp, &attr, full & ~IBV_QP_ACCESS_FLAGS), EINVAL);
	assert_int_equal(ibv_modify_qp(qp, &attr, full | IBV_QP_QKEY), EINVAL);
	attr.port_num = 2;
	assert_int_equal(ibv_modify_qp(qp, &attr, full), EINVAL);
	attr.port_num = 1;
	assert_int_equal(ibv_modify_qp(qp, &attr, full), 0);
	assert_int_equal(pair_to_state(qp, IBV_QPS_RTS), EINVAL);
	attr = (struct ibv_qp_attr){
		.qp_state = IBV_QPS_RTR, .path_mtu = IBV_MTU_1024, .ah_attr = {.port_num = 1}};
	full = IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
	       IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
	assert_int_equal(ibv_modify_qp(qp, &attr, full), EINVAL); /* no GRH on Ethernet */
	assert_int_equal(pair_to_rtr(qp, p->b.qp, &pair_defaults), 0);
	assert_int_equal(pair_to_rts(qp, &pair_defaults), 0);
	assert_int_equal(qp->state, IBV_QPS_RTS);
	attr = (struct ibv_qp_attr){.qp_state = IBV_QPS_RTS, .cur_qp_state = IBV_QPS_SQD};
	assert_int_equal(ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_CUR_STATE), EINVAL);
	attr.cur_qp_state = IBV_QPS_RTS;
	assert_int_equal(ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_CUR_STATE), 0);
	assert_int_equal(pair_to_state(qp, IBV_QPS_ERR), 0);
	assert_int_equal(pair_to_state(qp, IBV_QPS_RTS), EINVAL);
	assert_int_equal(pair_to_state(qp, IBV_QPS_ERR), 0);
	assert_int_equal(pair_to_state(qp, IBV_QPS_RESET), 0);
}

/* A queue pair may be connected to itself. */
APART_TEST(loop_back)
{
	struct ibv_sge from = sge_of(p->a.mr, addr_of(p->a.buf), 9000),
		       to = sge_of(p->a.mr, addr_of(p->a.buf) + 16384, 9000);

	assert_int_equal(pair_to_init(p->a.qp, PAIR_ALL_ACCESS), 0);
	assert_int_equal(pair_to_rtr(p->a.qp, p->a.qp, &pair_defaults), 0);
	assert_int_equal(pair_to_rts(p->a.qp, &pair_defaults), 0);
	fill(p->a.buf, 9000, 5);
	assert_int_equal(post_recv(p->a.qp, 1, &to, 1), 0);
	assert_int_equal(post_send(p->a.qp, 2, IBV_WR_SEND, IBV_SEND_SIGNALED, &from, 1), 0);
	expect_wc(p->a.scq, 2, IBV_WC_SUCCESS);
	expect_wc(p->a.rcq, 1, IBV_WC_SUCCESS);
	assert_memory_equal(p->a.buf, p->a.buf + 16384, 9000);
	/* An error affects both ends at once: the request fails, and the posted receive is flushed. */
	assert_int_equal(post_recv(p->a.qp, 3, &to, 1), 0);
	assert_int_equal(post_rdma(p->a.qp, 4, IBV_WR_RDMA_WRITE, &from, 1, 0, 12345), 0);
	expect_wc(p->a.scq, 4, IBV_WC_REM_ACCESS_ERR);
	expect_wc(p->a.rcq, 3, IBV_WC_WR_FLUSH_ERR);
	expect_empty(p->a.scq);
}

/* Of two requests that wait for a receive of one shared queue, one takes it; that costs the other no retry. */
APART_TEST(one_receive_for_two_that_wait)
{
	struct ibv_srq_init_attr srq_init = {.attr = {.max_wr = 2, .max_sge = 1}};
	struct ibv_srq *srq = ibv_create_srq(p->b.pd, &srq_init);
	struct ibv_qp_init_attr init = {
		.send_cq = p->b.scq, .recv_cq = p->b.rcq, .srq = srq, .qp_type = IBV_QPT_RC};
	struct pair other = *p, *const pairs[] = {p, &other};
	struct pair_options o = pair_defaults;
	struct o2_loop_counters before, after;
	struct ibv_recv_wr wr = {.wr_id = 5}, *bad;

	o.rnr_retry = 1;
	assert_int_equal(ibv_destroy_qp(p->b.qp), 0);
	other.a.qp = pair_create_qp(&p->a, 0);
	o2_loop_get_counters(&before);
	for (uint64_t i = 0; i < 2; i++) {
		pairs[i]->b.qp = ibv_create_qp(p->b.pd, &init);
		pair_connect(pairs[i], &o);
		assert_int_equal(post_send(pairs[i]->a.qp, i, IBV_WR_SEND, IBV_SEND_SIGNALED, NULL, 0), 0);
	}
	for (uint64_t i = 0; i < 2; i++) {
		assert_int_equal(ibv_post_srq_recv(srq, &wr, &bad), 0);
		expect_wc(p->a.scq, i, IBV_WC_SUCCESS);
		expect_wc(p->b.rcq, 5, IBV_WC_SUCCESS);
	}
	o2_loop_get_counters(&after);
	assert_int_equal(after.clock_ns, before.clock_ns);
	assert_int_equal(after.rnr_waits - before.rnr_waits, 2);
	assert_int_equal(ibv_destroy_qp(other.a.qp), 0);
	assert_int_equal(ibv_destroy_qp(other.b.qp), 0);
	assert_int_equal(ibv_destroy_qp(p->b.qp), 0);
	p->b.qp = NULL;
	assert_int_equal(ibv_destroy_srq(srq), 0);
}
