/* SPDX-License-Identifier: MIT */
#ifndef O2_FORMS_REJECT_JSON_H
#define O2_FORMS_REJECT_JSON_H

#include <jansson.h>

#include "base/error.h"
#include "forms/msg_json.h"
#include "wire/reject.h"

/*
 * The reject record's JSON forms.  Source: docs/wire.md, "JSON forms".
 *
 *   o2ref/reject_decode/output  "reject", or "refused" (as in forms/msg_json.h)
 *   o2ref/reject_encode/input   "reject"
 *
 * Writers return NULL when memory runs out, or for a struct that decoding could not have produced; the caller
 * owns the result.  Readers return 0 or -EINVAL.
 */

#define O2_REJECT_DECODE_OUTPUT_FORM "o2ref/reject_decode/output"
#define O2_REJECT_ENCODE_INPUT_FORM  "o2ref/reject_encode/input"

json_t *o2_reject_to_json(const struct o2_reject *reject);

/* refused: filled in by o2_reject_decode; the record is written only if refused->code is 0. */
json_t *o2_reject_decode_output_to_json(const struct o2_reject *reject, const struct o2_error *refused);
int o2_reject_decode_output_from_json(const json_t *object, struct o2_reject *reject,
				      struct o2_wire_refused *refused, struct o2_error *error);

json_t *o2_reject_encode_input_to_json(const struct o2_reject *reject);
int o2_reject_encode_input_from_json(const json_t *object, struct o2_reject *reject, struct o2_error *error);

#endif
