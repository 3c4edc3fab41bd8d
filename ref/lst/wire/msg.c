/* SPDX-License-Identifier: MIT */
#include "lst/wire/msg.h"

#include <string.h>

#include "lst/wire/fields.h"
#include "lst/wire/layout.h"
#include "lst/wire/rules.h"
#include "wire/bytes.h"

/* --- reading --- */

static uint64_t load(const uint8_t *bytes, uint32_t width_bytes, enum o2_byte_order order)
{
	switch (width_bytes) {
	case 1:
		return bytes[0];
	case 2:
		return o2_load16(bytes, order);
	case 4:
		return o2_load32(bytes, order);
	default:
		assert(width_bytes == 8);
		return o2_load64(bytes, order);
	}
}

/* Copy a name up to its zero, at most 31 characters.  *name must be zero. */
static void load_name(const uint8_t *bytes, char *name)
{
	for (uint32_t i = 0; i < O2_LST_NAME_BYTES - 1 && bytes[i] != 0; i++)
		name[i] = (char)bytes[i];
}

/* Decode the fields of a table.  bytes: where their struct begins in the message.  *holder must be zero. */
static void load_fields(const struct o2_field *fields, const uint8_t *bytes, enum o2_byte_order order,
			void *holder)
{
	for (const struct o2_field *field = fields; field->name != NULL; field++) {
		const uint8_t *at = bytes + field->wire_at;
		uint8_t *member = (uint8_t *)holder + field->offset_bytes;

		if (field->kind == O2_FIELD_MORE)
			load_fields(field->more(holder), bytes, order, holder);
		else if (field->kind == O2_FIELD_PART)
			load_fields(field->part, at, order, member);
		else if (field->kind == O2_FIELD_CHARS)
			load_name(at, (char *)member);
		else
			o2_field_set(field, holder, load(at, field->width_bytes, order));
	}
}

int o2_lst_msg_decode(const uint8_t *bytes, size_t length_bytes, struct o2_lst_msg *msg,
		      struct o2_error *error)
{
	uint32_t type;

	o2_error_clear(error);
	memset(msg, 0, sizeof(*msg));
	if (o2_lst_breaks(O2_LST_RULE_LENGTH, length_bytes != O2_LST_MSG_BYTES))
		return o2_lst_refuse(error, O2_LST_RULE_LENGTH, length_bytes, O2_LST_MSG_BYTES);
	if (o2_load32_be(bytes + O2_LST_AT_MAGIC) == O2_LST_MSG_MAGIC)
		msg->order = O2_BIG_ENDIAN;
	else if (o2_lst_breaks(O2_LST_RULE_MAGIC, o2_load32_le(bytes + O2_LST_AT_MAGIC) != O2_LST_MSG_MAGIC))
		return o2_lst_refuse(error, O2_LST_RULE_MAGIC, o2_load32_le(bytes + O2_LST_AT_MAGIC),
				     O2_LST_MSG_MAGIC);
	type = o2_load32(bytes + O2_LST_AT_TYPE, msg->order);
	if (type >= O2_LST_TYPE_COUNT) {
		msg->order = O2_LITTLE_ENDIAN;
		return o2_lst_refuse(error, O2_LST_RULE_TYPE, type, O2_LST_TYPE_COUNT - 1);
	}
	load_fields(o2_lst_header_fields, bytes, msg->order, msg);
	load_fields(o2_lst_body_fields(type), bytes, msg->order, msg);
	if (o2_lst_breaks(O2_LST_RULE_VERSION, msg->msg_version != O2_LST_MSG_VERSION))
		return o2_lst_refuse(error, O2_LST_RULE_VERSION, msg->msg_version, O2_LST_MSG_VERSION);
	return 0;
}

int o2_lst_msg_expect(const struct o2_lst_msg *msg, uint32_t msg_type, struct o2_error *error)
{
	o2_error_clear(error);
	if (o2_lst_breaks(O2_LST_RULE_TYPE_FOR_SERVICE, msg->msg_type != msg_type))
		return o2_lst_refuse(error, O2_LST_RULE_TYPE_FOR_SERVICE, msg->msg_type, msg_type);
	return 0;
}

