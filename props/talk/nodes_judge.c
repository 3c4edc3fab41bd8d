/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "props/talk/nodes_internal.h"
#include "props/talk/sim_internal.h"

/* Callbacks of nodes: checks of what they ask and report about operations. */

static void fail_op(struct o2_nodes *nodes, const char *signature, const struct o2_nodes_op *op, int status,
		    uint64_t nob)
{
	uint64_t due;
	int foretold = o2_nodes_foretell(op, &due);

	o2_report_fail(nodes->report, signature,
		       "operation with match bits 0x%" PRIx64 " to node %" PRIu32 " has %d (%s) and %" PRIu64
		       " bytes; foretold: %d and %" PRIu64 " bytes",
		       op->theirs.memory.tag, op->to, status, strerror(-status), nob, foretold, due);
}

/* The operation that the match bits name; NULL, with a finding: none that could have arrived here. */
static struct o2_nodes_op *named(struct o2_nodes_seat *seat, uint64_t nid, uint64_t bits)
{
	struct o2_nodes *nodes = seat->nodes;
	uint64_t i = bits >> 8, k = bits & 0xff;

	if (i < nodes->nseats && k < nodes->seat[i].nops && nid == o2_nodes_nid(nodes, (uint32_t)i) &&
	    nodes->seat[i].op[k].to == seat->index)
		return &nodes->seat[i].op[k];
	o2_report_fail(nodes->report, "nodes/stranger",
		       "node %" PRIu32 " is asked for what nobody has started: match bits 0x%" PRIx64,
		       seat->index, bits);
	return NULL;
}

/* Note the arrival of an operation at its other end: it may arrive only once. */
static bool arrives(struct o2_nodes_seat *seat, struct o2_nodes_op *op)
{
	if (op->arrived)
		o2_report_fail(seat->nodes->report, "nodes/twice",
			       "an operation has come to node %" PRIu32 " twice", seat->index);
	op->arrived = true;
	return !seat->nodes->report->failed;
}

static int match(void *context, uint64_t nid, const struct o2_msg *request, uint64_t sink_bytes,
		 struct o2_transfer_memory *memory)
{
	struct o2_nodes_seat *seat = context;
	bool get = request->ibm_type == O2_MSG_GET_REQ;
	const struct o2_lnet_hdr *hdr = get ? &request->u.get.hdr : &request->u.putreq.hdr;
	struct o2_nodes_op *op = named(seat, nid, get ? hdr->msg.get.match_bits : hdr->msg.put.match_bits);
	uint64_t asked = get ? sink_bytes : hdr->payload_length, nob;

	if (op == NULL || !arrives(seat, op))
		return -ENODATA;
	if (asked != op->bytes)
		fail_op(seat->nodes, "nodes/length", op, 0, asked);
	if (op->verdict == O2_NODES_NO_MATCH) {
		o2_nodes_seen(seat->nodes, O2_NODES_SEEN_NO_MATCH);
		return -ENODATA;
	}
	if (op->verdict == O2_NODES_DENY) {
		o2_nodes_seen(seat->nodes, O2_NODES_SEEN_DENIED);
		return o2_nodes_foretell(op, &nob);
	}
	op->accepted = true;
	*memory = op->theirs.memory;
	return 0;
}

static int receive(void *context, uint64_t nid, const struct o2_msg *msg)
{
	struct o2_nodes_seat *seat = context;
	const struct o2_lnet_hdr *hdr = &msg->u.immediate.hdr;
	struct o2_nodes_op *op;

	if (o2_nodes_is_burst(hdr->msg.put.match_bits)) {
		o2_nodes_burst_arrives(seat, hdr);
		return 0;
	}
	op = named(seat, nid, hdr->msg.put.match_bits);
	if (op == NULL || !arrives(seat, op))
		return 0;
	if (hdr->payload_length != op->bytes)
		fail_op(seat->nodes, "nodes/length", op, 0, hdr->payload_length);
	else if (!o2_memory_equals(&op->ours, msg->u.immediate.payload, op->bytes))
		fail_op(seat->nodes, "nodes/bytes", op, 0, op->bytes);
	if (op->kind != O2_NODES_REFUSED)
		return 0;
	o2_nodes_seen(seat->nodes, O2_NODES_SEEN_HEADER_REFUSED);
	seat->now.header_refused[o2_nodes_index(seat->nodes, nid)] = true;
	return -EPROTO;
}

/* True if a stage of this end refused it by this rule (here), or if the other end refused it. */
static bool refused_by(const struct o2_transfer_result *result, bool here, const char *rule)
{
	const struct o2_transfer_fault *fault = &result->fault;

	if (fault->code != result->status)
		return false;
	if (!here)
		return fault->side == O2_FAULT_PEER_STATUS;
	return fault->side == O2_FAULT_LOCAL_STAGE && fault->error.code == result->status &&
	       fault->error.rule != NULL && strcmp(fault->error.rule, rule) == 0;
}

