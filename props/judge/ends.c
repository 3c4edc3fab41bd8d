/* SPDX-License-Identifier: MIT */
#include "props/judge/ends.h"

#include <stdio.h>
#include <string.h>

#include "base/monotonic.h"

#define KINDS 7u

static const char *const kind_names[KINDS] = {"request", "reply",      "reject", "message",
					      "write",	 "disconnect", "gone"};

static void fail(struct o2_ends *ends, const char *what, const char *text)
{
	if (!ends->h->report->failed)
		o2_report_fail_in(ends->h->report, "verdicts/end", what, "%s", text);
}

static void keep(struct o2_ends_found *found, const struct o2_judge_finding *finding, bool ours)
{
	if (found->count == O2_ENDS_FINDINGS)
		return;
	found->finding[found->count] = *finding;
	found->ours[found->count++] = ours;
}

static void found_plainly(void *context, const struct o2_judge_finding *finding)
{
	struct o2_ends *ends = context;

	keep(&ends->plainly, finding, finding->who == ends->us);
}

static void found_at_end(void *context, const struct o2_judge_finding *finding)
{
	struct o2_ends *ends = context;

	keep(&ends->at_end, finding, o2_end_judge_is_ours(ends->end, finding));
}

/* The requester is side A for both judges. */
static bool same(const struct o2_judge_finding *a, const struct o2_judge_finding *b)
{
	const struct o2_error *e = &a->error, *f = &b->error;

	return a->rule == b->rule && a->who == b->who && a->number == b->number && a->time_ns == b->time_ns &&
	       a->earlier == b->earlier && a->unproven == b->unproven && e->value == f->value &&
	       e->limit == f->limit && (e->field == NULL) == (f->field == NULL) &&
	       (e->field == NULL || strcmp(e->field, f->field) == 0);
}

static void compare(struct o2_ends *ends)
{
	const struct o2_ends_found *a = &ends->plainly, *b = &ends->at_end;
	const struct o2_end_heard heard = o2_end_judge_heard(ends->end), *due = &ends->heard;

	/* Once out of memory, an end judge finds nothing; before that, its findings must agree. */
	for (uint32_t i = 0; i < b->count || (i < a->count && !ends->is_short); i++)
		if (i >= a->count || i >= b->count || a->ours[i] != b->ours[i] ||
		    !same(&a->finding[i], &b->finding[i])) {
			fail(ends, "found",
			     o2_judge_rules[i < b->count ? b->finding[i].rule : a->finding[i].rule].id);
			break;
		}
	if (!ends->is_short && (heard.number != due->number || heard.connections != due->connections ||
				heard.messages != due->messages || heard.writes != due->writes))
		fail(ends, "heard", "other numbers of events");
	if (heard.failed != ends->is_short)
		fail(ends, "short",
		     heard.failed ? "memory is said to lack" : "it is not said that memory lacks");
	ends->plainly.count = ends->at_end.count = 0;
}

/* --- lines --- */

static void expect_line(struct o2_ends *ends, const struct o2_watched *watched)
{
	int used = snprintf(ends->expected, sizeof(ends->expected), "wire %llx %s %s %llu %llx %x ",
			    (unsigned long long)(uintptr_t)watched->conn, kind_names[watched->kind],
			    watched->ours ? "ours" : "theirs", (unsigned long long)watched->length_bytes,
			    (unsigned long long)watched->addr, watched->rkey);

	for (size_t i = 0; watched->bytes != NULL && i < watched->length_bytes; i++) {
		ends->expected[used++] = "0123456789abcdef"[watched->bytes[i] >> 4];
		ends->expected[used++] = "0123456789abcdef"[watched->bytes[i] & 15];
	}
	snprintf(ends->expected + used, sizeof(ends->expected) - (size_t)used, "%s",
		 watched->bytes == NULL || watched->length_bytes == 0 ? "-" : "");
}

/* Spoil the fourth word, "ours" or "theirs". */
static void spoil_side(char *line)
{
	for (int spaces = 0; spaces < 3; line++)
		spaces += *line == ' ';
	*line = 'x';
}

/* A line with one error must be refused. */
static void spoil_line(struct o2_ends *ends, const struct o2_watched *watched)
{
	const size_t length = strlen(ends->line);
	const uint64_t which = ends->heard.number % 5;
	struct o2_watched none;

	memcpy(ends->expected, ends->line, length + 1);
	if (which == 0)
		ends->expected[length - 1] = 'g'; /* not a digit */
	else if (which == 1 && watched->bytes != NULL)
		ends->expected[length - 1] = '\0'; /* half a byte */
	else if (which == 2 && watched->bytes != NULL)
		ends->expected[length - 2] = '\0'; /* one byte less than the length says */
	else if (which == 3)
		ends->expected[0] = 'W';
	else
		spoil_side(ends->expected);
	if (o2_watch_line_read(ends->expected, ends->read, &none))
		fail(ends, "line-read", ends->expected);
}

