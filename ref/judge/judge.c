/* SPDX-License-Identifier: MIT */
#include "judge/judge.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "base/monotonic.h"
#include "judge/internal.h"

struct o2_judge *o2_judge_new(const struct o2_judge_options *options, o2_judge_sink sink, void *context)
{
	struct o2_judge *judge = calloc(1, sizeof(*judge));

	if (judge == NULL)
		return NULL;
	judge->options = options != NULL ? *options : O2_JUDGE_DEFAULTS;
	judge->sink = sink;
	judge->context = context;
	LIST_INIT(&judge->conns);
	return judge;
}

void o2_judge_free(struct o2_judge *judge)
{
	if (judge == NULL)
		return;
	while (!LIST_EMPTY(&judge->conns))
		o2_judge_part(judge, LIST_FIRST(&judge->conns));
	assert(judge->transfers == 0);
	free(judge);
}

void o2_judge_listen(struct o2_judge *judge, o2_judge_listener listener, void *context)
{
	judge->listener = listener;
	judge->listener_context = context;
}

struct o2_judge_conn *o2_judge_meet(struct o2_judge *judge, enum o2_judge_seen seen)
{
	struct o2_judge_conn *conn = calloc(1, sizeof(*conn));

	if (conn == NULL)
		return NULL;
	conn->id = ++judge->met;
	conn->whole = conn->exact = seen == O2_JUDGE_WHOLE;
	conn->one_way = seen == O2_JUDGE_ONE_WAY;
	TAILQ_INIT(&conn->end[O2_JUDGE_A].open);
	TAILQ_INIT(&conn->end[O2_JUDGE_B].open);
	o2_judge_credits_start(conn);
	LIST_INSERT_HEAD(&judge->conns, conn, link);
	return conn;
}

void o2_judge_both_ways(struct o2_judge_conn *conn)
{
	conn->one_way = false;
}

void o2_judge_writes_unseen(struct o2_judge_conn *conn, enum o2_judge_side side)
{
	conn->end[side].writes_unseen = true;
}

/* Report the findings that wait for proof: they are proven now, or never will be. */
static void release(struct o2_judge *judge, struct o2_judge_end *end, bool unproven)
{
	for (uint32_t i = 0; i < end->nwaiting; i++) {
		end->waiting[i].unproven = unproven;
		judge->sink(judge->context, &end->waiting[i]);
	}
	end->nwaiting = 0;
}

void o2_judge_start_unseen(struct o2_judge *judge, struct o2_judge_conn *conn, enum o2_judge_side side)
{
	struct o2_judge_transfer *transfer;

	release(judge, &conn->end[side], true);
	TAILQ_FOREACH(transfer, &conn->end[o2_judge_other(side)].open, link)
		transfer->unsure = true;
	o2_judge_credits_unknown(conn);
	conn->is_told = conn->is_told && conn->doubtful;
	conn->doubtful = true;
}

void o2_judge_part(struct o2_judge *judge, struct o2_judge_conn *conn)
{
	for (int side = O2_JUDGE_A; side < O2_JUDGE_SIDES; side++)
		release(judge, &conn->end[side], true);
	o2_judge_transfers_drop(judge, conn);
	o2_judge_lnet_part(judge, conn);
	LIST_REMOVE(conn, link);
	free(conn);
}

static enum o2_judge_severity severity_of(const struct o2_judge_finding *finding)
{
	return o2_judge_rules[finding->rule].severity;
}

/* Let a finding wait until it is proven.  If too many wait already, drop the last one of the least severe. */
static void wait_for_proof(struct o2_judge_end *end, const struct o2_judge_finding *finding)
{
	struct o2_judge_finding *waiting = end->waiting;
	uint32_t least = 0;

	if (end->nwaiting < O2_JUDGE_WAITING_MAX) {
		waiting[end->nwaiting++] = *finding;
		return;
	}
	for (uint32_t i = 1; i < O2_JUDGE_WAITING_MAX; i++)
		if (severity_of(&waiting[i]) >= severity_of(&waiting[least]))
			least = i;
	if (severity_of(finding) >= severity_of(&waiting[least]))
		return;
	/* They stay in the order in which they were made. */
	for (uint32_t i = least + 1; i < O2_JUDGE_WAITING_MAX; i++)
		waiting[i - 1] = waiting[i];
	waiting[O2_JUDGE_WAITING_MAX - 1] = *finding;
}

