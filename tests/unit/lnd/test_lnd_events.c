/* SPDX-License-Identifier: MIT */
#include "loopverbs/loopverbs.h"
#include "tests/lib/draw.h"
#include "tests/lib/node_world.h"

/*
 * Loops that sleep (docs/transport.md, "Sleeping").  The owner of a node calls it only when its descriptor is
 * readable, or when another of its events has occurred; the device works at random times.
 *
 *   test_lnd_events [SEED [RUNS]]
 */

#define STEPS	       600u
#define OPERATIONS     60u
#define STEPS_TO_END   20000u
#define CLOCK_EVERY_MS 250u
#define MS_TO_END      120000u

/* Returns the number of completions that the node has not polled. */
static uint32_t unseen(const struct world *world, const struct seat *seat)
{
	uint32_t count = 0;

	for (uint32_t peer = 0; peer < world->nseats; peer++) {
		struct o2_conn *conn;

		for (uint32_t i = 0; (conn = o2_node_conn(seat->node, NID(peer), i)) != NULL; i++)
			count += o2_loop_cq_entries(o2_conn_cq(conn));
	}
	return count;
}

struct sleepers {
	struct world *world;
	bool asleep[SEATS];
	uint32_t wakes, slept, waited;
};

/* One round of a node's loop. */
static void round_of(struct sleepers *sleepers, uint32_t i)
{
	struct seat *seat = &sleepers->world->seat[i];
	int rc;

	o2_node_progress(seat->node);
	rc = o2_node_arm(seat->node);
	assert_true(rc >= 0);
	sleepers->asleep[i] = rc == 0;
	sleepers->slept += rc == 0;
}

/* A node that sleeps while a completion is in its queue must have a readable descriptor. */
static void check(const struct sleepers *sleepers)
{
	for (uint32_t i = 0; i < sleepers->world->nseats; i++) {
		const struct seat *seat = &sleepers->world->seat[i];

		if (sleepers->asleep[i] && unseen(sleepers->world, seat) > 0)
			assert_true(seat_readable(seat));
	}
}

static bool wake(struct sleepers *sleepers, uint32_t i)
{
	if (sleepers->asleep[i] && !seat_readable(&sleepers->world->seat[i]))
		return false;
	sleepers->wakes += sleepers->asleep[i];
	round_of(sleepers, i);
	return true;
}

/* The loop does not tell which node the event was for, so all nodes wake up. */
static bool deliver(struct sleepers *sleepers, size_t which)
{
	if (!o2_cm_loop_deliver(sleepers->world->loop, which))
		return false;
	memset(sleepers->asleep, 0, sizeof(sleepers->asleep));
	return true;
}

static void random_step(struct sleepers *sleepers)
{
	struct world *world = sleepers->world;
	uint32_t i = draw(world->nseats), j = (i + 1 + draw(world->nseats - 1)) % world->nseats;
	struct seat *seat = &world->seat[i];

	switch (draw(10)) {
	case 0:
		if (seat->nstarted < OPERATIONS)
			seat_start_op(seat, NID(j), draw(2) ? O2_LNET_PUT : O2_LNET_GET, 100 + draw(4900),
				      (enum o2_reg_mode)draw(3), NULL);
		sleepers->asleep[i] = false;
		break;
	case 1:
		if (draw(16) == 0) {
			o2_node_close_peer(seat->node, NID(j), 0);
			sleepers->asleep[i] = false;
		}
		break;
	case 2:
	case 3:
		o2_loop_progress();
		break;
	case 4:
		deliver(sleepers, draw(2));
		break;
	default:
		wake(sleepers, i);
		break;
	}
	check(sleepers);
}

static int random_pick(void *context, const uint32_t *qp_nums, unsigned int count)
{
	return (int)draw(count + 1) - 1;
}

static bool has_open(const struct world *world)
{
	for (uint32_t i = 0; i < world->nseats; i++)
		if (world->seat[i].nended != world->seat[i].nstarted)
			return true;
	return false;
}

