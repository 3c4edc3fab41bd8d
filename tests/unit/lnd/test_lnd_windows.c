/* SPDX-License-Identifier: MIT */
#include "tests/unit/lnd/lnd_talks.h"

/* Wrap these calls: if they find no window, another user of the interface then releases a binding. */
int __real_o2_reg_bind(struct o2_reg_domain *domain, uint32_t cpt, const struct o2_reg_plan *plan,
		       struct o2_binding *binding, struct o2_error *error);
int __wrap_o2_reg_bind(struct o2_reg_domain *domain, uint32_t cpt, const struct o2_reg_plan *plan,
		       struct o2_binding *binding, struct o2_error *error);
bool __real_o2_reg_window_free(struct o2_reg_domain *domain);
bool __wrap_o2_reg_window_free(struct o2_reg_domain *domain);

static struct pair *releases; /* the pair that releases its bindings; NULL: none */

static void release_now(void)
{
	struct pair *pair = releases;

	releases = NULL;
	if (pair != NULL)
		quiet(pair);
}

int __wrap_o2_reg_bind(struct o2_reg_domain *domain, uint32_t cpt, const struct o2_reg_plan *plan,
		       struct o2_binding *binding, struct o2_error *error)
{
	int rc = __real_o2_reg_bind(domain, cpt, plan, binding, error);

	if (rc == -ENOBUFS)
		release_now();
	return rc;
}

bool __wrap_o2_reg_window_free(struct o2_reg_domain *domain)
{
	bool has = __real_o2_reg_window_free(domain);

	if (!has)
		release_now();
	return has;
}

/* A window released while another bind is being refused is noticed, also if it was the last binding. */
TEST(sees_what_is_released_meanwhile)
{
	for (int last = 0; last < 2; last++) {
		/* One of the windows is reserved for the other side. */
		struct pair *pair = pair_with_windows(last ? 2 : 3, 0);
		struct pair *second = second_of(pair);

		put_from(pair, O2_REG_PHYS, 0);
		if (!last)
			put_from(second, O2_REG_PHYS, 0);
		releases = pair;
		put_from(second, O2_REG_PHYS, last ? 0 : 1);
		assert_null(releases);
		assert_ended(&pair->a, 1);
		assert_true(o2_conn_progress(second->a.conn) > 0);
		assert_int_equal(view_of(&second->a).queued_window, 0);
		quiet(second);
		assert_ended(&second->a, last ? 1 : 2);
		close_both(pair, second);
	}
}

/* During progress on second, the pair, one of whose sides shares the interface, releases its bindings. */
static void progress_released(struct pair *pair, struct side *shared, struct side *second)
{
	shared->ni.domain.unbinds++;
	releases = pair;
	assert_int_equal(o2_conn_progress(second->conn), 1);
	assert_null(releases);
}

/* The same for an operation that already waits: it tries again, at first without success. */
TEST(sees_it_when_it_waits)
{
	struct pair *pair = pair_with_windows(FEW, 0);
	struct pair *second = second_of(pair);

	put_from(pair, O2_REG_PHYS, 0);
	put_from(second, O2_REG_PHYS, 0);
	assert_int_equal(view_of(&second->a).queued_window, 1);
	progress_released(pair, &pair->a, &second->a);
	quiet(second);
	assert_ended(&pair->a, 1);
	assert_ended(&second->a, 1);
	close_both(pair, second);
}

/* The same for a request that is parked. */
TEST(sees_it_when_it_is_parked)
{
	struct pair *pair = pair_with_windows(0, FEW);
	struct pair *second = second_of(pair);

	put_from(pair, O2_REG_PHYS, 0);
	deliver(&pair->b, NULL, 0);
	put_from(second, O2_REG_PHYS, 0);
	put_from(second, O2_REG_PHYS, 1);
	deliver(&second->b, NULL, 0);
	assert_true(view_of(&second->b).parked_for_window);
	assert_int_equal(second->b.nmatched, 1);
	/* The retry fails, and happens once: a loop may sleep until the next window is released. */
	pair->b.ni.domain.unbinds++;
	assert_int_equal(o2_conn_progress(second->b.conn), 1);
	assert_int_equal(o2_conn_progress(second->b.conn), 0);
	progress_released(pair, &pair->b, &second->b);
	assert_int_equal(o2_conn_progress(second->b.conn), 1);
	assert_int_equal(second->b.nmatched, 2);
	quiet(second);
	assert_ended(&pair->a, 1);
	assert_ended(&second->a, 2);
	close_both(pair, second);
}

