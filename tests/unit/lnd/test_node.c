/* SPDX-License-Identifier: MIT */
/*
 * Nodes: the first operation sets up a connection, operations wait for it, two nodes agree on parameters, and
 * what either side ends, the other notices.
 */
#include "tests/lib/lnd_memory.h"
#include "tests/lib/node_world.h"

WORLD_TEST(first_put_connects)
{
	struct seat *a = &world->seat[0], *b = &world->seat[1];
	struct o2_peer_view view;

	seat_put(a, NID(1));
	view = peer_view(a, NID(1));
	assert_int_equal(view.waiting, 1);
	assert_int_equal(view.attempts_due, 1);
	assert_int_equal(view.version, 0);
	world_settle(world);
	assert_int_equal(a->status[0], 0);
	assert_int_equal(a->nended, 1);
	assert_int_equal(b->nserved, 1);
	assert_int_equal(a->nup + b->nup, 2);
	assert_linked(world, 0, 1, 1);
	view = peer_view(a, NID(1));
	assert_int_equal(view.version, 0x12);
	assert_int_equal(view.incarnation, b->side.ni.config.incarnation);
	view = peer_view(b, NID(0));
	assert_int_equal(view.version, 0x12);
	assert_int_equal(view.incarnation, a->side.ni.config.incarnation);
	/* The connection also serves operations from b to a. */
	seat_put(b, NID(0));
	world_put(world, a, NID(1));
	assert_int_equal(world->nsent[O2_CM_LOOP_REQUEST], 1);
	assert_linked(world, 0, 1, 1);
}

WORLD_TEST(bytes_arrive)
{
	struct seat *a = &world->seat[0], *b = &world->seat[1];
	struct o2_kiov from[O2_MAX_FRAGS], to[O2_MAX_FRAGS];
	static const enum o2_reg_mode modes[] = {O2_REG_GLOBAL, O2_REG_FMR, O2_REG_FASTREG};

	for (uint32_t i = 0; i < 3; i++) {
		struct o2_transfer_memory source = dense(from, 0, 70000, modes[i]);
		struct o2_transfer_memory sink = dense(to, 400, 70000, modes[i]);
		struct images images;

		world_answer(world, 70000, modes[i]);
		images = images_take(&a->side, &b->side, i);
		assert_int_equal(seat_start_op(a, NID(1), O2_LNET_PUT, 70000, modes[i], NULL), 0);
		world_settle(world);
		assert_int_equal(a->status[2 * i], 0);
		images_check(&images, &a->side, &source.buffer, &b->side, &sink.buffer, 70000);
		images = images_take(&b->side, &a->side, i + 10);
		assert_int_equal(seat_start_op(a, NID(1), O2_LNET_GET, 70000, modes[i], NULL), 0);
		world_settle(world);
		assert_int_equal(a->status[2 * i + 1], 0);
		images_check(&images, &b->side, &sink.buffer, &a->side, &source.buffer, 70000);
	}
}

static uint64_t sent_over(const struct seat *seat, uint64_t nid, uint32_t index)
{
	struct o2_conn_view view;

	o2_conn_view(o2_node_conn(seat->node, nid, index), &view);
	return view.flow.messages_sent;
}

/* Operations that were started before a connection existed all use the first one that comes up. */
TEST(many_wait)
{
	struct o2_node_config config = small_config();
	struct world *world;
	uint64_t before[3];

	config.conns_per_peer = 3;
	world = world_two(&config, NULL);
	for (uint32_t i = 0; i < 6; i++)
		seat_put(&world->seat[0], NID(1));
	assert_int_equal(peer_view(&world->seat[0], NID(1)).waiting, 6);
	world_settle(world);
	assert_int_equal(world->seat[0].nended, 6);
	assert_int_equal(world->nsent[O2_CM_LOOP_REQUEST], 3);
	assert_linked(world, 0, 1, 3);
	/* From now on the connections take turns: of three operations no two use the same one. */
	for (uint32_t i = 0; i < 3; i++)
		before[i] = sent_over(&world->seat[0], NID(1), i);
	for (uint32_t i = 0; i < 3; i++)
		seat_put(&world->seat[0], NID(1));
	world_settle(world);
	assert_int_equal(world->seat[0].nended, 9);
	for (uint32_t i = 0; i < 3; i++)
		assert_int_equal(sent_over(&world->seat[0], NID(1), i), before[i] + 1);
	world_close(world);
}

