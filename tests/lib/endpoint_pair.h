/* SPDX-License-Identifier: MIT */
#ifndef O2_TESTS_ENDPOINT_PAIR_H
#define O2_TESTS_ENDPOINT_PAIR_H

#include "lnd/cm/loop.h"
#include "lnet/endpoint.h"
#include "tests/lib/lnd_pair.h"

/* Two endpoints in one process: interfaces, nodes and LNets, and the network of their connection manager. */

struct endpoint_seat {
	struct side side; /* its interface; there is no connection of its own */
	struct o2_cm *cm;
	struct o2_endpoint endpoint;
};

struct endpoint_pair {
	struct o2_cm_loop *wire;
	struct endpoint_seat seat[2];
};

/* A network, with nobody there. */
void endpoint_pair_open(struct endpoint_pair *pair);

/* One of the two, with that interface; the rest is the default. */
void endpoint_seat_open(struct endpoint_pair *pair, uint32_t which, const struct o2_ni_config *ni,
			const struct o2_node_config *node, const struct o2_lnet_ops *ops, void *context);

/* Everything must have ended and been handed back. */
void endpoint_pair_close(struct endpoint_pair *pair);

/* What connections and the network have to say; false: nothing. */
bool endpoint_pair_progress(struct endpoint_pair *pair);

#endif
