/* SPDX-License-Identifier: MIT */
#include <inttypes.h>

#include "props/engine/prng.h"
#include "props/talk/nodes_internal.h"

/*
 * What a node's watch hears of the connection manager (lnd/ni/watch.h): each message of it once, in its order, for the
 * right connection and with its bytes.  A node tells some before it calls the connection manager, some after; so each
 * side of the comparison may be ahead by the messages of one call.
 */

static const char *const kinds[] = {
	[O2_WATCHED_REQUEST] = "request",	[O2_WATCHED_REPLY] = "reply",  [O2_WATCHED_REJECT] = "reject",
	[O2_WATCHED_DISCONNECT] = "disconnect", [O2_WATCHED_GONE] = "release",
};

static struct o2_nodes_notice notice_of(enum o2_watched_kind kind, bool ours, const void *conn,
					const uint8_t *bytes, size_t length)
{
	struct o2_nodes_notice notice = {.kind = kind, .ours = ours, .conn = conn, .length = length};

	for (size_t i = 0; bytes != NULL && i < length; i++)
		notice.sum = o2_mix64(notice.sum + bytes[i] + 1);
	return notice;
}

static bool same(const struct o2_nodes_notice *a, const struct o2_nodes_notice *b)
{
	return a->kind == b->kind && a->ours == b->ours && a->conn == b->conn && a->length == b->length &&
	       a->sum == b->sum;
}

static void fail(struct o2_nodes_seat *seat, const char *what, const struct o2_nodes_notice *notice)
{
	o2_report_fail(seat->nodes->report, "nodes/watch",
		       "the watch of node %" PRIu32 " %s a %s that the node has %s, of %zu bytes",
		       seat->index, what, kinds[notice->kind], notice->ours ? "sent" : "received",
		       notice->length);
}

/* heard: by the watch; else by the property. */
static void put(struct o2_nodes_seat *seat, bool heard, struct o2_nodes_notice notice)
{
	struct o2_nodes_heard *of = &seat->heard;

	if (of->count > 0 && of->by_watch != heard) {
		if (!same(&of->ahead[0], &notice))
			fail(seat, "hears something else instead of", heard ? &of->ahead[0] : &notice);
		of->count--;
		for (uint32_t i = 0; i < of->count; i++)
			of->ahead[i] = of->ahead[i + 1];
	} else if (of->count < O2_NODES_AHEAD) {
		of->by_watch = heard;
		of->ahead[of->count++] = notice;
	} else {
		fail(seat,
		     heard ? "hears, with others before, of" : "does not hear, nor of others before, of",
		     &notice);
	}
}

void o2_nodes_carries(struct o2_nodes_seat *seat, enum o2_watched_kind kind, bool ours, const void *conn,
		      const uint8_t *bytes, size_t length)
{
	put(seat, false, notice_of(kind, ours, conn, bytes, length));
}

/* The connection is gone, once, and its node has given it up. */
static void hears_gone(struct o2_nodes_seat *seat, const void *conn)
{
	const struct o2_cm_event *event = seat->now.event;

	for (uint32_t n = 0; n < O2_NODES_ENDS; n++)
		if (seat->end[n].id != NULL && seat->end[n].key == conn) {
			if (!seat->end[n].over || seat->end[n].told_gone)
				o2_report_fail(seat->nodes->report, "nodes/watch-gone",
					       "the watch of node %" PRIu32
					       " hears that a connection with node %" PRIu32 " is gone%s",
					       seat->index, seat->end[n].to,
					       seat->end[n].over ? " twice" : ", which is there");
			seat->end[n].told_gone = true;
			return;
		}
	/* Of a connection that was never asked for there is nothing to tell. */
	if (event != NULL && event->id == conn)
		put(seat, true, notice_of(O2_WATCHED_GONE, true, conn, NULL, 0));
}

void o2_nodes_watch_hears(struct o2_nodes_seat *seat, const struct o2_watched *watched)
{
	/* A node that the property makes for a check of its own has no tap. */
	if (seat->node == NULL)
		return;
	if (watched->kind == O2_WATCHED_GONE)
		hears_gone(seat, watched->conn);
	else if (watched->kind != O2_WATCHED_MESSAGE && watched->kind != O2_WATCHED_WRITE)
		put(seat, true,
		    notice_of(watched->kind, watched->ours, watched->conn, watched->bytes,
			      watched->length_bytes));
}

void o2_nodes_carries_event(struct o2_nodes_seat *seat)
{
	const struct o2_cm_event *event = seat->now.event;
	const struct o2_nodes_end *end = seat->now.end;
	const bool asking = end != NULL && end->asked && !end->up;

	if (end == NULL || end->over)
		return;
	if (event->type == O2_CM_ESTABLISHED && asking)
		o2_nodes_carries(seat, O2_WATCHED_REPLY, false, end->key, event->private_data,
				 event->private_bytes);
	else if (event->type == O2_CM_REJECTED && asking && event->reason == O2_CM_REJECT_CONSUMER)
		o2_nodes_carries(seat, O2_WATCHED_REJECT, false, end->key, event->private_data,
				 event->private_bytes);
	else if (event->type == O2_CM_DISCONNECTED && end->up)
		o2_nodes_carries(seat, O2_WATCHED_DISCONNECT, false, end->key, NULL, 0);
}

void o2_nodes_carries_request(struct o2_nodes_seat *seat, const void *conn)
{
	const struct o2_cm_event *event = seat->now.event;

	o2_nodes_carries(seat, O2_WATCHED_REQUEST, false, conn, event->private_data, event->private_bytes);
}

void o2_nodes_check_heard(struct o2_nodes_seat *seat)
{
	if (seat->heard.count > 0)
		fail(seat, seat->heard.by_watch ? "hears of" : "does not hear of", &seat->heard.ahead[0]);
	seat->heard.count = 0;
}

void o2_nodes_check_told_gone(struct o2_nodes_seat *seat, const struct o2_nodes_end *end)
{
	if (!end->told_gone)
		o2_report_fail(seat->nodes->report, "nodes/watch-gone",
			       "the watch of node %" PRIu32
			       " does not hear that a connection with node %" PRIu32 " is gone",
			       seat->index, end->to);
}
