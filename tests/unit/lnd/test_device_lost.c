/* SPDX-License-Identifier: MIT */
/*
 * The device is lost while a node uses it: everything on it ends once, and the node reports the reason.  The
 * first tests use the in-process connection manager; the others use the one on librdmacm with a fake
 * librdmacm, because real devices cannot be lost on demand.
 */
#include <fcntl.h>
#include <rdma/rdma_cma.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "lnd/cm/rdma.h"
#include "loopverbs/loopverbs.h"
#include "tests/lib/node_world.h"

static void assert_refused(struct seat *seat, uint64_t nid)
{
	struct o2_error error;

	assert_error(seat_start_op(seat, nid, O2_LNET_PUT, 5000, O2_REG_GLOBAL, &error), -ENODEV, &error,
		     "node/device-lost");
}

/* The device is lost during an operation over an established connection. */
WORLD_TEST(connections_end)
{
	struct seat *a = &world->seat[0], *b = &world->seat[1];

	world_put(world, a, NID(1));
	assert_int_equal(a->nended, 1);
	assert_linked(world, 0, 1, 1);
	seat_put(a, NID(1));
	assert_int_equal(a->nended, 1);
	o2_cm_loop_lose_device(a->cm);
	assert_int_equal(a->nended, 2);
	assert_int_equal(a->status[1], -ECONNABORTED);
	assert_int_equal(a->ndown, 1);
	assert_int_equal(a->down.code, -ENODEV);
	assert_string_equal(a->down.error.rule, "node/device-lost");
	assert_int_equal(a->down.side, O2_FAULT_DEVICE);
	assert_refused(a, NID(1));
	/* No peer is left, and no new connection comes up. */
	world_settle(world);
	assert_int_equal(o2_node_npeers(a->node), 0);
	seat_put(b, NID(0));
	world_pass(world, 120000);
	assert_int_equal(b->nended, 1);
	assert_true(b->status[0] < 0);
	assert_int_equal(a->nup, 1);
}

/* Our attempts, a peer's attempts, the operations that wait for them, and a connection that is closing. */
TEST(attempts_end)
{
	struct world *world = world_two(NULL, NULL);
	struct seat *a = &world->seat[0], *b = &world->seat[1];

	seat_put(a, NID(1));
	seat_put(a, NID(1));
	o2_node_work(a->node);
	assert_int_equal(peer_view(a, NID(1)).connecting, 1);
	o2_cm_loop_lose_device(a->cm);
	assert_int_equal(a->nended, 2);
	assert_int_equal(a->status[0], -ENODEV);
	assert_int_equal(a->status[1], -ENODEV);
	assert_refused(a, NID(1));
	world_close(world);

	world = world_two(NULL, NULL);
	a = &world->seat[0];
	b = &world->seat[1];
	seat_put(b, NID(0));
	o2_node_work(b->node);
	assert_true(o2_cm_loop_deliver(world->loop, 0));
	assert_int_equal(peer_view(a, NID(1)).accepting, 1);
	o2_cm_loop_lose_device(a->cm);
	assert_int_equal(peer_view(a, NID(1)).accepting, 0);
	world_pass(world, 120000);
	assert_int_equal(b->nended, 1);
	world_close(world);

	world = world_two(NULL, NULL);
	a = &world->seat[0];
	world_put(world, a, NID(1));
	o2_node_close_peer(a->node, NID(1), 0);
	assert_int_equal(peer_view(a, NID(1)).links, 1);
	o2_cm_loop_lose_device(a->cm);
	o2_node_work(a->node);
	assert_int_equal(o2_node_npeers(a->node), 0);
	world_close(world);
}

/* --- a fake librdmacm --- */

#define QUEUE 8u

static struct {
	struct ibv_context *ours, *other;
	bool to_other; /* address resolution selects the other device */
	uint32_t ids, requests;
	struct rdma_cm_id *listener, *newest;
	struct rdma_cm_event event[QUEUE];
	uint32_t nevents;
} play;

static int fails_with(int code)
{
	errno = code;
	return -1;
}

static void tell(struct rdma_cm_id *id, enum rdma_cm_event_type type)
{
	assert_true(play.nevents < QUEUE);
	play.event[play.nevents++] = (struct rdma_cm_event){.id = id, .event = type};
}

