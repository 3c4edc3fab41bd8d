/* SPDX-License-Identifier: MIT */
#include "wire/reject_json.h"

#include <string.h>

#include "base/json.h"

static const char *const order_names[] = {[O2_LITTLE_ENDIAN] = "little", [O2_BIG_ENDIAN] = "big"};
static const char *const magic_names[] = {"o2iblnd", "lnet"};

json_t *o2_reject_to_json(const struct o2_reject *reject)
{
	const char *why = o2_reject_why_name(reject->ibr_why);

	if (why == NULL || reject->order > O2_BIG_ENDIAN)
		return NULL;
	return json_pack("{s:s, s:s, s:I, s:I, s:s, s:o, s:{s:I, s:I, s:I}}", "byte_order",
			 order_names[reject->order], "ibr_magic", magic_names[reject->generic_magic],
			 "ibr_version", (json_int_t)reject->ibr_version, "ibr_why",
			 (json_int_t)reject->ibr_why, "why", why, "ibr_incarnation",
			 o2_json_hex(reject->ibr_incarnation), "ibr_cp", "ibcp_queue_depth",
			 (json_int_t)reject->ibr_cp.ibcp_queue_depth, "ibcp_max_frags",
			 (json_int_t)reject->ibr_cp.ibcp_max_frags, "ibcp_max_msg_size",
			 (json_int_t)reject->ibr_cp.ibcp_max_msg_size);
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

static int read_params(const json_t *object, struct o2_reject *reject, struct o2_error *error)
{
	const json_t *params;
	int rc = o2_json_get_object(object, "ibr_cp", &params, error);

	if (rc == 0)
		rc = read_small(params, "ibcp_queue_depth", UINT16_MAX, &reject->ibr_cp.ibcp_queue_depth,
				error);
	if (rc == 0)
		rc = read_small(params, "ibcp_max_frags", UINT16_MAX, &reject->ibr_cp.ibcp_max_frags, error);
	if (rc == 0)
		rc = o2_json_get_u32(params, "ibcp_max_msg_size", UINT32_MAX,
				     &reject->ibr_cp.ibcp_max_msg_size, error);
	return rc;
}

int o2_reject_from_json(const json_t *object, struct o2_reject *reject, struct o2_error *error)
{
	uint32_t order = 0, magic = 0;
	uint16_t why = 0;
	int rc;

	memset(reject, 0, sizeof(*reject));
	rc = o2_json_get_name(object, "byte_order", order_names, 2, &order, error);
	/* What is written by hand may leave out the usual magic.  "why" is for readers alone. */
	if (rc == 0 && json_object_get(object, "ibr_magic") != NULL)
		rc = o2_json_get_name(object, "ibr_magic", magic_names, 2, &magic, error);
	if (rc == 0)
		rc = read_small(object, "ibr_version", UINT16_MAX, &reject->ibr_version, error);
	if (rc == 0)
		rc = read_small(object, "ibr_why", UINT8_MAX, &why, error);
	if (rc == 0)
		rc = o2_json_get_hex(object, "ibr_incarnation", &reject->ibr_incarnation, error);
	if (rc == 0)
		rc = read_params(object, reject, error);
	reject->order = (enum o2_byte_order)order;
	reject->generic_magic = magic == 1;
	reject->ibr_why = (uint8_t)why;
	return rc;
}

json_t *o2_reject_decode_output_to_json(const struct o2_reject *reject, const struct o2_error *refused)
{
	bool is_refused;
	json_t *object = o2_wire_output_form(O2_REJECT_DECODE_OUTPUT_FORM, refused, &is_refused);

	return is_refused ? object : o2_json_with(object, "reject", o2_reject_to_json(reject));
}

int o2_reject_decode_output_from_json(const json_t *object, struct o2_reject *reject,
				      struct o2_wire_refused *refused, struct o2_error *error)
{
	const json_t *child;
	int rc = o2_wire_output_expect(object, O2_REJECT_DECODE_OUTPUT_FORM, refused, error);

	if (rc != 0 || refused->refused.code != 0)
		return rc;
	rc = o2_json_get_object(object, "reject", &child, error);
	return rc != 0 ? rc : o2_reject_from_json(child, reject, error);
}

json_t *o2_reject_encode_input_to_json(const struct o2_reject *reject)
{
	return o2_json_with(o2_json_form(O2_REJECT_ENCODE_INPUT_FORM), "reject", o2_reject_to_json(reject));
}

int o2_reject_encode_input_from_json(const json_t *object, struct o2_reject *reject, struct o2_error *error)
{
	const json_t *child;
	int rc = o2_json_expect_form(object, O2_REJECT_ENCODE_INPUT_FORM, error);

	if (rc == 0)
		rc = o2_json_get_object(object, "reject", &child, error);
	return rc != 0 ? rc : o2_reject_from_json(child, reject, error);
}
