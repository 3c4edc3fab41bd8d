/* SPDX-License-Identifier: MIT */
#include "wire/msg_json.h"

#include <errno.h>
#include <string.h>

#include "base/json.h"
#include "wire/bytes_json.h"
#include "wire/frags_json.h"
#include "wire/lnet_hdr_json.h"
#include "wire/msg_type.h"

static const char *const order_names[] = {[O2_LITTLE_ENDIAN] = "little", [O2_BIG_ENDIAN] = "big"};
static const char *const flavour_names[] = {
	[O2_CKSUM_NONE] = "none",
	[O2_CKSUM_UNSIGNED] = "unsigned",
	[O2_CKSUM_SIGNED] = "signed",
	[O2_CKSUM_UNVERIFIED] = "unverified",
};

static json_t *desc_or_null(const struct o2_rdma_desc *desc)
{
	return desc->rd_nfrags <= O2_MAX_FRAGS ? o2_desc_to_json(desc) : NULL;
}

static json_t *body_to_json(const struct o2_msg *msg, enum o2_msg_body body)
{
	switch (body) {
	case O2_BODY_CONNPARAMS:
		return json_pack("{s:I, s:I, s:I}", "ibcp_queue_depth",
				 (json_int_t)msg->u.connparams.ibcp_queue_depth, "ibcp_max_frags",
				 (json_int_t)msg->u.connparams.ibcp_max_frags, "ibcp_max_msg_size",
				 (json_int_t)msg->u.connparams.ibcp_max_msg_size);
	case O2_BODY_IMMEDIATE:
		return json_pack(
			"{s:o, s:o}", "hdr", o2_lnet_hdr_to_json(&msg->u.immediate.hdr), "payload",
			o2_bytes_to_json(msg->u.immediate.payload, msg->u.immediate.hdr.payload_length));
	case O2_BODY_PUTREQ:
		return json_pack("{s:o, s:o}", "hdr", o2_lnet_hdr_to_json(&msg->u.putreq.hdr), "ibprm_cookie",
				 o2_json_hex(msg->u.putreq.ibprm_cookie));
	case O2_BODY_PUTACK:
		return json_pack("{s:o, s:o, s:o}", "ibpam_src_cookie",
				 o2_json_hex(msg->u.putack.ibpam_src_cookie), "ibpam_dst_cookie",
				 o2_json_hex(msg->u.putack.ibpam_dst_cookie), "ibpam_rd",
				 desc_or_null(&msg->u.putack.ibpam_rd));
	case O2_BODY_GET:
		return json_pack("{s:o, s:o, s:o}", "hdr", o2_lnet_hdr_to_json(&msg->u.get.hdr),
				 "ibgm_cookie", o2_json_hex(msg->u.get.ibgm_cookie), "ibgm_rd",
				 desc_or_null(&msg->u.get.ibgm_rd));
	case O2_BODY_COMPLETION:
		return json_pack("{s:o, s:I}", "ibcm_cookie", o2_json_hex(msg->u.completion.ibcm_cookie),
				 "ibcm_status", (json_int_t)msg->u.completion.ibcm_status);
	case O2_BODY_NONE:
		break;
	}
	return json_object();
}

json_t *o2_msg_to_json(const struct o2_msg *msg)
{
	const struct o2_msg_type_info *info = o2_msg_type_info(msg->ibm_type);

	if (info == NULL || msg->order > O2_BIG_ENDIAN || msg->cksum_flavour > O2_CKSUM_UNVERIFIED)
		return NULL;
	return json_pack("{s:s, s:s, s:I, s:I, s:I, s:s, s:o, s:o, s:o, s:o, s:o}", "byte_order",
			 order_names[msg->order], "ibm_type", info->name, "ibm_version",
			 (json_int_t)msg->ibm_version, "ibm_credits", (json_int_t)msg->ibm_credits, "ibm_nob",
			 (json_int_t)msg->ibm_nob, "cksum_flavour", flavour_names[msg->cksum_flavour],
			 "ibm_srcnid", o2_nid_to_json(msg->ibm_srcnid), "ibm_srcstamp",
			 o2_json_hex(msg->ibm_srcstamp), "ibm_dstnid", o2_nid_to_json(msg->ibm_dstnid),
			 "ibm_dststamp", o2_json_hex(msg->ibm_dststamp), "body",
			 body_to_json(msg, info->body));
}

