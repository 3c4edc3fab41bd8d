/* SPDX-License-Identifier: MIT */
#ifndef O2_TESTS_ENDPOINT_PAIR_H
#define O2_TESTS_ENDPOINT_PAIR_H

#include "lnd/cm/loop.h"
#include "lnet/endpoint.h"
#include "tests/lib/lnd_pair.h"

/* Two endpoints (interface, node and LNet) in one process, and the network of their connection manager. */

struct endpoint_seat {
	struct side side; /* only its interface is used; side.conn is not */
	struct o2_cm *cm;
	struct o2_endpoint endpoint;
};

struct endpoint_pair {
	struct o2_cm_loop *wire;
	struct endpoint_seat seat[2];
};

/* Create the network, without endpoints. */
void endpoint_pair_open(struct endpoint_pair *pair);

/* Open endpoint `which` (0 or 1) with these configurations; its LNet has the default configuration. */
void endpoint_seat_open(struct endpoint_pair *pair, uint32_t which, const struct o2_ni_config *ni,
			const struct o2_node_config *node, const struct o2_lnet_ops *ops, void *context);

/* Close both endpoints and the network.  All operations must have ended and all resources been returned. */
void endpoint_pair_close(struct endpoint_pair *pair);

/* Handle pending completions and network messages.  Returns false if there were none. */
bool endpoint_pair_progress(struct endpoint_pair *pair);

#endif
