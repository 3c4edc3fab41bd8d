/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "props/talk/sim_record.h"

/*
 * The permitted results of operations and connections, given what was drawn and injected: a second
 * implementation of the tables of docs/transport.md, "Errors" (docs/simulation.md, "What is checked").
 */

/* The operation has ended as its draw foretells. */
static void count_foretold(struct o2_sim *sim, const struct o2_sim_op *op)
{
	static const struct {
		enum o2_sim_verdict verdict;
		enum o2_sim_situation put, get;
	} rows[] = {
		{O2_SIM_SHORT, O2_SIM_SEEN_SHORT, O2_SIM_SEEN_SHORT},
		{O2_SIM_NO_MATCH, O2_SIM_SEEN_NO_MATCH_PUT, O2_SIM_SEEN_NO_MATCH_GET},
		{O2_SIM_REFUSE, O2_SIM_SEEN_REFUSED, O2_SIM_SEEN_REFUSED},
		{O2_SIM_LONGER, O2_SIM_SEEN_MATCH_LONGER, O2_SIM_SEEN_MATCH_LONGER},
	};

	for (size_t i = 0; op->op != O2_OP_SEND && i < sizeof(rows) / sizeof(rows[0]); i++)
		if (rows[i].verdict == op->verdict)
			o2_sim_seen(sim, op->op == O2_OP_PUT ? rows[i].put : rows[i].get);
	if (op->code == -EMSGSIZE)
		o2_sim_seen(sim, O2_SIM_SEEN_TOO_MANY_WRS);
	if (op->code == -EFBIG)
		o2_sim_seen(sim, O2_SIM_SEEN_TOO_MANY_FRAGS);
	if (op->code == -EPROTONOSUPPORT)
		o2_sim_seen(sim, O2_SIM_SEEN_GAPS_REFUSED);
	if (op->code == 0 && op->done_nob > 0)
		o2_sim_seen(sim, op->op == O2_OP_PUT   ? O2_SIM_SEEN_PUT
				 : op->op == O2_OP_GET ? O2_SIM_SEEN_GET
						       : O2_SIM_SEEN_IMMEDIATE);
}

static void fail_record(struct o2_sim *sim, const struct o2_sim_end *end, int code,
			const struct o2_error *error)
{
	char text[200];

	o2_error_text(error, text, sizeof(text));
	o2_report_fail(sim->report, "sim/record", "end %" PRIu32 ": an error with %d says: %s", end->index,
		       code, text);
}

void o2_sim_judge_start(struct o2_sim *sim, struct o2_sim_op *op, int code, const struct o2_error *error)
{
	static const struct {
		int code;
		enum o2_sim_situation situation;
	} refusals[] = {
		{-ENOTCONN, O2_SIM_SEEN_NOT_CONNECTED},
		{-EBUSY, O2_SIM_SEEN_TOO_MANY},
		{-EMSGSIZE, O2_SIM_SEEN_TOO_LONG},
		{-EFBIG, O2_SIM_SEEN_TOO_MANY_FRAGS},
		{-EPROTONOSUPPORT, O2_SIM_SEEN_GAPS_REFUSED},
	};

	o2_sim_fault_after(sim, op->end);
	sim->at_work = NULL;
	for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++)
		if (code == refusals[i].code)
			o2_sim_seen(sim, refusals[i].situation);
	if (code == op->start_code && !o2_sim_record_of_start(op, code, error))
		fail_record(sim, op->end, code, error);
	if (code == op->start_code || (code != 0 && o2_sim_may_fail(op, op->end, code)))
		return;
	o2_report_fail(sim->report, "sim/start", "operation %" PRIu32 " is answered %d (%s), expected %d",
		       op->id, code, strerror(-code), op->start_code);
}

/* The connection failed because of one of its own work requests, whose operation is known, or of a receive. */
static bool own_request(const struct o2_sim_end *end, const struct o2_transfer_fault *why)
{
	return !end->forged && !end->other->forged &&
	       (why->side == O2_FAULT_LOCAL_COMPLETION ||
		(why->side == O2_FAULT_LOCAL_STAGE && o2_same_text(why->error.rule, "post/send")));
}

/* True if the operation may report the connection's own error, as its cause.  One operation may. */
static bool is_culprit(struct o2_sim_end *end, const struct o2_sim_op *op,
		       const struct o2_transfer_result *result)
{
	const struct o2_transfer_fault *why = o2_conn_get_fault(end->conn);

	if (o2_conn_get_state(end->conn) != O2_CONN_CLOSING || result->fault.side != why->side ||
	    result->status != why->code)
		return false;
	if (own_request(end, why))
		return end->blamed == op;
	return end->culprits++ == 0;
}