/* Integers of less than 32 bits. */
static int read_small(const json_t *object, const char *key, uint16_t max, uint16_t *value,
		      struct o2_error *error)
{
	uint32_t number = 0;
	const int rc = o2_json_get_u32(object, key, max, &number, error);

	*value = (uint16_t)number;
	return rc;
}

static int read_desc(const json_t *object, const char *key, struct o2_rdma_desc *desc, struct o2_error *error)
{
	const struct o2_json_member members[] = {{"rd_key", "rd_key", O2_JSON_HEX32, &desc->rd_key}};
	const json_t *child;
	int rc = o2_json_get_object(object, key, &child, error);

	if (rc == 0)
		rc = o2_json_get_members(child, members, 1, O2_NO_INDEX, error);
	if (rc == 0)
		rc = o2_frags_from_json(child, "rd_frags", "rd_frags", "rd_frags[]", desc->rd_frags,
					&desc->rd_nfrags, error);
	return rc;
}

static int read_immediate(const json_t *body, struct o2_msg_json *read, struct o2_error *error)
{
	const uint32_t *claimed = &read->msg.u.immediate.hdr.payload_length;
	size_t found = 0;
	int rc = o2_lnet_hdr_from_json(body, &read->msg.u.immediate.hdr, error);

	if (rc == 0)
		rc = o2_bytes_from_json(body, "payload", "payload", read->payload, sizeof(read->payload),
					&found, error);
	if (rc == 0 && found != *claimed)
		rc = o2_refuse(error, -EINVAL, "json/payload-length", "hdr.payload_length", O2_NO_INDEX,
			       *claimed, found);
	read->msg.u.immediate.payload = read->payload;
	return rc;
}

static int read_connparams(const json_t *body, struct o2_msg *msg, struct o2_error *error)
{
	int rc = read_small(body, "ibcp_queue_depth", UINT16_MAX, &msg->u.connparams.ibcp_queue_depth, error);

	if (rc == 0)
		rc = read_small(body, "ibcp_max_frags", UINT16_MAX, &msg->u.connparams.ibcp_max_frags, error);
	if (rc == 0)
		rc = o2_json_get_u32(body, "ibcp_max_msg_size", UINT32_MAX,
				     &msg->u.connparams.ibcp_max_msg_size, error);
	return rc;
}

static int read_putack(const json_t *body, struct o2_msg *msg, struct o2_error *error)
{
	int rc = o2_json_get_hex(body, "ibpam_src_cookie", &msg->u.putack.ibpam_src_cookie, error);

	if (rc == 0)
		rc = o2_json_get_hex(body, "ibpam_dst_cookie", &msg->u.putack.ibpam_dst_cookie, error);
	if (rc == 0)
		rc = read_desc(body, "ibpam_rd", &msg->u.putack.ibpam_rd, error);
	return rc;
}

static int read_get(const json_t *body, struct o2_msg *msg, struct o2_error *error)
{
	int rc = o2_lnet_hdr_from_json(body, &msg->u.get.hdr, error);

	if (rc == 0)
		rc = o2_json_get_hex(body, "ibgm_cookie", &msg->u.get.ibgm_cookie, error);
	if (rc == 0)
		rc = read_desc(body, "ibgm_rd", &msg->u.get.ibgm_rd, error);
	return rc;
}

static int read_completion(const json_t *body, struct o2_msg *msg, struct o2_error *error)
{
	const json_t *member = json_object_get(body, "ibcm_status");
	const json_int_t status = json_integer_value(member);

	if (!json_is_integer(member))
		return o2_refuse(error, -EINVAL, "json/not-an-integer", "ibcm_status", O2_NO_INDEX, 0,
				 O2_NO_LIMIT);
	if (status < INT32_MIN || status > INT32_MAX)
		return o2_refuse(error, -EINVAL, "json/integer-out-of-range", "ibcm_status", O2_NO_INDEX,
				 (uint64_t)status, INT32_MAX);
	msg->u.completion.ibcm_status = (int32_t)status;
	return o2_json_get_hex(body, "ibcm_cookie", &msg->u.completion.ibcm_cookie, error);
}

