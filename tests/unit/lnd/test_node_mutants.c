/* SPDX-License-Identifier: MIT */
/*
 * The deliberate defects in connection setup (tests/mutants/connections.toml): for each a scenario of two
 * nodes that passes without the defect and fails with it.
 */
#include "tests/lib/connreq.h"
#include "tests/lib/node_world.h"

#include "props/engine/mutant.h"
#include "tests/mutants/mutant.h"

/* Two nodes with different depths agree within two requests. */
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

/* A sink of 64 fragments, where up to 257 may be used. */
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

/* Pools that a burst has created are destroyed after 300 s, at the next use of the set. */
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

/* An operation may wait for a connection for a second. */
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

/* An operation waits for a connection for 15 s where an attempt takes 5 s. */
static bool waiting_checked(void)
{
	struct world *world = world_that_never_connects();
	bool well;

	world_pass(world, 15100);
	well = world->seat[0].nended == 1 && world->seat[0].status[0] == -ETIMEDOUT;
	world_pass(world, 60000);
	world_close(world);
	return well;
}

static struct world *volatile lost;

/* A peer is kept until the last connection with it has ended. */
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
		lost = world; /* the defect makes it impossible to close this world */
	return well;
}

/* Returns the reject that a request to this NID gets. */
static struct o2_reject rejected(const struct o2_connreq_self *asked, const struct o2_conn_params *offer,
				 uint64_t nid)
{
	const struct o2_connreq_self asks = connreq_self(true);
	const struct o2_cm_origin origin = {.port = 1};
	uint8_t bytes[O2_CM_REQUEST_BYTES];
	struct o2_connreq request;
	struct o2_reject reject;
	int length = o2_connreq_build(&asks, offer, nid, 0, bytes, sizeof(bytes), NULL);

	assert_true(length > 0);
	assert_int_equal(o2_connreq_judge(asked, &origin, bytes, (size_t)length, &request, &reject, NULL),
			 -EPROTO);
	return reject;
}

/* A reject reveals nothing of a node that the request does not name. */
static bool unnamed_silent(void)
{
	const struct o2_connreq_self asked = connreq_self(false);
	const struct o2_conn_params offer = V2(8, 256, O2_MSG_BYTES);
	const struct o2_reject reject = rejected(&asked, &offer, asked.nid + 1);

	return reject.ibr_why == O2_REJECT_FATAL && reject.ibr_incarnation == 0;
}

/* A peer is closed with a code during an attempt: the operations that wait for it are aborted. */
static bool attempt_aborted(void)
{
	struct world *world = world_two(NULL, NULL);
	bool well;

	seat_put(&world->seat[0], NID(1));
	o2_node_work(world->seat[0].node);
	o2_node_close_peer(world->seat[0].node, NID(1), -ECONNRESET);
	well = world->seat[0].status[0] == -ECONNABORTED;
	world_settle(world);
	world_close(world);
	return well;
}

/* Two nodes that may have only one connection ask each other at the same time. */
static bool both_served(void)
{
	struct o2_node_config config = small_config();
	struct world *world;
	bool well;

	config.max_conns_per_peer = 1;
	world = world_two(&config, &config);
	world_answer(world, 5000, O2_REG_GLOBAL);
	for (uint32_t i = 0; i < 2; i++) {
		seat_put(&world->seat[i], NID(1 - i));
		o2_node_work(world->seat[i].node);
	}
	world_settle(world);
	well = world->seat[0].status[0] == 0 && world->seat[1].status[0] == 0;
	world_close(world);
	return well;
}

/* A request that nobody answers is given up after 12.5 s, and the fault says so. */
static bool attempt_in_time(void)
{
	struct world *world = world_two(NULL, NULL);
	const struct o2_transfer_fault *fault = &world->seat[0].fault[0];
	bool well;

	world->fate[O2_CM_LOOP_REQUEST] = O2_CM_LOOP_LOSE;
	world_put(world, &world->seat[0], NID(1));
	world_clock(world, 12499);
	well = world->seat[0].nended == 0;
	world_clock(world, 1);
	well = well && world->seat[0].nended == 1 && fault->error.value == 12500 &&
	       fault->error.limit == 12500;
	world_close(world);
	return well;
}

static bool deafness_told(void)
{
	struct o2_node_config deaf = small_config();
	struct world *world;
	bool well;

	deaf.listen = false;
	world = world_two(NULL, &deaf);
	world_put(world, &world->seat[0], NID(1));
	well = world->seat[0].status[0] == -EHOSTUNREACH;
	world_close(world);
	return well;
}

/* A node of version 0x12 rejects a request of version 0x11 with a record of version 0x11. */
static bool answers_in_version(void)
{
	const struct o2_connreq_self asked = connreq_self(false);
	const struct o2_conn_params offer = V1(7, 256, O2_MSG_BYTES);

	return rejected(&asked, &offer, asked.nid).ibr_version == O2_MSG_VERSION_1;
}

