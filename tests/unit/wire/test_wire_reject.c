/* SPDX-License-Identifier: MIT */
/*
 * The reject record: the first illegal value breaks each rule and the last legal value does not, in both byte
 * orders; records of real peers decode and encode back; any bytes decode without harm.
 */
#include "tests/judge/wire/wire_test.h"

#include <jansson.h>

#include "forms/reject_json.h"
#include "wire/reject.h"

#define CAPTURES O2_CORPUS_DIR "/captures/"
#define NO_RULE	 O2_REJECT_RULE_COUNT

static const enum o2_byte_order orders[] = {O2_LITTLE_ENDIAN, O2_BIG_ENDIAN};

static struct o2_reject sample(enum o2_byte_order order)
{
	return (struct o2_reject){
		.order = order,
		.ibr_version = O2_MSG_VERSION_2,
		.ibr_why = O2_REJECT_MSG_QUEUE_SIZE,
		.ibr_incarnation = O2_TEST_SRCSTAMP,
		.ibr_cp = {.ibcp_queue_depth = 8, .ibcp_max_frags = 257, .ibcp_max_msg_size = 4096},
	};
}

static bool same(const struct o2_reject *a, const struct o2_reject *b)
{
	return a->order == b->order && a->generic_magic == b->generic_magic &&
	       a->ibr_version == b->ibr_version && a->ibr_why == b->ibr_why &&
	       a->ibr_incarnation == b->ibr_incarnation &&
	       a->ibr_cp.ibcp_queue_depth == b->ibr_cp.ibcp_queue_depth &&
	       a->ibr_cp.ibcp_max_frags == b->ibr_cp.ibcp_max_frags &&
	       a->ibr_cp.ibcp_max_msg_size == b->ibr_cp.ibcp_max_msg_size;
}

/* Asserts that the error matches the rule's row in the table. */
static void check_error(int rc, const struct o2_error *error, unsigned int expected, uint64_t value,
			uint64_t limit)
{
	const struct o2_wire_rule *rule = o2_reject_rule(expected);

	if (rule == NULL) {
		assert_int_equal(error->code, 0);
		return;
	}
	assert_int_equal(rc, -rule->code);
	assert_int_equal(error->code, rc);
	assert_string_equal(error->rule, rule->id);
	assert_string_equal(error->field, rule->field);
	assert_int_equal(error->class, rule->class);
	assert_int_equal(error->offset_bytes, rule->offset_bytes);
	assert_int_equal(error->value, value);
	assert_int_equal(error->limit, limit);
}

/* A change of one or two bytes of a sample record, and the rule that it breaks. */
struct edge {
	const char *what;
	size_t length_bytes;
	size_t at;
	unsigned int width_bytes; /* 0: only the length matters */
	uint16_t version, found;  /* found: the value written at `at` */
	unsigned int rule;
	uint64_t value, limit;
};

static const struct edge edges[] = {
	{"nothing", 0, 0, 0, 0x12, 0, O2_REJECT_RULE_SHORT_FOR_WHY, 0, 7},
	{"6 bytes", 6, 0, 0, 0x11, 0, O2_REJECT_RULE_SHORT_FOR_WHY, 6, 7},
	{"7 bytes of version 1", 7, 0, 0, 0x11, 0, NO_RULE, 0, 0},
	{"7 bytes of version 2", 7, 0, 0, 0x12, 0, O2_REJECT_RULE_SHORT_FOR_PARAMS, 7, 24},
	{"23 bytes of version 2", 23, 0, 0, 0x12, 0, O2_REJECT_RULE_SHORT_FOR_PARAMS, 23, 24},
	{"24 bytes of version 2", 24, 0, 0, 0x12, 0, NO_RULE, 0, 0},
	{"148 bytes", 148, 0, 0, 0x12, 0, NO_RULE, 0, 0},
	{"version 0x10", 24, O2_REJECT_AT_VERSION, 2, 0x12, 0x10, O2_REJECT_RULE_VERSION, 0x10, 0x12},
	{"version 0x13", 24, O2_REJECT_AT_VERSION, 2, 0x12, 0x13, O2_REJECT_RULE_VERSION, 0x13, 0x12},
	{"reason 0", 24, O2_REJECT_AT_WHY, 1, 0x12, 0, O2_REJECT_RULE_WHY, 0, 9},
	{"reason 1", 24, O2_REJECT_AT_WHY, 1, 0x12, 1, NO_RULE, 0, 0},
	{"reason 9", 24, O2_REJECT_AT_WHY, 1, 0x12, 9, NO_RULE, 0, 0},
	{"reason 10", 24, O2_REJECT_AT_WHY, 1, 0x12, 10, O2_REJECT_RULE_WHY, 10, 9},
	{"reason 255", 24, O2_REJECT_AT_WHY, 1, 0x12, 255, O2_REJECT_RULE_WHY, 255, 9},
	{"padding", 24, O2_REJECT_AT_PADDING, 1, 0x12, 0xff, NO_RULE, 0, 0},
};

