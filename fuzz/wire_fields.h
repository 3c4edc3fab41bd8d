/* SPDX-License-Identifier: MIT */
#ifndef O2_FUZZ_WIRE_FIELDS_H
#define O2_FUZZ_WIRE_FIELDS_H

#include <stddef.h>
#include <stdint.h>

/*
 * The fields that the mutator of messages changes, and the values worth trying in each.
 * Source: docs/wire.md, "Header", "Bodies" and "Limits".
 */

/* Which values a field's edges are. */
enum o2_spot_kind {
	O2_SPOT_NUMBER, /* any: the edges of its width */
	O2_SPOT_MAGIC,
	O2_SPOT_VERSION,
	O2_SPOT_TYPE,
	O2_SPOT_NOB, /* of a message */
	O2_SPOT_CKSUM,
	O2_SPOT_NID,
	O2_SPOT_LNET_TYPE,
	O2_SPOT_BYTES,	/* moved or announced: payload_length, rf_nob, status */
	O2_SPOT_NFRAGS, /* of a descriptor */
	O2_SPOT_ADDR,	/* of a fragment */
};

enum o2_spot_order {
	O2_SPOT_SENDER, /* the sender's */
	O2_SPOT_LITTLE, /* LNet's */
	O2_SPOT_OPAQUE, /* none: nobody but its creator reads it */
};

/* Sets of parts; a message has the header, what its type names, and perhaps a descriptor. */
enum {
	O2_PART_HEADER = 1 << 0,
	O2_PART_CONNPARAMS = 1 << 1,
	O2_PART_LNET_HDR = 1 << 2,
	O2_PART_REQUEST = 1 << 3, /* the cookie behind an LNet header */
	O2_PART_COOKIES = 1 << 4, /* of a PUT_ACK */
	O2_PART_COMPLETION = 1 << 5,
	O2_PART_DESC = 1 << 6, /* key and count */
	O2_PART_FRAG = 1 << 7,
};

struct o2_spot {
	uint8_t part;  /* one of O2_PART_... */
	uint8_t at;    /* from the first byte of message, descriptor or fragment */
	uint8_t width; /* bytes: 1, 2, 4 or 8 */
	uint8_t kind;  /* enum o2_spot_kind */
	uint8_t order; /* enum o2_spot_order */
};

/* Field number n of those in these parts, counted round and round; NULL if the parts have none. */
const struct o2_spot *o2_spot_pick(unsigned int parts, uint64_t n);

/* The one after `field` in these parts, the first after NULL; NULL at the end. */
const struct o2_spot *o2_spot_next(unsigned int parts, const struct o2_spot *field);

/* The parts of a message of this type, descriptor and fragments left out. */
unsigned int o2_parts_of(uint8_t type);

/* Where the descriptor of a message of this type stands; 0 if it has none. */
size_t o2_desc_start(uint8_t type);

/* Bytes of the fixed part of a message of this type; 48 for a type that is not known. */
size_t o2_fixed_bytes(uint8_t type);

/* An edge of a kind; pick is any number. */
uint64_t o2_spot_edge(enum o2_spot_kind kind, uint64_t pick);

#endif
