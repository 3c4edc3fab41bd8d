/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stddef.h>
#include <string.h>

#include "lnd/node/negotiate.h"
#include "props/talk/nodes_internal.h"

#define FAST_ATTEMPTS 10u

/* Connection manager events as they reach a node, and the moments in which a node acts. */

#define ANOTHER 0x100u /* an address bit in which no two nodes of a case differ */

static void count_reject(struct o2_nodes *nodes, const struct o2_reject *reject)
{
	if (reject->ibr_why == O2_REJECT_CONN_RACE)
		o2_nodes_seen(nodes, O2_NODES_SEEN_RACE);
	else if (reject->ibr_why == O2_REJECT_CONN_STALE)
		o2_nodes_seen(nodes, O2_NODES_SEEN_STALE);
	else if (reject->ibr_why == O2_REJECT_MSG_QUEUE_SIZE)
		o2_nodes_seen(nodes, O2_NODES_SEEN_REJECT_DEPTH);
	else if (reject->ibr_why == O2_REJECT_RDMA_FRAGS)
		o2_nodes_seen(nodes, O2_NODES_SEEN_REJECT_FRAGS);
	else if (reject->ibr_why == O2_REJECT_EARLY)
		o2_nodes_seen(nodes, O2_NODES_SEEN_EARLY);
	else if (reject->ibr_why == O2_REJECT_NO_RESOURCES)
		o2_nodes_seen(nodes, O2_NODES_SEEN_NO_RESOURCES);
	else if (reject->ibr_version == O2_MSG_VERSION_1)
		o2_nodes_seen(nodes, O2_NODES_SEEN_REJECT_VERSION);
}

static void count(struct o2_nodes *nodes, const struct o2_cm_event *event)
{
	struct o2_reject reject;

	if (event->type == O2_CM_REJECTED && event->reason == O2_CM_REJECT_NO_LISTENER)
		o2_nodes_seen(nodes, O2_NODES_SEEN_NO_LISTENER);
	if (event->type == O2_CM_UNREACHABLE)
		o2_nodes_seen(nodes, O2_NODES_SEEN_UNREACHABLE);
	if (event->type == O2_CM_REJECTED && event->reason == O2_CM_REJECT_CONSUMER &&
	    o2_reject_decode(event->private_data, event->private_bytes, &reject, NULL) == 0)
		count_reject(nodes, &reject);
}

/*
 * Show the request to another node too, to which it is not addressed: that node must refuse it and reveal nothing.
 */
static void show_to_another(struct o2_nodes_seat *seat, const struct o2_cm_event *event)
{
	const struct o2_connreq_self another = {
		.nid = o2_nodes_nid(seat->nodes, seat->index) ^ ANOTHER,
		.incarnation = seat->place.ni.config.incarnation,
		.version = O2_MSG_VERSION_2,
		.queue_depth = (uint16_t)seat->config.conn.queue_depth,
		.max_frags = (uint16_t)seat->config.conn.max_frags,
		.up = true,
	};
	struct o2_connreq request;
	struct o2_reject reject;
	int rc = o2_connreq_judge(&another, &event->origin, event->private_data, event->private_bytes,
				  &request, &reject, NULL);

	if (rc == 0 || reject.ibr_why != O2_REJECT_FATAL || reject.ibr_incarnation != 0 ||
	    reject.ibr_cp.ibcp_queue_depth != 0 || reject.ibr_cp.ibcp_max_frags != 0)
		o2_report_fail(seat->nodes->report, "nodes/not-asked",
			       "a node that node %" PRIu32
			       " is mistaken for says %d to a request, reason %u, "
			       "incarnation 0x%" PRIx64 ", depth %u, %u fragments",
			       seat->index, rc, reject.ibr_why, reject.ibr_incarnation,
			       reject.ibr_cp.ibcp_queue_depth, reject.ibr_cp.ibcp_max_frags);
}

/* --- before and after --- */

