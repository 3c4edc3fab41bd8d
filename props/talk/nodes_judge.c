/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "props/talk/nodes_internal.h"

/* What a node is asked and told about operations, and whether that is what it should be. */

/* docs/connection.md, "Times": an attempt has a quarter of the time-out, but so much; who waits, so much more. */
#define ATTEMPT_MIN_MS	 5000u
#define WAITING_EXTRA_MS 10000u

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

/* The operation that match bits name; NULL, and a finding: none that could have come here. */
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

/* An operation may come to its other end once. */
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
	struct o2_nodes_op *op = named(seat, nid, hdr->msg.put.match_bits);

	if (op == NULL || !arrives(seat, op))
		return 0;
	if (hdr->payload_length != op->bytes)
		fail_op(seat->nodes, "nodes/length", op, 0, hdr->payload_length);
	else if (!o2_memory_equals(&op->ours, msg->u.immediate.payload, op->bytes))
		fail_op(seat->nodes, "nodes/bytes", op, 0, op->bytes);
	if (op->kind != O2_NODES_REFUSED)
		return 0;
	o2_nodes_seen(seat->nodes, O2_NODES_SEEN_HEADER_REFUSED);
	return -EPROTO;
}

/* What docs/connection.md and docs/transport.md let any operation end with, because its connection did. */
static bool lost(int status)
{
	static const int codes[] = {-EHOSTUNREACH, -ECONNREFUSED, -ENETDOWN,	 -ENOTCONN,
				    -ECONNRESET,   -ETIMEDOUT,	  -ECONNABORTED, -EIO};

	for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++)
		if (codes[i] == status)
			return true;
	return false;
}

/* Fragments of a sink that are too many for the connection, or work requests that lead there. */
static bool too_many(const struct o2_nodes_op *op, int status)
{
	const struct o2_op_memory *sink = op->kind == O2_NODES_PUT ? &op->theirs : &op->ours;

	if (status == -EFBIG)
		return sink->npieces > op->max_frags;
	return status == -EMSGSIZE && op->ours.npieces + op->theirs.npieces > op->max_frags;
}

static bool may_end(struct o2_nodes *nodes, const struct o2_nodes_op *op,
		    const struct o2_transfer_result *result)
{
	uint64_t due;
	int foretold = o2_nodes_foretell(op, &due);

	if (result->status == foretold)
		return result->nob == due;
	if (result->nob != 0)
		return false;
	if (too_many(op, result->status)) {
		o2_nodes_seen(nodes, O2_NODES_SEEN_TOO_MANY_FRAGS);
		return true;
	}
	return lost(result->status);
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
	if (op->accepted && lost(result->status))
		o2_nodes_seen(nodes, O2_NODES_SEEN_LOST_UNDER_WAY);
}

static void check_bytes(struct o2_nodes *nodes, const struct o2_nodes_op *op, uint64_t nob, bool failed)
{
	const bool put = op->kind == O2_NODES_PUT;

	if (!nodes->report->failed)
		o2_memory_judge(put ? &op->theirs : &op->ours, put ? &op->ours : &op->theirs, nob, failed,
				nodes->report, "nodes/bytes");
}

/* The sink's bytes are there when the sink's end has ended; what it was told is what is there. */
static void judge_sink(struct o2_nodes *nodes, const struct o2_nodes_op *op)
{
	if (op->kind == O2_NODES_GET && op->ended > 0)
		check_bytes(nodes, op, op->nob, op->status != 0);
	if (op->kind == O2_NODES_PUT && op->ended_there > 0)
		check_bytes(nodes, op, op->nob, op->status_there != 0);
}

/* The least time after which an operation can be too late: for want of a connection, or upon one. */
static uint64_t patience_ms(const struct o2_node_config *config)
{
	const uint64_t timeout_ms = config->conn.timeout_ms;
	const uint64_t attempt_ms = timeout_ms / 4 > ATTEMPT_MIN_MS ? timeout_ms / 4 : ATTEMPT_MIN_MS;
	const uint64_t waiting_ms = attempt_ms + WAITING_EXTRA_MS;

	return timeout_ms != 0 && timeout_ms < waiting_ms ? timeout_ms : waiting_ms;
}

static void done_here(struct o2_nodes_seat *seat, struct o2_nodes_op *op,
		      const struct o2_transfer_result *result)
{
	struct o2_nodes *nodes = seat->nodes;
	bool staged = op->theirs.memory.mode == O2_REG_FASTREG_GAPS;

	op->ended++;
	op->status = result->status;
	count_done(nodes, op, result);
	if (!may_end(nodes, op, result))
		fail_op(nodes, "nodes/outcome", op, result->status, result->nob);
	if (result->status == -ETIMEDOUT &&
	    nodes->ground.now_ms - op->started_ms < patience_ms(&seat->config))
		o2_report_fail(nodes->report, "nodes/too-soon",
			       "an operation of node %" PRIu32 " is given up after %" PRIu64 " ms",
			       seat->index, nodes->ground.now_ms - op->started_ms);
	if (op->kind == O2_NODES_GET) {
		op->nob = result->nob;
		judge_sink(nodes, op);
	}
	/* The source hears of it when the sink's device has all; but a staged sink still has to copy it. */
	if (op->kind == O2_NODES_PUT && result->status == 0 && result->nob > 0 && !staged)
		check_bytes(nodes, op, result->nob, false);
}

static void done_there(struct o2_nodes_seat *seat, struct o2_nodes_op *op,
		       const struct o2_transfer_result *result)
{
	op->ended_there++;
	op->status_there = result->status;
	if (!op->accepted || !may_end(seat->nodes, op, result))
		fail_op(seat->nodes, "nodes/outcome", op, result->status, result->nob);
	if (op->kind == O2_NODES_PUT) {
		op->nob = result->nob;
		judge_sink(seat->nodes, op);
	}
}

static void done(void *context, uint64_t nid, const struct o2_transfer_result *result)
{
	struct o2_nodes_seat *seat = context;
	struct o2_nodes_op *op;

	if (result->initiator) {
		done_here(seat, &seat->op[result->tag], result);
		return;
	}
	op = named(seat, nid, result->tag);
	if (op != NULL)
		done_there(seat, op, result);
}

static void up(void *context, uint64_t nid)
{
	o2_nodes_check_up(context, nid);
}

static void down(void *context, uint64_t nid, const struct o2_transfer_fault *fault)
{
	(void)nid;
	((struct o2_nodes_seat *)context)->fault = *fault;
}

const struct o2_node_ops o2_nodes_ops = {
	.match = match,
	.receive = receive,
	.done = done,
	.up = up,
	.down = down,
};

/* And no byte of a sink has changed since, unless its operation failed: nobody then knows of its bytes. */
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
