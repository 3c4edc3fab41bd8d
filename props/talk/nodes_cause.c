/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>

#include "props/talk/nodes_internal.h"

/*
 * Why connections, attempts and their operations end.  Each cause that a case can create predicts one
 * fault (docs/connection.md, "What an attempt can end with"; docs/transport.md, "Errors").  An end without
 * a cause, or with another fault than predicted, is a finding.
 */

/* One of the connection's two queue pairs no longer works: the case killed it, or the other node destroyed it. */
static bool is_broken(const struct o2_nodes_seat *seat, const struct o2_nodes_end *end)
{
	const struct o2_nodes_end *other = o2_nodes_other_end(seat, end);

	return end->killed || other == NULL || other->killed;
}

/* --- causes, each with the fault that it foretells --- */

typedef bool (*cause_fn)(const struct o2_nodes_seat *seat, const struct o2_nodes_end *end,
			 const struct o2_transfer_fault *is, struct o2_transfer_fault *foretold);

/* The case has made this node close this connection, or end all. */
static bool by_us(const struct o2_nodes_seat *seat, const struct o2_nodes_end *end,
		  const struct o2_transfer_fault *is, struct o2_transfer_fault *foretold)
{
	const int code = seat->now.code;

	(void)is;
	if (seat->now.doing != O2_NODES_ENDS_ALL &&
	    !(seat->now.doing == O2_NODES_CLOSES && seat->now.with == end->to))
		return false;
	*foretold = code != 0 ? o2_nodes_fault(O2_FAULT_CLOSED, code, "conn/closed", "errno", (uint64_t)-code,
					       O2_NO_LIMIT)
			      : o2_nodes_fault(O2_FAULT_NONE, 0, NULL, NULL, 0, 0);
	if (!end->up)
		*foretold = o2_nodes_because(foretold); /* an attempt never ends without an error */
	return true;
}