/* Small messages wait for a connection as all operations do: with kiov pieces, plain bytes, or no payload. */
WORLD_TEST(small_messages)
{
	struct seat *a = &world->seat[0], *b = &world->seat[1];
	struct o2_lnet_hdr put = lnet_hdr(a, NID(1), O2_LNET_PUT, 0),
			   ack = lnet_hdr(a, NID(1), O2_LNET_ACK, 0);
	static struct o2_kiov kiov[O2_MAX_FRAGS];
	struct o2_transfer_memory memory = dense(kiov, 0, 300, O2_REG_GLOBAL);
	static const uint8_t bytes[O2_MSG_BYTES + 1];
	struct o2_error error;

	for (uint32_t i = 0; i < 2; i++) {
		/* The message without memory has tag 0. */
		a->nstarted = 3;
		a->ended[0] = a->ended[1] = a->ended[2] = 0;
		a->nended = 0;
		memory.tag = 1;
		assert_int_equal(o2_node_send(a->node, NID(1), &ack, NULL, NULL), 0);
		assert_int_equal(o2_node_send(a->node, NID(1), &put, &memory, NULL), 0);
		assert_int_equal(o2_node_send_bytes(a->node, NID(1), &put, bytes, 40, 2, NULL), 0);
		world_settle(world);
		world_assert_ended(world);
		for (uint32_t tag = 0; tag < 3; tag++)
			assert_int_equal(a->status[tag], 0);
		assert_int_equal(b->nreceived, 3 * (i + 1));
		assert_int_equal(b->received_bytes, 340 * (i + 1));
	}
	assert_int_equal(o2_node_send_bytes(a->node, NID(1), &put, bytes, sizeof(bytes), 0, &error),
			 -EMSGSIZE);
}

/* The parameters that both sides agree on, and the number of requests that it takes. */
TEST(terms)
{
	static const struct node_terms rows[] = {
		{0x12, 0x12, 8, 8, 257, 257, 1, 0x12, 8, 257},
		{0x12, 0x12, 4, 8, 257, 257, 1, 0x12, 4, 257},
		{0x12, 0x12, 16, 8, 257, 257, 2, 0x12, 8, 257},
		{0x12, 0x12, 8, 8, 257, 256, 2, 0x12, 8, 256},
		{0x12, 0x12, 16, 4, 257, 256, 2, 0x12, 4, 256},
		{0x11, 0x12, 8, 8, 257, 257, 1, 0x11, 8, 257},
		{0x12, 0x11, 8, 8, 257, 257, 2, 0x11, 8, 257},
		{0x12, 0x11, 16, 8, 257, 257, 2, 0x11, 8, 257},
		{0x11, 0x11, 16, 16, 257, 257, 1, 0x11, 8, 257},
		/* The first request already asks for no more than the device has room for. */
		{0x12, 0x12, 255, 255, 257, 257, 1, 0x12, 63, 257},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct o2_node_config a = small_config(), b = small_config();
		struct o2_conn_view view_a, view_b;
		struct world *world;

		node_terms_ask(&rows[i], &a, &b);
		world = world_two(&a, &b);
		world_put(world, &world->seat[0], NID(1));
		assert_int_equal(world->seat[0].status[0], 0);
		assert_int_equal(world->nsent[O2_CM_LOOP_REQUEST], rows[i].requests);
		assert_linked(world, 0, 1, 1);
		o2_conn_view(o2_node_conn(world->seat[0].node, NID(1), 0), &view_a);
		o2_conn_view(o2_node_conn(world->seat[1].node, NID(0), 0), &view_b);
		assert_int_equal(view_a.flow.version, rows[i].version);
		assert_int_equal(view_b.flow.version, rows[i].version);
		assert_int_equal(view_a.flow.queue_depth, rows[i].depth);
		assert_int_equal(view_b.flow.queue_depth, rows[i].depth);
		assert_int_equal(peer_view(&world->seat[0], NID(1)).max_frags, rows[i].frags);
		if (rows[i].version_a != 0x11)
			assert_int_equal(peer_view(&world->seat[0], NID(1)).queue_depth, rows[i].depth);
		world_close(world);
	}
}

