/* SPDX-License-Identifier: MIT */
/*
 * Mode fastreg in the kernel's order (docs/modes.md, "fastreg"): {invalidate, register, send} in one post, one
 * request executed at a time.
 */

#include "loopverbs/loopverbs.h"
#include "props/world/device.h"
#include "rdma/post.h"
#include "tests/lib/lnd_pair.h"

#define CHAIN 3u /* requests of a post */

static struct pair *pair;
static struct o2_binding binding;
static struct o2_reg_plan plan;
static uint32_t may_run;  /* requests that the device may execute now */
static uint32_t may_take; /* requests of a post that are accepted before one fails */

static int pick(void *arg, const uint32_t *qp_nums, unsigned int count)
{
	if (may_run == 0)
		return -1;
	may_run--;
	return 0;
}

static int refuse_post(void *arg, enum o2_loop_call call, uint32_t qp_num)
{
	if (call != O2_LOOP_CALL_POST_SEND || may_take-- > 0)
		return 0;
	return ENOMEM;
}

/* Opens a pair with one descriptor, so that each mapping reuses that of the one before. */
static void open_pair(void)
{
	struct o2_ni_config a = side_config(true, O2_DMA_VIRTUAL, 0);
	struct o2_ni_config b = side_config(false, O2_DMA_BUS, 0x10000000);

	b.reg_fast = o2_device_reg_fast();
	assert_non_null(b.reg_fast);
	b.sizes.reg_size = 1;
	b.max_pools = 1;
	pair = pair_open_ni(&a, &b, &O2_CONN_DEFAULTS, &O2_CONN_DEFAULTS);
	may_run = UINT32_MAX;
	o2_loop_set_pick(pick, NULL);
}

static void close_pair(void)
{
	o2_loop_set_fault(NULL, NULL);
	o2_loop_set_pick(NULL, NULL);
	pair_close(pair);
}

/* Maps 9000 bytes from inside page `first` of b's arena on. */
static void map(uint32_t first)
{
	struct o2_reg_request request = {.mode = O2_REG_FASTREG,
					 .side = O2_SINK,
					 .page_bytes = 4096,
					 .max_pages = O2_MAX_FRAGS,
					 .peer_max_frags = O2_MAX_FRAGS};
	const struct o2_dma_list list = {
		.nob = 9000,
		.count = 1,
		.segment = {{pair->b.ni.domain.dma.base + first * 4096ull + 700, 9000}}};

	assert_int_equal(o2_reg_plan(&request, &list, &plan, NULL), 0);
	assert_int_equal(o2_reg_bind(&pair->b.ni.domain, 0, &plan, &binding, NULL), 0);
}

/* Posts the chain and a message behind it; returns the number of accepted requests. */
static uint32_t post(uint32_t take)
{
	struct ibv_send_wr wr[CHAIN], lead[O2_BINDING_CHAIN];
	struct ibv_sge entries[1];
	struct o2_post_chain chain = {.wr = wr, .sge = entries, .wr_capacity = CHAIN, .sge_capacity = 1};
	const struct o2_post_message message = {
		.addr = (uintptr_t)pair->b.conn->rx_area, .length = 8, .lkey = pair->b.conn->rx_mr->lkey};
	const uint32_t nlead = o2_binding_chain(&binding, 7, lead);
	uint32_t nposted;
	int rc;

	assert_int_equal(nlead, 2);
	assert_int_equal(lead[0].opcode, IBV_WR_LOCAL_INV);
	assert_int_equal(lead[1].opcode, O2_LOOP_WR_REG_MR);
	assert_int_equal(lead[0].send_flags | lead[1].send_flags, 0);
	o2_chain_add_requests(&chain, lead, nlead);
	o2_chain_add_message(&chain, &message, 9);
	may_take = take;
	o2_loop_set_fault(refuse_post, NULL);
	rc = o2_chain_post(&chain, pair->b.conn->qp, &nposted, NULL);
	o2_loop_set_fault(NULL, NULL);
	assert_int_equal(rc, take < CHAIN ? -ENOMEM : 0);
	o2_binding_posted(&binding, pair->b.conn->qp->qp_num, nposted < 2 ? nposted : 2, rc == 0);
	return nposted;
}

