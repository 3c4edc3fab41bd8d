/* SPDX-License-Identifier: MIT */
/* Properties of the codec (docs/wire.md, "Canonical form"), for random messages, and for every small change
 * of some messages. */
#include "tests/judge/wire/guarded.h"
#include "tests/judge/wire/random_msg.h"

#include "wire/checksum.h"

#define MESSAGES 4000
#define MUTANTS	 40

/* Asserts that opaque bytes are unchanged: cookies, and the meaningful part of an LNet header. */
static void check_opaque(const uint8_t *before, const uint8_t *after, const struct o2_msg *msg)
{
	static const uint32_t used[] = {60, 72, 68, 48}; /* of the LNet header's 72 bytes, by LNet type */

	switch (o2_msg_type_info(msg->ibm_type)->body) {
	case O2_BODY_IMMEDIATE:
		assert_memory_equal(before + 48, after + 48, used[msg->u.immediate.hdr.type]);
		assert_memory_equal(before + 120, after + 120, msg->u.immediate.hdr.payload_length);
		break;
	case O2_BODY_PUTREQ:
		assert_memory_equal(before + 48, after + 48, used[msg->u.putreq.hdr.type]);
		assert_memory_equal(before + 120, after + 120, 8);
		break;
	case O2_BODY_GET:
		assert_memory_equal(before + 48, after + 48, used[O2_LNET_GET]);
		assert_memory_equal(before + 120, after + 120, 8);
		break;
	case O2_BODY_PUTACK:
		assert_memory_equal(before + 48, after + 48, 16);
		break;
	case O2_BODY_COMPLETION:
		assert_memory_equal(before + 48, after + 48, 8);
		break;
	default:
		break;
	}
}

/*
 * Decodes exactly n bytes in front of an unmapped page.  The input must stay unchanged.  Returns the result
 * of o2_msg_decode; an accepted message is also encoded to its canonical form and decoded again.
 */
static int decode_is_total(const uint8_t *input, size_t n, struct o2_error *error)
{
	static uint8_t once[O2_MSG_BYTES], twice[O2_MSG_BYTES];
	static struct o2_msg msg, again;
	const uint8_t *bytes = guarded_copy(input, n);
	const int rc = o2_msg_decode(bytes, n, NULL, &msg, error);
	int length;

	assert_memory_equal(bytes, input, n);
	if (rc != 0) {
		assert_int_equal(rc, -EPROTO);
		assert_int_equal(error->code, rc);
		assert_non_null(o2_wire_rule_find(error->rule));
		return rc;
	}
	length = o2_msg_encode(&msg, NULL, once, sizeof(once), error);
	assert_uint_in_range(length, O2_MSG_HEADER_BYTES, msg.ibm_nob);
	assert_int_equal(length, o2_msg_canonical_bytes(&msg));
	check_opaque(bytes, once, &msg);
	assert_int_equal(o2_msg_decode(once, (size_t)length, NULL, &again, error), 0);
	o2_test_same(&msg, &again);
	assert_int_equal(o2_msg_encode(&again, NULL, twice, sizeof(twice), error), length);
	assert_memory_equal(once, twice, (size_t)length);
	return 0;
}

static size_t encode(const struct o2_msg *msg, uint8_t *bytes)
{
	struct o2_error error;
	const int length = o2_msg_encode(msg, NULL, bytes, O2_MSG_BYTES, &error);

	if (length < 0)
		fail_msg("a legal message is refused by %s", error.rule);
	return (size_t)length;
}

