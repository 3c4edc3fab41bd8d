/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <string.h>

#include "props/talk/sim_internal.h"
#include "wire/layout.h"

/*
 * What is seen on the fabric.  Nothing of the library's codec is used: a byte or a number at its place
 * (docs/wire.md), in the sender's order.
 */

static uint64_t number(const uint8_t *bytes, uint32_t at, uint32_t width, bool big)
{
	uint64_t value = 0;

	for (uint32_t i = 0; i < width; i++)
		value |= (uint64_t)bytes[at + i] << 8 * (big ? width - 1 - i : i);
	return value;
}

/* An operation between these two whose cookie this is; started: by `from`. */
static struct o2_sim_op *by_cookie(struct o2_sim_end *initiator, uint64_t cookie, bool of_ack)
{
	struct o2_sim *sim = initiator->sim;

	for (uint32_t i = sim->nops; i-- > 0;) {
		struct o2_sim_op *op = &sim->op[i];

		if (op->end == initiator && (of_ack ? op->acknowledged : op->requested) &&
		    (of_ack ? op->cookie_there : op->cookie) == cookie)
			return op;
	}
	return NULL;
}

/* The key that a sink describes itself with. */
static void see_descriptor(struct o2_sim_op *op, const uint8_t *bytes, uint32_t at, bool big)
{
	op->key = (uint32_t)number(bytes, at + O2_DESC_AT_KEY, 4, big);
	op->key_addr = number(bytes, at + O2_DESC_AT_FRAGS + O2_FRAG_AT_ADDR, 8, big);
}

static uint32_t see_request(struct o2_sim_end *from, const uint8_t *bytes, uint8_t type, bool big)
{
	struct o2_sim *sim = from->sim;
	uint32_t lnet_type = (uint32_t)number(bytes, O2_AT_LNET_HDR + O2_LNET_AT_TYPE, 4, false);
	/* Where number_in() of sim_op.c puts it: behind a handle, or in the second half of one. */
	uint32_t at = lnet_type == O2_LNET_REPLY ? 8 : 16;
	uint64_t id = number(bytes, O2_AT_LNET_HDR + O2_LNET_AT_UNION + at, 8, false);
	struct o2_sim_op *op = id < sim->nops ? &sim->op[id] : NULL;

	/* A request may be seen from inside the call that starts it, when it is the newest of all. */
	if (op == NULL)
		return O2_SIM_OPS;
	op->requested = true;
	op->cookie = number(bytes, O2_AT_PUT_REQ_COOKIE, 8, false);
	if (type == O2_MSG_GET_REQ)
		see_descriptor(op, bytes, O2_AT_GET_REQ_DESC, big);
	return op->id;
}

static uint32_t see_ack(struct o2_sim_end *from, const uint8_t *bytes, bool big)
{
	struct o2_sim_op *op = by_cookie(from->other, number(bytes, O2_AT_SRC_COOKIE, 8, false), false);

	if (op == NULL)
		return O2_SIM_OPS;
	op->acknowledged = true;
	op->cookie_there = number(bytes, O2_AT_DST_COOKIE, 8, false);
	see_descriptor(op, bytes, O2_AT_PUT_ACK_DESC, big);
	return op->id;
}

/* PUT_DONE goes the way of its request and has the cookie of the PUT_ACK; the others answer the request. */
static uint32_t see_status(struct o2_sim_end *from, const uint8_t *bytes, uint8_t type, bool big)
{
	uint64_t cookie = number(bytes, O2_AT_COMPLETION_COOKIE, 8, false);
	bool put_done = type == O2_MSG_PUT_DONE;
	struct o2_sim_op *op = by_cookie(put_done ? from : from->other, cookie, put_done);

	if (op == NULL)
		return O2_SIM_OPS;
	op->status_sent = true;
	op->wire_status = (int32_t)(uint32_t)number(bytes, O2_AT_STATUS, 4, big);
	return op->id;
}

