/* SPDX-License-Identifier: MIT */
/*
 * A node asks a peer that is not o2ref: it answers every request with the same bytes.  Last, a node that cannot ask
 * at all, for want of a queue that is deep enough.
 */
#include "loopverbs/loopverbs.h"
#include "tests/lib/node_world.h"

#define CONNECT_MS 12500u /* a quarter of 50 s */

struct stranger {
	struct side side;
	struct o2_cm *cm;
	struct o2_cm_id *id;
	bool accepts;
	uint8_t bytes[O2_CM_REPLY_BYTES];
	size_t length;
	uint32_t nrequests;
};

static void stranger_event(void *context, const struct o2_cm_event *event)
{
	struct stranger *stranger = context;

	if (event->type == O2_CM_ESTABLISHED)
		return;
	if (event->type != O2_CM_REQUEST) {
		stranger->cm->ops->destroy(event->id);
		if (stranger->id == event->id)
			stranger->id = NULL;
		return;
	}
	stranger->nrequests++;
	if (stranger->accepts) {
		struct o2_cm_param param = {
			.qp = o2_conn_qp(stranger->side.conn),
			.ack_timeout = 14,
			.private_data = stranger->bytes,
			.private_bytes = stranger->length,
		};

		assert_int_equal(event->id->cm->ops->accept(event->id, &param, NULL), 0);
		stranger->id = event->id;
		return;
	}
	stranger->cm->ops->reject(event->id, stranger->bytes, stranger->length);
	stranger->cm->ops->destroy(event->id);
}

static void stranger_join(struct world *world, struct stranger *stranger)
{
	struct o2_conn_config config = O2_CONN_DEFAULTS;

	memset(stranger, 0, sizeof(*stranger));
	side_open(&stranger->side, false, O2_DMA_VIRTUAL, 0);
	assert_int_equal(o2_conn_create(&stranger->side.ni, &config, side_ops(), &stranger->side,
					&stranger->side.conn, NULL),
			 0);
	assert_int_equal(o2_cm_loop_attach(world->loop, &stranger->side.ni, ADDRESS(7), &stranger->cm, NULL),
			 0);
	stranger->cm->handler = stranger_event;
	stranger->cm->context = stranger;
	assert_int_equal(stranger->cm->ops->listen(stranger->cm, O2_SERVICE_PORT, NULL), 0);
}

static void stranger_leave(struct world *world, struct stranger *stranger)
{
	if (stranger->id != NULL)
		stranger->cm->ops->destroy(stranger->id);
	world_settle(world);
	o2_cm_loop_detach(stranger->cm);
	o2_conn_destroy(stranger->side.conn);
	o2_ni_close(&stranger->side.ni);
}

static struct o2_connreq_self stranger_self(void)
{
	return (struct o2_connreq_self){
		.nid = NID(7),
		.incarnation = 0x777,
		.version = 0x12,
		.queue_depth = 8,
		.max_frags = 257,
	};
}