/* Uses all windows of side b, so that a request over the second connection is parked. */
static void park_one(struct pair *pair, struct pair *second)
{
	put_from(pair, O2_REG_PHYS, 0);
	put_from(pair, O2_REG_PHYS, 1);
	deliver(&pair->b, NULL, 0);
	put_from(second, O2_REG_PHYS, 0);
	deliver(&second->b, NULL, 0);
	assert_true(view_of(&second->b).parked_for_window);
}

/*
 * While all transmits for requests are in use, a request waiting for a window is no work: a loop may sleep.
 */
TEST(does_not_look_without_a_transmit)
{
	struct pair *pair = pair_with_windows(0, FEW);
	struct pair *second = second_of(pair);
	uint32_t most;

	park_one(pair, second);
	quiet(pair);
	most = second->b.conn->most[O2_TX_PEERS];
	second->b.conn->most[O2_TX_PEERS] = second->b.conn->ntaken[O2_TX_PEERS];
	assert_int_equal(o2_conn_progress(second->b.conn), 0);
	assert_int_equal(second->b.nmatched, 0);
	second->b.conn->most[O2_TX_PEERS] = most;
	assert_int_equal(o2_conn_progress(second->b.conn), 1);
	quiet(second);
	assert_ended(&second->a, 1);
	close_both(pair, second);
}

/* The other side has too few windows: requests wait in their receives, are matched once, credits balance. */
TEST(parks_for_windows)
{
	struct pair *pair = pair_with_windows(0, FEW);

	for (uint32_t i = 0; i < MANY; i++)
		put_from(pair, O2_REG_PHYS, i);
	deliver(&pair->b, NULL, 0);
	assert_int_equal(pair->b.nmatched, FEW);
	assert_true(view_of(&pair->b).parked_for_window);
	assert_int_equal(view_of(&pair->b).parked, MANY - FEW);
	quiet(pair);
	assert_ended(&pair->a, MANY);
	assert_int_equal(pair->b.nmatched, MANY);
	assert_false(view_of(&pair->b).parked_for_window);
	pair_close_settled(pair);
}

/* Both sides start as many operations as they can: the reserved windows let the answers through. */
TEST(waits_on_both_sides)
{
	struct pair *pair = pair_with_windows(FEW, FEW);
	const struct o2_transfer_memory memory = window_memory(1, O2_REG_PHYS, 0);

	pair->a.answer = window_memory(0, O2_REG_PHYS, 0);
	for (uint32_t i = 0; i < MANY; i++) {
		put_from(pair, O2_REG_PHYS, 0);
		start_op(pair->b.conn, i % 2 ? O2_OP_GET : O2_OP_PUT, &memory, NULL);
	}
	quiet(pair);
	assert_int_equal(pair->a.nresults, 2 * MANY);
	assert_int_equal(pair->b.nresults, 2 * MANY);
	for (uint32_t i = 0; i < 2 * MANY; i++)
		assert_int_equal(pair->a.result[i].status | pair->b.result[i].status, 0);
	pair_close_settled(pair);
}

/* A parked request is served once another connection has released windows. */
TEST(is_unparked_by_another_connection)
{
	struct pair *pair = pair_with_windows(0, FEW);
	struct pair *second = second_of(pair);

	park_one(pair, second);
	assert_int_equal(o2_conn_progress(second->b.conn), 0);
	quiet(pair);
	assert_ended(&pair->a, 2);
	assert_int_equal(second->b.nmatched, 0);
	assert_int_equal(o2_conn_progress(second->b.conn), 1);
	assert_int_equal(second->b.nmatched, 1);
	quiet(second);
	assert_ended(&second->a, 1);
	close_both(pair, second);
}

static void assert_one_late(const struct pair *pair, enum o2_wait wait, enum o2_health health)
{
	assert_closed(&pair->a, O2_FAULT_DEADLINE, -ETIMEDOUT);
	assert_int_equal(pair->a.nresults, 1);
	assert_int_equal(pair->a.result[0].status, -ETIMEDOUT);
	assert_int_equal(pair->a.result[0].fault.wait, wait);
	assert_int_equal(pair->a.result[0].health, health);
}

/* The deadline runs while an operation waits, and is not extended when it is mapped. */
TEST(is_late_while_it_waits)
{
	for (int mapped = 0; mapped < 2; mapped++) {
		struct pair *pair = pair_with_windows(FEW, 0);
		struct pair *second = second_of(pair);

		put_from(pair, O2_REG_PHYS, 0);
		put_from(second, O2_REG_PHYS, 0);
		o2_conn_clock(second->a.conn, 40000);
		if (mapped) {
			quiet(pair);
			assert_int_equal(o2_conn_progress(second->a.conn), 1);
			deliver(&second->a, NULL, 0);
		}
		o2_conn_clock(second->a.conn, 49999);
		assert_int_equal(o2_conn_get_state(second->a.conn), O2_CONN_ESTABLISHED);
		o2_conn_clock(second->a.conn, 50000);
		assert_one_late(second, mapped ? O2_WAIT_PUT_ACK : O2_WAIT_WINDOW,
				mapped ? O2_HEALTH_REMOTE_TIMEOUT : O2_HEALTH_LOCAL_TIMEOUT);
		close_both(pair, second);
	}
}