TEST(decode_edges)
{
	bool tripped[O2_REJECT_RULE_COUNT] = {false};

	for (size_t i = 0; i < 2 * sizeof(edges) / sizeof(edges[0]); i++) {
		const struct edge *edge = &edges[i / 2];
		const enum o2_byte_order order = orders[i % 2];
		const struct o2_reject start = sample(order);
		uint8_t bytes[O2_REJECT_PRIVATE_BYTES] = {0};
		struct o2_reject found;
		struct o2_error error;
		int rc;

		assert_int_equal(o2_reject_encode(&start, bytes, sizeof(bytes), NULL), 24);
		o2_store16(bytes + O2_REJECT_AT_VERSION, order, edge->version);
		if (edge->width_bytes == 1)
			bytes[edge->at] = (uint8_t)edge->found;
		else if (edge->width_bytes == 2)
			o2_store16(bytes + edge->at, order, edge->found);
		rc = o2_reject_decode(bytes, edge->length_bytes, &found, &error);
		if ((rc == 0) != (edge->rule == NO_RULE))
			fail_msg("%s, order %d: %d %s", edge->what, order, rc, error.rule);
		check_error(rc, &error, edge->rule, edge->value, edge->limit);
		assert_int_equal(o2_reject_decode(bytes, edge->length_bytes, &found, NULL), rc);
		if (rc != 0)
			tripped[edge->rule] = true;
	}
	/* Every rule of decoding must have been broken, except the magic, which has a test of its own. */
	for (unsigned int i = O2_REJECT_RULE_SHORT_FOR_WHY; i < O2_REJECT_RULE_COUNT; i++)
		if (!tripped[i] && i != O2_REJECT_RULE_MAGIC)
			fail_msg("no case trips %s", o2_reject_rule(i)->id);
}

/* Reason 0 is not within a limit of 9, so the text names none. */
TEST(text_of_reason_0)
{
	const uint8_t bytes[] = {0x91, 0x1b, 0xe9, 0x0b, 0x11, 0x00, 0x00};
	struct o2_reject found;
	struct o2_error error;
	char text[200];

	assert_int_equal(o2_reject_decode(bytes, sizeof(bytes), &found, &error), -EPROTO);
	o2_error_text(&error, text, sizeof(text));
	assert_string_equal(text, "wire/reject/why: ibr_why is 0 (Protocol error)");
}

/* Our magic or LNet's, in either order; any other is refused, even if only one bit differs. */
TEST(magic)
{
	for (unsigned int i = 0; i < 4; i++) {
		struct o2_reject reject = sample(orders[i % 2]), found;
		uint8_t bytes[O2_REJECT_BYTES];
		struct o2_error error;

		reject.generic_magic = i >= 2;
		assert_int_equal(o2_reject_encode(&reject, bytes, sizeof(bytes), &error), 24);
		assert_int_equal(o2_load32(bytes, reject.order),
				 reject.generic_magic ? O2_LNET_PROTO_MAGIC : O2_MSG_MAGIC);
		assert_int_equal(o2_reject_decode(bytes, sizeof(bytes), &found, &error), 0);
		assert_true(same(&reject, &found));
		for (unsigned int bit = 0; bit < 32; bit++) {
			int rc;

			bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
			rc = o2_reject_decode(bytes, sizeof(bytes), &found, &error);
			check_error(rc, &error, O2_REJECT_RULE_MAGIC, o2_load32_le(bytes), O2_MSG_MAGIC);
			bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
		}
	}
}

