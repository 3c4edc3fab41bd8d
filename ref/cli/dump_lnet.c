/* SPDX-License-Identifier: MIT */
#include "cli/dump.h"

#include <inttypes.h>

#include "forms/wire_fields.h"
#include "wire/bytes.h"
#include "wire/layout.h"
#include "wire/lnet_hdr.h"

#define HDR   (size_t) O2_AT_LNET_HDR
#define UNION (HDR + O2_LNET_AT_UNION)
#define END   (HDR + O2_LNET_HDR_BYTES)

/* Show one of the two numbers of a handle.  All ones in both mean that there is no handle. */
static void show_half(const struct o2_rows *rows, size_t at, const char *name)
{
	if (!o2_row_has(rows, at, 8, name))
		return;
	if (o2_load64(rows->bytes + at, O2_LITTLE_ENDIAN) == UINT64_MAX)
		o2_row(rows, at, 8, name, "none");
	else
		o2_row(rows, at, 8, name, "0x%" PRIx64, o2_load64(rows->bytes + at, O2_LITTLE_ENDIAN));
}

static void show_handle(const struct o2_rows *rows, size_t at, const struct o2_field *handle)
{
	char name[O2_ROW_NAME_BYTES];

	for (const struct o2_field *half = handle->part; half->name != NULL; half++) {
		snprintf(name, sizeof(name), "hdr.%s.%s", handle->name, o2_field_key(half));
		show_half(rows, at + half->wire_at, name);
	}
}

/* Show the fields that only this type of message has. */
static void show_variant(const struct o2_rows *rows, uint32_t type)
{
	if (o2_lnet_variant_bytes(type) == 0)
		return;
	for (const struct o2_field *field = o2_lnet_variant_fields[type]; field->name != NULL; field++) {
		if (field->kind == O2_FIELD_PART)
			show_handle(rows, UNION + field->wire_at, field);
		else
			o2_row_field(rows, UNION + field->wire_at, field);
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
	o2_row_uint(&little, HDR + O2_LNET_AT_DEST_PID, 4, "hdr.dest_pid");
	o2_row_uint(&little, HDR + O2_LNET_AT_SRC_PID, 4, "hdr.src_pid");
	if (!o2_row_has(&little, HDR + O2_LNET_AT_TYPE, 4, "hdr.type"))
		return;
	type = o2_load32_le(rows->bytes + HDR + O2_LNET_AT_TYPE);
	name = o2_lnet_type_name(type);
	o2_row(&little, HDR + O2_LNET_AT_TYPE, 4, "hdr.type", "%" PRIu32 " %s", type,
	       name == NULL ? "(unknown)" : name);
	if (o2_row_uint(&little, HDR + O2_LNET_AT_PAYLOAD_LENGTH, 4, "hdr.payload_length"))
		*payload_bytes = o2_load32_le(rows->bytes + HDR + O2_LNET_AT_PAYLOAD_LENGTH);
	show_variant(&little, type);
	o2_row_block(&little, UNION + o2_lnet_variant_bytes(type), END, "(unused)", "");
}
