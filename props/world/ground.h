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
 * What the nodes of a case stand on: devices, the network that they find each other on, and the time.  There
 * are two grounds, and a program links those that it names: one without devices needs no librdmacm, one with
 * devices no loopverbs.
 */

struct o2_ground;
struct o2_end_watch;
struct o2_witness;

#define O2_GROUND_NODES 4u /* at most */

/* A kernel's devices for two nodes. */
struct o2_ground_devices {
	const char *device[2];
	uint8_t gid_index;   /* of the RoCEv2 GID of both */
	uint32_t address[2]; /* IPv4, found out of them */
	struct o2_held most; /* that a case held of them */
};

struct o2_ground_ops {
	uint8_t retry_count, ack_timeout; /* of queue pairs, as in struct o2_conn_config */
	uint32_t most_nodes;
	/* The network may lose, refuse and reorder, where o2_ground.faults says so. */
	bool may_fail;
	/*
	 * How long nothing must happen before nothing counts as being on its way, ms; 0: the ground knows at
	 * once.
	 */
	uint32_t moment_ms;

	/* The network of a case.  0 or -errno. */
	int (*open)(struct o2_ground *ground, struct o2_error *error);
	/* The device of node i, its GID and watch, and the node's IPv4 address. */
	int (*device)(struct o2_ground *ground, uint32_t i, struct o2_ni_config *config, uint32_t *address,
		      struct o2_error *error);
	/* Give an interface its connection manager, and take it. */
	int (*attach)(struct o2_ground *ground, struct o2_ni *ni, uint32_t address, struct o2_cm **cm,
		      struct o2_error *error);
	void (*detach)(struct o2_ground *ground, struct o2_cm *cm);
	/* A step: something that is on its way comes, if there is anything. */
	void (*deliver)(struct o2_ground *ground);
	/* Whatever comes next, or what is there; how many, 0: nothing; -errno: the network has failed. */
	int (*pump)(struct o2_ground *ground);
	/* So much time goes by, and what has gone by anyway: now_ms becomes what it is. */
	void (*pass)(struct o2_ground *ground, uint64_t ms);
	/* The nodes are gone, and their interfaces detached.  Also of what was not opened. */
	void (*close)(struct o2_ground *ground);
	/* Completion queues that the devices have.  NULL: they cannot be asked. */
	uint32_t (*live_cqs)(void);
	/* Does the device still have objects of this process?  NULL: it cannot be asked. */
	bool (*left_behind)(void);
};

/* What both have; the functions of its file are called as the members are. */
#define O2_GROUND_OPS                                                                                        \
	.open = open_network, .device = find_device, .attach = attach, .detach = detach, .deliver = deliver, \
	.pump = pump, .pass = pass, .close = close_network

extern const struct o2_ground_ops o2_ground_on_loop;
extern const struct o2_ground_ops o2_ground_on_kernel;

struct o2_ground {
	/* The owner's: */
	const struct o2_ground_ops *ops;
	struct o2_ground_devices *devices; /* NULL: on loopverbs */
	struct o2_choice *choice;
	bool faults; /* the network may fail */
	struct o2_report *report;
	const char *property; /* its findings begin so */
	void *context;
	/* The network has done so to a message between these addresses. */
	void (*failed)(void *context, enum o2_cm_loop_fate fate, uint32_t from, uint32_t to);
	/* Is something to be waited for?  Asked where what is on its way is not seen. */
	bool (*expects)(void *context);
	/* The ground's: */
	uint64_t now_ms;
	struct o2_end_watch *watch[O2_GROUND_NODES]; /* of each node */
	struct o2_cm_loop *loop;		     /* on loopverbs */
	struct o2_witness *witness;		     /* likewise */
	struct o2_network *network;		     /* on kernel devices */
	uint64_t start_ms, passed_ms;		     /* likewise: when it began, and what was let go by */
};

/* For a ground's device: node i is judged by what it sends and receives.  0 or -ENOMEM. */
int o2_ground_watch(struct o2_ground *ground, uint32_t i, struct o2_ni_config *config,
		    struct o2_error *error);
/* For its close: no more. */
void o2_ground_unwatch(struct o2_ground *ground);

/* ops->pump; that the network has failed is a finding. */
int o2_ground_pump(struct o2_ground *ground);

/*
 * Until nothing happens any more at this time; what is due is started in one round, and ends in others.  On a
 * kernel's device what is on its way is not seen, so nothing must have happened for a moment, unless rests says that
 * nothing is on its way.  pump: whatever is there, of all; how much.  context: the owner's.
 */
void o2_ground_exhaust(struct o2_ground *ground, int (*pump)(void *context), bool (*rests)(void *context));

#define O2_GROUND_START_MS 1000u /* now_ms of a ground that was opened */

#endif