/* Predict the answer to a request.  Its content was checked when it was sent. */
static void expect_answer(struct o2_nodes_seat *seat, const struct o2_cm_event *event)
{
	const struct o2_wire_options options = {.max_frags = O2_MAX_FRAGS};
	struct o2_nodes_moment *now = &seat->now;
	struct o2_msg msg;

	if (o2_msg_decode(event->private_data, event->private_bytes, &options, &msg, NULL) != 0)
		return;
	now->with = o2_nodes_index(seat->nodes, msg.ibm_srcnid);
	now->asked = (struct o2_conn_params){
		.version = msg.ibm_version,
		.queue_depth = msg.u.connparams.ibcp_queue_depth,
		.max_frags = msg.u.connparams.ibcp_max_frags,
		.max_msg_size = msg.u.connparams.ibcp_max_msg_size,
	};
	now->incarnation = msg.ibm_srcstamp;
	now->dststamp = msg.ibm_dststamp;
	now->why = o2_nodes_answer(seat);
	/* The node's own device may also prevent a connection. */
	if (now->why == 0 && seat->nodes->ground.faults && o2_draw_bool(seat->nodes->choice, 15, 1)) {
		now->no_receives = true;
		now->why = O2_REJECT_NO_RESOURCES;
	}
}

/* A reply arrived: the connection is up, with the parameters that the reply states. */
static void expect_up(struct o2_nodes_seat *seat, const struct o2_cm_event *event)
{
	const struct o2_wire_options options = {.max_frags = O2_MAX_FRAGS};
	struct o2_conn_config config = seat->config.conn;
	struct o2_nodes_end *end = seat->now.end;
	struct o2_nodes_known *known;
	struct o2_msg msg;

	if (end == NULL || end->over)
		return;
	known = &seat->pair[end->to].known;
	if (end->asked &&
	    o2_msg_decode(event->private_data, event->private_bytes, &options, &msg, NULL) == 0) {
		end->terms.queue_depth = msg.u.connparams.ibcp_queue_depth;
		end->terms.max_frags = msg.u.connparams.ibcp_max_frags;
		end->incarnation = msg.ibm_srcstamp;
		o2_nodes_sync_flavours(seat, end->to);
		o2_nodes_learn_flavour(seat, end->to, event->private_data);
		end->flavour = known->flavour;
		config.version = end->terms.version;
		o2_account_agree(&config, end->terms.queue_depth, &end->limits);
	}
	o2_nodes_learn_other_end(end);
	end->up = true;
	known->version = end->terms.version;
	known->incarnation = end->incarnation;
	known->races = 0;
}

/*
 * The node has learnt of a new life or version of the other node, or has a connection to the current one:
 * check that no connection with another life or version stays up.
 */
static void check_no_stale(struct o2_nodes_seat *seat, uint32_t with, uint64_t incarnation, uint16_t version)
{
	for (uint32_t n = 0; n < O2_NODES_ENDS; n++) {
		const struct o2_nodes_end *end = &seat->end[n];

		if (end->id != NULL && end->to == with && end->up && !end->over &&
		    (end->incarnation != incarnation || end->terms.version != version))
			o2_report_fail(seat->nodes->report, "nodes/stale-left",
				       "node %" PRIu32 " keeps a connection with node %" PRIu32
				       " of incarnation 0x%" PRIx64 ", version 0x%x; there is 0x%" PRIx64
				       ", version 0x%x",
				       seat->index, with, end->incarnation, end->terms.version, incarnation,
				       version);
	}
}

static void check_number(struct o2_nodes_seat *seat, uint32_t with, const char *what, uint32_t is,
			 uint32_t expected)
{
	if (is != expected)
		o2_report_fail(seat->nodes->report, "nodes/attempts",
			       "node %" PRIu32 " has %" PRIu32 " %s node %" PRIu32 ", expected %" PRIu32,
			       seat->index, is, what, with, expected);
}

/* A node that accepts a request drops its due attempts, so that no more connections are made than wanted. */
static void after_request(struct o2_nodes_seat *seat)
{
	const struct o2_nodes_moment *now = &seat->now;
	struct o2_peer_view view;

	if (!now->answered) {
		o2_report_fail(seat->nodes->report, "nodes/answer",
			       "node %" PRIu32 " does not answer a request", seat->index);
	} else if (now->why == O2_REJECT_CONN_STALE && !o2_nodes_other_life(seat)) {
		check_no_stale(seat, now->with, now->incarnation, now->asked.version);
	} else if (now->why == 0) {
		o2_node_peer(seat->node, o2_nodes_nid(seat->nodes, now->with), &view);
		check_number(seat, now->with, "attempts due, and has accepted a request of",
			     view.attempts_due, 0);
	}
}

