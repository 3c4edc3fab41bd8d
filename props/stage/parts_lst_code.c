/* SPDX-License-Identifier: MIT */
/* Which messages of LNet selftest can be encoded, and the names of its values: docs/lst.md, "Rules". */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "lst/wire/msg.h"
#include "props/scenario/draw.h"
#include "props/stage/parts_internal.h"

#define TYPES	   18u
#define BYTES	   160u
#define NAME_BYTES 32u
#define POISON	   0xa5u

char *o2_parts_lst_name(struct o2_lst_msg *msg)
{
	switch (msg->msg_type) {
	case O2_LST_MKSN_REQST:
		return msg->u.mksn_reqst.mksn_name.text;
	case O2_LST_MKSN_REPLY:
		return msg->u.mksn_reply.mksn_name.text;
	case O2_LST_DEBUG_REPLY:
		return msg->u.debug_reply.dbg_name.text;
	case O2_LST_JOIN_REQST:
		return msg->u.join_reqst.join_group.text;
	case O2_LST_JOIN_REPLY:
		return msg->u.join_reply.join_session.text;
	default:
		return NULL;
	}
}

/* Draw the value after the last valid one, or any greater value. */
static uint32_t past(struct o2_choice *c, uint32_t last)
{
	return o2_draw_bool(c, 1, 1) ? last + 1 : last + 1 + (uint32_t)o2_draw(c, UINT32_MAX - last - 1);
}

/* Draw a message; returns the rule that refuses it, or NULL. */
static const char *draw_message(struct o2_choice *c, struct o2_lst_msg *msg, uint64_t *value, uint64_t *limit)
{
	const char *rule = NULL;
	char *name;

	memset(msg, 0, sizeof(*msg));
	msg->order = o2_draw_bool(c, 1, 1) ? O2_BIG_ENDIAN : O2_LITTLE_ENDIAN;
	msg->msg_version = (uint32_t)o2_draw_wild(c);
	msg->msg_type = o2_draw_bool(c, 3, 1) ? past(c, TYPES - 1) : (uint32_t)o2_draw(c, TYPES - 1);
	name = msg->msg_type < TYPES ? o2_parts_lst_name(msg) : NULL;
	if (name != NULL) {
		const bool without_zero = o2_draw_bool(c, 1, 1);

		memset(name, 'n', NAME_BYTES - !without_zero);
		if (without_zero)
			rule = "lst/encode/name", *value = NAME_BYTES, *limit = NAME_BYTES - 1;
	}
	if (msg->msg_type >= TYPES)
		rule = "lst/encode/type", *value = msg->msg_type, *limit = TYPES - 1;
	if (o2_draw_bool(c, 7, 1)) {
		msg->order = (enum o2_byte_order)past(c, O2_BIG_ENDIAN);
		rule = "lst/encode/order", *value = msg->order, *limit = O2_BIG_ENDIAN;
	}
	return rule;
}

static bool is_named(const char *name, bool there)
{
	return (name != NULL) == there;
}

/* Existing values have names, others do not. */
static void check_names(struct o2_report *report, uint32_t type, uint32_t value, uint32_t service)
{
	const bool is_service = service <= 6 || service == 11 || service == 12;

	if (!is_named(o2_lst_type_name(type), type < TYPES) ||
	    (o2_lst_body_bytes(type) != 0) != (type < TYPES) ||
	    !is_named(o2_lst_rw_name(value), value == 1 || value == 2) ||
	    !is_named(o2_lst_check_name(value), value >= 1 && value <= 4) ||
	    !is_named(o2_lst_opc_name(value), value >= 1 && value <= 3) ||
	    !is_named(o2_lst_service_name(service), is_service) ||
	    (o2_lst_request_type(service) >= 0) != is_service)
		o2_report_fail(report, "parts/lst/name",
			       "of type %" PRIu32 ", number %" PRIu32 " or service %" PRIu32, type, value,
			       service);
}

/* True if encoded: the buffer starts with the magic, and its old content is gone (a version may look like it). */
static bool is_written(const struct o2_lst_msg *msg, const uint8_t *bytes)
{
	static const uint8_t magic[] = {0xee, 0xb0, 0xf0, 0x0d};
	const bool big = msg->order == O2_BIG_ENDIAN;
	uint32_t poisoned = 0;

	for (uint32_t i = 0; i < 4; i++)
		if (bytes[i] != magic[big ? i : 3 - i])
			return false;
	for (uint32_t i = 0; i < BYTES; i++)
		poisoned += bytes[i] == POISON;
	return poisoned <= sizeof(msg->msg_version);
}

void o2_parts_lst_code(struct o2_parts_run *run, struct o2_choice *c, struct o2_report *report)
{
	/* As if left by an earlier call. */
	struct o2_error error = {.code = -1, .rule = "", .field = ""};
	uint64_t value = 0, limit = 0;
	uint8_t bytes[BYTES];
	struct o2_lst_msg msg;
	const char *rule = draw_message(c, &msg, &value, &limit);
	int rc;

	memset(bytes, POISON, sizeof(bytes));
	rc = o2_lst_msg_encode(&msg, bytes, &error);
	run->tally.seen[rule == NULL ? O2_PARTS_LST_WRITTEN : O2_PARTS_LST_NOT_WRITTEN]++;
	snprintf(run->text, sizeof(run->text), "a message of LNet selftest, type %" PRIu32 ", order %u",
		 msg.msg_type, (unsigned int)msg.order);
	check_names(report, msg.msg_type, (uint32_t)o2_draw(c, 6), (uint32_t)o2_draw(c, 14));
	if (rule == NULL && (rc != 0 || error.code != 0 || error.rule != NULL || !is_written(&msg, bytes)))
		o2_report_fail(report, "parts/lst/written", "type %" PRIu32 ": %d by %s", msg.msg_type, rc,
			       error.rule == NULL ? "nothing" : error.rule);
	if (rule != NULL && (rc != -EINVAL || error.rule == NULL || strcmp(error.rule, rule) != 0 ||
			     error.value != value || error.limit != limit))
		o2_report_fail(report, "parts/lst/written",
			       "type %" PRIu32 ": %d by %s, %" PRIu64 ", limit %" PRIu64
			       "; expected %s, %" PRIu64 ", limit %" PRIu64,
			       msg.msg_type, rc, error.rule == NULL ? "nothing" : error.rule, error.value,
			       error.limit, rule, value, limit);
}
