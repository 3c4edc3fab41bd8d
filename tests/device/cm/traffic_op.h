/* SPDX-License-Identifier: MIT */
#ifndef O2_TESTS_CM_TRAFFIC_OP_H
#define O2_TESTS_CM_TRAFFIC_OP_H

#include <stdbool.h>
#include <stdint.h>

#include "lnd/conn/transfer.h"
#include "mem/arena.h"

/*
 * One random PUT, GET or IMMEDIATE between two processes.  Both draw it from the same seed and its number,
 * which travels in the match bits, so each knows what the other has and what its own memory has to look like
 * in the end.
 *
 * Each side gives an operation a slot of pages to itself.  The sink's slot is filled with bytes of its
 * own before the transfer, and every byte of it is looked at afterwards.
 */

#define TRAFFIC_SLOT_PAGES  264u /* an unaligned 1 MiB and some to spare */
#define TRAFFIC_PIECES	    257u
#define TRAFFIC_LARGE_BYTES (512u << 10)
#define TRAFFIC_SLOTS	    16u
#define TRAFFIC_OPEN	    8u /* of these, by operations of our own */

/* The memory of one side. */
struct traffic_memory {
	uint32_t first_page; /* of the slot */
	uint32_t count;
	uint64_t nob;
	enum o2_reg_mode mode;
	struct o2_kiov kiov[TRAFFIC_PIECES];
	struct o2_iov iov; /* mode user: the same bytes by their address */
};

enum traffic_kind {
	TRAFFIC_PUT,
	TRAFFIC_GET,
	TRAFFIC_IMMEDIATE,
	TRAFFIC_KINDS,
};

struct traffic_op {
	uint64_t key; /* of its bytes */
	enum traffic_kind kind;
	bool no_match;			 /* PUT, GET: the other side knows nothing of it */
	struct traffic_memory initiator; /* as many bytes as it offers or has room for */
	struct traffic_memory responder; /* as many as it wants or has; never more.  Not of an IMMEDIATE */
};

/* What the two ends must see of it, if no connection is lost: a status and a number of bytes. */
int traffic_foretell(const struct traffic_op *op, uint64_t *nob);

/* In a seed: without memory windows. */
#define TRAFFIC_NO_WINDOWS 0x80000000u

/* Operation `number` of a run, with its memory in slot `slot` of whoever asks. */
void traffic_draw(uint32_t seed, uint32_t number, uint32_t slot, struct traffic_op *op);

static inline uint64_t traffic_match_bits(uint32_t seed, uint32_t number)
{
	return (uint64_t)seed << 32 | number;
}

/* For the transport; the vector stays in *memory. */
struct o2_transfer_memory traffic_transfer(struct traffic_memory *memory, const struct o2_arena *arena,
					   uint64_t tag);

/* The source's bytes, and the bytes all over the sink's slot. */
void traffic_fill_source(const struct traffic_op *op, const struct traffic_memory *memory,
			 const struct o2_arena *arena);
void traffic_fill_sink(const struct traffic_op *op, const struct traffic_memory *memory,
		       const struct o2_arena *arena);

/* Are these the first bytes of the source? */
bool traffic_bytes_are(const struct traffic_op *op, const uint8_t *bytes, uint32_t length);

/*
 * Does the slot of the sink hold the first nob bytes of the source in their places, and everything else as it
 * was? failed: what the sink's pieces cover may hold anything.
 */
bool traffic_exact(const struct traffic_op *op, const struct traffic_memory *memory,
		   const struct o2_arena *arena, uint64_t nob, bool failed);

#endif