static uint64_t dststamp; /* of the last request that was delivered */
static void (*handler)(void *context, const struct o2_cm_event *event);

static void look(void *context, const struct o2_cm_event *event)
{
	const struct o2_wire_options options = {.max_frags = O2_MAX_FRAGS};
	struct o2_msg msg;

	if (event->type == O2_CM_REQUEST &&
	    o2_msg_decode(event->private_data, event->private_bytes, &options, &msg, NULL) == 0)
		dststamp = msg.ibm_dststamp;
	handler(context, event);
}

/* A node that knows its peer's incarnation puts it into requests: here that of a second connection. */
static bool life_said(void)
{
	struct o2_node_config two = small_config();
	struct world *world;
	struct seat *b;
	bool well;

	two.conns_per_peer = 2;
	world = world_two(&two, NULL);
	b = &world->seat[1];
	b->config.conn.queue_depth = 2; /* the two rejects tell b's incarnation */
	o2_node_destroy(b->node);
	seat_start(b);
	handler = b->cm->handler;
	b->cm->handler = look;
	world_put(world, &world->seat[0], NID(1));
	b->cm->handler = handler;
	well = dststamp == b->side.ni.config.incarnation;
	world_close(world);
	return well;
}

/* One node closes the connection; the other reports that its peer closed it. */
static bool closer_named(void)
{
	struct world *world = world_two(NULL, NULL);
	bool well;

	world_put(world, &world->seat[0], NID(1));
	o2_node_close_peer(world->seat[0].node, NID(1), 0);
	world_settle(world);
	well = world->seat[1].down.side == O2_FAULT_PEER_CLOSED;
	world_close(world);
	return well;
}

/* A node restarts and its peer does not notice: the next request ends the old connection. */
static bool new_life_named(void)
{
	struct world *world = world_two(NULL, NULL);
	struct seat *a = &world->seat[0], *b = &world->seat[1];
	bool well;

	world_put(world, a, NID(1));
	world->fate[O2_CM_LOOP_DISCONNECT] = O2_CM_LOOP_LOSE;
	o2_node_destroy(a->node);
	a->side.ni.config.incarnation++;
	seat_start(a);
	world_put(world, a, NID(1));
	well = b->down.error.value == a->side.ni.config.incarnation;
	a->nstarted = a->nended;
	world_close(world);
	return well;
}

static bool depth_bounded(void)
{
	struct world *world = world_two(NULL, NULL);
	struct seat *a = &world->seat[0];
	struct o2_node *node = NULL;
	bool well;

	a->config.conn.queue_depth = 256;
	well = o2_node_create(&a->side.ni, a->cm, &a->config, &(struct o2_node_ops){0}, NULL, &node, NULL) ==
	       -EINVAL;
	if (!well) {
		o2_node_destroy(node);
		o2_node_destroy(a->node);
		a->config.conn.queue_depth = 8;
		seat_start(a);
	}
	world_close(world);
	return well;
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

/* A test for each defect, by its name. */
#define KILLED_BY(test, defect, meeting)    \
	TEST(test)                          \
	{                                   \
		killed_by(defect, meeting); \
	}

KILLED_BY(forget_negotiated, "forget-negotiated", terms_kept)
KILLED_BY(offer_tunable, "offer-tunable", fragments_kept)
KILLED_BY(fragments_by_page_size, "fragments-by-page-size", fragments_kept)
KILLED_BY(waiting_left, "waiting-left", waiting_kept)
KILLED_BY(pool_clock_stands, "pool-clock-stands", idle_pools_unmade)
KILLED_BY(waiting_undated, "waiting-undated", waiting_dated)
KILLED_BY(waiting_unchecked, "waiting-unchecked", waiting_checked)
KILLED_BY(reject_unnamed, "reject-unnamed", unnamed_silent)
KILLED_BY(attempt_keeps_code, "attempt-keeps-code", attempt_aborted)
KILLED_BY(own_attempts_count, "own-attempts-count", both_served)
KILLED_BY(attempt_halved, "attempt-halved", attempt_in_time)
KILLED_BY(overtime_for_age, "overtime-for-age", attempt_in_time)
KILLED_BY(deaf_refuses, "deaf-refuses", deafness_told)
KILLED_BY(reject_own_version, "reject-own-version", answers_in_version)
KILLED_BY(stamp_unsaid, "stamp-unsaid", life_said)
KILLED_BY(ended_by_nobody, "ended-by-nobody", closer_named)
KILLED_BY(stale_the_other_way, "stale-the-other-way", new_life_named)
KILLED_BY(depth_over_a_byte, "depth-over-a-byte", depth_bounded)

/* Must be the last: it leaks memory that can no longer be reached. */
KILLED_BY(peer_freed_early, "peer-freed-early", closing_peer_kept)