TEST_WITH(decoding_undoes_encoding, random_start, NULL)
{
	static unsigned int seen[O2_TEST_TYPES][2];
	static struct o2_msg msg, found;
	static uint8_t bytes[O2_MSG_BYTES], again[O2_MSG_BYTES];

	for (unsigned int i = 0; i < MESSAGES; i++) {
		struct o2_error error;
		size_t length, type = 0;

		random_msg(&msg);
		length = encode(&msg, bytes);
		assert_int_equal(o2_msg_decode(bytes, length, NULL, &found, &error), 0);
		/* If the two sums happen to be equal, unsigned is reported. */
		if (found.cksum_flavour == O2_CKSUM_UNSIGNED && msg.cksum_flavour == O2_CKSUM_SIGNED) {
			const struct o2_checksums sums = o2_msg_checksum_both(bytes, length);

			assert_int_equal(sums.of_signed, sums.of_unsigned);
			msg.cksum_flavour = O2_CKSUM_UNSIGNED;
		}
		o2_test_same(&msg, &found);
		assert_int_equal(found.ibm_nob, length);
		assert_int_equal(encode(&found, again), length);
		assert_memory_equal(bytes, again, length);
		while (o2_test_types[type] != msg.ibm_type)
			type++;
		seen[type][msg.order]++;
	}
	for (size_t i = 0; i < 2 * O2_TEST_TYPES; i++)
		assert_true(seen[i / 2][i % 2] > MESSAGES / 100);
}

/* Adds meaningless bytes to a message: after the body, and in the unused part of an LNet header.  Returns its
 * length. */
static size_t disguise(uint8_t *bytes, size_t length, const struct o2_msg *msg)
{
	static const uint32_t used[] = {60, 72, 68, 48};
	const enum o2_msg_body body = o2_msg_type_info(msg->ibm_type)->body;
	const uint32_t room = (uint32_t)(O2_MSG_BYTES - length);
	const uint32_t extra = random_below(3) == 0 ? room : random_below(room + 1);

	for (size_t i = length; i < GUARDED_BYTES; i++)
		bytes[i] = (uint8_t)random64();
	if (body == O2_BODY_IMMEDIATE || body == O2_BODY_PUTREQ || body == O2_BODY_GET)
		for (uint32_t i = used[bytes[O2_AT_LNET_HDR + O2_LNET_AT_TYPE]]; i < O2_LNET_HDR_BYTES; i++)
			bytes[O2_AT_LNET_HDR + i] = (uint8_t)random64();
	length += extra;
	o2_test_poke(bytes + O2_AT_NOB, msg->order, 4, length);
	o2_test_poke(bytes + O2_AT_CKSUM, msg->order, 4,
		     o2_checksum_of(o2_msg_checksum_both(bytes, length), msg->cksum_flavour));
	return length;
}

TEST_WITH(a_disguise_falls_off, random_start, NULL)
{
	static uint8_t canonical[O2_MSG_BYTES], bytes[GUARDED_BYTES], found[O2_MSG_BYTES];
	static struct o2_msg msg;

	for (unsigned int i = 0; i < MESSAGES; i++) {
		struct o2_error error;
		size_t length, nob, received;

		random_msg(&msg);
		length = encode(&msg, canonical);
		memcpy(bytes, canonical, length);
		nob = disguise(bytes, length, &msg);
		received = nob + random_below((uint32_t)(GUARDED_BYTES - nob + 1));
		assert_int_equal(o2_msg_decode(guarded_copy(bytes, received), received, NULL, &msg, &error),
				 0);
		assert_int_equal(msg.ibm_nob, nob);
		assert_int_equal(encode(&msg, found), length);
		/* If the two sums of the disguised message are equal, unsigned was reported. */
		if (memcmp(canonical + O2_AT_CKSUM, found + O2_AT_CKSUM, 4) != 0)
			assert_int_equal(o2_msg_checksum_both(bytes, nob).of_signed,
					 o2_msg_checksum_both(bytes, nob).of_unsigned);
		memcpy(found + O2_AT_CKSUM, canonical + O2_AT_CKSUM, 4);
		assert_memory_equal(canonical, found, length);
	}
}

/* The same message in the other byte order: the opaque and little-endian parts keep their bytes, the rest is
 * swapped. */
TEST_WITH(cookies_and_lnet_have_no_order, random_start, NULL)
{
	static struct o2_msg msg;
	static uint8_t little[O2_MSG_BYTES], big[O2_MSG_BYTES];

	for (unsigned int i = 0; i < MESSAGES; i++) {
		size_t length;

		random_msg(&msg);
		msg.order = O2_LITTLE_ENDIAN;
		length = encode(&msg, little);
		msg.order = O2_BIG_ENDIAN;
		assert_int_equal(encode(&msg, big), length);
		assert_int_equal(o2_load64(little + O2_AT_SRCSTAMP, O2_LITTLE_ENDIAN),
				 o2_load64(big + O2_AT_SRCSTAMP, O2_BIG_ENDIAN));
		check_opaque(little, big, &msg);
	}
}