/* Tunables apply to the node's own depth, whatever depth is agreed and whichever side asked. */
TEST(tunables_are_for_its_own_depth)
{
	static const struct {
		uint32_t own, other, hiw, peer_tx_credits, mark, sends;
	} rows[] = {
		{8, 4, 5, 0, 2, 8},	 {8, 4, 5, 8, 2, 8},  {8, 8, 5, 0, 5, 8}, {8, 5, 7, 0, 4, 8},
		{64, 16, 48, 0, 12, 32}, {8, 4, 0, 16, 2, 8}, {8, 4, 5, 4, 3, 4},
	};

	for (size_t i = 0; i < 2 * sizeof(rows) / sizeof(rows[0]); i++) {
		struct o2_node_config other = small_config(), own = small_config();
		struct o2_conn_view view;
		struct world *world;

		other.conn.queue_depth = rows[i / 2].other;
		own.conn.queue_depth = rows[i / 2].own;
		own.conn.peercredits_hiw = rows[i / 2].hiw;
		own.conn.peer_tx_credits = rows[i / 2].peer_tx_credits;
		world = world_two(&other, &own);
		world_put(world, &world->seat[i % 2], NID(1 - i % 2));
		o2_conn_view(o2_node_conn(world->seat[1].node, NID(0), 0), &view);
		assert_int_equal(view.flow.queue_depth, rows[i / 2].other);
		assert_int_equal(view.flow.high_water, rows[i / 2].mark);
		assert_int_equal(view.flow.concurrent_sends, rows[i / 2].sends);
		world_close(world);
	}
}

/* All agreed fragments can be used: a GET describes its sink in 64 of them. */
WORLD_TEST(fragments_as_agreed)
{
	world_answer(world, 64 * 4096, O2_REG_GLOBAL);
	assert_int_equal(seat_start_op(&world->seat[0], NID(1), O2_LNET_GET, 64 * 4096, O2_REG_GLOBAL, NULL),
			 0);
	world_settle(world);
	assert_int_equal(world->seat[0].status[0], 0);
}

/* The passive side can receive before the active side's ready arrives: early messages are kept. */
WORLD_TEST(early_message)
{
	struct seat *b = &world->seat[1];

	seat_put(&world->seat[0], NID(1));
	world_progress(world);
	assert_true(o2_cm_loop_deliver(world->loop, 0)); /* request */
	assert_true(o2_cm_loop_deliver(world->loop, 0)); /* reply: a is up, and sends */
	for (uint32_t i = 0; i < 10; i++)
		world_progress(world);
	assert_int_equal(world->seat[0].nup, 1);
	assert_int_equal(peer_view(b, NID(0)).accepting, 1);
	assert_int_equal(b->side.nmatched, 0);
	assert_true(o2_cm_loop_deliver(world->loop, 0)); /* ready */
	assert_int_equal(b->side.nmatched, 1);
	world_settle(world);
	assert_int_equal(world->seat[0].status[0], 0);
}

TEST(broken_at_once)
{
	struct world *world = world_broken_at_once();

	assert_int_equal(world->seat[1].down.side, O2_FAULT_PEER_MESSAGE);
	assert_int_equal(world->seat[1].nended, 1);
	assert_int_equal(world->seat[1].status[0], -ECONNABORTED);
	assert_int_equal(world->seat[0].nended, 1);
	assert_int_equal(world->seat[0].status[0], -ECONNABORTED);
	/* b closes by its own rule, a because b closed; failed operations report it. */
	assert_int_equal(world->seat[1].fault[0].side, O2_FAULT_CLOSED);
	assert_int_equal(world->seat[1].fault[0].closed_by, O2_FAULT_PEER_MESSAGE);
	assert_int_equal(world->seat[0].down.side, O2_FAULT_PEER_CLOSED);
	assert_int_equal(world->seat[0].down.code, 0);
	assert_int_equal(world->seat[0].fault[0].closed_by, O2_FAULT_PEER_CLOSED);
	world_close(world);
}

