/* SPDX-License-Identifier: MIT */
#include "tests/lib/faulty_pair.h"
#include "tests/lib/lnd_memory.h"

#define FAULTY_TEST(name) TEST_ON(name, struct pair, pair, faulty_pair_open(NULL), pair_close)

/*
 * The pools of an interface under transfers (docs/pools.md, "At an interface"): growth and shrinking, a
 * device that fails, failover, lists that are kept, and what is left at the end.
 */

/* --- sizes, partitions, capabilities --- */

TEST(has_the_sizes_of_the_tunables)
{
	for (uint32_t ncpts = 1; ncpts <= 3; ncpts++) {
		struct o2_ni_config config = side_config(true, O2_DMA_BUS, 0);
		uint32_t size = ncpts == 1 ? 512 : 256;
		uint64_t used[3] = {0};
		struct side side;

		config.sizes = (struct o2_pool_sizes){0};
		config.tunables.ncpts = ncpts;
		side_open_config(&side, &config);
		for (uint32_t kind = 0; kind < O2_NI_POOL_KINDS; kind++) {
			struct o2_ni_pool_counts pool = ni_pool_counts(&side, (enum o2_ni_pool_kind)kind);

			assert_int_equal(pool.sets, ncpts);
			assert_int_equal(pool.live, ncpts);
			assert_int_equal(pool.elements, (uint64_t)size * ncpts);
			assert_int_equal(pool.idle, pool.elements);
		}
		assert_int_equal(side.ni.config.sizes.flush_trigger, ncpts == 1 ? 384 : 192);
		for (uint64_t nid = NID_A; nid < NID_A + 300; nid++) {
			assert_true(o2_ni_cpt(&side.ni, nid) < ncpts);
			used[o2_ni_cpt(&side.ni, nid)]++;
		}
		for (uint32_t cpt = 0; cpt < ncpts; cpt++)
			assert_true(used[cpt] >= 50);
		side_assert_idle(&side);
		o2_ni_close(&side.ni);
		assert_objects(0, 0, 0);
	}
}

/* The arena belongs to the caller before, during and after the use. */
TEST(uses_the_arena_of_the_caller)
{
	struct o2_ni_config config = side_config(true, O2_DMA_VIRTUAL, 0);
	struct o2_arena arena;
	struct side side;

	assert_int_equal(o2_arena_create(4, &arena, NULL), 0);
	memset(arena.memory, 0x5a, arena.page_bytes);
	config.arena = &arena;
	for (int i = 0; i < 2; i++) {
		side_open_config(&side, &config);
		assert_ptr_equal(side.ni.arena.memory, arena.memory);
		assert_int_equal(side.ni.arena.npages, 4);
		side_assert_idle(&side);
		o2_ni_close(&side.ni);
		o2_ni_close(&side.ni);
		assert_int_equal(arena.memory[0], 0x5a);
	}
	o2_arena_destroy(&arena);
	assert_objects(0, 0, 0);
}

TEST(refuses_impossible_tunables)
{
	struct o2_ni_config config = side_config(true, O2_DMA_BUS, 0);
	struct o2_error error;
	struct o2_ni ni;

	config.tunables = (struct o2_pool_tunables){.ntx = 512, .fmr_pool_size = 127};
	assert_error(o2_ni_open(&config, &ni, &error), -EINVAL, &error, "pool/sizes/fmr-pool-size");
	config.tunables.fmr_pool_size = 0;
	config.sizes = (struct o2_pool_sizes){.reg_size = 4, .flush_trigger = 5};
	assert_error(o2_ni_open(&config, &ni, &error), -EINVAL, &error, "pool/fmr/watermark");
	config.sizes = (struct o2_pool_sizes){.tx_size = O2_POOL_SIZE_MAX + 1};
	assert_error(o2_ni_open(&config, &ni, &error), -EINVAL, &error, "pool/tx/pool-size");
	config.sizes = (struct o2_pool_sizes){.reg_size = 1};
	faults.frd_create = -ENOSPC;
	config.reg_ops = &faulty_ops;
	assert_error(o2_ni_open(&config, &ni, &error), -ENOSPC, &error, "pool/frd/create");
	faults.frd_create = 0;
	assert_objects(0, 0, 0);
}

static void three_partitions(struct o2_ni_config *config)
{
	config->tunables.ncpts = 3;
}