static void after_up(struct o2_nodes_seat *seat, const struct o2_nodes_end *end)
{
	struct o2_peer_view view;

	if (!end->up || end->over)
		return;
	if (seat->now.told_up == 0)
		o2_report_fail(seat->nodes->report, "nodes/up",
			       "node %" PRIu32 " does not report that its connection with node %" PRIu32
			       " has come up",
			       seat->index, end->to);
	check_no_stale(seat, end->to, end->incarnation, end->terms.version);
	o2_node_peer(seat->node, o2_nodes_nid(seat->nodes, end->to), &view);
	check_number(seat, end->to, "attempts in a row without a connection with", view.attempts, 0);
}

static bool is_of_other_version(const struct o2_nodes_end *end, const struct o2_cm_event *event)
{
	struct o2_reject reject;

	return event->reason == O2_CM_REJECT_CONSUMER &&
	       o2_reject_decode(event->private_data, event->private_bytes, &reject, NULL) == 0 &&
	       reject.ibr_version != end->terms.version;
}

/*
 * An attempt was rejected.  It is repeated if the reason allows it, if an operation waits or the version
 * was new, and if no connection from the other node is about to come up.
 */
static void after_reject(struct o2_nodes_seat *seat, const struct o2_nodes_end *end,
			 const struct o2_peer_view *before)
{
	const struct o2_cm_event *event = seat->now.event;
	struct o2_transfer_fault fault;
	const bool again = o2_nodes_rejected(seat, end, event, &fault) && before->accepting == 0 &&
			   (before->waiting > 0 || is_of_other_version(end, event));
	struct o2_peer_view after;

	o2_node_peer(seat->node, o2_nodes_nid(seat->nodes, end->to), &after);
	check_number(seat, end->to, "attempts due after a reject of", after.attempts_due,
		     before->attempts_due + again);
	/* A node heeds the reject only if it asks again. */
	if (again)
		o2_nodes_learn(seat, end, event);
}

/* The node has given up the connection, and has told why. */
static void after_bad_reply(struct o2_nodes_seat *seat, struct o2_nodes_end *end)
{
	end->bad_reply = true;
	if (!end->over || !seat->now.is_down[end->to])
		o2_report_fail(seat->nodes->report, "nodes/bad-reply",
			       "node %" PRIu32 " does not refuse a reply of node %" PRIu32 " by rule %s",
			       seat->index, end->to, seat->now.bad_reply.error.rule);
	o2_nodes_seen(seat->nodes, O2_NODES_SEEN_BAD_REPLY);
}

/* An attempt that the connection manager has ended is given up at once. */
static void after_failure(struct o2_nodes_seat *seat, const struct o2_nodes_end *end)
{
	const enum o2_cm_event_type type = seat->now.event->type;

	if (!end->up && !end->over &&
	    (type == O2_CM_UNRESOLVED || type == O2_CM_UNREACHABLE || type == O2_CM_CONNECT_ERROR ||
	     type == O2_CM_REJECTED))
		o2_report_fail(seat->nodes->report, "nodes/left-behind",
			       "node %" PRIu32 " keeps an attempt to connect with node %" PRIu32
			       " that has failed by event %d",
			       seat->index, end->to, (int)type);
}

/* The connection manager is done with the connection, and so is the node. */
static void after_disconnected(struct o2_nodes_seat *seat, const struct o2_nodes_end *end)
{
	if (!end->gone)
		o2_report_fail(seat->nodes->report, "nodes/left-behind",
			       "node %" PRIu32 " keeps a connection with node %" PRIu32
			       " that has been disconnected",
			       seat->index, end->to);
}

