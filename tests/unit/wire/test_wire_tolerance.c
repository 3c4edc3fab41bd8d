/* SPDX-License-Identifier: MIT */
/*
 * The option tolerate_immediate_checksum: an IMMEDIATE with a payload may have a wrong checksum, and no other
 * message may (docs/wire.md, "Checksum").
 */
#include "tests/judge/wire/wire_test.h"

#include "wire/checksum.h"

static const struct o2_wire_options tolerant = {
	.max_frags = O2_MAX_FRAGS, .require_checksum = true, .tolerate_immediate_checksum = true};

static uint8_t bytes[O2_MSG_BYTES];
static struct o2_msg msg;
static struct o2_error error;

/* Encodes msg with a checksum, then replaces it with a wrong one.  Returns the length. */
static size_t encode_wrong(void)
{
	struct o2_checksums sums;
	uint32_t wrong = 0x12345678;
	int length;

	msg.cksum_flavour = O2_CKSUM_SIGNED;
	length = o2_msg_encode(&msg, NULL, bytes, sizeof(bytes), &error);
	assert_true(length > 0);
	sums = o2_msg_checksum_both(bytes, (size_t)length);
	while (wrong == sums.of_signed || wrong == sums.of_unsigned)
		wrong++;
	o2_test_poke(bytes + O2_AT_CKSUM, msg.order, 4, wrong);
	return (size_t)length;
}

static void expect_refused(size_t length, const struct o2_wire_options *options, const char *rule)
{
	struct o2_msg found;

	if (o2_msg_decode(bytes, length, options, &found, &error) == 0)
		fail_msg("%s: accepted, expected %s", o2_msg_type_name(found.ibm_type), rule);
	assert_string_equal(error.rule, rule);
}

static void start_immediate(enum o2_byte_order order, uint32_t lnet_type, uint32_t payload_length)
{
	static const uint8_t payload[3976] = {0xde, 0xad};

	o2_test_message(&msg, O2_MSG_IMMEDIATE, order, 0);
	msg.u.immediate.hdr = o2_test_hdr(lnet_type, payload_length);
	msg.u.immediate.payload = payload;
}

TEST(payload_with_a_wrong_checksum)
{
	static const struct {
		uint32_t lnet_type, payload_length;
	} cases[] = {{O2_LNET_PUT, 1}, {O2_LNET_PUT, 3976}, {O2_LNET_REPLY, 1}, {O2_LNET_REPLY, 3976}};

	for (size_t i = 0; i < 8; i++) {
		const enum o2_byte_order order = i % 2 == 0 ? O2_LITTLE_ENDIAN : O2_BIG_ENDIAN;
		uint8_t canonical[O2_MSG_BYTES];
		struct o2_msg found, again;
		size_t length;

		start_immediate(order, cases[i / 2].lnet_type, cases[i / 2].payload_length);
		length = encode_wrong();
		expect_refused(length, NULL, "wire/header/checksum");
		assert_int_equal(o2_msg_decode(bytes, length, &tolerant, &found, &error), 0);
		assert_int_equal(found.cksum_flavour, O2_CKSUM_UNVERIFIED);
		msg.cksum_flavour = O2_CKSUM_UNVERIFIED;
		o2_test_same(&msg, &found);
		/* The canonical form has a right checksum, of flavour unsigned. */
		assert_int_equal(o2_msg_encode(&found, &tolerant, canonical, sizeof(canonical), &error),
				 length);
		assert_memory_equal(canonical, bytes, O2_AT_CKSUM);
		assert_memory_equal(canonical + O2_AT_SRCNID, bytes + O2_AT_SRCNID, length - O2_AT_SRCNID);
		assert_int_equal(o2_msg_decode(canonical, length, NULL, &again, &error), 0);
		assert_int_equal(again.cksum_flavour, O2_CKSUM_UNSIGNED);
	}
}