/* True if the sink has too many fragments for the connection, or the transfer needs too many work requests. */
static bool too_many(const struct o2_nodes_op *op, const struct o2_transfer_result *result)
{
	const struct o2_op_memory *sink = op->kind == O2_NODES_PUT ? &op->theirs : &op->ours;
	const bool fragments = result->status == -EFBIG;
	const bool here = (result->side == O2_SINK) == fragments;
	const uint32_t most = fragments ? sink->npieces : op->ours.npieces + op->theirs.npieces;
	const struct o2_error *error = &result->fault.error;

	if ((!fragments && result->status != -EMSGSIZE) || most <= op->max_frags ||
	    !refused_by(result, here,
			fragments ? "reg/more-fragments-than-peer-accepts" : "rdma/too-many-work-requests"))
		return false;
	return !here ||
	       (error->limit >= op->max_frags && error->value > error->limit && error->value <= most);
}

/* True if the result is the predicted one, and names the end that refused. */
static bool is_as_foretold(const struct o2_nodes_op *op, const struct o2_transfer_result *result)
{
	const struct o2_op_memory *here = result->initiator ? &op->ours : &op->theirs;
	uint64_t due;

	if (result->status != o2_nodes_foretell(op, &due) || result->nob != due)
		return false;
	if (result->status == 0)
		return result->fault.side == O2_FAULT_NONE && result->fault.code == 0;
	if (op->too_long)
		return refused_by(result, true, "conn/payload-too-long");
	return refused_by(result, o2_memory_refusal(here) == result->status, "reg/fastreg/gaps");
}

static bool is_foretold(const struct o2_nodes_op *op, const struct o2_transfer_result *result)
{
	return is_as_foretold(op, result) || (result->nob == 0 && too_many(op, result));
}

/* A rule by which the start of an operation is refused; it has waited if its end is told. */
static bool is_of_start(const char *rule)
{
	return rule != NULL && (strncmp(rule, "reg/", 4) == 0 || strcmp(rule, "conn/payload-too-long") == 0);
}

/* What the result says of the path.  Of a connection that was up and closed it may say several things. */
static bool health_fits(const struct o2_transfer_result *result)
{
	const struct o2_transfer_fault *fault = &result->fault;

	if (fault->side == O2_FAULT_NONE)
		return result->health == O2_HEALTH_OK;
	if (fault->side == O2_FAULT_PEER_STATUS)
		return result->health == O2_HEALTH_REMOTE_ERROR;
	if (fault->side == O2_FAULT_LOCAL_STAGE && result->initiator && is_of_start(fault->error.rule))
		return result->health == O2_HEALTH_LOCAL_ERROR;
	if (fault->side == O2_FAULT_LOCAL_COMPLETION)
		return result->health == O2_HEALTH_REMOTE_DROPPED;
	if (fault->side != O2_FAULT_REJECTED && fault->side != O2_FAULT_CONNECT &&
	    (fault->side != O2_FAULT_DEADLINE || fault->wait != O2_WAIT_CONNECTION))
		return true;
	if (fault->code == -ETIMEDOUT || fault->code == -EHOSTUNREACH)
		return result->health == O2_HEALTH_NETWORK_TIMEOUT;
	return result->health ==
	       (fault->code == -ECONNREFUSED ? O2_HEALTH_REMOTE_DROPPED : O2_HEALTH_LOCAL_DROPPED);
}

/* Kind, side and, after success, the fragments of the sink. */
static bool is_described(const struct o2_nodes_op *op, const struct o2_transfer_result *result)
{
	static const enum o2_transfer_op ops[O2_NODES_KINDS] = {O2_OP_PUT, O2_OP_GET, O2_OP_SEND, O2_OP_SEND};
	const bool at_sink = (op->kind == O2_NODES_GET) == result->initiator;
	const struct o2_op_memory *sink = op->kind == O2_NODES_GET ? &op->ours : &op->theirs;

	return result->op == ops[op->kind] && result->side == (at_sink ? O2_SINK : O2_SOURCE) &&
	       (result->op == O2_OP_SEND || result->status != 0 || result->nob == 0 ||
		result->nfrags == o2_sim_memory_frags(sink));
}

