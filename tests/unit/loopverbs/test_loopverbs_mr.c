/* SPDX-License-Identifier: MIT */
/* Memory regions: which registrations succeed, their addresses, and who may use them. */
#include <sys/mman.h>

#include "tests/device/loopverbs/pair.h"

/* A registration that must fail with this errno. */
#define REFUSED(call, error)                    \
	do {                                    \
		errno = 0;                      \
		assert_null(call);              \
		assert_int_equal(errno, error); \
	} while (0)

APART_TEST(registration_rules)
{
	uint8_t *b = p->a.buf;
	struct ibv_mr *mr;

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
}

APART_TEST(pages_are_checked)
{
	uint8_t *m = mmap(NULL, 3 * PAIR_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct ibv_mr *mr;

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
}

/* One write to an address under a key; after a refusal, both sides are connected again. */
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

TEST(iova_translates)
{
	static const uint64_t iovas[] = {0x80, 7 * 4096 + 0x80, 0x7fff00000080,
					 UINT64_MAX - 8 * 4096 - 4096 + 1 + 0x80};
	struct pair *p = pair_open(&pair_defaults);

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
		/* The bounds are exact: one byte more at either end is refused, and nothing is written. */
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

PAIR_TEST(wrapping_region_is_empty)
{
	uint64_t iova = UINT64_MAX - 4095;
	struct ibv_mr *mr = ibv_reg_mr_iova(p->b.pd, p->b.buf, 3 * PAIR_PAGE, iova, PAIR_ALL_ACCESS);

	assert_non_null(mr);
	assert_int_equal(try_write(p, iova, mr->rkey, 64), IBV_WC_REM_ACCESS_ERR);
	assert_int_equal(try_write(p, 0, mr->rkey, 64), IBV_WC_REM_ACCESS_ERR);
	assert_int_equal(ibv_dereg_mr(mr), 0);
}

PAIR_TEST(keys_and_rights)
{
	struct ibv_pd *other = ibv_alloc_pd(p->b.context);
	uint64_t at = addr_of(p->b.buf);
	struct ibv_mr *read_only = ibv_reg_mr(p->b.pd, p->b.buf, 4096, IBV_ACCESS_REMOTE_READ);
	struct ibv_mr *local = ibv_reg_mr(p->b.pd, p->b.buf, 4096, IBV_ACCESS_LOCAL_WRITE);
	struct ibv_mr *foreign = ibv_reg_mr(other, p->b.buf, 4096, PAIR_ALL_ACCESS);
	struct ibv_mr *gone = ibv_reg_mr(p->b.pd, p->b.buf, 4096, PAIR_ALL_ACCESS);
	uint32_t old = gone->rkey;

	assert_int_equal(try_write(p, at, gone->rkey, 64), IBV_WC_SUCCESS);
	assert_int_equal(ibv_dereg_mr(gone), 0);
	assert_int_equal(try_write(p, at, old, 64), IBV_WC_REM_ACCESS_ERR);
	assert_int_equal(try_write(p, at, 0, 64), IBV_WC_REM_ACCESS_ERR);
	assert_int_equal(try_write(p, at, p->b.mr->rkey ^ 1, 64), IBV_WC_REM_ACCESS_ERR);
	assert_int_equal(try_write(p, at, read_only->rkey, 64), IBV_WC_REM_ACCESS_ERR);
	assert_int_equal(try_write(p, at, local->rkey, 64), IBV_WC_REM_ACCESS_ERR);
	assert_int_equal(try_write(p, at, foreign->rkey, 64), IBV_WC_REM_ACCESS_ERR);
	/* A freed key is not reused soon. */
	for (int i = 0; i < 1000; i++) {
		gone = ibv_reg_mr(p->b.pd, p->b.buf, 4096, PAIR_ALL_ACCESS);
		assert_int_not_equal(gone->rkey >> 8, old >> 8);
		assert_int_equal(ibv_dereg_mr(gone), 0);
	}
	assert_int_equal(ibv_dereg_mr(foreign), 0);
	assert_int_equal(ibv_dereg_mr(local), 0);
	assert_int_equal(ibv_dereg_mr(read_only), 0);
	assert_int_equal(ibv_dealloc_pd(other), 0);
}

/*
 * Regions with gaps: 100, 1 and 4000 bytes of b's buffer, 4101 in all, with one byte and more between them.
 * Byte k of these bytes has the address GAP_IOVA + k, also for local use.
 */
#define GAP_IOVA  0x700000000u
#define GAP_COUNT 3u
#define GAP_BYTES 4101u

static const struct {
	uint32_t at, length;
} gap_piece[GAP_COUNT] = {{10, 100}, {111, 1}, {8000, 4000}};

static struct ibv_mr *register_pieces(struct side *side, unsigned int access)
{
	struct ibv_sge entry[GAP_COUNT];
	struct ibv_mr *mr;

	for (uint32_t i = 0; i < GAP_COUNT; i++)
		entry[i] = (struct ibv_sge){.addr = addr_of(side->buf + gap_piece[i].at),
					    .length = gap_piece[i].length};
	mr = o2_loop_reg_gaps(side->pd, entry, GAP_COUNT, GAP_IOVA, access);
	assert_non_null(mr);
	assert_int_equal(mr->length, GAP_BYTES);
	return mr;
}

/* Put n bytes into the pieces of the image, starting at byte `from` of the region. */
static void lay_out(uint8_t *image, const uint8_t *bytes, uint32_t from, uint32_t n)
{
	for (uint32_t i = 0, k = 0; i < GAP_COUNT; i++)
		for (uint32_t j = 0; j < gap_piece[i].length; j++, k++)
			if (k >= from && k < from + n)
				image[gap_piece[i].at + j] = bytes[k - from];
}

/* Copy the pieces of a buffer, one after the other. */
static void collect(const uint8_t *buffer, uint8_t bytes[GAP_BYTES])
{
	for (uint32_t i = 0; i < GAP_COUNT; i++) {
		memcpy(bytes, buffer + gap_piece[i].at, gap_piece[i].length);
		bytes += gap_piece[i].length;
	}
}

/* A SEND into pieces changes only them; a SEND from pieces sends them in their order. */
PAIR_TEST(gaps_send_and_receive)
{
	struct ibv_mr *mr = register_pieces(&p->b, IBV_ACCESS_LOCAL_WRITE);
	struct ibv_sge to = sge_of(mr, GAP_IOVA + 50, 2000), from = sge_of(p->a.mr, addr_of(p->a.buf), 2000);
	uint8_t *image = calloc(1, PAIR_BUF_BYTES), bytes[GAP_BYTES];

	fill(p->a.buf, 2000, 1);
	lay_out(image, p->a.buf, 50, 2000);
	assert_int_equal(post_recv(p->b.qp, 1, &to, 1), 0);
	assert_int_equal(post_send(p->a.qp, 2, IBV_WR_SEND, IBV_SEND_SIGNALED, &from, 1), 0);
	expect_wc(p->a.scq, 2, IBV_WC_SUCCESS);
	expect_wc(p->b.rcq, 1, IBV_WC_SUCCESS);
	assert_memory_equal(p->b.buf, image, PAIR_BUF_BYTES);

	to = sge_of(p->a.mr, addr_of(p->a.buf), GAP_BYTES);
	from = sge_of(mr, GAP_IOVA, GAP_BYTES);
	collect(image, bytes);
	assert_int_equal(post_recv(p->a.qp, 3, &to, 1), 0);
	assert_int_equal(post_send(p->b.qp, 4, IBV_WR_SEND, IBV_SEND_SIGNALED, &from, 1), 0);
	expect_wc(p->b.scq, 4, IBV_WC_SUCCESS);
	expect_wc(p->a.rcq, 3, IBV_WC_SUCCESS);
	assert_memory_equal(p->a.buf, bytes, GAP_BYTES);
	/* The region is addressed by its own addresses, not by those of the memory. */
	from = sge_of(mr, addr_of(p->b.buf + gap_piece[0].at), 1);
	assert_int_equal(post_send(p->b.qp, 5, IBV_WR_SEND, IBV_SEND_SIGNALED, &from, 1), 0);
	expect_wc(p->b.scq, 5, IBV_WC_LOC_PROT_ERR);
	assert_int_equal(ibv_dereg_mr(mr), 0);
	free(image);
}

/* RDMA from and to pieces at the local end, and to pieces at the remote end. */
PAIR_TEST(gaps_read_and_write)
{
	struct ibv_mr *ours = register_pieces(&p->a, IBV_ACCESS_LOCAL_WRITE);
	struct ibv_mr *theirs = register_pieces(&p->b, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
							       IBV_ACCESS_REMOTE_READ);
	struct ibv_sge local = sge_of(ours, GAP_IOVA, GAP_BYTES);
	struct ibv_send_wr atomic = {.wr_id = 3,
				     .num_sge = 1,
				     .opcode = IBV_WR_ATOMIC_FETCH_AND_ADD,
				     .send_flags = IBV_SEND_SIGNALED};
	struct ibv_send_wr *bad;
	uint8_t *image = calloc(1, PAIR_BUF_BYTES), bytes[GAP_BYTES];

	fill(p->a.buf, PAIR_BUF_BYTES, 2);
	collect(p->a.buf, bytes);
	lay_out(image, bytes, 0, GAP_BYTES);
	assert_int_equal(post_rdma(p->a.qp, 1, IBV_WR_RDMA_WRITE, &local, 1, GAP_IOVA, theirs->rkey), 0);
	expect_wc(p->a.scq, 1, IBV_WC_SUCCESS);
	assert_memory_equal(p->b.buf, image, PAIR_BUF_BYTES);

	memset(p->a.buf, 0, PAIR_BUF_BYTES);
	assert_int_equal(post_rdma(p->a.qp, 2, IBV_WR_RDMA_READ, &local, 1, GAP_IOVA, theirs->rkey), 0);
	expect_wc(p->a.scq, 2, IBV_WC_SUCCESS);
	assert_memory_equal(p->a.buf, image, PAIR_BUF_BYTES);

	/* The result of an atomic is stored across both gaps. */
	local = sge_of(ours, GAP_IOVA + 96, sizeof(uint64_t));
	atomic.sg_list = &local;
	atomic.wr.atomic.remote_addr = addr_of(p->b.buf);
	atomic.wr.atomic.rkey = p->b.mr->rkey;
	fill(p->b.buf, sizeof(uint64_t), 5);
	lay_out(image, p->b.buf, 96, sizeof(uint64_t));
	assert_int_equal(ibv_post_send(p->a.qp, &atomic, &bad), 0);
	expect_wc(p->a.scq, 3, IBV_WC_SUCCESS);
	assert_memory_equal(p->a.buf, image, PAIR_BUF_BYTES);
	assert_null(o2_loop_reg_gaps(p->a.pd, &local, 1, GAP_IOVA, PAIR_ALL_ACCESS));
	assert_int_equal(ibv_dereg_mr(ours), 0);
	assert_int_equal(ibv_dereg_mr(theirs), 0);
	free(image);
}

/* The addresses of a region are no mapped memory, and the byte behind its last one is in no other region. */
APART_TEST(gaps_lie_nowhere)
{
	struct ibv_mr *first = register_pieces(&p->a, IBV_ACCESS_LOCAL_WRITE);
	struct ibv_mr *second = register_pieces(&p->a, IBV_ACCESS_LOCAL_WRITE);
	const uint64_t distance = (uint64_t)llabs((int64_t)(addr_of(first->addr) - addr_of(second->addr)));
	unsigned char resident;

	assert_true(distance > GAP_BYTES);
	assert_int_equal(mincore(first->addr, 1, &resident), -1);
	assert_int_equal(mincore(second->addr, 1, &resident), -1);
	assert_int_equal(ibv_dereg_mr(first), 0);
	assert_int_equal(ibv_dereg_mr(second), 0);
}

/* Posting a receive fills its pieces with junk, but not the bytes between them. */
PAIR_TEST(gaps_are_scribbled_over)
{
	struct ibv_mr *mr = register_pieces(&p->b, IBV_ACCESS_LOCAL_WRITE);
	struct ibv_sge to = sge_of(mr, GAP_IOVA, GAP_BYTES);
	uint8_t *before = malloc(PAIR_BUF_BYTES);
	uint32_t spoilt = 0;

	fill(p->b.buf, PAIR_BUF_BYTES, 3);
	memcpy(before, p->b.buf, PAIR_BUF_BYTES);
	assert_int_equal(o2_loop_set_option(O2_LOOP_SCRIBBLE, 1), 0);
	assert_int_equal(post_recv(p->b.qp, 1, &to, 1), 0);
	assert_int_equal(o2_loop_set_option(O2_LOOP_SCRIBBLE, 0), 0);
	for (uint32_t i = 0; i < GAP_COUNT; i++) {
		for (uint32_t j = 0; j < gap_piece[i].length; j++)
			spoilt += p->b.buf[gap_piece[i].at + j] != before[gap_piece[i].at + j];
		memcpy(before + gap_piece[i].at, p->b.buf + gap_piece[i].at, gap_piece[i].length);
	}
	/* One byte in 256 already had the value of the junk. */
	assert_uint_in_range(spoilt, GAP_BYTES * 9 / 10, GAP_BYTES);
	assert_memory_equal(p->b.buf, before, PAIR_BUF_BYTES);
	assert_int_equal(ibv_dereg_mr(mr), 0);
	free(before);
}

/* The same for receives of a shared receive queue. */
APART_TEST(shared_receives_are_scribbled_over)
{
	struct ibv_srq_init_attr init = {.attr = {.max_wr = 1, .max_sge = 1}};
	struct ibv_srq *srq = ibv_create_srq(p->b.pd, &init);
	struct ibv_sge to = sge_of(p->b.mr, addr_of(p->b.buf) + 1, 9);
	struct ibv_recv_wr wr = {.sg_list = &to, .num_sge = 1}, *bad;

	assert_non_null(srq);
	assert_int_equal(o2_loop_set_option(O2_LOOP_SCRIBBLE, 1), 0);
	assert_int_equal(ibv_post_srq_recv(srq, &wr, &bad), 0);
	assert_int_equal(o2_loop_set_option(O2_LOOP_SCRIBBLE, 0), 0);
	for (uint32_t i = 0; i < 11; i++)
		assert_true((p->b.buf[i] != 0) == (i >= 1 && i < 10));
	assert_int_equal(ibv_destroy_srq(srq), 0);
}

/* The memory of a shared queue's receives belongs to its domain, not to that of the queue pair. */
APART_TEST(shared_receives_have_their_own_domain)
{
	struct ibv_pd *pd = ibv_alloc_pd(p->b.context);
	struct ibv_mr *mr = ibv_reg_mr(pd, p->b.buf, PAIR_PAGE, IBV_ACCESS_LOCAL_WRITE);
	struct ibv_srq_init_attr srq_init = {.attr = {.max_wr = 2, .max_sge = 1}};
	struct ibv_srq *srq = ibv_create_srq(pd, &srq_init);
	struct ibv_qp_init_attr init = {
		.send_cq = p->b.scq, .recv_cq = p->b.rcq, .srq = srq, .qp_type = IBV_QPT_RC};
	struct ibv_sge from = sge_of(p->a.mr, addr_of(p->a.buf), 9), to = sge_of(mr, addr_of(p->b.buf), 9);
	struct ibv_recv_wr wr = {.wr_id = 7, .sg_list = &to, .num_sge = 1}, *bad;

	assert_int_equal(ibv_destroy_qp(p->b.qp), 0);
	p->b.qp = ibv_create_qp(p->b.pd, &init);
	pair_connect(p, &pair_defaults);
	fill(p->a.buf, 9, 3);
	assert_int_equal(ibv_post_srq_recv(srq, &wr, &bad), 0);
	to.lkey = p->b.mr->lkey;
	assert_int_equal(ibv_post_srq_recv(srq, &wr, &bad), 0);
	assert_int_equal(post_send(p->a.qp, 1, IBV_WR_SEND, IBV_SEND_SIGNALED, &from, 1), 0);
	expect_wc(p->a.scq, 1, IBV_WC_SUCCESS);
	assert_memory_equal(p->b.buf, p->a.buf, 9);
	assert_int_equal(post_send(p->a.qp, 2, IBV_WR_SEND, IBV_SEND_SIGNALED, &from, 1), 0);
	expect_wc(p->a.scq, 2, IBV_WC_REM_OP_ERR);
	assert_int_equal(ibv_destroy_qp(p->b.qp), 0);
	p->b.qp = NULL;
	assert_int_equal(ibv_destroy_srq(srq), 0);
	assert_int_equal(ibv_dereg_mr(mr), 0);
	assert_int_equal(ibv_dealloc_pd(pd), 0);
}

/* The last message that the tap was given. */
struct heard {
	uint8_t bytes[GAP_BYTES];
	uint64_t length;
};

static void hear(void *arg, const struct o2_loop_seen *seen)
{
	struct heard *heard = arg;

	assert_uint_in_range(seen->bytes_seen, 1, GAP_BYTES);
	assert_int_equal(seen->length_bytes, seen->bytes_seen);
	memcpy(heard->bytes, seen->bytes, seen->bytes_seen);
	heard->length = seen->bytes_seen;
}

/* The tap gets the whole message, wherever its pieces lie. */
TEST(gaps_are_heard)
{
	static const struct {
		uint32_t from, length;
	} rows[] = {{0, GAP_BYTES}, {30, 20}, {30, 71}, {100, 2}, {101, 4000}, {4100, 1}};
	struct pair *p = pair_open(&pair_defaults);
	struct ibv_mr *mr = register_pieces(&p->a, 0);
	struct ibv_sge to = sge_of(p->b.mr, addr_of(p->b.buf), GAP_BYTES);
	uint8_t bytes[GAP_BYTES];
	struct heard heard;

	fill(p->a.buf, PAIR_BUF_BYTES, 4);
	collect(p->a.buf, bytes);
	o2_loop_set_tap(hear, &heard);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct ibv_sge from = sge_of(mr, GAP_IOVA + rows[i].from, rows[i].length);

		heard.length = 0;
		assert_int_equal(post_recv(p->b.qp, 1, &to, 1), 0);
		assert_int_equal(post_send(p->a.qp, 2, IBV_WR_SEND, IBV_SEND_SIGNALED, &from, 1), 0);
		expect_wc(p->a.scq, 2, IBV_WC_SUCCESS);
		expect_wc(p->b.rcq, 1, IBV_WC_SUCCESS);
		assert_int_equal(heard.length, rows[i].length);
		assert_memory_equal(heard.bytes, bytes + rows[i].from, heard.length);
	}
	o2_loop_set_tap(NULL, NULL);
	assert_int_equal(ibv_dereg_mr(mr), 0);
	pair_close(p);
}
