/* SPDX-License-Identifier: MIT */
/*
 * Nodes that ask each other at the same time, with both rankings and with different rankings; and nodes that
 * act at random, over a network that delivers in any order and loses messages at random.
 */
#include "tests/lib/draw.h"
#include "tests/lib/node_world.h"

#include <inttypes.h>

/* Makes both nodes send a request before either receives one. */
static struct world *race(const struct o2_node_config *a, const struct o2_node_config *b, uint64_t nid_a,
			  uint64_t nid_b)
{
	struct world *world = world_two(a, b);
	const uint64_t nids[] = {nid_a, nid_b};

	for (uint32_t i = 0; i < 2; i++) {
		struct seat *seat = &world->seat[i];

		/* The network knows only addresses, so give each node the address of its NID. */
		o2_node_destroy(seat->node);
		o2_cm_loop_detach(seat->cm);
		seat->side.ni.config.nid = nids[i];
		assert_int_equal(
			o2_cm_loop_attach(world->loop, &seat->side.ni, (uint32_t)nids[i], &seat->cm, NULL),
			0);
		seat_start(seat);
		o2_node_clock(seat->node, world->now_ms);
	}
	seat_put(&world->seat[0], nid_b);
	seat_put(&world->seat[1], nid_a);
	world_progress(world);
	return world;
}

static void assert_both_served(const struct world *world)
{
	for (uint32_t i = 0; i < 2; i++) {
		assert_int_equal(world->seat[i].nended, 1);
		assert_int_equal(world->seat[i].status[0], 0);
	}
}

/* The lower node's request is refused; the higher node's connection serves both, even at a limit of one. */
TEST(one_wins)
{
	/* As a number the first NID is lower; with its bytes swapped the second is. */
	static const uint64_t nids[] = {0x000500000a4d0102, 0x000500000a4d0201};

	for (uint32_t i = 0; i < 16; i++) {
		struct o2_node_config config = small_config();
		bool by_nid = i & 1, first_is_a = i & 2, other_order = i & 4;
		bool a_wins = by_nid ? !first_is_a : first_is_a;
		uint64_t nid_a = nids[first_is_a ? 0 : 1], nid_b = nids[first_is_a ? 1 : 0];
		struct o2_peer_view view;
		struct world *world;

		config.ranking = by_nid ? O2_RACE_BY_NID : O2_RACE_BY_WORDS;
		if (i & 8)
			config.max_conns_per_peer = 1;
		world = race(&config, &config, nid_a, nid_b);
		assert_int_equal(o2_cm_loop_choices(world->loop), 2);
		o2_cm_loop_deliver(world->loop, other_order ? 1 : 0);
		world_settle(world);
		assert_both_served(world);
		assert_int_equal(world->nsent[O2_CM_LOOP_REQUEST], 2);
		assert_int_equal(world->nsent[O2_CM_LOOP_REJECT], 1);
		o2_node_peer(world->seat[0].node, nid_b, &view);
		assert_int_equal(view.links, 1);
		/* Only the loser's attempt fails. */
		assert_int_equal(world->seat[0].ndown, a_wins ? 0 : 1);
		assert_int_equal(world->seat[1].ndown, a_wins ? 1 : 0);
		world_close(world);
	}
}

/* A race of two nodes that rank each other by different rules. */
static struct world *race_ranked(enum o2_race_ranking a_ranks, enum o2_race_ranking b_ranks)
{
	struct o2_node_config a = small_config(), b = small_config();

	a.ranking = a_ranks;
	b.ranking = b_ranks;
	return race(&a, &b, 0x000500000a4d0102, 0x000500000a4d0201);
}

/* Each node takes itself for the lower one: both accept, and there are two connections. */
TEST(both_give_way)
{
	struct world *world = race_ranked(O2_RACE_BY_NID, O2_RACE_BY_WORDS);

	world_settle(world);
	assert_both_served(world);
	assert_int_equal(world->nsent[O2_CM_LOOP_REJECT], 0);
	world_close(world);
}

