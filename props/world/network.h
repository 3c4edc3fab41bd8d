/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_NETWORK_H
#define O2_PROPS_NETWORK_H

#include <stdint.h>

#include "base/error.h"
#include "lnd/cm/cm.h"
#include "lnd/ni/ni.h"

/*
 * The network that the nodes of a property find each other on: a connection manager for each interface, and
 * one loop that drives them all.  There are two: one in the process (lnd/cm/loop.h), for interfaces of any
 * device, and librdmacm (lnd/cm/rdma.h), for those of the kernel's devices.  Which of them a program has is
 * seen from which of the open functions it calls, so that a program without devices links no librdmacm.
 * Source: docs/connection.md, "Connection managers".
 */

struct o2_network;

struct o2_cm_loop;

struct o2_network_ops {
	/*
	 * A connection manager for an interface at this IPv4 address: any that nobody else has in the
	 * process, the port's own (o2_network_address) on librdmacm.  ni outlives its place on the network.
	 * Returns 0 or -errno of o2_cm_loop_attach and o2_cm_rdma_open.
	 */
	int (*attach)(struct o2_network *network, const struct o2_ni *ni, uint32_t address, struct o2_cm **cm,
		      struct o2_error *error);
	/* Every id must have been destroyed (o2_node_destroy does). */
	void (*detach)(struct o2_network *network, struct o2_cm *cm);
	/* Hand out all events that are there, oldest first.  Returns how many, or -errno: a device has
	 * failed. */
	int (*progress)(struct o2_network *network);
	/* For poll(2): readable when cm has events.  -1: only a call shows that there are any. */
	int (*fd)(const struct o2_cm *cm);
	/* Every interface must have been detached. */
	void (*close)(struct o2_network *network);
};

struct o2_network {
	const struct o2_network_ops *ops;
};

/* Either of the two below. */
typedef int (*o2_network_open_fn)(struct o2_network **network, struct o2_error *error);

/* In the process.  Returns 0 or -ENOMEM. */
int o2_network_open_loop(struct o2_network **network, struct o2_error *error);

/* What connects there; network: of o2_network_open_loop. */
struct o2_cm_loop *o2_network_loop(const struct o2_network *network);

/* On librdmacm.  Returns 0 or -ENOMEM; whether the machine has it is seen when an interface is attached. */
int o2_network_open_rdma(struct o2_network **network, struct o2_error *error);

/*
 * The IPv4 address of a device's port 1: what the RoCE v2 GID at this index stands for (::ffff:a.b.c.d).
 * Opens the device for the question.  Returns 0; -ENODEV (no such device), -EADDRNOTAVAIL (no such GID, or no
 * IPv4 address), or -errno of ibv_open_device(3).
 */
int o2_network_address(const char *device, uint8_t gid_index, uint32_t *address, struct o2_error *error);

#endif
