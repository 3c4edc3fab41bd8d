/* SPDX-License-Identifier: MIT */
#include "props/world/witness.h"

#include <stdlib.h>

#include "base/monotonic.h"

#define CONNS 256u

struct heard {
	struct o2_judge_conn *conn; /* NULL: not in use */
	uint32_t qp[O2_JUDGE_SIDES];
};

struct o2_witness {
	struct o2_judge *judge;
	struct o2_cm_loop *loop;
	struct o2_report *report; /* NULL: there is a sink instead */
	const uint64_t *now_ms;
	uint64_t number;
	struct heard heard[CONNS];
	uint32_t next;
	struct o2_judged gone; /* totals of forgotten connections */
	struct o2_msg msg;     /* large */
};

static void fail(void *context, const struct o2_judge_finding *finding)
{
	struct o2_witness *witness = context;

	o2_judged_fail(witness->report, finding);
}

static void forget(struct o2_witness *witness, struct heard *heard)
{
	const struct o2_judge_view view = o2_judge_view(heard->conn);

	witness->gone.connections++;
	for (int side = O2_JUDGE_A; side < O2_JUDGE_SIDES; side++) {
		witness->gone.messages += view.messages[side];
		witness->gone.writes += view.writes[side];
	}
	o2_judge_part(witness->judge, heard->conn);
	heard->conn = NULL;
}

static void tell(struct o2_witness *witness, const struct heard *heard, struct o2_judge_event *event)
{
	event->number = ++witness->number;
	event->time_ns = *witness->now_ms * O2_NS_PER_MS;
	if (o2_judge_hear(witness->judge, heard->conn, event) != 0 && witness->report != NULL)
		o2_report_fail(witness->report, "judge/memory", "no memory for a transfer");
}

/* Find the latest connection with this queue pair, and its side; NULL: none. */
static struct heard *find(struct o2_witness *witness, uint32_t qp_num, enum o2_judge_side *side)
{
	for (uint32_t i = 0; qp_num != 0 && i < CONNS; i++) {
		struct heard *heard = &witness->heard[(witness->next + CONNS - 1 - i) % CONNS];

		if (heard->conn == NULL ||
		    (heard->qp[O2_JUDGE_A] != qp_num && heard->qp[O2_JUDGE_B] != qp_num))
			continue;
		*side = heard->qp[O2_JUDGE_A] == qp_num ? O2_JUDGE_A : O2_JUDGE_B;
		return heard;
	}
	return NULL;
}

static void decode(struct o2_witness *witness, const uint8_t *bytes, uint64_t length,
		   struct o2_judge_event *event, struct o2_error *refused)
{
	if (o2_msg_decode(bytes, length, NULL, &witness->msg, refused) == 0)
		event->msg = &witness->msg;
	else
		event->refused = refused;
}

/* Start a connection; the oldest may have to be dropped.  NULL: no memory. */
static struct heard *meet(struct o2_witness *witness)
{
	struct heard *heard = &witness->heard[witness->next++ % CONNS];

	if (heard->conn != NULL)
		forget(witness, heard);
	*heard = (struct heard){.conn = o2_judge_meet(witness->judge, O2_JUDGE_WHOLE)};
	return heard->conn == NULL ? NULL : heard;
}

void o2_witness_connected(struct o2_witness *witness, const uint32_t qp_num[O2_JUDGE_SIDES],
			  const struct o2_judge_terms *terms)
{
	struct heard *heard = meet(witness);

	if (heard == NULL)
		return;
	heard->qp[O2_JUDGE_A] = qp_num[O2_JUDGE_A];
	heard->qp[O2_JUDGE_B] = qp_num[O2_JUDGE_B];
	o2_judge_agreed(heard->conn, terms);
}

static void hear_request(struct o2_witness *witness, const struct o2_cm_loop_seen *seen)
{
	struct heard *heard = meet(witness);
	struct o2_judge_event event = {.kind = O2_JUDGE_REQUEST, .from = O2_JUDGE_A};
	struct o2_error refused;

	if (heard == NULL)
		return;
	heard->qp[O2_JUDGE_A] = seen->from_qp;
	decode(witness, seen->private_data, seen->private_bytes, &event, &refused);
	tell(witness, heard, &event);
}

static void judge_manager(struct o2_witness *witness, const struct o2_cm_loop_seen *seen)
{
	const bool answers = seen->message == O2_CM_LOOP_REPLY || seen->message == O2_CM_LOOP_REJECT;
	struct o2_judge_event event = {.kind = O2_JUDGE_DISCONNECT};
	enum o2_judge_side side;
	struct o2_reject reject;
	struct o2_error refused;
	struct heard *heard;

	if (seen->message == O2_CM_LOOP_REQUEST) {
		hear_request(witness, seen);
		return;
	}
	heard = find(witness, answers ? seen->to_qp : seen->from_qp, &side);
	if (heard == NULL || (answers && side != O2_JUDGE_A))
		return;
	event.from = answers ? O2_JUDGE_B : side;
	if (seen->message == O2_CM_LOOP_REPLY) {
		event.kind = O2_JUDGE_REPLY;
		heard->qp[O2_JUDGE_B] = seen->from_qp;
		decode(witness, seen->private_data, seen->private_bytes, &event, &refused);
	} else if (seen->message == O2_CM_LOOP_REJECT) {
		event.kind = O2_JUDGE_REJECT;
		if (seen->reason != O2_CM_REJECT_CONSUMER)
			return;
		if (o2_reject_decode(seen->private_data, seen->private_bytes, &reject, &refused) == 0)
			event.reject = &reject;
		else
			event.refused = &refused;
	} else if (seen->message != O2_CM_LOOP_DISCONNECT) {
		return;
	}
	tell(witness, heard, &event);
}

