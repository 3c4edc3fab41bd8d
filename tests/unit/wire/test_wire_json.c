/* SPDX-License-Identifier: MIT */
/* The codec's four JSON forms, written and read back (docs/wire.md, "JSON forms"). */
#include "tests/judge/wire/golden.h"
#include "tests/judge/wire/random_msg.h"

#include "forms/msg_json.h"

static struct o2_msg_json read_msg;
static struct o2_wire_bytes read_bytes;

/* Converts to text and back, as another program would see the form. */
static json_t *reparse(json_t *object)
{
	char *text = object == NULL ? NULL : json_dumps(object, 0);
	json_t *parsed = text == NULL ? NULL : json_loads(text, 0, NULL);

	assert_non_null(parsed);
	free(text);
	json_decref(object);
	return parsed;
}

static void decode_both_ways(const uint8_t *bytes, size_t length)
{
	const struct o2_wire_options options = {.max_frags = 256,
						.require_checksum = false,
						.any_lnd = true,
						.tolerate_immediate_checksum = true};
	static struct o2_msg msg;
	struct o2_wire_options options_read;
	struct o2_wire_refused refused;
	struct o2_error error;
	json_t *form = reparse(o2_msg_decode_input_to_json(bytes, length, &options));

	assert_int_equal(o2_msg_decode_input_from_json(form, &read_bytes, &options_read, &error), 0);
	json_decref(form);
	assert_int_equal(read_bytes.length_bytes, length);
	assert_memory_equal(read_bytes.bytes, bytes, length);
	assert_int_equal(options_read.max_frags, 256);
	assert_true(options_read.any_lnd && !options_read.require_checksum &&
		    options_read.tolerate_immediate_checksum);

	o2_msg_decode(bytes, length, NULL, &msg, &error);
	form = reparse(o2_msg_decode_output_to_json(&msg, &error));
	assert_int_equal(o2_msg_decode_output_from_json(form, &read_msg, &refused, NULL), 0);
	json_decref(form);
	assert_int_equal(refused.refused.code, error.code);
	if (error.code == 0) {
		o2_test_same(&msg, &read_msg.msg);
		assert_int_equal(read_msg.msg.ibm_nob, msg.ibm_nob);
		return;
	}
	assert_string_equal(refused.refused.rule, error.rule);
	assert_string_equal(refused.refused.field, error.field);
	assert_int_equal(refused.refused.value, error.value);
	assert_int_equal(refused.refused.limit, error.limit);
	assert_int_equal(refused.refused.index, error.index);
	assert_int_equal(refused.class, error.class);
	assert_int_equal(refused.offset_bytes, error.offset_bytes);
}

static void encode_both_ways(const struct o2_msg *msg)
{
	const struct o2_wire_options options = {.max_frags = 257, .require_checksum = true, .any_lnd = false};
	static uint8_t bytes[O2_MSG_BYTES];
	struct o2_wire_options options_read;
	struct o2_wire_refused refused;
	struct o2_error error;
	json_t *form = reparse(o2_msg_encode_input_to_json(msg, &options));
	int length;

	assert_int_equal(o2_msg_encode_input_from_json(form, &read_msg, &options_read, &error), 0);
	json_decref(form);
	o2_test_same(msg, &read_msg.msg);
	assert_true(options_read.require_checksum && !options_read.any_lnd &&
		    !options_read.tolerate_immediate_checksum);

	length = o2_msg_encode(msg, NULL, bytes, sizeof(bytes), &error);
	form = reparse(o2_msg_encode_output_to_json(bytes, length < 0 ? 0 : (size_t)length, &error));
	assert_int_equal(o2_msg_encode_output_from_json(form, &read_bytes, &refused, NULL), 0);
	json_decref(form);
	assert_int_equal(refused.refused.code, error.code);
	if (length < 0) {
		assert_string_equal(refused.refused.rule, error.rule);
		return;
	}
	assert_int_equal(read_bytes.length_bytes, length);
	assert_memory_equal(read_bytes.bytes, bytes, (size_t)length);
}