/* What a message of this type has in front of its payload or of its fragments (docs/wire.md). */
static uint64_t fixed_bytes(uint8_t type)
{
	switch (type) {
	case O2_MSG_IMMEDIATE:
		return O2_AT_PAYLOAD;
	case O2_MSG_PUT_REQ:
		return O2_AT_PUT_REQ_COOKIE + 8;
	case O2_MSG_PUT_ACK:
		return O2_AT_PUT_ACK_DESC + O2_DESC_AT_FRAGS;
	case O2_MSG_GET_REQ:
		return O2_AT_GET_REQ_DESC + O2_DESC_AT_FRAGS;
	case O2_MSG_PUT_NAK:
	case O2_MSG_PUT_DONE:
	case O2_MSG_GET_DONE:
		return O2_AT_STATUS + 4;
	default:
		return O2_MSG_HEADER_BYTES;
	}
}

/*
 * A message says that it is as long as what it holds, and not longer.  length: of its first piece, which is all
 * of it unless a payload is gathered.
 */
static void check_length(const struct o2_sim_end *from, const uint8_t *bytes, uint64_t length, bool big)
{
	const uint8_t type = bytes[O2_AT_TYPE];
	const uint32_t desc_at = type == O2_MSG_PUT_ACK ? O2_AT_PUT_ACK_DESC : O2_AT_GET_REQ_DESC;
	const uint64_t nob = number(bytes, O2_AT_NOB, 4, big);
	uint64_t holds = fixed_bytes(type);

	if (length >= holds && type == O2_MSG_IMMEDIATE)
		holds += number(bytes, O2_AT_LNET_HDR + O2_LNET_AT_PAYLOAD_LENGTH, 4, false);
	else if (length >= holds && (type == O2_MSG_PUT_ACK || type == O2_MSG_GET_REQ))
		holds += number(bytes, desc_at + O2_DESC_AT_NFRAGS, 4, big) * O2_FRAG_BYTES;
	if (nob != holds || (type != O2_MSG_IMMEDIATE && length != holds))
		o2_report_fail(from->sim->report, "sim/message-length",
			       "end %" PRIu32 " sends a message of type 0x%x that says %" PRIu64
			       " bytes and holds %" PRIu64,
			       from->index, type, nob, holds);
}

static void remember(struct o2_sim_wire *wire, uint8_t type, uint8_t credits, uint32_t op)
{
	wire->on_the_way[(wire->first + wire->count) % O2_SIM_ON_THE_WAY] =
		(struct o2_sim_message){type, credits, op};
	wire->count++;
}

static bool costs_credit(uint16_t version, uint8_t type)
{
	return type == O2_MSG_IMMEDIATE || type == O2_MSG_PUT_REQ || type == O2_MSG_GET_REQ ||
	       (type == O2_MSG_NOOP && version == O2_MSG_VERSION_1);
}

void o2_sim_tap(void *arg, uint32_t from_qp, uint32_t to_qp, const uint8_t *bytes, uint64_t length)
{
	struct o2_sim *sim = arg;
	struct o2_sim_end *from = o2_sim_end_of_qp(sim, from_qp);
	uint32_t op = O2_SIM_OPS;
	uint8_t type, credits;
	bool big;

	(void)to_qp;
	if (from == NULL || length < O2_MSG_HEADER_BYTES)
		return;
	type = bytes[O2_AT_TYPE];
	credits = bytes[O2_AT_CREDITS];
	big = bytes[0] == 0x0b;
	if (!from->other->forged)
		check_length(from, bytes, length, big);
	if (type == O2_MSG_PUT_REQ || type == O2_MSG_GET_REQ)
		op = see_request(from, bytes, type, big);
	else if (type == O2_MSG_PUT_ACK)
		op = see_ack(from, bytes, big);
	else if (type == O2_MSG_PUT_NAK || type == O2_MSG_PUT_DONE || type == O2_MSG_GET_DONE)
		op = see_status(from, bytes, type, big);
	from->wire.messages++;
	from->wire.credits += credits;
	from->wire.noops += type == O2_MSG_NOOP;
	from->wire.credit_messages += costs_credit(sim->config.version, type);
	remember(&from->wire, type, credits, op);
	o2_sim_log(sim, O2_SIM_EV_MESSAGE, from, type, credits);
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
		/* The deadline of a PUT begins anew with its bytes. */
		if (message->type == O2_MSG_PUT_ACK && message->op < O2_SIM_OPS)
			end->sim->op[message->op].since_ms = end->sim->now_ms;
		wire->first = (wire->first + 1) % O2_SIM_ON_THE_WAY;
		wire->count--;
	}
}
