/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>
#include <stddef.h>

#include "lnd/conn/conn_internal.h"
#include "props/model/wire_model.h"
#include "props/talk/nodes_internal.h"
#include "wire/checksum.h"
#include "wire/layout.h"

/*
 * What a node sends while a connection is made: each field of CONNREQ, CONNACK and reject record is compared
 * with the node's settings and what it has been told (docs/wire.md; docs/connection.md, "Negotiation").  The
 * library's codec is not used: numbers are read at their offsets, in the sender's order.
 */

#define MAGIC	     0x0be91b91u
#define CONN_BYTES   56u
#define REJECT_BYTES 24u
#define LEAST_BYTES  148u
#define TYPE_CONNREQ 0xc0u
#define TYPE_CONNACK 0xc1u

struct field {
	const char *name;
	uint32_t at, width;
	uint64_t expected;
};

/* signature: "nodes/WHAT".  The fields must cover the bytes without a gap. */
static void check(struct o2_nodes_seat *seat, const char *signature, const uint8_t *bytes, size_t length,
		  const struct field *fields, size_t nfields)
{
	const bool big = seat->config.conn.order == O2_BIG_ENDIAN;
	const size_t canonical = fields[nfields - 1].at + fields[nfields - 1].width;

	if (length != canonical) {
		o2_report_fail(seat->nodes->report, signature,
			       "node %" PRIu32 " says it in %zu bytes, expected %zu", seat->index, length,
			       canonical);
		return;
	}
	for (size_t i = 0; i < nfields; i++) {
		const uint64_t is = o2_wm_load(bytes + fields[i].at, fields[i].width, !big);

		if (is != fields[i].expected)
			o2_report_fail(seat->nodes->report, signature,
				       "%s of node %" PRIu32 " is 0x%" PRIx64 ", expected 0x%" PRIx64,
				       fields[i].name, seat->index, is, fields[i].expected);
	}
}

/* The expected checksum.  That the codec computes both flavours correctly is checked by the codec property. */
static uint32_t checksum(enum o2_cksum_flavour flavour, const uint8_t *bytes, size_t length)
{
	return flavour == O2_CKSUM_NONE ? 0 : o2_checksum_of(o2_msg_checksum_both(bytes, length), flavour);
}

/* The two checksum flavours of a message used here always differ. */
void o2_nodes_learn_flavour(struct o2_nodes_seat *seat, uint32_t from, const uint8_t *bytes)
{
	struct o2_nodes_known *known = &seat->pair[from].known;
	const bool little = o2_wm_load(bytes + O2_AT_MAGIC, 4, false) != MAGIC;
	const uint64_t said = o2_wm_load(bytes + O2_AT_CKSUM, 4, little);

	if (!seat->cksum_auto || known->flavour != O2_CKSUM_NONE || said == 0)
		return;
	known->flavour =
		said == checksum(O2_CKSUM_SIGNED, bytes, CONN_BYTES) ? O2_CKSUM_SIGNED : O2_CKSUM_UNSIGNED;
	o2_nodes_seen(seat->nodes, O2_NODES_SEEN_FLAVOUR);
}

/* A connection made before its flavour was known takes the flavour of the first message. */
void o2_nodes_sync_flavours(struct o2_nodes_seat *seat, uint32_t from)
{
	for (uint32_t n = 0; n < O2_NODES_ENDS && seat->cksum_auto; n++) {
		struct o2_nodes_end *end = &seat->end[n];
		const struct o2_nodes_end *other;

		if (end->id == NULL || end->to != from || end->conn == NULL ||
		    end->flavour != O2_CKSUM_NONE || end->conn->config.cksum_flavour == O2_CKSUM_NONE)
			continue;
		end->flavour = seat->pair[from].known.flavour = end->conn->config.cksum_flavour;
		other = o2_nodes_other_end(seat, end);
		if (other != NULL && other->flavour != end->flavour)
			o2_report_fail(seat->nodes->report, "nodes/flavour",
				       "node %" PRIu32
				       " has learnt checksums of flavour %d from node %" PRIu32
				       ", which has sent %d",
				       seat->index, (int)end->flavour, from, (int)other->flavour);
	}
}