/* Truncates one message of each type, in each order, to every length. */
TEST(every_truncation_is_refused)
{
	static uint8_t bytes[O2_MSG_BYTES];
	static struct o2_msg msg;

	for (size_t i = 0; i < 2 * O2_TEST_TYPES; i++) {
		struct o2_error error;
		size_t length;

		o2_test_message(&msg, o2_test_types[i / 2], i % 2 == 0 ? O2_LITTLE_ENDIAN : O2_BIG_ENDIAN, 3);
		length = encode(&msg, bytes);
		for (size_t n = 0; n < length; n++) {
			assert_int_equal(decode_is_total(bytes, n, &error), -EPROTO);
			assert_string_equal(error.rule, n < 6	 ? "wire/header/short-for-version"
							: n < 48 ? "wire/header/short-for-header"
								 : "wire/header/nob-over-received");
		}
		/* Truncated, with nob adjusted: refused, because none of these messages has bytes to
		 * spare. */
		for (uint32_t n = 0; n < (uint32_t)length; n++) {
			o2_test_poke(bytes + O2_AT_NOB, msg.order, 4, n);
			assert_int_equal(decode_is_total(bytes, length, &error), -EPROTO);
		}
	}
}

/* Changes of one byte, counted by result. */
struct changes {
	unsigned int accepted, refused;
};

/* Sets bytes[at] to value, decodes, and restores the byte. */
static void change_byte(uint8_t *bytes, size_t length, size_t at, uint8_t value, const struct o2_msg *msg,
			struct changes *changes)
{
	const uint8_t kept = bytes[at];
	struct o2_error error;
	int rc;

	bytes[at] = value;
	rc = decode_is_total(bytes, length, &error);
	bytes[at] = kept;
	changes->accepted += rc == 0;
	changes->refused += rc != 0;
	if (msg->cksum_flavour == O2_CKSUM_NONE)
		return;
	/* Decoding never gets past the checksum with a changed message. */
	if (rc == 0)
		fail_msg("a wrong checksum decodes: byte %zu of a %s", at, o2_msg_type_name(msg->ibm_type));
	assert_true(o2_wire_rule_find(error.rule) <= &o2_wire_rules[O2_RULE_CHECKSUM]);
}

/* Tries every other value of each byte, for one message of each type in each order and flavour. */
TEST(every_change_of_a_small_message)
{
	static uint8_t bytes[O2_MSG_BYTES];
	static struct o2_msg msg;
	struct changes changes = {0, 0};

	for (size_t i = 0; i < 6 * O2_TEST_TYPES; i++) {
		size_t length;

		o2_test_message(&msg, o2_test_types[i / 6], i % 2 == 0 ? O2_LITTLE_ENDIAN : O2_BIG_ENDIAN, 2);
		msg.cksum_flavour = (enum o2_cksum_flavour)(i / 2 % 3);
		length = encode(&msg, bytes);
		for (size_t at = 0; at < length; at++)
			for (unsigned int other = 1; other <= UINT8_MAX; other++)
				change_byte(bytes, length, at, (uint8_t)(bytes[at] ^ other), &msg, &changes);
	}
	print_message("%u changed messages accepted, %u refused\n", changes.accepted, changes.refused);
	assert_true(changes.accepted > 100000 && changes.refused > 100000);
}

