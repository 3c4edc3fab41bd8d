/* SPDX-License-Identifier: MIT */
#ifndef O2_WIRE_LAYOUT_H
#define O2_WIRE_LAYOUT_H

#include <assert.h>

#include "wire/msg.h"

/* Offsets of all fields of a message, in bytes.  Source: docs/wire.md, "Header" and "Bodies". */

enum {
	/* Header. */
	O2_AT_MAGIC = 0, /* o2iblnd: ko2inlnd_assert_wire_constants */
	O2_AT_VERSION = 4,
	O2_AT_TYPE = 6,
	O2_AT_CREDITS = 7,
	O2_AT_NOB = 8,
	O2_AT_CKSUM = 12,
	O2_AT_SRCNID = 16,
	O2_AT_SRCSTAMP = 24,
	O2_AT_DSTNID = 32,
	O2_AT_DSTSTAMP = 40,
	/* CONNREQ, CONNACK. */
	O2_AT_QUEUE_DEPTH = 48,
	O2_AT_MAX_FRAGS = 50,
	O2_AT_MAX_MSG_SIZE = 52,
	/* IMMEDIATE, PUT_REQ, GET_REQ: the LNet header comes first. */
	O2_AT_LNET_HDR = 48,
	O2_AT_PAYLOAD = 120,
	O2_AT_PUT_REQ_COOKIE = 120,
	O2_AT_GET_REQ_COOKIE = 120,
	O2_AT_GET_REQ_DESC = 128,
	/* PUT_ACK. */
	O2_AT_SRC_COOKIE = 48,
	O2_AT_DST_COOKIE = 56,
	O2_AT_PUT_ACK_DESC = 64,
	/* PUT_NAK, PUT_DONE, GET_DONE. */
	O2_AT_COMPLETION_COOKIE = 48,
	O2_AT_STATUS = 56,
	/* In a descriptor. */
	O2_DESC_AT_KEY = 0,
	O2_DESC_AT_NFRAGS = 4,
	O2_DESC_AT_FRAGS = 8,
	/* In a fragment. */
	O2_FRAG_AT_NOB = 0,
	O2_FRAG_AT_ADDR = 4,
	O2_FRAG_BYTES = 12,
	/* In an LNet header. */
	O2_LNET_AT_DEST_NID = 0,
	O2_LNET_AT_SRC_NID = 8,
	O2_LNET_AT_DEST_PID = 16,
	O2_LNET_AT_SRC_PID = 20,
	O2_LNET_AT_TYPE = 24,
	O2_LNET_AT_PAYLOAD_LENGTH = 28,
	O2_LNET_AT_UNION = 32,
	O2_LNET_UNION_BYTES = 40,
};

/* Fields follow each other without padding, unless said otherwise; 64-bit numbers take 8 bytes. */
static_assert(O2_AT_DSTSTAMP + 8 == O2_MSG_HEADER_BYTES, "the header ends with its last field");
static_assert(O2_AT_QUEUE_DEPTH == O2_MSG_HEADER_BYTES && O2_AT_LNET_HDR == O2_MSG_HEADER_BYTES &&
		      O2_AT_SRC_COOKIE == O2_MSG_HEADER_BYTES &&
		      O2_AT_COMPLETION_COOKIE == O2_MSG_HEADER_BYTES,
	      "bodies follow the header");
static_assert(O2_LNET_AT_UNION + O2_LNET_UNION_BYTES == O2_LNET_HDR_BYTES,
	      "the LNet header ends with its union");
static_assert(O2_AT_PAYLOAD == O2_AT_LNET_HDR + O2_LNET_HDR_BYTES && O2_AT_PUT_REQ_COOKIE == O2_AT_PAYLOAD &&
		      O2_AT_GET_REQ_COOKIE == O2_AT_PAYLOAD,
	      "what follows the LNet header");
static_assert(O2_AT_GET_REQ_DESC == O2_AT_GET_REQ_COOKIE + 8 && O2_AT_PUT_ACK_DESC == O2_AT_DST_COOKIE + 8,
	      "descriptors follow cookies");
static_assert(O2_AT_DST_COOKIE == O2_AT_SRC_COOKIE + 8 && O2_AT_STATUS == O2_AT_COMPLETION_COOKIE + 8,
	      "what follows a cookie");
static_assert(O2_FRAG_AT_ADDR + 8 == O2_FRAG_BYTES, "a fragment ends with its address");
static_assert(O2_AT_GET_REQ_DESC + O2_DESC_AT_FRAGS + O2_MAX_FRAGS * O2_FRAG_BYTES <= O2_MSG_BYTES,
	      "a message holds the largest descriptor");

#endif
