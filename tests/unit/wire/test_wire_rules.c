/* SPDX-License-Identifier: MIT */
/*
 * Every rule of the codec: the first illegal value breaks it and no other rule; the last legal value does
 * not; in both byte orders.
 */
#include "tests/judge/wire/rule_cases.h"

#include "wire/checksum.h"

#define BUFFER_BYTES 8192u

/* The rules that have refused a message, by byte order.  The last test of the group checks the list. */
static bool tripped[O2_RULE_COUNT][2];

static uint8_t bytes[BUFFER_BYTES];

static struct o2_wire_options options_of(const struct rule_case *c)
{
	return (struct o2_wire_options){.max_frags = c->legacy ? O2_MAX_FRAGS_LEGACY : O2_MAX_FRAGS,
					.any_lnd = c->any_lnd};
}

static const char *name_of(unsigned int rule)
{
	return rule == ACCEPTED ? "(accepted)" : o2_wire_rules[rule].id;
}

/* Encodes the base message of a case into bytes[]; the rest of bytes[] is zero. */
static size_t start_message(const struct rule_case *c, enum o2_byte_order order)
{
	const struct o2_wire_options options = {.max_frags = O2_MAX_FRAGS};
	struct o2_msg msg;
	struct o2_error error;
	int length;

	o2_test_message(&msg, c->type, order, c->nfrags == 0 ? 2 : c->nfrags);
	if (c->lnet_type == O2_LNET_REPLY || c->lnet_type == O2_LNET_GET) {
		struct o2_lnet_hdr *hdr =
			c->type == O2_MSG_IMMEDIATE ? &msg.u.immediate.hdr : &msg.u.putreq.hdr;

		*hdr = o2_test_hdr(c->lnet_type, c->lnet_type == O2_LNET_GET ? 0 : 5);
	}
	memset(bytes, 0, sizeof(bytes));
	length = o2_msg_encode(&msg, &options, bytes, sizeof(bytes), &error);
	assert_true(length > 0);
	return (size_t)length;
}

/* Returns the rule that refuses the case with this value in place, or ACCEPTED. */
static unsigned int verdict(const struct rule_case *c, enum o2_byte_order order, uint64_t value,
			    struct o2_error *error)
{
	const struct o2_wire_options options = options_of(c);
	size_t length = start_message(c, order);
	struct o2_msg msg;

	if (c->offset_bytes == RECEIVED_AT_OFFSET)
		length = value;
	else
		o2_test_poke(bytes + c->offset_bytes, c->little_endian_always ? O2_LITTLE_ENDIAN : order,
			     c->width_bytes, value);
	if (c->received_bytes != 0)
		length = c->received_bytes;
	if (o2_msg_decode(bytes, length, &options, &msg, error) == 0)
		return ACCEPTED;
	for (unsigned int rule = 0; rule < O2_RULE_COUNT; rule++)
		if (strcmp(o2_wire_rules[rule].id, error->rule) == 0)
			return rule;
	fail_msg("%s is not in the table", error->rule);
	return ACCEPTED;
}

/* Checks the members of the error other than the rule. */
static void check_error(const struct rule_case *c, const struct o2_error *error)
{
	const struct o2_wire_rule *rule = &o2_wire_rules[c->rule];

	assert_int_equal(error->code, -EPROTO);
	assert_int_equal(error->class, rule->class);
	assert_int_equal(error->class, c->rule == O2_RULE_IMMEDIATE_PAYLOAD_PAST_NOB ? O2_CLASS_MESSAGE
										     : O2_CLASS_CONNECTION);
	assert_string_equal(error->field, rule->field);
	if (c->offset_bytes == RECEIVED_AT_OFFSET)
		assert_int_equal(error->offset_bytes, 0);
	else if (strcmp(rule->field, "ibm_nob") != 0)
		assert_int_equal(error->offset_bytes, c->offset_bytes);
	/* Not the value in place: a magic is read from the left; a sum; a nob if another field was changed. */
	if (c->rule == O2_RULE_MAGIC || strstr(rule->id, "frag-sum") != NULL ||
	    (strcmp(rule->field, "ibm_nob") == 0 && c->offset_bytes != O2_AT_NOB))
		return;
	assert_int_equal(error->value, c->illegal);
}

