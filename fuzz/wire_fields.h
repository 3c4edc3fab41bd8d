/* SPDX-License-Identifier: MIT */
#ifndef O2_FUZZ_WIRE_FIELDS_H
#define O2_FUZZ_WIRE_FIELDS_H

#include <stddef.h>
#include <stdint.h>

/*
 * The fields that the mutator of messages changes, and the values worth trying in each.
 * Source: docs/wire.md, "Header", "Bodies" and "Limits".
 */

/* The kind of a field decides which edge values are tried. */
enum o2_spot_kind {
	O2_SPOT_NUMBER, /* any number: the edges of its width */
	O2_SPOT_MAGIC,
	O2_SPOT_VERSION,
	O2_SPOT_TYPE,
	O2_SPOT_NOB, /* a length of messages: ibm_nob, ibcp_max_msg_size */
	O2_SPOT_CKSUM,
	O2_SPOT_NID,
	O2_SPOT_LNET_TYPE,
	O2_SPOT_BYTES,	/* a number of payload bytes: payload_length, rf_nob, status */
	O2_SPOT_NFRAGS, /* a number of fragments: rd_nfrags, ibcp_max_frags */
	O2_SPOT_ADDR,	/* address of a fragment */
};

enum o2_spot_order {
	O2_SPOT_SENDER, /* the sender's byte order */
	O2_SPOT_LITTLE, /* little-endian, as in LNet headers */
	O2_SPOT_OPAQUE, /* none: only its creator interprets it */
};

/* Bit set of parts.  A message has the header, the parts of its type, and perhaps a descriptor. */
enum {
	O2_PART_HEADER = 1 << 0,
	O2_PART_CONNPARAMS = 1 << 1,
	O2_PART_LNET_HDR = 1 << 2,
	O2_PART_REQUEST = 1 << 3, /* the cookie after an LNet header */
	O2_PART_COOKIES = 1 << 4, /* the cookies of a PUT_ACK */
	O2_PART_COMPLETION = 1 << 5,
	O2_PART_DESC = 1 << 6, /* key and count */
	O2_PART_FRAG = 1 << 7,
};

struct o2_spot {
	uint8_t part;  /* one of O2_PART_... */
	uint8_t at;    /* offset from the start of the message, descriptor or fragment */
	uint8_t width; /* bytes: 1, 2, 4 or 8 */
	uint8_t kind;  /* enum o2_spot_kind */
	uint8_t order; /* enum o2_spot_order */
};

/* Field number n modulo the number of fields in these parts; NULL: the parts have none. */
const struct o2_spot *o2_spot_pick(unsigned int parts, uint64_t n);

/* The field after `field` in these parts, the first one for NULL; NULL at the end. */
const struct o2_spot *o2_spot_next(unsigned int parts, const struct o2_spot *field);

/* The parts of a message of this type, without descriptor and fragments. */
unsigned int o2_parts_of(uint8_t type);

/* Offset of the descriptor in a message of this type; 0: it has none. */
size_t o2_desc_start(uint8_t type);

/* Bytes of the fixed part of a message of this type; 48 for an unknown type. */
size_t o2_fixed_bytes(uint8_t type);

/* An edge value of a kind; any number may be passed as pick. */
uint64_t o2_spot_edge(enum o2_spot_kind kind, uint64_t pick);

#endif
