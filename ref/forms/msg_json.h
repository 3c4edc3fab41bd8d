/* SPDX-License-Identifier: MIT */
#ifndef O2_FORMS_MSG_JSON_H
#define O2_FORMS_MSG_JSON_H

#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

#include "base/error.h"
#include "forms/output_json.h"
#include "wire/msg.h"

/*
 * The codec's JSON forms.  Source: docs/wire.md, "JSON forms".
 *
 *   o2ref/msg_decode/input   "bytes" (hexadecimal digits) and "options"
 *   o2ref/msg_decode/output  "message", or "refused"
 *   o2ref/msg_encode/input   "message" and "options"
 *   o2ref/msg_encode/output  "bytes", or "refused"
 *
 * "refused" is as in base/refused_json.h, plus "class" ("connection", "message", "local") and "offset_bytes".
 * Writers return NULL when memory runs out, or for a struct that decoding could not have produced; the caller
 * owns the result.  Readers return 0, -EINVAL or -EAFNOSUPPORT (an IPv6 NID).
 */

#define O2_MSG_DECODE_INPUT_FORM  "o2ref/msg_decode/input"
#define O2_MSG_DECODE_OUTPUT_FORM "o2ref/msg_decode/output"
#define O2_MSG_ENCODE_INPUT_FORM  "o2ref/msg_encode/input"
#define O2_MSG_ENCODE_OUTPUT_FORM "o2ref/msg_encode/output"

/* More than a message has, so that a form can hold bytes after it, and too many of them. */
#define O2_WIRE_INPUT_BYTES 8192u

struct o2_wire_bytes {
	size_t length_bytes;
	uint8_t bytes[O2_WIRE_INPUT_BYTES];
};

/* A message read from JSON: msg.u.immediate.payload, if there is one, points into payload. */
struct o2_msg_json {
	struct o2_msg msg;
	uint8_t payload[O2_MSG_BYTES];
};

json_t *o2_msg_to_json(const struct o2_msg *msg);
int o2_msg_from_json(const json_t *object, struct o2_msg_json *read, struct o2_error *error);
/* Read the member "message" of a form. */
int o2_msg_member_from_json(const json_t *form, struct o2_msg_json *read, struct o2_error *error);

json_t *o2_msg_decode_input_to_json(const uint8_t *bytes, size_t length_bytes,
				    const struct o2_wire_options *options);
int o2_msg_decode_input_from_json(const json_t *object, struct o2_wire_bytes *bytes,
				  struct o2_wire_options *options, struct o2_error *error);

/* refused: filled in by o2_msg_decode; msg is written only if refused->code is 0. */
json_t *o2_msg_decode_output_to_json(const struct o2_msg *msg, const struct o2_error *refused);
int o2_msg_decode_output_from_json(const json_t *object, struct o2_msg_json *read,
				   struct o2_wire_refused *refused, struct o2_error *error);

json_t *o2_msg_encode_input_to_json(const struct o2_msg *msg, const struct o2_wire_options *options);
int o2_msg_encode_input_from_json(const json_t *object, struct o2_msg_json *read,
				  struct o2_wire_options *options, struct o2_error *error);

/* refused: filled in by o2_msg_encode; the bytes are written only if refused->code is 0. */
json_t *o2_msg_encode_output_to_json(const uint8_t *bytes, size_t length_bytes,
				     const struct o2_error *refused);
int o2_msg_encode_output_from_json(const json_t *object, struct o2_wire_bytes *bytes,
				   struct o2_wire_refused *refused, struct o2_error *error);

#endif