TEST(last_legal_and_first_illegal)
{
	for (size_t i = 0; i < 2 * RULE_CASES; i++) {
		const struct rule_case *c = &rule_cases[i / 2];
		const enum o2_byte_order order = i % 2 == 0 ? O2_LITTLE_ENDIAN : O2_BIG_ENDIAN;
		const unsigned int legal_rule = c->legal_rule == 0 ? ACCEPTED : c->legal_rule;
		struct o2_error error;
		unsigned int found = verdict(c, order, c->legal, &error);

		if (found != legal_rule)
			fail_msg("case %zu of %s, order %d, legal value: %s, expected %s", i / 2,
				 name_of(c->rule), order, name_of(found), name_of(legal_rule));
		found = verdict(c, order, c->illegal, &error);
		if (found != c->rule)
			fail_msg("case %zu of %s, order %d, illegal value: %s", i / 2, name_of(c->rule),
				 order, name_of(found));
		check_error(c, &error);
		tripped[c->rule][order] = true;
	}
}

/* The same descriptors, decoded alone, must obey the same rules. */
TEST(bare_descriptors)
{
	for (size_t i = 0; i < 2 * RULE_CASES; i++) {
		const struct rule_case *c = &rule_cases[i / 2];
		const enum o2_byte_order order = i % 2 == 0 ? O2_LITTLE_ENDIAN : O2_BIG_ENDIAN;
		const unsigned int rule = c->rule - O2_RULE_PUT_ACK_DESC + O2_RULE_DESC;
		const struct o2_wire_options options = options_of(c);
		struct o2_rdma_desc desc;
		struct o2_error error;
		size_t length;

		if (c->rule < O2_RULE_PUT_ACK_DESC || c->rule >= O2_RULE_GET_REQ_DESC)
			continue;
		verdict(c, order, c->legal, &error);
		length = o2_load32(bytes + O2_AT_NOB, order) - O2_AT_PUT_ACK_DESC;
		assert_int_equal(
			o2_desc_decode(bytes + O2_AT_PUT_ACK_DESC, length, order, &options, &desc, &error),
			0);
		verdict(c, order, c->illegal, &error);
		length = o2_load32(bytes + O2_AT_NOB, order) - O2_AT_PUT_ACK_DESC;
		assert_int_equal(
			o2_desc_decode(bytes + O2_AT_PUT_ACK_DESC, length, order, &options, &desc, &error),
			-EPROTO);
		assert_string_equal(error.rule, o2_wire_rules[rule].id);
		assert_int_equal(error.class, O2_CLASS_CONNECTION);
		tripped[rule][order] = true;
	}
}

TEST(bare_descriptor_too_short)
{
	static const uint8_t count[2][8] = {{1, 0, 0, 0, 1, 0, 0, 0}, {0, 0, 0, 1, 0, 0, 0, 1}};
	struct o2_rdma_desc desc;
	struct o2_error error;

	for (int order = O2_LITTLE_ENDIAN; order <= O2_BIG_ENDIAN; order++) {
		assert_int_equal(
			o2_desc_decode(count[order], 7, (enum o2_byte_order)order, NULL, &desc, &error),
			-EPROTO);
		assert_string_equal(error.rule, o2_wire_rules[O2_RULE_DESC_SHORT_FOR_COUNT].id);
		assert_int_equal(error.value, 7);
		assert_int_equal(
			o2_desc_decode(count[order], 8, (enum o2_byte_order)order, NULL, &desc, &error),
			-EPROTO);
		assert_string_equal(error.rule, o2_wire_rules[O2_RULE_DESC + O2_DESC_NOB_UNDER_FRAGS].id);
		tripped[O2_RULE_DESC_SHORT_FOR_COUNT][order] = true;
	}
}

static void expect_checksum(enum o2_byte_order order, uint32_t checksum, bool require, unsigned int rule,
			    enum o2_cksum_flavour flavour)
{
	const struct o2_wire_options options = {.max_frags = O2_MAX_FRAGS, .require_checksum = require};
	struct o2_msg msg;
	struct o2_error error;
	int rc;

