/* SPDX-License-Identifier: MIT */
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/errno_name.h"
#include "base/monotonic.h"
#include "cli/net/commands.h"
#include "cli/net/conform/conform.h"
#include "lnd/conn/conn.h"
#include "wire/nid.h"

/*
 * A request for a connection, and nothing more: the request is as the probe says, and the answer is only
 * recorded.  The queue pair belongs to a connection that is never established.
 */

/* What answers in this process does so in its next round. */
#define SLEEP_NS O2_NS_PER_MS

struct asker {
	const struct o2_watch *watch;
	const void *conn; /* the connection's name for the watch */
	struct o2_conform_asked *asked;
	struct o2_cm_id *id;
	bool waits;
};

/* Nodes tell the watch of their connections.  This connection is no node's, so it is done here. */
static void tell_watch(const struct asker *asker, enum o2_watched_kind kind, const uint8_t *bytes,
		       size_t length_bytes)
{
	o2_watch_tell_cm(asker->watch, asker->conn, kind, kind == O2_WATCHED_REQUEST, bytes, length_bytes);
}

static void hear_reply(struct o2_conform_asked *asked, const struct o2_cm_event *event)
{
	struct o2_error error;
	char why[200];

	asked->accepted = true;
	if (o2_msg_decode(event->private_data, event->private_bytes, NULL, &asked->reply, &error) == 0) {
		snprintf(asked->text, sizeof(asked->text),
			 "accepted: %s, version 0x%x, depth %u, %u fragments, %u bytes",
			 o2_msg_type_name(asked->reply.ibm_type), asked->reply.ibm_version,
			 asked->reply.u.connparams.ibcp_queue_depth, asked->reply.u.connparams.ibcp_max_frags,
			 asked->reply.u.connparams.ibcp_max_msg_size);
		return;
	}
	memset(&asked->reply, 0, sizeof(asked->reply));
	o2_error_text(&error, why, sizeof(why));
	snprintf(asked->text, sizeof(asked->text), "accepted with a reply that breaks a rule: %s", why);
}

static void hear_reject(struct o2_conform_asked *asked, const struct o2_cm_event *event)
{
	const char *name = o2_cm_reason_text(event->reason);

	asked->rejected = true;
	asked->cm_reason = event->reason;
	asked->has_record =
		event->reason == O2_CM_REJECT_CONSUMER &&
		o2_reject_decode(event->private_data, event->private_bytes, &asked->record, NULL) == 0;
	if (asked->has_record)
		snprintf(asked->text, sizeof(asked->text),
			 "rejected: %s (reason %u), version 0x%x, depth %u, %u fragments",
			 o2_reject_why_name(asked->record.ibr_why), asked->record.ibr_why,
			 asked->record.ibr_version, asked->record.ibr_cp.ibcp_queue_depth,
			 asked->record.ibr_cp.ibcp_max_frags);
	else
		snprintf(asked->text, sizeof(asked->text), "rejected without a record: %s (%u)",
			 name != NULL ? name : "unknown", event->reason);
}

static void hear(void *context, const struct o2_cm_event *event)
{
	struct asker *asker = context;

	/* The peer requests a connection as well: reject that for now. */
	if (event->type == O2_CM_REQUEST) {
		event->id->cm->ops->reject(event->id, NULL, 0);
		event->id->cm->ops->destroy(event->id);
		return;
	}
	if (event->id != asker->id || !asker->waits)
		return;
	asker->waits = false;
	if (event->type == O2_CM_ESTABLISHED) {
		tell_watch(asker, O2_WATCHED_REPLY, event->private_data, event->private_bytes);
		hear_reply(asker->asked, event);
	} else if (event->type == O2_CM_REJECTED) {
		if (event->reason == O2_CM_REJECT_CONSUMER)
			tell_watch(asker, O2_WATCHED_REJECT, event->private_data, event->private_bytes);
		hear_reject(asker->asked, event);
	} else {
		char name[O2_ERRNO_TEXT_BYTES];

		asker->asked->code = event->code;
		snprintf(asker->asked->text, sizeof(asker->asked->text), "no answer: %s",
			 event->code == 0 ? "disconnected" : o2_errno_text(event->code, name));
	}
}

