/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "props/talk/nodes_internal.h"

/* Makes devices refuse what a node posts, when a case wants it. */

/* Global, because the calls of a device have no argument for it. */
static struct {
	struct o2_nodes *nodes;
	int (*post_send)(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad);
	int (*post_recv)(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad);
} seam;

/* The node with this queue pair's device; NULL: none of this case. */
static struct o2_nodes_seat *seat_of(const struct ibv_qp *qp)
{
	for (uint32_t i = 0; i < seam.nodes->nseats; i++)
		if (seam.nodes->seat[i].place.ni.context == qp->context)
			return &seam.nodes->seat[i];
	return NULL;
}

static int post_send(struct ibv_qp *qp, struct ibv_send_wr *list, struct ibv_send_wr **bad)
{
	struct o2_nodes_seat *seat = seat_of(qp);

	if (seat == NULL || !seat->refuses_a_send)
		return seam.post_send(qp, list, bad);
	seat->refuses_a_send = false;
	seat->now.send_refused = true;
	*bad = list;
	return ENOMEM;
}

/* True if it belongs to an end of the node; else a connection is being made. */
static bool is_known(const struct o2_nodes_seat *seat, const struct ibv_qp *qp)
{
	for (uint32_t n = 0; n < O2_NODES_ENDS; n++)
		if (seat->end[n].id != NULL && !seat->end[n].over && seat->end[n].qp == qp)
			return true;
	return false;
}

static int post_recv(struct ibv_qp *qp, struct ibv_recv_wr *list, struct ibv_recv_wr **bad)
{
	struct o2_nodes_seat *seat = seat_of(qp);

	if (seat == NULL || !seat->now.no_receives || is_known(seat, qp))
		return seam.post_recv(qp, list, bad);
	seat->now.not_made += seat->now.doing == O2_NODES_PROGRESSES;
	*bad = list;
	return ENOMEM;
}

void o2_nodes_posts_watch(struct o2_nodes_seat *seat)
{
	struct ibv_context *context = seat->place.ni.context;

	seam.nodes = seat->nodes;
	if (context->ops.post_send == post_send)
		return;
	seam.post_send = context->ops.post_send;
	seam.post_recv = context->ops.post_recv;
	context->ops.post_send = post_send;
	context->ops.post_recv = post_recv;
}