void o2_nodes_hear(struct o2_nodes_seat *seat, const struct o2_cm_event *event,
		   const struct o2_transfer_fault *bad_reply, const uint8_t *unspoiled)
{
	struct o2_nodes *nodes = seat->nodes;
	struct o2_peer_view before = {.known = false};
	struct o2_nodes_end *end;

	o2_nodes_begin(seat, O2_NODES_HEARS, O2_NODES_MAX, 0);
	seat->now.event = event;
	seat->now.end = o2_nodes_end_with(seat, event->id);
	seat->now.bad_reply = *bad_reply;
	seat->now.unspoiled = unspoiled;
	end = seat->now.end;
	count(nodes, event);
	o2_nodes_carries_event(seat);
	if (event->type == O2_CM_REQUEST) {
		show_to_another(seat, event);
		expect_answer(seat, event);
	} else if (event->type == O2_CM_ESTABLISHED && bad_reply->code == 0) {
		expect_up(seat, event);
	}
	o2_nodes_check_event(seat);
	if (end != NULL)
		o2_node_peer(seat->node, o2_nodes_nid(nodes, end->to), &before);
	seat->handler(seat->handler_context, event);
	if (event->type == O2_CM_REQUEST)
		after_request(seat);
	else if (bad_reply->code != 0)
		after_bad_reply(seat, end);
	else if (end != NULL && event->type == O2_CM_ESTABLISHED)
		after_up(seat, end);
	else if (end != NULL && event->type == O2_CM_REJECTED && end->asked && !end->up)
		after_reject(seat, end, &before);
	else if (end != NULL && event->type == O2_CM_DISCONNECTED)
		after_disconnected(seat, end);
	if (end != NULL)
		after_failure(seat, end);
	o2_nodes_finish(seat);
}

void o2_nodes_begin(struct o2_nodes_seat *seat, enum o2_nodes_doing doing, uint32_t with, int code)
{
	/* Clear all but the array `lost`, whose length is nlost. */
	memset(&seat->now, 0, offsetof(struct o2_nodes_moment, lost));
	seat->now.nlost = 0;
	seat->asleep = false;
	seat->now.doing = doing;
	seat->now.with = with;
	seat->now.code = code;
}

/* After ten attempts in a row there is one per second; before, none waits: docs/connection.md, "Times". */
static void check_attempts(struct o2_nodes_seat *seat, uint32_t j, const struct o2_peer_view *view)
{
	struct o2_nodes_pair *pair = &seat->pair[j];
	const uint64_t now_ms = seat->nodes->ground.now_ms;

	if (view->attempts > pair->attempts && pair->attempts >= FAST_ATTEMPTS) {
		o2_nodes_seen(seat->nodes, O2_NODES_SEEN_SLOW);
		if (now_ms - pair->attempt_ms < 1000)
			o2_report_fail(seat->nodes->report, "nodes/attempt-early",
				       "node %" PRIu32 " makes attempt %" PRIu32
				       " to connect with node %" PRIu32 " %" PRIu64 " ms after the last one",
				       seat->index, view->attempts, j, now_ms - pair->attempt_ms);
	}
	if (view->attempts != pair->attempts && view->attempts > 0) {
		pair->attempt_ms = now_ms;
		pair->attempt = view->attempts;
	}
	pair->attempts = view->attempts;
	if (view->connecting + view->accepting + view->attempts_due == 0)
		check_number(seat, j, "attempts in a row, and makes none, to connect with", view->attempts,
			     0);
	if (view->waiting > 0 && view->connecting + view->accepting + view->attempts_due == 0)
		o2_report_fail(seat->nodes->report, "nodes/attempts",
			       "%" PRIu32 " operations of node %" PRIu32
			       " wait for a connection with node %" PRIu32 ", which nothing will make",
			       view->waiting, seat->index, j);
	/* Remaining attempts wait for that second, even if another attempt succeeds meanwhile. */
	if (view->attempts_due > 0 && (pair->attempt < FAST_ATTEMPTS || now_ms - pair->attempt_ms >= 1000))
		o2_report_fail(seat->nodes->report, "nodes/attempt-late",
			       "node %" PRIu32 " has not made an attempt to connect with node %" PRIu32
			       ", %" PRIu64 " ms after number %" PRIu32,
			       seat->index, j, now_ms - pair->attempt_ms, pair->attempt);
}

