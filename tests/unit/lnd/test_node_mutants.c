/* SPDX-License-Identifier: MIT */
/*
 * The deliberate defects in how connections are made (tests/mutants/connections.toml): for each a meeting of
 * two nodes that goes well without it and does not with it.
 */
#include "tests/lib/connreq.h"
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

/* What waits for a connection may do so for a second. */
static bool waiting_dated(void)
{
	struct world *world = world_two(NULL, NULL);
	bool well;

	seat_put(&world->seat[0], NID(1));
	world_clock(world, 1000);
	world_settle(world);
	well = world->seat[0].nended == 1 && world->seat[0].status[0] == 0;
	world_close(world);
	return well;
}

static struct world *volatile lost;

/* A peer is known until the last connection with it has gone. */
static bool closing_peer_kept(void)
{
	struct world *world = world_two(NULL, NULL);
	bool well;

	world_put(world, &world->seat[0], NID(1));
	o2_node_close_peer(world->seat[0].node, NID(1), 0);
	world_progress(world);
	well = peer_view(&world->seat[0], NID(1)).known;
	if (well)
		world_close(world);
	else
		lost = world; /* nobody can take it apart now */
	return well;
}

/* Who is not named in a request says nothing of itself. */
static bool unnamed_silent(void)
{
	const struct o2_connreq_self asks = connreq_self(true), asked = connreq_self(false);
	const struct o2_conn_params offer = V2(8, 256, O2_MSG_BYTES);
	const struct o2_cm_origin origin = {.port = 1};
	uint8_t bytes[O2_CM_REQUEST_BYTES];
	struct o2_connreq request;
	struct o2_reject reject;
	int length = o2_connreq_build(&asks, &offer, asked.nid + 1, 0, bytes, sizeof(bytes), NULL);

	assert_true(length > 0);
	assert_int_equal(o2_connreq_judge(&asked, &origin, bytes, (size_t)length, &request, &reject, NULL),
			 -EPROTO);
	return reject.ibr_why == O2_REJECT_FATAL && reject.ibr_incarnation == 0;
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

TEST(forget_negotiated)
{
	killed_by("forget-negotiated", terms_kept);
}

TEST(offer_tunable)
{
	killed_by("offer-tunable", fragments_kept);
}

TEST(fragments_by_page_size)
{
	killed_by("fragments-by-page-size", fragments_kept);
}

TEST(waiting_left)
{
	killed_by("waiting-left", waiting_kept);
}

TEST(pool_clock_stands)
{
	killed_by("pool-clock-stands", idle_pools_unmade);
}

TEST(waiting_undated)
{
	killed_by("waiting-undated", waiting_dated);
}

TEST(reject_unnamed)
{
	killed_by("reject-unnamed", unnamed_silent);
}

/* The last: it leaves behind what nobody can reach. */
TEST(peer_freed_early)
{
	killed_by("peer-freed-early", closing_peer_kept);
}