/* Each node takes itself for the higher one: both refuse and ask again, up to O2_MAX_CONN_RACES times. */
TEST(nobody_gives_way)
{
	struct world *world = race_ranked(O2_RACE_BY_WORDS, O2_RACE_BY_NID);

	/* Ten attempts follow at once, then one each second. */
	world_pass(world, 15000);
	assert_both_served(world);
	assert_uint_in_range(world->nsent[O2_CM_LOOP_REJECT], 20, 2 * O2_MAX_CONN_RACES + 2);
	world_close(world);
}

/* The winner's own request is lost: the loser asks again and is served. */
TEST(winner_lost)
{
	struct world *world = race(NULL, NULL, 0x000500000a4d0001, 0x000500000a4d0002);

	/* Both requests are sent; that of the second node, which would win, is lost. */
	assert_int_equal(o2_cm_loop_choices(world->loop), 2);
	world->fate[O2_CM_LOOP_REQUEST] = O2_CM_LOOP_LOSE;
	o2_cm_loop_deliver(world->loop, 1);
	world->fate[O2_CM_LOOP_REQUEST] = O2_CM_LOOP_PASS;
	world_pass(world, 40000);
	assert_both_served(world);
	world_close(world);
}

/* Two connections are wanted; between them the peer restarts.  What ends with the first one closes the peer. */
TEST(closed_as_the_second_one_comes_up)
{
	struct o2_node_config two = small_config();
	struct world *world;
	struct seat *a, *b;

	two.conns_per_peer = 2;
	world = world_two(&two, NULL);
	a = &world->seat[0];
	b = &world->seat[1];
	seat_put(a, NID(1));
	o2_node_work(a->node);
	assert_int_equal(peer_view(a, NID(1)).connecting, 2);
	assert_true(o2_cm_loop_deliver(world->loop, 0));
	assert_true(o2_cm_loop_deliver(world->loop, 1));
	assert_true(o2_cm_loop_deliver(world->loop, 1));
	assert_int_equal(a->nup, 1);
	assert_int_equal(b->nup, 1);
	world->fate[O2_CM_LOOP_DISCONNECT] = O2_CM_LOOP_LOSE; /* a does not notice the end */
	o2_node_destroy(b->node);
	while (o2_cm_loop_choices(world->loop) > 1)
		assert_true(o2_cm_loop_deliver(world->loop, 1));
	world->fate[O2_CM_LOOP_DISCONNECT] = O2_CM_LOOP_PASS;
	b->side.ni.config.incarnation += 77;
	seat_start(b);
	o2_node_clock(b->node, world->now_ms);
	assert_int_equal(a->nended, 0);
	a->closes = NID(1);
	world_settle(world);
	assert_int_equal(a->closes, 0);
	assert_int_equal(a->nended, 1);
	assert_int_equal(a->status[0], -ECONNABORTED);
	assert_int_equal(a->nup, 1);
	assert_linked(world, 0, 1, 0);
	world_close(world);
}

/* Each attempt ends or begins in time, but what waits for one of them does not wait longer than 15 s. */
TEST(waiting_ends_while_attempts_go_on)
{
	struct world *world = world_that_never_connects();
	const struct o2_transfer_fault *fault = &world->seat[0].fault[0];

	world_pass(world, 14500);
	assert_int_equal(world->nsent[O2_CM_LOOP_REJECT], O2_MAX_CONN_RACES);
	assert_int_equal(world->seat[0].nended, 0);
	world_pass(world, 600);
	assert_int_equal(world->seat[0].nended, 1);
	assert_int_equal(world->seat[0].status[0], -ETIMEDOUT);
	assert_int_equal(fault->side, O2_FAULT_DEADLINE);
	assert_string_equal(fault->error.rule, "node/waiting");
	assert_int_equal(fault->error.limit, 15000);
	assert_uint_in_range(fault->error.value, 15000, 15100);
	world_pass(world, 40000);
	world_close(world);
}

/* --- at random --- */

#define RUNS  60u
#define STEPS 400u

static enum o2_cm_loop_fate random_fate(void *arg, enum o2_cm_loop_message message, uint32_t from,
					uint32_t to)
{
	uint32_t dice = draw(24);

	if (dice == 0)
		return O2_CM_LOOP_LOSE;
	if (dice == 1 && message != O2_CM_LOOP_DISCONNECT)
		return O2_CM_LOOP_UNREACHABLE;
	if (dice == 2 && message == O2_CM_LOOP_REQUEST)
		return draw(2) ? O2_CM_LOOP_REFUSE : O2_CM_LOOP_UNRESOLVED;
	return O2_CM_LOOP_PASS;
}

