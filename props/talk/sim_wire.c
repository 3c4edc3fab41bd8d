/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "props/model/wire_model.h"
#include "props/talk/sim_internal.h"
#include "props/talk/wrap/alloc_fault.h"
#include "wire/layout.h"

/*
 * Interprets messages seen on the fabric.  The library's codec is not used: values are read at their offsets
 * (docs/wire.md), in the sender's order.
 */

/* The operation that `initiator` started on this connection and that has this cookie. */
static struct o2_sim_op *by_cookie(struct o2_sim_end *initiator, uint64_t cookie, bool of_ack)
{
	struct o2_sim *sim = initiator->sim;

	for (uint32_t i = sim->nops; i-- > 0;) {
		struct o2_sim_op *op = &sim->op[i];

		if (op->end == initiator && (of_ack ? op->acknowledged : op->requested) &&
		    op->op != O2_OP_SEND && (of_ack ? op->cookie_there : op->cookie) == cookie)
			return op;
	}
	return NULL;
}

/* The operation by the number in its LNet header, where number_in() of sim_op.c puts it. */
static struct o2_sim_op *by_number(struct o2_sim_end *from, const uint8_t *bytes)
{
	struct o2_sim *sim = from->sim;
	uint32_t lnet_type = (uint32_t)o2_wm_load(bytes + O2_AT_LNET_HDR + O2_LNET_AT_TYPE, 4, true);
	uint32_t at = lnet_type == O2_LNET_REPLY ? 8 : 16;
	uint64_t id = o2_wm_load(bytes + O2_AT_LNET_HDR + O2_LNET_AT_UNION + at, 8, true);

	/* A request may be seen inside the call that starts it; its operation is then the newest. */
	return id < sim->nops && sim->op[id].end == from ? &sim->op[id] : NULL;
}

struct o2_sim_op *o2_sim_op_of(struct o2_sim_end *from, const uint8_t *bytes, uint64_t length, uint8_t type)
{
	switch (type) {
	case O2_MSG_IMMEDIATE:
	case O2_MSG_PUT_REQ:
	case O2_MSG_GET_REQ:
		return length < O2_AT_PAYLOAD ? NULL : by_number(from, bytes);
	case O2_MSG_PUT_ACK:
		return by_cookie(from->other, o2_wm_load(bytes + O2_AT_SRC_COOKIE, 8, true), false);
	case O2_MSG_PUT_DONE: /* travels in its request's direction, with the cookie of the PUT_ACK */
		return by_cookie(from, o2_wm_load(bytes + O2_AT_COMPLETION_COOKIE, 8, true), true);
	case O2_MSG_PUT_NAK:
	case O2_MSG_GET_DONE:
		return by_cookie(from->other, o2_wm_load(bytes + O2_AT_COMPLETION_COOKIE, 8, true), false);
	default:
		return NULL;
	}
}

/* Note the key in a sink's descriptor. */
static void note_descriptor(struct o2_sim_op *op, const uint8_t *bytes, uint32_t at, bool big)
{
	uint64_t frags;

	op->key = (uint32_t)o2_wm_load(bytes + at + O2_DESC_AT_KEY, 4, !big);
	op->key_addr = o2_wm_load(bytes + at + O2_DESC_AT_FRAGS + O2_FRAG_AT_ADDR, 8, !big);
	frags = o2_wm_load(bytes + at + O2_DESC_AT_NFRAGS, 4, !big);
	op->frags = (uint32_t)frags;
	if (frags >= O2_MEMORY_PIECES - 2 && frags <= O2_MEMORY_PIECES)
		o2_sim_seen(op->end->sim, O2_SIM_SEEN_FRAGS_257 - (O2_MEMORY_PIECES - (uint32_t)frags));
}