/* The connection closes while an operation waits; and an operation cannot be mapped when its turn comes. */
TEST(fails_after_it_has_waited)
{
	for (int closed = 0; closed < 2; closed++) {
		struct pair *pair = pair_with_windows(FEW, 0);
		struct pair *second = second_of(pair);

		put_from(pair, O2_REG_PHYS, 0);
		put_from(second, O2_REG_PHYS, 7);
		talk_kiov[0][1].page = PAIR_PAGES; /* a page beyond the arena */
		quiet(pair);
		if (closed)
			o2_conn_close(second->a.conn, -ESHUTDOWN);
		else
			assert_int_equal(o2_conn_progress(second->a.conn), 1);
		assert_int_equal(second->a.nresults, 1);
		assert_int_equal(second->a.result[0].tag, 7);
		assert_int_equal(second->a.result[0].fault.side,
				 closed ? O2_FAULT_CLOSED : O2_FAULT_LOCAL_STAGE);
		assert_true(second->a.result[0].status < 0);
		assert_int_equal(second->a.conn->nopen, 0);
		close_both(pair, second);
	}
}

/* If no binding exists, none will be released: the operation fails instead of waiting forever. */
TEST(does_not_wait_in_vain)
{
	struct pair *pair = pair_with_windows(FEW, FEW);
	struct o2_transfer_memory memory = window_memory(0, O2_REG_PHYS, 0);
	struct o2_arena_window lost[2][FEW];
	uint32_t pages[2] = {5, 5};
	struct o2_error error;

	for (uint32_t i = 0; i < FEW; i++) {
		assert_int_equal(o2_arena_window_open(&pair->b.ni.arena, pages, 2, &lost[1][i], NULL), 0);
		assert_int_equal(o2_arena_window_open(&pair->a.ni.arena, pages, 2, &lost[0][i], NULL), 0);
	}
	assert_error(start_put(pair->a.conn, &memory, 0, NULL, &error), -ENOBUFS, &error,
		     "arena/window/all-in-use");
	assert_true(error.value == FEW + 1 && error.limit == FEW);
	o2_arena_window_close(&pair->a.ni.arena, &lost[0][0]);
	put_from(pair, O2_REG_PHYS, 0);
	quiet(pair);
	assert_int_equal(pair->a.nresults, 1);
	assert_int_equal(pair->a.result[0].status, -ENOBUFS);
	o2_arena_window_close(&pair->a.ni.arena, &lost[0][1]);
	for (uint32_t i = 0; i < FEW; i++)
		o2_arena_window_close(&pair->b.ni.arena, &lost[1][i]);
	pair_close_settled(pair);
}

/* An interface has 2 to O2_ARENA_WINDOWS windows. */
TEST(has_so_many_windows)
{
	static const uint32_t refused[] = {1, O2_ARENA_WINDOWS + 1};
	struct o2_ni_config config = side_config(true, O2_DMA_BUS, 0);
	struct o2_error error;
	struct o2_ni ni;

	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		config.windows = refused[i];
		assert_error(o2_ni_open(&config, &ni, &error), -EINVAL, &error, "ni/windows");
		assert_int_equal(error.value, refused[i]);
		assert_int_equal(error.limit, i == 0 ? 2 : O2_ARENA_WINDOWS);
	}
	config.windows = 0;
	assert_int_equal(o2_ni_open(&config, &ni, &error), 0);
	assert_int_equal(ni.arena.nwindows, O2_ARENA_WINDOWS);
	o2_ni_close(&ni);
}

/* An arena without views that scatter pages cannot simulate an IOMMU. */
TEST(has_a_plain_arena)
{
	struct o2_ni_config config = side_config(true, O2_DMA_IOMMU, 0);
	struct o2_error error;
	struct o2_ni ni;

	config.plain_arena = true;
	assert_error(o2_ni_open(&config, &ni, &error), -EINVAL, &error, "bind/no-iommu-view");
	config.dma_kind = O2_DMA_BUS;
	assert_int_equal(o2_ni_open(&config, &ni, &error), 0);
	assert_int_equal(ni.arena.nviews, 1);
	assert_int_equal(o2_ni_set_dma(&ni, O2_DMA_IOMMU, 0, &error), -EINVAL);
	assert_int_equal(o2_ni_set_dma(&ni, O2_DMA_VIRTUAL, 0, &error), 0);
	o2_ni_close(&ni);
}

