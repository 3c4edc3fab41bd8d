/* SPDX-License-Identifier: MIT */
/* Fast registration: the memory that a region's key gives access to, and the requests that change it. */
#include "tests/device/loopverbs/pair.h"

#define IOVA   0x700000123u
#define ACCESS ((unsigned int)(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE))

/* Map two ranges of b's buffer, of 100 and 50 bytes. */
static void map_at(struct pair *p, struct ibv_mr *mr, uint32_t at)
{
	const struct ibv_sge entry[] = {{.addr = addr_of(p->b.buf + at), .length = 100},
					{.addr = addr_of(p->b.buf + at + 1000), .length = 50}};

	assert_int_equal(o2_loop_map_mr(mr, entry, 2, IOVA), 2);
}

static enum ibv_wc_status work(struct pair *p, struct ibv_send_wr *wr)
{
	struct ibv_send_wr *bad;
	struct ibv_wc wc = {0};

	wr->send_flags = IBV_SEND_SIGNALED;
	assert_int_equal(ibv_post_send(p->b.qp, wr, &bad), 0);
	assert_int_equal(ibv_poll_cq(p->b.scq, 1, &wc), 1);
	if (wc.status != IBV_WC_SUCCESS)
		pair_reconnect(p, &pair_defaults);
	else
		assert_int_equal(wc.opcode,
				 wr->opcode == IBV_WR_LOCAL_INV ? IBV_WC_LOCAL_INV : IBV_WC_DRIVER1);
	return wc.status;
}

static enum ibv_wc_status reg(struct pair *p, struct ibv_mr *mr, uint32_t key)
{
	struct ibv_send_wr wr;

	o2_loop_reg_mr(mr, key, ACCESS, &wr);
	return work(p, &wr);
}

static enum ibv_wc_status invalidate(struct pair *p, uint32_t key)
{
	struct ibv_send_wr wr = {.opcode = IBV_WR_LOCAL_INV, .invalidate_rkey = key};

	return work(p, &wr);
}

static bool opens(const struct pair *p, uint32_t key, uint64_t addr, uint64_t length)
{
	return o2_loop_admits_write(p->b.qp->qp_num, key, addr, length);
}

/* The peer writes all 150 bytes; assert that they arrive in the two ranges from `at` on, and nowhere else. */
static void write_all(struct pair *p, uint32_t key, uint32_t at, uint8_t seed)
{
	struct ibv_sge sge = sge_of(p->a.mr, addr_of(p->a.buf), 150);
	uint8_t *image = calloc(1, PAIR_BUF_BYTES);

	fill(p->a.buf, 150, seed);
	memset(p->b.buf, 0, PAIR_BUF_BYTES);
	memcpy(image + at, p->a.buf, 100);
	memcpy(image + at + 1000, p->a.buf + 100, 50);
	assert_int_equal(post_rdma(p->a.qp, 1, IBV_WR_RDMA_WRITE, &sge, 1, IOVA, key), 0);
	expect_wc(p->a.scq, 1, IBV_WC_SUCCESS);
	assert_memory_equal(p->b.buf, image, PAIR_BUF_BYTES);
	free(image);
}

PAIR_TEST(life_of_a_region)
{
	struct ibv_mr *mr = o2_loop_alloc_mr(p->b.pd, 2);
	const uint32_t first = mr->rkey, second = ibv_inc_rkey(first), third = ibv_inc_rkey(second);

	assert_int_equal(mr->lkey, mr->rkey);
	assert_false(opens(p, first, IOVA, 1));
	/* A registration fails because nothing was mapped. */
	assert_int_equal(reg(p, mr, second), IBV_WC_LOC_QP_OP_ERR);
	map_at(p, mr, 10);
	assert_false(opens(p, first, IOVA, 1) || opens(p, second, IOVA, 1));
	/* Kernels invalidate before the first registration as well. */
	assert_int_equal(invalidate(p, first), IBV_WC_SUCCESS);
	assert_int_equal(reg(p, mr, second), IBV_WC_SUCCESS);
	assert_int_equal(mr->rkey, second);
	write_all(p, second, 10, 3);
	assert_false(opens(p, first, IOVA, 1));
	assert_false(opens(p, second, IOVA - 1, 1) || opens(p, second, IOVA + 150, 1) ||
		     opens(p, second, IOVA, 151));
	/* A new mapping has no effect before it is registered, and the key in use must be invalidated first. */
	map_at(p, mr, 300);
	write_all(p, second, 10, 4);
	assert_int_equal(reg(p, mr, third), IBV_WC_LOC_QP_OP_ERR);
	assert_true(opens(p, second, IOVA, 150));
	assert_int_equal(invalidate(p, third), IBV_WC_LOC_QP_OP_ERR);
	assert_true(opens(p, second, IOVA, 150));
	assert_int_equal(invalidate(p, second), IBV_WC_SUCCESS);
	assert_false(opens(p, second, IOVA, 1));
	assert_int_equal(reg(p, mr, third), IBV_WC_SUCCESS);
	assert_false(opens(p, second, IOVA, 1));
	write_all(p, third, 300, 5);
	assert_int_equal(ibv_dereg_mr(mr), 0);
	assert_false(opens(p, third, IOVA, 1));
}

