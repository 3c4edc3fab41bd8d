/* SPDX-License-Identifier: MIT */
#ifndef O2_CLI_NET_PUTS_H
#define O2_CLI_NET_PUTS_H

#include <stdbool.h>
#include <stdint.h>

#include "lnd/conn/transfer.h"
#include "mem/arena.h"

/*
 * serve --verify: checks what PUTs have brought; several may have written to the same bytes at a time.
 * Source: docs/peer.md, "Verifying".
 *
 * A PUT may write from the moment when its memory is told to the peer until the PUT has ended.  If two PUTs
 * overlap in time and place, a byte may rightly be of either.
 */

/* PUTs that are remembered: so many under way, and so many that ended while one of those was under way. */
#define O2_NET_PUTS 1024u

struct o2_net_put {
	uint64_t request; /* names it while it is under way; 0: an IMMEDIATE, which begins and ends at once */
	uint64_t entry;	  /* tag of the memory that it goes to */
	uint64_t offset;
	uint64_t length_bytes;
	uint64_t stream; /* the stream that its bytes are of */
	/* Set by the functions below. */
	uint64_t began, ended; /* counted in events */
	bool crowded;	       /* PUTs that are not remembered may have written meanwhile */
};

struct o2_net_puts {
	uint64_t seed;
	uint64_t now;
	uint32_t nopen, nended, first; /* ended: a ring that begins at first */
	uint32_t nlost;		       /* PUTs under way that are not in open */
	struct o2_net_put open[O2_NET_PUTS];
	struct o2_net_put ended[O2_NET_PUTS];
	uint8_t bytes[1u << 20]; /* the bytes of one PUT: O2_MAX_TRANSFER_BYTES */
};

enum o2_net_verdict {
	O2_NET_RIGHT,	       /* every byte is of this PUT */
	O2_NET_NOT_TOLD_APART, /* other bytes are of PUTs that may rightly have written there as well */
	O2_NET_WRONG,	       /* a byte is of none of these PUTs */
};

struct o2_net_wrong {
	uint64_t at; /* the first wrong byte, counted from the PUT's first */
	uint8_t got, want;
};

/* NULL: no memory.  Free with free(3). */
struct o2_net_puts *o2_net_puts_create(uint64_t seed);

/* The peer may write for this PUT from now on. */
void o2_net_puts_begin(struct o2_net_puts *puts, const struct o2_net_put *put);

/*
 * The PUT has ended.  entry: the memory that was written; its bytes are checked now, before later traffic
 * changes them.  NULL: the PUT failed, and its bytes are not checked.
 */
enum o2_net_verdict o2_net_puts_end(struct o2_net_puts *puts, const struct o2_net_put *put,
				    const struct o2_arena *arena, const struct o2_transfer_memory *entry,
				    struct o2_net_wrong *wrong);

#endif
