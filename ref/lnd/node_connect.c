/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "lnd/node_internal.h"
#include "wire/nid.h"

/* The active side: attempts to connect, and what becomes of their answers. */

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
	o2_link_param(link, bytes, (size_t)rc, &param);
	return node->cm->ops->connect(node->cm, &target, &param, link, &link->id, error);
}

void o2_link_attempt(struct o2_peer *peer)
{
	struct o2_conn_params params = params_for(peer);
	struct o2_transfer_fault fault;
	struct o2_error error;
	struct o2_link *link;

	o2_error_clear(&error);
	peer->attempts++;
	peer->attempt_ms = o2_node_now_ms(peer->node);
	link = o2_link_new(peer, &params, &error);
	if (link == NULL) {
		fault = o2_fault_of(O2_FAULT_LOCAL_STAGE, error.code, &error);
		o2_peer_failed(peer, &fault);
		return;
	}
	link->state = O2_LINK_ACTIVE_CONNECT;
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
	int rc = o2_connack_judge(&link->node->self, &link->params, event->private_data, event->private_bytes,
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

/* Once there have been many attempts in a row, there is one in a second. */
static void again(struct o2_peer *peer)
{
	uint64_t now_ms = o2_node_now_ms(peer->node);

	peer->attempts_due++;
	peer->due_ms = now_ms;
	if (peer->attempts >= O2_FAST_RECONNECTS && peer->attempt_ms + O2_RECONNECT_WAIT_MS > now_ms)
		peer->due_ms = peer->attempt_ms + O2_RECONNECT_WAIT_MS;
}

/* What a reject has told is kept with the peer: the link is gone when it is needed. */
static void learn(struct o2_peer *peer, const struct o2_reject_verdict *verdict)
{
	peer->version = verdict->offer.version;
	if (verdict->incarnation != 0)
		peer->incarnation = verdict->incarnation;
	/* An attempt from before the last reject may be refused for another reason: its figures are old. */
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

	o2_reject_judge(&link->node->self, &link->params, event->reason, event->private_data,
			event->private_bytes, &verdict);
	wanted = peer->accepting == 0 &&
		 (peer->waiting != NULL || verdict.offer.version != link->params.version);
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