struct rdma_event_channel *rdma_create_event_channel(void)
{
	struct rdma_event_channel *channel = calloc(1, sizeof(*channel));

	channel->fd = eventfd(0, EFD_CLOEXEC);
	return channel;
}

void rdma_destroy_event_channel(struct rdma_event_channel *channel)
{
	close(channel->fd);
	free(channel);
}

int rdma_create_id(struct rdma_event_channel *channel, struct rdma_cm_id **id, void *context,
		   enum rdma_port_space ps)
{
	*id = calloc(1, sizeof(**id));
	**id = (struct rdma_cm_id){.channel = channel, .context = context, .ps = ps};
	play.newest = *id;
	play.ids++;
	return 0;
}

/* Drops the id's events that have not been read. */
int rdma_destroy_id(struct rdma_cm_id *id)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < play.nevents; i++)
		if (play.event[i].id != id)
			play.event[kept++] = play.event[i];
	play.nevents = kept;
	play.ids--;
	free(id);
	return 0;
}

int rdma_bind_addr(struct rdma_cm_id *id, struct sockaddr *address)
{
	id->verbs = play.ours;
	return 0;
}

int rdma_listen(struct rdma_cm_id *id, int backlog)
{
	play.listener = id;
	return 0;
}

int rdma_resolve_addr(struct rdma_cm_id *id, struct sockaddr *source, struct sockaddr *destination,
		      int timeout_ms)
{
	id->verbs = play.to_other ? play.other : play.ours;
	tell(id, RDMA_CM_EVENT_ADDR_RESOLVED);
	return 0;
}

int rdma_resolve_route(struct rdma_cm_id *id, int timeout_ms)
{
	tell(id, RDMA_CM_EVENT_ROUTE_RESOLVED);
	return 0;
}

/* The peer never answers. */
int rdma_connect(struct rdma_cm_id *id, struct rdma_conn_param *param)
{
	play.requests++;
	return 0;
}

int rdma_get_cm_event(struct rdma_event_channel *channel, struct rdma_cm_event **event)
{
	if (play.nevents == 0)
		return fails_with(EAGAIN);
	*event = malloc(sizeof(**event));
	**event = play.event[0];
	memmove(play.event, play.event + 1, --play.nevents * sizeof(play.event[0]));
	return 0;
}

int rdma_ack_cm_event(struct rdma_cm_event *event)
{
	free(event);
	return 0;
}

/* Never called: there is no answer and no request. */
int rdma_accept(struct rdma_cm_id *id, struct rdma_conn_param *param)
{
	return fails_with(ENOSYS);
}

int rdma_reject(struct rdma_cm_id *id, const void *bytes, uint8_t length)
{
	return fails_with(ENOSYS);
}

int rdma_establish(struct rdma_cm_id *id)
{
	return fails_with(ENOSYS);
}

int rdma_disconnect(struct rdma_cm_id *id)
{
	return fails_with(ENOSYS);
}

int rdma_init_qp_attr(struct rdma_cm_id *id, struct ibv_qp_attr *attr, int *mask)
{
	return fails_with(ENOSYS);
}

__be16 rdma_get_dst_port(struct rdma_cm_id *id)
{
	return 0;
}

/* --- a node on the fake --- */

/* loop1 serves only as the other device. */
static void open_seat(struct seat *seat, struct side *other, bool listen)
{
	memset(seat, 0, sizeof(*seat));
	memset(&play, 0, sizeof(play));
	o2_loop_reset();
	side_open(&seat->side, true, O2_DMA_VIRTUAL, 0);
	side_open(other, false, O2_DMA_VIRTUAL, 0);
	play.ours = seat->side.ni.context;
	play.other = other->ni.context;
	seat->config = small_config();
	seat->config.listen = listen;
	assert_int_equal(o2_cm_rdma_open(&seat->side.ni, ADDRESS(0), &seat->cm, NULL), 0);
	seat_start(seat);
	o2_node_clock(seat->node, 1000);
	assert_int_equal(play.ids, listen ? 1 : 0);
}

static void close_seat(struct seat *seat, struct side *other)
{
	o2_node_destroy(seat->node);
	assert_int_equal(seat->nended, seat->nstarted);
	side_assert_idle(&seat->side);
	o2_cm_rdma_close(seat->cm);
	assert_int_equal(play.ids, 0);
	o2_ni_close(&seat->side.ni);
	o2_ni_close(&other->ni);
}

