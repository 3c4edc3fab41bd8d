/* SPDX-License-Identifier: MIT */
#ifndef O2_TESTS_RULE_CASES_H
#define O2_TESTS_RULE_CASES_H

#include "tests/judge/wire/wire_test.h"

/*
 * Boundary cases for every rule about the bytes of a message.  Each row changes one number in a legal message
 * to the last value that the rule admits and to the first that it refuses, in both byte orders.
 */

#define ACCEPTED O2_RULE_COUNT /* no rule refuses */

#define MIB		  O2_MAX_TRANSFER_BYTES
#define SECOND(start)	  ((start) + O2_DESC_AT_FRAGS + O2_FRAG_BYTES) /* the second fragment of a descriptor */
#define LNET_TYPE_AT	  (O2_AT_LNET_HDR + O2_LNET_AT_TYPE)
#define PAYLOAD_LENGTH_AT (O2_AT_LNET_HDR + O2_LNET_AT_PAYLOAD_LENGTH)
#define NID(lnd, address) ((uint64_t)(lnd) << 48 | (address))
#define GOOD_NID	  NID(O2_LND_O2IB, 0x0a4d0001)
#define LAST_ADDR	  (UINT64_MAX - O2_TEST_FRAG_NOB)
/* Instead of an offset: the number that is changed is the count of bytes received. */
#define RECEIVED_AT_OFFSET UINT32_MAX

struct rule_case {
	unsigned int rule;
	uint8_t type;	    /* of the message that is changed */
	uint32_t nfrags;    /* of its descriptor; 0: two */
	uint32_t lnet_type; /* LNet type to set; 0: that of the sample */
	uint32_t offset_bytes, width_bytes;
	uint64_t legal, illegal;
	unsigned int legal_rule;   /* another rule that the legal value breaks; 0: it is accepted */
	uint32_t received_bytes;   /* 0: the length of the message */
	bool little_endian_always; /* the number is in the LNet header */
	bool any_lnd;		   /* decode with the option any_lnd */
	bool legacy;		   /* decode with the option max_frags = 256 */
};

#define RECEIVED(id, bytes, last_bytes, ...)                                           \
	{                                                                              \
		.rule = (id), .type = O2_MSG_NOOP, .offset_bytes = RECEIVED_AT_OFFSET, \
		.legal = (last_bytes), .illegal = (bytes), __VA_ARGS__                 \
	}

#define NUMBER(id, kind, at, width, last, first, ...)                                                        \
	{                                                                                                    \
		.rule = (id), .type = (kind), .offset_bytes = (at), .width_bytes = (width), .legal = (last), \
		.illegal = (first), __VA_ARGS__                                                              \
	}

#define ANY_LND .any_lnd = true
#define LEGACY	.legacy = true
#define IN_LNET .little_endian_always = true

#define NID_CASES(id, at)                                                                                  \
	NUMBER((id) + O2_NID_TOP_BYTE, O2_MSG_NOOP, at, 8, GOOD_NID, GOOD_NID | (uint64_t)1 << 56),        \
		NUMBER((id) + O2_NID_TOP_BYTE, O2_MSG_NOOP, at, 8, GOOD_NID, GOOD_NID | (uint64_t)1 << 63, \
		       ANY_LND),                                                                           \
		NUMBER((id) + O2_NID_LND_ANY, O2_MSG_NOOP, at, 8, NID(0xfe, 1), NID(0xff, 1), ANY_LND),    \
		NUMBER((id) + O2_NID_LND_ANY, O2_MSG_NOOP, at, 8, GOOD_NID, NID(0xff, 1)),                 \
		NUMBER((id) + O2_NID_LND_FOREIGN, O2_MSG_NOOP, at, 8, NID(5, 1), NID(6, 1)),               \
		NUMBER((id) + O2_NID_LND_FOREIGN, O2_MSG_NOOP, at, 8, NID(5, 1), NID(4, 1)),               \
		NUMBER((id) + O2_NID_ADDRESS_ZERO, O2_MSG_NOOP, at, 8, NID(5, 1), NID(5, 0)),              \
		NUMBER((id) + O2_NID_ADDRESS_ZERO, O2_MSG_NOOP, at, 8, NID(2, 1), NID(2, 0), ANY_LND),     \
		NUMBER((id) + O2_NID_ADDRESS_ONES, O2_MSG_NOOP, at, 8, NID(5, 0xfffffffe),                 \
		       NID(5, 0xffffffff))

