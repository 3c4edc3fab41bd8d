/* SPDX-License-Identifier: MIT */
/*
 * Two nodes over librdmacm connect, negotiate, move bytes, fail and disconnect just as they do in one
 * process.
 */
#include "props/engine/process_held.h"
#include "props/world/network.h"
#include "tests/device/cm/rdma_world.h"

#define WORLD_OPEN_TEST(name) TEST_ON(name, struct world, world, world_open(NULL, NULL), world_close)

static void attach_at(uint32_t address, const struct o2_ni *ni, bool listens)
{
	struct o2_network *network;
	struct o2_error error;
	struct o2_cm *cm;

	assert_int_equal(o2_network_open_rdma(&network, NULL), 0);
	if (network->ops->attach(network, ni, address, &cm, &error) != 0) {
		show_error("attach", &error);
		fail();
	}
	if (listens)
		assert_int_equal(cm->ops->listen(cm, TEST_PORT, NULL), 0);
	network->ops->detach(network, cm);
	network->ops->close(network);
}

/* Must run first: librdmacm opens a device once and keeps resources for it, from the first attachment on. */
TEST(an_attachment_leaves_what_a_listener_leaves)
{
	struct o2_process_held held, now;
	struct side side;

	side_open(&side, true, O2_DMA_VIRTUAL, 0);
	attach_at(address_of(true), &side.ni, false);
	o2_process_held_now(&held);
	attach_at(address_of(true), &side.ni, true);
	assert_true(o2_process_held_again(&held, &now));
	o2_ni_close(&side.ni);
}

TEST(bytes_arrive)
{
	static const enum o2_reg_mode modes[] = {O2_REG_GLOBAL, O2_REG_FMR, O2_REG_FASTREG};
	static struct o2_kiov from[O2_MAX_FRAGS], to[O2_MAX_FRAGS];
	struct world *world = world_open(NULL, NULL);
	struct seat *a = &world->seat[0], *b = &world->seat[1];

	for (uint32_t i = 0; i < 3; i++) {
		struct o2_transfer_memory source = dense(from, 0, 70000, modes[i]);
		struct o2_transfer_memory sink = dense(to, 400, 70000, modes[i]);
		struct images images = images_take(&a->side, &b->side, i);

		b->side.answer = sink;
		assert_int_equal(seat_start_op(a, seat_nid(world, 1), O2_LNET_PUT, 70000, modes[i], NULL), 0);
		world_until(world, a->nended == 2 * i + 1 && b->nserved == 2 * i + 1);
		assert_int_equal(a->status[2 * i], 0);
		images_check(&images, &a->side, &source.buffer, &b->side, &sink.buffer, 70000);
		images = images_take(&b->side, &a->side, i + 10);
		assert_int_equal(seat_start_op(a, seat_nid(world, 1), O2_LNET_GET, 70000, modes[i], NULL), 0);
		world_until(world, a->nended == 2 * i + 2 && b->nserved == 2 * i + 2);
		assert_int_equal(a->status[2 * i + 1], 0);
		images_check(&images, &b->side, &sink.buffer, &a->side, &source.buffer, 70000);
	}
	assert_int_equal(a->nup, 1);
	world_close(world);
}

TEST(terms)
{
	static const struct node_terms rows[] = {
		{0x12, 0x12, 4, 8, 257, 257, 1, 0x12, 4, 257},
		{0x12, 0x12, 16, 8, 257, 257, 2, 0x12, 8, 257},
		{0x12, 0x12, 16, 4, 257, 256, 2, 0x12, 4, 256},
		{0x11, 0x12, 8, 8, 257, 257, 1, 0x11, 8, 257},
		{0x12, 0x11, 16, 8, 257, 257, 2, 0x11, 8, 257},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct o2_node_config a = usual_config(), b = usual_config();
		struct o2_conn_view view;
		struct world *world;

		node_terms_ask(&rows[i], &a, &b);
		world = world_open(&a, &b);
		put(world, 0);
		world_until(world, world->seat[0].nended == 1);
		assert_int_equal(world->seat[0].status[0], 0);
		o2_conn_view(o2_node_conn(world->seat[0].node, seat_nid(world, 1), 0), &view);
		assert_int_equal(view.flow.version, rows[i].version);
		assert_int_equal(view.flow.queue_depth, rows[i].depth);
		assert_int_equal(view_at(world, 0).max_frags, rows[i].frags);
		world_close(world);
	}
}