static void run(uint32_t requests)
{
	may_run = requests;
	o2_loop_progress();
	assert_int_equal(may_run, 0);
}

static bool opens_at(uint32_t key, uint64_t addr)
{
	return o2_loop_admits_write(pair->b.conn->qp->qp_num, key, addr, 9000);
}

static bool opens(uint32_t key)
{
	return opens_at(key, plan.frag[0].rf_addr);
}

/* Returns the number of messages that reached the peer. */
static uint32_t arrived(void)
{
	return o2_loop_cq_entries(pair->a.conn->cq);
}

/* Asserts that a byte which the peer writes is in the mapped page. */
static void write_byte(uint32_t first, uint8_t byte)
{
	uint8_t *page = o2_arena_page(&pair->b.ni.arena, first);
	struct ibv_sge from = {(uintptr_t)pair->a.conn->rx_area, 1, pair->a.conn->rx_mr->lkey};
	struct ibv_send_wr wr = {.sg_list = &from,
				 .num_sge = 1,
				 .opcode = IBV_WR_RDMA_WRITE,
				 .wr.rdma = {.remote_addr = plan.frag[0].rf_addr, .rkey = binding.key}};
	struct ibv_send_wr *bad;

	page[700] = (uint8_t)~byte;
	pair->a.conn->rx_area[0] = byte;
	may_run = 0;
	assert_int_equal(ibv_post_send(pair->a.conn->qp, &wr, &bad), 0);
	run(1);
	assert_int_equal(page[700], byte);
}

static void release(bool failed)
{
	assert_int_equal(o2_reg_unbind(&pair->b.ni.domain, &binding, failed, NULL), 0);
}

/* Each request of the chain takes effect when it is executed, and not before. */
TEST(each_request_does_its_part)
{
	uint32_t key[3];
	uint64_t addr[3];

	open_pair();
	for (uint32_t i = 0; i < 3; i++) {
		const uint32_t before = arrived();

		map(10 + 20 * i);
		key[i] = binding.key;
		addr[i] = plan.frag[0].rf_addr;
		may_run = 0;
		assert_int_equal(post(CHAIN), CHAIN);
		assert_int_equal(binding.frd->key.state, O2_FRD_LIVE);
		/* The previous transfer's key opens its own memory until the first request runs. */
		for (uint32_t done = 0; done <= CHAIN; done++) {
			run(done > 0);
			assert_int_equal(opens(key[i]), done >= 2);
			assert_int_equal(arrived() - before, done == CHAIN);
			for (uint32_t old = 0; old < i; old++)
				assert_int_equal(opens_at(key[old], addr[old]), old + 1 == i && done == 0);
		}
		write_byte(10 + 20 * i, (uint8_t)(0x31 + i));
		assert_false(o2_binding_needs_invalidate(&binding));
		release(false);
		assert_true(opens(key[i]));
	}
	close_pair();
}

/* The keys that are valid after a post was accepted in part, and the next mapping's post. */
TEST(part_of_a_chain)
{
	static const enum o2_frd_state left[] = {O2_FRD_PREPARED, O2_FRD_SPENT, O2_FRD_SPENT};

	for (uint32_t taken = 0; taken < CHAIN; taken++) {
		uint32_t old, key;
		struct o2_reg_plan first;

		open_pair();
		map(10);
		post(CHAIN);
		old = binding.key;
		first = plan;
		release(false);
		map(50);
		key = binding.key;
		assert_int_equal(post(taken), taken);
		assert_int_equal(binding.frd->key.state, left[taken]);
		assert_int_equal(opens_at(old, first.iova), taken == 0);
		assert_int_equal(opens(key), taken == 2);
		/* A transfer that fails after its chain has begun leaves no valid key. */
		release(taken > 0);
		assert_int_equal(opens_at(old, first.iova), taken == 0);
		assert_false(opens(key));
		map(90);
		/* A key that was never posted is used first. */
		assert_int_equal(binding.key == key, taken == 0);
		may_run = UINT32_MAX;
		assert_int_equal(post(CHAIN), CHAIN);
		assert_true(opens(binding.key));
		write_byte(90, 0x77);
		release(false);
		close_pair();
	}
}
