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
 * What a command runs on: an interface, and a connection manager for it.  There are two of these, in two
 * programs of the same commands: network_rdma.c (a device of this machine) and network_loop.c (a network in
 * the process, with a serving peer on it).
 */
struct o2_net_network {
	struct o2_ni ni;
	struct o2_cm *cm;
	void *more; /* of network_rdma.c or network_loop.c */
};

/*
 * Open it with an arena of that many pages.  options->nid is completed if it was not given.  Complains and
 * returns false if it cannot be had.
 */
bool o2_net_network_open(struct o2_net_options *options, uint32_t arena_pages,
			 struct o2_net_network *network);
void o2_net_network_close(struct o2_net_network *network);

/* Hand out the connection manager's events.  Returns how many, or -errno: the device is lost. */
int o2_net_network_progress(struct o2_net_network *network, uint64_t now_ms);

/*
 * There is nothing to do for the endpoint: sleep until there is, until a signal comes, or for so long at
 * most.  Returns 0, or -errno: the device is lost.
 */
int o2_net_network_sleep(struct o2_net_network *network, struct o2_endpoint *endpoint, uint64_t sleep_ns);

#endif
