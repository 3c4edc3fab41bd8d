/* SPDX-License-Identifier: MIT */
#ifndef O2_LNET_ENDPOINT_H
#define O2_LNET_ENDPOINT_H

#include <stdint.h>

#include "base/error.h"
#include "lnd/node/node.h"
#include "lnet/lnet.h"

/*
 * A complete peer: LNet (lnet.h) on top of a node of o2iblnd.  The caller drives it like a node, with
 * o2_endpoint_clock, o2_node_progress, o2_node_arm and the connection manager's loop, and uses it like LNet.
 * Source: docs/peer.md, "The layers".
 */

/* LNet: lnet_ni */
struct o2_endpoint {
	struct o2_node *node;
	struct o2_lnet *lnet;
	/* Why the last connection to go down, or not to come up, did so; code 0: an orderly close, and
	 * fault.side says by whom. */
	struct o2_transfer_fault fault;
	struct o2_error refused; /* LNet's reason why it refused a header last */
	/* Called for each such connection, with the context of ops.  May be NULL; the owner sets it. */
	void (*down)(void *context, uint64_t nid, const struct o2_transfer_fault *fault);
	void *context;
};

/*
 * ni and cm outlive the endpoint; *endpoint must not be moved.  lnet_config->nid must be the NID of ni. Returns
 * 0, or an error of o2_node_create or o2_lnet_create.
 */
int o2_endpoint_open(struct o2_ni *ni, struct o2_cm *cm, const struct o2_node_config *node_config,
		     const struct o2_lnet_config *lnet_config, const struct o2_lnet_ops *ops, void *context,
		     struct o2_endpoint *endpoint, struct o2_error *error);

/* Close every connection.  All operations end. */
void o2_endpoint_close(struct o2_endpoint *endpoint);

/* Tell the whole peer that the time is now_ms: calls o2_node_clock and o2_lnet_check_time. */
void o2_endpoint_clock(struct o2_endpoint *endpoint, uint64_t now_ms);

#endif
