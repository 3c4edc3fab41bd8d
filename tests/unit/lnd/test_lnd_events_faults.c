/* SPDX-License-Identifier: MIT */
#include "loopverbs/loopverbs.h"
#include "tests/lib/node_world.h"

#include <unistd.h>

/* Arming and its events when a call fails or a connection ends (docs/transport.md, "Sleeping"). */

static uint32_t polls_to_failure;

static int fail_poll(void *arg, enum o2_loop_call call, uint32_t qp_num)
{
	if (call != O2_LOOP_CALL_POLL || polls_to_failure == 0)
		return 0;
	return --polls_to_failure == 0 ? ENOMEM : 0;
}

static int pick_none(void *context, const uint32_t *qp_nums, unsigned int count)
{
	return -1;
}

/* Opens two nodes with a connection, and an operation of the first that is under way. */
static struct world *world_at_work(bool events)
{
	struct world *world;

	side_events = events;
	world = world_two(NULL, NULL);
	side_events = false;
	world_put(world, &world->seat[0], NID(1));
	assert_int_equal(world->seat[0].nended, 1);
	o2_loop_set_pick(pick_none, NULL);
	seat_put(&world->seat[0], NID(1));
	return world;
}

static void world_after_work(struct world *world, int status)
{
	o2_loop_set_pick(NULL, NULL);
	world_settle(world);
	assert_int_equal(world->seat[0].nended, 2);
	assert_int_equal(world->seat[0].status[1], status);
	world_close(world);
}

/* Either the call that arms the queue fails, or the poll after it. */
TEST(arming_fails)
{
	static const char *const rules[] = {"conn/arm", "conn/poll"};

	for (uint32_t nth = 0; nth < 2; nth++) {
		struct world *world = world_at_work(true);
		struct seat *seat = &world->seat[0];

		polls_to_failure = nth + 1;
		o2_loop_set_fault(fail_poll, NULL);
		assert_true(o2_node_arm(seat->node) > 0);
		o2_loop_set_fault(NULL, NULL);
		assert_int_equal(polls_to_failure, 0);
		assert_int_equal(seat->ndown, 1);
		assert_int_equal(seat->down.side, O2_FAULT_DEVICE);
		assert_int_equal(seat->down.code, -EIO);
		assert_string_equal(seat->down.error.rule, rules[nth]);
		world_after_work(world, -ECONNABORTED);
	}
}

/* An interface that was opened without events refuses to arm, and otherwise works. */
TEST(without_events)
{
	struct world *world = world_at_work(false);
	struct seat *seat = &world->seat[0];

	assert_int_equal(o2_ni_fd(&seat->side.ni), -1);
	assert_int_equal(o2_ni_take_events(&seat->side.ni), -EOPNOTSUPP);
	assert_int_equal(o2_node_arm(seat->node), -EOPNOTSUPP);
	assert_int_equal(o2_conn_arm(o2_node_conn(seat->node, NID(1), 0)), -EOPNOTSUPP);
	assert_int_equal(seat->ndown, 0);
	world_after_work(world, 0);
}

/* An operation has asked for a connection: the attempt starts in the next round, without a sleep. */
TEST(attempts_are_due)
{
	struct world *world;
	struct seat *seat;

	side_events = true;
	world = world_two(NULL, NULL);
	side_events = false;
	seat = &world->seat[0];
	assert_int_equal(o2_node_arm(seat->node), 0);
	seat_put(seat, NID(1));
	assert_int_equal(o2_node_arm(seat->node), 1);
	o2_node_progress(seat->node);
	assert_int_equal(o2_node_arm(seat->node), 0);
	assert_int_equal(o2_cm_loop_choices(world->loop), 1);
	world_settle(world);
	assert_int_equal(seat->nended, 1);
	world_close(world);
}

/* A channel that cannot be read would never wake the node, so arming fails. */
TEST(channel_breaks)
{
	struct world *world = world_at_work(true);
	struct seat *seat = &world->seat[0];
	int fd = o2_ni_fd(&seat->side.ni), kept = dup(fd);

	assert_true(kept >= 0);
	assert_int_equal(close(fd), 0);
	assert_int_equal(o2_ni_take_events(&seat->side.ni), -EBADF);
	assert_int_equal(o2_node_arm(seat->node), -EBADF);
	assert_int_equal(dup2(kept, fd), fd);
	assert_int_equal(close(kept), 0);
	assert_true(o2_node_arm(seat->node) >= 0);
	world_after_work(world, 0);
}

/* A connection may end while its event is pending; a closed connection has nothing to arm. */
TEST(ends_with_an_event)
{
	struct world *world = world_at_work(true);
	struct seat *seat = &world->seat[0];
	struct o2_conn *conn = o2_node_conn(seat->node, NID(1), 0);

	assert_int_equal(o2_node_arm(seat->node), 0);
	o2_loop_set_pick(NULL, NULL);
	o2_loop_progress();
	assert_true(seat_readable(seat));
	o2_conn_close(conn, -ECONNRESET);
	assert_int_equal(o2_conn_arm(conn), -ECONNRESET);
	world_after_work(world, -ECONNABORTED);
}

static bool no_channel, no_file; /* no channel can be created; a new channel's descriptor is closed */

struct ibv_comp_channel *__real_ibv_create_comp_channel(struct ibv_context *context);
struct ibv_comp_channel *__wrap_ibv_create_comp_channel(struct ibv_context *context);
struct ibv_comp_channel *__wrap_ibv_create_comp_channel(struct ibv_context *context)
{
	struct ibv_comp_channel *channel = no_channel ? NULL : __real_ibv_create_comp_channel(context);

	if (channel == NULL)
		errno = EMFILE;
	else if (no_file)
		close(channel->fd);
	return channel;
}

TEST(opening_fails)
{
	struct o2_ni_config config = side_config(true, O2_DMA_VIRTUAL, 0);
	struct o2_error error;
	struct o2_ni ni;

	config.events = true;
	no_channel = true;
	assert_int_equal(o2_ni_open(&config, &ni, &error), -EMFILE);
	no_channel = false;
	assert_string_equal(error.rule, "ni/channel");
	assert_string_equal(error.field, "channel");
	assert_objects(0, 0, 0);
	no_file = true;
	assert_int_equal(o2_ni_open(&config, &ni, &error), -EBADF);
	no_file = false;
	assert_string_equal(error.rule, "ni/channel");
	assert_string_equal(error.field, "fd");
	assert_objects(0, 0, 0);
	assert_int_equal(o2_ni_open(&config, &ni, &error), 0);
	assert_true(o2_ni_fd(&ni) >= 0);
	o2_ni_close(&ni);
	assert_objects(0, 0, 0);
}
