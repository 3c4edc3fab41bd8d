/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "props/talk/sim_internal.h"

/* Operations: started by an end's application, and the callbacks that it answers (docs/simulation.md). */

#define REFUSED_WITH (-EACCES)
#define FLOOD_NOB    64u /* operations of a flood are shorter than this */

/* The header field that carries the operation's number to the other end. */
static uint64_t *number_in(struct o2_lnet_hdr *hdr)
{
	switch (hdr->type) {
	case O2_LNET_PUT:
		return &hdr->msg.put.match_bits;
	case O2_LNET_GET:
		return &hdr->msg.get.match_bits;
	case O2_LNET_ACK:
		return &hdr->msg.ack.match_bits;
	default:
		return &hdr->msg.reply.dst_wmd.wh_object_cookie;
	}
}

static struct o2_sim_op *op_of(struct o2_sim_end *there, const struct o2_lnet_hdr *hdr)
{
	struct o2_lnet_hdr copy = *hdr;
	uint64_t id = *number_in(&copy);

	return id < there->sim->nops && there->sim->op[id].end->other == there ? &there->sim->op[id] : NULL;
}

/* --- drawing --- */

static uint64_t draw_nob(struct o2_sim *sim, bool immediate)
{
	static const uint32_t sizes[] = {1, 64, 512, 4096, O2_SIM_MAX_NOB};
	static const uint32_t weights[] = {2, 8, 4, 4, 2};
	uint64_t most = sizes[o2_draw_weighted(sim->choice, weights, 5)];

	return o2_draw_range(sim->choice, immediate ? 0 : 1, most);
}

/* If windows are few, draw many operations that need one: longer than a page. */
static uint64_t draw_large_nob(struct o2_sim *sim)
{
	if (sim->small && o2_draw_bool(sim->choice, 1, 1))
		return o2_draw_range(sim->choice, 4097, O2_SIM_MAX_NOB);
	return draw_nob(sim, false);
}

static void draw_verdict(struct o2_sim *sim, struct o2_sim_op *op)
{
	static const uint32_t weights[O2_SIM_VERDICTS] = {40, 6, 2, 3, 2, 1, 0};
	uint32_t with_faults[O2_SIM_VERDICTS];

	memcpy(with_faults, weights, sizeof(weights));
	with_faults[O2_SIM_INSANE] = sim->faults ? 1 : 0;
	op->verdict = (enum o2_sim_verdict)o2_draw_weighted(sim->choice, with_faults, O2_SIM_VERDICTS);
	op->wanted = op->nob;
	if (op->verdict == O2_SIM_SHORT)
		op->wanted = o2_draw_range(sim->choice, 1, op->nob);
	else if (op->verdict == O2_SIM_LONGER)
		op->wanted = op->nob + 1;
	else if (op->verdict != O2_SIM_ACCEPT)
		op->wanted = 0;
}

/* Predict the other end's answer, as the status that both sides report. */
static int foretell_answer(const struct o2_sim *sim, const struct o2_sim_op *op, uint64_t *nob)
{
	bool put = op->op == O2_OP_PUT;
	const struct o2_op_memory *source = put ? &op->ours : &op->theirs;
	const struct o2_op_memory *sink = put ? &op->theirs : &op->ours;
	int rc;

	*nob = 0;
	if (op->verdict == O2_SIM_ZERO)
		return 0;
	if (op->verdict == O2_SIM_NO_MATCH)
		return put ? 0 : -ENODATA;
	if (op->verdict == O2_SIM_REFUSE)
		return REFUSED_WITH;
	if (op->verdict == O2_SIM_LONGER)
		return -EINVAL;
	rc = o2_sim_memory_refusal(op, &op->theirs);
	if (rc != 0)
		return rc;
	if (o2_sim_memory_wrs(sim, source, sink, op->wanted) > sim->config.max_frags)
		return -EMSGSIZE;
	*nob = op->wanted;
	return 0;
}

static void foretell(const struct o2_sim *sim, struct o2_sim_op *op)
{
	const struct o2_sim_end *end = op->end;

	op->done_nob = op->nob;
	op->code = 0;
	if (op->op != O2_OP_SEND)
		op->code = foretell_answer(sim, op, &op->done_nob);
	op->code_there = op->code;
	op->start_code = 0;
	if (op->op == O2_OP_SEND && op->nob > end->other->max_msg_bytes - O2_SIM_IMMEDIATE_HDR)
		op->start_code = -EMSGSIZE;
	else if (o2_conn_get_state(end->conn) != O2_CONN_ESTABLISHED)
		op->start_code = -ENOTCONN;
	else if (end->open >= sim->config.max_transfers)
		op->start_code = -EBUSY;
	else if (op->op != O2_OP_SEND)
		op->start_code = o2_sim_memory_refusal(op, &op->ours);
}