static void hear_manager(void *context, const struct o2_cm_loop_seen *seen)
{
	if (o2_judged_deaf)
		return;
	o2_judged_put_aside(true);
	judge_manager(context, seen);
	o2_judged_put_aside(false);
}

static void judge_fabric(struct o2_witness *witness, const struct o2_loop_seen *seen)
{
	struct o2_judge_event event = {.kind = O2_JUDGE_MESSAGE, .bytes = seen->length_bytes};
	struct heard *heard = find(witness, seen->from_qp, &event.from);
	struct o2_error refused;

	if (heard == NULL || heard->qp[O2_JUDGE_A + O2_JUDGE_B - event.from] != seen->to_qp)
		return;
	if (seen->is_write) {
		event.kind = O2_JUDGE_WRITE;
		event.addr = seen->addr;
		event.rkey = seen->rkey;
		event.announced_bytes = (uint32_t)seen->length_bytes;
	} else {
		decode(witness, seen->bytes, seen->bytes_seen, &event, &refused);
	}
	tell(witness, heard, &event);
}

void o2_witness_hear(struct o2_witness *witness, const struct o2_loop_seen *seen)
{
	if (o2_judged_deaf)
		return;
	o2_judged_put_aside(true);
	judge_fabric(witness, seen);
	o2_judged_put_aside(false);
}

/* sink NULL: findings fail the report, and the witness itself is the sink's context. */
static struct o2_witness *make(const uint64_t *now_ms, struct o2_report *report,
			       const struct o2_judge_options *options, o2_judge_sink sink, void *context)
{
	struct o2_witness *witness = calloc(1, sizeof(*witness));

	if (witness == NULL)
		return NULL;
	witness->now_ms = now_ms;
	witness->report = report;
	witness->judge =
		sink != NULL ? o2_judge_new(options, sink, context) : o2_judge_new(options, fail, witness);
	if (witness->judge != NULL)
		return witness;
	free(witness);
	return NULL;
}

struct o2_witness *o2_witness_new(const uint64_t *now_ms, struct o2_report *report)
{
	return make(now_ms, report, &O2_JUDGED_OPTIONS, NULL, NULL);
}

void o2_witness_free(struct o2_witness *witness)
{
	struct o2_judged totals;

	if (witness == NULL)
		return;
	totals = o2_witness_totals(witness);
	o2_judged_add(&o2_judged_all, &totals);
	o2_judge_free(witness->judge);
	free(witness);
}

static void hear_fabric(void *context, const struct o2_loop_seen *seen)
{
	o2_witness_hear(context, seen);
}

static struct o2_witness *listen(struct o2_witness *witness, struct o2_cm_loop *loop)
{
	if (witness == NULL)
		return NULL;
	witness->loop = loop;
	o2_loop_set_tap(hear_fabric, witness);
	if (loop != NULL)
		o2_cm_loop_set_tap(loop, hear_manager, witness);
	return witness;
}

struct o2_witness *o2_witness_open(struct o2_cm_loop *loop, const uint64_t *now_ms, struct o2_report *report)
{
	return listen(o2_witness_new(now_ms, report), loop);
}

struct o2_witness *o2_witness_ask(struct o2_cm_loop *loop, const uint64_t *now_ms,
				  const struct o2_judge_options *options, o2_judge_sink sink, void *context)
{
	return listen(make(now_ms, NULL, options, sink, context), loop);
}

void o2_witness_close(struct o2_witness *witness)
{
	if (witness == NULL)
		return;
	o2_loop_set_tap(NULL, NULL);
	if (witness->loop != NULL)
		o2_cm_loop_set_tap(witness->loop, NULL, NULL);
	o2_witness_free(witness);
}

void o2_witness_end(struct o2_witness *witness)
{
	for (uint32_t i = 0; i < CONNS; i++) {
		struct o2_judge_event event = {.kind = O2_JUDGE_DISCONNECT, .from = O2_JUDGE_B};

		if (witness->heard[i].conn != NULL)
			tell(witness, &witness->heard[i], &event);
	}
}

struct o2_judged o2_witness_totals(const struct o2_witness *witness)
{
	struct o2_judged totals = witness->gone;

	for (uint32_t i = 0; i < CONNS; i++) {
		struct o2_judge_view view;

		if (witness->heard[i].conn == NULL)
			continue;
		view = o2_judge_view(witness->heard[i].conn);
		totals.connections++;
		for (int side = O2_JUDGE_A; side < O2_JUDGE_SIDES; side++) {
			totals.messages += view.messages[side];
			totals.writes += view.writes[side];
		}
	}
	return totals;
}