/* A peer's transfers are served only by the partition of its NID. */
TEST(serves_a_peer_from_one_partition)
{
	struct pair *pair = faulty_pair_open(three_partitions);
	struct o2_transfer_memory from = dense(kiov_from, 0, 9000, O2_REG_GLOBAL);
	uint32_t mine = o2_ni_cpt(&pair->b.ni, NID_A);

	pair->b.answer = dense(kiov_to, 300, 9000, O2_REG_FASTREG);
	assert_int_equal(start_put(pair->a.conn, &from, 0, NULL, NULL), 0);
	side_run_until(&pair->b, &pair->b.nmatched, 1);
	for (uint32_t cpt = 0; cpt < 3; cpt++) {
		struct o2_pool_counts frd, tx;

		o2_pool_set_counts(&pair->b.ni.domain.pools[cpt].frd.set, &frd);
		o2_pool_set_counts(&pair->b.ni.tx_sets[cpt].set, &tx);
		assert_int_equal(frd.live_users, cpt == mine);
		assert_true((tx.live_users > 0) == (cpt == mine));
	}
	pair_run(pair, 1, 1);
	pair_close(pair);
}

/* --- growth and life --- */

/* Six transfers at a time need three pools of two; 300 s later all pools but the first are destroyed. */
FAULTY_TEST(grows_and_shrinks)
{
	static const enum o2_reg_mode modes[] = {O2_REG_FMR, O2_REG_FASTREG, O2_REG_FASTREG_GAPS};
	struct o2_transfer_memory from = dense(kiov_from, 0, 9000, O2_REG_GLOBAL);

	for (int kind = O2_NI_POOL_FMR; kind <= O2_NI_POOL_FRD_GAPS; kind++) {
		struct o2_ni_pool_counts pool;
		uint32_t results = pair->b.nresults;

		pair->b.answer = dense(kiov_to, 300, 9000, modes[kind]);
		for (uint32_t i = 0; i < 6; i++)
			assert_int_equal(start_put(pair->a.conn, &from, 0, NULL, NULL), 0);
		side_run_until(&pair->b, &pair->b.nmatched, results + 6);
		pool = ni_pool_counts(&pair->b, (enum o2_ni_pool_kind)kind);
		assert_int_equal(pool.users, 6);
		assert_int_equal(pool.live, 3);
		assert_int_equal(pool.version, 3);
		assert_int_equal(pool.elements - pool.idle, 6);
		pair_run(pair, results + 6, results + 6);
		side_assert_idle(&pair->b);
		o2_clock_tell(&pair->b.ni.clock, o2_clock_ms(&pair->b.ni.clock) + O2_POOL_LIFE_MS);
		o2_clock_tell(&pair->b.ni.clock, 1); /* time does not go back */
		assert_put_moved(pair, modes[kind]);
		pool = ni_pool_counts(&pair->b, (enum o2_ni_pool_kind)kind);
		assert_int_equal(pool.live, 1);
		assert_int_equal(pool.version, 5);
		assert_int_equal(pool.destroyed, 2);
	}
}

static void one_pool(struct o2_ni_config *config)
{
	config->max_pools = 1;
	config->sizes = (struct o2_pool_sizes){.tx_size = 64, .reg_size = 2};
}

/* At the cap on pools a transfer without a free element waits, whoever started it: the peer gets no error. */
TEST(waits_at_the_cap)
{
	static const enum o2_reg_mode modes[] = {O2_REG_FMR, O2_REG_FASTREG, O2_REG_FASTREG_GAPS};

	for (int kind = O2_NI_POOL_FMR; kind <= O2_NI_POOL_FRD_GAPS; kind++) {
		struct pair *pair = faulty_pair_open(one_pool);
		struct o2_transfer_memory from = dense(kiov_from, 0, 9000, O2_REG_GLOBAL);
		struct o2_transfer_memory ours = dense(kiov_to, 0, 9000, modes[kind]);
		struct o2_ni_pool_counts pool;

		pair->b.answer = dense(kiov_to, 300, 9000, modes[kind]);
		pair->a.answer = dense(kiov_from, 300, 9000, O2_REG_GLOBAL);
		for (uint32_t i = 0; i < 5; i++) {
			assert_int_equal(start_put(pair->a.conn, &from, 0, NULL, NULL), 0);
			assert_int_equal(start_put(pair->b.conn, &ours, 0, NULL, NULL), 0);
		}
		pair_run(pair, 10, 10);
		for (uint32_t i = 0; i < 10; i++) {
			assert_int_equal(pair->a.result[i].status, 0);
			assert_int_equal(pair->b.result[i].status, 0);
		}
		pool = ni_pool_counts(&pair->b, (enum o2_ni_pool_kind)kind);
		assert_int_equal(pool.live, 1);
		assert_int_equal(pool.created, 1);
		pair_close(pair);
	}
}

