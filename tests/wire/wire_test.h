/* SPDX-License-Identifier: MIT */
#ifndef O2_TESTS_WIRE_TEST_H
#define O2_TESTS_WIRE_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "wire/bytes.h"
#include "wire/layout.h"
#include "wire/lnet_hdr.h"
#include "wire/msg.h"
#include "wire/msg_type.h"
#include "wire/nid.h"
#include "wire/rules.h"

/* What the tests of the wire share: sample messages, comparison, and pokes into bytes. */

#define O2_TEST_SRCNID	 0x00050000c0a80a01u /* 192.168.10.1@o2ib */
#define O2_TEST_DSTNID	 0x00050000c0a80a02u /* 192.168.10.2@o2ib */
#define O2_TEST_SRCSTAMP 0x0005a1b2c3d4e5f6u
#define O2_TEST_DSTSTAMP 0x0005aabbccddeeffu

#define O2_TEST_FRAG_NOB 100u

static const uint8_t o2_test_types[] = {
	O2_MSG_CONNREQ, O2_MSG_CONNACK, O2_MSG_NOOP,	 O2_MSG_IMMEDIATE, O2_MSG_PUT_REQ,
	O2_MSG_PUT_NAK, O2_MSG_PUT_ACK, O2_MSG_PUT_DONE, O2_MSG_GET_REQ,   O2_MSG_GET_DONE,
};
#define O2_TEST_TYPES (sizeof(o2_test_types) / sizeof(o2_test_types[0]))

static inline struct o2_lnet_hdr o2_test_hdr(uint32_t type, uint32_t payload_length)
{
	struct o2_lnet_hdr hdr;

	memset(&hdr, 0, sizeof(hdr));
	hdr.dest_nid = O2_TEST_DSTNID;
	hdr.src_nid = O2_TEST_SRCNID;
	hdr.dest_pid = 12345;
	hdr.src_pid = 12345;
	hdr.type = type;
	hdr.payload_length = payload_length;
	/* The handle stands first in all variants. */
	hdr.msg.put.ack_wmd = (struct o2_lnet_handle){0x1111111111111111u, 0x2222222222222222u};
	return hdr;
}

static inline void o2_test_desc(struct o2_rdma_desc *desc, uint32_t nfrags)
{
	desc->rd_key = 0xabcd01;
	desc->rd_nfrags = nfrags;
	for (uint32_t i = 0; i < nfrags; i++)
		desc->rd_frags[i] = (struct o2_rdma_frag){O2_TEST_FRAG_NOB, 0x7f1234560000u + 4096u * i};
}

/* A legal message of this type; nfrags is for those that have a descriptor. */
static inline void o2_test_message(struct o2_msg *msg, uint8_t type, enum o2_byte_order order,
				   uint32_t nfrags)
{
	static const uint8_t hello[] = "hello";

	memset(msg, 0, sizeof(*msg));
	msg->order = order;
	msg->ibm_version = O2_MSG_VERSION_2;
	msg->ibm_type = type;
	msg->ibm_credits = 3;
	msg->ibm_srcnid = O2_TEST_SRCNID;
	msg->ibm_srcstamp = O2_TEST_SRCSTAMP;
	msg->ibm_dstnid = O2_TEST_DSTNID;
	msg->ibm_dststamp = O2_TEST_DSTSTAMP;
	switch (type) {
	case O2_MSG_CONNREQ:
	case O2_MSG_CONNACK:
		msg->u.connparams.ibcp_queue_depth = 8;
		msg->u.connparams.ibcp_max_frags = 257;
		msg->u.connparams.ibcp_max_msg_size = 4096;
		break;
	case O2_MSG_IMMEDIATE:
		msg->u.immediate.hdr = o2_test_hdr(O2_LNET_PUT, 5);
		msg->u.immediate.payload = hello;
		break;
	case O2_MSG_PUT_REQ:
		msg->u.putreq.hdr = o2_test_hdr(O2_LNET_PUT, 65536);
		msg->u.putreq.ibprm_cookie = 0x1122334455667788u;
		break;
	case O2_MSG_PUT_ACK:
		msg->u.putack.ibpam_src_cookie = 0x1122334455667788u;
		msg->u.putack.ibpam_dst_cookie = 0x99aabbccddeeff00u;
		o2_test_desc(&msg->u.putack.ibpam_rd, nfrags);
		break;
	case O2_MSG_GET_REQ:
		msg->u.get.hdr = o2_test_hdr(O2_LNET_GET, 0);
		msg->u.get.ibgm_cookie = 7;
		o2_test_desc(&msg->u.get.ibgm_rd, nfrags);
		break;
	case O2_MSG_PUT_NAK:
	case O2_MSG_PUT_DONE:
	case O2_MSG_GET_DONE:
		msg->u.completion.ibcm_cookie = 7;
		msg->u.completion.ibcm_status = 65536;
		break;
	default:
		break;
	}
}