static void tell_end(struct o2_ends *ends, const struct o2_watched *watched)
{
	const struct o2_hearing *h = ends->h;
	const bool lacks =
		h->fail_allocation != NULL && !ends->is_short && ends->heard.number == ends->lacks_at;

	if (lacks)
		h->fail_allocation(1);
	o2_watch_tell(o2_end_judge_watch(ends->end), watched);
	if (!lacks)
		return;
	ends->is_short = h->allocation_failed();
	h->fail_allocation(0);
}

/* Tell the event as a line, with a newline at times. */
static void tell(struct o2_ends *ends, const struct o2_watched *watched)
{
	struct o2_watched read;
	size_t length;

	o2_watch_line_put(watched, ends->line);
	expect_line(ends, watched);
	if (strcmp(ends->line, ends->expected) != 0) {
		fail(ends, "line", ends->line);
		return;
	}
	if (ends->heard.number % 8 == 0)
		spoil_line(ends, watched);
	length = strlen(ends->line);
	ends->line[length] = ends->heard.number % 2 == 0 ? '\n' : '\0';
	ends->line[length + 1] = '\0';
	if (!o2_watch_line_read(ends->line, ends->read, &read) || read.kind != watched->kind ||
	    read.ours != watched->ours || read.conn != watched->conn || read.addr != watched->addr ||
	    read.rkey != watched->rkey || read.length_bytes != watched->length_bytes ||
	    (read.bytes == NULL) != (watched->bytes == NULL) ||
	    (read.bytes != NULL && watched->bytes != NULL &&
	     memcmp(read.bytes, watched->bytes, watched->length_bytes) != 0)) {
		fail(ends, "line-differs", ends->line);
		return;
	}
	tell_end(ends, &read);
}

/* --- events --- */

static const void *name_of(uint64_t id)
{
	return (const void *)(uintptr_t)(0x1000 + id);
}

/* End a connection: findings that wait for a proof are reported. */
static void gone(struct o2_ends *ends)
{
	if (ends->id == 0)
		return;
	tell(ends, &(struct o2_watched){.kind = O2_WATCHED_GONE, .conn = name_of(ends->id)});
	o2_judge_part(ends->plain, ends->conn);
	ends->id = 0;
	/* Whose finding it was is unknown once the connection is over. */
	for (uint32_t i = 0; i < ends->plainly.count; i++)
		ends->plainly.ours[i] = ends->at_end.ours[i];
	compare(ends);
}

static bool open_both(struct o2_ends *ends)
{
	const struct o2_end_judge_options options = {
		.judge = ends->h->options, .wire = O2_WIRE_DEFAULTS, .now_ms = &ends->now_ms};

	if (ends->plain != NULL)
		return ends->opened;
	ends->us = (enum o2_judge_side)(ends->h->end[0].stamp & 1);
	ends->lacks_at = (ends->h->end[0].stamp >> 1 & 1) == 0 ? ends->h->end[0].stamp >> 2 & 31 : 0;
	ends->plain = o2_judge_new(&ends->h->options, found_plainly, ends);
	ends->end = o2_end_judge_new(&options, found_at_end, ends);
	ends->opened = ends->plain != NULL && ends->end != NULL;
	return ends->opened;
}

static bool meet(struct o2_ends *ends)
{
	ends->conn = o2_judge_meet(ends->plain, O2_JUDGE_WHOLE);
	if (ends->conn == NULL)
		return false;
	o2_judge_writes_unseen(ends->conn, o2_hearing_other(ends->us));
	ends->id = ends->h->id;
	ends->heard.connections++;
	return true;
}

/* Encode the event's message or reject; false: it cannot be encoded. */
static bool encode(struct o2_ends *ends, const struct o2_judge_event *event, struct o2_watched *watched)
{
	static const uint8_t nonsense[24] = {0x91, 0x1b, 0xe9, 0x0b, 0x13};
	int length = sizeof(nonsense);

	memcpy(ends->bytes, nonsense, sizeof(nonsense));
	if (event->msg != NULL) {
		ends->msg = *event->msg;
		length = o2_msg_encode(&ends->msg, NULL, ends->bytes, sizeof(ends->bytes), NULL);
	} else if (event->reject != NULL) {
		length = o2_reject_encode(event->reject, ends->bytes, sizeof(ends->bytes), NULL);
	}
	watched->bytes = ends->bytes;
	watched->length_bytes = length > 0 ? (size_t)length : 0;
	return length > 0;
}

