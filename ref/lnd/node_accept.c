/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "lnd/node_internal.h"

/* The passive side: requests of peers. */

static void refuse(struct o2_node *node, struct o2_cm_id *id, const struct o2_reject *reject)
{
	uint8_t bytes[O2_REJECT_BYTES];
	int length = o2_reject_encode(reject, bytes, sizeof(bytes), NULL);

	node->cm->ops->reject(id, bytes, length > 0 ? (size_t)length : 0);
	node->cm->ops->destroy(id);
}

static struct o2_connreq_known known_of(const struct o2_node *node, const struct o2_peer *peer)
{
	struct o2_connreq_known known = {.npeers = node->npeers};

	if (peer == NULL)
		return known;
	known.known = true;
	known.version = peer->version;
	known.incarnation = peer->incarnation;
	known.nconns = o2_peer_nlinks(peer);
	known.connecting = peer->connecting > 0;
	known.nraces = peer->races;
	return known;
}

/* What a refusal by what is known of the peer changes of it. */
static void learn(struct o2_peer *peer, const struct o2_connreq *request, const struct o2_reject *reject)
{
	if (reject->ibr_why == O2_REJECT_CONN_RACE) {
		peer->races++;
	} else if (reject->ibr_why == O2_REJECT_CONN_STALE) {
		peer->incarnation = request->incarnation;
		peer->version = request->params.version;
		o2_peer_close_stale(peer, request->incarnation, request->params.version);
	}
}

/* The reply, with what our device allows of what was asked for. */
static int accept(struct o2_link *link, const struct o2_connreq *request, struct o2_error *error)
{
	struct o2_node *node = link->node;
	const struct o2_connreq_self self = o2_peer_self(link->peer);
	struct o2_conn_params agreed = link->params;
	uint8_t bytes[O2_CONNREQ_BYTES];
	struct o2_cm_param param;
	int rc = o2_link_set_peer(link, &link->params, request->incarnation, error);

	if (rc != 0)
		return rc;
	/* That is what we take; what the peer takes is in link->params. */
	agreed.max_msg_size = O2_MSG_BYTES;
	rc = o2_connack_build(&self, request, &agreed, bytes, sizeof(bytes), error);
	if (rc < 0)
		return rc;
	o2_link_param(link, bytes, (size_t)rc, &param);
	return node->cm->ops->accept(link->id, &param, error);
}

static void admit(struct o2_node *node, const struct o2_cm_event *event, const struct o2_connreq *request)
{
	struct o2_cm_id *id = event->id;
	struct o2_peer *peer;
	struct o2_conn_params params = request->params;
	struct o2_link *link = NULL;
	struct o2_reject reject;
	struct o2_transfer_fault fault;
	struct o2_error error;

	o2_connreq_no_resources(&node->self, request, &reject);
	if (o2_peer_get(node, request->nid, &peer, NULL) == 0)
		link = o2_link_new(peer, &params, &error);
	if (link == NULL) {
		refuse(node, id, &reject);
		return;
	}
	if (peer->version == 0) {
		peer->version = request->params.version;
		peer->incarnation = request->incarnation;
	}
	o2_peer_learn_checksum(peer, event->private_data, event->private_bytes);
	/* It asks, so nobody has to ask it any more, and the race is over. */
	peer->attempts_due = 0;
	peer->races = 0;
	link->state = O2_LINK_PASSIVE_WAIT;
	link->id = id;
	id->context = link;
	peer->accepting++;
	if (accept(link, request, &error) == 0)
		return;
	fault = o2_fault_of(O2_FAULT_LOCAL_STAGE, error.code, &error);
	link->id = NULL;
	refuse(node, id, &reject);
	o2_link_failed(link, &fault);
}

void o2_node_on_request(struct o2_node *node, const struct o2_cm_event *event)
{
	struct o2_connreq_known known;
	struct o2_connreq request;
	struct o2_reject reject;
	struct o2_peer *peer;

	if (o2_connreq_judge(&node->self, &event->origin, event->private_data, event->private_bytes, &request,
			     &reject, NULL) != 0) {
		refuse(node, event->id, &reject);
		return;
	}
	peer = o2_peer_find(node, request.nid);
	known = known_of(node, peer);
	if (o2_connreq_judge_peer(&node->self, &request, &known, &reject, NULL) != 0) {
		if (peer != NULL)
			learn(peer, &request, &reject);
		refuse(node, event->id, &reject);
		return;
	}
	admit(node, event, &request);
}
