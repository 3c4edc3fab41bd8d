/* SPDX-License-Identifier: MIT */
/* Parts of the codec that the vectors (test_lst_vectors.c) do not test: services, encoding, the table of rules. */
#include "tests/lib/unit_test.h"

#include "lst/wire/fields.h"
#include "lst/wire/layout.h"
#include "lst/wire/msg.h"
#include "lst/wire/msg_json.h"
#include "lst/wire/rules.h"
#include "wire/bytes.h"

static void sample(struct o2_lst_msg *msg, uint32_t type)
{
	memset(msg, 0, sizeof(*msg));
	msg->msg_version = O2_LST_MSG_VERSION;
	msg->msg_type = type;
	msg->msg_ses_feats = O2_LST_FEAT_BULK_LEN;
}

/* Check a row of docs/lst.md, "Services". */
static void check_service(const char *text, uint32_t type)
{
	const enum o2_lst_service service = o2_lst_service_of_type(type);
	char row[256];

	snprintf(row, sizeof(row), "\n| %s | %u | %u | %u %s | %u %s | %u, %u", o2_lst_service_name(service),
		 service, o2_lst_portal_of_service(service), type, o2_lst_type_name(type), type + 1,
		 o2_lst_type_name(type + 1), o2_lst_body_bytes(type), o2_lst_body_bytes(type + 1));
	if (strstr(text, row) == NULL)
		fail_msg("docs/lst.md has no row%s", row);
	assert_int_equal(o2_lst_request_type(service), type);
	assert_int_equal(o2_lst_service_of_type(type + 1), service);
	assert_false(o2_lst_type_is_reply(type));
	assert_true(o2_lst_type_is_reply(type + 1));
}

TEST(types_services_and_portals_are_those_of_the_page)
{
	uint32_t known = 0;

	for (uint32_t type = 0; type < O2_LST_TYPE_COUNT; type += 2)
		check_service(test_page("lst.md"), type);
	for (uint64_t service = 0; service < 64; service++)
		known += o2_lst_request_type(service) >= 0;
	assert_int_equal(known, O2_LST_TYPE_COUNT / 2);
	assert_int_equal(o2_lst_request_type(UINT64_MAX), -1);
	assert_int_equal(o2_lst_request_type(UINT64_C(1) << 32), -1);
	assert_null(o2_lst_service_name(O2_LST_SERVICE_FRAMEWORK_END));
	assert_null(o2_lst_type_name(O2_LST_TYPE_COUNT));
	assert_int_equal(o2_lst_body_bytes(O2_LST_TYPE_COUNT), 0);
}

TEST(every_rule_has_a_row_in_its_place)
{
	static const char *const classes[] = {"local", "message", "connection"};
	const char *at = strstr(test_page("lst.md"), "\n## Rules");

	for (unsigned int i = 0; i < O2_LST_RULE_COUNT; i++) {
		const struct o2_wire_rule *rule = &o2_lst_rules[i];
		char row[256];

		snprintf(row, sizeof(row), "\n| `%s` | %s | %s |", rule->id, classes[rule->class],
			 rule->field);
		at = strstr(at, row);
		if (at == NULL)
			fail_msg("docs/lst.md has no row%s (in this place)", row);
	}
	assert_null(strstr(at + 1, "\n| `lst/"));
}

/* --- each byte of a body belongs to one field --- */

static void see_fields(const struct o2_field *fields, const void *holder, uint32_t at, uint8_t *rows)
{
	for (const struct o2_field *field = fields; field->name != NULL; field++) {
		const uint32_t from = at + field->wire_at;

		if (field->kind == O2_FIELD_MORE)
			see_fields(field->more(holder), holder, at, rows);
		else if (field->kind == O2_FIELD_PART)
			see_fields(field->part, (const uint8_t *)holder + field->offset_bytes, from, rows);
		else
			for (uint32_t i = 0; i < field->width_bytes; i++)
				rows[from + i]++;
	}
}

static void check_rows(const struct o2_lst_msg *msg)
{
	const bool is_ping =
		msg->msg_type == O2_LST_TEST_REQST && msg->u.test_reqst.tsr_service == O2_LST_SERVICE_PING;
	const uint32_t end = O2_LST_MSG_HEADER_BYTES + o2_lst_body_bytes(msg->msg_type) - (is_ping ? 4 : 0);
	uint8_t rows[2 * O2_LST_MSG_BYTES] = {0};

	see_fields(o2_lst_header_fields, msg, 0, rows);
	see_fields(o2_lst_body_fields(msg->msg_type), msg, 0, rows);
	for (uint32_t i = 0; i < sizeof(rows); i++)
		if (rows[i] != (i >= O2_LST_AT_VERSION && i < end))
			fail_msg("%s: byte %u has %u fields", o2_lst_type_name(msg->msg_type), i, rows[i]);
}

TEST(each_byte_of_a_body_is_in_one_field)
{
	struct o2_lst_msg msg;

	for (uint32_t type = 0; type < O2_LST_TYPE_COUNT; type++) {
		sample(&msg, type);
		if (type == O2_LST_TEST_REQST)
			msg.u.test_reqst.tsr_service = O2_LST_SERVICE_BRW;
		check_rows(&msg);
	}
	sample(&msg, O2_LST_TEST_REQST);
	msg.u.test_reqst.tsr_service = O2_LST_SERVICE_PING;
	check_rows(&msg);
	msg.msg_ses_feats = 0;
	msg.u.test_reqst.tsr_service = O2_LST_SERVICE_BRW;
	check_rows(&msg);
	assert_null(o2_lst_body_fields(O2_LST_TYPE_COUNT)->name);
}

