/* SPDX-License-Identifier: MIT */
#include "cli/dump.h"

#include <inttypes.h>

#include "wire/bytes.h"
#include "wire/layout.h"
#include "wire/lnet_hdr.h"

#define HDR   (size_t) O2_AT_LNET_HDR
#define UNION (HDR + O2_LNET_AT_UNION)
#define END   (HDR + O2_LNET_HDR_BYTES)

/* One of the two numbers of a handle; all ones in both mean that there is none. */
static void show_half(const struct o2_rows *rows, size_t at, const char *name)
{
	if (!o2_row_has(rows, at, 8, name))
		return;
	if (o2_load64_le(rows->bytes + at) == UINT64_MAX)
		o2_row(rows, at, 8, name, "none");
	else
		o2_row(rows, at, 8, name, "0x%" PRIx64, o2_load64_le(rows->bytes + at));
}

/* Each returns where its fields end. */
static size_t show_ack(const struct o2_rows *rows)
{
	show_half(rows, UNION, "hdr.dst_wmd.wh_interface_cookie");
	show_half(rows, UNION + 8, "hdr.dst_wmd.wh_object_cookie");
	o2_row_hex64(rows, UNION + 16, "hdr.match_bits");
	o2_row_u32(rows, UNION + 24, "hdr.mlength");
	return UNION + 28;
}

static size_t show_put(const struct o2_rows *rows)
{
	show_half(rows, UNION, "hdr.ack_wmd.wh_interface_cookie");
	show_half(rows, UNION + 8, "hdr.ack_wmd.wh_object_cookie");
	o2_row_hex64(rows, UNION + 16, "hdr.match_bits");
	o2_row_hex64(rows, UNION + 24, "hdr.hdr_data");
	o2_row_u32(rows, UNION + 32, "hdr.ptl_index");
	o2_row_u32(rows, UNION + 36, "hdr.offset");
	return UNION + 40;
}

static size_t show_get(const struct o2_rows *rows)
{
	show_half(rows, UNION, "hdr.return_wmd.wh_interface_cookie");
	show_half(rows, UNION + 8, "hdr.return_wmd.wh_object_cookie");
	o2_row_hex64(rows, UNION + 16, "hdr.match_bits");
	o2_row_u32(rows, UNION + 24, "hdr.ptl_index");
	o2_row_u32(rows, UNION + 28, "hdr.src_offset");
	o2_row_u32(rows, UNION + 32, "hdr.sink_length");
	return UNION + 36;
}

static size_t show_reply(const struct o2_rows *rows)
{
	show_half(rows, UNION, "hdr.dst_wmd.wh_interface_cookie");
	show_half(rows, UNION + 8, "hdr.dst_wmd.wh_object_cookie");
	return UNION + 16;
}

static size_t show_variant(const struct o2_rows *rows, uint32_t type)
{
	switch (type) {
	case O2_LNET_ACK:
		return show_ack(rows);
	case O2_LNET_PUT:
		return show_put(rows);
	case O2_LNET_GET:
		return show_get(rows);
	case O2_LNET_REPLY:
		return show_reply(rows);
	default:
		return UNION;
	}
}

void o2_dump_lnet_hdr(const struct o2_rows *rows, uint32_t *payload_bytes)
{
	struct o2_rows little = *rows;
	uint32_t type;
	const char *name;

	*payload_bytes = 0;
	little.order = O2_LITTLE_ENDIAN;
	o2_row_nid(&little, HDR + O2_LNET_AT_DEST_NID, "hdr.dest_nid");
	o2_row_nid(&little, HDR + O2_LNET_AT_SRC_NID, "hdr.src_nid");
	o2_row_u32(&little, HDR + O2_LNET_AT_DEST_PID, "hdr.dest_pid");
	o2_row_u32(&little, HDR + O2_LNET_AT_SRC_PID, "hdr.src_pid");
	if (!o2_row_has(&little, HDR + O2_LNET_AT_TYPE, 4, "hdr.type"))
		return;
	type = o2_load32_le(rows->bytes + HDR + O2_LNET_AT_TYPE);
	name = o2_lnet_type_name(type);
	o2_row(&little, HDR + O2_LNET_AT_TYPE, 4, "hdr.type", "%" PRIu32 " %s", type,
	       name == NULL ? "(unknown)" : name);
	o2_row_u32(&little, HDR + O2_LNET_AT_PAYLOAD_LENGTH, "hdr.payload_length");
	if (rows->length_bytes >= HDR + O2_LNET_AT_UNION)
		*payload_bytes = o2_load32_le(rows->bytes + HDR + O2_LNET_AT_PAYLOAD_LENGTH);
	o2_row_block(&little, show_variant(&little, type), END, "(unused)", "");
}
