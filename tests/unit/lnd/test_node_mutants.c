/* SPDX-License-Identifier: MIT */
/*
 * The deliberate defects in how connections are made (tests/mutants/connections.toml): for each a meeting of
 * two nodes that goes well without it and does not with it.
 */
#include "tests/lib/node_world.h"

#include "props/engine/mutant.h"
#include "tests/mutants/mutant.h"

/* Two nodes of different depths come to terms with two requests. */
static bool terms_kept(void)
{
	struct o2_node_config deep = small_config();
	struct world *world;
	bool well;

	deep.conn.queue_depth = 16;
	world = world_two(&deep, NULL);
	world_put(world, &world->seat[0], NID(1));
	well = world->seat[0].nended == 1 && world->seat[0].status[0] == 0 &&
	       world->nsent[O2_CM_LOOP_REQUEST] == 2;
	world_close(world);
	return well;
}

/* A sink in 64 fragments, where 257 may be used. */
static bool fragments_kept(void)
{
	struct world *world = world_two(NULL, NULL);
	bool well;

	world_answer(world, 64 * 4096, O2_REG_GLOBAL);
	seat_start_op(&world->seat[0], NID(1), O2_LNET_GET, 64 * 4096, O2_REG_GLOBAL, NULL);
	world_settle(world);
	well = world->seat[0].nended == 1 && world->seat[0].status[0] == 0;
	world->seat[0].nstarted = world->seat[0].nended;
	world_close(world);
	return well;
}

/* Every operation that was started ends. */
static bool waiting_kept(void)
{
	struct world *world = world_broken_at_once();
	bool well;

	world_pass(world, 60000);
	well = world->seat[0].nended == 1 && world->seat[1].nended == 1;
	world->seat[1].nstarted = world->seat[1].nended;
	world_close(world);
	return well;
}

/* Pools that a burst has made are gone after 300 s, when the set is used once more. */
static bool idle_pools_unmade(void)
{
	struct world *world = world_two(NULL, NULL);
	struct o2_ni_counts counts;
	bool grown;

	world_answer(world, 9000, O2_REG_GLOBAL);
	seat_start_op(&world->seat[0], NID(1), O2_LNET_PUT, 9000, O2_REG_FASTREG, NULL);
	world_settle(world);
	for (uint32_t i = 0; i < 6; i++)
		seat_start_op(&world->seat[0], NID(1), O2_LNET_PUT, 9000, O2_REG_FASTREG, NULL);
	o2_ni_get_counts(&world->seat[0].side.ni, &counts);
	grown = counts.pool[O2_NI_POOL_FRD].live == 3;
	world_pass(world, 300000);
	seat_start_op(&world->seat[0], NID(1), O2_LNET_PUT, 9000, O2_REG_FASTREG, NULL);
	world_settle(world);
	o2_ni_get_counts(&world->seat[0].side.ni, &counts);
	world_assert_ended(world);
	world_close(world);
	return grown && counts.pool[O2_NI_POOL_FRD].live == 1;
}

static void killed_by(const char *name, bool (*meeting)(void))
{
	struct o2_mutant_counts before = *o2_mutant_counts;

	assert_int_equal(o2_mutant_select("none"), 0);
	assert_true(meeting());
	assert_int_equal(o2_mutant_select(name), 0);
	assert_false(meeting());
	assert_true(o2_mutant_counts->reached > before.reached);
	assert_true(o2_mutant_counts->triggered > before.triggered);
	assert_int_equal(o2_mutant_select("none"), 0);
}

static void forget_negotiated(void **state)
{
	killed_by("forget-negotiated", terms_kept);
}

static void offer_tunable(void **state)
{
	killed_by("offer-tunable", fragments_kept);
}

static void waiting_left(void **state)
{
	killed_by("waiting-left", waiting_kept);
}

static void pool_clock_stands(void **state)
{
	killed_by("pool-clock-stands", idle_pools_unmade);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(forget_negotiated),
		cmocka_unit_test(offer_tunable),
		cmocka_unit_test(waiting_left),
		cmocka_unit_test(pool_clock_stands),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
