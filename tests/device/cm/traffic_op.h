/* SPDX-License-Identifier: MIT */
#ifndef O2_TESTS_CM_TRAFFIC_OP_H
#define O2_TESTS_CM_TRAFFIC_OP_H

#include <stdbool.h>
#include <stdint.h>

#include "lnd/conn/transfer.h"
#include "mem/arena.h"

/*
 * One random PUT, GET or IMMEDIATE between two processes.  Both draw it from the same seed and its number,
 * which travels in the match bits.  So each knows the peer's memory, and what its own must hold in the end.
 *
 * Each side gives an operation a slot of pages of its own.  Before the transfer the sink's slot is filled
 * with known bytes, and afterwards every byte of the slot is checked.
 */

#define TRAFFIC_SLOT_PAGES  264u /* pages for an unaligned 1 MiB, and some to spare */
#define TRAFFIC_PIECES	    257u
#define TRAFFIC_LARGE_BYTES (512u << 10)
#define TRAFFIC_SLOTS	    16u
#define TRAFFIC_OPEN	    8u /* slots that our own operations may use */

/* The memory of one side of an operation. */
struct traffic_memory {
	uint32_t first_page; /* first page of the slot */
	uint32_t count;
	uint64_t nob;
	enum o2_reg_mode mode;
	struct o2_kiov kiov[TRAFFIC_PIECES];
	struct o2_iov iov; /* mode user: the same bytes, described by their address */
};

enum traffic_kind {
	TRAFFIC_PUT,
	TRAFFIC_GET,
	TRAFFIC_IMMEDIATE,
	TRAFFIC_KINDS,
};

struct traffic_op {
	uint64_t key; /* determines the source's bytes */
	enum traffic_kind kind;
	bool no_match;			 /* PUT, GET: the responder finds no match */
	struct traffic_memory initiator; /* the bytes that a PUT offers or a GET has room for */
	struct traffic_memory responder; /* wants or has at most initiator's bytes; not for IMMEDIATE */
};

/* Returns the status that both ends must see if no connection is lost; sets *nob to the bytes moved. */
int traffic_foretell(const struct traffic_op *op, uint64_t *nob);

/* Bit of a seed: use no memory windows. */
#define TRAFFIC_NO_WINDOWS 0x80000000u

/* Draws operation `number` of a run; its memory is slot `slot` of the calling process. */
void traffic_draw(uint32_t seed, uint32_t number, uint32_t slot, struct traffic_op *op);

static inline uint64_t traffic_match_bits(uint32_t seed, uint32_t number)
{
	return (uint64_t)seed << 32 | number;
}

/* Describes *memory for the transport; the result points into *memory. */
struct o2_transfer_memory traffic_transfer(struct traffic_memory *memory, const struct o2_arena *arena,
					   uint64_t tag);

/* Write the source's bytes, and fill the sink's whole slot with bytes that are not the source's. */
void traffic_fill_source(const struct traffic_op *op, const struct traffic_memory *memory,
			 const struct o2_arena *arena);
void traffic_fill_sink(const struct traffic_op *op, const struct traffic_memory *memory,
		       const struct o2_arena *arena);

/* Returns whether these are the first bytes of the source. */
bool traffic_bytes_are(const struct traffic_op *op, const uint8_t *bytes, uint32_t length);

/*
 * Returns whether the sink's slot holds the first nob bytes of the source in their places, and is unchanged
 * elsewhere.  failed: the bytes that the sink's pieces cover may be anything.
 */
bool traffic_exact(const struct traffic_op *op, const struct traffic_memory *memory,
		   const struct o2_arena *arena, uint64_t nob, bool failed);

#endif
