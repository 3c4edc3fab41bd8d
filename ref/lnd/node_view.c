/* SPDX-License-Identifier: MIT */
#include "lnd/node_internal.h"

/* A node's numbers, for those who look on. */

void o2_node_peer(const struct o2_node *node, uint64_t nid, struct o2_peer_view *view)
{
	const struct o2_peer *peer = o2_peer_find(node, nid);

	*view = (struct o2_peer_view){.known = peer != NULL};
	if (peer == NULL)
		return;
	view->version = peer->version;
	view->incarnation = peer->incarnation;
	view->queue_depth = peer->queue_depth;
	view->max_frags = peer->max_frags;
	view->connecting = peer->connecting;
	view->accepting = peer->accepting;
	view->attempts_due = peer->attempts_due;
	view->attempts = peer->attempts;
	view->races = peer->races;
	view->waiting = peer->nwaiting;
	view->established = o2_peer_established(peer);
	view->links = o2_peer_nlinks(peer);
}

uint32_t o2_node_npeers(const struct o2_node *node)
{
	return node->npeers;
}

struct o2_conn *o2_node_conn(const struct o2_node *node, uint64_t nid, uint32_t index)
{
	const struct o2_peer *peer = o2_peer_find(node, nid);

	if (peer == NULL)
		return NULL;
	for (const struct o2_link *link = peer->links; link != NULL; link = link->next)
		if (link->state == O2_LINK_ESTABLISHED && index-- == 0)
			return link->conn;
	return NULL;
}