static bool draw_immediate(struct o2_sim *sim, struct o2_sim_op *op)
{
	static const uint32_t types[] = {O2_LNET_PUT, O2_LNET_GET, O2_LNET_ACK, O2_LNET_REPLY};
	static const uint32_t weights[] = {6, 1, 1, 2};

	op->lnet_type = types[o2_draw_weighted(sim->choice, weights, 4)];
	op->nob = draw_nob(sim, true);
	if (op->lnet_type == O2_LNET_GET || op->lnet_type == O2_LNET_ACK)
		op->nob = 0;
	if (!o2_sim_memory_draw(sim, op->end->node, op->nob, &op->ours))
		return false;
	op->as_bytes = !op->ours.gapped && !op->ours.scattered && o2_draw_bool(sim->choice, 1, 1);
	return true;
}

static bool draw(struct o2_sim *sim, struct o2_sim_op *op)
{
	static const enum o2_transfer_op ops[] = {O2_OP_SEND, O2_OP_PUT, O2_OP_GET};
	bool put;

	op->op = ops[o2_draw_weighted(sim->choice, sim->op_weight, 3)];
	if (op->op == O2_OP_SEND)
		return draw_immediate(sim, op);
	put = op->op == O2_OP_PUT;
	op->lnet_type = put && o2_draw_bool(sim->choice, 3, 1) ? O2_LNET_REPLY
			: put				       ? O2_LNET_PUT
							       : O2_LNET_GET;
	op->nob = draw_large_nob(sim);
	draw_verdict(sim, op);
	return o2_sim_memory_draw(sim, op->end->node, op->nob, &op->ours) &&
	       (op->wanted == 0 || o2_sim_memory_draw(sim, op->end->other->node, op->wanted, &op->theirs));
}

/* --- starting --- */

static int call(struct o2_sim_op *op, struct o2_error *error)
{
	struct o2_conn *conn = op->end->conn;
	struct o2_lnet_hdr hdr = o2_conn_lnet_hdr(conn, (enum o2_lnet_type)op->lnet_type, 0, op->nob);
	const struct o2_sim_node *node = &op->end->sim->node[op->end->node];

	o2_error_clear(error);
	*number_in(&hdr) = op->id;
	op->ours.memory.tag = op->id;
	if (op->op == O2_OP_PUT)
		return o2_conn_put(conn, &hdr, &op->ours.memory, &op->told, error);
	if (op->op == O2_OP_GET)
		return o2_conn_get(conn, &hdr, &op->ours.memory, &op->told, error);
	if (!op->as_bytes)
		return o2_conn_send(conn, &hdr, &op->ours.memory, &op->told, error);
	return o2_conn_send_bytes(conn, &hdr,
				  op->nob == 0 ? NULL
					       : o2_arena_page(&node->place->ni.arena, op->ours.first_page) +
							 op->ours.kiov[0].offset,
				  (uint32_t)op->nob, op->id, &op->told, error);
}

void o2_sim_op_launch(struct o2_sim *sim, struct o2_sim_op *op)
{
	struct o2_sim_end *end = op->end;
	struct o2_sim_end *acting = sim->acting;
	struct o2_error error;
	int code;

	foretell(sim, op);
	op->started = true;
	end->open++;
	o2_sim_stand_due(op, end);
	o2_sim_works_on(sim, end, op);
	sim->acting = end;
	code = call(op, &error);
	sim->acting = acting;
	o2_sim_log(sim, O2_SIM_EV_START, end, op->id, code);
	if (code != 0) {
		op->started = false;
		end->open--;
		o2_sim_fault_reason(sim, &error);
	} else {
		sim->run->operations++;
	}
	o2_sim_judge_start(sim, op, code, &error);
}

void o2_sim_op_add(struct o2_sim *sim, struct o2_sim_op *op)
{
	o2_sim_memory_fill(op);
	sim->nops++;
	o2_sim_op_launch(sim, op);
}

bool o2_sim_op_start(struct o2_sim *sim, struct o2_sim_end *end)
{
	struct o2_sim_op *op = &sim->op[sim->nops];

	if (sim->nops == sim->most_ops || !o2_sim_ok(sim))
		return false;
	*op = (struct o2_sim_op){.id = sim->nops, .end = end, .since_ms = sim->now_ms};
	if (!draw(sim, op))
		return false;
	o2_sim_op_add(sim, op);
	return true;
}

