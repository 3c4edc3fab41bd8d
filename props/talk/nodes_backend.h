/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_NODES_BACKEND_H
#define O2_PROPS_NODES_BACKEND_H

#include "props/talk/nodes_internal.h"

/*
 * What nodes run on: devices, the network that they find each other on, and the time.  A program links those
 * that it names (props/talk/nodes.h): one without devices needs no librdmacm, one with devices no loopverbs.
 */
struct o2_nodes_backend {
	uint8_t retry_count, ack_timeout; /* of the queue pairs, as in struct o2_conn_config */
	/* Situations that cannot occur there. */
	const enum o2_nodes_situation *never;
	uint32_t nnever;
	/*
	 * How long nothing must happen before nothing counts as being on its way, ms; 0: the backend knows at
	 * once.
	 */
	uint32_t moment_ms;

	/* The network of a case, how many nodes there are, and whether it may fail.  0 or -errno. */
	int (*open)(struct o2_nodes *nodes, struct o2_error *error);
	/* The device of node i, its GID, and the node's IPv4 address. */
	int (*device)(struct o2_nodes *nodes, uint32_t i, struct o2_ni_config *config, uint32_t *address,
		      struct o2_error *error);
	/* Give an interface its connection manager, and take it. */
	int (*attach)(struct o2_nodes_seat *seat, struct o2_error *error);
	void (*detach)(struct o2_nodes_seat *seat);
	/* A step: something that is on its way comes, if there is anything. */
	void (*deliver)(struct o2_nodes *nodes);
	/* Whatever comes next, or what is there; how many, 0: nothing. */
	int (*pump)(struct o2_nodes *nodes);
	/* So much time goes by, and what has gone by anyway: now_ms becomes what it is. */
	void (*pass)(struct o2_nodes *nodes, uint64_t ms);
	/* The nodes are gone, and their interfaces detached.  Also of what was not opened. */
	void (*close)(struct o2_nodes *nodes);
	/* Completion queues that the devices have.  NULL: they cannot be asked. */
	uint32_t (*live_cqs)(void);
	/* Does the device still have objects of this process?  NULL: it cannot be asked. */
	bool (*left_behind)(void);
};

#endif
