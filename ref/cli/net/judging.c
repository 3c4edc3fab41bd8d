/* SPDX-License-Identifier: MIT */
#include "cli/net/judging.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "base/json.h"
#include "base/monotonic.h"
#include "cli/cli.h"
#include "cli/judge_report.h"
#include "judge/judge.h"

/* A connection.  side[ours]: who the peer is, and who we are. */
struct heard {
	LIST_ENTRY(heard) entry;
	const void *name;
	struct o2_judge_conn *conn;
	enum o2_judge_side side[2];
};

struct o2_net_judging {
	struct o2_watch watch;
	struct o2_judge *judge;
	struct o2_wire_options wire;
	bool json;
	bool failed; /* memory ran out: less was heard */
	uint64_t number, connections, messages, writes;
	LIST_HEAD(, heard) heard;
	struct o2_judge_report report; /* large, as are the others */
	struct o2_msg msg;
	struct o2_reject reject;
	struct o2_error refused;
};

static void find(void *context, const struct o2_judge_finding *finding)
{
	struct o2_net_judging *judging = context;
	const struct o2_judge_row row = o2_judge_row_of(finding);
	const struct o2_judge_rule *rule = &o2_judge_rules[row.rule];
	char who[O2_NID_TEXT_BYTES], peer[O2_NID_TEXT_BYTES], what[O2_JUDGE_ROW_TEXT_BYTES];

	o2_judge_report_add(&judging->report, finding);
	o2_judge_nid_text(row.who_nid, who);
	o2_judge_nid_text(row.peer_nid, peer);
	o2_judge_what(row.wire_rule, &row.error, what);
	o2_cli_complain("judge: %s %s: %s (to %s): %s%sit should be so: %s (%s)",
			o2_judge_severity_names[o2_judge_row_severity(&row)], rule->id, who, peer, what,
			what[0] == '\0' ? "" : "; ", rule->sentence, rule->source);
}

static void forget(struct o2_net_judging *judging, struct heard *heard)
{
	o2_judge_part(judging->judge, heard->conn);
	LIST_REMOVE(heard, entry);
	free(heard);
}

static struct heard *find_heard(const struct o2_net_judging *judging, const void *name)
{
	struct heard *heard;

	LIST_FOREACH(heard, &judging->heard, entry)
		if (heard->name == name)
			return heard;
	return NULL;
}

/* The request is the first that is heard of a connection. */
static struct heard *meet(struct o2_net_judging *judging, const struct o2_watched *watched)
{
	struct heard *heard = calloc(1, sizeof(*heard));

	if (heard != NULL)
		heard->conn = o2_judge_meet(judging->judge, O2_JUDGE_WHOLE);
	if (heard == NULL || heard->conn == NULL) {
		free(heard);
		judging->failed = true;
		return NULL;
	}
	heard->name = watched->conn;
	heard->side[true] = watched->ours ? O2_JUDGE_A : O2_JUDGE_B;
	heard->side[false] = watched->ours ? O2_JUDGE_B : O2_JUDGE_A;
	/* A device tells nobody what the peer writes through it. */
	o2_judge_writes_unseen(heard->conn, heard->side[false]);
	LIST_INSERT_HEAD(&judging->heard, heard, entry);
	judging->connections++;
	return heard;
}

/* What the bytes say, in *event. */
static void decode(struct o2_net_judging *judging, const struct o2_watched *watched,
		   struct o2_judge_event *event)
{
	int rc;

	if (watched->kind == O2_WATCHED_REJECT) {
		rc = o2_reject_decode(watched->bytes, watched->length_bytes, &judging->reject,
				      &judging->refused);
		event->reject = rc == 0 ? &judging->reject : NULL;
	} else {
		rc = o2_msg_decode(watched->bytes, watched->length_bytes, &judging->wire, &judging->msg,
				   &judging->refused);
		event->msg = rc == 0 ? &judging->msg : NULL;
	}
	if (rc != 0)
		event->refused = &judging->refused;
}

static void tell(struct o2_net_judging *judging, const struct heard *heard, const struct o2_watched *watched)
{
	static const enum o2_judge_event_kind kinds[] = {
		[O2_WATCHED_REQUEST] = O2_JUDGE_REQUEST, [O2_WATCHED_REPLY] = O2_JUDGE_REPLY,
		[O2_WATCHED_REJECT] = O2_JUDGE_REJECT,	 [O2_WATCHED_MESSAGE] = O2_JUDGE_MESSAGE,
		[O2_WATCHED_WRITE] = O2_JUDGE_WRITE,	 [O2_WATCHED_DISCONNECT] = O2_JUDGE_DISCONNECT,
	};
	struct o2_judge_event event = {
		.kind = kinds[watched->kind],
		.from = heard->side[watched->ours],
		.number = ++judging->number,
		.time_ns = o2_monotonic_ns(),
		.bytes = watched->length_bytes,
		.addr = watched->addr,
		.rkey = watched->rkey,
		.announced_bytes = (uint32_t)watched->length_bytes,
	};

	judging->messages += watched->kind == O2_WATCHED_MESSAGE;
	judging->writes += watched->kind == O2_WATCHED_WRITE;
	if (watched->bytes != NULL)
		decode(judging, watched, &event);
	else if (watched->kind == O2_WATCHED_MESSAGE)
		event.kind = O2_JUDGE_LOST;
	if (o2_judge_hear(judging->judge, heard->conn, &event) != 0)
		judging->failed = true;
}

