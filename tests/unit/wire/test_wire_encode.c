/* SPDX-License-Identifier: MIT */
/*
 * Encoding refuses what decoding would refuse, by the same rule.  (Faults that a struct cannot express, such
 * as a wrong magic, have no row here.)
 */
#include "tests/judge/wire/wire_test.h"

#include "base/fields.h"

#define MIB O2_MAX_TRANSFER_BYTES

#define NID(lnd, network, address) ((uint64_t)(lnd) << 48 | (uint64_t)(network) << 32 | (address))
#define TOP_BYTE		   UINT64_C(0x0100000000000000)
#define LND_ANY			   UINT64_C(0x00ff000000000000)

#define FIELD(member)                                          \
	{                                                      \
		O2_FIELD(#member, UINT, struct o2_msg, member) \
	}

/* clang-format off */
static const struct {
	uint8_t type;
	struct o2_field field;
	uint64_t value;
	const char *rule;
} cases[] = {
	{O2_MSG_NOOP, FIELD(ibm_version), 0x13, "wire/header/version"},
	{O2_MSG_NOOP, FIELD(ibm_srcnid), UINT64_MAX, "wire/header/srcnid-wildcard"},
	{O2_MSG_NOOP, FIELD(ibm_srcnid), O2_TEST_SRCNID | TOP_BYTE, "wire/header/srcnid-top-byte"},
	{O2_MSG_NOOP, FIELD(ibm_srcnid), O2_TEST_SRCNID | LND_ANY, "wire/header/srcnid-lnd-any"},
	{O2_MSG_NOOP, FIELD(ibm_srcnid), NID(O2_LND_TCP, 0, 1), "wire/header/srcnid-lnd-foreign"},
	{O2_MSG_NOOP, FIELD(ibm_srcnid), NID(O2_LND_O2IB, 7, 0), "wire/header/srcnid-address-zero"},
	{O2_MSG_NOOP, FIELD(ibm_srcnid), NID(O2_LND_O2IB, 7, UINT32_MAX), "wire/header/srcnid-address-ones"},
	{O2_MSG_NOOP, FIELD(ibm_dstnid), UINT64_MAX, "wire/header/dstnid-top-byte"},
	{O2_MSG_NOOP, FIELD(ibm_dstnid), O2_TEST_DSTNID | LND_ANY, "wire/header/dstnid-lnd-any"},
	{O2_MSG_NOOP, FIELD(ibm_dstnid), NID(O2_LND_LO, 0, 0), "wire/header/dstnid-lnd-foreign"},
	{O2_MSG_NOOP, FIELD(ibm_dstnid), NID(O2_LND_O2IB, 0, 0), "wire/header/dstnid-address-zero"},
	{O2_MSG_NOOP, FIELD(ibm_dstnid), NID(O2_LND_O2IB, 0, UINT32_MAX), "wire/header/dstnid-address-ones"},
	{O2_MSG_NOOP, FIELD(ibm_type), 0xd8, "wire/header/type"},
	{O2_MSG_IMMEDIATE, FIELD(u.immediate.hdr.type), O2_LNET_HELLO, "wire/immediate/lnet-type"},
	{O2_MSG_IMMEDIATE, FIELD(u.immediate.hdr.payload_length), 3977, "wire/header/nob-over-limit"},
	{O2_MSG_IMMEDIATE, FIELD(u.immediate.hdr.payload_length), UINT32_MAX, "wire/header/nob-over-limit"},
	{O2_MSG_IMMEDIATE, FIELD(u.immediate.hdr.type), O2_LNET_ACK, "wire/immediate/payload-not-zero"},
	{O2_MSG_PUT_REQ, FIELD(u.putreq.hdr.type), O2_LNET_GET, "wire/put_req/lnet-type"},
	{O2_MSG_PUT_REQ, FIELD(u.putreq.hdr.payload_length), MIB + 1, "wire/put_req/payload-over-limit"},
	{O2_MSG_GET_REQ, FIELD(u.get.hdr.type), O2_LNET_PUT, "wire/get_req/lnet-type"},
	{O2_MSG_GET_REQ, FIELD(u.get.hdr.payload_length), 1, "wire/get_req/payload-not-zero"},
	{O2_MSG_PUT_ACK, FIELD(u.putack.ibpam_rd.rd_nfrags), 0, "wire/put_ack/nfrags-zero"},
	{O2_MSG_PUT_ACK, FIELD(u.putack.ibpam_rd.rd_nfrags), 258, "wire/put_ack/nfrags-over-limit"},
	{O2_MSG_PUT_ACK, FIELD(u.putack.ibpam_rd.rd_nfrags), UINT32_MAX, "wire/put_ack/nfrags-over-limit"},
	{O2_MSG_PUT_ACK, FIELD(u.putack.ibpam_rd.rd_frags[2].rf_nob), 0, "wire/put_ack/frag-nob-zero"},
	{O2_MSG_PUT_ACK, FIELD(u.putack.ibpam_rd.rd_frags[0].rf_nob), MIB + 1, "wire/put_ack/frag-nob-over-limit"},
	{O2_MSG_PUT_ACK, FIELD(u.putack.ibpam_rd.rd_frags[1].rf_nob), MIB - 199, "wire/put_ack/frag-sum-over-limit"},
	{O2_MSG_PUT_ACK, FIELD(u.putack.ibpam_rd.rd_frags[1].rf_addr), UINT64_MAX - 99, "wire/put_ack/frag-addr-wraps"},
	{O2_MSG_GET_REQ, FIELD(u.get.ibgm_rd.rd_nfrags), 0, "wire/get_req/nfrags-zero"},
	{O2_MSG_GET_REQ, FIELD(u.get.ibgm_rd.rd_nfrags), 258, "wire/get_req/nfrags-over-limit"},
	{O2_MSG_GET_REQ, FIELD(u.get.ibgm_rd.rd_frags[2].rf_nob), 0, "wire/get_req/frag-nob-zero"},
	{O2_MSG_GET_REQ, FIELD(u.get.ibgm_rd.rd_frags[0].rf_nob), MIB + 1, "wire/get_req/frag-nob-over-limit"},
	{O2_MSG_GET_REQ, FIELD(u.get.ibgm_rd.rd_frags[1].rf_nob), MIB - 199, "wire/get_req/frag-sum-over-limit"},
	{O2_MSG_GET_REQ, FIELD(u.get.ibgm_rd.rd_frags[1].rf_addr), UINT64_MAX - 99, "wire/get_req/frag-addr-wraps"},
	{O2_MSG_PUT_NAK, FIELD(u.completion.ibcm_status), MIB + 1, "wire/put_nak/status-over-limit"},
	{O2_MSG_PUT_DONE, FIELD(u.completion.ibcm_status), MIB + 1, "wire/put_done/status-over-limit"},
	{O2_MSG_GET_DONE, FIELD(u.completion.ibcm_status), MIB + 1, "wire/get_done/status-over-limit"},
};
/* clang-format on */

TEST(refuses_as_decoding_would)
{
	uint8_t bytes[O2_MSG_BYTES];
	struct o2_msg msg;
	struct o2_error error;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const enum o2_byte_order order = i % 2 == 0 ? O2_LITTLE_ENDIAN : O2_BIG_ENDIAN;

		o2_test_message(&msg, cases[i].type, order, 3);
		assert_true(o2_msg_encode(&msg, NULL, bytes, sizeof(bytes), &error) > 0);
		o2_field_set(&cases[i].field, &msg, cases[i].value);
		memset(bytes, 0x5a, sizeof(bytes));
		if (o2_msg_encode(&msg, NULL, bytes, sizeof(bytes), &error) != -EPROTO)
			fail_msg("encode accepts what %s forbids", cases[i].rule);
		assert_string_equal(error.rule, cases[i].rule);
		assert_int_equal(error.class, O2_CLASS_CONNECTION);
		for (size_t b = 0; b < sizeof(bytes); b++)
			assert_int_equal(bytes[b], 0x5a);
	}
}