/* Report a finding now, or once it is proven. */
static void report(const struct o2_judging *at, const struct o2_judge_finding *finding)
{
	const enum o2_judge_proof proof = o2_judge_rules[finding->rule].proof;
	struct o2_judge_end *end =
		&at->conn->end[proof == O2_JUDGE_OF_PEER ? o2_judge_other(finding->who) : finding->who];

	if (!at->judge->options.lossy || proof == O2_JUDGE_PROVEN)
		at->judge->sink(at->judge->context, finding);
	else
		wait_for_proof(end, finding);
}

/* A finding of the current event, without its error. */
static struct o2_judge_finding finding_of(const struct o2_judging *at, enum o2_judge_rule_id rule,
					  enum o2_judge_side who, uint64_t earlier)
{
	return (struct o2_judge_finding){
		.rule = rule,
		.conn = at->conn,
		.who = who,
		.number = at->event->number,
		.time_ns = at->event->time_ns,
		.earlier = earlier,
	};
}

void o2_judge_broken(const struct o2_judging *at, enum o2_judge_rule_id rule, enum o2_judge_side who,
		     uint64_t earlier, const char *field, uint64_t value, uint64_t limit,
		     enum o2_limit_kind kind)
{
	struct o2_judge_finding finding = finding_of(at, rule, who, earlier);

	o2_limit_is(o2_refuse_value(&finding.error, -EPROTO, o2_judge_rules[rule].id, field, value, limit),
		    kind, &finding.error);
	report(at, &finding);
}

void o2_judge_entry_differs(const struct o2_judging *at, enum o2_judge_rule_id rule, uint64_t earlier,
			    const char *field, uint32_t index, uint64_t value, uint64_t expected)
{
	struct o2_judge_finding finding = finding_of(at, rule, at->from, earlier);

	o2_limit_is(
		o2_refuse(&finding.error, -EPROTO, o2_judge_rules[rule].id, field, index, value, expected),
		O2_LIMIT_EXACT, &finding.error);
	report(at, &finding);
}

void o2_judge_over(const struct o2_judging *at, enum o2_judge_rule_id rule, uint64_t earlier,
		   const char *field, uint64_t value, uint64_t limit)
{
	o2_judge_broken(at, rule, at->from, earlier, field, value, limit, O2_LIMIT_BOUND);
}

void o2_judge_differs(const struct o2_judging *at, enum o2_judge_rule_id rule, uint64_t earlier,
		      const char *field, uint64_t value, uint64_t expected)
{
	o2_judge_broken(at, rule, at->from, earlier, field, value, expected, O2_LIMIT_EXACT);
}

void o2_judge_expect(const struct o2_judging *at, enum o2_judge_rule_id rule, uint64_t earlier,
		     const char *field, uint64_t value, uint64_t expected)
{
	if (value != expected)
		o2_judge_differs(at, rule, earlier, field, value, expected);
}

void o2_judge_refused(const struct o2_judging *at)
{
	struct o2_judge_finding finding = finding_of(at, O2_JUDGE_MESSAGE_WIRE, at->from, 0);

	finding.error = *at->event->refused;
	at->judge->sink(at->judge->context, &finding);
}

/* Open transfers may have continued in the events that were missed. */
void o2_judge_unseen(const struct o2_judging *at)
{
	at->conn->end[at->from].nwaiting = at->conn->end[at->from].nunheard = 0;
	o2_judge_transfers_drop(at->judge, at->conn);
	at->conn->whole = false;
	o2_judge_credits_unknown(at->conn);
	o2_judge_payload_unseen(at->conn, at->from);
	at->conn->end[at->from].last_message_ns = 0;
}

