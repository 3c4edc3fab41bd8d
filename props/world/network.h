/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_NETWORK_H
#define O2_PROPS_NETWORK_H

#include <stdint.h>

#include "base/error.h"
#include "lnd/cm/cm.h"
#include "lnd/ni/ni.h"

/*
 * The network on which the nodes of a property find each other: a connection manager for each interface, and
 * one loop that drives them all.  There are two: one in the process (lnd/cm/loop.h), for interfaces of any
 * device, and librdmacm (lnd/cm/rdma.h), for kernel devices.  A program links only the ones whose open
 * function it calls, so a program without devices does not link librdmacm.  Source: docs/connection.md,
 * "Connection managers".
 */

struct o2_network;

struct o2_cm_loop;

struct o2_network_ops {
	/*
	 * Create a connection manager for an interface at this IPv4 address: in the process any unused one,
	 * on librdmacm the port's own (o2_network_address).  ni outlives its attachment.  Returns 0 or -errno
	 * of o2_cm_loop_attach and o2_cm_rdma_open.
	 */
	int (*attach)(struct o2_network *network, const struct o2_ni *ni, uint32_t address, struct o2_cm **cm,
		      struct o2_error *error);
	/* Every id must have been destroyed (o2_node_destroy does). */
	void (*detach)(struct o2_network *network, struct o2_cm *cm);
	/* Deliver all pending events, oldest first.  Returns their number, or -errno: a device failed. */
	int (*progress)(struct o2_network *network);
	/* For poll(2): readable when cm has events.  -1: only progress shows whether there are any. */
	int (*fd)(const struct o2_cm *cm);
	/* Every interface must have been detached. */
	void (*close)(struct o2_network *network);
};

struct o2_network {
	const struct o2_network_ops *ops;
};

/* o2_network_open_loop or o2_network_open_rdma. */
typedef int (*o2_network_open_fn)(struct o2_network **network, struct o2_error *error);

/* Open a network in the process.  Returns 0 or -ENOMEM. */
int o2_network_open_loop(struct o2_network **network, struct o2_error *error);

/* The connection manager's loop of a network of o2_network_open_loop. */
struct o2_cm_loop *o2_network_loop(const struct o2_network *network);

/* Open a network on librdmacm.  Returns 0 or -ENOMEM; a machine without it is noticed when an interface is
 * attached. */
int o2_network_open_rdma(struct o2_network **network, struct o2_error *error);

/*
 * The IPv4 address of a device's port 1: the one that the RoCE v2 GID at this index encodes
 * (::ffff:a.b.c.d).  Opens the device for this.  Returns 0; -ENODEV (no such device), -EADDRNOTAVAIL (no such
 * GID, or no IPv4 address), or -errno of ibv_open_device(3).
 */
int o2_network_address(const char *device, uint8_t gid_index, uint32_t *address, struct o2_error *error);

#endif
