/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "props/talk/sim_internal.h"
#include "wire/layout.h"

/*
 * Messages that no correct peer sends, made byte by byte.  Each is delivered to a queue pair whose owner
 * has handled everything else, so that only one reaction is permitted: close, with the documented errno.
 */

enum o2_sim_lie {
	LIE_CREDITS_OVER_DEPTH,
	LIE_NO_CREDIT,
	LIE_TOO_MANY_REQUESTS,
	LIE_EMPTY_NOOPS,
	LIE_STALE_SENDER,
	LIE_STALE_RECEIVER,
	LIE_ANSWER_AGAIN,
	LIE_ANSWER_OF_ANOTHER_TYPE,
	LIE_UNKNOWN_COOKIE,
	LIE_NAK_OF_SUCCESS,
	LIE_PUT_DONE_OF_ANOTHER_LENGTH,
	LIE_GET_DONE_OF_MORE,
	LIES,
};

/* The rule that each message breaks (docs/hostile.md). */
static const char *const rules[LIES] = {
	[LIE_CREDITS_OVER_DEPTH] = "conn/credits-over-depth",
	[LIE_NO_CREDIT] = "conn/no-credit",
	[LIE_TOO_MANY_REQUESTS] = "conn/too-many-requests",
	[LIE_EMPTY_NOOPS] = "conn/noop-storm",
	[LIE_STALE_SENDER] = "conn/srcstamp",
	[LIE_STALE_RECEIVER] = "conn/dststamp",
	[LIE_ANSWER_AGAIN] = "conn/unknown-cookie",
	[LIE_ANSWER_OF_ANOTHER_TYPE] = "conn/unknown-cookie",
	[LIE_UNKNOWN_COOKIE] = "conn/unknown-cookie",
	[LIE_NAK_OF_SUCCESS] = "conn/nak-status",
	[LIE_PUT_DONE_OF_ANOTHER_LENGTH] = "conn/put-done-status",
	[LIE_GET_DONE_OF_MORE] = "conn/get-done-status",
};

#define EMPTY_NOOPS   17u /* one more than may arrive in a second */
#define SECOND_MS     1000u
#define NOOPS_AT_ONCE 4u /* per round; four rounds in a second */

struct message {
	uint8_t bytes[256];
	uint32_t length;
};

static void put(struct message *m, uint32_t at, uint32_t width, uint64_t value)
{
	for (uint32_t i = 0; i < width; i++)
		m->bytes[at + i] = (uint8_t)(value >> 8 * i);
}

static void begin(struct message *m, const struct o2_sim_end *to, uint8_t type, uint32_t length)
{
	const struct o2_sim_node *receiver = &to->sim->node[to->node];
	const struct o2_sim_node *sender = &to->sim->node[to->other->node];

	*m = (struct message){.length = length};
	put(m, O2_AT_MAGIC, 4, 0x0be91b91);
	put(m, O2_AT_VERSION, 2, to->sim->config.version);
	put(m, O2_AT_TYPE, 1, type);
	put(m, O2_AT_NOB, 4, length);
	put(m, O2_AT_SRCNID, 8, sender->place->ni.config.nid);
	put(m, O2_AT_SRCSTAMP, 8, sender->place->ni.config.incarnation);
	put(m, O2_AT_DSTNID, 8, receiver->place->ni.config.nid);
	put(m, O2_AT_DSTSTAMP, 8, receiver->place->ni.config.incarnation);
}

static void completion(struct message *m, const struct o2_sim_end *to, uint8_t type, uint64_t cookie,
		       int64_t status)
{
	begin(m, to, type, 60);
	put(m, O2_AT_COMPLETION_COOKIE, 8, cookie);
	put(m, O2_AT_STATUS, 4, (uint64_t)status);
}

/* Add an LNet header that is never interpreted, because the message is refused before. */
static void with_header(struct message *m, const struct o2_sim_end *to, uint8_t type, uint32_t length,
			uint32_t lnet_type)
{
	begin(m, to, type, length);
	put(m, O2_AT_LNET_HDR + O2_LNET_AT_DEST_NID, 8, to->sim->node[to->node].place->ni.config.nid);
	put(m, O2_AT_LNET_HDR + O2_LNET_AT_SRC_NID, 8, to->sim->node[to->other->node].place->ni.config.nid);
	put(m, O2_AT_LNET_HDR + O2_LNET_AT_TYPE, 4, lnet_type);
	/* An operation that does not exist. */
	put(m, O2_AT_LNET_HDR + O2_LNET_AT_UNION + 16, 8, UINT64_MAX);
}

/* An operation for which this end waits: for the answer to its own, or for the PUT_DONE of the other end's. */
static const struct o2_sim_op *waiting(const struct o2_sim_end *to, enum o2_transfer_op kind, bool ours)
{
	const struct o2_sim *sim = to->sim;

	for (uint32_t i = 0; i < sim->nops; i++) {
		const struct o2_sim_op *op = &sim->op[i];

		if (op->op != kind || (ours ? op->end : op->end->other) != to)
			continue;
		if (ours && op->started && op->requested && !op->ended && !op->acknowledged &&
		    !op->status_sent)
			return op;
		if (!ours && op->acknowledged && !op->ended_there && !op->status_sent)
			return op;
	}
	return NULL;
}