void o2_nodes_said_without_sum(uint8_t *bytes)
{
	o2_wm_store(bytes + O2_AT_CKSUM, 4, true, 0);
}

/* Change a field; a checksum becomes that of the changed bytes. */
static void change(uint8_t *bytes, uint32_t at, uint32_t width, uint64_t value)
{
	const bool little = o2_wm_load(bytes + O2_AT_MAGIC, 4, false) != MAGIC;
	const uint64_t said = o2_wm_load(bytes + O2_AT_CKSUM, 4, little);
	const struct o2_checksums before = o2_msg_checksum_both(bytes, CONN_BYTES);
	struct o2_checksums after;

	o2_wm_store(bytes + at, width, little, value);
	after = o2_msg_checksum_both(bytes, CONN_BYTES);
	if (said != 0)
		o2_wm_store(bytes + O2_AT_CKSUM, 4, little,
			    said == before.of_unsigned ? after.of_unsigned : after.of_signed);
}

void o2_nodes_said_smaller(uint8_t *bytes, uint32_t max_msg_bytes)
{
	change(bytes, O2_AT_MAX_MSG_SIZE, 4, max_msg_bytes);
}

/* docs/connection.md, "Checks of a CONNACK" */
void o2_nodes_said_badly(struct o2_nodes_seat *seat, const struct o2_nodes_end *end, uint8_t *bytes,
			 struct o2_transfer_fault *fault)
{
	const struct o2_conn_params *asked = &end->terms;
	const bool first = asked->version == O2_MSG_VERSION_1;
	const uint64_t nid = o2_nodes_nid(seat->nodes, seat->index),
		       stamp = seat->place.ni.config.incarnation;
	const uint16_t other_version = first ? O2_MSG_VERSION_2 : O2_MSG_VERSION_1;
	/* other: the value must be that of the limit */
	const struct {
		const char *rule, *field;
		uint32_t at, width;
		uint64_t value, limit;
		int code;
		bool other;
	} rows[] = {
		{"connack/type", "ibm_type", O2_AT_TYPE, 1, TYPE_CONNREQ, TYPE_CONNACK, -EPROTO, true},
		{"connack/version", "ibm_version", O2_AT_VERSION, 2, other_version, asked->version, -EPROTO,
		 true},
		{"connack/queue-depth-over", "ibcp_queue_depth", O2_AT_QUEUE_DEPTH, 2,
		 asked->queue_depth + 1u, asked->queue_depth, -EPROTO, false},
		{"connack/queue-depth-under", "ibcp_queue_depth", O2_AT_QUEUE_DEPTH, 2, 1, first ? 8 : 2,
		 -EPROTO, false},
		{"connack/max-frags-over", "ibcp_max_frags", O2_AT_MAX_FRAGS, 2, asked->max_frags + 1u,
		 asked->max_frags, -EPROTO, false},
		{"connack/max-frags-zero", "ibcp_max_frags", O2_AT_MAX_FRAGS, 2, 0, 1, -EPROTO, false},
		{"connack/max-msg-size-over", "ibcp_max_msg_size", O2_AT_MAX_MSG_SIZE, 4,
		 O2_NODES_MSG_BYTES + 1, O2_NODES_MSG_BYTES, -EPROTO, false},
		{"connack/max-msg-size-under", "ibcp_max_msg_size", O2_AT_MAX_MSG_SIZE, 4, LEAST_BYTES - 1,
		 LEAST_BYTES, -EPROTO, false},
		{"connack/dstnid", "ibm_dstnid", O2_AT_DSTNID, 8, nid + 1, nid, -ESTALE, true},
		{"connack/dststamp", "ibm_dststamp", O2_AT_DSTSTAMP, 8, stamp + 1, stamp, -ESTALE, true},
	};
	const size_t i = o2_draw_pick(seat->nodes->choice, sizeof(rows) / sizeof(rows[0]));

	change(bytes, rows[i].at, rows[i].width, rows[i].value);
	*fault = (struct o2_transfer_fault){.side = O2_FAULT_PEER_MESSAGE, .code = rows[i].code};
	if (rows[i].other)
		o2_refuse_peer_other(&fault->error, rows[i].code, rows[i].rule, rows[i].field, rows[i].value,
				     rows[i].limit);
	else
		o2_refuse_peer(&fault->error, rows[i].code, rows[i].rule, rows[i].field, rows[i].value,
			       rows[i].limit);
}