static void check_end(struct o2_nodes_seat *seat, const struct o2_nodes_op *op, uint32_t with,
		      const struct o2_transfer_result *result)
{
	struct o2_nodes *nodes = seat->nodes;

	if (!is_described(op, result))
		o2_report_fail(nodes->report, "nodes/described",
			       "an operation of kind %d ends as one of kind %d, on side %d, with %" PRIu32
			       " fragments",
			       (int)op->kind, (int)result->op, (int)result->side, result->nfrags);
	if (!health_fits(result))
		o2_report_fail(nodes->report, "nodes/health",
			       "an operation with node %" PRIu32 " ends with %d, fault side %d, health %d",
			       with, result->status, (int)result->fault.side, (int)result->health);
	if (is_foretold(op, result)) {
		if (result->status == -EFBIG || result->status == -EMSGSIZE)
			o2_nodes_seen(nodes, O2_NODES_SEEN_TOO_MANY_FRAGS);
		return;
	}
	if (result->status >= 0 || result->nob != 0 || result->fault.code != result->status)
		fail_op(nodes, "nodes/outcome", op, result->status, result->nob);
	else
		o2_nodes_check_lost(seat, with, op, result->initiator, &result->fault);
}

static void count_modes(struct o2_nodes *nodes, const struct o2_nodes_op *op)
{
	static const enum o2_nodes_situation rows[] = {
		[O2_REG_GLOBAL] = O2_NODES_SEEN_GLOBAL,	  [O2_REG_FMR] = O2_NODES_SEEN_FMR,
		[O2_REG_FASTREG] = O2_NODES_SEEN_FASTREG, [O2_REG_USER] = O2_NODES_SEEN_USER,
		[O2_REG_PHYS] = O2_NODES_SEEN_PHYS,	  [O2_REG_FASTREG_GAPS] = O2_NODES_SEEN_FASTREG_GAPS};

	o2_nodes_seen(nodes, rows[op->ours.memory.mode]);
	o2_nodes_seen(nodes, rows[op->theirs.memory.mode]);
	if (op->ours.gapped || op->theirs.gapped)
		o2_nodes_seen(nodes, O2_NODES_SEEN_GAPS);
	if (op->verdict == O2_NODES_LESS)
		o2_nodes_seen(nodes,
			      op->kind == O2_NODES_PUT ? O2_NODES_SEEN_SHORT_PUT : O2_NODES_SEEN_SHORT_GET);
}

static void count_done(struct o2_nodes *nodes, const struct o2_nodes_op *op,
		       const struct o2_transfer_result *result)
{
	static const enum o2_nodes_situation kinds[O2_NODES_KINDS] = {
		O2_NODES_SEEN_PUT, O2_NODES_SEEN_GET, O2_NODES_SEEN_IMMEDIATE, O2_NODES_SEEN_IMMEDIATE};

	if (result->status == 0 && result->nob > 0) {
		o2_nodes_seen(nodes, kinds[op->kind]);
		if (op->kind < O2_NODES_IMMEDIATE)
			count_modes(nodes, op);
	}
	if (result->status == -ECONNREFUSED)
		o2_nodes_seen(nodes, O2_NODES_SEEN_REFUSED);
	if (result->status == -EPROTONOSUPPORT)
		o2_nodes_seen(nodes, O2_NODES_SEEN_GAPS_REFUSED);
	if (op->accepted && !is_foretold(op, result))
		o2_nodes_seen(nodes, O2_NODES_SEEN_LOST_UNDER_WAY);
}

static void check_bytes(struct o2_nodes *nodes, const struct o2_nodes_op *op, uint64_t nob, bool failed)
{
	const bool put = op->kind == O2_NODES_PUT;

	if (!nodes->report->failed)
		o2_memory_judge(put ? &op->theirs : &op->ours, put ? &op->ours : &op->theirs, nob, failed,
				nodes->report, "nodes/bytes");
}

/* Once the sink's end has ended, the bytes must be in place, as many as that end was told. */
static void judge_sink(struct o2_nodes *nodes, const struct o2_nodes_op *op)
{
	if (op->kind == O2_NODES_GET && op->ended > 0)
		check_bytes(nodes, op, op->nob, op->status != 0);
	if (op->kind == O2_NODES_PUT && op->ended_there > 0)
		check_bytes(nodes, op, op->nob, op->status_there != 0);
}

/* What is started from inside the end of an operation that waited is not closed with it, but connects again. */
static void start_again(struct o2_nodes_seat *seat, uint32_t to)
{
	struct o2_nodes_moment *now = &seat->now;

	if (!now->starts_again || to != now->with || seat->nops >= O2_NODES_OPS)
		return;
	now->starts_again = false;
	now->started_again = true;
	if (o2_nodes_start_plain(seat->nodes, seat, to, O2_REG_GLOBAL) != 0)
		o2_report_fail(seat->nodes->report, "nodes/start",
			       "node %" PRIu32 " cannot start anew what waited for node %" PRIu32,
			       seat->index, to);
	o2_nodes_seen(seat->nodes, O2_NODES_SEEN_INSIDE);
}