/* An invalid CONNACK ends the connection, and the operations that wait for it. */
TEST(bad_connacks)
{
	static const struct {
		struct o2_conn_params says;
		uint64_t dstnid, dststamp;
		int code;
	} rows[] = {
		{{0x12, 9, 257, 4096}, 0, 0, -EPROTO}, {{0x12, 1, 257, 4096}, 0, 0, -EPROTO},
		{{0x12, 8, 258, 4096}, 0, 0, -EPROTO}, {{0x12, 8, 0, 4096}, 0, 0, -EPROTO},
		{{0x12, 8, 257, 8192}, 0, 0, -EPROTO}, {{0x12, 8, 257, 100}, 0, 0, -EPROTO},
		{{0x11, 8, 257, 4096}, 0, 0, -EPROTO}, {{0x12, 8, 257, 4096}, NID(1), 0, -ESTALE},
		{{0x12, 8, 257, 4096}, 0, 7, -ESTALE}, {{0, 0, 0, 0}, 0, 0, -EPROTO},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct world *world = world_two(NULL, NULL);
		struct seat *a = &world->seat[0];
		struct o2_connreq_self self = stranger_self();
		struct o2_connreq request = {.nid = rows[i].dstnid != 0 ? rows[i].dstnid : NID(0),
					     .incarnation = rows[i].dststamp != 0
								    ? rows[i].dststamp
								    : a->side.ni.config.incarnation};
		struct stranger stranger;

		stranger_join(world, &stranger);
		stranger.accepts = true;
		stranger.length = O2_CONNREQ_BYTES;
		if (rows[i].says.version != 0)
			assert_int_equal(o2_connack_build(&self, &request, &rows[i].says, stranger.bytes,
							  sizeof(stranger.bytes), NULL),
					 O2_CONNREQ_BYTES);
		seat_put(a, NID(7));
		world_put(world, a, NID(7));
		assert_int_equal(a->nended, 2);
		assert_int_equal(a->status[0], -ECONNABORTED);
		assert_int_equal(a->health[0], O2_HEALTH_LOCAL_DROPPED);
		assert_int_equal(a->nup, 0);
		assert_null(stranger.id); /* it was told at once */
		assert_int_equal(a->down.code, rows[i].code);
		stranger_leave(world, &stranger);
		world_close(world);
	}
}

/* The link of an invalid CONNACK is kept until the peer confirms the end, but not for longer than an attempt. */
WORLD_TEST(nobody_confirms_the_end)
{
	struct seat *a = &world->seat[0];
	struct stranger stranger;

	stranger_join(world, &stranger);
	stranger.accepts = true;
	stranger.length = O2_CONNREQ_BYTES;
	world->fate[O2_CM_LOOP_DISCONNECT] = O2_CM_LOOP_LOSE;
	world_put(world, a, NID(7));
	assert_int_equal(a->status[0], -ECONNABORTED);
	world_clock(world, CONNECT_MS - 1);
	world_settle(world);
	assert_int_equal(peer_view(a, NID(7)).links, 1);
	world_clock(world, 1);
	world_settle(world);
	assert_false(peer_view(a, NID(7)).known);
	stranger_leave(world, &stranger);
}

/* A peer that was closed between two attempts counts as one that was never tried: ten more start at once. */
WORLD_TEST(closed_between_attempts)
{
	struct seat *a = &world->seat[0];
	const struct o2_reject reject = {.ibr_version = 0x12,
					 .ibr_why = O2_REJECT_CONN_STALE,
					 .ibr_incarnation = 0x777,
					 .ibr_cp = {8, 257, 4096}};
	struct stranger stranger;

	stranger_join(world, &stranger);
	stranger.length = (size_t)o2_reject_encode(&reject, stranger.bytes, sizeof(stranger.bytes), NULL);
	world_put(world, a, NID(7));
	assert_int_equal(peer_view(a, NID(7)).attempts, 10);
	a->again = NID(7);
	o2_node_close_peer(a->node, NID(7), 0);
	assert_int_equal(a->nended, 1);
	assert_int_equal(peer_view(a, NID(7)).attempts, 0);
	world_settle(world);
	assert_int_equal(stranger.nrequests, 20);
	o2_node_close_peer(a->node, NID(7), 0);
	assert_int_equal(a->nended, 2);
	stranger_leave(world, &stranger);
}