/* A message at each limit encodes: 256 or 257 fragments, a full payload, a status of 1 MiB. */
TEST(accepts_the_limits)
{
	const struct o2_wire_options legacy = {.max_frags = O2_MAX_FRAGS_LEGACY};
	static uint8_t payload[3976];
	uint8_t bytes[O2_MSG_BYTES];
	struct o2_msg msg;
	struct o2_error error;

	o2_test_message(&msg, O2_MSG_GET_REQ, O2_BIG_ENDIAN, 257);
	assert_int_equal(o2_msg_encode(&msg, NULL, bytes, sizeof(bytes), &error), 3220);
	assert_int_equal(o2_msg_encode(&msg, &legacy, bytes, sizeof(bytes), &error), -EPROTO);
	assert_string_equal(error.rule, "wire/get_req/nfrags-over-limit");
	assert_int_equal(error.limit, 256);
	o2_test_message(&msg, O2_MSG_GET_REQ, O2_BIG_ENDIAN, 256);
	assert_int_equal(o2_msg_encode(&msg, &legacy, bytes, sizeof(bytes), &error), 3208);
	o2_test_message(&msg, O2_MSG_PUT_ACK, O2_LITTLE_ENDIAN, 257);
	assert_int_equal(o2_msg_encode(&msg, NULL, bytes, sizeof(bytes), &error), 3156);
	o2_test_message(&msg, O2_MSG_IMMEDIATE, O2_LITTLE_ENDIAN, 0);
	msg.u.immediate.hdr.payload_length = sizeof(payload);
	msg.u.immediate.payload = payload;
	assert_int_equal(o2_msg_encode(&msg, NULL, bytes, sizeof(bytes), &error), 4096);
	o2_test_message(&msg, O2_MSG_PUT_DONE, O2_LITTLE_ENDIAN, 0);
	msg.u.completion.ibcm_status = MIB;
	assert_int_equal(o2_msg_encode(&msg, NULL, bytes, sizeof(bytes), &error), 60);
	msg.u.completion.ibcm_status = INT32_MIN;
	assert_int_equal(o2_msg_encode(&msg, NULL, bytes, sizeof(bytes), &error), 60);
}