/* An operation that is too old when a deadline closes its connection must report the deadline itself. */
static bool must_be_late(const struct o2_sim *sim, const struct o2_sim_end *end, const struct o2_sim_op *op,
			 const struct o2_transfer_result *result)
{
	return result->initiator && end->deadline_due && sim->config.timeout_ms != 0 &&
	       o2_conn_get_fault(end->conn)->side == O2_FAULT_DEADLINE && o2_sim_late(sim, op->since_ms);
}

/* True if the case created a reason for this fault. */
static bool has_reason(const struct o2_sim_end *end, const struct o2_transfer_fault *fault)
{
	const struct o2_sim_reasons *may = &end->may_close;

	for (uint32_t i = 0; i < may->count; i++) {
		const struct o2_sim_reason *reason = &may->reason[i];

		if (reason->side == fault->side && reason->code == fault->code &&
		    o2_same_text(reason->rule, fault->error.rule))
			return true;
	}
	return false;
}

static bool may_end(struct o2_sim *sim, struct o2_sim_end *end, const struct o2_sim_op *op,
		    const struct o2_transfer_result *result)
{
	bool ours = result->initiator;
	int foretold = ours ? op->code : op->code_there;
	if (result->status != result->fault.code || (result->status != 0 && result->nob != 0))
		return false;
	switch (result->fault.side) {
	case O2_FAULT_NONE:
		return foretold == 0 && result->nob == op->done_nob;
	case O2_FAULT_CLOSED:
		return result->status == -ECONNABORTED && !must_be_late(sim, end, op, result) &&
		       !(own_request(end, o2_conn_get_fault(end->conn)) && end->blamed == op) &&
		       (o2_conn_get_state(end->conn) == O2_CONN_CLOSING || (!ours && op->closed_by_match));
	case O2_FAULT_PEER_STATUS:
		return op->status_sent && result->status == op->wire_status &&
		       ((result->status == op->code && !o2_sim_refuses(op, end)) ||
			o2_sim_may_fail(op, end->other, result->status));
	case O2_FAULT_LOCAL_STAGE:
		return (result->status == foretold && o2_sim_refuses(op, end)) ||
		       o2_sim_may_fail(op, end, result->status) || is_culprit(end, op, result);
	case O2_FAULT_LOCAL_COMPLETION:
	case O2_FAULT_PEER_MESSAGE:
	case O2_FAULT_DEVICE:
		return is_culprit(end, op, result);
	case O2_FAULT_DEADLINE:
		/* Every late operation reports the deadline; there may be several. */
		return end->deadline_due && result->status == -ETIMEDOUT &&
		       o2_conn_get_state(end->conn) == O2_CONN_CLOSING;
	case O2_FAULT_PEER_CLOSED:
	case O2_FAULT_REJECTED:
	case O2_FAULT_CONNECT:
		break;
	}
	return false;
}

/*
 * After success at the sink's end the sink holds all bytes.  So it does after success at the source's end, unless
 * the bytes still have to be copied to their places.  After a failure the content of the sink is undefined if its
 * descriptor was sent; else nothing has changed it.
 */
static void judge_bytes(struct o2_sim *sim, struct o2_sim_op *op, const struct o2_transfer_result *result)
{
	bool put = op->op == O2_OP_PUT;
	const struct o2_op_memory *source = put ? &op->ours : &op->theirs;
	const struct o2_op_memory *sink = put ? &op->theirs : &op->ours;

	if (op->op == O2_OP_SEND)
		return;
	if (result->side == O2_SINK ? result->status != 0 || result->nob > 0
				    : result->status == 0 && result->nob > 0 && !o2_memory_comes_later(sink))
		o2_memory_judge(sink, source, result->nob, result->status != 0 && op->frags > 0, sim->report,
				"sim/bytes");
}

/* Both sides report the sink's number of fragments; the writing side also its number of work requests. */
static bool counts_fit(const struct o2_sim *sim, const struct o2_sim_op *op,
		       const struct o2_transfer_result *result)
{
	const bool put = op->op == O2_OP_PUT;
	uint32_t nwr;

	if (op->op == O2_OP_SEND || result->status != 0 || result->nob == 0)
		return true;
	nwr = result->side == O2_SOURCE ? o2_sim_memory_wrs(sim, put ? &op->ours : &op->theirs,
							    put ? &op->theirs : &op->ours, result->nob)
					: 0;
	return result->nfrags == op->frags && result->nwr == nwr;
}

