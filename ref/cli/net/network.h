/* SPDX-License-Identifier: MIT */
#ifndef O2_CLI_NET_NETWORK_H
#define O2_CLI_NET_NETWORK_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/net/options.h"
#include "lnd/cm/cm.h"
#include "lnd/ni/ni.h"
#include "lnet/endpoint.h"

/*
 * What a command runs on: an interface, and a connection manager for it.  There are two implementations, in
 * two programs with the same commands: network_rdma.c (a device of this machine) and network_loop.c (a
 * network in the process, with a serving peer on it).
 */
struct o2_net_network {
	struct o2_ni ni;
	struct o2_cm *cm;
	void *more;	/* private to network_rdma.c or network_loop.c */
	bool no_device; /* it is not open since the device is not there, or cannot be used */
};

/*
 * Open the network with an arena of arena_pages pages.  Sets options->nid if it was not given.  Complains and
 * returns false if the network cannot be opened.
 */
bool o2_net_network_open(struct o2_net_options *options, uint32_t arena_pages,
			 struct o2_net_network *network);
void o2_net_network_close(struct o2_net_network *network);

/* Deliver the connection manager's events.  Returns how many, or -errno: the device is lost. */
int o2_net_network_progress(struct o2_net_network *network, uint64_t now_ms);

/*
 * Sleep until the endpoint (NULL: the connection manager alone) has something to do, a signal comes, or
 * sleep_ns have passed.  Returns 0, or -errno: the device is lost.
 */
int o2_net_network_sleep(struct o2_net_network *network, struct o2_endpoint *endpoint, uint64_t sleep_ns);

#endif
