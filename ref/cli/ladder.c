/* SPDX-License-Identifier: MIT */
#include "cli/ladder.h"

#include <stdlib.h>
#include <string.h>

#include "cli/ladder_bar.h"
#include "wire/msg_type.h"

#define HASH_SLOTS   1024u
#define SEARCH_STEPS 4096u /* events that are searched for the cause of an event */

struct o2_ladder *o2_ladder_new(uint32_t first, const struct o2_wire_options *wire)
{
	struct o2_ladder *ladder = calloc(1, sizeof(*ladder));

	if (ladder == NULL)
		return NULL;
	ladder->hash = calloc(HASH_SLOTS, sizeof(*ladder->hash));
	if (ladder->hash == NULL) {
		free(ladder);
		return NULL;
	}
	ladder->first = first;
	ladder->wire = *wire;
	TAILQ_INIT(&ladder->recent);
	TAILQ_INIT(&ladder->conns);
	return ladder;
}

/* No event of the connection is held any more. */
static void drop_conn(struct o2_ladder *ladder, struct o2_ladder_conn *conn)
{
	TAILQ_REMOVE(&ladder->conns, conn, link);
	LIST_REMOVE(conn, hashed);
	free(conn);
}

static void drop(struct o2_ladder *ladder, struct o2_ladder_event *event)
{
	struct o2_ladder_conn *conn = event->conn;

	TAILQ_REMOVE(&conn->events, event, of_conn);
	o2_ladder_bar_free(event->bar);
	free(event->raw);
	free(event);
	if (--conn->held == 0)
		drop_conn(ladder, conn);
}

/* Drop the oldest of the recent events. */
static void forget(struct o2_ladder *ladder)
{
	struct o2_ladder_event *event = TAILQ_FIRST(&ladder->recent);

	TAILQ_REMOVE(&ladder->recent, event, recent);
	ladder->recent_count--;
	drop(ladder, event);
}

void o2_ladder_free(struct o2_ladder *ladder)
{
	if (ladder == NULL)
		return;
	while (ladder->recent_count != 0)
		forget(ladder);
	while (!TAILQ_EMPTY(&ladder->conns))
		drop(ladder, TAILQ_FIRST(&TAILQ_FIRST(&ladder->conns)->events));
	free(ladder->hash);
	free(ladder);
}

static struct o2_ladder_conn *find_conn(const struct o2_ladder *ladder, uint64_t id)
{
	struct o2_ladder_conn *conn;

	LIST_FOREACH(conn, &ladder->hash[id % HASH_SLOTS], hashed)
		if (conn->view.id == id)
			return conn;
	return NULL;
}

/* NULL: no memory. */
static struct o2_ladder_conn *conn_of(struct o2_ladder *ladder, const struct o2_judge_view *view)
{
	struct o2_ladder_conn *conn = find_conn(ladder, view->id);

	if (conn == NULL) {
		conn = calloc(1, sizeof(*conn));
		if (conn == NULL)
			return NULL;
		TAILQ_INIT(&conn->events);
		conn->seen = view->seen;
		conn->later = view->heard > 1;
		TAILQ_INSERT_TAIL(&ladder->conns, conn, link);
		LIST_INSERT_HEAD(&ladder->hash[view->id % HASH_SLOTS], conn, hashed);
	}
	conn->view = *view;
	return conn;
}

static void learn_addresses(struct o2_ladder_conn *conn, const struct o2_event *now, enum o2_judge_side from)
{
	const enum o2_judge_side to = o2_judge_other(from);

	/* A packet whose first headers were not captured has no addresses. */
	if (now->src.family_bytes == 0)
		return;
	if (now->kind == O2_EVENT_SEND || now->kind == O2_EVENT_WRITE) {
		conn->qp[to] = now->dest_qp;
		conn->has_qp[to] = true;
	} else if (now->kind == O2_EVENT_CM && (now->cm.kind == O2_CM_REQ || now->cm.kind == O2_CM_REP)) {
		conn->qp[from] = now->cm.qp;
		conn->has_qp[from] = true;
	} else {
		return;
	}
	conn->addr[from] = now->src;
	conn->addr[to] = now->dst;
	conn->has_addr = true;
}