void o2_sim_judge_end(struct o2_sim *sim, struct o2_sim_end *end, struct o2_sim_op *op,
		      const struct o2_transfer_result *result)
{
	o2_sim_fault_at_end(sim, end, op);
	o2_sim_fault_reason(sim, &result->fault.error);
	if (result->initiator && result->status == op->code)
		count_foretold(sim, op);
	if (!may_end(sim, end, op, result))
		o2_report_fail(sim->report, "sim/outcome",
			       "operation %" PRIu32 " ends at its %s with %d (%s) and %" PRIu64
			       " bytes, fault side %d; foretold: %d and %" PRIu64 " bytes",
			       op->id, result->initiator ? "initiator" : "target", result->status,
			       strerror(-result->status), result->nob, result->fault.side, op->code,
			       op->done_nob);
	else if (!counts_fit(sim, op, result))
		o2_report_fail(sim->report, "sim/counts",
			       "operation %" PRIu32 " ends at its %s with %" PRIu32 " fragments and %" PRIu32
			       " requests, its sink had %" PRIu32 " fragments",
			       op->id, result->initiator ? "initiator" : "target", result->nfrags,
			       result->nwr, op->frags);
	else if (!o2_sim_record_of_end(end, op, result))
		fail_record(sim, end, result->status, &result->fault.error);
	else
		o2_sim_stand_judge(sim, end, op, result);
	/* What ends by itself gives its reservation back. */
	if (result->initiator && o2_conn_get_state(end->conn) == O2_CONN_ESTABLISHED)
		op->stand[0].due = 0;
	if (o2_sim_ok(sim))
		judge_bytes(sim, op, result);
}

void o2_sim_judge_closed(struct o2_sim *sim, struct o2_sim_end *end)
{
	const struct o2_transfer_fault *fault = &end->fault;
	bool noticed = end->other->broken && fault->code == -EIO && fault->side == O2_FAULT_LOCAL_COMPLETION;
	bool late = end->deadline_due && fault->code == -ETIMEDOUT && fault->side == O2_FAULT_DEADLINE;
	bool unready = end->never_ready && fault->code == -EIO && fault->side == O2_FAULT_LOCAL_COMPLETION &&
		       fault->wc_status == IBV_WC_RNR_RETRY_EXC_ERR;

	o2_sim_fault_after(sim, end);
	if (end->closed)
		o2_report_fail(sim->report, "sim/closed-twice",
			       "end %" PRIu32 " says twice that it is closed", end->index);
	if (!noticed && !late && !unready && !has_reason(end, fault)) {
		o2_report_fail(sim->report, "sim/closed",
			       "end %" PRIu32 " closes with %d (%s), fault side %d, rule %s, status %d",
			       end->index, fault->code, strerror(-fault->code), fault->side,
			       fault->error.rule == NULL ? "none" : fault->error.rule, fault->wc_status);
	}
	/* A flush is a consequence; the completion that is not a flush is the cause. */
	if (fault->side == O2_FAULT_LOCAL_COMPLETION &&
	    (fault->wc_status == IBV_WC_SUCCESS || fault->wc_status != end->cause))
		o2_report_fail(sim->report, "sim/cause",
			       "end %" PRIu32 " closes with status %d, its first bad completion has %d",
			       end->index, fault->wc_status, end->cause);
	if (late && !o2_sim_stand_oldest(end, fault))
		o2_report_fail(sim->report, "sim/oldest",
			       "end %" PRIu32 " closes for what is %" PRIu64
			       " ms old and has waited for %s, and something was %" PRIu64 " ms old%s",
			       end->index, fault->error.value, o2_wait_text(fault->wait), end->oldest_ms,
			       end->oldest_sent ? " and sent" : "");
	if (!o2_sim_record_of_close(fault))
		fail_record(sim, end, fault->code, &fault->error);
	end->closed = true;
	o2_sim_break(end);
	o2_sim_seen(sim, late ? O2_SIM_SEEN_DEADLINE : O2_SIM_SEEN_CLOSED);
	if (fault->code == -EPROTO && o2_same_text(fault->error.rule, "conn/lnet-header"))
		o2_sim_seen(sim, O2_SIM_SEEN_HEADER_REFUSED);
	if (noticed && fault->wc_status == IBV_WC_RETRY_EXC_ERR)
		o2_sim_seen(sim, O2_SIM_SEEN_PEER_GONE);
}
