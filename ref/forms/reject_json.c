/* SPDX-License-Identifier: MIT */
#include "forms/reject_json.h"

#include <string.h>

#include "base/fields_json.h"
#include "base/json.h"
#include "forms/wire_fields.h"

json_t *o2_reject_to_json(const struct o2_reject *reject)
{
	return o2_fields_to_json(o2_reject_fields, reject);
}

static int read_reject(const json_t *form, struct o2_reject *reject, struct o2_error *error)
{
	memset(reject, 0, sizeof(*reject));
	return o2_part_from_json(form, "reject", o2_reject_fields, reject, error);
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
	const int rc = o2_wire_output_expect(object, O2_REJECT_DECODE_OUTPUT_FORM, refused, error);

	return rc != 0 || refused->refused.code != 0 ? rc : read_reject(object, reject, error);
}

json_t *o2_reject_encode_input_to_json(const struct o2_reject *reject)
{
	return o2_json_with(o2_json_form(O2_REJECT_ENCODE_INPUT_FORM), "reject", o2_reject_to_json(reject));
}

int o2_reject_encode_input_from_json(const json_t *object, struct o2_reject *reject, struct o2_error *error)
{
	const int rc = o2_json_expect_form(object, O2_REJECT_ENCODE_INPUT_FORM, error);

	return rc != 0 ? rc : read_reject(object, reject, error);
}