/* Build an answer that has been received already, if possible for an operation that is still open. */
static bool again(struct message *m, const struct o2_sim_end *to)
{
	const struct o2_sim *sim = to->sim;
	const struct o2_sim_op *found = NULL;

	for (uint32_t i = 0; i < sim->nops; i++) {
		const struct o2_sim_op *op = &sim->op[i];

		if (op->end == to && op->op == O2_OP_PUT && op->acknowledged && (found == NULL || !op->ended))
			found = op;
	}
	if (found == NULL)
		return false;
	begin(m, to, O2_MSG_PUT_ACK, 84);
	put(m, O2_AT_SRC_COOKIE, 8, found->cookie);
	put(m, O2_AT_DST_COOKIE, 8, found->cookie_there);
	put(m, O2_AT_PUT_ACK_DESC + O2_DESC_AT_KEY, 4, found->key);
	put(m, O2_AT_PUT_ACK_DESC + O2_DESC_AT_NFRAGS, 4, 1);
	put(m, O2_AT_PUT_ACK_DESC + O2_DESC_AT_FRAGS + O2_FRAG_AT_NOB, 4, 1);
	put(m, O2_AT_PUT_ACK_DESC + O2_DESC_AT_FRAGS + O2_FRAG_AT_ADDR, 8, found->key_addr);
	return true;
}

static bool of_operation(struct message *m, const struct o2_sim_end *to, enum o2_sim_lie lie)
{
	const struct o2_sim_op *put_op = waiting(to, O2_OP_PUT, true), *get_op = waiting(to, O2_OP_GET, true);
	const struct o2_sim_op *sink = waiting(to, O2_OP_PUT, false);

	if (lie == LIE_ANSWER_OF_ANOTHER_TYPE && put_op != NULL)
		completion(m, to, O2_MSG_GET_DONE, put_op->cookie, 0);
	else if (lie == LIE_ANSWER_OF_ANOTHER_TYPE && get_op != NULL)
		completion(m, to, O2_MSG_PUT_NAK, get_op->cookie, 0);
	else if (lie == LIE_NAK_OF_SUCCESS && put_op != NULL)
		completion(m, to, O2_MSG_PUT_NAK, put_op->cookie, 1);
	else if (lie == LIE_PUT_DONE_OF_ANOTHER_LENGTH && sink != NULL)
		completion(m, to, O2_MSG_PUT_DONE, sink->cookie_there, (int64_t)sink->wanted - 1);
	else if (lie == LIE_GET_DONE_OF_MORE && get_op != NULL)
		completion(m, to, O2_MSG_GET_DONE, get_op->cookie, (int64_t)get_op->nob + 1);
	else
		return false;
	return true;
}

/* Build the message; returns the errno it must cause, or 0 if this lie is impossible now. */
static int make(struct message *m, const struct o2_sim_end *to, enum o2_sim_lie lie)
{
	begin(m, to, O2_MSG_NOOP, 48);
	switch (lie) {
	case LIE_CREDITS_OVER_DEPTH:
		if (to->view.flow.queue_depth - to->view.flow.credits == UINT8_MAX)
			return 0; /* one more does not fit in a byte */
		put(m, O2_AT_CREDITS, 1, to->view.flow.queue_depth - to->view.flow.credits + 1);
		return -EPROTO;
	case LIE_NO_CREDIT:
		with_header(m, to, O2_MSG_IMMEDIATE, 120, O2_LNET_ACK);
		return -EPROTO;
	case LIE_TOO_MANY_REQUESTS:
		with_header(m, to, O2_MSG_GET_REQ, 148, O2_LNET_GET);
		put(m, O2_AT_GET_REQ_COOKIE, 8, UINT64_MAX);
		put(m, O2_AT_GET_REQ_DESC + O2_DESC_AT_NFRAGS, 4, 1);
		put(m, O2_AT_GET_REQ_DESC + O2_DESC_AT_FRAGS + O2_FRAG_AT_NOB, 4, 1);
		return -EPROTO;
	case LIE_EMPTY_NOOPS:
		return to->sim->config.version == O2_MSG_VERSION_2 ? -EPROTO : 0;
	case LIE_STALE_SENDER:
		put(m, O2_AT_SRCSTAMP, 1, 0xff);
		return -ESTALE;
	case LIE_STALE_RECEIVER:
		put(m, O2_AT_DSTSTAMP, 1, 0xff);
		return -ESTALE;
	case LIE_ANSWER_AGAIN:
		return again(m, to) ? -EPROTO : 0;
	case LIE_UNKNOWN_COOKIE:
		completion(m, to, O2_MSG_GET_DONE, UINT64_MAX, 0);
		return -EPROTO;
	default:
		return of_operation(m, to, lie) ? -EPROTO : 0;
	}
}

