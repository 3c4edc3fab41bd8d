/* SPDX-License-Identifier: MIT */

/* Ping info (docs/peer.md, "Ping"). */

#include "lnet/ping.h"
#include "tests/lib/unit_test.h"
#include "wire/bytes.h"
#include "wire/nid.h"

/* Read the ping info that a node sent in a recording: the payload of an IMMEDIATE. */
static void read_recorded(const char *name, uint8_t *info)
{
	char path[512];
	uint8_t message[168 + 1];

	snprintf(path, sizeof(path), "%s/captures/%s", O2_CORPUS_DIR, name);
	assert_int_equal(test_read(path, message, sizeof(message)), sizeof(message) - 1);
	memcpy(info, message + 120, O2_PING_INFO_BYTES);
}

TEST(test_equals_the_recorded_one)
{
	uint8_t recorded[O2_PING_INFO_BYTES], ours[O2_PING_INFO_BYTES];
	struct o2_ping_info info, made;

	read_recorded("002_IMMEDIATE_REPLY_n00168_b2a.bin", recorded);
	assert_int_equal(o2_ping_decode(recorded, sizeof(recorded), &info, NULL), 2);
	assert_int_equal(info.features, O2_PING_NO_DISCOVERY_FEATURES);
	assert_int_equal(info.pid, 12345);
	assert_int_equal(info.nnis, 2);
	assert_int_equal(info.ni[0].nid, o2_nid_make(O2_LND_LO, 0, 0));
	assert_int_equal(info.ni[0].status, 4);
	assert_int_equal(info.ni[1].nid, o2_nid_make(O2_LND_O2IB, 0, 0x0a4d0002));
	assert_int_equal(info.ni[1].status, O2_PING_NI_UP);
	made = o2_ping_info_make(info.ni[1].nid, 12345, O2_PING_NO_DISCOVERY_FEATURES, 4);
	assert_int_equal(o2_ping_encode(&made, ours, sizeof(ours)), O2_PING_INFO_BYTES);
	assert_memory_equal(ours, recorded, sizeof(ours));

	/* From a node with discovery. */
	read_recorded("098_IMMEDIATE_PUT_n00168_a2b.bin", recorded);
	assert_int_equal(o2_ping_decode(recorded, sizeof(recorded), &info, NULL), 2);
	assert_int_equal(info.features, O2_PING_NO_DISCOVERY_FEATURES | O2_PING_DISCOVERY);
}

TEST(test_other_order)
{
	struct o2_ping_info made = o2_ping_info_make(0x000500000a4d0002, 12345, O2_PING_NI_STATUS, 9), info;
	uint8_t bytes[O2_PING_INFO_BYTES], swapped[O2_PING_INFO_BYTES];

	assert_int_equal(o2_ping_encode(&made, bytes, sizeof(bytes)), sizeof(bytes));
	for (unsigned int at = 0; at < O2_PING_HEADER_BYTES; at += 4)
		o2_store32(swapped + at, O2_BIG_ENDIAN, o2_load32_le(bytes + at));
	for (unsigned int at = O2_PING_HEADER_BYTES; at < sizeof(bytes); at += O2_PING_NI_BYTES) {
		o2_store64(swapped + at, O2_BIG_ENDIAN, o2_load64(bytes + at, O2_LITTLE_ENDIAN));
		o2_store32(swapped + at + 8, O2_BIG_ENDIAN, o2_load32_le(bytes + at + 8));
	}
	assert_int_equal(o2_ping_decode(swapped, sizeof(swapped), &info, NULL), 2);
	assert_memory_equal(&info, &made, sizeof(info));
}

TEST(test_what_is_refused)
{
	struct o2_ping_info info = o2_ping_info_make(0x000500000a4d0002, 12345, O2_PING_NI_STATUS, 9);
	uint8_t bytes[O2_PING_HEADER_BYTES + 20 * O2_PING_NI_BYTES] = {0};
	struct o2_error error;
	char text[128];

	assert_int_equal(o2_ping_encode(&info, bytes, O2_PING_INFO_BYTES - 1), -ENOSPC);
	info.nnis = O2_PING_MAX_NIS + 1;
	assert_int_equal(o2_ping_encode(&info, bytes, sizeof(bytes)), -ENOSPC);
	info.nnis = 2;
	assert_int_equal(o2_ping_encode(&info, bytes, sizeof(bytes)), O2_PING_INFO_BYTES);
	assert_error(o2_ping_decode(bytes, O2_PING_HEADER_BYTES - 1, &info, &error), -EPROTO, &error,
		     "lnet/ping/short");
	/* If the info is cut, an incomplete NI is left out. */
	for (size_t length = O2_PING_HEADER_BYTES; length <= O2_PING_INFO_BYTES; length++) {
		assert_int_equal(o2_ping_decode(bytes, length, &info, &error), (length - 16) / 16);
		assert_int_equal(info.nnis, 2);
	}
	/* More NIs than fit into struct o2_ping_info, and into the sink. */
	o2_store32(bytes + 12, O2_LITTLE_ENDIAN, UINT32_MAX);
	assert_int_equal(o2_ping_decode(bytes, sizeof(bytes), &info, &error), O2_PING_MAX_NIS);
	assert_int_equal(info.nnis, UINT32_MAX);
	o2_store32(bytes + 4, O2_LITTLE_ENDIAN, O2_PING_BASE | O2_PING_MULTI_RAIL);
	assert_error(o2_ping_decode(bytes, sizeof(bytes), &info, &error), -EPROTO, &error,
		     "lnet/ping/features");
	o2_error_text(&error, text, sizeof(text));
	assert_string_equal(text, "lnet/ping/features: pi_features is 9 (Protocol error)");
	bytes[0]++;
	assert_error(o2_ping_decode(bytes, sizeof(bytes), &info, &error), -EPROTO, &error, "lnet/ping/magic");
}