/* Asserts that the device is gone, with everything that was on it. */
static void assert_lost(struct seat *seat)
{
	struct o2_error error;

	assert_int_equal(play.ids, 0);
	assert_int_equal(seat->nended, seat->nstarted);
	for (uint32_t i = 0; i < seat->nstarted; i++)
		assert_int_equal(seat->status[i], -ENODEV);
	assert_refused(seat, NID(1));
	assert_int_equal(o2_cm_rdma_progress(seat->cm), -ENODEV);
	assert_int_equal(seat->cm->ops->listen(seat->cm, 987, &error), -ENODEV);
	assert_string_equal(error.rule, "cm/device-lost");
	o2_node_work(seat->node);
	assert_int_equal(o2_node_npeers(seat->node), 0);
}

/* The loss is reported to every id, in any order, and also to a listening id without connections. */
TEST(listening_ids_end)
{
	struct side other;
	struct seat seat;

	open_seat(&seat, &other, true);
	tell(play.listener, RDMA_CM_EVENT_DEVICE_REMOVAL);
	assert_int_equal(o2_cm_rdma_progress(seat.cm), -ENODEV);
	assert_lost(&seat);
	close_seat(&seat, &other);
}

/* After a failed open, the connection manager on a lost device must not call the node's handler. */
TEST(a_node_that_cannot_listen_leaves_no_handler)
{
	static const struct o2_node_ops none;
	struct o2_node *node = NULL;
	struct side other;
	struct seat seat;

	open_seat(&seat, &other, true);
	tell(play.listener, RDMA_CM_EVENT_DEVICE_REMOVAL);
	assert_int_equal(o2_cm_rdma_progress(seat.cm), -ENODEV);
	o2_node_destroy(seat.node);
	assert_int_equal(o2_node_create(&seat.side.ni, seat.cm, &seat.config, &none, NULL, &node, NULL),
			 -ENODEV);
	assert_null(node);
	assert_null(seat.cm->handler);
	o2_cm_rdma_close(seat.cm);
	o2_ni_close(&seat.side.ni);
	o2_ni_close(&other.ni);
}

TEST(ids_that_ask_end)
{
	/* Lose the device while the address is resolved, while the route is, and after the request. */
	for (uint32_t steps = 0; steps < 3; steps++)
		for (int listen = 0; listen < 2; listen++) {
			struct side other;
			struct seat seat;

			open_seat(&seat, &other, listen != 0);
			seat_put(&seat, NID(1));
			o2_node_work(seat.node);
			assert_int_equal(play.ids, 1 + listen);
			if (steps > 1)
				assert_int_equal(o2_cm_rdma_progress(seat.cm), 2);
			assert_int_equal(play.requests, steps > 1);
			if (steps == 0)
				play.nevents = 0;
			tell(play.newest, RDMA_CM_EVENT_DEVICE_REMOVAL);
			if (listen != 0)
				tell(play.listener, RDMA_CM_EVENT_DEVICE_REMOVAL);
			assert_int_equal(o2_cm_rdma_progress(seat.cm), -ENODEV);
			assert_int_equal(seat.nstarted, 1);
			assert_lost(&seat);
			close_seat(&seat, &other);
		}
}

/* A device other than the interface's is lost: only the attempt whose address resolved to it ends. */
TEST(another_device)
{
	struct side other;
	struct seat seat;

	open_seat(&seat, &other, true);
	play.to_other = true;
	seat_put(&seat, NID(1));
	o2_node_work(seat.node);
	play.nevents = 0;
	tell(play.newest, RDMA_CM_EVENT_DEVICE_REMOVAL);
	assert_int_equal(o2_cm_rdma_progress(seat.cm), 1);
	assert_int_equal(seat.status[0], -EHOSTUNREACH);
	assert_int_equal(play.ids, 1);
	play.to_other = false;
	seat_put(&seat, NID(1));
	o2_node_work(seat.node);
	assert_int_equal(o2_cm_rdma_progress(seat.cm), 2);
	assert_int_equal(play.requests, 1);
	close_seat(&seat, &other);
}
