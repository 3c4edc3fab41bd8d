/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "lnd/conn_internal.h"
#include "lnd/node_internal.h"

/* Completion events, for a loop that sleeps when nothing happens (docs/transport.md, "Sleeping"). */

int o2_ni_fd(const struct o2_ni *ni)
{
	return ni->channel != NULL ? ni->channel->fd : -1;
}

int o2_ni_take_events(struct o2_ni *ni)
{
	struct ibv_cq *cq;
	void *context;
	int taken = 0;

	if (ni->channel == NULL)
		return -EOPNOTSUPP;
	for (;;) {
		errno = 0;
		if (ibv_get_cq_event(ni->channel, &cq, &context) != 0)
			break;
		/* At once: ibv_destroy_cq waits for events that are not acknowledged. */
		ibv_ack_cq_events(cq, 1);
		((struct o2_conn *)context)->armed = false;
		taken++;
	}
	if (errno == EAGAIN)
		return taken;
	return errno != 0 ? -errno : -EIO;
}

int o2_conn_arm(struct o2_conn *conn)
{
	struct o2_error error;
	int rc;

	if (conn->ni->channel == NULL)
		return -EOPNOTSUPP;
	/* One that is armed already has had nothing since, or its event waits to be taken. */
	if (conn->state != O2_CONN_DISCONNECTED && !conn->armed) {
		rc = ibv_req_notify_cq(conn->cq, 0);
		if (rc != 0) {
			o2_refuse(&error, -EIO, "conn/arm", "ibv_req_notify_cq", O2_NO_INDEX, (uint64_t)rc,
				  O2_NO_LIMIT);
			o2_conn_fail_device(conn, &error, NULL);
		}
		conn->armed = rc == 0;
	}
	/* A completion that came between the last look and the request makes no event. */
	return o2_conn_progress(conn);
}

static bool attempt_is_due(const struct o2_node *node, const struct o2_peer *peer)
{
	return peer->attempts_due > 0 && peer->due_ms <= o2_node_now_ms(node);
}

int o2_node_arm(struct o2_node *node)
{
	int rc = o2_ni_take_events(node->ni);
	int found = 0;

	if (rc < 0)
		return rc;
	for (struct o2_peer *peer = node->peers; peer != NULL; peer = peer->next) {
		for (struct o2_link *link = peer->links; link != NULL; link = link->next)
			if (link->state < O2_LINK_CLOSING)
				found += o2_conn_arm(link->conn) != 0;
		found += attempt_is_due(node, peer);
	}
	return found;
}