/* The node's record of a peer must hold what it was told last. */
static void check_record(const struct o2_nodes_seat *seat, uint32_t j, const struct o2_peer_view *view)
{
	const struct o2_nodes_known *known = &seat->pair[j].known;
	const struct o2_account record[] = {
		{"version", view->version, known->version},
		{"incarnation", view->incarnation, known->incarnation},
		{"queue_depth", view->queue_depth, known->depth},
		{"max_frags", view->max_frags, known->frags},
		{"races", view->races, known->races},
	};

	for (size_t i = 0; i < sizeof(record) / sizeof(record[0]); i++)
		if (record[i].is != record[i].expected)
			o2_report_fail(seat->nodes->report, "nodes/record",
				       "node %" PRIu32 " has %s %" PRIu64 " of node %" PRIu32
				       ", expected %" PRIu64,
				       seat->index, record[i].what, record[i].is, j, record[i].expected);
}

/* After its work, a node has freed ended connections and forgotten peers it has nothing to do with. */
static void after_work(struct o2_nodes_seat *seat)
{
	struct o2_nodes *nodes = seat->nodes;
	struct o2_peer_view view;
	uint32_t known = 0;

	for (uint32_t n = 0; n < O2_NODES_ENDS; n++)
		if (seat->end[n].gone) {
			o2_nodes_check_told_gone(seat, &seat->end[n]);
			seat->end[n] = (struct o2_nodes_end){.id = NULL};
		}
	for (uint32_t j = 0; j < nodes->nseats; j++) {
		if (j == seat->index)
			continue;
		o2_node_peer(seat->node, o2_nodes_nid(nodes, j), &view);
		known += view.known;
		o2_nodes_sync_flavours(seat, j);
		check_attempts(seat, j, &view);
		if (!view.known)
			o2_nodes_unknown(seat, j);
		else
			check_record(seat, j, &view);
		if (!view.known && o2_nodes_count_ends(seat, j, false) > 0)
			o2_report_fail(nodes->report, "nodes/forgotten",
				       "node %" PRIu32 " has forgotten node %" PRIu32
				       ", and has a connection with it",
				       seat->index, j);
	}
	if (o2_node_npeers(seat->node) != known)
		o2_report_fail(nodes->report, "nodes/records",
			       "node %" PRIu32 " counts %" PRIu32 " nodes that it keeps record of, and knows "
			       "%" PRIu32,
			       seat->index, o2_node_npeers(seat->node), known);
}

/* A peer that has been closed counts as new. */
static void after_close(struct o2_nodes_seat *seat)
{
	struct o2_peer_view view;

	o2_node_peer(seat->node, o2_nodes_nid(seat->nodes, seat->now.with), &view);
	check_number(seat, seat->now.with, "attempts in a row, and has closed", view.attempts, 0);
	check_number(seat, seat->now.with, "attempts due, and has closed", view.attempts_due,
		     seat->now.started_again ? seat->config.conns_per_peer : 0);
	check_number(seat, seat->now.with, "operations that wait, and has closed", view.waiting,
		     seat->now.started_again);
}

void o2_nodes_finish(struct o2_nodes_seat *seat)
{
	const enum o2_nodes_doing doing = seat->now.doing;

	o2_nodes_check_heard(seat);
	if (seat->now.not_made > 0)
		o2_report_fail(seat->nodes->report, "nodes/not-told",
			       "node %" PRIu32 " does not tell of %" PRIu32
			       " attempts to connect that could not be made",
			       seat->index, seat->now.not_made);
	if (seat->now.nlost > 0)
		o2_report_fail(seat->nodes->report, "nodes/no-cause",
			       "an operation of node %" PRIu32
			       " or of its peer has lost a connection that is there",
			       seat->index);
	if (doing == O2_NODES_CLOSES)
		after_close(seat);
	if (doing == O2_NODES_PROGRESSES || doing == O2_NODES_IS_TOLD_THE_TIME)
		after_work(seat);
	if (doing == O2_NODES_IS_TOLD_THE_TIME)
		o2_nodes_check_overdue(seat);
	seat->now.doing = O2_NODES_NOTHING;
}