/* Of the elements of capped pools a quarter, rounded up, is kept for requests of b, but no more than of windows. */
TEST(keeps_a_quarter_of_the_elements)
{
	static const struct {
		uint32_t elements, windows, ours;
	} rows[] = {{1, 0, 1}, {2, 0, 1}, {8, 0, 6}, {5, 0, 3}, {8, 2, 7}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct o2_ni_config a = side_config(true, O2_DMA_BUS, 0),
				    b = side_config(false, O2_DMA_BUS, 0);
		struct pair *pair;

		a.max_pools = 1;
		a.sizes = (struct o2_pool_sizes){.tx_size = 64, .reg_size = rows[i].elements};
		a.windows = rows[i].windows;
		pair = pair_open_ni(&a, &b, &O2_CONN_DEFAULTS, &O2_CONN_DEFAULTS);
		pair->b.answer = window_memory(1, O2_REG_GLOBAL, 0);
		for (uint32_t n = 0; n < rows[i].elements; n++)
			put_from(pair, O2_REG_GLOBAL, n);
		assert_int_equal(pair->a.ni.domain.nbound, rows[i].ours);
		assert_int_equal(view_of(&pair->a).queued_window, rows[i].elements - rows[i].ours);
		quiet(pair);
		assert_ended(&pair->a, rows[i].elements);
		pair_close_settled(pair);
	}
}

/* The same of transmits: two nodes that start as many operations as they can still answer each other. */
static void keep_a_quarter_of_transmits(uint32_t pools, uint32_t of_each)
{
	struct o2_ni_config config[2] = {side_config(true, O2_DMA_BUS, 0), side_config(false, O2_DMA_BUS, 0)};
	struct pair *pair;
	struct o2_error error;

	for (uint32_t i = 0; i < 2; i++) {
		config[i].max_pools = pools;
		config[i].sizes = (struct o2_pool_sizes){.tx_size = of_each, .reg_size = 64};
	}
	pair = pair_open_ni(&config[0], &config[1], &O2_CONN_DEFAULTS, &O2_CONN_DEFAULTS);
	pair->a.answer = pair->b.answer = window_memory(1, O2_REG_GLOBAL, 0);
	for (uint32_t i = 0; i < 2; i++) {
		struct side *side = i == 0 ? &pair->a : &pair->b;
		const struct o2_transfer_memory memory = window_memory(0, O2_REG_GLOBAL, 0);

		for (uint32_t n = 0; n < 6; n++)
			assert_int_equal(start_put(side->conn, &memory, 0, NULL, NULL), 0);
		assert_error(start_put(side->conn, &memory, 0, NULL, &error), -EBUSY, &error, "pool/cap");
	}
	quiet(pair);
	assert_int_equal(pair->a.nresults, 12);
	assert_int_equal(pair->b.nresults, 12);
	pair_close_settled(pair);
}

TEST(keeps_a_quarter_of_the_transmits)
{
	keep_a_quarter_of_transmits(1, 8);
	keep_a_quarter_of_transmits(2, 4);
}

/* A window that only a kept region uses counts as free: nothing else would release it. */
TEST(kept_regions_give_up_their_windows)
{
	const struct o2_transfer_memory from = dense(kiov_from, 0, 9000, O2_REG_GLOBAL);
	struct pair *pair = pair_with_windows(0, 2);
	struct o2_reg_domain *domain = &pair->b.ni.domain;

	domain->fmr_lazy = true;
	for (uint32_t i = 0; i < 2; i++) {
		pair->b.answer = dense(kiov_to, 300 + 4 * i, 9000, O2_REG_FMR);
		assert_int_equal(start_put(pair->a.conn, &from, 0, NULL, NULL), 0);
		pair_run(pair, i + 1, i + 1);
	}
	assert_int_equal(pair->b.ni.arena.windows_in_use, 2);
	assert_true(o2_reg_window_free(domain));
	assert_int_equal(domain->live.fmr_regions, 0);

	/* One is enough, while memory that is in use has the other window. */
	pair->b.answer = dense(kiov_to, 300, 9000, O2_REG_FMR);
	assert_int_equal(start_put(pair->a.conn, &from, 0, NULL, NULL), 0);
	pair_run(pair, 3, 3);
	pair->b.answer = dense(kiov_to, 304, 9000, O2_REG_PHYS);
	assert_int_equal(start_put(pair->a.conn, &from, 0, NULL, NULL), 0);
	side_run_until(&pair->b, &pair->b.nmatched, 4);
	assert_int_equal(pair->b.ni.arena.windows_in_use, 2);
	assert_int_equal(domain->live.fmr_regions, 1);
	assert_true(o2_reg_window_free(domain));
	assert_int_equal(domain->live.fmr_regions, 0);
	pair_run(pair, 4, 4);
	pair_close(pair);
}