/* Runs until the device and the network are idle and all nodes sleep. */
static void settle(struct sleepers *sleepers)
{
	uint32_t steps = 0;
	bool any = true;

	while (any) {
		any = o2_loop_progress() || o2_loop_tick();
		any |= deliver(sleepers, 0);
		for (uint32_t i = 0; i < sleepers->world->nseats; i++)
			any |= wake(sleepers, i);
		check(sleepers);
		assert_true(++steps < STEPS_TO_END);
	}
}

/*
 * Starts nothing new and waits until everything has ended.  Most operations end at once.  Only attempts that
 * wait for their turn need time, and messages to a peer that closed before its connection was up.
 */
static void finish(struct sleepers *sleepers)
{
	settle(sleepers);
	for (uint32_t ms = 0; has_open(sleepers->world); ms += CLOCK_EVERY_MS) {
		assert_true(ms < MS_TO_END);
		sleepers->waited += ms == 0;
		world_clock(sleepers->world, CLOCK_EVERY_MS);
		memset(sleepers->asleep, 0, sizeof(sleepers->asleep));
		settle(sleepers);
	}
	world_assert_ended(sleepers->world);
}

/* Runs one round of each node at each clock tick, and asserts that it finds nothing to do. */
static void stay_asleep(struct sleepers *sleepers)
{
	for (uint32_t tick = 0; tick < 8; tick++) {
		world_clock(sleepers->world, CLOCK_EVERY_MS);
		for (uint32_t i = 0; i < sleepers->world->nseats; i++) {
			round_of(sleepers, i);
			assert_true(sleepers->asleep[i]);
			assert_int_equal(seat_readable(&sleepers->world->seat[i]), false);
		}
	}
}

static void run_at_random(uint64_t seed, struct sleepers *sleepers)
{
	struct o2_node_config config = small_config();
	const struct o2_node_config *const configs[SEATS] = {&config, &config, &config};
	uint32_t nstarted = 0;

	draw_from(seed);
	config.conns_per_peer = 1 + draw(3);
	side_events = true;
	sleepers->world = world_open(2 + draw(2), configs);
	side_events = false;
	world_answer(sleepers->world, 100, O2_REG_GLOBAL);
	memset(sleepers->asleep, 0, sizeof(sleepers->asleep));
	o2_loop_set_pick(random_pick, NULL);
	for (uint32_t step = 0; step < STEPS; step++)
		random_step(sleepers);
	o2_loop_set_pick(NULL, NULL);
	finish(sleepers);
	stay_asleep(sleepers);
	for (uint32_t i = 0; i < sleepers->world->nseats; i++)
		nstarted += sleepers->world->seat[i].nstarted;
	assert_true(nstarted > 10);
	world_close(sleepers->world);
}

static uint64_t first_seed = 1, runs = 100, seed_at_hand;

static int tell_seed(void **state)
{
	o2_loop_set_pick(NULL, NULL);
	if (seed_at_hand != 0)
		print_message("again: test_lnd_events %llu 1\n", (unsigned long long)seed_at_hand);
	return 0;
}

TEST_WITH(sleeps_and_wakes, NULL, tell_seed)
{
	struct sleepers sleepers = {0};

	for (uint64_t i = 0; i < runs; i++) {
		seed_at_hand = first_seed + i;
		run_at_random(seed_at_hand, &sleepers);
	}
	seed_at_hand = 0;
	print_message("%u rounds ended in sleep, %u wakes; %u runs needed time\n", sleepers.slept,
		      sleepers.wakes, sleepers.waited);
	assert_true(sleepers.wakes >= 10 * runs);
	assert_true(sleepers.waited <= 1 + runs / 20);
}

int main(int argc, char **argv)
{
	tests_take_numbers(argc, argv, &first_seed, &runs);
	return tests_run();
}