TEST_WITH(random_messages, random_start, NULL)
{
	static struct o2_msg msg;
	static uint8_t bytes[O2_MSG_BYTES];

	for (unsigned int i = 0; i < 500; i++) {
		struct o2_error error;
		int length;

		random_msg(&msg);
		encode_both_ways(&msg);
		length = o2_msg_encode(&msg, NULL, bytes, sizeof(bytes), &error);
		decode_both_ways(bytes, (size_t)length);
		bytes[random_below((uint32_t)length)] ^= (uint8_t)(1 + random_below(255));
		decode_both_ways(bytes, (size_t)length);
	}
}

TEST(refusals)
{
	static struct o2_msg msg;

	decode_both_ways((const uint8_t *)"", 0);
	decode_both_ways(golden[2].bytes, golden[2].length_bytes - 1);
	o2_test_message(&msg, O2_MSG_IMMEDIATE, O2_BIG_ENDIAN, 0);
	msg.u.immediate.hdr.type = O2_LNET_HELLO;
	memset(&msg.u.immediate.hdr.msg, 0, sizeof(msg.u.immediate.hdr.msg));
	msg.u.immediate.hdr.msg.hello.incarnation = O2_TEST_SRCSTAMP;
	msg.u.immediate.hdr.msg.hello.type = 0xfedcba98;
	encode_both_ways(&msg);
	assert_int_equal(read_msg.msg.u.immediate.hdr.msg.hello.type, 0xfedcba98);
	msg.cksum_flavour = O2_CKSUM_UNVERIFIED;
	encode_both_ways(&msg);
	o2_test_message(&msg, O2_MSG_GET_REQ, O2_BIG_ENDIAN, 3);
	msg.u.get.ibgm_rd.rd_frags[1].rf_addr = UINT64_MAX;
	encode_both_ways(&msg);
	/* A struct that decoding cannot produce has no form. */
	msg.ibm_type = 0;
	assert_null(o2_msg_to_json(&msg));
}

/* The form as a person reads it. */
TEST(a_message_reads_well)
{
	json_t *object, *expected;
	struct o2_msg msg;

	golden[2].meaning(&msg);
	msg.ibm_nob = 84;
	object = o2_msg_to_json(&msg);
	expected = json_loads(
		"{\"byte_order\": \"little\", \"ibm_type\": \"PUT_ACK\", \"ibm_version\": 18,"
		" \"ibm_credits\": 0, \"ibm_nob\": 84, \"cksum_flavour\": \"none\","
		" \"ibm_srcnid\": \"192.168.10.1@o2ib\", \"ibm_srcstamp\": \"0x5a1b2c3d4e5f6\","
		" \"ibm_dstnid\": \"192.168.10.2@o2ib\", \"ibm_dststamp\": \"0x5aabbccddeeff\","
		" \"body\": {\"ibpam_src_cookie\": \"0x1122334455667788\","
		" \"ibpam_dst_cookie\": \"0x99aabbccddeeff00\", \"ibpam_rd\": {\"rd_key\": \"0xabcd01\","
		" \"rd_frags\": [{\"rf_nob\": 65536, \"rf_addr\": \"0x7f1234567800\"}]}}}",
		0, NULL);
	assert_non_null(expected);
	assert_true(json_equal(object, expected));
	json_decref(object);
	json_decref(expected);
}

/* Changes one member of a valid form (NULL: removes it) and expects this refusal of this field. */
static void expect_refused(const char *outer, const char *key, json_t *value, const char *rule,
			   const char *field)
{
	const struct o2_wire_options options = O2_WIRE_DEFAULTS;
	struct o2_wire_options options_read;
	struct o2_error error;
	struct o2_msg msg;
	json_t *form, *inner;

	o2_test_message(&msg, O2_MSG_IMMEDIATE, O2_BIG_ENDIAN, 0);
	form = o2_msg_encode_input_to_json(&msg, &options);
	assert_int_equal(o2_msg_encode_input_from_json(form, &read_msg, &options_read, &error), 0);
	inner = outer == NULL ? form : json_object_get(form, outer);
	if (value == NULL)
		json_object_del(inner, key);
	else
		json_object_set_new(inner, key, value);
	if (o2_msg_encode_input_from_json(form, &read_msg, &options_read, &error) != -EINVAL)
		fail_msg("%s: not refused", field);
	assert_string_equal(error.rule, rule);
	assert_string_equal(error.field, field);
	json_decref(form);
}

