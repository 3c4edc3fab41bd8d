/* SPDX-License-Identifier: MIT */
#ifndef O2_TESTS_SAMPLES_H
#define O2_TESTS_SAMPLES_H

#include <stdint.h>
#include <string.h>

#include "wire/msg.h"

/*
 * Sample messages, and a helper to overwrite bytes.  Needs no test library, so it also builds for other machines.
 */

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
	/* All variants of hdr.msg start with the handle. */
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

/* A legal message of this type.  nfrags: fragments of its descriptor, if the type has one. */
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

#endif