TEST(encode_edges)
{
	uint8_t bytes[O2_REJECT_BYTES];
	struct o2_error error;

	for (unsigned int i = 0; i < 2; i++) {
		struct o2_reject reject = sample(orders[i]);
		int rc = o2_reject_encode(&reject, bytes, O2_REJECT_BYTES - 1, &error);

		check_error(rc, &error, O2_REJECT_RULE_CAPACITY, 23, 24);
		reject.ibr_why = 10;
		rc = o2_reject_encode(&reject, bytes, sizeof(bytes), &error);
		check_error(rc, &error, O2_REJECT_RULE_WHY, 10, 9);
		reject.ibr_version = 0x13; /* checked before the reason, in both directions */
		rc = o2_reject_encode(&reject, bytes, sizeof(bytes), &error);
		check_error(rc, &error, O2_REJECT_RULE_VERSION, 0x13, 0x12);
		reject = sample(orders[i]);
		reject.ibr_version = O2_MSG_VERSION_1;
		rc = o2_reject_encode(&reject, bytes, sizeof(bytes), &error);
		check_error(rc, &error, O2_REJECT_RULE_V1_PARAMS, O2_TEST_SRCSTAMP, 0);
		reject.ibr_incarnation = 0;
		reject.ibr_cp.ibcp_queue_depth = 0;
		reject.ibr_cp.ibcp_max_frags = 0;
		rc = o2_reject_encode(&reject, bytes, sizeof(bytes), &error);
		/* The rule covers four members; the error names the one that is set. */
		assert_int_equal(rc, -EINVAL);
		assert_string_equal(error.rule, o2_reject_rule(O2_REJECT_RULE_V1_PARAMS)->id);
		assert_string_equal(error.field, "ibcp_max_msg_size");
		assert_int_equal(error.offset_bytes, O2_REJECT_AT_MAX_MSG_SIZE);
		assert_int_equal(error.value, O2_MSG_BYTES);
		reject.ibr_cp.ibcp_max_msg_size = 0;
		assert_int_equal(o2_reject_encode(&reject, bytes, sizeof(bytes), &error), 24);
		reject.order = (enum o2_byte_order)2;
		rc = o2_reject_encode(&reject, bytes, sizeof(bytes), &error);
		check_error(rc, &error, O2_REJECT_RULE_ORDER, 2, O2_BIG_ENDIAN);
	}
}

/* Offsets and order, from bytes that are spelled out here, independent of the codec. */
TEST(golden)
{
	static const uint8_t little[] = {0x91, 0x1b, 0xe9, 0x0b, 0x12, 0x00, 0x07, 0x00,
					 0xf6, 0xe5, 0xd4, 0xc3, 0xb2, 0xa1, 0x05, 0x00,
					 0x08, 0x00, 0x01, 0x01, 0x00, 0x10, 0x00, 0x00};
	static const uint8_t big[] = {0x0b, 0xe9, 0x1b, 0x91, 0x00, 0x12, 0x07, 0x00, 0x00, 0x05, 0xa1, 0xb2,
				      0xc3, 0xd4, 0xe5, 0xf6, 0x00, 0x08, 0x01, 0x01, 0x00, 0x00, 0x10, 0x00};
	const struct o2_reject rejects[] = {sample(O2_LITTLE_ENDIAN), sample(O2_BIG_ENDIAN)};
	uint8_t bytes[O2_REJECT_BYTES];
	struct o2_reject found;

	for (unsigned int i = 0; i < 2; i++) {
		memset(bytes, 0xee, sizeof(bytes));
		assert_int_equal(o2_reject_encode(&rejects[i], bytes, sizeof(bytes), NULL), 24);
		assert_memory_equal(bytes, i == 0 ? little : big, sizeof(bytes));
		assert_int_equal(o2_reject_decode(bytes, sizeof(bytes), &found, NULL), 0);
		assert_true(same(&rejects[i], &found));
	}
}