static void learn_message(struct o2_ladder_event *event, const struct o2_msg *msg)
{
	const struct o2_rdma_desc *desc = o2_msg_desc(msg);

	event->type = msg->ibm_type;
	if (msg->ibm_type == O2_MSG_PUT_REQ) {
		event->cookie = msg->u.putreq.ibprm_cookie;
	} else if (msg->ibm_type == O2_MSG_GET_REQ) {
		event->cookie = msg->u.get.ibgm_cookie;
	} else if (msg->ibm_type == O2_MSG_PUT_ACK) {
		event->cookie = msg->u.putack.ibpam_src_cookie;
		event->sink_cookie = msg->u.putack.ibpam_dst_cookie;
	} else if (o2_msg_type_info(msg->ibm_type)->body == O2_BODY_COMPLETION) {
		event->cookie = msg->u.completion.ibcm_cookie;
	}
	if (desc == NULL)
		return;
	event->has_desc = true;
	event->rkey = desc->rd_key;
	event->low = UINT64_MAX;
	for (uint32_t i = 0; i < desc->rd_nfrags; i++) {
		const struct o2_rdma_frag *frag = &desc->rd_frags[i];

		if (frag->rf_addr < event->low)
			event->low = frag->rf_addr;
		if (frag->rf_addr + frag->rf_nob > event->high)
			event->high = frag->rf_addr + frag->rf_nob;
	}
}

/* NULL: no memory. */
static struct o2_ladder_event *new_event(const struct o2_ladder *ladder, const struct o2_judge_view *view,
					 const struct o2_judge_event *told)
{
	const struct o2_event *now = ladder->now;
	struct o2_ladder_event *event = calloc(1, sizeof(*event));

	if (event == NULL)
		return NULL;
	event->id = ladder->heard;
	event->place = view->heard;
	event->kind = told->kind;
	event->from = told->from;
	event->number = told->number;
	event->time_ns = told->time_ns;
	event->bytes = told->bytes;
	memcpy(event->least_credits, view->least_credits, sizeof(event->least_credits));
	memcpy(event->most_credits, view->most_credits, sizeof(event->most_credits));
	if (told->kind == O2_JUDGE_WRITE) {
		event->addr = told->addr;
		event->rkey = told->rkey;
		event->announced_bytes = told->announced_bytes;
	}
	/* The packet's bytes say nothing about what was lost before it. */
	if (told->kind == O2_JUDGE_LOST)
		return event;
	if (told->msg != NULL)
		learn_message(event, told->msg);
	if (now != NULL && now->raw_bytes != 0) {
		event->raw = malloc(now->raw_bytes);
		if (event->raw == NULL) {
			free(event);
			return NULL;
		}
		memcpy(event->raw, now->raw, now->raw_bytes);
		event->raw_bytes = now->raw_bytes;
	}
	return event;
}

static void keep(struct o2_ladder *ladder, struct o2_ladder_event *event)
{
	struct o2_ladder_event *cause;

	/* Keep the event's cause too, and so on.  Such a chain ends at a request at the latest. */
	for (; event != NULL && !event->kept; event = cause) {
		TAILQ_REMOVE(&ladder->recent, event, recent);
		ladder->recent_count--;
		event->kept = true;
		event->conn->kept++;
		ladder->kept++;
		cause = o2_ladder_cause(event);
	}
}

/* The connection's event at a packet; loss: the one that reports packets missing before it, or the packet's own? */
static struct o2_ladder_event *at_packet(const struct o2_ladder_conn *conn, uint64_t number, bool loss)
{
	struct o2_ladder_event *event;

	TAILQ_FOREACH_REVERSE(event, &conn->events, o2_ladder_events, of_conn) {
		if (event->number < number)
			break;
		if (event->number == number && (event->kind == O2_JUDGE_LOST) == loss)
			return event;
	}
	return NULL;
}

