/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>

#include "props/model/wire_model.h"

/* The model's encoder, and the comparison of two messages field by field. */

static const void *at(const struct o2_msg *msg, uint16_t offset)
{
	return (const uint8_t *)msg + offset;
}

static void refuse_local(struct o2_wm_verdict *verdict, const char *where, const char *what, int code)
{
	o2_wm_refuse(verdict, where, what, 0, 0, 0);
	verdict->class = O2_CLASS_NONE;
	verdict->code = code;
	verdict->value_known = false;
	verdict->limit_known = false;
}

/* Rules 1 to 3, 6, 9, 10, 12 to 22 and 33; false: refused. */
static bool check_header(const struct o2_msg *msg, const struct o2_wire_options *options,
			 const struct o2_wm_type *type, struct o2_wm_verdict *verdict)
{
	if (options->max_frags != 256 && options->max_frags != 257)
		return refuse_local(verdict, "options", "max-frags", -EINVAL), false;
	if ((uint32_t)msg->order > 1)
		return refuse_local(verdict, "encode", "order", -EINVAL), false;
	if ((uint32_t)msg->cksum_flavour > 3)
		return refuse_local(verdict, "encode", "cksum-flavour", -EINVAL), false;
	if (msg->ibm_version != 0x11 && msg->ibm_version != 0x12)
		return o2_wm_refuse(verdict, "header", "version", 4, msg->ibm_version, 0x12), false;
	if (msg->ibm_type == 0xd1 && msg->u.immediate.hdr.payload_length > 3976) {
		o2_wm_refuse(verdict, "header", "nob-over-limit", 8, 0, 0);
		verdict->value_known = false;
		verdict->limit_known = false;
		return false;
	}
	if (options->require_checksum && msg->cksum_flavour == O2_CKSUM_NONE)
		return o2_wm_refuse(verdict, "header", "checksum-absent", 12, 0, 1), false;
	if (!o2_wm_check_nids(msg, options, verdict))
		return false;
	if (type == NULL) {
		o2_wm_refuse(verdict, "header", "type", 6, msg->ibm_type, 0);
		verdict->limit_known = false;
	}
	return type != NULL;
}

void o2_wm_encode(const struct o2_msg *msg, const struct o2_wire_options *options, uint8_t *bytes,
		  size_t capacity_bytes, uint32_t *nob, struct o2_wm_verdict *verdict)
{
	const struct o2_wm_type *type = o2_wm_type(msg->ibm_type);

	verdict->refused = false;
	*nob = 0;
	if (!check_header(msg, options, type, verdict) ||
	    !o2_wm_check_body(msg, type, options, UINT32_MAX, verdict))
		return;
	if (type->type == 0xd1 && msg->u.immediate.hdr.payload_length != 0 &&
	    msg->u.immediate.payload == NULL) {
		refuse_local(verdict, "encode", "payload-missing", -EINVAL);
		return;
	}
	*nob = o2_wm_write(msg, bytes);
	if (*nob > capacity_bytes) {
		refuse_local(verdict, "encode", "capacity", -ENOSPC);
		return;
	}
	o2_wm_seal(bytes, *nob, msg->order == O2_LITTLE_ENDIAN, msg->cksum_flavour);
}

static const char *differ(const void *a, const void *b, const struct o2_wm_field *field, uint32_t fields)
{
	for (uint32_t i = 0; i < fields; i++)
		if (o2_wm_get(a, &field[i]) != o2_wm_get(b, &field[i]))
			return field[i].name;
	return NULL;
}

static const char *differ_lnet(const struct o2_lnet_hdr *a, const struct o2_lnet_hdr *b)
{
	const char *name = differ(a, b, o2_wm_lnet, o2_wm_lnet_fields);
	const struct o2_wm_field *variant;
	uint32_t fields;

	if (name != NULL)
		return name;
	variant = o2_wm_variant(a->type, &fields);
	return differ(a, b, variant, fields);
}

static const char *differ_desc(const struct o2_rdma_desc *a, const struct o2_rdma_desc *b)
{
	for (uint32_t i = 0; i < a->rd_nfrags && i < O2_MAX_FRAGS; i++) {
		if (a->rd_frags[i].rf_nob != b->rd_frags[i].rf_nob)
			return "rd_frags[].rf_nob";
		if (a->rd_frags[i].rf_addr != b->rd_frags[i].rf_addr)
			return "rd_frags[].rf_addr";
	}
	return NULL;
}

static bool payload_differs(const struct o2_msg *a, const struct o2_msg *b)
{
	const uint32_t length = a->u.immediate.hdr.payload_length;

	return length != 0 && memcmp(a->u.immediate.payload, b->u.immediate.payload, length) != 0;
}

const char *o2_wm_difference(const struct o2_msg *a, const struct o2_msg *b)
{
	const struct o2_wm_type *type = o2_wm_type(a->ibm_type);
	const char *name = differ(a, b, o2_wm_header, o2_wm_header_fields);

	if (name == NULL && a->order != b->order)
		name = "order";
	if (name == NULL && type == NULL)
		name = "ibm_type";
	if (name == NULL)
		name = differ(a, b, type->field, type->fields);
	if (name == NULL && type->lnet_hdr != O2_WM_NONE)
		name = differ_lnet(at(a, type->lnet_hdr), at(b, type->lnet_hdr));
	if (name == NULL && type->desc != O2_WM_NONE)
		name = differ_desc(at(a, type->desc), at(b, type->desc));
	if (name == NULL && type->type == 0xd1 && payload_differs(a, b))
		name = "payload";
	return name;
}