/* A right checksum is still reported, and an absent one is not a wrong one. */
TEST(other_flavours_stay)
{
	struct o2_msg found;
	int length;

	start_immediate(O2_BIG_ENDIAN, O2_LNET_PUT, 5);
	for (int flavour = O2_CKSUM_UNSIGNED; flavour <= O2_CKSUM_SIGNED; flavour++) {
		msg.cksum_flavour = (enum o2_cksum_flavour)flavour;
		length = o2_msg_encode(&msg, NULL, bytes, sizeof(bytes), &error);
		assert_int_equal(o2_msg_decode(bytes, (size_t)length, &tolerant, &found, &error), 0);
		assert_int_equal(found.cksum_flavour, flavour);
	}
	o2_test_poke(bytes + O2_AT_CKSUM, msg.order, 4, 0);
	expect_refused((size_t)length, &tolerant, "wire/header/checksum-absent");
}

TEST(no_other_message)
{
	for (size_t i = 0; i < 2 * O2_TEST_TYPES; i++) {
		const enum o2_byte_order order = i % 2 == 0 ? O2_LITTLE_ENDIAN : O2_BIG_ENDIAN;

		o2_test_message(&msg, o2_test_types[i / 2], order, 2);
		if (msg.ibm_type != O2_MSG_IMMEDIATE)
			expect_refused(encode_wrong(), &tolerant, "wire/header/checksum");
	}
}

/* IMMEDIATEs without a payload, each by the first value that means none. */
TEST(no_immediate_without_payload)
{
	static const uint32_t without[] = {O2_LNET_PUT, O2_LNET_REPLY, O2_LNET_ACK, O2_LNET_GET};
	size_t length;

	for (size_t i = 0; i < sizeof(without) / sizeof(without[0]); i++) {
		start_immediate(O2_LITTLE_ENDIAN, without[i], 0);
		expect_refused(encode_wrong(), &tolerant, "wire/header/checksum");
	}
	/*
	 * A message that breaks another rule as well: ACK and GET with a payload, HELLO, a payload past nob.
	 */
	for (uint32_t type = O2_LNET_ACK; type <= O2_LNET_HELLO + 1; type++) {
		start_immediate(O2_LITTLE_ENDIAN, O2_LNET_PUT, 5);
		length = encode_wrong();
		o2_store32(bytes + O2_AT_LNET_HDR + O2_LNET_AT_TYPE, O2_LITTLE_ENDIAN, type);
		if (type != O2_LNET_PUT && type != O2_LNET_REPLY)
			expect_refused(length, &tolerant, "wire/header/checksum");
	}
	start_immediate(O2_LITTLE_ENDIAN, O2_LNET_PUT, 5);
	length = encode_wrong();
	o2_store32(bytes + O2_AT_LNET_HDR + O2_LNET_AT_PAYLOAD_LENGTH, O2_LITTLE_ENDIAN, 6);
	expect_refused(sizeof(bytes), &tolerant, "wire/header/checksum");
	o2_store32(bytes + O2_AT_LNET_HDR + O2_LNET_AT_PAYLOAD_LENGTH, O2_LITTLE_ENDIAN, 1);
	o2_store32(bytes + O2_AT_NOB, O2_LITTLE_ENDIAN, 120);
	expect_refused(length, &tolerant, "wire/header/checksum");
	o2_store32(bytes + O2_AT_NOB, O2_LITTLE_ENDIAN, 119);
	expect_refused(length, &tolerant, "wire/header/checksum");
	o2_store32(bytes + O2_AT_NOB, O2_LITTLE_ENDIAN, 121);
	assert_int_equal(o2_msg_decode(bytes, length, &tolerant, &msg, &error), 0);
}

/* All other rules still apply. */
TEST(the_rules_after_it_hold)
{
	size_t length;

	start_immediate(O2_BIG_ENDIAN, O2_LNET_REPLY, 5);
	length = encode_wrong();
	o2_test_poke(bytes + O2_AT_SRCNID, O2_BIG_ENDIAN, 8, UINT64_MAX);
	expect_refused(length, &tolerant, "wire/header/srcnid-wildcard");
}
