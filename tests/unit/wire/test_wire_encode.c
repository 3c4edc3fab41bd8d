/* SPDX-License-Identifier: MIT */
/*
 * Encoding refuses what decoding would refuse, with the same rule.  (What a struct cannot express, such as a
 * wrong magic, has no row here.)
 */
#include "tests/judge/wire/wire_test.h"

#include <errno.h>

#define MIB O2_MAX_TRANSFER_BYTES

#define SET(name, statement)               \
	static void name(struct o2_msg *m) \
	{                                  \
		statement;                 \
	}

SET(version_0x13, m->ibm_version = 0x13)
SET(src_wildcard, m->ibm_srcnid = UINT64_MAX)
SET(src_top_byte, m->ibm_srcnid |= (uint64_t)1 << 56)
SET(src_lnd_any, m->ibm_srcnid |= (uint64_t)0xff << 48)
SET(src_foreign, m->ibm_srcnid = o2_nid_make(O2_LND_TCP, 0, 1))
SET(src_zero, m->ibm_srcnid = o2_nid_make(O2_LND_O2IB, 7, 0))
SET(src_ones, m->ibm_srcnid = o2_nid_make(O2_LND_O2IB, 7, UINT32_MAX))
SET(dst_top_byte, m->ibm_dstnid = UINT64_MAX)
SET(dst_lnd_any, m->ibm_dstnid |= (uint64_t)0xff << 48)
SET(dst_foreign, m->ibm_dstnid = o2_nid_make(O2_LND_LO, 0, 0))
SET(dst_zero, m->ibm_dstnid = o2_nid_make(O2_LND_O2IB, 0, 0))
SET(dst_ones, m->ibm_dstnid = o2_nid_make(O2_LND_O2IB, 0, UINT32_MAX))
SET(type_0xd8, m->ibm_type = 0xd8)
SET(immediate_hello, m->u.immediate.hdr.type = O2_LNET_HELLO)
SET(immediate_3977, m->u.immediate.hdr.payload_length = 3977)
SET(immediate_huge, m->u.immediate.hdr.payload_length = UINT32_MAX)
SET(immediate_ack, m->u.immediate.hdr.type = O2_LNET_ACK)
SET(put_req_get, m->u.putreq.hdr.type = O2_LNET_GET)
SET(put_req_long, m->u.putreq.hdr.payload_length = MIB + 1)
SET(get_req_put, m->u.get.hdr.type = O2_LNET_PUT)
SET(get_req_payload, m->u.get.hdr.payload_length = 1)
SET(put_ack_none, m->u.putack.ibpam_rd.rd_nfrags = 0)
SET(put_ack_258, m->u.putack.ibpam_rd.rd_nfrags = 258)
SET(put_ack_2_32, m->u.putack.ibpam_rd.rd_nfrags = UINT32_MAX)
SET(put_ack_zero, m->u.putack.ibpam_rd.rd_frags[2].rf_nob = 0)
SET(put_ack_long, m->u.putack.ibpam_rd.rd_frags[0].rf_nob = MIB + 1)
SET(put_ack_sum, m->u.putack.ibpam_rd.rd_frags[1].rf_nob = MIB - 199)
SET(put_ack_wrap, m->u.putack.ibpam_rd.rd_frags[1].rf_addr = UINT64_MAX - 99)
SET(get_req_none, m->u.get.ibgm_rd.rd_nfrags = 0)
SET(get_req_258, m->u.get.ibgm_rd.rd_nfrags = 258)
SET(get_req_zero, m->u.get.ibgm_rd.rd_frags[2].rf_nob = 0)
SET(get_req_long, m->u.get.ibgm_rd.rd_frags[0].rf_nob = MIB + 1)
SET(get_req_sum, m->u.get.ibgm_rd.rd_frags[1].rf_nob = MIB - 199)
SET(get_req_wrap, m->u.get.ibgm_rd.rd_frags[1].rf_addr = UINT64_MAX - 99)
SET(status_over, m->u.completion.ibcm_status = MIB + 1)

