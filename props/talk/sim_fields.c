/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "props/model/wire_model.h"
#include "props/talk/sim_internal.h"
#include "wire/layout.h"

/*
 * Checks every field of every message against what the case has drawn and what has happened (docs/wire.md,
 * "Header", "Bodies").  Nothing of the library's codec is used.
 */

#define PAGE_BYTES 4096u
#define LNET_PID   12345u

struct seen {
	struct o2_sim *sim;
	const struct o2_sim_end *from;
	const uint8_t *bytes;
	uint64_t length; /* bytes of the first gather entry */
	bool big;
};

static uint64_t number(const struct seen *m, uint32_t at, uint32_t width)
{
	return o2_wm_load(m->bytes + at, width, !m->big);
}

static void expect(const struct seen *m, const char *field, uint64_t is, uint64_t expected)
{
	char signature[64];

	if (is == expected)
		return;
	snprintf(signature, sizeof(signature), "sim/field-%s", field);
	o2_report_fail(m->sim->report, signature,
		       "end %" PRIu32 " sends a message of type 0x%x with 0x%" PRIx64 ", expected 0x%" PRIx64,
		       m->from->index, m->bytes[O2_AT_TYPE], is, expected);
}

/* --- header --- */

static uint32_t add_bytes(uint32_t sum, const uint8_t *bytes, uint64_t length)
{
	for (uint64_t i = 0; i < length; i++)
		sum = (sum << 1 | sum >> 31) + bytes[i];
	return sum;
}

/* Rotate and add.  The sum's own four bytes count as zeros; a payload may be in other gather entries. */
static uint32_t checksum(const struct seen *m, const struct o2_sim_op *op)
{
	static const uint8_t none[4];
	const uint64_t nob = number(m, O2_AT_NOB, 4);
	const uint64_t here = nob < m->length ? nob : m->length;
	uint32_t sum = add_bytes(0, m->bytes, O2_AT_CKSUM);

	sum = add_bytes(sum, none, 4);
	sum = add_bytes(sum, m->bytes + O2_AT_SRCNID, here - O2_AT_SRCNID);
	for (uint32_t i = 0; nob > here && op != NULL && i < op->ours.npieces; i++)
		sum = add_bytes(sum,
				op->ours.shadow->bytes + (uint64_t)op->ours.kiov[i].page * PAGE_BYTES +
					op->ours.kiov[i].offset,
				op->ours.kiov[i].len);
	return sum == 0 ? 1 : sum;
}

static void check_header(const struct seen *m, const struct o2_sim_op *op)
{
	static const uint8_t magic[] = {0x91, 0x1b, 0xe9, 0x0b};
	const struct o2_conn_config *config = &m->sim->config;
	const bool big = config->order == O2_BIG_ENDIAN;
	const uint8_t type = m->bytes[O2_AT_TYPE];

	for (uint32_t i = 0; i < 4; i++)
		expect(m, "magic", m->bytes[O2_AT_MAGIC + i], magic[big ? 3 - i : i]);
	expect(m, "version", number(m, O2_AT_VERSION, 2), config->version);
	expect(m, "type", type >= O2_MSG_NOOP && type <= O2_MSG_GET_DONE, true);
	expect(m, "srcnid", number(m, O2_AT_SRCNID, 8), O2_SIM_FIRST_NID + m->from->node);
	expect(m, "srcstamp", number(m, O2_AT_SRCSTAMP, 8), O2_SIM_FIRST_STAMP + m->from->node);
	expect(m, "dstnid", number(m, O2_AT_DSTNID, 8), O2_SIM_FIRST_NID + m->from->other->node);
	expect(m, "dststamp", number(m, O2_AT_DSTSTAMP, 8), O2_SIM_FIRST_STAMP + m->from->other->node);
	expect(m, "cksum", number(m, O2_AT_CKSUM, 4),
	       config->cksum_flavour == O2_CKSUM_NONE ? 0 : checksum(m, op));
}

/* --- LNet header --- */

static void put(uint8_t *bytes, uint32_t at, uint32_t width, uint64_t value)
{
	for (uint32_t i = 0; i < width; i++)
		bytes[at + i] = (uint8_t)(value >> 8 * i);
}