	o2_test_poke(bytes + O2_AT_CKSUM, order, 4, checksum);
	rc = o2_msg_decode(bytes, 60, &options, &msg, &error);
	if (rule == ACCEPTED) {
		assert_int_equal(rc, 0);
		assert_int_equal(msg.cksum_flavour, flavour);
		return;
	}
	assert_int_equal(rc, -EPROTO);
	assert_string_equal(error.rule, o2_wire_rules[rule].id);
	assert_int_equal(error.offset_bytes, O2_AT_CKSUM);
	assert_int_equal(error.value, checksum);
	tripped[rule][order] = true;
}

TEST(checksums)
{
	const struct rule_case base = {.type = O2_MSG_GET_DONE};

	for (int i = O2_LITTLE_ENDIAN; i <= O2_BIG_ENDIAN; i++) {
		const enum o2_byte_order order = (enum o2_byte_order)i;
		struct o2_checksums sums;

		start_message(&base, order);
		sums = o2_msg_checksum_both(bytes, 60);
		assert_int_not_equal(sums.of_signed, sums.of_unsigned);
		expect_checksum(order, sums.of_unsigned, true, ACCEPTED, O2_CKSUM_UNSIGNED);
		expect_checksum(order, sums.of_signed, true, ACCEPTED, O2_CKSUM_SIGNED);
		expect_checksum(order, 0, false, ACCEPTED, O2_CKSUM_NONE);
		expect_checksum(order, sums.of_unsigned + 1, false, O2_RULE_CHECKSUM, O2_CKSUM_NONE);
		expect_checksum(order, sums.of_signed - 1, false, O2_RULE_CHECKSUM, O2_CKSUM_NONE);
		expect_checksum(order, 0, true, O2_RULE_CHECKSUM_ABSENT, O2_CKSUM_NONE);
	}
}

/* All 246 values that are not a type. */
TEST(every_unknown_type)
{
	unsigned int refused = 0;

	for (unsigned int type = 0; type <= UINT8_MAX; type++) {
		const struct rule_case c = {.type = O2_MSG_GET_REQ};
		struct o2_msg msg;
		struct o2_error error;

		start_message(&c, O2_LITTLE_ENDIAN);
		bytes[O2_AT_TYPE] = (uint8_t)type;
		if (o2_msg_type_name((uint8_t)type) != NULL)
			continue;
		assert_int_equal(o2_msg_decode(bytes, sizeof(bytes), NULL, &msg, &error), -EPROTO);
		assert_string_equal(error.rule, "wire/header/type");
		refused++;
	}
	assert_int_equal(refused, 246);
}

/* If a message breaks several rules, the first in the table is reported: each fragment rule before the
 * next. */
TEST(the_first_rule_wins)
{
	const struct rule_case c = {.type = O2_MSG_GET_REQ, .nfrags = 5};
	uint8_t *frags = bytes + O2_AT_GET_REQ_DESC + O2_DESC_AT_FRAGS;
	static const enum o2_desc_fault order_of_repair[] = {O2_DESC_FRAG_NOB_ZERO,
							     O2_DESC_FRAG_NOB_OVER_LIMIT,
							     O2_DESC_SUM_OVER_LIMIT, O2_DESC_FRAG_ADDR_WRAPS};
	static const uint32_t at_fragment[] = {4, 3, 2, 0};
	struct o2_msg msg;
	struct o2_error error;

	start_message(&c, O2_LITTLE_ENDIAN);
	o2_test_poke(frags + 0 * O2_FRAG_BYTES + 4, O2_LITTLE_ENDIAN, 8, UINT64_MAX);
	o2_test_poke(frags + 2 * O2_FRAG_BYTES, O2_LITTLE_ENDIAN, 4, MIB);
	o2_test_poke(frags + 3 * O2_FRAG_BYTES, O2_LITTLE_ENDIAN, 4, MIB + 1);
	o2_test_poke(frags + 4 * O2_FRAG_BYTES, O2_LITTLE_ENDIAN, 4, 0);
	for (size_t i = 0; i < 4; i++) {
		assert_int_equal(o2_msg_decode(bytes, 4096, NULL, &msg, &error), -EPROTO);
		assert_string_equal(error.rule, o2_wire_rules[O2_RULE_GET_REQ_DESC + order_of_repair[i]].id);
		assert_int_equal(error.index, at_fragment[i]);
		/* Repair this fault, so that the next rule shows. */
		if (i == 3)
			o2_test_poke(frags + 4, O2_LITTLE_ENDIAN, 8, 0);
		else
			o2_test_poke(frags + at_fragment[i] * O2_FRAG_BYTES, O2_LITTLE_ENDIAN, 4, 100);
	}
	assert_int_equal(o2_msg_decode(bytes, 4096, NULL, &msg, &error), 0);
}