static void hear(void *context, const struct o2_watched *watched)
{
	struct o2_net_judging *judging = context;
	struct heard *heard = find_heard(judging, watched->conn);

	if (heard == NULL && watched->kind == O2_WATCHED_REQUEST)
		heard = meet(judging, watched);
	if (heard == NULL)
		return;
	if (watched->kind == O2_WATCHED_GONE)
		forget(judging, heard);
	else
		tell(judging, heard, watched);
}

struct o2_net_judging *o2_net_judging_tell(const struct o2_net_options *options, o2_judge_sink sink,
					   void *context)
{
	/* The end gives up after --timeout, and what is late by then is to be named. */
	const struct o2_judge_options judge_options = {
		.timeout_ms = options->timeout_ms - options->timeout_ms / 10,
		.keepalive_ms = O2_JUDGE_DEFAULTS.keepalive_ms,
		.seed = options->seed,
	};
	struct o2_net_judging *judging = calloc(1, sizeof(*judging));

	if (judging != NULL)
		judging->judge = o2_judge_new(&judge_options, sink != NULL ? sink : find,
					      sink != NULL ? context : judging);
	if (judging == NULL || judging->judge == NULL) {
		o2_cli_complain("not enough memory for --judge");
		free(judging);
		return NULL;
	}
	judging->watch = (struct o2_watch){judging, hear};
	judging->json = options->json;
	judging->wire = O2_WIRE_DEFAULTS;
	judging->wire.tolerate_immediate_checksum = options->tolerate_immediate_checksum;
	LIST_INIT(&judging->heard);
	return judging;
}

struct o2_net_judging *o2_net_judging_new(const struct o2_net_options *options)
{
	return o2_net_judging_tell(options, NULL, NULL);
}

struct o2_net_judged o2_net_judging_heard(const struct o2_net_judging *judging)
{
	return (struct o2_net_judged){judging->number, judging->connections, judging->messages,
				      judging->writes};
}

const struct o2_watch *o2_net_judging_watch(struct o2_net_judging *judging)
{
	return judging == NULL ? NULL : &judging->watch;
}

json_t *o2_net_judging_to_json(const struct o2_net_judging *judging)
{
	const struct o2_judge_report *report = &judging->report;
	json_t *object = json_object(), *findings = json_array();

	for (uint32_t i = 0; i < report->count && findings != NULL; i++) {
		if (json_array_append_new(findings, o2_judge_row_to_json(&report->row[i])) == 0)
			continue;
		json_decref(findings);
		findings = NULL;
	}
	object = o2_json_with(object, "connections", o2_json_length(judging->connections));
	object = o2_json_with(object, "messages", o2_json_length(judging->messages));
	object = o2_json_with(object, "writes", o2_json_length(judging->writes));
	for (int severity = 0; severity < O2_JUDGE_SEVERITIES; severity++)
		object = o2_json_with(object, o2_judge_severity_names[severity],
				      o2_json_length(report->times[severity]));
	return o2_json_with(object, "findings", findings);
}

static void print(const struct o2_net_judging *judging)
{
	const uint64_t *times = judging->report.times;

	printf("judge: %" PRIu64 " messages and %" PRIu64 " WRITEs of ours on %" PRIu64
	       " connections: %" PRIu64 " must, %" PRIu64 " should, %" PRIu64 " notes\n",
	       judging->messages, judging->writes, judging->connections, times[O2_JUDGE_MUST],
	       times[O2_JUDGE_SHOULD], times[O2_JUDGE_NOTE]);
}

bool o2_net_judging_is_ours(const struct o2_net_judging *judging, const struct o2_judge_finding *finding)
{
	const struct heard *heard;

	LIST_FOREACH(heard, &judging->heard, entry)
		if (heard->conn == finding->conn)
			return heard->side[true] == finding->who;
	return false;
}

static void forget_all(struct o2_net_judging *judging)
{
	while (!LIST_EMPTY(&judging->heard))
		forget(judging, LIST_FIRST(&judging->heard));
}

void o2_net_judging_free(struct o2_net_judging *judging)
{
	if (judging == NULL)
		return;
	forget_all(judging);
	if (judging->failed)
		o2_cli_complain("judge: not enough memory, so not all was heard");
	o2_judge_free(judging->judge);
	free(judging);
}

int o2_net_judging_end(struct o2_net_judging *judging, int status)
{
	if (judging == NULL)
		return status;
	forget_all(judging);
	if (!judging->json)
		print(judging);
	if (status == O2_CLI_OK && judging->report.times[O2_JUDGE_MUST] != 0)
		status = O2_CLI_REFUSED;
	o2_net_judging_free(judging);
	return status;
}
