/* SPDX-License-Identifier: MIT */
#include <inttypes.h>

#include "cli/dump.h"
#include "cli/errno_text.h"
#include "forms/wire_fields.h"
#include "wire/bytes.h"
#include "wire/checksum.h"
#include "wire/layout.h"
#include "wire/msg_type.h"

bool o2_dump_magic(struct o2_rows *rows, const char *name, uint32_t other)
{
	uint32_t little, big;
	bool known, is_big;

	if (!o2_row_has(rows, 0, 4, name))
		return false;
	little = o2_load32_le(rows->bytes);
	big = o2_load32_be(rows->bytes);
	is_big = big == O2_MSG_MAGIC || big == other;
	known = is_big || little == O2_MSG_MAGIC || little == other;
	rows->order = is_big ? O2_BIG_ENDIAN : O2_LITTLE_ENDIAN;
	o2_row(rows, 0, 4, name, "0x%08" PRIx32 "%s", is_big ? big : little,
	       !known	? " (unknown)"
	       : is_big ? " big-endian"
			: " little-endian");
	return known;
}

static bool show_version(const struct o2_rows *rows)
{
	uint16_t version;

	if (!o2_row_has(rows, O2_AT_VERSION, 2, "ibm_version"))
		return false;
	version = o2_load16(rows->bytes + O2_AT_VERSION, rows->order);
	o2_row(rows, O2_AT_VERSION, 2, "ibm_version", "0x%x", version);
	return version == O2_MSG_VERSION_1 || version == O2_MSG_VERSION_2;
}

/* Show nob as the message gives it.  Returns it, but at most the number of bytes received. */
static size_t show_nob(const struct o2_rows *rows)
{
	uint32_t nob;

	if (!o2_row_has(rows, O2_AT_NOB, 4, "ibm_nob"))
		return rows->length_bytes;
	nob = o2_load32(rows->bytes + O2_AT_NOB, rows->order);
	o2_row(rows, O2_AT_NOB, 4, "ibm_nob", "%" PRIu32 "%s", nob,
	       nob > rows->length_bytes && nob > rows->received_bytes ? " (more than was received)" : "");
	return nob < rows->length_bytes ? nob : rows->length_bytes;
}

static void show_cksum(const struct o2_rows *rows, size_t nob)
{
	const char *name = "ibm_cksum";
	struct o2_checksums sums;
	uint32_t found;

	if (!o2_row_has(rows, O2_AT_CKSUM, 4, name))
		return;
	found = o2_load32(rows->bytes + O2_AT_CKSUM, rows->order);
	sums = o2_msg_checksum_both(rows->bytes, nob);
	if (found == 0)
		o2_row(rows, O2_AT_CKSUM, 4, name, "0 (no checksum)");
	else if (found == sums.of_unsigned)
		o2_row(rows, O2_AT_CKSUM, 4, name, "0x%08" PRIx32 " right (unsigned%s)", found,
		       sums.of_signed == found ? " and signed" : "");
	else if (found == sums.of_signed)
		o2_row(rows, O2_AT_CKSUM, 4, name, "0x%08" PRIx32 " right (signed)", found);
	else
		o2_row(rows, O2_AT_CKSUM, 4, name,
		       "0x%08" PRIx32 " wrong: unsigned 0x%08" PRIx32 ", signed 0x%08" PRIx32, found,
		       sums.of_unsigned, sums.of_signed);
}

/* Returns the type's properties; NULL if it is unknown or not there.  *nob_end: where the message ends. */
static const struct o2_msg_type_info *show_header(struct o2_rows *rows, size_t *nob_end)
{
	const struct o2_msg_type_info *info;

	if (!o2_row_has(rows, O2_AT_TYPE, 1, "ibm_type"))
		return NULL;
	info = o2_msg_type_info(rows->bytes[O2_AT_TYPE]);
	o2_row(rows, O2_AT_TYPE, 1, "ibm_type", "0x%02x %s", rows->bytes[O2_AT_TYPE],
	       info == NULL ? "(unknown)" : o2_msg_type_name(rows->bytes[O2_AT_TYPE]));
	o2_row_uint(rows, O2_AT_CREDITS, 1, "ibm_credits");
	*nob_end = show_nob(rows);
	show_cksum(rows, *nob_end);
	o2_row_nid(rows, O2_AT_SRCNID, "ibm_srcnid");
	o2_row_hex(rows, O2_AT_SRCSTAMP, 8, "ibm_srcstamp");
	o2_row_nid(rows, O2_AT_DSTNID, "ibm_dstnid");
	o2_row_hex(rows, O2_AT_DSTSTAMP, 8, "ibm_dststamp");
	return info;
}