static void two_pools(struct o2_ni_config *config)
{
	one_pool(config);
	config->max_pools = 2;
}

/* What waits for an element is the first operation that has none, not one that has. */
TEST(waits_for_the_last_element_only)
{
	struct pair *pair = faulty_pair_open(two_pools);
	const struct o2_transfer_memory from = dense(kiov_from, 0, 9000, O2_REG_GLOBAL);

	pair->b.answer = dense(kiov_to, 300, 9000, O2_REG_FMR);
	for (uint32_t i = 0; i < 5; i++)
		assert_int_equal(start_put(pair->a.conn, &from, 0, NULL, NULL), 0);
	side_run_until(&pair->b, &pair->b.nmatched, 4);
	while (o2_conn_progress(pair->b.conn) > 0)
		;
	assert_int_equal(pair->b.nmatched, 4);
	assert_int_equal(ni_pool_counts(&pair->b, O2_NI_POOL_FMR).users, 4);
	pair_run(pair, 5, 5);
	pair_close(pair);
}

/* --- a device that fails --- */

FAULTY_TEST(survives_failing_registrations)
{
	faults.fmr_map = -ENOSPC;
	assert_put_refused(pair, O2_REG_FMR, -ENOSPC, "pool/fmr/map");
	faults.fmr_map = 0;
	assert_put_moved(pair, O2_REG_FMR);
	for (int gaps = 0; gaps < 2; gaps++) {
		enum o2_reg_mode mode = gaps ? O2_REG_FASTREG_GAPS : O2_REG_FASTREG;

		faults.frd_map = -EIO;
		assert_put_refused(pair, mode, -EIO, "pool/frd/map");
		faults.frd_map = 0;
		faults.frd_short = true;
		assert_put_refused(pair, mode, -EINVAL, "pool/frd/short-map");
		faults.frd_short = false;
		assert_put_moved(pair, mode);
	}
}

/* A pool set that cannot grow returns -EAGAIN, and tries again after a second. */
FAULTY_TEST(survives_failing_growth)
{
	struct o2_transfer_memory from = dense(kiov_from, 0, 9000, O2_REG_GLOBAL);
	uint32_t refusals = 0;

	faults.frd_create = -ENOSPC;
	pair->b.answer = dense(kiov_to, 300, 9000, O2_REG_FASTREG);
	for (uint32_t i = 0; i < 4; i++)
		assert_int_equal(start_put(pair->a.conn, &from, 0, NULL, NULL), 0);
	side_run_until(&pair->b, &pair->b.nmatched, 4);
	pair_run(pair, 4, 4);
	for (uint32_t i = 0; i < 4; i++) {
		if (pair->b.result[i].status == 0)
			continue;
		assert_int_equal(pair->b.result[i].status, -EAGAIN);
		assert_string_equal(pair->b.result[i].fault.error.rule, "pool/exhausted");
		refusals++;
	}
	assert_int_equal(refusals, 2);
	assert_int_equal(ni_pool_counts(&pair->b, O2_NI_POOL_FRD).create_failures, 1);
	faults.frd_create = 0;
	o2_clock_tell(&pair->b.ni.clock, o2_clock_ms(&pair->b.ni.clock) + O2_POOL_RETRY_MS);
	for (uint32_t i = 0; i < 4; i++)
		assert_int_equal(start_put(pair->a.conn, &from, 0, NULL, NULL), 0);
	pair_run(pair, 8, 8);
	for (uint32_t i = 4; i < 8; i++)
		assert_int_equal(pair->b.result[i].status, 0);
}

/* Mode fmr promises that the key is invalid at the end.  If unmapping fails, the transfer fails, and the region
 * is not reused before a flush succeeds. */
FAULTY_TEST(fails_when_a_key_stays_alive)
{
	struct o2_transfer_memory from = dense(kiov_from, 0, 9000, O2_REG_GLOBAL);
	struct o2_error error;

	faults.fmr_unmap = -EIO;
	pair->b.answer = dense(kiov_to, 300, 9000, O2_REG_FMR);
	assert_int_equal(start_put(pair->a.conn, &from, 0, NULL, NULL), 0);
	pair_run(pair, 1, 1);
	assert_int_equal(pair->a.result[0].status, 0); /* the bytes were moved */
	assert_int_equal(pair->b.result[0].status, -EIO);
	assert_int_equal(pair->b.result[0].fault.side, O2_FAULT_LOCAL_STAGE);
	assert_string_equal(pair->b.result[0].fault.error.rule, "pool/fmr/key-alive");
	assert_int_equal(pair->b.ni.domain.live.fmr_regions, 1);
	assert_int_equal(o2_ni_check_idle(&pair->b.ni, &error), 0); /* an unflushed region is not in use */
	faults.fmr_unmap = 0;
	o2_reg_flush(&pair->b.ni.domain);
	assert_int_equal(pair->b.ni.domain.live.fmr_regions, 0);
	assert_put_moved(pair, O2_REG_FMR);
}

