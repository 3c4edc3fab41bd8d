/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_GROUND_H
#define O2_PROPS_GROUND_H

#include <stdbool.h>
#include <stdint.h>

#include "lnd/cm/cm.h"
#include "lnd/cm/loop.h"
#include "lnd/ni/ni.h"
#include "props/engine/choice.h"
#include "props/engine/report.h"
#include "props/world/held.h"
#include "props/world/network.h"

/*
 * The ground of the nodes of a case: devices, the network on which they find each other, and the time.  There
 * are two grounds, and a program links only those that it names: the one without devices needs no librdmacm,
 * the one with devices no loopverbs.
 */

struct o2_ground;
struct o2_end_watch;
struct o2_witness;

#define O2_GROUND_NODES 4u /* most nodes of a ground */

/* Kernel devices for two nodes. */
struct o2_ground_devices {
	const char *device[2];
	uint8_t gid_index;   /* RoCEv2 GID index of both */
	uint32_t address[2]; /* IPv4 addresses, derived from the GIDs */
	struct o2_held most; /* the most that a case held of them */
};

struct o2_ground_ops {
	uint8_t retry_count, ack_timeout; /* for queue pairs, as in struct o2_conn_config */
	uint32_t most_nodes;
	/* The network may lose, refuse and reorder if o2_ground.faults is set. */
	bool may_fail;
	/* Does the device fail the next call that arms or polls a completion queue?  NULL: it cannot. */
	void (*fail_poll)(bool fail);
	/* ms without an event after which nothing counts as in flight; 0: the ground knows at once. */
	uint32_t moment_ms;

	/* Open the network of a case.  0 or -errno. */
	int (*open)(struct o2_ground *ground, struct o2_error *error);
	/* Set the device of node i, its GID and watch in *config, and the node's IPv4 address. */
	int (*device)(struct o2_ground *ground, uint32_t i, struct o2_ni_config *config, uint32_t *address,
		      struct o2_error *error);
	/* Attach an interface to a connection manager, and detach it. */
	int (*attach)(struct o2_ground *ground, struct o2_ni *ni, uint32_t address, struct o2_cm **cm,
		      struct o2_error *error);
	void (*detach)(struct o2_ground *ground, struct o2_cm *cm);
	/* Deliver one event that is in flight, if any. */
	void (*deliver)(struct o2_ground *ground);
	/* Handle the next event, or all pending ones; returns the number, 0: none; -errno: the network failed. */
	int (*pump)(struct o2_ground *ground);
	/* Let ms milliseconds pass, besides the time that passed by itself, and update now_ms. */
	void (*pass)(struct o2_ground *ground, uint64_t ms);
	/* Close the network; the nodes must be gone, interfaces detached.  Allowed if not opened. */
	void (*close)(struct o2_ground *ground);
	/* Number of completion queues that the devices have.  NULL: they cannot be asked. */
	uint32_t (*live_cqs)(void);
	/*
	 * Do the devices have other objects of this process than those of so many open interfaces, with so many
	 * regions?  Or has closing a device freed any?  Ask before interfaces are closed, too.
	 * NULL: they cannot be asked.
	 */
	bool (*left_behind)(uint32_t interfaces, uint64_t regions);
};

/* The members that both grounds set; their files use the same function names. */
#define O2_GROUND_OPS                                                                                        \
	.open = open_network, .device = find_device, .attach = attach, .detach = detach, .deliver = deliver, \
	.pump = pump, .pass = pass, .close = close_network

extern const struct o2_ground_ops o2_ground_on_loop;
extern const struct o2_ground_ops o2_ground_on_kernel;

struct o2_ground {
	/* Set by the owner: */
	const struct o2_ground_ops *ops;
	struct o2_ground_devices *devices; /* NULL: on loopverbs */
	struct o2_choice *choice;
	bool faults; /* the network may lose, refuse and reorder */
	struct o2_report *report;
	const char *property; /* name of the property, the start of its findings */
	void *context;
	/* The network did this (fate) to a message between these addresses. */
	void (*failed)(void *context, enum o2_cm_loop_fate fate, uint32_t from, uint32_t to);
	/* Is an event still expected?  Called where events in flight cannot be seen. */
	bool (*expects)(void *context);
	/* Set by the ground: */
	uint64_t now_ms;
	struct o2_end_watch *watch[O2_GROUND_NODES]; /* of each node */
	struct o2_cm_loop *loop;		     /* on loopverbs */
	struct o2_witness *witness;		     /* on loopverbs */
	struct o2_network *network;		     /* on kernel devices */
	uint64_t start_ms, passed_ms;		     /* likewise: start, and time let pass */
};

/* For ops->device: node i is judged by what it sends and receives.  0 or -ENOMEM. */
int o2_ground_watch(struct o2_ground *ground, uint32_t i, struct o2_ni_config *config,
		    struct o2_error *error);
/* For ops->close: end the watches. */
void o2_ground_unwatch(struct o2_ground *ground);

/* Call ops->pump; a failure of the network is a finding. */
int o2_ground_pump(struct o2_ground *ground);

/* Report PROPERTY/left-behind unless the devices have what open interfaces account for (o2_place_count). */
void o2_ground_check_left(const struct o2_ground *ground, uint32_t interfaces, uint64_t regions);

/*
 * Run until nothing more happens at this time; an operation that is due starts in one round and ends in a later
 * one.  A kernel device does not show what is in flight: there, nothing must happen for a moment, unless rests says
 * that nothing is in flight.  pump: handle all pending events and return their number.  context: the owner's.
 */
void o2_ground_exhaust(struct o2_ground *ground, int (*pump)(void *context), bool (*rests)(void *context));

#define O2_GROUND_START_MS 1000u /* now_ms of a ground that was opened */

#endif
