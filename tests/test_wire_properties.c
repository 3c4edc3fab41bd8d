/* SPDX-License-Identifier: MIT */
/* Properties of the codec over random messages (docs/wire.md, "Canonical form"). */
#include "tests/wire/random_msg.h"

#include <errno.h>

#include "wire/checksum.h"

#define MESSAGES 4000
#define MUTANTS	 40

/*
 * Decode exactly n bytes from memory that ends there, so that a sanitizer sees a byte too far.  The input
 * stays as it was.  Returns o2_msg_decode's answer; what is accepted has passed through its canonical form
 * and back.
 */
static int decode_is_total(const uint8_t *input, size_t n, struct o2_error *error)
{
	static uint8_t once[O2_MSG_BYTES], twice[O2_MSG_BYTES];
	static struct o2_msg msg, again;
	uint8_t *bytes = malloc(n == 0 ? 1 : n);
	int rc, length;

	assert_non_null(bytes);
	memcpy(bytes, input, n);
	rc = o2_msg_decode(bytes, n, NULL, &msg, error);
	assert_memory_equal(bytes, input, n);
	if (rc != 0) {
		assert_int_equal(rc, -EPROTO);
		assert_non_null(o2_wire_rule_find(error->rule));
		free(bytes);
		return rc;
	}
	length = o2_msg_encode(&msg, NULL, once, sizeof(once), error);
	assert_in_range(length, O2_MSG_HEADER_BYTES, msg.ibm_nob);
	assert_int_equal(length, o2_msg_canonical_bytes(&msg));
	assert_int_equal(o2_msg_decode(once, (size_t)length, NULL, &again, error), 0);
	o2_test_same(&msg, &again);
	assert_int_equal(o2_msg_encode(&again, NULL, twice, sizeof(twice), error), length);
	assert_memory_equal(once, twice, (size_t)length);
	free(bytes);
	return 0;
}

static size_t random_bytes(struct o2_msg *msg, uint8_t *bytes)
{
	struct o2_error error;
	int length;

	random_msg(msg);
	length = o2_msg_encode(msg, NULL, bytes, O2_MSG_BYTES, &error);
	if (length < 0)
		fail_msg("a random message is refused by %s", error.rule);
	return (size_t)length;
}

static void decoding_undoes_encoding(void **state)
{
	static struct o2_msg msg, found;
	static uint8_t bytes[O2_MSG_BYTES], again[O2_MSG_BYTES];

	(void)state;
	for (unsigned int i = 0; i < MESSAGES; i++) {
		const size_t length = random_bytes(&msg, bytes);
		struct o2_error error;

		assert_int_equal(o2_msg_decode(bytes, length, NULL, &found, &error), 0);
		/* Where all bytes are below 128 the two sums are the same, and unsigned is reported. */
		if (found.cksum_flavour == O2_CKSUM_UNSIGNED && msg.cksum_flavour == O2_CKSUM_SIGNED) {
			const struct o2_checksums sums = o2_msg_checksum_both(bytes, length);

			assert_int_equal(sums.of_signed, sums.of_unsigned);
			msg.cksum_flavour = O2_CKSUM_UNSIGNED;
		}
		o2_test_same(&msg, &found);
		assert_int_equal(o2_msg_encode(&found, NULL, again, sizeof(again), &error), length);
		assert_memory_equal(bytes, again, length);
	}
}

/* The same message in the other order: the opaque and little-endian parts have the same bytes, the rest is
 * swapped. */
static void cookies_and_lnet_never_change(void **state)
{
	static struct o2_msg msg;
	static uint8_t little[O2_MSG_BYTES], big[O2_MSG_BYTES];

	(void)state;
	for (unsigned int i = 0; i < MESSAGES; i++) {
		struct o2_error error;
		size_t length;

		random_msg(&msg);
		msg.order = O2_LITTLE_ENDIAN;
		length = (size_t)o2_msg_encode(&msg, NULL, little, sizeof(little), &error);
		msg.order = O2_BIG_ENDIAN;
		assert_int_equal(o2_msg_encode(&msg, NULL, big, sizeof(big), &error), length);
		assert_int_equal(o2_load64_le(little + O2_AT_SRCSTAMP), o2_load64_be(big + O2_AT_SRCSTAMP));
		switch (o2_msg_type_info(msg.ibm_type)->body) {
		case O2_BODY_IMMEDIATE:
			assert_memory_equal(little + 48, big + 48, length - 48);
			break;
		case O2_BODY_PUTREQ:
		case O2_BODY_GET:
			assert_memory_equal(little + 48, big + 48, 80);
			break;
		case O2_BODY_PUTACK:
			assert_memory_equal(little + 48, big + 48, 16);
			break;
		case O2_BODY_COMPLETION:
			assert_memory_equal(little + 48, big + 48, 8);
			break;
		default:
			break;
		}
	}
}

