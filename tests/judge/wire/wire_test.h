/* SPDX-License-Identifier: MIT */
#ifndef O2_TESTS_WIRE_TEST_H
#define O2_TESTS_WIRE_TEST_H

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "tests/judge/wire/samples.h"
#include "tests/lib/unit_test.h"
#include "wire/bytes.h"
#include "wire/layout.h"
#include "wire/lnet_hdr.h"
#include "wire/msg.h"
#include "wire/msg_type.h"
#include "wire/nid.h"
#include "wire/rules.h"

/* What the tests of the wire share: sample messages (samples.h), and their comparison. */

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