static bool tell(struct o2_sim *sim, struct o2_sim_end *to, const struct message *m)
{
	if (!o2_loop_forge(to->qp_num, m->bytes, m->length))
		return false;
	sim->acting = to;
	o2_conn_progress(to->conn);
	sim->acting = NULL;
	o2_sim_fault_after(sim, to);
	return true;
}

/* True if one more message of this kind would exceed the limit. */
static bool at_limit(const struct o2_conn_view *view, enum o2_sim_lie lie)
{
	if (lie == LIE_NO_CREDIT)
		return view->flow.granted == 0;
	return view->flow.granted > 0 && view->flow.peer_requests >= view->flow.queue_depth;
}

/*
 * Use up what the peer may send, while the other end handles nothing and may run out of receives.  The
 * device stands still, so that no credits return, unless credits are needed for still more requests.
 * False: the limit could not be reached.
 */
static bool flood(struct o2_sim *sim, struct o2_sim_end *to, enum o2_sim_lie lie, const struct message *m)
{
	o2_sim_may_close(to, O2_FAULT_LOCAL_COMPLETION, -EIO, "conn/completion");
	for (uint32_t i = 0; i < 8 * to->depth + 40 && o2_conn_get_state(to->conn) == O2_CONN_ESTABLISHED;
	     i++) {
		o2_conn_view(to->conn, &to->view);
		if (at_limit(&to->view, lie))
			return true;
		if (to->view.flow.granted > 0 ? !tell(sim, to, m) : !o2_sim_execute_one(sim, to))
			return false;
	}
	return false;
}

/* True if the end has handled everything sent to it, and nothing waits. */
static bool ready(const struct o2_sim_end *to)
{
	return to->conn != NULL && to->view.state == O2_CONN_ESTABLISHED && !to->broken &&
	       to->other->wire.count == 0 && to->view.parked == 0 &&
	       o2_loop_cq_entries(o2_conn_cq(to->conn)) == 0;
}

/* Deliver one NOOP that is still permitted.  False: the end has closed for another reason. */
static bool tell_one_more(struct o2_sim *sim, struct o2_sim_end *to, const struct message *m)
{
	if (!tell(sim, to, m))
		return false;
	if (o2_conn_get_state(to->conn) == O2_CONN_ESTABLISHED)
		return true;
	if (to->fault.error.rule != NULL && strcmp(to->fault.error.rule, rules[LIE_EMPTY_NOOPS]) == 0)
		o2_report_fail(sim->report, "sim/forged-early",
			       "end %" PRIu32 " closes for fewer NOOPs than may come in a second", to->index);
	return false;
}

/* Deliver as many as permitted in one second, and as many again in the next. */
static bool tell_noops(struct o2_sim *sim, struct o2_sim_end *to, const struct message *m)
{
	o2_sim_clock(sim, SECOND_MS);
	for (uint32_t i = 1; i < EMPTY_NOOPS; i++) {
		if (!tell_one_more(sim, to, m))
			return false;
		if (i % NOOPS_AT_ONCE == 0)
			o2_sim_clock(sim, SECOND_MS / NOOPS_AT_ONCE);
	}
	for (uint32_t i = 1; i < EMPTY_NOOPS; i++)
		if (!tell_one_more(sim, to, m))
			return false;
	return true;
}

void o2_sim_forge(struct o2_sim *sim)
{
	struct o2_sim_end *to = &sim->end[o2_draw_pick(sim->choice, sim->nends)];
	enum o2_sim_lie lie = (enum o2_sim_lie)o2_draw(sim->choice, LIES - 1);
	struct message message;
	bool told = true;
	int code;

	o2_sim_fault_disarm(sim);
	o2_sim_check(sim);
	if (!ready(to) || !o2_sim_ok(sim))
		return;
	code = make(&message, to, lie);
	if (code == 0)
		return;
	o2_sim_log(sim, O2_SIM_EV_FORGE, to, lie, code);
	o2_sim_may_close(to, O2_FAULT_PEER_MESSAGE, code, rules[lie]);
	/* The answers of the deceived end may break rules at the other end too. */
	for (uint32_t i = 0; i < LIES; i++)
		o2_sim_may_close(to->other, O2_FAULT_PEER_MESSAGE, -EPROTO, rules[i]);
	to->forged = true;
	if (lie == LIE_EMPTY_NOOPS)
		told = tell_noops(sim, to, &message);
	else if (lie == LIE_NO_CREDIT || lie == LIE_TOO_MANY_REQUESTS)
		told = flood(sim, to, lie, &message);
	if (!told || !tell(sim, to, &message)) {
		o2_sim_is_closed(to, -ECONNRESET);
		o2_conn_close(to->conn, -ECONNRESET);
		return;
	}
	o2_sim_seen(sim, (enum o2_sim_situation)(O2_SIM_SEEN_FORGED + lie));
	if (o2_conn_get_state(to->conn) != O2_CONN_DISCONNECTED || to->fault.code != code)
		o2_report_fail(sim->report, "sim/forged",
			       "end %" PRIu32
			       " lives with a forged message of kind %d, expected that it closes with %d",
			       to->index, lie, code);
}