TEST(bad_forms)
{
	expect_refused(NULL, "version", json_integer(2), "json/version", "version");
	expect_refused(NULL, "form", json_string(O2_MSG_ENCODE_OUTPUT_FORM), "json/form", "form");
	expect_refused(NULL, "message", json_array(), "json/not-an-object", "message");
	expect_refused("options", "max_frags", json_string("257"), "json/not-an-integer", "max_frags");
	expect_refused("options", "any_lnd", json_integer(1), "json/not-a-boolean", "any_lnd");
	expect_refused("message", "byte_order", json_string("middle"), "json/unknown-name", "byte_order");
	expect_refused("message", "ibm_type", json_string("PUT"), "json/unknown-name", "ibm_type");
	expect_refused("message", "ibm_version", json_integer(65536), "json/integer-out-of-range",
		       "ibm_version");
	expect_refused("message", "ibm_credits", json_integer(256), "json/integer-out-of-range",
		       "ibm_credits");
	expect_refused("message", "ibm_srcnid", json_string("1.2.3@o2ib"), "nid/address", "ibm_srcnid");
	expect_refused("message", "ibm_srcnid", json_integer(5), "json/not-a-string", "ibm_srcnid");
	expect_refused("message", "ibm_dststamp", NULL, "json/not-a-hex-string", "ibm_dststamp");
	expect_refused("message", "body", NULL, "json/not-an-object", "body");
}

TEST(bad_bytes)
{
	static const struct {
		const char *bytes, *rule;
	} cases[] = {
		{"911", "json/odd-digits"},
		{"91 1", "json/not-a-hex-digit"},
		{"0x911b", "json/not-a-hex-digit"},
		{"911g", "json/not-a-hex-digit"},
	};
	struct o2_wire_options options;
	struct o2_error error;
	char *text = calloc(1, 2 * O2_WIRE_INPUT_BYTES + 3);

	assert_non_null(text);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		json_t *form = json_pack("{s:s, s:i, s:s}", "form", O2_MSG_DECODE_INPUT_FORM, "version", 1,
					 "bytes", cases[i].bytes);

		assert_int_equal(o2_msg_decode_input_from_json(form, &read_bytes, &options, &error), -EINVAL);
		assert_string_equal(error.rule, cases[i].rule);
		/* A digit has no upper limit: most characters that are none are below 'f'. */
		assert_true(i == 0 || error.limit == O2_NO_LIMIT);
		assert_int_equal(options.max_frags, O2_MAX_FRAGS);
		json_decref(form);
	}
	memset(text, '0', 2 * O2_WIRE_INPUT_BYTES);
	for (unsigned int extra = 0; extra <= 2; extra += 2) {
		json_t *form;

		memset(text, '0', 2 * O2_WIRE_INPUT_BYTES + extra);
		form = json_pack("{s:s, s:i, s:s}", "form", O2_MSG_DECODE_INPUT_FORM, "version", 1, "bytes",
				 text);
		assert_int_equal(o2_msg_decode_input_from_json(form, &read_bytes, &options, &error),
				 extra == 0 ? 0 : -EINVAL);
		json_decref(form);
	}
	assert_string_equal(error.rule, "json/too-many-bytes");
	assert_int_equal(error.limit, O2_WIRE_INPUT_BYTES);
	free(text);
}

/* If a payload were shorter than its length, encode would read past its end. */
TEST(payload_has_its_length)
{
	const struct o2_wire_options options = O2_WIRE_DEFAULTS;
	struct o2_wire_options options_read;
	struct o2_error error;
	struct o2_msg msg;
	json_t *form;

	o2_test_message(&msg, O2_MSG_IMMEDIATE, O2_BIG_ENDIAN, 0);
	form = o2_msg_encode_input_to_json(&msg, &options);
	json_object_set_new(json_object_get(json_object_get(form, "message"), "body"), "payload",
			    json_string("68656c6c"));
	assert_int_equal(o2_msg_encode_input_from_json(form, &read_msg, &options_read, &error), -EINVAL);
	assert_string_equal(error.rule, "json/payload-length");
	assert_int_equal(error.value, 5);
	assert_int_equal(error.limit, 4);
	json_decref(form);
}