/* In version 1 only the first seven bytes count; the bytes after them may be anything. */
TEST(version_1_is_seven_bytes)
{
	for (unsigned int i = 0; i < 2; i++) {
		struct o2_reject reject = {
			.order = orders[i], .ibr_version = O2_MSG_VERSION_1, .ibr_why = O2_REJECT_FATAL};
		uint8_t bytes[O2_REJECT_PRIVATE_BYTES];
		struct o2_reject found;

		memset(bytes, 0xa5, sizeof(bytes));
		assert_int_equal(o2_reject_encode(&reject, bytes, sizeof(bytes), NULL), 24);
		for (unsigned int k = O2_REJECT_V1_BYTES; k < 24; k++)
			assert_int_equal(bytes[k], 0);
		assert_int_equal(bytes[24], 0xa5);
		memset(bytes + O2_REJECT_V1_BYTES, 0x5a, sizeof(bytes) - O2_REJECT_V1_BYTES);
		assert_int_equal(o2_reject_decode(bytes, sizeof(bytes), &found, NULL), 0);
		assert_true(same(&reject, &found));
	}
}

/* Each length and each change of one byte is refused, or is a record with an equivalent canonical form. */
TEST(any_byte_any_length)
{
	uint8_t bytes[O2_REJECT_BYTES], again[O2_REJECT_BYTES];
	struct o2_reject found, twice;
	struct o2_error error;

	for (unsigned int n = 0; n < 2 * 24 * 256; n++) {
		const struct o2_reject start = sample(orders[n % 2]);
		const unsigned int at = n / 2 % 24, byte = n / 48;
		uint8_t *exact;

		assert_int_equal(o2_reject_encode(&start, bytes, sizeof(bytes), NULL), 24);
		bytes[at] = (uint8_t)byte;
		/* An exact buffer lets the sanitizers see a read past its end. */
		exact = malloc(at + 1);
		assert_non_null(exact);
		memcpy(exact, bytes, at + 1);
		if (o2_reject_decode(exact, at + 1, &found, &error) != 0)
			assert_non_null(error.rule);
		free(exact);
		if (o2_reject_decode(bytes, sizeof(bytes), &found, &error) != 0) {
			assert_int_equal(error.code, -EPROTO);
			continue;
		}
		assert_int_equal(o2_reject_encode(&found, again, sizeof(again), &error), 24);
		assert_int_equal(o2_reject_decode(again, sizeof(again), &twice, &error), 0);
		assert_true(same(&found, &twice));
		assert_int_equal(again[O2_REJECT_AT_PADDING], 0);
	}
}

TEST(captures)
{
	static const struct {
		const char *name;
		uint8_t why;
		uint64_t incarnation;
		uint16_t depth, frags;
	} expected[] = {
		{"008_REJ1_n00024_b2a", O2_REJECT_CONN_RACE, 0x660b2c64d2895, 8, 257},
		{"010_REJ7_n00024_b2a", O2_REJECT_MSG_QUEUE_SIZE, 0x660b2b6d2729f, 8, 257},
		{"013_REJ3_n00024_b2a", O2_REJECT_FATAL, 0, 0, 0},
		{"114_REJ5_n00024_a2b", O2_REJECT_CONN_STALE, 0x660b2cc8db375, 8, 257},
		{"117_REJ6_n00024_a2b", O2_REJECT_RDMA_FRAGS, 0x660b2cc8db375, 8, 257},
	};

	for (size_t i = 0; i < 2 * sizeof(expected) / sizeof(expected[0]); i++) {
		uint8_t bytes[O2_REJECT_PRIVATE_BYTES + 1], again[O2_REJECT_BYTES];
		struct o2_reject found;
		struct o2_error error;
		char name[512];
		size_t length;

		snprintf(name, sizeof(name), i % 2 == 0 ? CAPTURES "%s.bin" : CAPTURES "cm/%s.cmpriv",
			 expected[i / 2].name);
		length = test_read(name, bytes, sizeof(bytes));
		assert_int_equal(length, i % 2 == 0 ? O2_REJECT_BYTES : O2_REJECT_PRIVATE_BYTES);
		if (o2_reject_decode(bytes, length, &found, &error) != 0)
			fail_msg("%s: %s", name, error.rule);
		assert_int_equal(found.ibr_version, O2_MSG_VERSION_2);
		assert_int_equal(found.ibr_why, expected[i / 2].why);
		assert_int_equal(found.ibr_incarnation, expected[i / 2].incarnation);
		assert_int_equal(found.ibr_cp.ibcp_queue_depth, expected[i / 2].depth);
		assert_int_equal(found.ibr_cp.ibcp_max_frags, expected[i / 2].frags);
		assert_int_equal(found.ibr_cp.ibcp_max_msg_size, 4096);
		assert_int_equal(o2_reject_encode(&found, again, sizeof(again), &error), 24);
		assert_memory_equal(again, bytes, sizeof(again));
	}
}

