/* SPDX-License-Identifier: MIT */
#ifndef O2_LNET_ENDPOINT_H
#define O2_LNET_ENDPOINT_H

#include <stdint.h>

#include "base/error.h"
#include "lnd/node/node.h"
#include "lnet/lnet.h"

/*
 * A whole peer: LNet's place over a node of o2iblnd.  It is driven as the node is, by o2_endpoint_clock,
 * o2_node_progress and o2_node_arm (and by the connection manager's own loop), and used as LNet is.
 * Source: docs/peer.md, "The layers".
 */

/* LNet: lnet_ni */
struct o2_endpoint {
	struct o2_node *node;
	struct o2_lnet *lnet;
	/* Why the last of all connections that went down, or could not be made, did so; code 0: orderly, and
	 * the side says by whom. */
	struct o2_transfer_fault fault;
	/* For the owner to set, may be NULL: told of each of those, with the context of ops. */
	void (*down)(void *context, uint64_t nid, const struct o2_transfer_fault *fault);
	void *context;
};

/*
 * ni and cm outlive it; *endpoint stays where it is.  lnet_config->nid is that of ni.  Returns 0, or what
 * o2_node_create and o2_lnet_create refuse.
 */
int o2_endpoint_open(struct o2_ni *ni, struct o2_cm *cm, const struct o2_node_config *node_config,
		     const struct o2_lnet_config *lnet_config, const struct o2_lnet_ops *ops, void *context,
		     struct o2_endpoint *endpoint, struct o2_error *error);

/* Closes every connection; all operations end. */
void o2_endpoint_close(struct o2_endpoint *endpoint);

/* Event: it is now_ms.  The one call that tells a whole peer the time: o2_node_clock, o2_lnet_check_time. */
void o2_endpoint_clock(struct o2_endpoint *endpoint, uint64_t now_ms);

#endif