/* The expected LNet header, including the operation's number (number_in() in sim_op.c). */
static void make_lnet(const struct o2_sim_op *op, uint8_t hdr[O2_LNET_HDR_BYTES])
{
	const bool carries = op->lnet_type == O2_LNET_PUT || op->lnet_type == O2_LNET_REPLY;

	memset(hdr, 0, O2_LNET_HDR_BYTES);
	put(hdr, O2_LNET_AT_DEST_NID, 8, O2_SIM_FIRST_NID + op->end->other->node);
	put(hdr, O2_LNET_AT_SRC_NID, 8, O2_SIM_FIRST_NID + op->end->node);
	put(hdr, O2_LNET_AT_DEST_PID, 4, LNET_PID);
	put(hdr, O2_LNET_AT_SRC_PID, 4, LNET_PID);
	put(hdr, O2_LNET_AT_TYPE, 4, op->lnet_type);
	put(hdr, O2_LNET_AT_PAYLOAD_LENGTH, 4, carries ? op->nob : 0);
	put(hdr, O2_LNET_AT_UNION + (op->lnet_type == O2_LNET_REPLY ? 8 : 16), 8, op->id);
	if (op->lnet_type == O2_LNET_PUT) {
		put(hdr, O2_LNET_AT_UNION, 8, UINT64_MAX);
		put(hdr, O2_LNET_AT_UNION + 8, 8, UINT64_MAX);
	} else if (op->lnet_type == O2_LNET_GET) {
		put(hdr, O2_LNET_AT_UNION, 8, O2_SIM_FIRST_STAMP + op->end->node);
		put(hdr, O2_LNET_AT_UNION + 32, 4, op->nob);
	}
}

static void check_lnet(const struct seen *m, const struct o2_sim_op *op)
{
	uint8_t expected[O2_LNET_HDR_BYTES];
	const uint32_t handle = O2_LNET_AT_UNION + 8;

	make_lnet(op, expected);
	/* The second half of the handle for a GET's REPLY is chosen by the sender. */
	if (op->lnet_type == O2_LNET_GET)
		memcpy(expected + handle, m->bytes + O2_AT_LNET_HDR + handle, 8);
	for (uint32_t i = 0; i < O2_LNET_HDR_BYTES; i++)
		expect(m, "lnet-header", (uint64_t)i << 8 | m->bytes[O2_AT_LNET_HDR + i],
		       (uint64_t)i << 8 | expected[i]);
}

/* --- cookies and descriptors --- */

/* Check that a cookie of this end has named nothing else on this connection. */
static void check_cookie(const struct seen *m, const struct o2_sim_op *op, uint64_t cookie)
{
	for (uint32_t i = 0; i < m->sim->nops; i++) {
		const struct o2_sim_op *other = &m->sim->op[i];

		if (other == op || other->op == O2_OP_SEND)
			continue;
		if ((other->end == m->from && other->requested && other->cookie == cookie) ||
		    (other->end->other == m->from && other->acknowledged && other->cookie_there == cookie))
			expect(m, "cookie-again", other->id, op->id);
	}
}

/* Where fragment i of a sink begins (the table of docs/modes.md).  False: the address was remapped. */
static bool address_of(const struct seen *m, const struct o2_op_memory *sink, uint32_t i, uint64_t *address)
{
	const struct o2_kiov *piece = &sink->kiov[i];

	switch (sink->memory.mode) {
	case O2_REG_USER:
		*address = sink->iov.base;
		return true;
	case O2_REG_PHYS:
	case O2_REG_FMR:
		*address = (uint64_t)(sink->gapped ? piece->page - sink->first_page : i) * PAGE_BYTES +
			   piece->offset;
		return true;
	default:
		break;
	}
	if (m->from->node == 0 && m->sim->remapped)
		return false;
	*address = (uint64_t)piece->page * PAGE_BYTES + piece->offset +
		   (m->from->node == 0 ? O2_SIM_DMA_BASE : (uintptr_t)sink->shadow->arena->memory);
	return true;
}