static inline void o2_test_poke(uint8_t *bytes, enum o2_byte_order order, unsigned int width, uint64_t value)
{
	for (unsigned int i = 0; i < width; i++)
		bytes[order == O2_LITTLE_ENDIAN ? i : width - 1 - i] = (uint8_t)(value >> 8 * i);
}

static inline void o2_test_same_hdr(const struct o2_lnet_hdr *a, const struct o2_lnet_hdr *b)
{
	uint8_t a_bytes[O2_LNET_HDR_BYTES], b_bytes[O2_LNET_HDR_BYTES];

	o2_lnet_hdr_store(a, a_bytes);
	o2_lnet_hdr_store(b, b_bytes);
	assert_memory_equal(a_bytes, b_bytes, sizeof(a_bytes));
}

static inline void o2_test_same_desc(const struct o2_rdma_desc *a, const struct o2_rdma_desc *b)
{
	assert_int_equal(a->rd_key, b->rd_key);
	assert_int_equal(a->rd_nfrags, b->rd_nfrags);
	for (uint32_t i = 0; i < a->rd_nfrags; i++) {
		assert_int_equal(a->rd_frags[i].rf_nob, b->rd_frags[i].rf_nob);
		assert_int_equal(a->rd_frags[i].rf_addr, b->rd_frags[i].rf_addr);
	}
}

static inline void o2_test_same_body(const struct o2_msg *a, const struct o2_msg *b)
{
	switch (o2_msg_type_info(a->ibm_type)->body) {
	case O2_BODY_NONE:
		break;
	case O2_BODY_CONNPARAMS:
		assert_int_equal(a->u.connparams.ibcp_queue_depth, b->u.connparams.ibcp_queue_depth);
		assert_int_equal(a->u.connparams.ibcp_max_frags, b->u.connparams.ibcp_max_frags);
		assert_int_equal(a->u.connparams.ibcp_max_msg_size, b->u.connparams.ibcp_max_msg_size);
		break;
	case O2_BODY_IMMEDIATE:
		o2_test_same_hdr(&a->u.immediate.hdr, &b->u.immediate.hdr);
		if (a->u.immediate.hdr.payload_length != 0)
			assert_memory_equal(a->u.immediate.payload, b->u.immediate.payload,
					    a->u.immediate.hdr.payload_length);
		break;
	case O2_BODY_PUTREQ:
		o2_test_same_hdr(&a->u.putreq.hdr, &b->u.putreq.hdr);
		assert_int_equal(a->u.putreq.ibprm_cookie, b->u.putreq.ibprm_cookie);
		break;
	case O2_BODY_PUTACK:
		assert_int_equal(a->u.putack.ibpam_src_cookie, b->u.putack.ibpam_src_cookie);
		assert_int_equal(a->u.putack.ibpam_dst_cookie, b->u.putack.ibpam_dst_cookie);
		o2_test_same_desc(&a->u.putack.ibpam_rd, &b->u.putack.ibpam_rd);
		break;
	case O2_BODY_GET:
		o2_test_same_hdr(&a->u.get.hdr, &b->u.get.hdr);
		assert_int_equal(a->u.get.ibgm_cookie, b->u.get.ibgm_cookie);
		o2_test_same_desc(&a->u.get.ibgm_rd, &b->u.get.ibgm_rd);
		break;
	case O2_BODY_COMPLETION:
		assert_int_equal(a->u.completion.ibcm_cookie, b->u.completion.ibcm_cookie);
		assert_int_equal(a->u.completion.ibcm_status, b->u.completion.ibcm_status);
		break;
	}
}

/* Everything but ibm_nob, which says how much was received. */
static inline void o2_test_same(const struct o2_msg *a, const struct o2_msg *b)
{
	assert_int_equal(a->order, b->order);
	assert_int_equal(a->ibm_version, b->ibm_version);
	assert_int_equal(a->ibm_type, b->ibm_type);
	assert_int_equal(a->ibm_credits, b->ibm_credits);
	assert_int_equal(a->cksum_flavour, b->cksum_flavour);
	assert_int_equal(a->ibm_srcnid, b->ibm_srcnid);
	assert_int_equal(a->ibm_srcstamp, b->ibm_srcstamp);
	assert_int_equal(a->ibm_dstnid, b->ibm_dstnid);
	assert_int_equal(a->ibm_dststamp, b->ibm_dststamp);
	o2_test_same_body(a, b);
}

/* Read a file of at most capacity_bytes; fails the test when it cannot. */
static inline size_t o2_test_read(const char *path, uint8_t *bytes, size_t capacity_bytes)
{
	FILE *file = fopen(path, "rb");
	size_t length;

	if (file == NULL)
		fail_msg("cannot open %s", path);
	length = fread(bytes, 1, capacity_bytes, file);
	if (length == capacity_bytes)
		fail_msg("%s is longer than %zu bytes", path, capacity_bytes - 1);
	fclose(file);
	return length;
}

#endif