/* Mistakes of the caller itself. */
TEST(local_rules)
{
	static const uint32_t max_frags[] = {0, 255, 258, UINT32_MAX};
	struct o2_rdma_desc desc;
	struct o2_msg msg;
	struct o2_error error;
	const struct rule_case c = {.type = O2_MSG_NOOP};

	start_message(&c, O2_LITTLE_ENDIAN);
	for (size_t i = 0; i < sizeof(max_frags) / sizeof(max_frags[0]); i++) {
		const struct o2_wire_options options = {.max_frags = max_frags[i]};

		assert_int_equal(o2_msg_decode(bytes, 48, &options, &msg, &error), -EINVAL);
		assert_string_equal(error.rule, "wire/options/max-frags");
		assert_int_equal(error.value, max_frags[i]);
		assert_int_equal(o2_desc_decode(bytes, 48, O2_LITTLE_ENDIAN, &options, &desc, &error),
				 -EINVAL);
		o2_test_message(&msg, O2_MSG_NOOP, O2_LITTLE_ENDIAN, 0);
		assert_int_equal(o2_msg_encode(&msg, &options, bytes, sizeof(bytes), &error), -EINVAL);
		assert_string_equal(error.rule, "wire/options/max-frags");
		assert_int_equal(error.class, O2_CLASS_NONE);
	}
	for (int order = O2_LITTLE_ENDIAN; order <= O2_BIG_ENDIAN; order++)
		tripped[O2_RULE_OPTION_MAX_FRAGS][order] = true;
}

static void expect_encode(const struct o2_msg *msg, size_t capacity_bytes, unsigned int rule)
{
	struct o2_error error;

	memset(bytes, 0x5a, sizeof(bytes));
	assert_int_equal(o2_msg_encode(msg, NULL, bytes, capacity_bytes, &error), -o2_wire_rules[rule].code);
	assert_string_equal(error.rule, o2_wire_rules[rule].id);
	assert_int_equal(error.class, O2_CLASS_NONE);
	for (size_t i = 0; i < sizeof(bytes); i++)
		assert_int_equal(bytes[i], 0x5a);
	tripped[rule][O2_LITTLE_ENDIAN] = true;
	tripped[rule][O2_BIG_ENDIAN] = true;
}

TEST(local_rules_of_encode)
{
	struct o2_msg msg;
	struct o2_error error;

	o2_test_message(&msg, O2_MSG_IMMEDIATE, O2_BIG_ENDIAN, 0);
	assert_int_equal(o2_msg_encode(&msg, NULL, bytes, 125, &error), 125);
	expect_encode(&msg, 124, O2_RULE_ENCODE_CAPACITY);
	msg.u.immediate.payload = NULL;
	expect_encode(&msg, 4096, O2_RULE_ENCODE_PAYLOAD);
	o2_test_message(&msg, O2_MSG_NOOP, O2_BIG_ENDIAN, 0);
	msg.order = (enum o2_byte_order)2;
	expect_encode(&msg, 4096, O2_RULE_ENCODE_ORDER);
	msg.order = O2_BIG_ENDIAN;
	msg.cksum_flavour = (enum o2_cksum_flavour)4;
	expect_encode(&msg, 4096, O2_RULE_ENCODE_CKSUM_FLAVOUR);
}

TEST(every_rule_was_tripped)
{
	for (unsigned int rule = 0; rule < O2_RULE_COUNT; rule++) {
		assert_non_null(o2_wire_rules[rule].id);
		for (unsigned int other = 0; other < rule; other++)
			assert_string_not_equal(o2_wire_rules[rule].id, o2_wire_rules[other].id);
		assert_ptr_equal(o2_wire_rule_find(o2_wire_rules[rule].id), &o2_wire_rules[rule]);
		if (!tripped[rule][O2_LITTLE_ENDIAN] || !tripped[rule][O2_BIG_ENDIAN])
			fail_msg("no case trips %s in both byte orders", o2_wire_rules[rule].id);
	}
	assert_null(o2_wire_rule_find("wire/header/no-such-rule"));
}
