/* SPDX-License-Identifier: MIT */
/*
 * Connection attempts that fail, in every possible way: waiting operations end once, with the documented
 * errno, and nothing is left behind.
 */
#include "loopverbs/loopverbs.h"
#include "tests/lib/node_world.h"

/* A message that is lost or refused, and the errno that the operation ends with. */
struct failure {
	const char *what;
	enum o2_cm_loop_message message;
	enum o2_cm_loop_fate fate;
	int status;
	enum o2_health health;
	uint32_t after_ms; /* time until the operation ends */
	enum o2_fault_side side;
	const char *text;
};

/* A quarter of 50 s. */
#define CONNECT_MS 12500u

TEST(messages_lost)
{
	static const struct failure failures[] = {
		{"no address", O2_CM_LOOP_REQUEST, O2_CM_LOOP_UNRESOLVED, -EHOSTUNREACH,
		 O2_HEALTH_NETWORK_TIMEOUT, 0, O2_FAULT_CONNECT,
		 "no connection could be made: cm/unresolved: errno is 113 (No route to host)"},
		{"unreachable", O2_CM_LOOP_REQUEST, O2_CM_LOOP_UNREACHABLE, -ENETDOWN,
		 O2_HEALTH_LOCAL_DROPPED, 0, O2_FAULT_CONNECT,
		 "no connection could be made: cm/unreachable: errno is 110 (Connection timed out)"},
		{"nobody listens", O2_CM_LOOP_REQUEST, O2_CM_LOOP_REFUSE, -EHOSTUNREACH,
		 O2_HEALTH_NETWORK_TIMEOUT, 0, O2_FAULT_REJECTED,
		 "the connection was rejected: invalid service id: nobody listens there (connection "
		 "manager's reason 8): reject/no-listener"},
		{"request lost", O2_CM_LOOP_REQUEST, O2_CM_LOOP_LOSE, -ENETDOWN, O2_HEALTH_LOCAL_DROPPED,
		 CONNECT_MS, O2_FAULT_DEADLINE,
		 "our deadline: waited 12500 ms for a connection, limit 12500 ms"},
		{"reply lost", O2_CM_LOOP_REPLY, O2_CM_LOOP_LOSE, -ENETDOWN, O2_HEALTH_LOCAL_DROPPED,
		 CONNECT_MS, O2_FAULT_DEADLINE,
		 "our deadline: waited 12500 ms for a connection, limit 12500 ms"},
	};

	for (size_t i = 0; i < sizeof(failures) / sizeof(failures[0]); i++) {
		struct world *world = world_two(NULL, NULL);
		struct seat *a = &world->seat[0];
		char text[256];

		world->fate[failures[i].message] = failures[i].fate;
		seat_put(a, NID(1));
		world_put(world, a, NID(1));
		if (failures[i].after_ms > 0) {
			world_clock(world, failures[i].after_ms - 1);
			world_settle(world);
			assert_int_equal(a->nended, 0);
			world_clock(world, 1);
			world_settle(world);
		}
		if (a->nended != 2 || a->status[0] != failures[i].status || a->status[1] != a->status[0])
			fail_msg("%s: %u ended, %d", failures[i].what, a->nended, a->status[0]);
		assert_int_equal(a->health[0], failures[i].health);
		assert_int_equal(a->ndown, 1);
		assert_int_equal(a->down.code, failures[i].status);
		assert_int_equal(a->down.side, failures[i].side);
		assert_int_equal(a->fault[1].side, failures[i].side);
		o2_fault_text(&a->fault[1], text, sizeof(text));
		assert_string_equal(text, failures[i].text);
		world_pass(world, 30000);
		assert_int_equal(o2_node_npeers(a->node), 0);
		assert_int_equal(o2_node_npeers(world->seat[1].node), 0);
		/* Without the fault the next operation succeeds. */
		world->fate[failures[i].message] = O2_CM_LOOP_PASS;
		world_put(world, a, NID(1));
		assert_int_equal(a->status[2], 0);
		world_close(world);
	}
}

/* The passive side never gets the active side's ready: it gives up, and the active side notices. */
WORLD_TEST(ready_lost)
{
	world->fate[O2_CM_LOOP_READY] = O2_CM_LOOP_LOSE;
	world_put(world, &world->seat[0], NID(1));
	assert_int_equal(peer_view(&world->seat[1], NID(0)).accepting, 1);
	world_pass(world, 60000);
	assert_int_equal(world->seat[0].nended, 1);
	assert_true(world->seat[0].status[0] < 0);
	assert_int_equal(world->seat[1].down.code, -ENETDOWN);
}