static size_t compose(const struct o2_conform *conform, const struct o2_conn_params *offer, uint64_t dststamp,
		      uint8_t *bytes)
{
	const struct o2_ni_config *ni = &conform->session.network.ni.config;
	const struct o2_msg msg = {
		.order = O2_LITTLE_ENDIAN,
		.ibm_version = offer->version,
		.ibm_type = O2_MSG_CONNREQ,
		.ibm_srcnid = ni->nid,
		.ibm_srcstamp = ni->incarnation,
		.ibm_dstnid = conform->options->peer,
		.ibm_dststamp = dststamp,
		.u.connparams = {offer->queue_depth, offer->max_frags, offer->max_msg_size},
	};
	const int length = o2_msg_encode(&msg, NULL, bytes, O2_CM_REQUEST_BYTES, NULL);

	assert(length > 0); /* what probes ask for is legal */
	return (size_t)length;
}

/* Wait for an answer; anything else that arrives is ignored. */
static void wait_for_answer(struct o2_conform *conform, struct asker *asker)
{
	struct o2_net_network *network = &conform->session.network;
	const uint32_t timeout_ms = conform->options->timeout_ms;
	const uint64_t end_ms = o2_monotonic_ms() + timeout_ms;

	while (asker->waits && o2_monotonic_ms() < end_ms && !conform->lost && o2_net_stop == 0) {
		int rc = o2_net_network_progress(network, o2_monotonic_ms());

		if (rc == 0)
			rc = o2_net_network_sleep(network, NULL, SLEEP_NS);
		conform->lost |= o2_net_lost(rc);
	}
	if (asker->waits)
		snprintf(asker->asked->text, sizeof(asker->asked->text), "no answer in %" PRIu32 " s",
			 timeout_ms / (uint32_t)O2_MS_PER_S);
	asker->waits = false;
}

static int ask(struct o2_conform *conform, struct o2_conn *conn, struct asker *asker, const uint8_t *bytes,
	       size_t length)
{
	struct o2_cm *cm = conform->session.network.cm;
	const struct o2_net_options *options = conform->options;
	const struct o2_cm_target target = {o2_nid_address(options->peer), options->port, geteuid() == 0,
					    O2_NODE_DEFAULTS.resolve_timeout_ms};
	const struct o2_cm_param param = {o2_conn_qp(conn),
					  (uint8_t)options->retries,
					  (uint8_t)options->rnr_retries,
					  (uint8_t)options->ack_timeout,
					  bytes,
					  length};
	int rc;

	cm->handler = hear;
	cm->context = asker;
	asker->waits = true;
	rc = cm->ops->connect(cm, &target, &param, asker, &asker->id, NULL);
	if (rc == 0) {
		tell_watch(asker, O2_WATCHED_REQUEST, bytes, length);
		wait_for_answer(conform, asker);
		asker->id->cm->ops->destroy(asker->id);
	}
	cm->handler = NULL;
	return rc;
}

bool o2_conform_ask(struct o2_conform *conform, const struct o2_conn_params *offer, uint64_t dststamp,
		    struct o2_conform_asked *asked)
{
	static const struct o2_conn_ops ops;
	const struct o2_conn_config config = O2_CONN_DEFAULTS;
	struct asker asker = {.watch = conform->session.network.ni.config.watch, .asked = asked};
	uint8_t bytes[O2_CM_REQUEST_BYTES] = {0};
	const size_t length = compose(conform, offer, dststamp, bytes);
	struct o2_conn *conn;
	struct o2_error error;
	int rc;

	assert(!conform->started);
	memset(asked, 0, sizeof(*asked));
	rc = o2_conn_create(&conform->session.network.ni, &config, &ops, NULL, &conn, &error);
	if (rc == 0) {
		asker.conn = conn;
		rc = ask(conform, conn, &asker, bytes, length);
		o2_conn_destroy(conn);
	}
	conform->starved |= rc == -ENOMEM;
	if (rc != 0)
		o2_conform_skip(conform, "our end cannot ask: %s", strerror(-rc));
	else if (conform->lost)
		o2_conform_skip(conform, "the device is lost");
	else if (o2_net_stop != 0)
		o2_conform_skip(conform, "interrupted");
	return rc == 0 && !conform->lost && o2_net_stop == 0;
}
