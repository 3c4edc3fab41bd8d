/* SPDX-License-Identifier: MIT */
#ifndef O2_TESTS_CONNREQ_H
#define O2_TESTS_CONNREQ_H

#include "lnd/node/negotiate.h"
#include "tests/lib/unit_test.h"

/* Two nodes that negotiate. */

#define NID_A	0x00050000c0a80a01ull /* the one that asks */
#define NID_B	0x00050000c0a80a02ull /* the one that is asked */
#define STAMP_A 0x0006000011112222ull
#define STAMP_B 0x0006000033334444ull

#define V2(depth, frags, size)           \
	{                                \
		0x12, depth, frags, size \
	}
#define V1(depth, frags, size)           \
	{                                \
		0x11, depth, frags, size \
	}

/* The one that asks, or the one that is asked, with nothing unusual. */
struct o2_connreq_self connreq_self(bool asks);

void assert_params(const struct o2_conn_params *found, const struct o2_conn_params *expected);

/* Private data as a kernel peer has sent it: a file of corpus/captures/cm. */
size_t read_private_data(const char *name, uint8_t *bytes, size_t capacity);

#endif
