/* SPDX-License-Identifier: MIT */
/* The golden messages both ways, byte for byte; both checksum flavours (docs/wire.md, "Checksum"). */
#include "tests/judge/wire/golden.h"
#include "tests/judge/wire/wire_test.h"

#include "wire/checksum.h"

TEST(decodes_to_its_meaning)
{
	for (size_t i = 0; i < GOLDEN_COUNT; i++) {
		struct o2_msg expected, found;
		struct o2_error error;

		golden[i].meaning(&expected);
		if (o2_msg_decode(golden[i].bytes, golden[i].length_bytes, NULL, &found, &error) != 0)
			fail_msg("%s: refused by %s", golden[i].name, error.rule);
		o2_test_same(&expected, &found);
		assert_int_equal(found.ibm_nob, golden[i].length_bytes);
		assert_int_equal(error.code, 0);
	}
}

TEST(encodes_to_its_bytes)
{
	for (size_t i = 0; i < GOLDEN_COUNT; i++) {
		uint8_t bytes[O2_MSG_BYTES];
		struct o2_msg msg;
		struct o2_error error;

		golden[i].meaning(&msg);
		memset(bytes, 0xa5, sizeof(bytes));
		assert_int_equal(o2_msg_encode(&msg, NULL, bytes, golden[i].length_bytes, &error),
				 golden[i].length_bytes);
		assert_memory_equal(bytes, golden[i].bytes, golden[i].length_bytes);
		assert_int_equal(bytes[golden[i].length_bytes], 0xa5);
	}
}

static void check_flavour(const struct golden *g, enum o2_cksum_flavour flavour, uint32_t checksum)
{
	uint8_t bytes[O2_MSG_BYTES];
	struct o2_msg msg, found;
	struct o2_error error;

	g->meaning(&msg);
	msg.cksum_flavour = flavour;
	assert_int_equal(o2_msg_encode(&msg, NULL, bytes, sizeof(bytes), &error), g->length_bytes);
	assert_int_equal(o2_load32(bytes + O2_AT_CKSUM, msg.order), checksum);
	assert_memory_equal(bytes, g->bytes, O2_AT_CKSUM);
	assert_memory_equal(bytes + O2_AT_SRCNID, g->bytes + O2_AT_SRCNID, g->length_bytes - O2_AT_SRCNID);
	assert_int_equal(o2_msg_decode(bytes, g->length_bytes, NULL, &found, &error), 0);
	o2_test_same(&msg, &found);
}

TEST(checksums_in_both_flavours)
{
	for (size_t i = 0; i < GOLDEN_COUNT; i++) {
		check_flavour(&golden[i], O2_CKSUM_SIGNED, golden[i].checksum_signed);
		check_flavour(&golden[i], O2_CKSUM_UNSIGNED, golden[i].checksum_unsigned);
	}
}

/* These examples end before the checksum field. */
TEST(checksum_worked_examples)
{
	static const struct {
		const char *bytes;
		size_t length;
		uint32_t of_signed, of_unsigned;
	} examples[] = {
		{"", 0, 1, 1},
		{"\0\0\0\0", 4, 1, 1},
		{"123456789", 9, 0x000063c5, 0x000063c5},
		{"\x80", 1, 0xffffff80, 0x00000080},
		{"\xff\xff\xff\xff", 4, 0xfffffff8, 0x00000ef1},
		{"\x01\xfe", 2, 0x00000001, 0x00000100},
	};

	for (size_t i = 0; i < sizeof(examples) / sizeof(examples[0]); i++) {
		const struct o2_checksums sums =
			o2_msg_checksum_both((const uint8_t *)examples[i].bytes, examples[i].length);

		assert_int_equal(sums.of_signed, examples[i].of_signed);
		assert_int_equal(sums.of_unsigned, examples[i].of_unsigned);
	}
}

/* The checksum field counts as zero, also if nob ends inside it or before it. */
TEST(checksum_skips_its_own_field)
{
	uint32_t of_signed = 0, of_unsigned = 0;
	uint8_t bytes[64];

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)(0x55 + 37 * i);
	for (size_t nob = 1; nob <= sizeof(bytes); nob++) {
		const struct o2_checksums found = o2_msg_checksum_both(bytes, nob);
		const bool is_field = nob - 1 >= O2_AT_CKSUM && nob - 1 < O2_AT_CKSUM + 4u;
		const uint8_t byte = is_field ? 0 : bytes[nob - 1];

		of_unsigned = (of_unsigned << 1 | of_unsigned >> 31) + byte;
		of_signed = (of_signed << 1 | of_signed >> 31) + (uint32_t)(int8_t)byte;
		assert_int_equal(found.of_unsigned, of_unsigned);
		assert_int_equal(found.of_signed, of_signed);
	}
}

