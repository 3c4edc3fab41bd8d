/* SPDX-License-Identifier: MIT */
#ifndef O2_TEST_CONNREQ_H
#define O2_TEST_CONNREQ_H

/* cmocka.h wants the others before it. */
/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "lnd/node/negotiate.h"

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

static inline struct o2_connreq_self node(bool asks)
{
	return (struct o2_connreq_self){
		.nid = asks ? NID_A : NID_B,
		.incarnation = asks ? STAMP_A : STAMP_B,
		.version = O2_MSG_VERSION_2,
		.queue_depth = 8,
		.max_frags = O2_MAX_FRAGS,
		.registers = true,
		.up = true,
		.bind_nid_to_address = true,
		.max_peers = 8,
		.max_conns_per_peer = 4,
	};
}

static inline void assert_params(const struct o2_conn_params *found, const struct o2_conn_params *expected)
{
	assert_int_equal(found->version, expected->version);
	assert_int_equal(found->queue_depth, expected->queue_depth);
	assert_int_equal(found->max_frags, expected->max_frags);
	assert_int_equal(found->max_msg_size, expected->max_msg_size);
}

/* Private data as a kernel peer has sent it. */
static inline size_t read_file(const char *name, uint8_t *bytes, size_t capacity)
{
	char path[512];
	FILE *file;
	size_t length;

	snprintf(path, sizeof(path), O2_CORPUS_DIR "/captures/cm/%s.cmpriv", name);
	file = fopen(path, "rb");
	if (file == NULL)
		fail_msg("cannot open %s", path);
	length = fread(bytes, 1, capacity, file);
	fclose(file);
	return length;
}

#endif