/* Note what a message shows of its operation.  True: such a message was seen before. */
static bool note(struct o2_sim_op *op, const uint8_t *bytes, uint8_t type, bool big)
{
	bool *seen = &op->status_sent;

	if (type == O2_MSG_IMMEDIATE || type == O2_MSG_PUT_REQ || type == O2_MSG_GET_REQ)
		seen = &op->requested;
	else if (type == O2_MSG_PUT_ACK)
		seen = &op->acknowledged;
	if (*seen)
		return true;
	*seen = true;
	if (type == O2_MSG_PUT_REQ || type == O2_MSG_GET_REQ)
		op->cookie = o2_wm_load(bytes + O2_AT_PUT_REQ_COOKIE, 8, true);
	if (type == O2_MSG_GET_REQ)
		note_descriptor(op, bytes, O2_AT_GET_REQ_DESC, big);
	if (type == O2_MSG_PUT_ACK) {
		op->cookie_there = o2_wm_load(bytes + O2_AT_DST_COOKIE, 8, true);
		note_descriptor(op, bytes, O2_AT_PUT_ACK_DESC, big);
	}
	if (seen == &op->status_sent)
		op->wire_status = (int32_t)(uint32_t)o2_wm_load(bytes + O2_AT_STATUS, 4, !big);
	return false;
}

static void remember(struct o2_sim_wire *wire, uint8_t type, uint8_t credits, uint32_t op)
{
	wire->on_the_way[(wire->first + wire->count) % O2_SIM_ON_THE_WAY] =
		(struct o2_sim_message){type, credits, op};
	wire->count++;
}

static void tell_witness(const struct o2_sim_end *from, const struct o2_loop_seen *seen)
{
	uint32_t held;

	if (from->forged || from->other->forged)
		return;
	held = o2_alloc_fault_hold();
	o2_witness_hear(from->sim->witness, seen);
	o2_alloc_fault_go_on(held);
}

void o2_sim_tap(void *arg, const struct o2_loop_seen *seen)
{
	const uint8_t *bytes = seen->bytes;
	const uint64_t length = seen->bytes_seen;
	struct o2_sim *sim = arg;
	struct o2_sim_end *from = o2_sim_end_of_qp(sim, seen->from_qp);
	struct o2_seen_message message;
	struct o2_sim_op *op;
	uint8_t type, credits;
	bool big, again;

	if (from == NULL)
		return;
	tell_witness(from, seen);
	/* After a failure, and for RDMA writes, messages are not interpreted. */
	if (!o2_sim_ok(sim) || seen->is_write || length < O2_MSG_HEADER_BYTES)
		return;
	o2_seen_message(bytes, &message);
	o2_receives_arrive(&from->other->receives, sim->config.version, &message);
	type = message.type;
	credits = message.credits;
	big = bytes[0] == 0x0b;
	op = o2_sim_op_of(from, bytes, length, type);
	again = op != NULL && note(op, bytes, type, big);
	if (!from->other->forged && !from->forged)
		o2_sim_check_fields(from, bytes, length, op, again);
	from->wire.messages++;
	from->wire.credits += credits;
	from->wire.noops += type == O2_MSG_NOOP;
	from->wire.credit_messages += o2_seen_costs(sim->config.version, type);
	remember(&from->wire, type, credits, op == NULL ? O2_SIM_OPS : op->id);
	o2_sim_log(sim, O2_SIM_EV_MESSAGE, from, type, credits);
	if (credits > INT8_MAX)
		o2_sim_seen(sim, O2_SIM_SEEN_MANY_CREDITS);
	if (from->wire.count >= UINT8_MAX)
		o2_sim_seen(sim, O2_SIM_SEEN_MANY_MESSAGES);
	if (type == O2_MSG_NOOP)
		o2_sim_seen(sim, sim->config.version == O2_MSG_VERSION_1 ? O2_SIM_SEEN_NOOP_V1
									 : O2_SIM_SEEN_NOOP_V2);
}

void o2_sim_wire_handled(struct o2_sim_end *end, uint32_t count)
{
	struct o2_sim_wire *wire = &end->other->wire;

	while (count-- > 0 && wire->count > 0) {
		const struct o2_sim_message *message = &wire->on_the_way[wire->first];

		wire->handled_credits += message->credits;
		/* The deadline of a PUT restarts when its PUT_ACK is handled. */
		if (message->type == O2_MSG_PUT_ACK && message->op < O2_SIM_OPS)
			end->sim->op[message->op].since_ms = end->sim->now_ms;
		if (message->op < O2_SIM_OPS)
			o2_sim_stand_heard(end, message->type, &end->sim->op[message->op]);
		wire->first = (wire->first + 1) % O2_SIM_ON_THE_WAY;
		wire->count--;
	}
}
