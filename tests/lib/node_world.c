/* SPDX-License-Identifier: MIT */
#include "tests/lib/node_world.h"

#include "loopverbs/loopverbs.h"
#include "tests/lib/lnd_memory.h"

enum o2_cm_loop_fate world_fate(void *arg, enum o2_cm_loop_message message, uint32_t from, uint32_t to)
{
	struct world *world = arg;

	world->nsent[message]++;
	return world->fate[message];
}

struct o2_node_config small_config(void)
{
	struct o2_node_config config = O2_NODE_DEFAULTS;

	config.conn.max_frags = O2_MAX_FRAGS;
	config.conn.queue_depth = 8;
	return config;
}

struct world *world_open(uint32_t nseats, const struct o2_node_config *const configs[])
{
	struct world *world = calloc(1, sizeof(*world));

	assert_non_null(world);
	o2_loop_reset(); /* an earlier test that failed may have left objects */
	world->loop = o2_cm_loop_create();
	assert_non_null(world->loop);
	o2_cm_loop_set_fate(world->loop, world_fate, world);
	world->nseats = nseats;
	world->now_ms = 1000;
	for (uint32_t i = 0; i < nseats; i++) {
		struct seat *seat = &world->seat[i];

		side_open(&seat->side, i != 1, O2_DMA_VIRTUAL, 0);
		seat->side.ni.config.nid = NID(i);
		seat->side.ni.config.incarnation = 0x0006000000000001ull + i;
		seat->config = configs != NULL && configs[i] != NULL ? *configs[i] : small_config();
		assert_int_equal(o2_cm_loop_attach(world->loop, &seat->side.ni, ADDRESS(i), &seat->cm, NULL),
				 0);
		seat_start(seat);
		o2_node_clock(seat->node, world->now_ms);
	}
	return world;
}

void world_clock(struct world *world, uint64_t ms)
{
	world->now_ms += ms;
	for (uint32_t i = 0; i < world->nseats; i++)
		if (world->seat[i].node != NULL)
			o2_node_clock(world->seat[i].node, world->now_ms);
}

bool world_progress(struct world *world)
{
	int handled = 0;

	for (uint32_t i = 0; i < world->nseats; i++)
		if (world->seat[i].node != NULL)
			handled += o2_node_progress(world->seat[i].node);
	return handled > 0;
}

void world_settle(struct world *world)
{
	time_t end = pair_now() + PAIR_SECONDS;
	uint32_t quiet = 0;

	/* Several quiet rounds, because a node needs separate calls to clean up and to start what is due. */
	while (quiet < 3) {
		bool busy = world_progress(world);

		busy |= o2_cm_loop_deliver(world->loop, 0);
		quiet = busy ? 0 : quiet + 1;
		assert_true(pair_now() <= end);
	}
}

void world_pass(struct world *world, uint64_t ms)
{
	for (uint64_t step; ms > 0; ms -= step) {
		step = ms < 250 ? ms : 250;
		world_settle(world);
		world_clock(world, step);
	}
	world_settle(world);
}

void world_assert_ended(const struct world *world)
{
	for (uint32_t i = 0; i < world->nseats; i++)
		seat_assert_ended(&world->seat[i]);
}

void world_close(struct world *world)
{
	for (uint32_t i = 0; i < world->nseats; i++) {
		o2_node_destroy(world->seat[i].node);
		world->seat[i].node = NULL;
	}
	while (o2_cm_loop_deliver(world->loop, 0))
		;
	world_assert_ended(world);
	for (uint32_t i = 0; i < world->nseats; i++) {
		side_assert_idle(&world->seat[i].side);
		o2_cm_loop_detach(world->seat[i].cm);
		o2_ni_close(&world->seat[i].side.ni);
	}
	assert_objects(0, 0, 0);
	o2_cm_loop_destroy(world->loop);
	free(world);
}

void seat_put(struct seat *from, uint64_t nid)
{
	assert_int_equal(seat_start_op(from, nid, O2_LNET_PUT, 5000, O2_REG_GLOBAL, NULL), 0);
}

void world_put(struct world *world, struct seat *from, uint64_t nid)
{
	seat_put(from, nid);
	world_settle(world);
}

void world_answer(struct world *world, uint32_t nob, enum o2_reg_mode mode)
{
	static struct o2_kiov kiov[O2_MAX_FRAGS];

	for (uint32_t i = 0; i < world->nseats; i++)
		world->seat[i].side.answer = dense(kiov, 400, nob, mode);
}

struct world *world_two(const struct o2_node_config *a, const struct o2_node_config *b)
{
	const struct o2_node_config *const configs[] = {a, b};
	struct world *world = world_open(2, configs);

	world_answer(world, 5000, O2_REG_GLOBAL);
	return world;
}

void assert_linked(const struct world *world, uint32_t i, uint32_t j, uint32_t count)
{
	for (uint32_t k = 0; k < 2; k++) {
		struct o2_peer_view view = peer_view(&world->seat[k ? j : i], NID(k ? i : j));

		assert_int_equal(view.established, count);
		assert_int_equal(view.links, count);
		assert_int_equal(view.connecting, 0);
		assert_int_equal(view.accepting, 0);
		assert_int_equal(view.attempts_due, 0);
		assert_int_equal(view.waiting, 0);
	}
}

/* Post bytes that are not a valid message to the queue pair of the connection to `nid`. */
static void send_garbage(struct seat *from, uint64_t nid)
{
	static uint8_t bytes[64];
	struct ibv_qp *qp = o2_conn_qp(o2_node_conn(from->node, nid, 0));
	struct ibv_mr *mr = ibv_reg_mr(from->side.ni.pd, bytes, sizeof(bytes), 0);
	struct ibv_sge sge = {.addr = (uintptr_t)bytes, .length = sizeof(bytes)};
	struct ibv_send_wr wr = {.opcode = IBV_WR_SEND, .sg_list = &sge, .num_sge = 1};
	struct ibv_send_wr *bad;

	assert_non_null(mr);
	sge.lkey = mr->lkey;
	assert_int_equal(ibv_post_send(qp, &wr, &bad), 0);
	o2_loop_progress();
	ibv_dereg_mr(mr);
}

struct world *world_broken_at_once(void)
{
	struct world *world = world_two(NULL, NULL);

	seat_put(&world->seat[0], NID(1));
	world_progress(world);
	o2_cm_loop_deliver(world->loop, 0); /* request */
	seat_put(&world->seat[1], NID(0));
	o2_cm_loop_deliver(world->loop, 0); /* reply */
	send_garbage(&world->seat[0], NID(1));
	world_settle(world);
	return world;
}

static enum o2_cm_loop_fate none_gets_through(void *arg, enum o2_cm_loop_message message, uint32_t from,
					      uint32_t to)
{
	const struct world *world = arg;
	const bool races = from == ADDRESS(0) && world->nsent[O2_CM_LOOP_REJECT] < O2_MAX_CONN_RACES;

	world_fate(arg, message, from, to);
	return message != O2_CM_LOOP_REQUEST || races ? O2_CM_LOOP_PASS : O2_CM_LOOP_LOSE;
}

struct world *world_that_never_connects(void)
{
	struct o2_node_config loser = small_config(), winner = small_config();
	struct world *world;

	loser.conn.timeout_ms = 20000;
	winner.conn.timeout_ms = 100000;
	world = world_two(&loser, &winner);
	o2_cm_loop_set_fate(world->loop, none_gets_through, world);
	seat_put(&world->seat[1], NID(0));
	seat_put(&world->seat[0], NID(1));
	world_progress(world);
	return world;
}
