/* SPDX-License-Identifier: MIT */
#include "base/fields_json.h"
#include "base/json.h"
#include "forms/bytes_json.h"
#include "forms/msg_json.h"
#include "forms/wire_fields.h"

/* Read "options".  If it or one of its members is missing, the default applies. */
static int read_options(const json_t *object, struct o2_wire_options *options, struct o2_error *error)
{
	const json_t *child;
	int rc;

	*options = O2_WIRE_DEFAULTS;
	if (json_object_get(object, "options") == NULL)
		return 0;
	rc = o2_json_get_object(object, "options", &child, error);
	return rc != 0 ? rc : o2_fields_from_json(child, o2_wire_option_fields, options, error);
}

static json_t *form_with_options(const char *form, const struct o2_wire_options *options)
{
	return o2_json_with(o2_json_form(form), "options", o2_fields_to_json(o2_wire_option_fields, options));
}

json_t *o2_msg_decode_input_to_json(const uint8_t *bytes, size_t length_bytes,
				    const struct o2_wire_options *options)
{
	return o2_json_with(form_with_options(O2_MSG_DECODE_INPUT_FORM, options), "bytes",
			    o2_bytes_to_json(bytes, length_bytes));
}

int o2_msg_decode_input_from_json(const json_t *object, struct o2_wire_bytes *bytes,
				  struct o2_wire_options *options, struct o2_error *error)
{
	int rc = o2_json_expect_form(object, O2_MSG_DECODE_INPUT_FORM, error);

	if (rc == 0)
		rc = read_options(object, options, error);
	if (rc == 0)
		rc = o2_bytes_from_json(object, "bytes", "bytes", bytes->bytes, sizeof(bytes->bytes),
					&bytes->length_bytes, error);
	return rc;
}

json_t *o2_msg_decode_output_to_json(const struct o2_msg *msg, const struct o2_error *refused)
{
	bool is_refused;
	json_t *object = o2_wire_output_form(O2_MSG_DECODE_OUTPUT_FORM, refused, &is_refused);

	return is_refused ? object : o2_json_with(object, "message", o2_msg_to_json(msg));
}

int o2_msg_decode_output_from_json(const json_t *object, struct o2_msg_json *read,
				   struct o2_wire_refused *refused, struct o2_error *error)
{
	const int rc = o2_wire_output_expect(object, O2_MSG_DECODE_OUTPUT_FORM, refused, error);

	return rc != 0 || refused->refused.code != 0 ? rc : o2_msg_member_from_json(object, read, error);
}

json_t *o2_msg_encode_input_to_json(const struct o2_msg *msg, const struct o2_wire_options *options)
{
	return o2_json_with(form_with_options(O2_MSG_ENCODE_INPUT_FORM, options), "message",
			    o2_msg_to_json(msg));
}

int o2_msg_encode_input_from_json(const json_t *object, struct o2_msg_json *read,
				  struct o2_wire_options *options, struct o2_error *error)
{
	int rc = o2_json_expect_form(object, O2_MSG_ENCODE_INPUT_FORM, error);

	if (rc == 0)
		rc = read_options(object, options, error);
	return rc != 0 ? rc : o2_msg_member_from_json(object, read, error);
}

json_t *o2_msg_encode_output_to_json(const uint8_t *bytes, size_t length_bytes,
				     const struct o2_error *refused)
{
	bool is_refused;
	json_t *object = o2_wire_output_form(O2_MSG_ENCODE_OUTPUT_FORM, refused, &is_refused);

	return is_refused ? object : o2_json_with(object, "bytes", o2_bytes_to_json(bytes, length_bytes));
}

int o2_msg_encode_output_from_json(const json_t *object, struct o2_wire_bytes *bytes,
				   struct o2_wire_refused *refused, struct o2_error *error)
{
	int rc = o2_wire_output_expect(object, O2_MSG_ENCODE_OUTPUT_FORM, refused, error);

	if (rc != 0 || refused->refused.code != 0)
		return rc;
	return o2_bytes_from_json(object, "bytes", "bytes", bytes->bytes, sizeof(bytes->bytes),
				  &bytes->length_bytes, error);
}
