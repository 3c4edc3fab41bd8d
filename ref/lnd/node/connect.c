/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "lnd/node/node_internal.h"
#include "wire/nid.h"

/* The active side: attempts to connect, and the handling of their answers. */

static struct o2_conn_params params_for(const struct o2_peer *peer)
{
	const struct o2_connreq_self *self = &peer->node->self;
	struct o2_conn_params params = {
		.version = peer->version != 0 ? peer->version : self->version,
		.queue_depth = peer->queue_depth,
		.max_frags = peer->max_frags,
		.max_msg_size = O2_MSG_BYTES,
	};
	uint16_t limit = o2_connreq_queue_depth(self, params.version);

	if (params.queue_depth > limit || params.version == O2_MSG_VERSION_1)
		params.queue_depth = limit;
	return params;
}

/* Report to the watch what the connection manager carries for a connection. */
static void tell_watch(const struct o2_node *node, const void *conn, enum o2_watched_kind kind, bool ours,
		       const uint8_t *bytes, size_t length_bytes)
{
	o2_watch_tell_cm(node->ni->config.watch, conn, kind, ours, bytes, length_bytes);
}

static int ask(struct o2_link *link, struct o2_error *error)
{
	struct o2_node *node = link->node;
	struct o2_peer *peer = link->peer;
	const struct o2_connreq_self self = o2_peer_self(peer);
	uint8_t bytes[O2_CONNREQ_BYTES];
	struct o2_cm_param param;
	struct o2_cm_target target = {
		.address = o2_nid_address(peer->nid),
		.port = node->config.port,
		.privileged_port = node->config.use_privileged_port,
		.resolve_timeout_ms = node->config.resolve_timeout_ms,
	};
	int rc;

	rc = o2_connreq_build(&self, &link->params, peer->nid, peer->incarnation, bytes, sizeof(bytes),
			      error);
	if (rc < 0)
		return rc;
	param = o2_link_param(link, bytes, (size_t)rc);
	rc = node->cm->ops->connect(node->cm, &target, &param, link, &link->id, error);
	if (rc == 0)
		tell_watch(node, link->conn, O2_WATCHED_REQUEST, true, bytes, param.private_bytes);
	return rc;
}

void o2_link_attempt(struct o2_peer *peer)
{
	struct o2_conn_params params = params_for(peer);
	struct o2_transfer_fault fault;
	struct o2_error error;
	struct o2_link *link;

	o2_error_clear(&error);
	peer->attempts++;
	peer->attempt_ms = o2_clock_ms(&peer->node->ni->clock);
	link = o2_link_new(peer, &params, &error);
	if (link == NULL) {
		fault = o2_fault_of(O2_FAULT_LOCAL_STAGE, error.code, &error);
		if (peer->node->ops.down != NULL)
			peer->node->ops.down(peer->node->context, peer->nid, &fault);
		o2_peer_failed(peer, &fault);
		return;
	}
	link->state = O2_LINK_ACTIVE_CONNECT;
	link->asking = true;
	peer->connecting++;
	if (ask(link, &error) == 0)
		return;
	fault = o2_fault_of(O2_FAULT_LOCAL_STAGE, error.code, &error);
	o2_link_failed(link, &fault);
}

void o2_node_on_reply(struct o2_link *link, const struct o2_cm_event *event)
{
	struct o2_conn_params agreed;
	struct o2_error error;
	uint64_t incarnation;
	int rc;

	tell_watch(link->node, link->conn, O2_WATCHED_REPLY, false, event->private_data,
		   event->private_bytes);
	rc = o2_connack_judge(&link->node->self, &link->params, event->private_data, event->private_bytes,
			      &agreed, &incarnation, &error);
	if (rc == 0) {
		o2_peer_learn_checksum(link->peer, event->private_data, event->private_bytes);
		rc = o2_link_set_peer(link, &agreed, incarnation, &error);
	}
	if (rc == 0)
		o2_link_up(link);
	else
		o2_link_abort(link, &error);
}

/* Schedule another attempt.  After O2_FAST_RECONNECTS attempts in a row, there is at most one per second. */
static void again(struct o2_peer *peer)
{
	uint64_t now_ms = o2_clock_ms(&peer->node->ni->clock);

	peer->attempts_due++;
	peer->due_ms = now_ms;
	if (peer->attempts >= O2_FAST_RECONNECTS && peer->attempt_ms + O2_RECONNECT_WAIT_MS > now_ms)
		peer->due_ms = peer->attempt_ms + O2_RECONNECT_WAIT_MS;
}

/* Record the peer's incarnation.  A new incarnation may use another checksum flavour, so forget the learnt one. */
static void learn_life(struct o2_peer *peer, uint64_t incarnation)
{
	if (peer->incarnation != incarnation)
		peer->cksum_flavour = peer->node->self.cksum_flavour;
	peer->incarnation = incarnation;
}

/* Store in the peer what a reject has told: the link will be gone when the next attempt needs it. */
static void learn(struct o2_peer *peer, const struct o2_reject_verdict *verdict)
{
	peer->version = verdict->offer.version;
	if (verdict->incarnation != 0)
		learn_life(peer, verdict->incarnation);
	/* Only lower the figures: an attempt older than the last reject still offers the older, larger ones. */
	if (peer->queue_depth > verdict->offer.queue_depth)
		peer->queue_depth = verdict->offer.queue_depth;
	if (peer->max_frags > verdict->offer.max_frags)
		peer->max_frags = verdict->offer.max_frags;
}