/* The active side is up; the passive side has not got the ready and gives up: the connection ends at once. */
WORLD_TEST(passive_gives_up)
{
	world->fate[O2_CM_LOOP_READY] = O2_CM_LOOP_LOSE;
	world_put(world, &world->seat[0], NID(1));
	assert_int_equal(world->seat[0].nup, 1);
	assert_int_equal(world->seat[0].nended, 0);
	o2_node_close_peer(world->seat[1].node, NID(0), -ECONNABORTED);
	world_settle(world);
	assert_int_equal(world->seat[0].status[0], -ECONNABORTED);
	assert_int_equal(world->seat[0].ndown, 1);
	world->fate[O2_CM_LOOP_READY] = O2_CM_LOOP_PASS;
	world_put(world, &world->seat[0], NID(1));
	assert_int_equal(world->seat[0].status[1], 0);
}

/* Whatever code the peer is closed with, a pending attempt and its waiting operations are aborted. */
WORLD_TEST(attempt_given_up)
{
	struct seat *a = &world->seat[0];

	seat_put(a, NID(1));
	o2_node_work(a->node);
	assert_int_equal(peer_view(a, NID(1)).connecting, 1);
	o2_node_close_peer(a->node, NID(1), -ECONNRESET);
	assert_int_equal(a->nended, 1);
	assert_int_equal(a->status[0], -ECONNABORTED);
	assert_int_equal(a->fault[0].closed_by, O2_FAULT_CLOSED);
	assert_int_equal(a->fault[0].error.value, ECONNRESET);
	assert_int_equal(a->down.code, -ECONNABORTED);
	world_settle(world);
}

/* Without the peer's answer the connection manager's part of an ending lasts as long as an attempt may. */
WORLD_TEST(end_not_confirmed)
{
	struct seat *a = &world->seat[0];

	world_put(world, a, NID(1));
	/* The time counts from the ending, not from the attempt. */
	world_pass(world, 5000);
	world->fate[O2_CM_LOOP_DISCONNECT] = O2_CM_LOOP_LOSE;
	o2_node_close_peer(a->node, NID(1), 0);
	world_settle(world);
	world_clock(world, CONNECT_MS - 1);
	assert_int_equal(peer_view(a, NID(1)).links, 1);
	assert_int_equal(peer_view(a, NID(1)).established, 0);
	world_clock(world, 1);
	assert_false(peer_view(a, NID(1)).known);
}

/* What is started as a waiting operation ends for our closing is a new operation, which connects anew. */
static void close_what_waits(struct world *world, bool attempt)
{
	struct seat *a = &world->seat[0];

	seat_put(a, NID(1));
	if (attempt)
		o2_node_work(a->node);
	a->again = NID(1);
	o2_node_close_peer(a->node, NID(1), -EIO);
	assert_int_equal(a->nended, 1);
	assert_int_equal(a->status[0], -ECONNABORTED);
	world_settle(world);
	assert_int_equal(a->status[1], 0);
	assert_linked(world, 0, 1, 1);
}

WORLD_TEST(started_as_what_waits_ends)
{
	close_what_waits(world, false);
}

WORLD_TEST(started_as_an_attempt_is_given_up)
{
	close_what_waits(world, true);
}

/* The end of the first operation that waits closes the peer again; the end of the second one starts a third. */
WORLD_TEST(closed_again_as_what_waits_ends)
{
	struct seat *a = &world->seat[0];

	seat_put(a, NID(1));
	seat_put(a, NID(1));
	a->closes = a->again = NID(1);
	o2_node_close_peer(a->node, NID(1), -EIO);
	assert_int_equal(a->nended, 2);
	assert_int_equal(a->status[0], -ECONNABORTED);
	assert_int_equal(a->status[1], -ECONNABORTED);
	assert_int_equal(peer_view(a, NID(1)).waiting, 1);
	world_settle(world);
	assert_int_equal(a->ended[2], 1);
	assert_int_equal(a->status[2], 0);
	assert_linked(world, 0, 1, 1);
}