TEST(closed_by_either)
{
	for (uint32_t closer = 0; closer < 2; closer++) {
		struct world *world = world_two(NULL, NULL);
		struct seat *seat = &world->seat[closer], *other = &world->seat[1 - closer];

		world_put(world, &world->seat[0], NID(1));
		o2_node_close_peer(seat->node, NID(1 - closer), 0);
		assert_int_equal(seat->ndown, 1);
		assert_int_equal(seat->down.code, 0);
		world_settle(world);
		assert_int_equal(other->ndown, 1);
		assert_int_equal(other->down.code, 0);
		assert_int_equal(o2_node_npeers(seat->node), 0);
		assert_int_equal(o2_node_npeers(other->node), 0);
		/* The next operation sets up a new connection. */
		world_put(world, &world->seat[0], NID(1));
		assert_int_equal(world->seat[0].status[1], 0);
		world_close(world);
	}
}

/* An operation started inside done, while the connection is destroyed, waits for a new connection. */
WORLD_TEST(started_as_it_closes)
{
	struct seat *a = &world->seat[0];

	world_put(world, a, NID(1));
	seat_put(a, NID(1));
	a->again = NID(1);
	o2_node_close_peer(world->seat[1].node, NID(0), 0);
	world_settle(world);
	assert_int_equal(a->nended, 3);
	assert_int_equal(a->status[1], -ECONNABORTED);
	assert_int_equal(a->status[2], 0);
	assert_linked(world, 0, 1, 1);
}

/* What an operation asks for is looked at when its connection is up.  A refusal then says nothing about the path. */
WORLD_TEST(refused_when_the_connection_comes_up)
{
	struct seat *a = &world->seat[0];
	struct o2_kiov kiov = {.page = 999999, .len = 4096};
	const struct o2_transfer_memory memory = {
		.buffer = {.kind = O2_KIOV, .count = 1, .nob = 4096, .kiov = &kiov}, .mode = O2_REG_GLOBAL};
	const struct o2_lnet_hdr hdr = lnet_hdr(a, NID(1), O2_LNET_PUT, 4096);

	a->nstarted++;
	assert_int_equal(o2_node_put(a->node, NID(1), &hdr, &memory, NULL), 0);
	world_settle(world);
	assert_linked(world, 0, 1, 1);
	assert_int_equal(a->nended, 1);
	assert_string_equal(a->fault[0].error.rule, "sg/kiov/no-such-page");
	assert_int_equal(a->health[0], O2_HEALTH_LOCAL_ERROR);
}

/* If it is our side that closes, what is started meanwhile is aborted, and makes no connection. */
WORLD_TEST(started_as_we_close)
{
	struct seat *a = &world->seat[0];
	struct o2_peer_view view;

	world_put(world, a, NID(1));
	seat_put(a, NID(1));
	a->again = NID(1);
	o2_node_close_peer(a->node, NID(1), -EIO);
	assert_int_equal(a->nended, 3);
	assert_int_equal(a->status[2], -ECONNABORTED);
	view = peer_view(a, NID(1));
	assert_int_equal(view.waiting, 0);
	assert_int_equal(view.attempts_due, 0);
	world_settle(world);
	assert_linked(world, 0, 1, 0);
}

/* A restarted peer counts as a new peer: the old connection ends, and the new request is served. */
WORLD_TEST(peer_restarts)
{
	struct seat *a = &world->seat[0], *b = &world->seat[1];

	world_put(world, a, NID(1));
	world->fate[O2_CM_LOOP_DISCONNECT] = O2_CM_LOOP_LOSE; /* b does not notice the end */
	o2_node_destroy(a->node);
	while (o2_cm_loop_deliver(world->loop, 0))
		;
	world->fate[O2_CM_LOOP_DISCONNECT] = O2_CM_LOOP_PASS;
	a->side.ni.config.incarnation += 77;
	seat_start(a);
	o2_node_clock(a->node, world->now_ms);
	assert_int_equal(peer_view(b, NID(0)).established, 1);
	world_put(world, a, NID(1));
	assert_int_equal(a->status[1], 0);
	assert_int_equal(b->ndown, 1);
	assert_int_equal(b->down.code, -ESTALE);
	assert_int_equal(b->down.error.value, a->side.ni.config.incarnation);
	assert_int_equal(peer_view(b, NID(0)).incarnation, a->side.ni.config.incarnation);
	assert_linked(world, 0, 1, 1);
}