/* Bytes between nob and the received length affect neither the checksum nor the decoded message. */
TEST(bytes_after_nob_are_never_used)
{
	uint8_t bytes[8192];
	struct o2_msg expected, found;
	struct o2_error error;

	memset(bytes, 0xee, sizeof(bytes));
	for (size_t i = 0; i < GOLDEN_COUNT; i++) {
		golden[i].meaning(&expected);
		expected.cksum_flavour = O2_CKSUM_UNSIGNED;
		o2_msg_encode(&expected, NULL, bytes, sizeof(bytes), &error);
		assert_int_equal(o2_msg_decode(bytes, sizeof(bytes), NULL, &found, &error), 0);
		o2_test_same(&expected, &found);
		assert_int_equal(found.ibm_nob, golden[i].length_bytes);
	}
}

/* Each variant of the LNet header, decoded from distinct bytes, must match the offsets of docs/wire.md. */
TEST(lnet_header_by_its_offsets)
{
	static const uint32_t used_bytes[] = {[O2_LNET_ACK] = 60,
					      [O2_LNET_PUT] = 72,
					      [O2_LNET_GET] = 68,
					      [O2_LNET_REPLY] = 48,
					      [O2_LNET_HELLO] = 44};
	uint8_t in[O2_LNET_HDR_BYTES], out[O2_LNET_HDR_BYTES];
	struct o2_lnet_hdr hdr;

	for (uint32_t type = O2_LNET_ACK; type <= O2_LNET_HELLO; type++) {
		for (size_t i = 0; i < sizeof(in); i++)
			in[i] = (uint8_t)i;
		o2_store32(in + 24, O2_LITTLE_ENDIAN, type);
		o2_lnet_hdr_load(in, &hdr);
		assert_int_equal(hdr.dest_nid, 0x0706050403020100u);
		assert_int_equal(hdr.src_nid, 0x0f0e0d0c0b0a0908u);
		assert_int_equal(hdr.dest_pid, 0x13121110u);
		assert_int_equal(hdr.src_pid, 0x17161514u);
		assert_int_equal(hdr.type, type);
		assert_int_equal(hdr.payload_length, 0x1f1e1d1cu);
		if (type != O2_LNET_HELLO) {
			/* The handle comes first in every variant except HELLO. */
			assert_int_equal(hdr.msg.put.ack_wmd.wh_interface_cookie, 0x2726252423222120u);
			assert_int_equal(hdr.msg.put.ack_wmd.wh_object_cookie, 0x2f2e2d2c2b2a2928u);
		}
		if (type == O2_LNET_ACK) {
			assert_int_equal(hdr.msg.ack.match_bits, 0x3736353433323130u);
			assert_int_equal(hdr.msg.ack.mlength, 0x3b3a3938u);
		} else if (type == O2_LNET_PUT) {
			assert_int_equal(hdr.msg.put.match_bits, 0x3736353433323130u);
			assert_int_equal(hdr.msg.put.hdr_data, 0x3f3e3d3c3b3a3938u);
			assert_int_equal(hdr.msg.put.ptl_index, 0x43424140u);
			assert_int_equal(hdr.msg.put.offset, 0x47464544u);
		} else if (type == O2_LNET_GET) {
			assert_int_equal(hdr.msg.get.match_bits, 0x3736353433323130u);
			assert_int_equal(hdr.msg.get.ptl_index, 0x3b3a3938u);
			assert_int_equal(hdr.msg.get.src_offset, 0x3f3e3d3cu);
			assert_int_equal(hdr.msg.get.sink_length, 0x43424140u);
		} else if (type == O2_LNET_HELLO) {
			assert_int_equal(hdr.msg.hello.incarnation, 0x2726252423222120u);
			assert_int_equal(hdr.msg.hello.type, 0x2b2a2928u);
		}
		memset(out, 0xee, sizeof(out));
		o2_lnet_hdr_store(&hdr, out);
		assert_memory_equal(out, in, used_bytes[type]);
		for (size_t i = used_bytes[type]; i < sizeof(out); i++)
			assert_int_equal(out[i], 0);
	}
}
