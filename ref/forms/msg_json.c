/* SPDX-License-Identifier: MIT */
#include "forms/msg_json.h"

#include <errno.h>
#include <string.h>

#include "base/fields_json.h"
#include "base/json.h"
#include "forms/bytes_json.h"
#include "forms/wire_fields.h"

json_t *o2_msg_to_json(const struct o2_msg *msg)
{
	json_t *object = o2_fields_to_json(o2_msg_header_fields, msg);
	json_t *body;

	if (object == NULL) /* NULL for a type without a name, and so on */
		return NULL;
	body = o2_fields_to_json(o2_msg_body_fields(msg->ibm_type), msg);
	if (msg->ibm_type == O2_MSG_IMMEDIATE)
		body = o2_json_with(
			body, "payload",
			o2_bytes_to_json(msg->u.immediate.payload, msg->u.immediate.hdr.payload_length));
	return o2_json_with(object, "body", body);
}

static int read_payload(const json_t *body, struct o2_msg_json *read, struct o2_error *error)
{
	const uint32_t claimed = read->msg.u.immediate.hdr.payload_length;
	size_t found = 0;
	int rc = o2_bytes_from_json(body, "payload", "payload", read->payload, sizeof(read->payload), &found,
				    error);

	if (rc == 0 && found != claimed)
		rc = o2_refuse_value(error, -EINVAL, "json/payload-length", "hdr.payload_length", claimed,
				     found);
	read->msg.u.immediate.payload = read->payload;
	return rc;
}

int o2_msg_from_json(const json_t *object, struct o2_msg_json *read, struct o2_error *error)
{
	const json_t *body;
	int rc;

	memset(read, 0, sizeof(*read));
	rc = o2_fields_from_json(object, o2_msg_header_fields, &read->msg, error);
	if (rc == 0)
		rc = o2_json_get_object(object, "body", &body, error);
	if (rc == 0)
		rc = o2_fields_from_json(body, o2_msg_body_fields(read->msg.ibm_type), &read->msg, error);
	if (rc == 0 && read->msg.ibm_type == O2_MSG_IMMEDIATE)
		rc = read_payload(body, read, error);
	return rc;
}

int o2_msg_member_from_json(const json_t *form, struct o2_msg_json *read, struct o2_error *error)
{
	const json_t *message;
	const int rc = o2_json_get_object(form, "message", &message, error);

	return rc != 0 ? rc : o2_msg_from_json(message, read, error);
}