static const struct {
	uint8_t type;
	void (*spoil)(struct o2_msg *msg);
	const char *rule;
} cases[] = {
	{O2_MSG_NOOP, version_0x13, "wire/header/version"},
	{O2_MSG_NOOP, src_wildcard, "wire/header/srcnid-wildcard"},
	{O2_MSG_NOOP, src_top_byte, "wire/header/srcnid-top-byte"},
	{O2_MSG_NOOP, src_lnd_any, "wire/header/srcnid-lnd-any"},
	{O2_MSG_NOOP, src_foreign, "wire/header/srcnid-lnd-foreign"},
	{O2_MSG_NOOP, src_zero, "wire/header/srcnid-address-zero"},
	{O2_MSG_NOOP, src_ones, "wire/header/srcnid-address-ones"},
	{O2_MSG_NOOP, dst_top_byte, "wire/header/dstnid-top-byte"},
	{O2_MSG_NOOP, dst_lnd_any, "wire/header/dstnid-lnd-any"},
	{O2_MSG_NOOP, dst_foreign, "wire/header/dstnid-lnd-foreign"},
	{O2_MSG_NOOP, dst_zero, "wire/header/dstnid-address-zero"},
	{O2_MSG_NOOP, dst_ones, "wire/header/dstnid-address-ones"},
	{O2_MSG_NOOP, type_0xd8, "wire/header/type"},
	{O2_MSG_IMMEDIATE, immediate_hello, "wire/immediate/lnet-type"},
	{O2_MSG_IMMEDIATE, immediate_3977, "wire/header/nob-over-limit"},
	{O2_MSG_IMMEDIATE, immediate_huge, "wire/header/nob-over-limit"},
	{O2_MSG_IMMEDIATE, immediate_ack, "wire/immediate/payload-not-zero"},
	{O2_MSG_PUT_REQ, put_req_get, "wire/put_req/lnet-type"},
	{O2_MSG_PUT_REQ, put_req_long, "wire/put_req/payload-over-limit"},
	{O2_MSG_GET_REQ, get_req_put, "wire/get_req/lnet-type"},
	{O2_MSG_GET_REQ, get_req_payload, "wire/get_req/payload-not-zero"},
	{O2_MSG_PUT_ACK, put_ack_none, "wire/put_ack/nfrags-zero"},
	{O2_MSG_PUT_ACK, put_ack_258, "wire/put_ack/nfrags-over-limit"},
	{O2_MSG_PUT_ACK, put_ack_2_32, "wire/put_ack/nfrags-over-limit"},
	{O2_MSG_PUT_ACK, put_ack_zero, "wire/put_ack/frag-nob-zero"},
	{O2_MSG_PUT_ACK, put_ack_long, "wire/put_ack/frag-nob-over-limit"},
	{O2_MSG_PUT_ACK, put_ack_sum, "wire/put_ack/frag-sum-over-limit"},
	{O2_MSG_PUT_ACK, put_ack_wrap, "wire/put_ack/frag-addr-wraps"},
	{O2_MSG_GET_REQ, get_req_none, "wire/get_req/nfrags-zero"},
	{O2_MSG_GET_REQ, get_req_258, "wire/get_req/nfrags-over-limit"},
	{O2_MSG_GET_REQ, get_req_zero, "wire/get_req/frag-nob-zero"},
	{O2_MSG_GET_REQ, get_req_long, "wire/get_req/frag-nob-over-limit"},
	{O2_MSG_GET_REQ, get_req_sum, "wire/get_req/frag-sum-over-limit"},
	{O2_MSG_GET_REQ, get_req_wrap, "wire/get_req/frag-addr-wraps"},
	{O2_MSG_PUT_NAK, status_over, "wire/put_nak/status-over-limit"},
	{O2_MSG_PUT_DONE, status_over, "wire/put_done/status-over-limit"},
	{O2_MSG_GET_DONE, status_over, "wire/get_done/status-over-limit"},
};

static void refuses_as_decoding_would(void **state)
{
	uint8_t bytes[O2_MSG_BYTES];
	struct o2_msg msg;
	struct o2_error error;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const enum o2_byte_order order = i % 2 == 0 ? O2_LITTLE_ENDIAN : O2_BIG_ENDIAN;

		o2_test_message(&msg, cases[i].type, order, 3);
		assert_true(o2_msg_encode(&msg, NULL, bytes, sizeof(bytes), &error) > 0);
		cases[i].spoil(&msg);
		memset(bytes, 0x5a, sizeof(bytes));
		if (o2_msg_encode(&msg, NULL, bytes, sizeof(bytes), &error) != -EPROTO)
			fail_msg("encode accepts what %s forbids", cases[i].rule);
		assert_string_equal(error.rule, cases[i].rule);
		assert_int_equal(error.class, O2_CLASS_CONNECTION);
		for (size_t b = 0; b < sizeof(bytes); b++)
			assert_int_equal(bytes[b], 0x5a);
	}
}

/* A message at each limit encodes: 256 or 257 fragments, a full payload, 1 MiB in a status. */
static void accepts_the_limits(void **state)
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

static void obeys_its_options(void **state)
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

/* A payload that already lies in the buffer, in its place or across the header, arrives whole. */
static void payload_in_the_same_buffer(void **state)
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(refuses_as_decoding_would),
		cmocka_unit_test(accepts_the_limits),
		cmocka_unit_test(obeys_its_options),
		cmocka_unit_test(payload_in_the_same_buffer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