/* --- failover --- */

static void reconnect(struct pair *pair)
{
	o2_conn_destroy(pair->a.conn);
	o2_conn_destroy(pair->b.conn);
	pair->a.conn = pair->b.conn = NULL;
	pair_connect(pair, &O2_CONN_DEFAULTS, &O2_CONN_DEFAULTS);
}

/* Failover during a transfer: pools in use wait for their users, and the next post closes the connection. */
TEST(fails_over_with_a_transfer_open)
{
	static const enum o2_reg_mode modes[] = {O2_REG_FMR, O2_REG_FASTREG, O2_REG_FASTREG_GAPS};

	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
		struct pair *pair = faulty_pair_open(NULL);
		struct o2_transfer_memory sink = dense(kiov_to, 0, 9000, modes[i]);
		enum o2_ni_pool_kind kind = (enum o2_ni_pool_kind)i;
		struct o2_error error;

		/* b starts a GET: its GET_REQ is sent, and its key is valid. */
		pair->a.answer = dense(kiov_from, 300, 9000, O2_REG_GLOBAL);
		assert_int_equal(start_get(pair->b.conn, &sink, 0, NULL, NULL), 0);
		assert_int_equal(ni_pool_counts(&pair->b, kind).users, 1);
		o2_ni_failover(&pair->b.ni);
		assert_int_equal(ni_pool_counts(&pair->b, kind).failed, 1);
		assert_int_equal(ni_pool_counts(&pair->b, kind).live, 0);
		assert_int_equal(ni_pool_counts(&pair->b, O2_NI_POOL_TX).failed, 1);
		assert_int_equal(o2_ni_check_idle(&pair->b.ni, &error), -EBUSY);
		/* Another transfer cannot be sent over a connection from before the failover. */
		(void)start_get(pair->b.conn, &sink, 0, NULL, NULL);
		side_run_until_closed(&pair->b);
		assert_int_equal(o2_conn_get_fault(pair->b.conn)->code, -ENETDOWN);
		assert_string_equal(o2_conn_get_fault(pair->b.conn)->error.rule, "pool/other-device");
		side_assert_idle(&pair->b); /* the failed pools were destroyed with their last users */
		reconnect(pair);
		assert_put_moved(pair, modes[i]);
		assert_int_equal(ni_pool_counts(&pair->b, kind).live, 1);
		pair_close(pair);
	}
}

/* Pools that nobody uses are destroyed at once, those of each partition. */
TEST(fails_over_in_every_partition)
{
	struct o2_ni_config config = side_config(true, O2_DMA_BUS, 0);
	struct side side;

	config.sizes = (struct o2_pool_sizes){0};
	config.tunables.ncpts = 3;
	side_open_config(&side, &config);
	o2_ni_failover(&side.ni);
	for (uint32_t kind = 0; kind < O2_NI_POOL_KINDS; kind++) {
		struct o2_ni_pool_counts pool = ni_pool_counts(&side, (enum o2_ni_pool_kind)kind);

		assert_int_equal(pool.sets, 3);
		assert_int_equal(pool.live, 0);
		assert_int_equal(pool.elements, 0);
	}
	side_assert_idle(&side);
	o2_ni_close(&side.ni);
	assert_objects(0, 0, 0);
}

/* Elements that were taken before the failover may not be posted either. */
FAULTY_TEST(refuses_to_post_from_a_failed_pool)
{
	struct o2_transfer_memory from = dense(kiov_from, 0, 9000, O2_REG_FMR);

	/* b starts a PUT: its PUT_DONE would be sent from the slot of its PUT_REQ. */
	pair->a.answer = dense(kiov_to, 300, 9000, O2_REG_FASTREG);
	assert_int_equal(start_put(pair->b.conn, &from, 0, NULL, NULL), 0);
	side_run_until(&pair->a, &pair->a.nmatched, 1);
	o2_ni_failover(&pair->b.ni);
	side_run_until_closed(&pair->b);
	assert_int_equal(o2_conn_get_fault(pair->b.conn)->code, -ENETDOWN);
	assert_string_equal(o2_conn_get_fault(pair->b.conn)->error.rule, "pool/failed");
	assert_int_equal(pair->b.result[0].status, -ENETDOWN);
	reconnect(pair);
	assert_put_moved(pair, O2_REG_FASTREG);
}