/* Random messages, some of the maximum length: changes a few random bytes. */
TEST_WITH(some_changes_of_any_message, random_start, NULL)
{
	static uint8_t bytes[O2_MSG_BYTES];
	static struct o2_msg msg;
	struct changes changes = {0, 0};

	for (unsigned int i = 0; i < MESSAGES; i++) {
		size_t length;

		random_msg(&msg);
		length = encode(&msg, bytes);
		for (unsigned int mutant = 0; mutant < MUTANTS; mutant++) {
			/* Half of the changes are in the first 160 bytes, which hold the structure. */
			const uint32_t span = mutant % 2 == 0 && length > 160 ? 160 : (uint32_t)length;
			const uint32_t at = random_below(span);

			change_byte(bytes, length, at, (uint8_t)(bytes[at] ^ (1 + random_below(255))), &msg,
				    &changes);
		}
	}
	print_message("%u changed messages accepted, %u refused\n", changes.accepted, changes.refused);
	assert_true(changes.accepted > 1000 && changes.refused > 1000);
}

/* Every checksum except the two sums and 0 is wrong. */
TEST_WITH(wrong_checksums, random_start, NULL)
{
	static uint8_t bytes[O2_MSG_BYTES];
	static struct o2_msg msg;

	for (unsigned int i = 0; i < MESSAGES; i++) {
		struct o2_checksums sums;
		struct o2_error error;
		size_t length;

		random_msg(&msg);
		length = encode(&msg, bytes);
		sums = o2_msg_checksum_both(bytes, length);
		for (unsigned int bit = 0; bit <= 32; bit++) {
			/* One wrong bit, or a random number. */
			const uint32_t wrong = bit == 32    ? (uint32_t)random64()
					       : i % 2 == 0 ? sums.of_signed ^ (uint32_t)1 << bit
							    : sums.of_unsigned ^ (uint32_t)1 << bit;

			if (wrong == 0 || wrong == sums.of_signed || wrong == sums.of_unsigned)
				continue;
			o2_test_poke(bytes + O2_AT_CKSUM, msg.order, 4, wrong);
			assert_int_equal(decode_is_total(bytes, length, &error), -EPROTO);
			assert_string_equal(error.rule, "wire/header/checksum");
		}
	}
}

/* Makes the first bytes look like a message. */
static void look_like_a_message(uint8_t *bytes, size_t n)
{
	const enum o2_byte_order order = random_below(2) == 0 ? O2_LITTLE_ENDIAN : O2_BIG_ENDIAN;

	o2_test_poke(bytes, order, 4, O2_MSG_MAGIC);
	o2_test_poke(bytes + O2_AT_VERSION, order, 2, O2_MSG_VERSION_2);
	bytes[O2_AT_TYPE] = o2_test_types[random_below(O2_TEST_TYPES)];
	o2_test_poke(bytes + O2_AT_NOB, order, 4, random_below((uint32_t)n + 1));
	o2_test_poke(bytes + O2_AT_CKSUM, order, 4, 0);
	o2_test_poke(bytes + O2_AT_SRCNID, order, 8, O2_TEST_SRCNID);
	o2_test_poke(bytes + O2_AT_DSTNID, order, 8, O2_TEST_DSTNID);
}

/* Random bytes of every length, with and without a start that looks like a message. */
TEST_WITH(decoding_is_total, random_start, NULL)
{
	static uint8_t bytes[GUARDED_BYTES];
	static struct o2_rdma_desc desc;

	for (size_t n = 0; n <= sizeof(bytes); n++) {
		struct o2_error error;

		for (size_t b = 0; b < n; b += 8)
			o2_store64(bytes + b, O2_LITTLE_ENDIAN, random64());
		for (int order = O2_LITTLE_ENDIAN; order <= O2_BIG_ENDIAN; order++) {
			uint8_t *copy = guarded_copy(bytes, n);
			int rc;

			if (n >= O2_DESC_AT_FRAGS)
				o2_test_poke(copy + O2_DESC_AT_NFRAGS, (enum o2_byte_order)order, 4,
					     1 + random_below(O2_MAX_FRAGS));
			rc = o2_desc_decode(copy, n, (enum o2_byte_order)order, NULL, &desc, &error);
			assert_true(rc == 0 || (rc == -EPROTO && o2_wire_rule_find(error.rule) != NULL));
		}
		decode_is_total(bytes, n, &error);
		if (n >= O2_MSG_HEADER_BYTES) {
			look_like_a_message(bytes, n);
			decode_is_total(bytes, n, &error);
		}
	}
}