/* Payload is looked at in each packet of a WRITE; the WRITE itself is heard at its last packet. */
static bool is_of_part(const struct o2_ladder_finding *finding)
{
	return finding->row.rule == O2_JUDGE_PAYLOAD_PUT || finding->row.rule == O2_JUDGE_PAYLOAD_GET;
}

/*
 * The WRITE that the packet is a part of, or the gap that takes its end; NULL: neither was heard yet, or events since
 * then are not held.
 */
static struct o2_ladder_event *whole_of(const struct o2_ladder_conn *conn, uint64_t number,
					enum o2_judge_side from)
{
	struct o2_ladder_event *event, *found = NULL;
	uint64_t next = conn->view.heard + 1;

	TAILQ_FOREACH_REVERSE(event, &conn->events, o2_ladder_events, of_conn) {
		if (event->place + 1 != next)
			return NULL;
		if (event->number <= number)
			return found;
		if (event->from == from && (event->kind == O2_JUDGE_WRITE || event->kind == O2_JUDGE_LOST))
			found = event;
		next = event->place;
	}
	return next == 1 ? found : NULL;
}

/* The event that a finding is about; NULL: none is held. */
static struct o2_ladder_event *event_of(const struct o2_ladder_conn *conn,
					const struct o2_ladder_finding *finding)
{
	const uint64_t number = finding->row.number;
	const bool loss = finding->row.rule == O2_JUDGE_TRANSPORT_LOST;
	struct o2_ladder_event *event = at_packet(conn, number, loss);

	/* A message that comes again shows by itself that it was missed before. */
	if (event == NULL && loss)
		event = at_packet(conn, number, false);
	return event == NULL && is_of_part(finding) ? whole_of(conn, number, finding->who) : event;
}

/*
 * Keep the event that a finding is about, and the events around it.  A finding of a WRITE that has not ended waits,
 * unless the capture has ended.
 */
static void place(struct o2_ladder *ladder, struct o2_ladder_finding *finding, bool ended)
{
	struct o2_ladder_conn *conn = find_conn(ladder, finding->conn_id);
	struct o2_ladder_event *event;
	uint32_t after = 0;

	if (conn != NULL) {
		finding->event = event_of(conn, finding);
		if (finding->row.earlier != 0 && finding->earlier == NULL)
			finding->earlier = at_packet(conn, finding->row.earlier, false);
		keep(ladder, finding->earlier);
	}
	finding->placed = finding->event != NULL || !is_of_part(finding) || ended;
	ladder->unplaced -= finding->placed;
	if (conn == NULL || !finding->placed)
		return;
	event = finding->event;
	for (uint32_t i = 0; event != NULL && i <= O2_LADDER_BEFORE; i++) {
		keep(ladder, event);
		event = TAILQ_PREV(event, o2_ladder_events, of_conn);
	}
	/* The finding may have waited for a proof: later events may be here already. */
	event = finding->event == NULL ? NULL : TAILQ_NEXT(finding->event, of_conn);
	for (; event != NULL && after < O2_LADDER_AFTER; after++) {
		keep(ladder, event);
		event = TAILQ_NEXT(event, of_conn);
	}
	if (conn->keep < O2_LADDER_AFTER - after)
		conn->keep = O2_LADDER_AFTER - after;
}

static void place_all(struct o2_ladder *ladder, bool ended)
{
	for (uint32_t i = 0; ladder->unplaced != 0 && i < ladder->findings; i++)
		if (!ladder->finding[i].placed)
			place(ladder, &ladder->finding[i], ended);
}