static int read_body(const json_t *body, struct o2_msg_json *read, struct o2_error *error)
{
	struct o2_msg *msg = &read->msg;
	int rc;

	switch (o2_msg_type_info(msg->ibm_type)->body) {
	case O2_BODY_CONNPARAMS:
		return read_connparams(body, msg, error);
	case O2_BODY_IMMEDIATE:
		return read_immediate(body, read, error);
	case O2_BODY_PUTREQ:
		rc = o2_lnet_hdr_from_json(body, &msg->u.putreq.hdr, error);
		return rc != 0 ? rc
			       : o2_json_get_hex(body, "ibprm_cookie", &msg->u.putreq.ibprm_cookie, error);
	case O2_BODY_PUTACK:
		return read_putack(body, msg, error);
	case O2_BODY_GET:
		return read_get(body, msg, error);
	case O2_BODY_COMPLETION:
		return read_completion(body, msg, error);
	case O2_BODY_NONE:
		break;
	}
	return 0;
}

/* Byte order, checksum flavour and type, by their names. */
static int read_names(const json_t *object, struct o2_msg *msg, struct o2_error *error)
{
	const char *type = json_string_value(json_object_get(object, "ibm_type"));
	uint32_t order, flavour;
	int rc = o2_json_get_name(object, "byte_order", order_names, 2, &order, error);

	if (rc == 0)
		rc = o2_json_get_name(object, "cksum_flavour", flavour_names, O2_CKSUM_UNVERIFIED + 1,
				      &flavour, error);
	if (rc != 0)
		return rc;
	msg->order = (enum o2_byte_order)order;
	msg->cksum_flavour = (enum o2_cksum_flavour)flavour;
	for (unsigned int value = 0; type != NULL && value <= UINT8_MAX; value++) {
		const char *name = o2_msg_type_name((uint8_t)value);

		if (name != NULL && strcmp(name, type) == 0) {
			msg->ibm_type = (uint8_t)value;
			return 0;
		}
	}
	return o2_refuse(error, -EINVAL, "json/unknown-name", "ibm_type", O2_NO_INDEX, 0, O2_NO_LIMIT);
}

int o2_msg_from_json(const json_t *object, struct o2_msg_json *read, struct o2_error *error)
{
	struct o2_msg *msg = &read->msg;
	const json_t *body;
	uint16_t credits = 0;
	int rc;

	memset(read, 0, sizeof(*read));
	rc = read_names(object, msg, error);
	if (rc == 0)
		rc = read_small(object, "ibm_version", UINT16_MAX, &msg->ibm_version, error);
	if (rc == 0)
		rc = read_small(object, "ibm_credits", UINT8_MAX, &credits, error);
	msg->ibm_credits = (uint8_t)credits;
	/* Encoding computes it, so what is written by hand may leave it out. */
	if (rc == 0 && json_object_get(object, "ibm_nob") != NULL)
		rc = o2_json_get_u32(object, "ibm_nob", UINT32_MAX, &msg->ibm_nob, error);
	if (rc == 0)
		rc = o2_nid_from_json(object, "ibm_srcnid", "ibm_srcnid", &msg->ibm_srcnid, error);
	if (rc == 0)
		rc = o2_json_get_hex(object, "ibm_srcstamp", &msg->ibm_srcstamp, error);
	if (rc == 0)
		rc = o2_nid_from_json(object, "ibm_dstnid", "ibm_dstnid", &msg->ibm_dstnid, error);
	if (rc == 0)
		rc = o2_json_get_hex(object, "ibm_dststamp", &msg->ibm_dststamp, error);
	if (rc == 0)
		rc = o2_json_get_object(object, "body", &body, error);
	return rc != 0 ? rc : read_body(body, read, error);
}
