/* SPDX-License-Identifier: MIT */
#include <sched.h>

#include "base/monotonic.h"
#include "props/talk/nodes_backend.h"
#include "props/world/network.h"

/*
 * Two nodes on two kernel devices and librdmacm.  The network loses nothing and keeps its order, and what
 * comes when is its own affair.  Time is the real one, and what the choices let go by besides.
 */

#define START_MS   1000u
#define DELIVER_MS 20u

/* All that the network would have to do by itself; and there are two devices. */
static const enum o2_nodes_situation never[] = {O2_NODES_SEEN_THREE, O2_NODES_SEEN_UNREACHABLE,
						O2_NODES_SEEN_LOST};

static void pass(struct o2_nodes *nodes, uint64_t ms)
{
	nodes->passed_ms += ms;
	nodes->now_ms = START_MS + nodes->passed_ms + o2_monotonic_ms() - nodes->start_ms;
}

static int open_network(struct o2_nodes *nodes, struct o2_error *error)
{
	nodes->nseats = 2;
	nodes->passed_ms = 0;
	nodes->start_ms = o2_monotonic_ms();
	return o2_network_open_rdma(&nodes->network, error);
}

static int find_device(struct o2_nodes *nodes, uint32_t i, struct o2_ni_config *config, uint32_t *address,
		       struct o2_error *error)
{
	const struct o2_nodes_run *run = nodes->run;

	(void)error;
	config->device = run->device[i];
	config->gid_index = run->gid_index;
	*address = run->address[i];
	return 0;
}

static void note_held(struct o2_nodes *nodes)
{
	struct o2_held held;

	o2_held_now(&held);
	if (held.pinned_kib > nodes->run->most.pinned_kib)
		nodes->run->most = held;
}

static int attach(struct o2_nodes_seat *seat, struct o2_error *error)
{
	struct o2_network *network = seat->nodes->network;

	note_held(seat->nodes);
	return network->ops->attach(network, &seat->place.ni, seat->address, &seat->cm, error);
}

static void detach(struct o2_nodes_seat *seat)
{
	seat->nodes->network->ops->detach(seat->nodes->network, seat->cm);
}

static int pump(struct o2_nodes *nodes)
{
	int events = nodes->network->ops->progress(nodes->network);

	if (events < 0)
		o2_report_fail(nodes->report, "nodes/network", "the connection manager has failed: %d",
			       events);
	return events;
}

/* Is a node about to hear of one that it connects to, or has left? */
static bool expected(const struct o2_nodes *nodes)
{
	for (uint32_t i = 0; i < nodes->nseats; i++) {
		struct o2_peer_view view;

		o2_node_peer(nodes->seat[i].node, o2_nodes_nid(nodes, 1 - i), &view);
		if (view.links > view.established)
			return true;
	}
	return false;
}

static void deliver(struct o2_nodes *nodes)
{
	uint64_t end_ms = o2_monotonic_ms() + DELIVER_MS;

	while (pump(nodes) == 0 && expected(nodes) && o2_monotonic_ms() < end_ms)
		sched_yield();
}

static void close_network(struct o2_nodes *nodes)
{
	if (nodes->network != NULL)
		nodes->network->ops->close(nodes->network);
	nodes->network = NULL;
}

const struct o2_nodes_backend o2_nodes_on_kernel = {
	.retry_count = 5,
	.ack_timeout = 16, /* 0.27 s: slowness of a busy host is no lost packet */
	.never = never,
	.nnever = sizeof(never) / sizeof(never[0]),
	.moment_ms = 50,
	.open = open_network,
	.device = find_device,
	.attach = attach,
	.detach = detach,
	.deliver = deliver,
	.pump = pump,
	.pass = pass,
	.close = close_network,
};