#define NOB_CASE(id, kind, minimum, other) \
	NUMBER(id, kind, O2_AT_NOB, 4, minimum, (minimum)-1, .legal_rule = (other))

#define DESC_CASES(id, kind, start)                                                                          \
	NUMBER((id) + O2_DESC_NFRAGS_ZERO, kind, (start) + 4, 4, 1, 0),                                      \
		NUMBER((id) + O2_DESC_NFRAGS_OVER_LIMIT, kind, (start) + 4, 4, 257, 258, .nfrags = 257),     \
		NUMBER((id) + O2_DESC_NFRAGS_OVER_LIMIT, kind, (start) + 4, 4, 257, 0x80000000u,             \
		       .nfrags = 257),                                                                       \
		NUMBER((id) + O2_DESC_NFRAGS_OVER_LIMIT, kind, (start) + 4, 4, 257, 0xffffffffu,             \
		       .nfrags = 257),                                                                       \
		NUMBER((id) + O2_DESC_NFRAGS_OVER_LIMIT, kind, (start) + 4, 4, 256, 257, .nfrags = 257,      \
		       LEGACY),                                                                              \
		NUMBER((id) + O2_DESC_NOB_UNDER_FRAGS, kind, (start) + 4, 4, 2, 3),                          \
		NUMBER((id) + O2_DESC_NOB_UNDER_FRAGS, kind, O2_AT_NOB, 4, (start) + 32, (start) + 31),      \
		NUMBER((id) + O2_DESC_FRAG_NOB_ZERO, kind, SECOND(start), 4, 1, 0),                          \
		NUMBER((id) + O2_DESC_FRAG_NOB_OVER_LIMIT, kind, (start) + 8, 4, MIB, MIB + 1, .nfrags = 1), \
		NUMBER((id) + O2_DESC_FRAG_NOB_OVER_LIMIT, kind, SECOND(start), 4, MIB - 100, 0x80000000u),  \
		NUMBER((id) + O2_DESC_FRAG_NOB_OVER_LIMIT, kind, SECOND(start), 4, MIB - 100, 0xffffffffu),  \
		NUMBER((id) + O2_DESC_SUM_OVER_LIMIT, kind, SECOND(start), 4, MIB - 100, MIB - 99),          \
		NUMBER((id) + O2_DESC_FRAG_ADDR_WRAPS, kind, SECOND(start) + 4, 8, LAST_ADDR,                \
		       LAST_ADDR + 1),                                                                       \
		NUMBER((id) + O2_DESC_FRAG_ADDR_WRAPS, kind, SECOND(start) + 4, 8, LAST_ADDR, UINT64_MAX)

#define STATUS_CASES(id, kind)                           \
	NUMBER(id, kind, O2_AT_STATUS, 4, MIB, MIB + 1), \
		NUMBER(id, kind, O2_AT_STATUS, 4, 0x80000000u, 0x7fffffffu)

#define LNET_TYPE_CASE(id, kind, last, first) NUMBER(id, kind, LNET_TYPE_AT, 4, last, first, IN_LNET)

#define PAYLOAD_CASE(id, kind, lnet, last, first, ...) \
	NUMBER(id, kind, PAYLOAD_LENGTH_AT, 4, last, first, IN_LNET, .lnet_type = (lnet), __VA_ARGS__)

