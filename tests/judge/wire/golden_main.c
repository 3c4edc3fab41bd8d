/* SPDX-License-Identifier: MIT */
/*
 * Tests the codec on another machine (ci/cross): encodes and decodes the golden messages, and computes a digest of
 * the results of 20,000 changed messages, which must be equal on all machines.  Needs only the C library.
 *
 * Prints `digest 0x...`, then `N passed, N failed`.  Exit 0: none failed, 1: some did.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/judge/wire/golden.h"
#include "wire/bytes.h"
#include "wire/layout.h"
#include "wire/nid.h"

#define CHANGED_MESSAGES 20000

static unsigned int passed, failed;

static void check(bool good, const char *name, const char *what)
{
	if (good) {
		passed++;
		return;
	}
	failed++;
	printf("FAILED: %s: %s\n", name, what);
}

/* Check that the message encodes to its golden bytes in this flavour, and that these decode and encode again. */
static void check_flavour(const struct golden *g, enum o2_cksum_flavour flavour, uint32_t checksum)
{
	uint8_t expected[O2_MSG_BYTES], bytes[O2_MSG_BYTES];
	const int length = (int)g->length_bytes;
	struct o2_msg msg;
	struct o2_error error;

	g->meaning(&msg);
	msg.cksum_flavour = flavour;
	memcpy(expected, g->bytes, g->length_bytes);
	o2_store32(expected + O2_AT_CKSUM, msg.order, checksum);
	check(o2_msg_encode(&msg, NULL, bytes, sizeof(bytes), &error) == length &&
		      memcmp(bytes, expected, g->length_bytes) == 0,
	      g->name, "does not encode to its bytes");
	check(o2_msg_decode(expected, g->length_bytes, NULL, &msg, &error) == 0 &&
		      msg.cksum_flavour == flavour && msg.ibm_srcnid == O2_TEST_SRCNID &&
		      msg.ibm_srcstamp == O2_TEST_SRCSTAMP,
	      g->name, "does not decode to its meaning");
	check(o2_msg_encode(&msg, NULL, bytes, sizeof(bytes), &error) == length &&
		      memcmp(bytes, expected, g->length_bytes) == 0,
	      g->name, "is another message after decoding and encoding");
}

static void check_nid(void)
{
	char text[O2_NID_TEXT_BYTES];
	uint64_t nid = 0;

	o2_nid_to_text(0x00050007c0a80a01u, text, sizeof(text));
	check(strcmp(text, "192.168.10.1@o2ib7") == 0, "NID", text);
	check(o2_nid_from_text(text, &nid, NULL) == 0 && nid == 0x00050007c0a80a01u, "NID",
	      "is another after reading");
}

/* Continue a 64-bit FNV-1a digest with these bytes. */
static uint64_t digest(uint64_t so_far, const void *data, size_t length_bytes)
{
	const uint8_t *bytes = data;

	for (size_t i = 0; i < length_bytes; i++)
		so_far = (so_far ^ bytes[i]) * 0x100000001b3u;
	return so_far;
}

static uint32_t random_below(uint32_t limit)
{
	static uint64_t state = 1;

	state = state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)((state >> 33) % limit);
}

static void change_byte(uint8_t *bytes, uint32_t at)
{
	bytes[at] = (uint8_t)random_below(256);
}

/* Change up to three bytes of a message, decode it, and continue the digest with the result. */
static uint64_t one_changed_message(uint64_t so_far)
{
	static uint8_t bytes[O2_MSG_BYTES], canonical[O2_MSG_BYTES];
	static struct o2_msg msg;
	/* Draw in separate statements, because the evaluation order of arguments depends on the compiler. */
	const uint8_t type = o2_test_types[random_below(O2_TEST_TYPES)];
	const enum o2_byte_order order = random_below(2) == 0 ? O2_LITTLE_ENDIAN : O2_BIG_ENDIAN;
	const uint32_t nfrags = 1 + random_below(4);
	struct o2_error error;
	int length;

	o2_test_message(&msg, type, order, nfrags);
	msg.cksum_flavour = random_below(4) == 0 ? O2_CKSUM_SIGNED : O2_CKSUM_NONE;
	length = o2_msg_encode(&msg, NULL, bytes, sizeof(bytes), &error);
	for (uint32_t n = random_below(4); n > 0; n--)
		change_byte(bytes, random_below((uint32_t)length));
	if (o2_msg_decode(bytes, (size_t)length, NULL, &msg, &error) != 0) {
		/* In a fixed byte order, so that the digest does not depend on the machine. */
		o2_store64(canonical, O2_LITTLE_ENDIAN, error.value);
		o2_store64(canonical + 8, O2_LITTLE_ENDIAN, error.limit);
		o2_store64(canonical + 16, O2_LITTLE_ENDIAN, error.index);
		return digest(digest(so_far, error.rule, strlen(error.rule)), canonical, 24);
	}
	length = o2_msg_encode(&msg, NULL, canonical, sizeof(canonical), &error);
	check(length > 0, o2_msg_type_name(msg.ibm_type), "is accepted, but not encoded");
	return digest(so_far, canonical, (size_t)length);
}

int main(void)
{
	uint64_t all = 0xcbf29ce484222325u;

	for (size_t i = 0; i < GOLDEN_COUNT; i++) {
		check_flavour(&golden[i], O2_CKSUM_NONE, 0);
		check_flavour(&golden[i], O2_CKSUM_SIGNED, golden[i].checksum_signed);
		check_flavour(&golden[i], O2_CKSUM_UNSIGNED, golden[i].checksum_unsigned);
	}
	check_nid();
	for (unsigned int i = 0; i < CHANGED_MESSAGES; i++)
		all = one_changed_message(all);
	printf("digest 0x%016" PRIx64 "\n", all);
	printf("%u passed, %u failed\n", passed, failed);
	return failed != 0;
}
