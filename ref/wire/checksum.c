/* SPDX-License-Identifier: MIT */
#include "wire/checksum.h"

#include <assert.h>

#include "wire/bytes.h"
#include "wire/layout.h"

#define CKSUM_FIELD_BYTES 4u
static_assert(O2_AT_CKSUM + CKSUM_FIELD_BYTES == O2_AT_SRCNID, "a field behind the sum is summed");

static uint32_t rotate_left(uint32_t value, unsigned int bits)
{
	bits &= 31;
	return bits == 0 ? value : value << bits | value >> (32 - bits);
}

/* The two sums are independent, so a processor computes both in the time of one. */
static inline struct o2_checksums add_bytes(struct o2_checksums sums, const uint8_t *bytes,
					    size_t length_bytes)
{
	uint32_t plain = sums.of_unsigned, extended = sums.of_signed;

	for (size_t i = 0; i < length_bytes; i++) {
		plain = rotate_left(plain, 1) + bytes[i];
		extended = rotate_left(extended, 1) + (uint32_t)(int32_t)(int8_t)bytes[i];
	}
	return (struct o2_checksums){.of_unsigned = plain, .of_signed = extended};
}

/*
 * x86's older rotate by one also writes the carry flag and costs two steps where the rotate of BMI2 costs
 * one: too slow to compute both sums in the time of one.  So the same loop is compiled for BMI2 as well.
 */
#if defined(__x86_64__)
__attribute__((target("bmi2"))) static struct o2_checksums add_bytes_bmi2(struct o2_checksums sums,
									  const uint8_t *bytes,
									  size_t length_bytes)
{
	return add_bytes(sums, bytes, length_bytes);
}

static struct o2_checksums add(struct o2_checksums sums, const uint8_t *bytes, size_t length_bytes)
{
	return __builtin_cpu_supports("bmi2") ? add_bytes_bmi2(sums, bytes, length_bytes)
					      : add_bytes(sums, bytes, length_bytes);
}
#else
static struct o2_checksums add(struct o2_checksums sums, const uint8_t *bytes, size_t length_bytes)
{
	return add_bytes(sums, bytes, length_bytes);
}
#endif

/* On the wire 0 means that there is no checksum, so a sum of 0 becomes 1. */
static struct o2_checksums never_zero(struct o2_checksums sums)
{
	if (sums.of_unsigned == 0)
		sums.of_unsigned = 1;
	if (sums.of_signed == 0)
		sums.of_signed = 1;
	return sums;
}

struct o2_checksums o2_msg_checksum_both(const uint8_t *bytes, size_t nob)
{
	const size_t before = nob < O2_AT_CKSUM ? nob : O2_AT_CKSUM;
	const size_t field = nob - before < CKSUM_FIELD_BYTES ? nob - before : CKSUM_FIELD_BYTES;
	struct o2_checksums sums = add((struct o2_checksums){0, 0}, bytes, before);

	/* Adding a zero byte only rotates the sum. */
	sums.of_unsigned = rotate_left(sums.of_unsigned, (unsigned int)field);
	sums.of_signed = rotate_left(sums.of_signed, (unsigned int)field);
	return never_zero(add(sums, bytes + before + field, nob - before - field));
}

enum o2_cksum_flavour o2_msg_checksum_shown(const uint8_t *bytes, size_t length_bytes)
{
	const enum o2_byte_order order =
		o2_load32_be(bytes + O2_AT_MAGIC) == O2_MSG_MAGIC ? O2_BIG_ENDIAN : O2_LITTLE_ENDIAN;
	const uint32_t found = o2_load32(bytes + O2_AT_CKSUM, order);
	const uint32_t nob = o2_load32(bytes + O2_AT_NOB, order);
	const struct o2_checksums sums = o2_msg_checksum_both(bytes, nob < length_bytes ? nob : length_bytes);

	if (found == 0 || sums.of_unsigned == sums.of_signed)
		return O2_CKSUM_NONE;
	if (found == sums.of_unsigned)
		return O2_CKSUM_UNSIGNED;
	return found == sums.of_signed ? O2_CKSUM_SIGNED : O2_CKSUM_NONE;
}

uint32_t o2_checksum_of(struct o2_checksums sums, enum o2_cksum_flavour flavour)
{
	if (flavour == O2_CKSUM_SIGNED)
		return sums.of_signed;
	return flavour == O2_CKSUM_UNSIGNED || flavour == O2_CKSUM_UNVERIFIED ? sums.of_unsigned : 0;
}