TEST(obeys_its_options)
{
	const struct o2_wire_options checksum = {.max_frags = O2_MAX_FRAGS, .require_checksum = true};
	const struct o2_wire_options any_lnd = {.max_frags = O2_MAX_FRAGS, .any_lnd = true};
	uint8_t bytes[O2_MSG_BYTES];
	struct o2_msg msg;
	struct o2_error error;

	o2_test_message(&msg, O2_MSG_NOOP, O2_BIG_ENDIAN, 0);
	assert_int_equal(o2_msg_encode(&msg, &checksum, bytes, sizeof(bytes), &error), -EPROTO);
	assert_string_equal(error.rule, "wire/header/checksum-absent");
	msg.cksum_flavour = O2_CKSUM_SIGNED;
	assert_int_equal(o2_msg_encode(&msg, &checksum, bytes, sizeof(bytes), &error), 48);
	msg.ibm_srcnid = o2_nid_make(O2_LND_TCP, 0, 1);
	assert_int_equal(o2_msg_encode(&msg, &any_lnd, bytes, sizeof(bytes), &error), 48);
}

/* A payload that already lies in the output buffer, in place or overlapping the header, is kept whole. */
TEST(payload_in_the_same_buffer)
{
	static const size_t places[] = {0, 40, 116, 120, 130};
	uint8_t bytes[O2_MSG_BYTES], expected[64];
	struct o2_msg msg;
	struct o2_error error;

	for (size_t i = 0; i < sizeof(expected); i++)
		expected[i] = (uint8_t)(200 - i);
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		o2_test_message(&msg, O2_MSG_IMMEDIATE, O2_LITTLE_ENDIAN, 0);
		memcpy(bytes + places[i], expected, sizeof(expected));
		msg.u.immediate.hdr.payload_length = sizeof(expected);
		msg.u.immediate.payload = bytes + places[i];
		assert_int_equal(o2_msg_encode(&msg, NULL, bytes, sizeof(bytes), &error), 184);
		assert_memory_equal(bytes + 120, expected, sizeof(expected));
	}
}