/* Show a descriptor, and its fragments if at most O2_MAX_FRAGS.  Returns where the descriptor ends. */
static size_t show_desc(const struct o2_rows *rows, size_t at, const char *prefix)
{
	char name[64];
	uint32_t nfrags = 0;
	uint64_t sum = 0;

	snprintf(name, sizeof(name), "%s.rd_key", prefix);
	o2_row_hex(rows, at + O2_DESC_AT_KEY, 4, name);
	snprintf(name, sizeof(name), "%s.rd_nfrags", prefix);
	o2_row_uint(rows, at + O2_DESC_AT_NFRAGS, 4, name);
	at += O2_DESC_AT_FRAGS;
	if (rows->length_bytes >= at)
		nfrags = o2_load32(rows->bytes + at - 4, rows->order);
	if (nfrags > O2_MAX_FRAGS)
		return at;
	for (uint32_t i = 0; i < nfrags; i++, at += O2_FRAG_BYTES) {
		snprintf(name, sizeof(name), "%s.rd_frags[%" PRIu32 "].rf_nob", prefix, i);
		if (o2_row_has(rows, at + O2_FRAG_AT_NOB, 4, name)) {
			const uint32_t nob = o2_load32(rows->bytes + at, rows->order);

			sum += nob;
			o2_row(rows, at, 4, name, i == 0 ? "%" PRIu32 : "%" PRIu32 " (sum %" PRIu64 ")", nob,
			       sum);
		}
		snprintf(name, sizeof(name), "%s.rd_frags[%" PRIu32 "].rf_addr", prefix, i);
		o2_row_hex(rows, at + O2_FRAG_AT_ADDR, 8, name);
	}
	return at;
}

static void show_status(const struct o2_rows *rows)
{
	char text[O2_STATUS_TEXT_BYTES];

	if (!o2_row_has(rows, O2_AT_STATUS, 4, "ibcm_status"))
		return;
	o2_status_text((int32_t)o2_load32(rows->bytes + O2_AT_STATUS, rows->order), text);
	o2_row(rows, O2_AT_STATUS, 4, "ibcm_status", "%s", text);
}

/* Returns where the body's fields end. */
static size_t show_body(const struct o2_rows *rows, uint8_t type, size_t nob_end)
{
	uint32_t payload_bytes = 0;
	size_t end = O2_MSG_HEADER_BYTES;

	for (const struct o2_field *field = o2_msg_body_fields(type); field->name != NULL; field++) {
		end = field->wire_at + field->width_bytes;
		if (field->part == o2_lnet_hdr_fields) {
			o2_dump_lnet_hdr(rows, &payload_bytes);
		} else if (field->part == o2_desc_fields) {
			end = show_desc(rows, field->wire_at, field->name);
		} else if (field->kind == O2_FIELD_INT) {
			show_status(rows);
		} else {
			o2_row_field(rows, field->wire_at, field);
		}
	}
	if (type != O2_MSG_IMMEDIATE)
		return end;
	end = O2_AT_PAYLOAD + (size_t)payload_bytes;
	end = end < nob_end ? end : nob_end;
	o2_row_block(rows, O2_AT_PAYLOAD, end, "payload", "");
	return end > O2_AT_PAYLOAD ? end : O2_AT_PAYLOAD;
}

void o2_dump_message(struct o2_rows *rows)
{
	const struct o2_msg_type_info *info;
	size_t end = O2_MSG_HEADER_BYTES, nob_end = rows->length_bytes;

	if (!o2_dump_magic(rows, "ibm_magic", O2_MSG_MAGIC)) {
		o2_row_block(rows, 4, rows->length_bytes, "(unread)", ", of unknown order");
		return;
	}
	if (!show_version(rows)) {
		o2_row_block(rows, 6, rows->length_bytes, "(unread)", ", of an unknown layout");
		return;
	}
	info = show_header(rows, &nob_end);
	if (info == NULL) {
		o2_row_block(rows, end, rows->length_bytes, "(unread)", ", of an unknown type");
		return;
	}
	end = show_body(rows, rows->bytes[O2_AT_TYPE], nob_end);
	/* For a refused message the decoder may have stopped before the end of the body. */
	if (rows->refused != NULL && rows->refused->code != 0)
		o2_row_block(rows, end, nob_end, "(unread)", "");
	else
		o2_row_block(rows, end, nob_end, "(after the body)", ", ignored");
	o2_row_block(rows, end > nob_end ? end : nob_end, rows->length_bytes, "(after nob)", ", ignored");
}