/* --- kept lists --- */

static void four_regions(struct o2_ni_config *config)
{
	config->sizes.reg_size = 4;
}

TEST(keeps_lists_when_lazy)
{
	struct pair *pair = faulty_pair_open(four_regions);
	struct o2_reg_domain *domain = &pair->b.ni.domain;
	struct o2_transfer_memory sink;

	domain->fmr_lazy = true;
	assert_put_moved(pair, O2_REG_FMR);
	assert_put_moved(pair, O2_REG_FMR);
	assert_int_equal(faults.fmr_maps, 1); /* the kept list was found */
	assert_int_equal(domain->live.fmr_regions, 1);
	side_assert_idle(&pair->b);
	domain->fmr_lazy = false;
	assert_put_moved(pair, O2_REG_FMR);
	assert_int_equal(faults.fmr_maps, 2); /* without fmr_lazy a region is not shared */
	assert_int_equal(domain->live.fmr_regions, 1);
	/* A failed transfer flushes its pool. */
	domain->fmr_lazy = true;
	sink = dense(kiov_to, 0, 5000, O2_REG_FMR);
	pair->a.match_rc = -EACCES;
	assert_int_equal(start_get(pair->b.conn, &sink, 0, NULL, NULL), 0);
	assert_int_equal(domain->live.fmr_regions, 2);
	side_run_until(&pair->a, &pair->a.nmatched, 1);
	side_run_until(&pair->b, &pair->b.nresults, 4);
	assert_int_equal(pair->b.result[3].status, -EACCES);
	assert_int_equal(domain->live.fmr_regions, 0);
	pair_close(pair);
}

/* --- which mode --- */

static void fmr_from_two_segments(struct o2_ni_config *config)
{
	static const struct o2_reg_caps caps = {.global = true, .fmr = true};

	config->caps = &caps;
	config->policy = (struct o2_reg_policy){.preference = O2_PREFER_THRESHOLD, .map_on_demand = 2};
}

static void fastreg_always(struct o2_ni_config *config)
{
	static const struct o2_reg_caps caps = {.fastreg = true, .gaps = true};

	config->caps = &caps;
	config->policy =
		(struct o2_reg_policy){.preference = O2_PREFER_MAPPING, .map_on_demand = 1, .use_gaps = true};
}

static void nothing_at_all(struct o2_ni_config *config)
{
	static const struct o2_reg_caps caps;

	config->caps = &caps;
}

static const struct o2_transfer_result *put_by_policy(struct pair *pair, uint64_t nob)
{
	struct o2_transfer_memory from = dense(kiov_from, 0, nob, O2_REG_GLOBAL);
	uint32_t n = pair->b.nresults;

	pair->b.answer = dense(kiov_to, 300, nob, O2_REG_PHYS);
	pair->b.answer.by_policy = true;
	assert_int_equal(start_put(pair->a.conn, &from, 0, NULL, NULL), 0);
	pair_run(pair, pair->a.nresults + 1, n + 1);
	return &pair->b.result[n];
}

TEST(chooses_by_policy)
{
	struct pair *pair = faulty_pair_open(fmr_from_two_segments);
	const struct o2_transfer_result *result;

	assert_int_equal(put_by_policy(pair, 3000)->status, 0); /* one segment */
	assert_int_equal(faults.fmr_maps, 0);
	assert_int_equal(put_by_policy(pair, 9000)->status, 0);
	assert_int_equal(faults.fmr_maps, 1);
	assert_put_refused(pair, O2_REG_FASTREG, -EINVAL, "bind/no-way");
	assert_put_refused(pair, O2_REG_FASTREG_GAPS, -EINVAL, "bind/no-way");
	pair_close(pair);

	pair = faulty_pair_open(fastreg_always);
	assert_int_equal(put_by_policy(pair, 3000)->status, 0);
	assert_int_equal(faults.frd_maps, 1);
	assert_int_equal(ni_pool_counts(&pair->b, O2_NI_POOL_FRD_GAPS).version, 1);
	assert_put_refused(pair, O2_REG_FMR, -EINVAL, "bind/no-way");
	assert_put_refused(pair, O2_REG_GLOBAL, -EINVAL, "bind/no-way");
	assert_put_moved(pair, O2_REG_PHYS); /* phys needs no pool, and is never chosen by the policy */
	pair_close(pair);

	pair = faulty_pair_open(nothing_at_all);
	result = put_by_policy(pair, 3000);
	assert_int_equal(result->status, -ENOSYS);
	assert_string_equal(result->fault.error.rule, "choose/no-way-to-register");
	pair_close(pair);
}
