/* SPDX-License-Identifier: MIT */
#ifndef O2_CLI_NET_PUTS_H
#define O2_CLI_NET_PUTS_H

#include <stdbool.h>
#include <stdint.h>

#include "lnd/conn/transfer.h"
#include "mem/arena.h"

/*
 * serve --verify: what PUTs have brought, where several may have written to the same bytes at a time.
 * Source: docs/peer.md, "Verifying".
 *
 * A PUT may write from the moment on at which its memory was told to the peer, until it has ended.  After two
 * of them that overlap in time and place, a byte may rightly be of either.
 */

/* PUTs that are kept: as many under way, and as many that ended while one of those was. */
#define O2_NET_PUTS 1024u

struct o2_net_put {
	uint64_t request; /* names it while it is under way; 0: as an IMMEDIATE, which starts and ends at once
			   */
	uint64_t entry;	  /* the memory that it goes to */
	uint64_t offset;
	uint64_t length_bytes;
	uint64_t stream; /* of the bytes that it brings */
	/* Kept by the functions below. */
	uint64_t began, ended; /* in the order of events */
	bool crowded;	       /* others wrote meanwhile, more than are kept */
};

struct o2_net_puts {
	uint64_t seed;
	uint64_t now;
	uint32_t nopen, nended, first; /* ended: a ring */
	uint32_t nlost;		       /* under way, and not in open */
	struct o2_net_put open[O2_NET_PUTS];
	struct o2_net_put ended[O2_NET_PUTS];
	uint8_t bytes[1u << 20]; /* those that are looked at: O2_MAX_TRANSFER_BYTES */
};

enum o2_net_verdict {
	O2_NET_RIGHT,	       /* every byte is of this PUT */
	O2_NET_NOT_TOLD_APART, /* others are of a PUT that may rightly have written there as well */
	O2_NET_WRONG,	       /* one is of none of them */
};

struct o2_net_wrong {
	uint64_t at; /* the first byte that is wrong, counted from the PUT's first */
	uint8_t got, want;
};

/* NULL: no memory.  Freed by free(3). */
struct o2_net_puts *o2_net_puts_create(uint64_t seed);

/* The peer may write from now on. */
void o2_net_puts_begin(struct o2_net_puts *puts, const struct o2_net_put *put);

/*
 * It has ended.  entry: the memory that it went to, whose bytes are looked at now, before anything else
 * happens; NULL: it failed, and nothing is said of its bytes.
 */
enum o2_net_verdict o2_net_puts_end(struct o2_net_puts *puts, const struct o2_net_put *put,
				    const struct o2_arena *arena, const struct o2_transfer_memory *entry,
				    struct o2_net_wrong *wrong);

#endif
