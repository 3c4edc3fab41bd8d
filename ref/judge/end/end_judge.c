/* SPDX-License-Identifier: MIT */
#include "judge/end/end_judge.h"

#include <stdlib.h>
#include <sys/queue.h>

#include "base/monotonic.h"

/* A connection.  side[false]: the peer's side; side[true]: this end's. */
struct conn {
	LIST_ENTRY(conn) entry;
	const void *name;
	struct o2_judge_conn *judged;
	enum o2_judge_side side[2];
};

struct o2_end_judge {
	struct o2_watch watch;
	struct o2_judge *judge;
	o2_judge_sink sink;
	void *context; /* argument of sink */
	struct o2_wire_options wire;
	const uint64_t *now_ms;
	struct o2_end_heard heard;
	LIST_HEAD(, conn) conns;
	struct o2_msg msg; /* too large for the stack */
	struct o2_reject reject;
	struct o2_error refused;
};

/* After a failure, events are missing from the record, so findings may be wrong: drop them. */
static void note(void *context, const struct o2_judge_finding *finding)
{
	struct o2_end_judge *end = context;

	if (!end->heard.failed)
		end->sink(end->context, finding);
}

static void forget(struct o2_end_judge *end, struct conn *conn)
{
	o2_judge_part(end->judge, conn->judged);
	LIST_REMOVE(conn, entry);
	free(conn);
}

static struct conn *find(const struct o2_end_judge *end, const void *name)
{
	struct conn *conn;

	LIST_FOREACH(conn, &end->conns, entry)
		if (conn->name == name)
			return conn;
	return NULL;
}

/* The connection request is the first event of a connection. */
static struct conn *meet(struct o2_end_judge *end, const struct o2_watched *watched)
{
	struct conn *conn = calloc(1, sizeof(*conn));

	if (conn != NULL)
		conn->judged = o2_judge_meet(end->judge, O2_JUDGE_WHOLE);
	if (conn == NULL || conn->judged == NULL) {
		free(conn);
		end->heard.failed = true;
		return NULL;
	}
	conn->name = watched->conn;
	conn->side[true] = watched->ours ? O2_JUDGE_A : O2_JUDGE_B;
	conn->side[false] = watched->ours ? O2_JUDGE_B : O2_JUDGE_A;
	/* The peer's RDMA WRITEs cause no completion here, so this end does not see them. */
	o2_judge_writes_unseen(conn->judged, conn->side[false]);
	LIST_INSERT_HEAD(&end->conns, conn, entry);
	end->heard.connections++;
	return conn;
}

/* Decode the private data or the message, and set msg, reject or refused of *event. */
static void decode(struct o2_end_judge *end, const struct o2_watched *watched, struct o2_judge_event *event)
{
	int rc;

	if (watched->kind == O2_WATCHED_REJECT) {
		rc = o2_reject_decode(watched->bytes, watched->length_bytes, &end->reject, &end->refused);
		event->reject = rc == 0 ? &end->reject : NULL;
	} else {
		rc = o2_msg_decode(watched->bytes, watched->length_bytes, &end->wire, &end->msg,
				   &end->refused);
		event->msg = rc == 0 ? &end->msg : NULL;
	}
	if (rc != 0)
		event->refused = &end->refused;
}

static void tell(struct o2_end_judge *end, const struct conn *conn, const struct o2_watched *watched)
{
	static const enum o2_judge_event_kind kinds[] = {
		[O2_WATCHED_REQUEST] = O2_JUDGE_REQUEST, [O2_WATCHED_REPLY] = O2_JUDGE_REPLY,
		[O2_WATCHED_REJECT] = O2_JUDGE_REJECT,	 [O2_WATCHED_MESSAGE] = O2_JUDGE_MESSAGE,
		[O2_WATCHED_WRITE] = O2_JUDGE_WRITE,	 [O2_WATCHED_DISCONNECT] = O2_JUDGE_DISCONNECT,
	};
	struct o2_judge_event event = {
		.kind = kinds[watched->kind],
		.from = conn->side[watched->ours],
		.number = ++end->heard.number,
		.time_ns = end->now_ms == NULL ? o2_monotonic_ns() : *end->now_ms * O2_NS_PER_MS,
		.bytes = watched->length_bytes,
		.addr = watched->addr,
		.rkey = watched->rkey,
		.announced_bytes = (uint32_t)watched->length_bytes,
	};

	end->heard.messages += watched->kind == O2_WATCHED_MESSAGE;
	end->heard.writes += watched->kind == O2_WATCHED_WRITE;
	if (watched->bytes != NULL)
		decode(end, watched, &event);
	else if (watched->kind == O2_WATCHED_MESSAGE)
		event.kind = O2_JUDGE_LOST;
	if (o2_judge_hear(end->judge, conn->judged, &event) != 0)
		end->heard.failed = true;
}

static void hear(void *context, const struct o2_watched *watched)
{
	struct o2_end_judge *end = context;
	struct conn *conn = find(end, watched->conn);

	if (conn == NULL && watched->kind == O2_WATCHED_REQUEST)
		conn = meet(end, watched);
	if (conn == NULL)
		return;
	if (watched->kind == O2_WATCHED_GONE)
		forget(end, conn);
	else if (watched->kind != O2_WATCHED_REJECT ||
		 !o2_judge_reject_is_blank(watched->bytes, watched->length_bytes))
		tell(end, conn, watched);
}

struct o2_end_judge *o2_end_judge_new(const struct o2_end_judge_options *options, o2_judge_sink sink,
				      void *context)
{
	struct o2_end_judge *end = calloc(1, sizeof(*end));

	if (end != NULL)
		end->judge = o2_judge_new(&options->judge, note, end);
	if (end == NULL || end->judge == NULL) {
		free(end);
		return NULL;
	}
	end->sink = sink;
	end->context = context;
	end->watch = (struct o2_watch){end, hear};
	end->wire = options->wire;
	end->now_ms = options->now_ms;
	LIST_INIT(&end->conns);
	return end;
}

void o2_end_judge_forget(struct o2_end_judge *end)
{
	while (!LIST_EMPTY(&end->conns))
		forget(end, LIST_FIRST(&end->conns));
}

void o2_end_judge_free(struct o2_end_judge *end)
{
	if (end == NULL)
		return;
	o2_end_judge_forget(end);
	o2_judge_free(end->judge);
	free(end);
}

const struct o2_watch *o2_end_judge_watch(const struct o2_end_judge *end)
{
	return &end->watch;
}

struct o2_end_heard o2_end_judge_heard(const struct o2_end_judge *end)
{
	return end->heard;
}

bool o2_end_judge_is_ours(const struct o2_end_judge *end, const struct o2_judge_finding *finding)
{
	const struct conn *conn;

	LIST_FOREACH(conn, &end->conns, entry)
		if (conn->judged == finding->conn)
			return conn->side[true] == finding->who;
	return false;
}