/* An operation started while the last one fails (nobody answers) gets connection attempts of its own. */
WORLD_TEST(started_as_attempts_fail)
{
	struct seat *a = &world->seat[0];

	world->fate[O2_CM_LOOP_REQUEST] = O2_CM_LOOP_UNREACHABLE;
	a->again = NID(1);
	seat_put(a, NID(1));
	for (uint32_t step = 0; step < 100 && a->nended == 0; step++) {
		world_progress(world);
		o2_cm_loop_deliver(world->loop, 0);
	}
	assert_int_equal(a->nended, 1);
	assert_int_equal(peer_view(a, NID(1)).waiting, 1);
	assert_int_equal(peer_view(a, NID(1)).attempts, 0);
	world_settle(world);
	assert_int_equal(a->nended, 2);
}

/* A node is destroyed at each point of an attempt, with operations of both sides: all operations end. */
TEST(destroyed_at_each_point)
{
	for (uint32_t which = 0; which < 2; which++) {
		for (uint32_t steps = 0; steps < 8; steps++) {
			struct world *world = world_two(NULL, NULL);

			seat_put(&world->seat[0], NID(1));
			seat_put(&world->seat[0], NID(1));
			for (uint32_t i = 0; i < steps; i++) {
				world_progress(world);
				o2_cm_loop_deliver(world->loop, 0);
				if (i == 2)
					seat_put(&world->seat[1], NID(0));
			}
			o2_node_destroy(world->seat[which].node);
			world->seat[which].node = NULL;
			world_settle(world);
			/* The operations of the other side end because the peer does not answer. */
			world_pass(world, 60000);
			world_assert_ended(world);
			world_close(world);
		}
	}
}

TEST(bad_calls)
{
	static const uint8_t bytes[O2_MSG_BYTES + 1];
	const struct o2_lnet_hdr hdr = {.type = O2_LNET_PUT};
	struct o2_node_config config = small_config();
	struct world *world;
	struct o2_error error;

	config.max_waiting = 2;
	config.max_peers = 1;
	world = world_two(&config, NULL);
	assert_error(seat_start_op(&world->seat[0], NID(0), O2_LNET_PUT, 100, O2_REG_GLOBAL, &error), -EINVAL,
		     &error, "node/own-nid");
	assert_error(seat_start_op(&world->seat[0], 0, O2_LNET_PUT, 100, O2_REG_GLOBAL, &error), -EINVAL,
		     &error, "node/nid");
	assert_error(o2_node_send_bytes(world->seat[0].node, NID(1), &hdr, bytes, sizeof(bytes), 0, &error),
		     -EMSGSIZE, &error, "node/payload");
	seat_put(&world->seat[0], NID(1));
	seat_put(&world->seat[0], NID(1));
	assert_error(seat_start_op(&world->seat[0], NID(1), O2_LNET_PUT, 100, O2_REG_GLOBAL, &error), -EBUSY,
		     &error, "node/max-waiting");
	assert_true(error.value == 3 && error.limit == 2);
	assert_error(seat_start_op(&world->seat[0], NID(2), O2_LNET_PUT, 100, O2_REG_GLOBAL, &error), -EBUSY,
		     &error, "node/max-peers");
	assert_true(error.value == 2 && error.limit == 1);
	world_close(world);
}

WORLD_TEST(bad_configs)
{
	static const struct o2_node_ops none = {0};
	struct seat *a = &world->seat[0];
	struct o2_node *node = NULL;
	struct o2_error error;

	for (uint32_t i = 0; i < 9; i++) {
		struct o2_node_config config = small_config();

		config.conn.queue_depth = i == 0 ? 1 : i == 1 ? 256 : 8;
		config.conn.max_frags = i == 2 ? 0 : i == 3 ? 258 : 257;
		config.conn.version = i == 4 ? 0x13 : 0x12;
		config.conns_per_peer = i == 5 ? 0 : i == 6 ? 128 : 1;
		config.max_conns_per_peer = i == 7 ? 0 : 4;
		config.port = i == 8 ? 0 : 987;
		assert_error(o2_node_create(&a->side.ni, a->cm, &config, &none, a, &node, &error), -EINVAL,
			     &error, "node/config");
		assert_null(node);
	}
}