TEST(table)
{
	assert_null(o2_reject_rule(O2_REJECT_RULE_COUNT));
	for (unsigned int i = 0; i < O2_REJECT_RULE_COUNT; i++) {
		assert_int_equal(strncmp(o2_reject_rule(i)->id, "wire/reject/", 12), 0);
		assert_null(o2_wire_rule_find(o2_reject_rule(i)->id));
		for (unsigned int k = 0; k < i; k++)
			assert_string_not_equal(o2_reject_rule(i)->id, o2_reject_rule(k)->id);
	}
	assert_null(o2_reject_why_name(0));
	assert_null(o2_reject_why_name(10));
	for (uint8_t why = 1; why <= 9; why++)
		assert_non_null(o2_reject_why_name(why));
	assert_string_equal(o2_reject_why_name(7), "queue-depth");
}

TEST(json_round_trip)
{
	for (unsigned int i = 0; i < 4; i++) {
		struct o2_reject reject = sample(orders[i % 2]), found;
		struct o2_wire_refused refused;
		struct o2_error error;
		json_t *form;

		reject.generic_magic = i >= 2;
		form = o2_reject_encode_input_to_json(&reject);
		assert_non_null(form);
		assert_int_equal(o2_reject_encode_input_from_json(form, &found, &error), 0);
		assert_true(same(&reject, &found));
		json_decref(form);
		form = o2_reject_decode_output_to_json(&reject, NULL);
		assert_int_equal(o2_reject_decode_output_from_json(form, &found, &refused, &error), 0);
		assert_int_equal(refused.refused.code, 0);
		assert_true(same(&reject, &found));
		json_decref(form);
	}
}

TEST(json_refusals)
{
	static const uint8_t bytes[] = {0x91, 0x1b, 0xe9, 0x0b, 0x11, 0x00, 0x0a};
	struct o2_wire_refused refused;
	struct o2_reject reject = sample(O2_LITTLE_ENDIAN);
	struct o2_error error;
	json_t *form;

	assert_int_equal(o2_reject_decode(bytes, sizeof(bytes), &reject, &error), -EPROTO);
	form = o2_reject_decode_output_to_json(&reject, &error);
	assert_int_equal(o2_reject_decode_output_from_json(form, &reject, &refused, &error), 0);
	assert_int_equal(refused.refused.code, -EPROTO);
	assert_string_equal(refused.refused.rule, "wire/reject/why");
	assert_int_equal(refused.class, O2_CLASS_CONNECTION);
	assert_int_equal(refused.offset_bytes, 6);
	assert_int_equal(refused.refused.value, 10);
	json_decref(form);

	reject = sample(O2_LITTLE_ENDIAN);
	reject.ibr_why = 0; /* the encoder refuses it; it has no name */
	form = o2_reject_encode_input_to_json(&reject);
	assert_non_null(form);
	assert_null(json_object_get(json_object_get(form, "reject"), "why"));
	json_decref(form);
	form = json_pack("{s:s, s:i, s:{s:s, s:i, s:i}}", "form", O2_REJECT_ENCODE_INPUT_FORM, "version", 1,
			 "reject", "byte_order", "little", "ibr_version", 65536, "ibr_why", 7);
	assert_error_field(o2_reject_encode_input_from_json(form, &reject, &error), -EINVAL, &error,
			   "ibr_version");
	assert_int_equal(error.limit, 65535);
	json_decref(form);
	assert_int_equal(o2_reject_encode_input_from_json(NULL, &reject, &error), -EINVAL);
}