static bool by_the_manager(const struct o2_cm_event *event, struct o2_transfer_fault *foretold)
{
	static const struct {
		enum o2_cm_event_type type;
		int code;
		const char *rule;
	} rows[] = {
		{O2_CM_UNRESOLVED, -EHOSTUNREACH, "cm/unresolved"},
		{O2_CM_UNREACHABLE, -ENETDOWN, "cm/unreachable"},
		{O2_CM_CONNECT_ERROR, -ENOTCONN, "cm/connect-error"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (event->type != rows[i].type)
			continue;
		*foretold = o2_nodes_fault(O2_FAULT_CONNECT, rows[i].code, rows[i].rule, "errno",
					   (uint64_t)-event->code, O2_NO_LIMIT);
		foretold->error.code = event->code;
		return true;
	}
	return false;
}

/* The node is told by an event about this end itself. */
static bool by_event(const struct o2_nodes_seat *seat, const struct o2_nodes_end *end,
		     const struct o2_transfer_fault *is, struct o2_transfer_fault *foretold)
{
	const struct o2_cm_event *event = seat->now.event;
	const bool reject = event != NULL && event->type == O2_CM_REJECTED;

	(void)is;
	if (seat->now.doing != O2_NODES_HEARS || seat->now.end != end)
		return false;
	if (reject && end->asked && !end->up) {
		o2_nodes_rejected(seat, end, event, foretold);
		return true;
	}
	if (!reject && event->type != O2_CM_DISCONNECTED)
		return by_the_manager(event, foretold);
	*foretold =
		o2_nodes_fault(reject ? O2_FAULT_REJECTED : O2_FAULT_PEER_CLOSED, end->up ? 0 : -ECONNRESET,
			       end->up	? NULL
			       : reject ? "cm/rejected"
					: "cm/disconnected",
			       "cm reason", event->reason, O2_NO_LIMIT);
	foretold->cm_reason = event->reason;
	return true;
}

/* A request, or a new connection, shows that the other node now has another life or version. */
static bool by_another_life(const struct o2_nodes_seat *seat, const struct o2_nodes_end *end,
			    const struct o2_transfer_fault *is, struct o2_transfer_fault *foretold)
{
	const struct o2_nodes_moment *now = &seat->now;
	const bool request = now->event != NULL && now->event->type == O2_CM_REQUEST;
	const struct o2_nodes_end *up = now->end;
	uint64_t incarnation;
	uint16_t version;

	(void)is;
	if (now->doing != O2_NODES_HEARS || !end->up || up == end)
		return false;
	if (request && (now->with != end->to || now->why != O2_REJECT_CONN_STALE))
		return false;
	if (!request && (up == NULL || up->to != end->to || now->event->type != O2_CM_ESTABLISHED))
		return false;
	incarnation = request ? now->incarnation : up->incarnation;
	version = request ? now->asked.version : up->terms.version;
	*foretold = (struct o2_transfer_fault){.side = O2_FAULT_PEER_MESSAGE, .code = -ESTALE};
	if (incarnation != end->incarnation)
		o2_refuse_other(&foretold->error, -ESTALE, "node/stale-incarnation", "ibm_srcstamp",
				incarnation, end->incarnation);
	else if (version != end->terms.version)
		o2_refuse_other(&foretold->error, -ESTALE, "node/stale-version", "ibm_version", version,
				end->terms.version);
	return incarnation != end->incarnation || version != end->terms.version;
}

/* The reply to this end's request is not a valid one. */
static bool by_a_bad_reply(const struct o2_nodes_seat *seat, const struct o2_nodes_end *end,
			   const struct o2_transfer_fault *is, struct o2_transfer_fault *foretold)
{
	(void)is;
	*foretold = seat->now.bad_reply;
	return seat->now.doing == O2_NODES_HEARS && seat->now.end == end && foretold->code != 0;
}

static bool by_a_header(const struct o2_nodes_seat *seat, const struct o2_nodes_end *end,
			const struct o2_transfer_fault *is, struct o2_transfer_fault *foretold)
{
	(void)is;
	*foretold = (struct o2_transfer_fault){.side = O2_FAULT_PEER_MESSAGE, .code = -EPROTO};
	o2_refuse_peer(&foretold->error, -EPROTO, "conn/lnet-header", "hdr.type", O2_LNET_PUT, O2_NO_LIMIT);
	return end->up && seat->now.header_refused[end->to];
}

/* A queue pair that no longer works flushes what is posted, or gets no answer. */
static bool by_the_device(const struct o2_nodes_seat *seat, const struct o2_nodes_end *end,
			  const struct o2_transfer_fault *is, struct o2_transfer_fault *foretold)
{
	if (!end->up || !is_broken(seat, end) ||
	    (is->wc_status != IBV_WC_WR_FLUSH_ERR && is->wc_status != IBV_WC_RETRY_EXC_ERR))
		return false;
	*foretold = o2_nodes_fault(O2_FAULT_LOCAL_COMPLETION, -EIO, "conn/completion", "wc.status",
				   is->wc_status, O2_NO_LIMIT);
	foretold->wc_status = is->wc_status;
	return true;
}

/* A send that the device refuses ends the connection. */
static bool by_a_send(const struct o2_nodes_seat *seat, const struct o2_nodes_end *end,
		      const struct o2_transfer_fault *is, struct o2_transfer_fault *foretold)
{
	(void)is;
	*foretold = (struct o2_transfer_fault){.side = O2_FAULT_LOCAL_STAGE, .code = -ENOMEM};
	o2_refuse_other(&foretold->error, -ENOMEM, "post/send", "posted work requests", 0, 1);
	return end->up && seat->now.send_refused;
}

static bool by_the_loss_of_the_device(const struct o2_nodes_seat *seat, const struct o2_nodes_end *end,
				      const struct o2_transfer_fault *is, struct o2_transfer_fault *foretold)
{
	(void)end;
	(void)is;
	*foretold = o2_nodes_device_lost();
	return seat->lost && seat->now.doing == O2_NODES_HEARS;
}

static bool by_the_attempt_s_age(const struct o2_nodes_seat *seat, const struct o2_nodes_end *end,
				 const struct o2_transfer_fault *is, struct o2_transfer_fault *foretold)
{
	const uint64_t age_ms = seat->nodes->ground.now_ms - end->since_ms,
		       limit_ms = o2_nodes_attempt_ms(seat);

	(void)is;
	if (seat->now.doing != O2_NODES_IS_TOLD_THE_TIME || end->up || age_ms < limit_ms)
		return false;
	*foretold = o2_nodes_fault(O2_FAULT_DEADLINE, -ENETDOWN, "node/connect-timeout", "age in ms", age_ms,
				   limit_ms);
	foretold->wait = O2_WAIT_CONNECTION;
	return true;
}

/* The age of the oldest operation between the two nodes: it can make the connection late. */
static uint64_t oldest_ms(const struct o2_nodes *nodes, uint32_t i, uint32_t j)
{
	uint64_t oldest_ms = 0;

	for (uint32_t way = 0; way < 2; way++) {
		const struct o2_nodes_seat *seat = &nodes->seat[way == 0 ? i : j];

		for (uint32_t k = 0; k < seat->nops; k++) {
			const struct o2_nodes_op *op = &seat->op[k];

			if (op->started && op->to == (way == 0 ? j : i) &&
			    nodes->ground.now_ms - op->started_ms > oldest_ms)
				oldest_ms = nodes->ground.now_ms - op->started_ms;
		}
	}
	return oldest_ms;
}

/* An operation waits, and the other end does not answer. */
static bool by_an_operation_s_age(const struct o2_nodes_seat *seat, const struct o2_nodes_end *end,
				  const struct o2_transfer_fault *is, struct o2_transfer_fault *foretold)
{
	const uint64_t limit_ms = seat->config.conn.timeout_ms;
	const struct o2_nodes_end *other = o2_nodes_other_end(seat, end);

	if (seat->now.doing != O2_NODES_IS_TOLD_THE_TIME || !end->up ||
	    (!is_broken(seat, end) && other->up) || is->wait == O2_WAIT_NONE || is->error.value < limit_ms ||
	    is->error.value > oldest_ms(seat->nodes, seat->index, end->to))
		return false;
	*foretold = o2_nodes_fault(O2_FAULT_DEADLINE, -ETIMEDOUT, "conn/deadline", "age in ms",
				   is->error.value, limit_ms);
	foretold->wait = is->wait;
	return true;
}

static const cause_fn causes[] = {
	by_us,	       by_event,  by_another_life,	     by_a_bad_reply,	   by_a_header,
	by_the_device, by_a_send, by_the_loss_of_the_device, by_the_attempt_s_age, by_an_operation_s_age};

/* --- what connections and attempts end with --- */

static void check_end(struct o2_nodes_seat *seat, const struct o2_nodes_end *end,
		      const struct o2_transfer_fault *fault)
{
	struct o2_transfer_fault foretold, best;
	bool any = false;

	for (size_t i = 0; i < sizeof(causes) / sizeof(causes[0]); i++) {
		if (!causes[i](seat, end, fault, &foretold))
			continue;
		if (o2_nodes_same_fault(&foretold, fault))
			return;
		best = foretold;
		any = true;
	}
	o2_nodes_fail_fault(seat, end->to, end->up ? "a connection" : "an attempt to connect", fault,
			    any ? &best : NULL);
}

void o2_nodes_check_down(struct o2_nodes_seat *seat, uint32_t with, const struct o2_transfer_fault *fault)
{
	struct o2_nodes_moment *now = &seat->now;

	if (now->given_up == NULL && now->not_made > 0) {
		const struct o2_transfer_fault not_made = {
			.side = O2_FAULT_LOCAL_STAGE,
			.code = -ENOMEM,
			.error = {.code = -ENOMEM, .rule = "conn/post-recv", .field = "slot", .value = 0}};

		now->not_made--;
		o2_nodes_seen(seat->nodes, O2_NODES_SEEN_NOT_MADE);
		if (fault->side != not_made.side || fault->code != not_made.code ||
		    !o2_same_text(fault->error.rule, not_made.error.rule) ||
		    fault->error.code != not_made.code || fault->error.value != 0)
			o2_nodes_fail_fault(seat, with, "an attempt that could not be made", fault,
					    &not_made);
	} else if (now->given_up == NULL && now->not_accepted.code != 0 && now->with == with) {
		if (!o2_nodes_same_fault(&now->not_accepted, fault))
			o2_nodes_fail_fault(seat, with, "what could not be accepted", fault,
					    &now->not_accepted);
	} else if (now->given_up == NULL || now->given_up->to != with) {
		o2_report_fail(seat->nodes->report, "nodes/no-cause",
			       "node %" PRIu32 " is told of the end of a connection with node %" PRIu32
			       " that it has not given up",
			       seat->index, with);
	} else {
		check_end(seat, now->given_up, fault);
	}
	if (!seat->nodes->report->failed)
		o2_nodes_check_its_operations(seat, with, fault);
	now->given_up = NULL;
	now->down[with] = *fault;
	now->is_down[with] = true;
}

/* --- what the connection manager says --- */

static bool take(uint32_t *count)
{
	if (*count == 0)
		return false;
	--*count;
	return true;
}

/* True if a node sent the reject.  Otherwise the connection manager did, because the other end was gone. */
static bool has_record(const struct o2_cm_event *event)
{
	struct o2_reject reject;

	return event->reason == O2_CM_REJECT_CONSUMER &&
	       o2_reject_decode(event->private_data, event->private_bytes, &reject, NULL) == 0;
}

void o2_nodes_check_event(struct o2_nodes_seat *seat)
{
	const struct o2_cm_event *event = seat->now.event;
	const struct o2_nodes_end *end = seat->now.end;
	struct o2_nodes_pair *pair;
	bool caused = true;

	if (end == NULL || end->over)
		return;
	pair = &seat->pair[end->to];
	if (event->type == O2_CM_UNRESOLVED)
		caused = take(&pair->unresolved);
	else if (event->type == O2_CM_UNREACHABLE)
		caused = take(&pair->unreachable);
	else if (event->type == O2_CM_REJECTED && event->reason == O2_CM_REJECT_NO_LISTENER)
		caused = take(&pair->refused) || end->since_ms <= seat->nodes->seat[end->to].deaf_until_ms;
	else if (event->type == O2_CM_DISCONNECTED || event->type == O2_CM_CONNECT_ERROR ||
		 (event->type == O2_CM_REJECTED && !has_record(event)))
		caused = o2_nodes_other_end(seat, end) == NULL;
	if (!caused)
		o2_report_fail(seat->nodes->report, "nodes/event",
			       "node %" PRIu32 " hears event %d, reason %" PRIu32 ", of node %" PRIu32
			       ", which nobody has brought about",
			       seat->index, (int)event->type, event->reason, end->to);
}