static void check_params(struct o2_nodes_seat *seat, const char *signature, uint8_t type,
			 const struct o2_nodes_end *end, uint64_t dststamp, const uint8_t *bytes,
			 size_t length)
{
	const enum o2_cksum_flavour flavour = seat->pair[end->to].known.flavour;
	const struct field fields[] = {
		{"ibm_magic", O2_AT_MAGIC, 4, MAGIC},
		{"ibm_version", O2_AT_VERSION, 2, end->terms.version},
		{"ibm_type", O2_AT_TYPE, 1, type},
		{"ibm_credits", O2_AT_CREDITS, 1, 0},
		{"ibm_nob", O2_AT_NOB, 4, CONN_BYTES},
		{"ibm_cksum", O2_AT_CKSUM, 4, length == CONN_BYTES ? checksum(flavour, bytes, length) : 0},
		{"ibm_srcnid", O2_AT_SRCNID, 8, o2_nodes_nid(seat->nodes, seat->index)},
		{"ibm_srcstamp", O2_AT_SRCSTAMP, 8, seat->place.ni.config.incarnation},
		{"ibm_dstnid", O2_AT_DSTNID, 8, o2_nodes_nid(seat->nodes, end->to)},
		{"ibm_dststamp", O2_AT_DSTSTAMP, 8, dststamp},
		{"ibcp_queue_depth", O2_AT_QUEUE_DEPTH, 2, end->terms.queue_depth},
		{"ibcp_max_frags", O2_AT_MAX_FRAGS, 2, end->terms.max_frags},
		{"ibcp_max_msg_size", O2_AT_MAX_MSG_SIZE, 4, O2_NODES_MSG_BYTES},
	};

	check(seat, signature, bytes, length, fields, sizeof(fields) / sizeof(fields[0]));
}

void o2_nodes_said_request(struct o2_nodes_seat *seat, const struct o2_nodes_end *end, const uint8_t *bytes,
			   size_t length)
{
	check_params(seat, "nodes/request", TYPE_CONNREQ, end, seat->pair[end->to].known.incarnation, bytes,
		     length);
}

void o2_nodes_said_reply(struct o2_nodes_seat *seat, const struct o2_nodes_end *end, const uint8_t *bytes,
			 size_t length)
{
	check_params(seat, "nodes/reply", TYPE_CONNACK, end, seat->now.incarnation, bytes, length);
}

void o2_nodes_said_reject(struct o2_nodes_seat *seat, const uint8_t *bytes, size_t length)
{
	const struct o2_conn_config *own = &seat->config.conn;
	const struct o2_nodes_moment *now = &seat->now;
	/* This node's version until the request names the node and its life; nothing of the node before it is named. */
	const bool named = now->asked.version <= own->version && !seat->early;
	const uint16_t version = named && !o2_nodes_other_life(seat) ? now->asked.version : own->version;
	const bool tells = named && version != O2_MSG_VERSION_1;
	const struct field fields[] = {
		{"ibr_magic", O2_REJECT_AT_MAGIC, 4, MAGIC},
		{"ibr_version", O2_REJECT_AT_VERSION, 2, version},
		{"ibr_why", O2_REJECT_AT_WHY, 1, now->why},
		{"padding", O2_REJECT_AT_PADDING, 1, 0},
		{"ibr_incarnation", O2_REJECT_AT_INCARNATION, 8,
		 tells ? seat->place.ni.config.incarnation : 0},
		{"ibcp_queue_depth", O2_REJECT_AT_QUEUE_DEPTH, 2, tells ? own->queue_depth : 0},
		{"ibcp_max_frags", O2_REJECT_AT_MAX_FRAGS, 2, tells ? own->max_frags : 0},
		{"ibcp_max_msg_size", O2_REJECT_AT_MAX_MSG_SIZE, 4,
		 version != O2_MSG_VERSION_1 ? O2_NODES_MSG_BYTES : 0},
	};

	static_assert(O2_REJECT_AT_MAX_MSG_SIZE + 4 == REJECT_BYTES, "the last field ends the record");
	check(seat, "nodes/reject", bytes, length, fields, sizeof(fields) / sizeof(fields[0]));
}