/* All lengths of one message of each type in each order. */
static void every_truncation_is_refused(void **state)
{
	static uint8_t bytes[O2_MSG_BYTES];
	static struct o2_msg msg;

	(void)state;
	for (size_t i = 0; i < 2 * O2_TEST_TYPES; i++) {
		struct o2_error error;
		int length;

		o2_test_message(&msg, o2_test_types[i / 2], i % 2 == 0 ? O2_LITTLE_ENDIAN : O2_BIG_ENDIAN, 3);
		length = o2_msg_encode(&msg, NULL, bytes, sizeof(bytes), &error);
		for (size_t n = 0; n < (size_t)length; n++) {
			assert_int_equal(decode_is_total(bytes, n, &error), -EPROTO);
			assert_string_equal(error.rule, n < 6	 ? "wire/header/short-for-version"
							: n < 48 ? "wire/header/short-for-header"
								 : "wire/header/nob-over-received");
		}
		/* Truncated, and nob says so: refused, or shorter by its own right. */
		for (uint32_t n = O2_MSG_HEADER_BYTES; n < (uint32_t)length; n++) {
			o2_test_poke(bytes + O2_AT_NOB, msg.order, 4, n);
			decode_is_total(bytes, n, &error);
		}
		assert_int_equal(decode_is_total(bytes, 0, &error), -EPROTO);
	}
}

static void changed_bytes(void **state)
{
	static uint8_t bytes[O2_MSG_BYTES];
	static struct o2_msg msg;
	unsigned int accepted = 0, refused = 0;

	(void)state;
	for (unsigned int i = 0; i < MESSAGES; i++) {
		const size_t length = random_bytes(&msg, bytes);

		for (unsigned int mutant = 0; mutant < MUTANTS; mutant++) {
			/* Half of the changes in the first 160 bytes, where the structure is. */
			const uint32_t span = mutant % 2 == 0 && length > 160 ? 160 : (uint32_t)length;
			const uint32_t at = random_below(span);
			const uint8_t kept = bytes[at];
			struct o2_error error;
			int rc;

			bytes[at] = (uint8_t)(kept ^ (1 + random_below(255)));
			rc = decode_is_total(bytes, length, &error);
			if (msg.cksum_flavour != O2_CKSUM_NONE && rc == 0)
				fail_msg("a wrong checksum decodes: byte %u of a %s", at,
					 o2_msg_type_name(msg.ibm_type));
			accepted += rc == 0;
			refused += rc != 0;
			bytes[at] = kept;
		}
	}
	print_message("%u changed messages accepted, %u refused\n", accepted, refused);
	assert_true(accepted > 1000 && refused > 1000);
}

/* Any bytes, any length, with or without a start that looks like a message. */
static void decoding_is_total(void **state)
{
	static uint8_t bytes[8192];

	(void)state;
	for (unsigned int i = 0; i < MESSAGES; i++) {
		const uint32_t n = random_below(sizeof(bytes) + 1);
		struct o2_error error;

		for (uint32_t b = 0; b < n; b++)
			bytes[b] = (uint8_t)random64();
		if (n >= 48 && random_below(4) != 0) {
			const enum o2_byte_order order =
				random_below(2) == 0 ? O2_LITTLE_ENDIAN : O2_BIG_ENDIAN;

			o2_test_poke(bytes, order, 4, O2_MSG_MAGIC);
			o2_test_poke(bytes + O2_AT_VERSION, order, 2, O2_MSG_VERSION_2);
			bytes[O2_AT_TYPE] = o2_test_types[random_below(O2_TEST_TYPES)];
			o2_test_poke(bytes + O2_AT_NOB, order, 4, random_below(n + 1));
			o2_test_poke(bytes + O2_AT_CKSUM, order, 4, 0);
			o2_test_poke(bytes + O2_AT_SRCNID, order, 8, O2_TEST_SRCNID);
			o2_test_poke(bytes + O2_AT_DSTNID, order, 8, O2_TEST_DSTNID);
		}
		decode_is_total(bytes, n, &error);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(decoding_undoes_encoding, random_start),
		cmocka_unit_test_setup(cookies_and_lnet_never_change, random_start),
		cmocka_unit_test_setup(every_truncation_is_refused, random_start),
		cmocka_unit_test_setup(changed_bytes, random_start),
		cmocka_unit_test_setup(decoding_is_total, random_start),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
