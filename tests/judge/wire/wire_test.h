/* SPDX-License-Identifier: MIT */
#ifndef O2_TESTS_WIRE_TEST_H
#define O2_TESTS_WIRE_TEST_H

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "forms/wire_fields.h"
#include "tests/judge/wire/samples.h"
#include "tests/lib/unit_test.h"
#include "wire/bytes.h"
#include "wire/layout.h"
#include "wire/lnet_hdr.h"
#include "wire/msg.h"
#include "wire/msg_type.h"
#include "wire/nid.h"
#include "wire/rules.h"

/* Shared by the tests of the wire codec: sample messages (samples.h), and the comparison of decoded messages. */

static void o2_test_differ(const struct o2_field *field, uint64_t a, uint64_t b, void *context)
{
	(void)context;
	fail_msg("%s is 0x%llx and 0x%llx", field->name, (unsigned long long)a, (unsigned long long)b);
}

static inline void o2_test_same_desc(const struct o2_rdma_desc *a, const struct o2_rdma_desc *b)
{
	o2_fields_compare(o2_desc_fields, a, b, o2_test_differ, NULL);
	assert_int_equal(a->rd_nfrags, b->rd_nfrags);
	for (uint32_t i = 0; i < a->rd_nfrags; i++)
		o2_fields_compare(o2_frag_fields, &a->rd_frags[i], &b->rd_frags[i], o2_test_differ, NULL);
}

/* Compare all fields except ibm_nob, which only decoding sets. */
static inline void o2_test_same(const struct o2_msg *a, const struct o2_msg *b)
{
	struct o2_msg header = *b;

	header.ibm_nob = a->ibm_nob;
	o2_fields_compare(o2_msg_header_fields, a, &header, o2_test_differ, NULL);
	o2_fields_compare(o2_msg_body_fields(a->ibm_type), a, b, o2_test_differ, NULL);
	if (o2_msg_desc(a) != NULL)
		o2_test_same_desc(o2_msg_desc(a), o2_msg_desc(b));
	if (a->ibm_type == O2_MSG_IMMEDIATE && a->u.immediate.hdr.payload_length != 0)
		assert_memory_equal(a->u.immediate.payload, b->u.immediate.payload,
				    a->u.immediate.hdr.payload_length);
}

#endif