static void disconnect(const struct o2_judging *at)
{
	for (int side = O2_JUDGE_A; side < O2_JUDGE_SIDES; side++) {
		const struct o2_judge_transfer *oldest = TAILQ_FIRST(&at->conn->end[side].open);

		if (oldest != NULL && !o2_judge_may_have_ended(at->conn, oldest))
			o2_judge_broken(at, O2_JUDGE_END_OPEN, at->from, oldest->number, "transfers open",
					at->conn->end[side].nopen, 0, O2_LIMIT_EXACT);
	}
	o2_judge_transfers_drop(at->judge, at->conn);
	at->conn->end[at->from].disconnected = true;
}

/* For how long a side was quiet is not known: checks for too short a time begin anew. */
static void forget_quiet(struct o2_judge_conn *conn)
{
	for (int side = O2_JUDGE_A; side < O2_JUDGE_SIDES; side++) {
		conn->end[side].last_message_ns = 0;
		conn->end[side].empty_noops = 0;
	}
}

/*
 * The caller's clock has advanced by `ns`: returns how much time has passed at least.  If the clock was set back, and
 * now advances by as much or more, or a little less, it may have been set right.
 */
static uint64_t passed_ns(struct o2_judge_conn *conn, uint64_t ns)
{
	const uint64_t behind_ns = conn->behind_ns;

	if (behind_ns == 0 || ns + O2_JUDGE_DISORDER_MS * O2_NS_PER_MS < behind_ns)
		return ns;
	conn->behind_ns = 0;
	forget_quiet(conn);
	return ns < behind_ns ? 0 : ns - behind_ns;
}

/*
 * Advance the connection's time by the difference to the event before.  For an event slightly out of order,
 * time stands still until the latest event's time is reached.  A much older event means that the clock was set
 * back: the time that passed is unknown and not counted, and checks for too short a time begin anew. An event
 * without a time has that of the event before; what must be answered within a time counts from the next one.
 */
static void pass_time(struct o2_judge_conn *conn, const struct o2_judge_event *event)
{
	const uint64_t time_ns = event->time_ns;

	if (event->timeless)
		return;
	/* The time that passed before the first known time is not known either. */
	if (!conn->clocked) {
		conn->clocked = true;
		conn->clock_ns = time_ns;
		conn->now_ns = conn->heard == 0 ? time_ns : conn->now_ns;
	}
	if (time_ns >= conn->clock_ns) {
		conn->now_ns += passed_ns(conn, time_ns - conn->clock_ns);
		conn->clock_ns = time_ns;
	} else if (conn->clock_ns - time_ns > O2_JUDGE_DISORDER_MS * O2_NS_PER_MS) {
		conn->behind_ns += conn->clock_ns - time_ns;
		conn->clock_ns = time_ns;
		forget_quiet(conn);
	}
	if (conn->undated) {
		o2_judge_transfers_date(conn);
		o2_judge_credits_date(conn);
		conn->undated = false;
	}
}

/* Check for overdue answers and credits, unless a side has disconnected or the answers are not seen. */
static void judge_time(const struct o2_judging *at)
{
	if (at->conn->one_way || o2_judge_has_ended(at->conn))
		return;
	o2_judge_transfer_time(at);
	o2_judge_credits_time(at);
}

void o2_judge_silent(struct o2_judge *judge, struct o2_judge_conn *conn, uint64_t number, uint64_t time_ns)
{
	const struct o2_judge_event event = {.from = O2_JUDGE_A, .number = number, .time_ns = time_ns};
	const struct o2_judging at = {judge, conn, &event, O2_JUDGE_A, O2_JUDGE_B};

	pass_time(conn, &event);
	judge_time(&at);
}

static void lose(const struct o2_judging *at)
{
	o2_judge_broken(at, O2_JUDGE_TRANSPORT_LOST, at->from, 0, NULL, 0, O2_NO_LIMIT, O2_LIMIT_OTHER);
	o2_judge_unseen(at);
	o2_judge_doubt(at);
}

