/* SPDX-License-Identifier: MIT */
/*
 * The option only_flavour: a checksum of the other flavour is wrong (docs/wire.md, "Checksum").
 */
#include "tests/judge/wire/wire_test.h"

#include "wire/checksum.h"

static uint8_t bytes[O2_MSG_BYTES];

/* Decodes a message of flavour `sent` when only flavour `only` may be used; returns the rule, or "". */
static const char *rule_of(enum o2_cksum_flavour sent, enum o2_cksum_flavour only, struct o2_error *error)
{
	const struct o2_wire_options options = {.max_frags = O2_MAX_FRAGS, .only_flavour = only};
	struct o2_msg msg, found;
	int length;

	o2_test_message(&msg, O2_MSG_NOOP, O2_LITTLE_ENDIAN, 0);
	msg.cksum_flavour = sent;
	length = o2_msg_encode(&msg, NULL, bytes, sizeof(bytes), error);
	assert_true(length > 0);
	if (o2_msg_decode(bytes, (size_t)length, &options, &found, error) != 0)
		return error->rule;
	assert_int_equal(found.cksum_flavour, sent);
	return "";
}

TEST(only_one_flavour)
{
	const struct {
		enum o2_cksum_flavour sent, only;
		const char *rule;
	} cases[] = {
		{O2_CKSUM_UNSIGNED, O2_CKSUM_NONE, ""},
		{O2_CKSUM_SIGNED, O2_CKSUM_NONE, ""},
		{O2_CKSUM_UNSIGNED, O2_CKSUM_UNSIGNED, ""},
		{O2_CKSUM_SIGNED, O2_CKSUM_UNSIGNED, "wire/header/checksum"},
		{O2_CKSUM_UNSIGNED, O2_CKSUM_SIGNED, "wire/header/checksum"},
		{O2_CKSUM_SIGNED, O2_CKSUM_SIGNED, ""},
		/* A message without a checksum still passes. */
		{O2_CKSUM_NONE, O2_CKSUM_SIGNED, ""},
	};
	struct o2_error error;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_string_equal(rule_of(cases[i].sent, cases[i].only, &error), cases[i].rule);
}

/* The error has the right checksum as its limit. */
TEST(the_limit_is_the_sum)
{
	struct o2_checksums sums;
	struct o2_error error;

	rule_of(O2_CKSUM_UNSIGNED, O2_CKSUM_SIGNED, &error);
	sums = o2_msg_checksum_both(bytes, O2_MSG_HEADER_BYTES);
	assert_int_equal(error.value, sums.of_unsigned);
	assert_int_equal(error.limit, sums.of_signed);
}
