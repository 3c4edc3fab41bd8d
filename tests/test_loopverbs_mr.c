/* SPDX-License-Identifier: MIT */
/* Memory regions: what registers, where its addresses lie, and who may use it. */
#include <sys/mman.h>

#include "tests/loopverbs/pair.h"

/* A registration that must fail with this errno. */
#define REFUSED(call, error)                    \
	do {                                    \
		errno = 0;                      \
		assert_null(call);              \
		assert_int_equal(errno, error); \
	} while (0)

static void registration_rules(void **state)
{
	struct pair *p = pair_open(NULL);
	uint8_t *b = p->a.buf;
	struct ibv_mr *mr;

	(void)state;
	REFUSED(ibv_reg_mr(p->a.pd, b, 0, IBV_ACCESS_LOCAL_WRITE), EINVAL);
	REFUSED(ibv_reg_mr(p->a.pd, b, 4096, IBV_ACCESS_REMOTE_WRITE), EINVAL);
	REFUSED(ibv_reg_mr(p->a.pd, b, 4096, IBV_ACCESS_REMOTE_ATOMIC), EINVAL);
	REFUSED(ibv_reg_mr(p->a.pd, b, 4096, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_ZERO_BASED), EOPNOTSUPP);
	REFUSED(ibv_reg_mr(p->a.pd, b, 4096, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_ON_DEMAND), EOPNOTSUPP);
	REFUSED(ibv_reg_mr(p->a.pd, b, 4096, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_HUGETLB), EOPNOTSUPP);
	REFUSED(ibv_reg_mr(p->a.pd, b, 4096, 1 << 15), EINVAL);
	REFUSED(ibv_reg_mr_iova(p->a.pd, b, 4096, 1, IBV_ACCESS_LOCAL_WRITE), EINVAL); /* not congruent */
	REFUSED(ibv_reg_mr(p->a.pd, b, SIZE_MAX, IBV_ACCESS_LOCAL_WRITE), EINVAL);
	mr = ibv_reg_mr(p->a.pd, b, 4096, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_RELAXED_ORDERING);
	assert_non_null(mr);
	assert_int_equal(ibv_dereg_mr(mr), 0);
	mr = ibv_reg_mr_iova(p->a.pd, b + 5, 100, 7 * 4096 + 5, 0);
	assert_non_null(mr);
	assert_int_equal(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0, 0),
			 IBV_REREG_MR_ERR_CMD);
	assert_int_equal(errno, EOPNOTSUPP);
	assert_int_equal(ibv_dereg_mr(mr), 0);
	pair_close(p);
}