/* --- encoding of invalid input --- */

static void expect_refused(const struct o2_lst_msg *msg, const char *rule, uint64_t value, uint64_t limit)
{
	uint8_t bytes[O2_LST_MSG_BYTES];
	struct o2_error error = {0};

	assert_int_equal(o2_lst_msg_encode(msg, bytes, &error), -EINVAL);
	assert_string_equal(error.rule, rule);
	assert_int_equal(error.class, O2_CLASS_NONE);
	assert_int_equal(error.value, value);
	assert_int_equal(error.limit, limit);
	assert_int_equal(o2_lst_msg_encode(msg, bytes, NULL), -EINVAL);
}

TEST(what_cannot_be_encoded_is_refused)
{
	struct o2_lst_msg msg;

	sample(&msg, O2_LST_PING_REPLY);
	msg.order = (enum o2_byte_order)2;
	expect_refused(&msg, "lst/encode/order", 2, 1);
	sample(&msg, O2_LST_TYPE_COUNT);
	expect_refused(&msg, "lst/encode/type", 18, 17);
	sample(&msg, O2_LST_JOIN_REQST);
	memset(msg.u.join_reqst.join_group.text, 'a', O2_LST_NAME_BYTES);
	expect_refused(&msg, "lst/encode/name", 32, 31);
	msg.u.join_reqst.join_group.text[31] = '\0';
	assert_int_equal(o2_lst_msg_encode(&msg, (uint8_t[O2_LST_MSG_BYTES]){0}, NULL), 0);
}

TEST(a_message_of_another_service_is_refused)
{
	struct o2_error error = {0};
	struct o2_lst_msg msg;

	sample(&msg, O2_LST_MKSN_REQST);
	assert_int_equal(o2_lst_msg_expect(&msg, O2_LST_MKSN_REQST, &error), 0);
	assert_int_equal(o2_lst_msg_expect(&msg, O2_LST_MKSN_REPLY, &error), -EPROTO);
	assert_string_equal(error.rule, "lst/type-for-service");
	assert_int_equal(error.value, O2_LST_MKSN_REQST);
	assert_int_equal(error.limit, O2_LST_MKSN_REPLY);
	assert_int_equal(error.offset_bytes, O2_LST_AT_TYPE);
}

TEST(destinations_are_twelve_bytes_in_either_order)
{
	static const uint8_t little[] = {1, 0, 0x4d, 0x0a, 0, 0, 5, 0, 0x39, 0x30, 0, 0};
	static const uint8_t big[] = {0, 5, 0, 0, 0x0a, 0x4d, 0, 1, 0, 0, 0x30, 0x39};
	uint8_t bytes[O2_LST_DEST_BYTES];
	struct o2_lst_dest dest;

	for (int order = O2_LITTLE_ENDIAN; order <= O2_BIG_ENDIAN; order++) {
		const uint8_t *expected = order == O2_LITTLE_ENDIAN ? little : big;

		o2_lst_dest_load(expected, (enum o2_byte_order)order, &dest);
		assert_int_equal(dest.nid, UINT64_C(0x000500000a4d0001));
		assert_int_equal(dest.pid, 12345);
		o2_lst_dest_store(&dest, (enum o2_byte_order)order, bytes);
		assert_memory_equal(bytes, expected, sizeof(bytes));
	}
}

/* Names in JSON: unprintable characters are escaped; a text that is too long or malformed is refused. */
TEST(names_in_json)
{
	static const struct {
		const char *text, *rule;
	} wrong[] = {
		{"12345678901234567890123456789012", "json/text-too-long"},
		{"a\\", "json/characters"},
		{"a\\x", "json/characters"},
		{"a\\x4", "json/characters"},
		{"a\\xg0", "json/characters"},
		{"a\\x0g", "json/characters"},
		{"a\\x00b", "json/characters"},
		{"a\\n", "json/characters"},
	};
	struct o2_error error = {0};
	struct o2_lst_msg msg, again;
	json_t *object;

	sample(&msg, O2_LST_JOIN_REQST);
	memcpy(msg.u.join_reqst.join_group.text, "a\\b\x01\xff", 6);
	object = o2_lst_msg_to_json(&msg);
	assert_string_equal(json_string_value(json_object_get(object, "join_group")), "a\\x5cb\\x01\\xff");
	/* All of the result is defined, whatever it held before. */
	memset(&again, 0xff, sizeof(again));
	assert_int_equal(o2_lst_msg_from_json(object, &again, &error), 0);
	assert_memory_equal(&again, &msg, sizeof(msg));
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		json_object_set_new(object, "join_group", json_string(wrong[i].text));
		assert_int_equal(o2_lst_msg_from_json(object, &again, &error), -EINVAL);
		assert_string_equal(error.rule, wrong[i].rule);
		assert_string_equal(error.field, "join_group");
	}
	json_object_set_new(object, "join_group", json_integer(1));
	assert_int_equal(o2_lst_msg_from_json(object, &again, &error), -EINVAL);
	assert_string_equal(error.rule, "json/not-a-string");
	json_decref(object);
}