/* Start an operation like *first, accepted in full, without drawing.  False: no room for it. */
static bool start_like(struct o2_sim *sim, const struct o2_sim_op *first)
{
	struct o2_sim_op *op = &sim->op[sim->nops];

	if (sim->nops == sim->most_ops || !o2_sim_ok(sim))
		return false;
	*op = (struct o2_sim_op){
		.id = sim->nops,
		.op = first->op,
		.lnet_type = first->lnet_type,
		.end = first->end,
		.nob = first->nob % FLOOD_NOB,
		.wanted = first->nob % FLOOD_NOB,
		.since_ms = sim->now_ms,
	};
	if (op->op != O2_OP_SEND && op->nob == 0)
		op->nob = op->wanted = 1;
	if (!o2_sim_memory_make(sim, op->end->node, op->nob, O2_REG_GLOBAL, 0, &op->ours) ||
	    (op->op != O2_OP_SEND &&
	     !o2_sim_memory_make(sim, op->end->other->node, op->wanted, O2_REG_GLOBAL, 0, &op->theirs)))
		return false;
	o2_sim_op_add(sim, op);
	return true;
}

void o2_sim_op_flood(struct o2_sim *sim, struct o2_sim_end *end, uint32_t count)
{
	const uint32_t first = sim->nops;

	if (!o2_sim_op_start(sim, end))
		return;
	while (count-- > 0 && end->conn != NULL && start_like(sim, &sim->op[first]))
		;
}

/* --- what the ends are asked and told --- */

static int answer(struct o2_sim_op *op, struct o2_transfer_memory *memory)
{
	switch (op->verdict) {
	case O2_SIM_NO_MATCH:
		return -ENODATA;
	case O2_SIM_REFUSE:
		return REFUSED_WITH;
	case O2_SIM_INSANE:
		return -EPROTO;
	default:
		break;
	}
	*memory = op->theirs.memory;
	if (op->wanted == 0)
		memory->buffer.nob = 0;
	memory->tag = op->id;
	op->matched = true;
	return 0;
}

/* Perhaps close the connection from inside a callback.  True: it was up and this call closed it. */
static bool close_inside(struct o2_sim_end *end)
{
	struct o2_sim *sim = end->sim;
	const bool up = o2_conn_get_state(end->conn) == O2_CONN_ESTABLISHED;

	if (!sim->close_inside)
		return false;
	sim->close_inside = false;
	if (up)
		o2_sim_seen(sim, O2_SIM_SEEN_CLOSED_INSIDE);
	o2_sim_is_closed(end, -ESHUTDOWN);
	o2_sim_log(sim, O2_SIM_EV_CLOSE, end, 0, -ESHUTDOWN);
	o2_conn_close(end->conn, -ESHUTDOWN);
	return up;
}

/* Requests are shown in the order of sending, even those that had to wait (docs/transport.md, "Receiving"). */
static void is_shown(struct o2_sim_end *end, const struct o2_sim_op *op)
{
	if (op->place != ++end->other->shown)
		o2_report_fail(end->sim->report, "sim/overtaken",
			       "end %" PRIu32 " is shown operation %" PRIu32 ", sent in place %" PRIu32
			       ", in place %" PRIu32,
			       end->index, op->id, op->place, end->other->shown);
}

static int match(void *context, const struct o2_msg *request, uint64_t sink_bytes,
		 struct o2_transfer_memory *memory)
{
	struct o2_sim_end *end = context;
	struct o2_sim *sim = end->sim;
	bool put = request->ibm_type == O2_MSG_PUT_REQ;
	const struct o2_lnet_hdr *hdr = put ? &request->u.putreq.hdr : &request->u.get.hdr;
	struct o2_sim_op *op = op_of(end, hdr);
	int rc;

	if (op == NULL && end->forged)
		return -ENODATA;
	if (op == NULL || !op->started || op->op != (put ? O2_OP_PUT : O2_OP_GET) ||
	    op->since_there_ms != 0 || op->nob != (put ? hdr->payload_length : sink_bytes)) {
		o2_report_fail(sim->report, "sim/match", "end %" PRIu32 " is asked for what nobody asked for",
			       end->index);
		return -ENODATA;
	}
	is_shown(end, op);
	op->since_there_ms = sim->now_ms;
	o2_sim_stand_due(op, end);
	o2_sim_works_on(sim, end, op);
	rc = answer(op, memory);
	if (close_inside(end) && rc == 0) {
		op->closed_by_match = true;
		o2_sim_seen(sim, O2_SIM_SEEN_CLOSED_BY_MATCH);
	}
	o2_sim_log(sim, O2_SIM_EV_MATCHED, end, op->id, rc);
	if (rc != 0 && end->silent_since_ms == 0)
		end->silent_since_ms = sim->now_ms;
	if (rc == -EPROTO)
		o2_sim_may_close(end, O2_FAULT_PEER_MESSAGE, rc, "conn/lnet-header");
	return rc;
}