/* A peer always refuses with a retryable reason: ten attempts at once, then one a second until time is up. */
TEST(refused_for_ever)
{
	static const uint8_t reasons[] = {O2_REJECT_CONN_RACE, O2_REJECT_CONN_STALE};

	for (size_t i = 0; i < sizeof(reasons); i++) {
		struct world *world = world_two(NULL, NULL);
		struct seat *a = &world->seat[0];
		struct o2_reject reject = {.ibr_version = 0x12,
					   .ibr_why = reasons[i],
					   .ibr_incarnation = 0x777,
					   .ibr_cp = {8, 257, 4096}};
		struct stranger stranger;

		stranger_join(world, &stranger);
		stranger.length = O2_REJECT_BYTES;
		assert_int_equal(o2_reject_encode(&reject, stranger.bytes, sizeof(stranger.bytes), NULL),
				 O2_REJECT_BYTES);
		world_put(world, a, NID(7));
		assert_int_equal(stranger.nrequests, 10);
		world_pass(world, 10000);
		assert_int_equal(stranger.nrequests, 20);
		assert_int_equal(a->nended, 0);
		world_pass(world, 12250);
		assert_int_equal(a->nended, 0);
		world_pass(world, 1500);
		assert_int_equal(a->nended, 1);
		assert_int_equal(a->status[0], -ETIMEDOUT);
		assert_int_equal(a->fault[0].side, O2_FAULT_DEADLINE);
		assert_int_equal(a->fault[0].wait, O2_WAIT_CONNECTION);
		assert_in_range(a->fault[0].error.value, CONNECT_MS + 10000, 10000 + 12250 + 1500);
		assert_int_equal(a->fault[0].error.limit, CONNECT_MS + 10000);
		assert_int_equal(a->health[0], O2_HEALTH_NETWORK_TIMEOUT);
		/* No operation waits any more, so the node sends no requests. */
		world_pass(world, 2000);
		assert_int_equal(peer_view(a, NID(7)).known, false);
		stranger_leave(world, &stranger);
		world_close(world);
	}
}

/* Any other reason to refuse, or none at all, ends the attempt at once. */
TEST(refused_for_good)
{
	for (uint8_t why = 0; why <= O2_REJECT_EARLY; why++) {
		struct world *world = world_two(NULL, NULL);
		struct seat *a = &world->seat[0];
		struct o2_reject reject = {.ibr_version = 0x12,
					   .ibr_why = why,
					   .ibr_incarnation = 0x777,
					   .ibr_cp = {8, 257, 4096}};
		struct stranger stranger;
		bool retries = why == O2_REJECT_CONN_RACE || why == O2_REJECT_CONN_STALE ||
			       why == O2_REJECT_CONN_UNCOMPAT;

		stranger_join(world, &stranger);
		if (why != 0 && !retries)
			stranger.length = (size_t)o2_reject_encode(&reject, stranger.bytes,
								   sizeof(stranger.bytes), NULL);
		world_put(world, a, NID(7));
		assert_int_equal(a->nended, 1);
		assert_int_equal(a->status[0], -ECONNREFUSED);
		assert_int_equal(a->health[0], O2_HEALTH_REMOTE_DROPPED);
		assert_int_equal(stranger.nrequests, 1);
		stranger_leave(world, &stranger);
		world_close(world);
	}
}

/* The device has memory for queues only at the second try, a depth of 7: version 1 is not negotiated with that. */
static int fail_once(void *arg, enum o2_loop_call call, uint32_t qp_num)
{
	bool *due = arg;
	const bool now = *due && call == O2_LOOP_CALL_MAKE;

	*due &= !now;
	return now ? ENOMEM : 0;
}

TEST(too_shallow_for_version_1)
{
	struct o2_node_config old = small_config();
	struct world *world;
	struct seat *a;
	bool due = true;

	old.conn.version = O2_MSG_VERSION_1;
	world = world_two(&old, &old);
	a = &world->seat[0];
	o2_loop_set_fault(fail_once, &due);
	world_put(world, a, NID(1));
	o2_loop_set_fault(NULL, NULL);
	assert_int_equal(a->status[0], -ENOMEM);
	assert_int_equal(a->ndown, 1);
	assert_string_equal(a->fault[0].error.rule, "node/device-depth");
	assert_int_equal(a->fault[0].error.value, 7);
	assert_int_equal(a->fault[0].error.limit, 8);
	world_put(world, a, NID(1));
	assert_int_equal(a->status[1], 0);
	assert_linked(world, 0, 1, 1);
	world_close(world);
}