TEST(several_connections)
{
	struct o2_node_config config = usual_config();
	struct world *world;

	config.conns_per_peer = 3;
	world = world_open(&config, NULL);
	for (uint32_t i = 0; i < 6; i++)
		put(world, 0);
	world_until(world, world->seat[0].nended == 6 && view_at(world, 0).established == 3 &&
				   view_at(world, 1).established == 3);
	for (uint32_t i = 0; i < 6; i++)
		assert_int_equal(world->seat[0].status[i], 0);
	world_close(world);
}

WORLD_OPEN_TEST(race)
{
	put(world, 0);
	put(world, 1);
	world_until(world, world->seat[0].nended == 1 && world->seat[1].nended == 1);
	assert_int_equal(world->seat[0].status[0], 0);
	assert_int_equal(world->seat[1].status[0], 0);
}

WORLD_OPEN_TEST(closed_by_either)
{
	for (uint32_t closer = 0; closer < 2; closer++) {
		put(world, 0);
		world_until(world, world->seat[0].nended == closer + 1 && world->seat[1].nup == closer + 1);
		assert_int_equal(world->seat[0].status[closer], 0);
		o2_node_close_peer(world->seat[closer].node, seat_nid(world, 1 - closer), 0);
		world_until(world, world->seat[1 - closer].ndown == closer + 1);
		assert_int_equal(world->seat[1 - closer].down.code, 0);
		world_until(world, !view_at(world, 0).known && !view_at(world, 1).known);
	}
}

TEST(nobody_there)
{
	struct o2_node_config deaf = usual_config();
	struct world *world;

	deaf.listen = false;
	world = world_open(NULL, &deaf);
	put(world, 0);
	/* Nobody has these addresses: the first has no route, the second has no neighbour. */
	assert_int_equal(
		seat_start_op(&world->seat[0], nid_at(0x0a636363), O2_LNET_PUT, 70000, O2_REG_GLOBAL, NULL),
		0);
	world_until(world, world->seat[0].nended == 2);
	assert_int_equal(world->seat[0].status[0], -EHOSTUNREACH);
	assert_int_equal(world->seat[0].status[1], -EHOSTUNREACH);
	world_close(world);
}

WORLD_OPEN_TEST(too_early)
{
	struct seat *a = &world->seat[0];

	o2_node_set_up(world->seat[1].node, false);
	put(world, 0);
	world_until(world, a->nended == 1);
	assert_int_equal(a->status[0], -ECONNREFUSED);
	assert_int_equal(a->down.error.value, O2_REJECT_EARLY);
	o2_node_set_up(world->seat[1].node, true);
	put(world, 0);
	world_until(world, a->nended == 2);
	assert_int_equal(a->status[1], 0);
}

WORLD_OPEN_TEST(peer_restarts)
{
	struct seat *a = &world->seat[0], *b = &world->seat[1];

	put(world, 0);
	world_until(world, a->nended == 1);
	o2_node_destroy(b->node);
	b->node = NULL;
	o2_cm_rdma_close(b->cm);
	b->side.ni.config.incarnation += 77;
	assert_int_equal(o2_cm_rdma_open(&b->side.ni, seat_address(b), &b->cm, NULL), 0);
	seat_start_now(b);
	world_until(world, a->ndown == 1);
	put(world, 0);
	world_until(world, a->nended == 2);
	assert_int_equal(a->status[1], 0);
	assert_int_equal(view_at(world, 0).incarnation, b->side.ni.config.incarnation);
}

/* A queue pair fails during a transfer: both sides end every open operation once, and then reconnect. */
WORLD_OPEN_TEST(queue_pair_killed)
{
	for (uint32_t killer = 0; killer < 2; killer++) {
		struct ibv_qp_attr attr = {.qp_state = IBV_QPS_ERR};
		uint32_t first = world->seat[0].nstarted;

		put(world, 0);
		world_until(world, world->seat[0].nended == first + 1);
		assert_int_equal(world->seat[0].status[first], 0);
		for (uint32_t i = 0; i < 4; i++)
			put(world, 0);
		world_until(world, world->seat[1].side.nmatched > first + 1);
		assert_true(world->seat[0].nended < first + 5);
		assert_int_equal(ibv_modify_qp(o2_conn_qp(o2_node_conn(world->seat[killer].node,
								       seat_nid(world, 1 - killer), 0)),
					       &attr, IBV_QP_STATE),
				 0);
		world_until(world, world->seat[0].nended == first + 5 && !view_at(world, 0).known &&
					   !view_at(world, 1).known);
	}
	put(world, 0);
	world_until(world, world->seat[0].nended == world->seat[0].nstarted);
	assert_int_equal(world->seat[0].status[world->seat[0].nstarted - 1], 0);
}