/* Check that no other open sink of this node has this key; in mode global they all share one. */
static void check_key(const struct seen *m, const struct o2_sim_op *op, uint32_t key)
{
	for (uint32_t i = 0; i < m->sim->nops; i++) {
		const struct o2_sim_op *other = &m->sim->op[i];
		const bool put = other->op == O2_OP_PUT;
		const struct o2_op_memory *sink = put ? &other->theirs : &other->ours;
		const bool open = put ? other->acknowledged && !other->ended_there
				      : other->op == O2_OP_GET && other->requested && !other->ended;

		if (other != op && open && (put ? other->end->other : other->end)->node == m->from->node &&
		    sink->memory.mode != O2_REG_GLOBAL && other->key == key)
			expect(m, "key-again", other->id, op->id);
	}
}

static void check_descriptor(const struct seen *m, const struct o2_sim_op *op,
			     const struct o2_op_memory *sink, uint32_t at)
{
	const uint32_t frags = o2_sim_memory_frags(sink);
	uint64_t address;

	expect(m, "nfrags", number(m, at + O2_DESC_AT_NFRAGS, 4), frags);
	if (sink->memory.mode != O2_REG_GLOBAL)
		check_key(m, op, (uint32_t)number(m, at + O2_DESC_AT_KEY, 4));
	for (uint32_t i = 0; i < frags && o2_sim_ok(m->sim); i++) {
		const uint32_t frag = at + O2_DESC_AT_FRAGS + i * O2_FRAG_BYTES;

		expect(m, "rf-nob", number(m, frag + O2_FRAG_AT_NOB, 4),
		       frags == 1 ? sink->memory.buffer.nob : sink->kiov[i].len);
		if (address_of(m, sink, i, &address))
			expect(m, "rf-addr", number(m, frag + O2_FRAG_AT_ADDR, 8), address);
	}
}

/* --- answers --- */

/* The type of message that answers the request if nothing fails. */
static uint8_t answer_of(const struct o2_sim_op *op)
{
	if (op->op == O2_OP_GET)
		return O2_MSG_GET_DONE;
	return op->done_nob == 0 && op->code != -EMSGSIZE ? O2_MSG_PUT_NAK : O2_MSG_PUT_ACK;
}

static void check_answer(const struct seen *m, const struct o2_sim_op *op, uint8_t type)
{
	const int64_t status = (int32_t)(uint32_t)number(m, O2_AT_STATUS, 4);
	const int64_t foretold = op->code != 0 ? op->code : (int64_t)op->done_nob;

	if (type == O2_MSG_PUT_ACK) {
		expect(m, "answer", type, answer_of(op));
		return;
	}
	if (status == foretold)
		expect(m, "answer", type, type == O2_MSG_PUT_DONE ? type : answer_of(op));
	else if (!o2_sim_may_fail(op, op->end->other, (int)status))
		expect(m, "status", (uint64_t)status, (uint64_t)foretold);
}

void o2_sim_check_fields(const struct o2_sim_end *from, const uint8_t *bytes, uint64_t length,
			 const struct o2_sim_op *op, bool again)
{
	const struct seen m = {from->sim, from, bytes, length, from->sim->config.order == O2_BIG_ENDIAN};
	const uint8_t type = bytes[O2_AT_TYPE];

	check_header(&m, op);
	if (type == O2_MSG_NOOP || !o2_sim_ok(m.sim))
		return;
	if (op == NULL || again) {
		/* Answers without a request, and repeated ones, are reported by the judge. */
		if (type == O2_MSG_IMMEDIATE || type == O2_MSG_PUT_REQ || type == O2_MSG_GET_REQ)
			expect(&m, again ? "request-again" : "request", 1, 0);
		return;
	}
	switch (type) {
	case O2_MSG_IMMEDIATE:
		check_lnet(&m, op);
		break;
	case O2_MSG_PUT_REQ:
		check_lnet(&m, op);
		check_cookie(&m, op, op->cookie);
		break;
	case O2_MSG_GET_REQ:
		check_lnet(&m, op);
		check_cookie(&m, op, op->cookie);
		check_descriptor(&m, op, &op->ours, O2_AT_GET_REQ_DESC);
		break;
	case O2_MSG_PUT_ACK:
		check_cookie(&m, op, op->cookie_there);
		check_descriptor(&m, op, &op->theirs, O2_AT_PUT_ACK_DESC);
		check_answer(&m, op, type);
		break;
	default:
		check_answer(&m, op, type);
		break;
	}
}
