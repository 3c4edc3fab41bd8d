/* SPDX-License-Identifier: MIT */
/*
 * What the connection manager carries besides messages: the reject record, and the header before a CONNREQ.
 */
#include <arpa/inet.h>

#include "cli/dump.h"
#include "wire/bytes.h"
#include "wire/reject.h"

void o2_dump_reject(struct o2_rows *rows)
{
	uint16_t version = 0;
	const char *why;

	if (!o2_dump_magic(rows, "ibr_magic", O2_LNET_PROTO_MAGIC)) {
		o2_row_block(rows, 4, rows->length_bytes, "(unread)", ", of unknown order");
		return;
	}
	if (o2_row_has(rows, O2_REJECT_AT_VERSION, 2, "ibr_version")) {
		version = o2_load16(rows->bytes + O2_REJECT_AT_VERSION, rows->order);
		o2_row(rows, O2_REJECT_AT_VERSION, 2, "ibr_version", "0x%x", version);
	}
	if (o2_row_has(rows, O2_REJECT_AT_WHY, 1, "ibr_why")) {
		why = o2_reject_why_name(rows->bytes[O2_REJECT_AT_WHY]);
		o2_row(rows, O2_REJECT_AT_WHY, 1, "ibr_why", "%u %s", rows->bytes[O2_REJECT_AT_WHY],
		       why == NULL ? "(unknown)" : why);
	}
	if (version == O2_MSG_VERSION_1) {
		o2_row_block(rows, O2_REJECT_V1_BYTES, rows->length_bytes, "(unread)",
			     ", not part of version 0x11");
		return;
	}
	o2_row_uint(rows, O2_REJECT_AT_PADDING, 1, "ibr_padding");
	o2_row_hex(rows, O2_REJECT_AT_INCARNATION, 8, "ibr_incarnation");
	o2_row_uint(rows, O2_REJECT_AT_QUEUE_DEPTH, 2, "ibr_cp.ibcp_queue_depth");
	o2_row_uint(rows, O2_REJECT_AT_MAX_FRAGS, 2, "ibr_cp.ibcp_max_frags");
	o2_row_uint(rows, O2_REJECT_AT_MAX_MSG_SIZE, 4, "ibr_cp.ibcp_max_msg_size");
	o2_row_block(rows, O2_REJECT_BYTES, rows->length_bytes, "(padding)", ", ignored");
}

/* The address field has room for IPv6; an IPv4 address stands in its last 4 bytes. */
static void show_address(const struct o2_rows *rows, size_t at, bool is_ipv4, const char *name)
{
	char text[INET6_ADDRSTRLEN] = "";

	if (!is_ipv4) {
		inet_ntop(AF_INET6, rows->bytes + at, text, sizeof(text));
		o2_row(rows, at, 8, name, "%s", text);
		o2_row(rows, at + 8, 8, "", "%s", "");
		return;
	}
	inet_ntop(AF_INET, rows->bytes + at + 12, text, sizeof(text));
	o2_row_block(rows, at, at + 12, "(padding)", "");
	o2_row(rows, at + 12, 4, name, "%s", text);
}

void o2_dump_ip_cm_header(struct o2_rows *rows)
{
	const bool is_ipv4 = rows->bytes[1] >> 4 == 4;

	rows->order = O2_BIG_ENDIAN;
	o2_row(rows, 0, 1, "version", "%u.%u", rows->bytes[0] >> 4, rows->bytes[0] & 15);
	o2_row(rows, 1, 1, "ip_version", "%u", rows->bytes[1] >> 4);
	o2_row_uint(rows, 2, 2, "source_port");
	show_address(rows, 4, is_ipv4, "source_address");
	show_address(rows, 20, is_ipv4, "destination_address");
}