/* The peer has to be asked twice, each time slowly: the operations do not wait for the end of the second attempt. */
TEST(waits_so_long_and_no_longer)
{
	struct o2_node_config config = small_config(), old;
	struct world *world;
	struct seat *a;

	config.conn.timeout_ms = 100000; /* a quarter for an attempt, 10 s more for an operation */
	old = config;
	old.conn.version = O2_MSG_VERSION_1;
	world = world_two(&config, &old);
	a = &world->seat[0];
	seat_put(a, NID(1));
	seat_put(a, NID(1));
	o2_node_work(a->node);
	world_clock(world, 24000);
	seat_put(a, NID(1));
	assert_true(o2_cm_loop_deliver(world->loop, 0));
	assert_true(o2_cm_loop_deliver(world->loop, 0));
	world->fate[O2_CM_LOOP_REQUEST] = O2_CM_LOOP_LOSE;
	world_settle(world);
	assert_int_equal(peer_view(a, NID(1)).connecting, 1);
	world_clock(world, 10999);
	assert_int_equal(a->nended, 0);
	world_clock(world, 1);
	/* All that are as old, and not the one that came later. */
	assert_int_equal(a->nended, 2);
	assert_int_equal(a->status[0], -ETIMEDOUT);
	assert_int_equal(a->status[1], -ETIMEDOUT);
	assert_int_equal(peer_view(a, NID(1)).waiting, 1);
	world_close(world);
}

TEST(nobody_there)
{
	struct o2_node_config deaf = small_config();
	struct world *world;

	deaf.listen = false;
	world = world_two(NULL, &deaf);
	seat_put(&world->seat[0], NID(1));
	world_put(world, &world->seat[0], NID(7));
	assert_int_equal(world->seat[0].status[0], -EHOSTUNREACH);
	assert_int_equal(world->seat[0].status[1], -EHOSTUNREACH);
	world_close(world);
}

/* A node that does not listen, where another one did before it: it accepts nothing. */
TEST(nobody_there_any_more)
{
	struct world *world = world_two(NULL, NULL);
	struct seat *a = &world->seat[0], *b = &world->seat[1];

	o2_node_destroy(b->node);
	b->config.listen = false;
	seat_start(b);
	o2_node_set_up(b->node, true);
	o2_node_clock(b->node, world->now_ms);
	world_put(world, a, NID(1));
	assert_int_equal(a->status[0], -ECONNREFUSED);
	assert_int_equal(a->fault[0].reject_why, O2_REJECT_EARLY);
	assert_int_equal(b->nup, 0);
	world_close(world);
}

/* An attempt whose queue pair cannot be created counts as an attempt: the application is told of its end. */
TEST(no_queue_pair)
{
	struct o2_node_config greedy = small_config();
	struct world *world;

	greedy.conn.wrq_sge = O2_MAX_WRQ_SGE + 1;
	world = world_two(&greedy, NULL);
	world_put(world, &world->seat[0], NID(1));
	assert_int_equal(world->seat[0].status[0], -EINVAL);
	assert_int_equal(world->seat[0].ndown, 1);
	assert_int_equal(world->seat[0].down.code, -EINVAL);
	assert_string_equal(world->seat[0].down.error.rule, "conn/wrq-sge");
	assert_int_equal(world->seat[0].health[0], O2_HEALTH_LOCAL_DROPPED);
	world_close(world);
}

WORLD_TEST(too_early)
{
	struct seat *a = &world->seat[0];

	o2_node_set_up(world->seat[1].node, false);
	world_put(world, a, NID(1));
	assert_int_equal(a->status[0], -ECONNREFUSED);
	assert_string_equal(a->down.error.rule, "reject/why");
	assert_int_equal(a->down.error.value, O2_REJECT_EARLY);
	o2_node_set_up(world->seat[1].node, true);
	world_put(world, a, NID(1));
	assert_int_equal(a->status[1], 0);
}

/* Limits on the resources of ours that a peer may use. */
TEST(caps)
{
	struct o2_node_config few = small_config(), many = small_config();
	struct world *world;
	const struct o2_node_config *const configs[] = {&many, &few, NULL};

	few.max_conns_per_peer = 2;
	few.max_peers = 1;
	many.conns_per_peer = 3;
	world = world_open(3, configs);
	world_answer(world, 5000, O2_REG_GLOBAL);
	world_put(world, &world->seat[0], NID(1));
	assert_int_equal(world->seat[0].status[0], 0);
	assert_linked(world, 0, 1, 2);
	assert_int_equal(world->seat[0].down.code, -ECONNREFUSED);
	assert_int_equal(world->seat[0].down.error.value, O2_REJECT_NO_RESOURCES);
	world_put(world, &world->seat[2], NID(1));
	assert_int_equal(world->seat[2].status[0], -ECONNREFUSED);
	assert_int_equal(world->seat[2].down.error.value, O2_REJECT_NO_RESOURCES);
	world_close(world);
}

/* A connection that has ended leaves room, even if the next request comes before the node's next work. */
TEST(an_end_leaves_room)
{
	struct o2_node_config one = small_config();
	struct world *world;

	one.max_conns_per_peer = 1;
	world = world_two(NULL, &one);
	world_put(world, &world->seat[0], NID(1));
	o2_node_close_peer(world->seat[0].node, NID(1), 0);
	seat_put(&world->seat[0], NID(1));
	o2_node_work(world->seat[0].node);
	while (o2_cm_loop_deliver(world->loop, 0))
		;
	world_settle(world);
	assert_int_equal(world->seat[0].nended, 2);
	assert_int_equal(world->seat[0].status[1], 0);
	assert_linked(world, 0, 1, 1);
	world_close(world);
}