static void pages_are_checked(void **state)
{
	struct pair *p = pair_open(NULL);
	uint8_t *m = mmap(NULL, 3 * PAIR_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct ibv_mr *mr;

	(void)state;
	assert_ptr_not_equal(m, MAP_FAILED);
	assert_int_equal(mprotect(m + PAIR_PAGE, PAIR_PAGE, PROT_NONE), 0);
	REFUSED(ibv_reg_mr(p->a.pd, m, 3 * PAIR_PAGE, IBV_ACCESS_LOCAL_WRITE), EFAULT);
	REFUSED(ibv_reg_mr(p->a.pd, m, PAIR_PAGE + 1, 0), EFAULT);
	assert_int_equal(mprotect(m + PAIR_PAGE, PAIR_PAGE, PROT_READ), 0);
	REFUSED(ibv_reg_mr(p->a.pd, m, 3 * PAIR_PAGE, IBV_ACCESS_LOCAL_WRITE), EFAULT);
	mr = ibv_reg_mr(p->a.pd, m, 3 * PAIR_PAGE, IBV_ACCESS_REMOTE_READ);
	assert_non_null(mr);
	assert_int_equal(ibv_dereg_mr(mr), 0);
	assert_int_equal(munmap(m + PAIR_PAGE, PAIR_PAGE), 0);
	REFUSED(ibv_reg_mr(p->a.pd, m, 3 * PAIR_PAGE, IBV_ACCESS_REMOTE_READ), EFAULT);
	assert_int_equal(o2_loop_set_option(O2_LOOP_CHECK_PAGES, 0), 0);
	mr = ibv_reg_mr(p->a.pd, m, 3 * PAIR_PAGE, IBV_ACCESS_LOCAL_WRITE);
	assert_non_null(mr);
	assert_int_equal(o2_loop_set_option(O2_LOOP_CHECK_PAGES, 1), 0);
	assert_int_equal(ibv_dereg_mr(mr), 0);
	assert_int_equal(o2_loop_set_option(O2_LOOP_CHECK_PAGES, 2), -EINVAL);
	munmap(m, PAIR_PAGE);
	munmap(m + 2 * PAIR_PAGE, PAIR_PAGE);
	pair_close(p);
}

/* One write of 64 bytes to an address under a key. */
static enum ibv_wc_status try_write(struct pair *p, uint64_t remote, uint32_t rkey, uint32_t length)
{
	struct ibv_sge from = sge_of(p->a.mr, addr_of(p->a.buf), length);
	struct ibv_wc wc = {0};

	assert_int_equal(post_rdma(p->a.qp, 1, IBV_WR_RDMA_WRITE, &from, 1, remote, rkey), 0);
	assert_int_equal(ibv_poll_cq(p->a.scq, 1, &wc), 1);
	if (wc.status != IBV_WC_SUCCESS) {
		expect_state(p->a.qp, IBV_QPS_ERR);
		expect_state(p->b.qp, IBV_QPS_ERR);
		pair_reconnect(p, &pair_defaults);
	}
	return wc.status;
}

static void iova_translates(void **state)
{
	static const uint64_t iovas[] = {0x80, 7 * 4096 + 0x80, 0x7fff00000080,
					 UINT64_MAX - 8 * 4096 - 4096 + 1 + 0x80};
	struct pair *p = pair_open(&pair_defaults);

	(void)state;
	for (size_t i = 0; i < sizeof(iovas) / sizeof(iovas[0]); i++) {
		const uint32_t length = 3 * PAIR_PAGE + 77;
		struct ibv_mr *mr =
			ibv_reg_mr_iova(p->b.pd, p->b.buf + 0x80, length, iovas[i], PAIR_ALL_ACCESS);

		assert_non_null(mr);
		memset(p->b.buf, 0xee, PAIR_BUF_BYTES);
		fill(p->a.buf, length, (uint32_t)i);
		assert_int_equal(try_write(p, iovas[i], mr->rkey, length), IBV_WC_SUCCESS);
		assert_memory_equal(p->b.buf + 0x80, p->a.buf, length);
		assert_int_equal(p->b.buf[0x7f], 0xee);
		assert_int_equal(p->b.buf[0x80 + length], 0xee);
		/* The length is exact: one byte more at either end is refused, and nothing is written. */
		memset(p->b.buf, 0xee, PAIR_BUF_BYTES);
		assert_int_equal(try_write(p, iovas[i], mr->rkey, length + 1), IBV_WC_REM_ACCESS_ERR);
		assert_int_equal(try_write(p, iovas[i] - 1, mr->rkey, 64), IBV_WC_REM_ACCESS_ERR);
		assert_int_equal(try_write(p, iovas[i] + length - 63, mr->rkey, 64), IBV_WC_REM_ACCESS_ERR);
		assert_int_equal(try_write(p, addr_of(p->b.buf + 0x80), mr->rkey, 64), IBV_WC_REM_ACCESS_ERR);
		for (size_t j = 0; j < PAIR_BUF_BYTES; j++)
			assert_int_equal(p->b.buf[j], 0xee);
		assert_int_equal(try_write(p, iovas[i] + length - 64, mr->rkey, 64), IBV_WC_SUCCESS);
		assert_int_equal(ibv_dereg_mr(mr), 0);
	}
	pair_close(p);
}

static void wrapping_region_is_empty(void **state)
{
	struct pair *p = pair_open(&pair_defaults);
	uint64_t iova = UINT64_MAX - 4095;
	struct ibv_mr *mr = ibv_reg_mr_iova(p->b.pd, p->b.buf, 3 * PAIR_PAGE, iova, PAIR_ALL_ACCESS);

	(void)state;
	assert_non_null(mr);
	assert_int_equal(try_write(p, iova, mr->rkey, 64), IBV_WC_REM_ACCESS_ERR);
	assert_int_equal(try_write(p, 0, mr->rkey, 64), IBV_WC_REM_ACCESS_ERR);
	assert_int_equal(ibv_dereg_mr(mr), 0);
	pair_close(p);
}

static void keys_and_rights(void **state)
{
	struct pair *p = pair_open(&pair_defaults);
	struct ibv_pd *other = ibv_alloc_pd(p->b.context);
	uint64_t at = addr_of(p->b.buf);
	struct ibv_mr *read_only = ibv_reg_mr(p->b.pd, p->b.buf, 4096, IBV_ACCESS_REMOTE_READ);
	struct ibv_mr *local = ibv_reg_mr(p->b.pd, p->b.buf, 4096, IBV_ACCESS_LOCAL_WRITE);
	struct ibv_mr *foreign = ibv_reg_mr(other, p->b.buf, 4096, PAIR_ALL_ACCESS);
	struct ibv_mr *gone = ibv_reg_mr(p->b.pd, p->b.buf, 4096, PAIR_ALL_ACCESS);
	uint32_t old = gone->rkey;

	(void)state;
	assert_int_equal(try_write(p, at, gone->rkey, 64), IBV_WC_SUCCESS);
	assert_int_equal(ibv_dereg_mr(gone), 0);
	assert_int_equal(try_write(p, at, old, 64), IBV_WC_REM_ACCESS_ERR);
	assert_int_equal(try_write(p, at, 0, 64), IBV_WC_REM_ACCESS_ERR);
	assert_int_equal(try_write(p, at, p->b.mr->rkey ^ 1, 64), IBV_WC_REM_ACCESS_ERR);
	assert_int_equal(try_write(p, at, read_only->rkey, 64), IBV_WC_REM_ACCESS_ERR);
	assert_int_equal(try_write(p, at, local->rkey, 64), IBV_WC_REM_ACCESS_ERR);
	assert_int_equal(try_write(p, at, foreign->rkey, 64), IBV_WC_REM_ACCESS_ERR);
	/* A key that was freed does not come back soon. */
	for (int i = 0; i < 1000; i++) {
		gone = ibv_reg_mr(p->b.pd, p->b.buf, 4096, PAIR_ALL_ACCESS);
		assert_int_not_equal(gone->rkey >> 8, old >> 8);
		assert_int_equal(ibv_dereg_mr(gone), 0);
	}
	assert_int_equal(ibv_dereg_mr(foreign), 0);
	assert_int_equal(ibv_dereg_mr(local), 0);
	assert_int_equal(ibv_dereg_mr(read_only), 0);
	assert_int_equal(ibv_dealloc_pd(other), 0);
	pair_close(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(registration_rules), cmocka_unit_test(pages_are_checked),
		cmocka_unit_test(iova_translates),    cmocka_unit_test(wrapping_region_is_empty),
		cmocka_unit_test(keys_and_rights),
	};

	return cmocka_run_group_tests_name("loopverbs: regions", tests, NULL, NULL);
}
