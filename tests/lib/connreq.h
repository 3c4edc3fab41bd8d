/* SPDX-License-Identifier: MIT */
#ifndef O2_TESTS_CONNREQ_H
#define O2_TESTS_CONNREQ_H

#include "lnd/node/negotiate.h"
#include "tests/lib/unit_test.h"

/* Test data for two nodes, A and B, that negotiate the parameters of a connection. */

#define NID_A	0x00050000c0a80a01ull /* the node that sends the CONNREQ */
#define NID_B	0x00050000c0a80a02ull /* the node that receives the CONNREQ */
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

/* Node A (asks) or node B (!asks), with ordinary settings: version 2, queue depth 8, O2_MAX_FRAGS fragments. */
struct o2_connreq_self connreq_self(bool asks);

void assert_params(const struct o2_conn_params *found, const struct o2_conn_params *expected);

/*
 * Parameters like those that were refused, but whose refused member has the limit that the error names, or the
 * first value beyond it.  Returns false if the error names no bound of a member.
 */
bool params_at_limit(const struct o2_conn_params *refused, const struct o2_error *error, bool beyond,
		     struct o2_conn_params *params);

/* Read the connection private data that a kernel peer sent: corpus/captures/cm/NAME.cmpriv.  Returns its length. */
size_t read_private_data(const char *name, uint8_t *bytes, size_t capacity);

#endif