TEST(other_limits)
{
	static const struct {
		bool registers, privileged;
		uint32_t frags_a;
		int status;
	} rows[] = {
		{true, false, 256, 0},
		{false, false, 257, 0},
		{false, false, 256, -ECONNREFUSED},
		{true, true, 257, 0}, /* all ports of this network are privileged */
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct o2_node_config a = small_config(), b = small_config();
		struct world *world;

		a.conn.max_frags = rows[i].frags_a;
		b.registers = rows[i].registers;
		b.require_privileged_port = rows[i].privileged;
		world = world_two(&a, &b);
		world_put(world, &world->seat[0], NID(1));
		assert_int_equal(world->seat[0].status[0], rows[i].status);
		world_close(world);
	}
}

/* A request with a NID that does not belong to the sender's address is refused. */
WORLD_TEST(borrowed_nid)
{
	struct seat *a = &world->seat[0];

	o2_node_destroy(a->node);
	a->side.ni.config.nid = NID(5);
	seat_start(a);
	world_put(world, a, NID(1));
	assert_int_equal(a->status[0], -ECONNREFUSED);
	assert_int_equal(a->down.error.value, O2_REJECT_FATAL);
	assert_int_equal(a->down.side, O2_FAULT_REJECTED);
	assert_int_equal(a->down.cm_reason, O2_CM_REJECT_CONSUMER);
	assert_int_equal(a->down.reject_why, O2_REJECT_FATAL);
}

/* Makes the creation of *arg device objects fail with ENOMEM. */
static int no_memory(void *arg, enum o2_loop_call call, uint32_t qp_num)
{
	uint32_t *left = arg;

	if (call != O2_LOOP_CALL_MAKE || *left == 0)
		return 0;
	--*left;
	return ENOMEM;
}

/* A side without memory for the full depth uses a smaller depth, announces it, and keeps to it. */
TEST(short_of_memory)
{
	for (uint32_t side = 0; side < 2; side++) {
		struct world *world = world_two(NULL, NULL);
		struct o2_conn_view view[2];
		uint32_t left = 3;

		seat_put(&world->seat[0], NID(1));
		if (side == 0)
			o2_loop_set_fault(no_memory, &left);
		o2_node_work(world->seat[0].node);
		o2_loop_set_fault(no_memory, &left);
		assert_true(o2_cm_loop_deliver(world->loop, 0)); /* request */
		o2_loop_set_fault(NULL, NULL);
		assert_int_equal(left, 0);
		world_settle(world);
		assert_int_equal(world->seat[0].status[0], 0);
		assert_int_equal(world->nsent[O2_CM_LOOP_REQUEST], 1);
		for (uint32_t i = 0; i < 2; i++) {
			o2_conn_view(o2_node_conn(world->seat[i].node, NID(1 - i), 0), &view[i]);
			assert_int_equal(view[i].flow.queue_depth, 5);
		}
		assert_int_equal(peer_view(&world->seat[side], NID(1 - side)).queue_depth, 5);
		world_close(world);
	}
}

/* With any number of peers to connect to, one call starts at most a hundred attempts. */
TEST(many_attempts)
{
	struct o2_node_config small = small_config();
	struct world *world;
	struct seat *a;

	small.conn.queue_depth = 2;
	small.conn.max_frags = 1;
	world = world_two(&small, NULL);
	a = &world->seat[0];
	a->nstarted = 1;
	for (uint32_t i = 0; i < 150; i++) {
		struct o2_lnet_hdr put = lnet_hdr(a, NID(10 + i), O2_LNET_PUT, 0);

		assert_int_equal(o2_node_send_bytes(a->node, NID(10 + i), &put, NULL, 0, 0, NULL), 0);
	}
	for (uint32_t call = 0; call < 3; call++) {
		uint32_t connecting = 0;

		for (uint32_t i = 0; i < 150; i++)
			connecting += peer_view(a, NID(10 + i)).connecting;
		assert_int_equal(connecting, call == 0 ? 0 : call == 1 ? 100 : 150);
		o2_node_work(a->node);
	}
	world_settle(world);
	assert_int_equal(a->ended[0], 150);
	assert_int_equal(a->status[0], -EHOSTUNREACH);
	a->ended[0] = 1;
	a->nended = 1;
	world_close(world);
}