/* The local key is valid exactly as long as the remote one. */
PAIR_TEST(local_use)
{
	struct ibv_mr *mr = o2_loop_alloc_mr(p->b.pd, 2);
	struct ibv_sge from, to = sge_of(p->a.mr, addr_of(p->a.buf), 150);

	map_at(p, mr, 10);
	fill(p->b.buf, PAIR_BUF_BYTES, 7);
	from = sge_of(mr, IOVA, 150);
	assert_int_equal(post_recv(p->a.qp, 1, &to, 1), 0);
	assert_int_equal(post_send(p->b.qp, 2, IBV_WR_SEND, IBV_SEND_SIGNALED, &from, 1), 0);
	expect_wc(p->b.scq, 2, IBV_WC_LOC_QP_OP_ERR);
	pair_reconnect(p, &pair_defaults);
	assert_int_equal(reg(p, mr, ibv_inc_rkey(mr->rkey)), IBV_WC_SUCCESS);
	from = sge_of(mr, IOVA, 150);
	assert_int_equal(post_recv(p->a.qp, 3, &to, 1), 0);
	assert_int_equal(post_send(p->b.qp, 4, IBV_WR_SEND, IBV_SEND_SIGNALED, &from, 1), 0);
	expect_wc(p->b.scq, 4, IBV_WC_SUCCESS);
	assert_memory_equal(p->a.buf, p->b.buf + 10, 100);
	assert_memory_equal(p->a.buf + 100, p->b.buf + 1010, 50);
	assert_int_equal(ibv_dereg_mr(mr), 0);
}

PAIR_TEST(refused)
{
	struct ibv_mr *mr = o2_loop_alloc_mr(p->b.pd, 2), *foreign = o2_loop_alloc_mr(p->a.pd, 2);
	struct ibv_sge entry[3] = {{.addr = addr_of(p->b.buf), .length = 1}};
	struct ibv_send_wr wr, *bad;

	assert_null(o2_loop_alloc_mr(p->b.pd, 0));
	assert_null(o2_loop_alloc_mr(p->b.pd, O2_LOOP_GAP_ENTRIES + 1));
	assert_int_equal(o2_loop_map_mr(mr, entry, 0, IOVA), -EINVAL);
	assert_int_equal(o2_loop_map_mr(mr, entry, 3, IOVA), -EINVAL);
	assert_int_equal(o2_loop_map_mr(mr, entry, 2, IOVA), -EINVAL); /* the second is empty */
	assert_int_equal(o2_loop_map_mr(p->b.mr, entry, 1, IOVA), -EINVAL);
	assert_int_equal(o2_loop_map_mr(mr, entry, 1, IOVA), 1);
	o2_loop_reg_mr(p->b.mr, p->b.mr->rkey, ACCESS, &wr);
	assert_int_equal(ibv_post_send(p->b.qp, &wr, &bad), EINVAL);
	o2_loop_reg_mr(foreign, foreign->rkey, ACCESS, &wr);
	assert_int_equal(ibv_post_send(p->b.qp, &wr, &bad), EINVAL);
	o2_loop_reg_mr(mr, mr->rkey, IBV_ACCESS_REMOTE_WRITE, &wr);
	assert_int_equal(ibv_post_send(p->b.qp, &wr, &bad), EINVAL);
	o2_loop_reg_mr(mr, mr->rkey, ACCESS | IBV_ACCESS_MW_BIND, &wr);
	assert_int_equal(ibv_post_send(p->b.qp, &wr, &bad), EINVAL);
	/* The key of another region, a region that cannot be invalidated, and one of another protection domain. */
	assert_int_equal(reg(p, mr, mr->rkey + 0x100), IBV_WC_LOC_QP_OP_ERR);
	assert_int_equal(invalidate(p, p->b.mr->rkey), IBV_WC_LOC_QP_OP_ERR);
	assert_int_equal(invalidate(p, foreign->rkey), IBV_WC_LOC_QP_OP_ERR);
	assert_int_equal(ibv_dereg_mr(mr), 0);
	assert_int_equal(ibv_dereg_mr(foreign), 0);
}