/*
 * The message seems to have been missed when it came first, and to come again because its acknowledgement was lost.  It
 * proves nothing, and which credits it has used and given is not known.  What shows this is kept: more may come again.
 */
static int hear_again(const struct o2_judging *at, enum o2_judge_again again)
{
	int rc = 0;

	release(at->judge, &at->conn->end[at->from], true);
	if (at->conn->whole || again == O2_JUDGE_ANSWERED) {
		lose(at);
	} else {
		/* In a conversation with gaps a WRITE may have been for something else as well. */
		o2_judge_credits_unknown(at->conn);
		rc = o2_judge_message(at);
		o2_judge_credits_unknown(at->conn);
		o2_judge_transfer_unsure(at);
	}
	return rc;
}

static int hear(struct o2_judge *judge, struct o2_judge_conn *conn, const struct o2_judge_event *event)
{
	const struct o2_judging at = {judge, conn, event, event->from, o2_judge_other(event->from)};
	const enum o2_judge_again again = o2_judge_comes_again(&at);

	pass_time(conn, event);
	if (again != O2_JUDGE_NEW)
		return hear_again(&at, again);
	if (event->kind == O2_JUDGE_MESSAGE || event->kind == O2_JUDGE_WRITE) {
		release(judge, &conn->end[event->from], false);
		conn->end[event->from].nunheard = 0;
		conn->end[event->from].strays.nanswers = conn->end[event->from].strays.nwrites = 0;
	}
	/* The WRITE that this part belongs to will bring the time. */
	if (event->kind != O2_JUDGE_PART)
		judge_time(&at);
	switch (event->kind) {
	case O2_JUDGE_REQUEST:
		o2_judge_request(&at);
		return 0;
	case O2_JUDGE_REPLY:
		o2_judge_reply(&at);
		return 0;
	case O2_JUDGE_REJECT:
		o2_judge_reject(&at);
		return 0;
	case O2_JUDGE_MESSAGE:
		return o2_judge_message(&at);
	case O2_JUDGE_WRITE:
		o2_judge_write(&at);
		return 0;
	case O2_JUDGE_LOST:
		lose(&at);
		return 0;
	case O2_JUDGE_NAK:
		o2_judge_broken(&at, O2_JUDGE_TRANSPORT_NAK, at.from, 0, NULL, 0, O2_NO_LIMIT,
				O2_LIMIT_OTHER);
		return 0;
	case O2_JUDGE_DISCONNECT:
		disconnect(&at);
		return 0;
	case O2_JUDGE_PART:
		o2_judge_write_part(&at);
		return 0;
	}
	return -EINVAL;
}

int o2_judge_hear(struct o2_judge *judge, struct o2_judge_conn *conn, const struct o2_judge_event *event)
{
	const int rc = hear(judge, conn, event);

	/* The listener gets the whole WRITE later. */
	if (event->kind == O2_JUDGE_PART)
		return rc;
	conn->heard++;
	if (judge->listener != NULL)
		judge->listener(judge->listener_context, conn, event);
	return rc;
}

struct o2_judge_view o2_judge_view(const struct o2_judge_conn *conn)
{
	struct o2_judge_view view = {
		.id = conn->id,
		.heard = conn->heard,
		.version = conn->version,
		.queue_depth = conn->queue_depth,
		.max_frags = conn->max_frags,
		.seen = conn->one_way ? O2_JUDGE_ONE_WAY
			: conn->whole ? O2_JUDGE_WHOLE
				      : O2_JUDGE_LATER,
	};

	for (int side = O2_JUDGE_A; side < O2_JUDGE_SIDES; side++) {
		const struct o2_judge_end *end = &conn->end[side];

		view.nid[side] = end->nid;
		view.messages[side] = end->messages;
		view.writes[side] = end->writes;
		view.write_bytes[side] = end->write_bytes;
		view.open[side] = end->nopen;
	}
	o2_judge_credits_view(conn, &view);
	return view;
}