static struct o2_node_config random_config(void)
{
	static const uint32_t depths[] = {2, 8, 16};
	struct o2_node_config config = small_config();

	config.conn.queue_depth = depths[draw(3)];
	config.conn.max_frags = draw(4) == 0 ? 256 : 257;
	config.conn.version = draw(6) == 0 ? 0x11 : 0x12;
	config.conn.order = draw(4) == 0 ? O2_BIG_ENDIAN : O2_LITTLE_ENDIAN;
	config.ranking = draw(3) == 0 ? O2_RACE_BY_NID : O2_RACE_BY_WORDS;
	config.conns_per_peer = 1 + draw(3);
	config.max_conns_per_peer = 3 + draw(4);
	config.max_waiting = 1 + draw(20);
	return config;
}

static void random_step(struct world *world)
{
	uint32_t i = draw(world->nseats), j = (i + 1 + draw(world->nseats - 1)) % world->nseats;
	struct seat *seat = &world->seat[i];

	switch (draw(12)) {
	case 0:
	case 1:
		if (seat->nstarted < FATES)
			seat_start_op(seat, NID(j), draw(2) ? O2_LNET_PUT : O2_LNET_GET, 100 + draw(4900),
				      O2_REG_GLOBAL, NULL);
		break;
	case 2:
	case 3:
	case 4:
		o2_node_progress(seat->node);
		break;
	case 5:
		world_clock(world, draw(300));
		break;
	case 6:
		if (draw(8) == 0)
			o2_node_close_peer(seat->node, NID(j), draw(2) ? 0 : -ECONNRESET);
		break;
	case 7:
		if (draw(20) == 0) {
			o2_node_destroy(seat->node);
			seat->side.ni.config.incarnation++;
			seat_start(seat);
			o2_node_clock(seat->node, world->now_ms);
		}
		break;
	default:
		if (o2_cm_loop_choices(world->loop) > 0)
			o2_cm_loop_deliver(world->loop, draw(o2_cm_loop_choices(world->loop)));
		break;
	}
}

static void run_at_random(uint64_t seed, uint32_t *ndone, uint32_t *nfailed)
{
	struct o2_node_config configs[SEATS];
	const struct o2_node_config *const pointers[SEATS] = {&configs[0], &configs[1], &configs[2]};
	struct world *world;

	draw_from(seed);
	for (uint32_t i = 0; i < SEATS; i++)
		configs[i] = random_config();
	world = world_open(2 + draw(2), pointers);
	world_answer(world, 100, O2_REG_GLOBAL);
	o2_cm_loop_set_fate(world->loop, random_fate, world);
	for (uint32_t i = 0; i < STEPS; i++)
		random_step(world);
	/* The network stops losing messages and time passes: everything must end. */
	o2_cm_loop_set_fate(world->loop, world_fate, world);
	world_pass(world, 120000);
	world_assert_ended(world);
	for (uint32_t i = 0; i < world->nseats; i++)
		for (uint32_t tag = 0; tag < world->seat[i].nstarted; tag++)
			*(world->seat[i].status[tag] == 0 ? ndone : nfailed) += 1;
	world_close(world);
}

/* O2REF_SEED=n runs only run n; O2REF_RUNS=n sets the number of runs. */
TEST(anything_goes)
{
	const char *only = getenv("O2REF_SEED"), *runs = getenv("O2REF_RUNS");
	uint32_t ndone = 0, nfailed = 0;
	const uint64_t first = only != NULL ? strtoull(only, NULL, 0) : 1;
	const uint64_t last = only != NULL ? first : runs != NULL ? strtoull(runs, NULL, 0) : RUNS;

	for (uint64_t seed = first; seed <= last; seed++) {
		print_message("seed %" PRIu64 "; again: O2REF_SEED=%" PRIu64 " test_node_race\n", seed, seed);
		run_at_random(seed, &ndone, &nfailed);
	}
	print_message("%u operations done, %u failed\n", ndone, nfailed);
	if (only == NULL) {
		assert_true(ndone > 500);
		assert_true(nfailed > 100);
	}
}