/* --- writing --- */

static void store(uint8_t *bytes, uint32_t width_bytes, enum o2_byte_order order, uint64_t value)
{
	switch (width_bytes) {
	case 1:
		bytes[0] = (uint8_t)value;
		break;
	case 2:
		o2_store16(bytes, order, (uint16_t)value);
		break;
	case 4:
		o2_store32(bytes, order, (uint32_t)value);
		break;
	default:
		assert(width_bytes == 8);
		o2_store64(bytes, order, value);
		break;
	}
}

/* Encode the fields of a table.  bytes must be zero.  A name without a zero is refused. */
static int store_fields(const struct o2_field *fields, const void *holder, enum o2_byte_order order,
			uint8_t *bytes, struct o2_error *error)
{
	int rc = 0;

	for (const struct o2_field *field = fields; rc == 0 && field->name != NULL; field++) {
		uint8_t *at = bytes + field->wire_at;
		const uint8_t *member = (const uint8_t *)holder + field->offset_bytes;

		if (field->kind == O2_FIELD_MORE) {
			rc = store_fields(field->more(holder), holder, order, bytes, error);
		} else if (field->kind == O2_FIELD_PART) {
			rc = store_fields(field->part, member, order, at, error);
		} else if (field->kind == O2_FIELD_CHARS) {
			const size_t length = strnlen((const char *)member, field->width_bytes);

			memcpy(at, member, length);
			if (length == field->width_bytes)
				rc = o2_lst_refuse(error, O2_LST_RULE_ENCODE_NAME, length, length - 1);
		} else {
			store(at, field->width_bytes, order, o2_field_value(field, holder));
		}
	}
	return rc;
}

int o2_lst_msg_encode(const struct o2_lst_msg *msg, uint8_t *bytes, struct o2_error *error)
{
	int rc;

	o2_error_clear(error);
	if (msg->order != O2_LITTLE_ENDIAN && msg->order != O2_BIG_ENDIAN)
		return o2_lst_refuse(error, O2_LST_RULE_ENCODE_ORDER, msg->order, O2_BIG_ENDIAN);
	if (msg->msg_type >= O2_LST_TYPE_COUNT)
		return o2_lst_refuse(error, O2_LST_RULE_ENCODE_TYPE, msg->msg_type, O2_LST_TYPE_COUNT - 1);
	memset(bytes, 0, O2_LST_MSG_BYTES);
	o2_store32(bytes + O2_LST_AT_MAGIC, msg->order, O2_LST_MSG_MAGIC);
	rc = store_fields(o2_lst_header_fields, msg, msg->order, bytes, error);
	return rc != 0 ? rc : store_fields(o2_lst_body_fields(msg->msg_type), msg, msg->order, bytes, error);
}

enum o2_lst_test_kind o2_lst_test_kind(const struct o2_lst_msg *msg)
{
	if (msg->u.test_reqst.tsr_service == O2_LST_SERVICE_PING)
		return O2_LST_TEST_PING;
	if (msg->u.test_reqst.tsr_service != O2_LST_SERVICE_BRW)
		return O2_LST_TEST_OTHER;
	return (msg->msg_ses_feats & O2_LST_FEAT_BULK_LEN) != 0 ? O2_LST_TEST_BULK_V1 : O2_LST_TEST_BULK_V0;
}

/* --- destinations --- */

void o2_lst_dest_load(const uint8_t *bytes, enum o2_byte_order order, struct o2_lst_dest *dest)
{
	dest->nid = o2_load64(bytes, order);
	dest->pid = o2_load32(bytes + 8, order);
}

void o2_lst_dest_store(const struct o2_lst_dest *dest, enum o2_byte_order order, uint8_t *bytes)
{
	o2_store64(bytes, order, dest->nid);
	o2_store32(bytes + 8, order, dest->pid);
}