static const struct rule_case rule_cases[] = {
	RECEIVED(O2_RULE_SHORT_FOR_VERSION, 5, 6, .legal_rule = O2_RULE_SHORT_FOR_HEADER),
	RECEIVED(O2_RULE_SHORT_FOR_VERSION, 0, 6, .legal_rule = O2_RULE_SHORT_FOR_HEADER),
	NUMBER(O2_RULE_MAGIC, O2_MSG_NOOP, O2_AT_MAGIC, 4, O2_MSG_MAGIC, O2_MSG_MAGIC + 1),
	NUMBER(O2_RULE_MAGIC, O2_MSG_NOOP, O2_AT_MAGIC, 4, O2_MSG_MAGIC, O2_MSG_MAGIC - 1),
	NUMBER(O2_RULE_MAGIC, O2_MSG_NOOP, O2_AT_MAGIC, 4, O2_MSG_MAGIC, 0x45726963),
	NUMBER(O2_RULE_VERSION, O2_MSG_NOOP, O2_AT_VERSION, 2, 0x11, 0x10),
	NUMBER(O2_RULE_VERSION, O2_MSG_NOOP, O2_AT_VERSION, 2, 0x12, 0x13),
	NUMBER(O2_RULE_VERSION, O2_MSG_NOOP, O2_AT_VERSION, 2, 0x12, 0x1200),
	RECEIVED(O2_RULE_SHORT_FOR_HEADER, 47, 48),
	NUMBER(O2_RULE_NOB_OVER_RECEIVED, O2_MSG_NOOP, O2_AT_NOB, 4, 48, 49),
	NUMBER(O2_RULE_NOB_OVER_RECEIVED, O2_MSG_NOOP, O2_AT_NOB, 4, 48, 0x80000000u),
	NUMBER(O2_RULE_NOB_OVER_RECEIVED, O2_MSG_NOOP, O2_AT_NOB, 4, 48, 0xffffffffu),
	NUMBER(O2_RULE_NOB_OVER_LIMIT, O2_MSG_NOOP, O2_AT_NOB, 4, 4096, 4097, .received_bytes = 4200),
	NUMBER(O2_RULE_SRCNID_WILDCARD, O2_MSG_NOOP, O2_AT_SRCNID, 8, GOOD_NID, UINT64_MAX),
	NUMBER(O2_RULE_SRCNID_WILDCARD, O2_MSG_NOOP, O2_AT_SRCNID, 8, UINT64_MAX - 1, UINT64_MAX,
	       .legal_rule = O2_RULE_SRCNID),
	NID_CASES(O2_RULE_SRCNID, O2_AT_SRCNID),
	NID_CASES(O2_RULE_DSTNID, O2_AT_DSTNID),
	NOB_CASE(O2_RULE_CONNREQ_NOB, O2_MSG_CONNREQ, 56, 0),
	NOB_CASE(O2_RULE_CONNACK_NOB, O2_MSG_CONNACK, 56, 0),
	NOB_CASE(O2_RULE_NOOP_NOB, O2_MSG_NOOP, 48, 0),
	NUMBER(O2_RULE_NOOP_NOB, O2_MSG_NOOP, O2_AT_NOB, 4, 48, 0),
	NOB_CASE(O2_RULE_IMMEDIATE_NOB, O2_MSG_IMMEDIATE, 120, O2_RULE_IMMEDIATE_PAYLOAD_PAST_NOB),
	NOB_CASE(O2_RULE_PUT_REQ_NOB, O2_MSG_PUT_REQ, 128, 0),
	NOB_CASE(O2_RULE_PUT_NAK_NOB, O2_MSG_PUT_NAK, 60, 0),
	NOB_CASE(O2_RULE_PUT_ACK_NOB, O2_MSG_PUT_ACK, 72, O2_RULE_PUT_ACK_DESC + O2_DESC_NOB_UNDER_FRAGS),
	NOB_CASE(O2_RULE_PUT_DONE_NOB, O2_MSG_PUT_DONE, 60, 0),
	NOB_CASE(O2_RULE_GET_REQ_NOB, O2_MSG_GET_REQ, 136, O2_RULE_GET_REQ_DESC + O2_DESC_NOB_UNDER_FRAGS),
	NOB_CASE(O2_RULE_GET_DONE_NOB, O2_MSG_GET_DONE, 60, 0),
	NUMBER(O2_RULE_TYPE, O2_MSG_GET_DONE, O2_AT_TYPE, 1, 0xd7, 0xd8),
	NUMBER(O2_RULE_TYPE, O2_MSG_CONNREQ, O2_AT_TYPE, 1, 0xc0, 0xbf),
	NUMBER(O2_RULE_TYPE, O2_MSG_CONNACK, O2_AT_TYPE, 1, 0xc1, 0xc2),
	NUMBER(O2_RULE_TYPE, O2_MSG_NOOP, O2_AT_TYPE, 1, 0xd0, 0xcf),
	LNET_TYPE_CASE(O2_RULE_IMMEDIATE_LNET_TYPE, O2_MSG_IMMEDIATE, O2_LNET_REPLY, O2_LNET_HELLO),
	LNET_TYPE_CASE(O2_RULE_IMMEDIATE_LNET_TYPE, O2_MSG_IMMEDIATE, O2_LNET_PUT, 33),
	LNET_TYPE_CASE(O2_RULE_IMMEDIATE_LNET_TYPE, O2_MSG_IMMEDIATE, O2_LNET_PUT, 0xffffffffu),
	LNET_TYPE_CASE(O2_RULE_PUT_REQ_LNET_TYPE, O2_MSG_PUT_REQ, O2_LNET_PUT, O2_LNET_ACK),
	LNET_TYPE_CASE(O2_RULE_PUT_REQ_LNET_TYPE, O2_MSG_PUT_REQ, O2_LNET_PUT, O2_LNET_GET),
	LNET_TYPE_CASE(O2_RULE_PUT_REQ_LNET_TYPE, O2_MSG_PUT_REQ, O2_LNET_REPLY, O2_LNET_HELLO),
	LNET_TYPE_CASE(O2_RULE_GET_REQ_LNET_TYPE, O2_MSG_GET_REQ, O2_LNET_GET, O2_LNET_PUT),
	LNET_TYPE_CASE(O2_RULE_GET_REQ_LNET_TYPE, O2_MSG_GET_REQ, O2_LNET_GET, O2_LNET_REPLY),
	DESC_CASES(O2_RULE_PUT_ACK_DESC, O2_MSG_PUT_ACK, O2_AT_PUT_ACK_DESC),
	DESC_CASES(O2_RULE_GET_REQ_DESC, O2_MSG_GET_REQ, O2_AT_GET_REQ_DESC),
	STATUS_CASES(O2_RULE_PUT_NAK_STATUS, O2_MSG_PUT_NAK),
	STATUS_CASES(O2_RULE_PUT_DONE_STATUS, O2_MSG_PUT_DONE),
	STATUS_CASES(O2_RULE_GET_DONE_STATUS, O2_MSG_GET_DONE),
	PAYLOAD_CASE(O2_RULE_IMMEDIATE_PAYLOAD_NOT_ZERO, O2_MSG_IMMEDIATE, O2_LNET_GET, 0, 1),
	PAYLOAD_CASE(O2_RULE_IMMEDIATE_PAYLOAD_OVER_LIMIT, O2_MSG_IMMEDIATE, O2_LNET_PUT, MIB, MIB + 1,
		     .legal_rule = O2_RULE_IMMEDIATE_PAYLOAD_PAST_NOB),
	PAYLOAD_CASE(O2_RULE_IMMEDIATE_PAYLOAD_PAST_NOB, O2_MSG_IMMEDIATE, O2_LNET_REPLY, 5, 6),
	/* Bytes that were received behind ibm_nob do not count as payload. */
	PAYLOAD_CASE(O2_RULE_IMMEDIATE_PAYLOAD_PAST_NOB, O2_MSG_IMMEDIATE, O2_LNET_PUT, 5, 6,
		     .received_bytes = 200),
	PAYLOAD_CASE(O2_RULE_PUT_REQ_PAYLOAD_OVER_LIMIT, O2_MSG_PUT_REQ, O2_LNET_REPLY, MIB, MIB + 1),
	PAYLOAD_CASE(O2_RULE_GET_REQ_PAYLOAD_NOT_ZERO, O2_MSG_GET_REQ, O2_LNET_GET, 0, 1),
};

#define RULE_CASES (sizeof(rule_cases) / sizeof(rule_cases[0]))

#endif