void o2_ladder_hear(void *context, const struct o2_judge_conn *judged, const struct o2_judge_event *told)
{
	struct o2_ladder *ladder = context;
	const struct o2_judge_view view = o2_judge_view(judged);
	struct o2_ladder_conn *conn = conn_of(ladder, &view);
	struct o2_ladder_event *event = NULL;

	ladder->heard++;
	if (ladder->start_ns == 0)
		ladder->start_ns = told->time_ns;
	if (conn != NULL)
		event = new_event(ladder, &view, told);
	if (event == NULL) {
		ladder->failed = true;
		if (conn != NULL && conn->held == 0)
			drop_conn(ladder, conn);
		return;
	}
	if (ladder->now != NULL)
		learn_addresses(conn, ladder->now, told->from);
	event->conn = conn;
	conn->held++;
	TAILQ_INSERT_TAIL(&conn->events, event, of_conn);
	TAILQ_INSERT_TAIL(&ladder->recent, event, recent);
	ladder->recent_count++;
	if (ladder->heard <= ladder->first || conn->keep != 0)
		keep(ladder, event);
	conn->keep -= conn->keep != 0;
	place_all(ladder, false);
	if (ladder->recent_count > O2_LADDER_RECENT)
		forget(ladder);
}

void o2_ladder_find(struct o2_ladder *ladder, const struct o2_judge_finding *finding)
{
	const struct o2_judge_row row = o2_judge_row_of(finding);
	uint32_t like = 0;

	for (uint32_t i = 0; i < ladder->findings; i++)
		like += o2_judge_row_same(&ladder->finding[i].row, &row);
	if (like >= O2_LADDER_EACH || ladder->findings == O2_LADDER_FINDINGS)
		return;
	ladder->finding[ladder->findings++] = (struct o2_ladder_finding){
		.row = row,
		.conn_id = o2_judge_view(finding->conn).id,
		.who = finding->who,
	};
	ladder->unplaced++;
}

void o2_ladder_end(struct o2_ladder *ladder)
{
	place_all(ladder, true);
	while (ladder->recent_count != 0)
		forget(ladder);
}

/* Does the event, which the peer sent, answer `earlier` or write to its descriptor? */
static bool is_cause(const struct o2_ladder_event *event, const struct o2_ladder_event *earlier)
{
	if (event->kind == O2_JUDGE_REPLY || event->kind == O2_JUDGE_REJECT)
		return earlier->kind == O2_JUDGE_REQUEST;
	if (event->kind == O2_JUDGE_WRITE)
		return earlier->has_desc && earlier->rkey == event->rkey && event->addr < earlier->high &&
		       event->addr + event->bytes > earlier->low;
	switch (event->type) {
	case O2_MSG_PUT_ACK:
	case O2_MSG_PUT_NAK:
		return earlier->type == O2_MSG_PUT_REQ && earlier->cookie == event->cookie;
	case O2_MSG_PUT_DONE:
		return earlier->type == O2_MSG_PUT_ACK && earlier->sink_cookie == event->cookie;
	case O2_MSG_GET_DONE:
		return earlier->type == O2_MSG_GET_REQ && earlier->cookie == event->cookie;
	default:
		return false;
	}
}

/* Can the event have a cause? */
static bool has_cause(const struct o2_ladder_event *event)
{
	return event->kind == O2_JUDGE_REPLY || event->kind == O2_JUDGE_REJECT ||
	       event->kind == O2_JUDGE_WRITE || event->type == O2_MSG_PUT_ACK ||
	       event->type == O2_MSG_PUT_NAK || event->type == O2_MSG_PUT_DONE ||
	       event->type == O2_MSG_GET_DONE;
}

struct o2_ladder_event *o2_ladder_cause(const struct o2_ladder_event *event)
{
	struct o2_ladder_event *earlier = TAILQ_PREV(event, o2_ladder_events, of_conn), *key = NULL;

	for (uint32_t i = 0; earlier != NULL && has_cause(event) && i < SEARCH_STEPS; i++) {
		if (earlier->from != event->from && is_cause(event, earlier))
			return earlier;
		/* If a WRITE misses its descriptor, its rkey still tells which one it is. */
		if (key == NULL && event->kind == O2_JUDGE_WRITE && earlier->from != event->from &&
		    earlier->has_desc && earlier->rkey == event->rkey)
			key = earlier;
		earlier = TAILQ_PREV(earlier, o2_ladder_events, of_conn);
	}
	return key;
}