void o2_node_on_reject(struct o2_link *link, const struct o2_cm_event *event)
{
	struct o2_peer *peer = link->peer;
	struct o2_reject_verdict verdict;
	struct o2_transfer_fault fault;
	bool wanted;

	if (event->reason == O2_CM_REJECT_CONSUMER)
		tell_watch(link->node, link->conn, O2_WATCHED_REJECT, false, event->private_data,
			   event->private_bytes);
	o2_reject_judge(&link->node->self, &link->params, event->reason, event->private_data,
			event->private_bytes, &verdict);
	wanted = peer->accepting == 0 &&
		 (!STAILQ_EMPTY(&peer->waiting) || verdict.offer.version != link->params.version);
	if (!verdict.retry || !wanted) {
		fault = o2_fault_of(O2_FAULT_REJECTED, verdict.code, &verdict.error);
		fault.cm_reason = event->reason;
		fault.reject_why = verdict.why;
		o2_link_failed(link, &fault);
		return;
	}
	learn(peer, &verdict);
	o2_link_drop(link, -ECONNREFUSED);
	again(peer);
}

/* The passive side: requests of peers. */

static void refuse_request(struct o2_node *node, const struct o2_cm_event *event,
			   const struct o2_reject *reject)
{
	struct o2_cm_id *id = event->id;
	uint8_t bytes[O2_REJECT_BYTES];
	int length = o2_reject_encode(reject, bytes, sizeof(bytes), NULL);

	/* No connection exists for the request, so the watch knows it by its id. */
	tell_watch(node, id, O2_WATCHED_REQUEST, false, event->private_data, event->private_bytes);
	if (length > 0)
		tell_watch(node, id, O2_WATCHED_REJECT, true, bytes, (size_t)length);
	tell_watch(node, id, O2_WATCHED_GONE, true, NULL, 0);
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
	known.nconns = o2_peer_nconns(peer);
	known.connecting = peer->connecting > 0;
	known.nraces = peer->races;
	return known;
}

/* Update the peer after a refusal because of what we know about it. */
static void learn_refused(struct o2_peer *peer, const struct o2_connreq *request,
			  const struct o2_reject *reject)
{
	if (reject->ibr_why == O2_REJECT_CONN_RACE) {
		peer->races++;
	} else if (reject->ibr_why == O2_REJECT_CONN_STALE) {
		learn_life(peer, request->incarnation);
		peer->version = request->params.version;
		o2_peer_close_stale(peer, request->incarnation, request->params.version);
	}
}

/* Send the reply, with the requested parameters as far as our device allows them. */
static int accept(struct o2_link *link, const struct o2_cm_event *event, const struct o2_connreq *request,
		  struct o2_error *error)
{
	struct o2_node *node = link->node;
	const struct o2_connreq_self self = o2_peer_self(link->peer);
	struct o2_conn_params agreed = link->params;
	uint8_t bytes[O2_CONNREQ_BYTES];
	struct o2_cm_param param;
	int rc = o2_link_set_peer(link, &link->params, request->incarnation, error);

	if (rc != 0)
		return rc;
	/* The reply states our own limit; link->params has the peer's. */
	agreed.max_msg_size = O2_MSG_BYTES;
	rc = o2_connack_build(&self, request, &agreed, bytes, sizeof(bytes), error);
	if (rc < 0)
		return rc;
	param = o2_link_param(link, bytes, (size_t)rc);
	rc = node->cm->ops->accept(link->id, &param, error);
	if (rc == 0) {
		tell_watch(node, link->conn, O2_WATCHED_REQUEST, false, event->private_data,
			   event->private_bytes);
		tell_watch(node, link->conn, O2_WATCHED_REPLY, true, bytes, param.private_bytes);
	}
	return rc;
}

static void admit(struct o2_node *node, const struct o2_cm_event *event, const struct o2_connreq *request)
{
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
		refuse_request(node, event, &reject);
		return;
	}
	if (peer->version == 0) {
		peer->version = request->params.version;
		peer->incarnation = request->incarnation;
	}
	o2_peer_learn_checksum(peer, event->private_data, event->private_bytes);
	/* The peer connects to us, so our own due attempts are not needed, and the race is over. */
	peer->attempts_due = 0;
	peer->races = 0;
	link->state = O2_LINK_PASSIVE_WAIT;
	link->id = event->id;
	link->id->context = link;
	peer->accepting++;
	if (accept(link, event, request, &error) == 0)
		return;
	fault = o2_fault_of(O2_FAULT_LOCAL_STAGE, error.code, &error);
	link->id = NULL;
	refuse_request(node, event, &reject);
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
		refuse_request(node, event, &reject);
		return;
	}
	peer = o2_peer_find(node, request.nid);
	known = known_of(node, peer);
	if (o2_connreq_judge_peer(&node->self, &request, &known, &reject, NULL) != 0) {
		if (peer != NULL)
			learn_refused(peer, &request, &reject);
		refuse_request(node, event, &reject);
		return;
	}
	admit(node, event, &request);
}