/* The application acts from inside a callback: starts an operation, or closes. */
static void inside(struct o2_sim_end *end)
{
	struct o2_sim *sim = end->sim;

	(void)close_inside(end);
	if (sim->inside_left == 0)
		return;
	sim->inside_left--;
	if (o2_sim_op_start(sim, end))
		o2_sim_seen(sim, O2_SIM_SEEN_FROM_INSIDE);
}

static int receive(void *context, const struct o2_msg *msg)
{
	struct o2_sim_end *end = context;
	struct o2_sim *sim = end->sim;
	const struct o2_lnet_hdr *hdr = &msg->u.immediate.hdr;
	struct o2_sim_op *op = op_of(end, hdr);

	if (op == NULL && end->forged)
		return 0;
	if (op == NULL || !op->started || op->op != O2_OP_SEND || op->received ||
	    hdr->payload_length != op->nob) {
		o2_report_fail(sim->report, "sim/receive", "end %" PRIu32 " receives what nobody sent",
			       end->index);
		return 0;
	}
	is_shown(end, op);
	op->received = true;
	o2_sim_log(sim, O2_SIM_EV_RECEIVED, end, op->id, 0);
	if (!o2_memory_equals(&op->ours, msg->u.immediate.payload, op->nob))
		o2_report_fail(sim->report, "sim/payload",
			       "operation %" PRIu32 ": the payload that arrives is not the one that was sent",
			       op->id);
	inside(end);
	return 0;
}

/* In the kernel's order a key stays valid until its descriptor's next chain. */
static bool lives_on(const struct o2_sim_end *end, const struct o2_op_memory *sink)
{
	return sink->memory.mode == O2_REG_FASTREG && end->sim->node[end->node].place->ni.domain.fast != NULL;
}

/* Check that the device admits no later write with this key, unless the key stays valid by design. */
static void check_key(struct o2_sim_end *end, const struct o2_sim_op *op, const struct o2_op_memory *sink)
{
	struct o2_sim *sim = end->sim;

	bool admitted;

	if (op->key == 0 || sink->memory.mode == O2_REG_GLOBAL)
		return;
	admitted = o2_loop_admits_write(end->qp_num, op->key, op->key_addr, 1);
	if (admitted && lives_on(end, sink))
		o2_sim_seen(sim, O2_SIM_SEEN_KEY_LEFT_ALIVE);
	else if (!admitted)
		o2_sim_seen(sim, O2_SIM_SEEN_LATE_WRITE_REFUSED);
	else
		o2_report_fail(sim->report, "sim/late-write",
			       "operation %" PRIu32 " has ended, and its key still admits writes", op->id);
}

static void done(void *context, const struct o2_transfer_result *result)
{
	struct o2_sim_end *end = context;
	struct o2_sim *sim = end->sim;
	struct o2_sim_op *op = result->tag < sim->nops ? &sim->op[result->tag] : NULL;
	bool ours = result->initiator;
	bool *ended;

	if (op == NULL || result->op != op->op || (ours ? op->end : op->end->other) != end ||
	    !(ours ? op->started && result->cookie == op->told : op->matched)) {
		o2_report_fail(sim->report, "sim/done",
			       "end %" PRIu32
			       ": done for an operation that is not open, or has another cookie",
			       end->index);
		return;
	}
	ended = ours ? &op->ended : &op->ended_there;
	o2_sim_log(sim, ours ? O2_SIM_EV_ENDED : O2_SIM_EV_ENDED_THERE, end, op->id, result->status);
	if (*ended)
		o2_report_fail(sim->report, "sim/done-twice", "operation %" PRIu32 " ends twice %s", op->id,
			       ours ? "at its initiator" : "at the other end");
	*ended = true;
	end->open -= ours;
	o2_sim_judge_end(sim, end, op, result);
	if (result->side == O2_SINK)
		check_key(end, op, ours ? &op->ours : &op->theirs);
	inside(end);
}

static void closed(void *context, const struct o2_transfer_fault *fault)
{
	struct o2_sim_end *end = context;

	end->fault = *fault;
	o2_sim_log(end->sim, O2_SIM_EV_CLOSED, end, 0, fault->code);
	o2_sim_judge_closed(end->sim, end);
}

const struct o2_conn_ops o2_sim_conn_ops = {
	.match = match,
	.receive = receive,
	.done = done,
	.closed = closed,
};
