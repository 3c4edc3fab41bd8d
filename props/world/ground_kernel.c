/* SPDX-License-Identifier: MIT */
#include "base/monotonic.h"
#include "props/world/device.h"
#include "props/world/ground.h"

/*
 * Two nodes on two kernel devices and librdmacm.  The network loses nothing and keeps its order, but delays
 * vary.  The time is the real time, plus what the choices let pass.  The traffic between the devices cannot
 * be observed, so each node is judged by what it sends and receives.
 */

#define DELIVER_MS 20u

static void pass(struct o2_ground *ground, uint64_t ms)
{
	ground->passed_ms += ms;
	ground->now_ms = O2_GROUND_START_MS + ground->passed_ms + o2_monotonic_ms() - ground->start_ms;
}

static int open_network(struct o2_ground *ground, struct o2_error *error)
{
	ground->passed_ms = 0;
	ground->start_ms = o2_monotonic_ms();
	ground->now_ms = O2_GROUND_START_MS;
	return o2_network_open_rdma(&ground->network, error);
}

static int find_device(struct o2_ground *ground, uint32_t i, struct o2_ni_config *config, uint32_t *address,
		       struct o2_error *error)
{
	const struct o2_ground_devices *devices = ground->devices;

	config->device = devices->device[i];
	config->gid_index = devices->gid_index;
	*address = devices->address[i];
	return o2_ground_watch(ground, i, config, error);
}

static void note_held(struct o2_ground *ground)
{
	struct o2_held held;

	o2_held_now(&held);
	if (held.pinned_kib > ground->devices->most.pinned_kib)
		ground->devices->most = held;
}

static int attach(struct o2_ground *ground, struct o2_ni *ni, uint32_t address, struct o2_cm **cm,
		  struct o2_error *error)
{
	note_held(ground);
	return ground->network->ops->attach(ground->network, ni, address, cm, error);
}

static void detach(struct o2_ground *ground, struct o2_cm *cm)
{
	ground->network->ops->detach(ground->network, cm);
}

static int pump(struct o2_ground *ground)
{
	return ground->network->ops->progress(ground->network);
}

static void deliver(struct o2_ground *ground)
{
	uint64_t end_ms = o2_monotonic_ms() + DELIVER_MS;

	while (pump(ground) == 0 && ground->expects(ground->context) && o2_monotonic_ms() < end_ms)
		o2_device_pause();
}

static void close_network(struct o2_ground *ground)
{
	if (ground->network != NULL)
		ground->network->ops->close(ground->network);
	ground->network = NULL;
	o2_ground_unwatch(ground);
}

const struct o2_ground_ops o2_ground_on_kernel = {
	.retry_count = 5,
	.ack_timeout = 19, /* as in docs/transport.md: a slow host must not look like a lost packet */
	.most_nodes = 2,
	.moment_ms = 50,
	O2_GROUND_OPS,
};
