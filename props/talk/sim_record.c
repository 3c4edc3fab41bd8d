/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "props/talk/sim_record.h"

/*
 * The expected content of error records: rule, value and limit, by the tables of docs/transport.md, "Errors",
 * docs/modes.md, "Refusals of reg_plan", and docs/mapping.md.
 */

struct record {
	const char *rule;
	uint64_t value, limit;
};

static bool same_error(const struct o2_error *a, const struct o2_error *b)
{
	return a->code == b->code && o2_same_text(a->rule, b->rule) && o2_same_text(a->field, b->field) &&
	       a->index == b->index && a->value == b->value && a->limit == b->limit &&
	       a->limit_kind == b->limit_kind && a->class == b->class;
}

static bool says(const struct o2_error *error, int code, const struct record *record)
{
	return error->code == code && o2_same_text(error->rule, record->rule) && error->field != NULL &&
	       error->value == record->value && error->limit == record->limit && error->index == O2_NO_INDEX;
}

/* The record of a refusal by a mapping or planning stage.  sink: the memory with too many fragments, if any. */
static struct record of_stage(const struct o2_sim_op *op, const struct o2_op_memory *sink, int code)
{
	const uint64_t frags = op->end->sim->config.max_frags;

	switch (code) {
	case -EINVAL:
		return (struct record){op->op == O2_OP_PUT ? "conn/match-longer-than-offered"
							   : "conn/match-longer-than-sink",
				       op->wanted, op->nob};
	case -EPROTONOSUPPORT:
		return (struct record){"reg/fastreg/gaps", 1, 0};
	case -EFBIG:
		return (struct record){"reg/more-fragments-than-peer-accepts", o2_sim_memory_frags(sink),
				       o2_sim_sink_frags(op)};
	default:
		return (struct record){"rdma/too-many-work-requests", frags + 1, frags};
	}
}

bool o2_sim_refuses(const struct o2_sim_op *op, const struct o2_sim_end *end)
{
	/* The source plans the writes and refuses those, at either end.  The asked end refuses all else. */
	const bool ours = op->op == O2_OP_PUT && op->code == -EMSGSIZE;

	return op->code != 0 && ours == (op->end == end);
}

bool o2_sim_record_of_start(const struct o2_sim_op *op, int code, const struct o2_error *error)
{
	const struct o2_conn_config *config = &op->end->sim->config;
	struct record record = of_stage(op, &op->ours, code);

	if (code == -ENOTCONN)
		record = (struct record){"conn/not-established", error->value, O2_CONN_ESTABLISHED};
	else if (code == -EBUSY)
		record = (struct record){"conn/too-many-transfers", (uint64_t)config->max_transfers + 1,
					 config->max_transfers};
	else if (code == -EMSGSIZE)
		record = (struct record){"conn/payload-too-long", op->nob,
					 op->end->other->max_msg_bytes - O2_SIM_IMMEDIATE_HDR};
	return code == 0 || says(error, code, &record);
}

bool o2_sim_record_of_end(const struct o2_sim_end *end, const struct o2_sim_op *op,
			  const struct o2_transfer_result *result)
{
	const struct o2_transfer_fault *fault = &result->fault, *why = o2_conn_get_fault(end->conn);
	const uint64_t since_ms = result->initiator ? op->since_ms : op->since_there_ms;
	const uint32_t limit_ms = end->sim->config.timeout_ms;
	struct record record = of_stage(op, &op->theirs, result->status);

	switch (fault->side) {
	case O2_FAULT_NONE:
		return fault->error.code == 0;
	case O2_FAULT_CLOSED:
		return fault->closed_by == why->side && fault->wc_status == why->wc_status &&
		       fault->wait == why->wait && same_error(&fault->error, &why->error);
	case O2_FAULT_PEER_STATUS:
		record = (struct record){"transfer/peer-status", (uint64_t)-result->status, O2_NO_LIMIT};
		return says(&fault->error, result->status, &record);
	case O2_FAULT_DEADLINE:
		record = (struct record){"conn/deadline", end->sim->now_ms - since_ms, limit_ms};
		return fault->wait != O2_WAIT_NONE && says(&fault->error, -ETIMEDOUT, &record);
	case O2_FAULT_LOCAL_STAGE:
		if (same_error(&fault->error, &why->error) ||
		    (o2_sim_refuses(op, end) && says(&fault->error, result->status, &record)))
			return true;
		return o2_sim_may_fail(op, end, result->status) && fault->error.code == result->status &&
		       fault->error.rule != NULL;
	default:
		return same_error(&fault->error, &why->error) && fault->wc_status == why->wc_status;
	}
}

bool o2_sim_record_of_close(const struct o2_transfer_fault *fault)
{
	struct record record = {"conn/closed", (uint64_t)-fault->code, O2_NO_LIMIT};

	if (fault->side == O2_FAULT_NONE)
		return fault->code == 0 && fault->error.code == 0;
	if (fault->side == O2_FAULT_LOCAL_COMPLETION)
		record = (struct record){"conn/completion", fault->wc_status, O2_NO_LIMIT};
	else if (fault->side != O2_FAULT_CLOSED)
		return fault->error.code == fault->code && fault->error.rule != NULL;
	return says(&fault->error, fault->code, &record);
}