static void done_here(struct o2_nodes_seat *seat, struct o2_nodes_op *op,
		      const struct o2_transfer_result *result)
{
	struct o2_nodes *nodes = seat->nodes;

	op->ended++;
	op->status = result->status;
	op->ended_ms = nodes->ground.now_ms;
	count_done(nodes, op, result);
	check_end(seat, op, op->to, result);
	if (op->kind == O2_NODES_GET) {
		op->nob = result->nob;
		judge_sink(nodes, op);
	}
	/* The source is told only after the sink's device has all bytes. */
	if (op->kind == O2_NODES_PUT && result->status == 0 && result->nob > 0 &&
	    !o2_memory_comes_later(&op->theirs))
		check_bytes(nodes, op, result->nob, false);
	start_again(seat, op->to);
}

static void done_there(struct o2_nodes_seat *seat, struct o2_nodes_op *op, uint32_t from,
		       const struct o2_transfer_result *result)
{
	op->ended_there++;
	op->status_there = result->status;
	if (!op->accepted)
		fail_op(seat->nodes, "nodes/outcome", op, result->status, result->nob);
	check_end(seat, op, from, result);
	if (op->kind == O2_NODES_PUT) {
		op->nob = result->nob;
		judge_sink(seat->nodes, op);
	}
}

/* True if the result names an operation of this node, by its number, and the node that it goes to. */
static bool is_own(struct o2_nodes_seat *seat, uint64_t nid, const struct o2_transfer_result *result)
{
	if (result->tag < seat->nops && nid == o2_nodes_nid(seat->nodes, seat->op[result->tag].to))
		return true;
	o2_report_fail(seat->nodes->report, "nodes/stranger",
		       "node %" PRIu32 " is told that its operation %" PRIu64 " with NID 0x%" PRIx64
		       " has ended, which it has not started",
		       seat->index, result->tag, nid);
	return false;
}

static void done(void *context, uint64_t nid, const struct o2_transfer_result *result)
{
	struct o2_nodes_seat *seat = context;
	struct o2_nodes_op *op;

	if (result->initiator && result->tag == O2_NODES_SLOTS) {
		o2_nodes_burst_ends(seat, result);
		return;
	}
	if (result->initiator) {
		if (!is_own(seat, nid, result))
			return;
		done_here(seat, &seat->op[result->tag], result);
		return;
	}
	op = named(seat, nid, result->tag);
	if (op != NULL)
		done_there(seat, op, o2_nodes_index(seat->nodes, nid), result);
}

/* The end that the event is about has come up, with this node; it is told once. */
static void up(void *context, uint64_t nid)
{
	struct o2_nodes_seat *seat = context;
	const struct o2_nodes_end *end = seat->now.end;
	const uint32_t with = o2_nodes_index(seat->nodes, nid);

	if (end == NULL || !end->up || end->over || end->to != with || seat->now.told_up++ > 0)
		o2_report_fail(seat->nodes->report, "nodes/up",
			       "node %" PRIu32 " is told that a connection with NID 0x%" PRIx64
			       " has come up, which is none or another one",
			       seat->index, nid);
	if (with < seat->nodes->nseats)
		o2_nodes_check_up(seat, with);
}

static void down(void *context, uint64_t nid, const struct o2_transfer_fault *fault)
{
	struct o2_nodes_seat *seat = context;
	const uint32_t with = o2_nodes_index(seat->nodes, nid);

	seat->fault = *fault;
	if (with < seat->nodes->nseats)
		o2_nodes_check_down(seat, with, fault);
	else
		o2_report_fail(seat->nodes->report, "nodes/stranger",
			       "node %" PRIu32 " is told of the end of a connection with NID 0x%" PRIx64
			       ", which is nobody's",
			       seat->index, nid);
}

const struct o2_node_ops o2_nodes_ops = {
	.match = match,
	.receive = receive,
	.done = done,
	.up = up,
	.down = down,
};

/* Check that all have ended once and no sink has changed since.  After a failure its content is undefined. */
void o2_nodes_check_ended(struct o2_nodes *nodes)
{
	for (uint32_t i = 0; i < nodes->nseats; i++)
		for (uint32_t k = 0; k < nodes->seat[i].nops; k++) {
			const struct o2_nodes_op *op = &nodes->seat[i].op[k];

			if (op->ended != op->started)
				o2_report_fail(nodes->report, "nodes/ended",
					       "operation %" PRIu32 " of node %" PRIu32 " has ended %" PRIu32
					       " times",
					       k, i, op->ended);
			if (op->ended_there != op->accepted)
				o2_report_fail(nodes->report, "nodes/ended-there",
					       "operation %" PRIu32 " of node %" PRIu32 " has ended %" PRIu32
					       " times at node %" PRIu32,
					       k, i, op->ended_there, op->to);
			judge_sink(nodes, op);
		}
}