/* Decode these bytes for the judge that is told directly, without an end. */
static void tell_plainly(struct o2_ends *ends, const struct o2_watched *watched,
			 const struct o2_judge_event *event)
{
	struct o2_judge_event told = {.kind = event->kind,
				      .from = event->from,
				      .number = ends->heard.number,
				      .time_ns = ends->now_ms * O2_NS_PER_MS,
				      .bytes = watched->length_bytes,
				      .addr = event->addr,
				      .rkey = event->rkey,
				      .announced_bytes = (uint32_t)watched->length_bytes};
	struct o2_reject reject;
	struct o2_error refused;
	int rc = 0;

	if (event->kind == O2_JUDGE_REJECT)
		rc = o2_reject_decode(watched->bytes, watched->length_bytes, &reject, &refused);
	else if (watched->bytes != NULL)
		rc = o2_msg_decode(watched->bytes, watched->length_bytes, NULL, &ends->msg, &refused);
	if (rc != 0)
		told.refused = &refused;
	else if (event->kind == O2_JUDGE_REJECT)
		told.reject = &reject;
	else if (watched->bytes != NULL)
		told.msg = &ends->msg;
	o2_judge_hear(ends->plain, ends->conn, &told);
}

/* A reject of zeros is the connection manager's own and says nothing of the peer. */
static void tell_blank(struct o2_ends *ends, const struct o2_judge_event *event)
{
	static const uint8_t blank[148];

	tell(ends, &(struct o2_watched){.kind = O2_WATCHED_REJECT,
					.ours = event->from == ends->us,
					.conn = name_of(ends->id),
					.bytes = blank,
					.length_bytes = 1 + event->number % sizeof(blank)});
}

void o2_ends_hear(void *context, const struct o2_judge_event *event)
{
	static const enum o2_watched_kind kinds[] = {
		[O2_JUDGE_REQUEST] = O2_WATCHED_REQUEST,       [O2_JUDGE_REPLY] = O2_WATCHED_REPLY,
		[O2_JUDGE_REJECT] = O2_WATCHED_REJECT,	       [O2_JUDGE_MESSAGE] = O2_WATCHED_MESSAGE,
		[O2_JUDGE_WRITE] = O2_WATCHED_WRITE,	       [O2_JUDGE_LOST] = O2_WATCHED_MESSAGE,
		[O2_JUDGE_DISCONNECT] = O2_WATCHED_DISCONNECT,
	};
	struct o2_ends *ends = context;
	struct o2_watched watched = {
		.ours = event->from == ends->us, .addr = event->addr, .rkey = event->rkey};

	if (!open_both(ends) || ends->h->report->failed || event->kind == O2_JUDGE_NAK ||
	    event->kind == O2_JUDGE_PART)
		return;
	watched.ours = event->from == ends->us;
	watched.kind = kinds[event->kind];
	ends->now_ms = event->time_ns / O2_NS_PER_MS;
	if (ends->id != ends->h->id)
		gone(ends);
	if (event->kind == O2_JUDGE_WRITE) {
		watched.length_bytes = event->bytes;
		if (!watched.ours || event->bytes > UINT32_MAX)
			return;
	} else if (event->kind != O2_JUDGE_LOST && event->kind != O2_JUDGE_DISCONNECT &&
		   !encode(ends, event, &watched)) {
		return;
	}
	watched.conn = name_of(ends->h->id);
	/* A connection whose request was not heard is ignored. */
	if (ends->id == 0 && (event->kind != O2_JUDGE_REQUEST || !meet(ends))) {
		tell(ends, &watched);
		return;
	}
	ends->heard.number++;
	ends->heard.messages += watched.kind == O2_WATCHED_MESSAGE;
	ends->heard.writes += watched.kind == O2_WATCHED_WRITE;
	tell(ends, &watched);
	tell_plainly(ends, &watched, event);
	if (ends->heard.number % 4 == 0)
		tell_blank(ends, event);
	compare(ends);
}

void o2_ends_close(struct o2_ends *ends)
{
	if (ends->opened)
		gone(ends);
	o2_end_judge_free(ends->end);
	o2_judge_free(ends->plain);
}
