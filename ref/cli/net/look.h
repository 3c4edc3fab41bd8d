/* SPDX-License-Identifier: MIT */
#ifndef O2_CLI_NET_LOOK_H
#define O2_CLI_NET_LOOK_H

#include <stdbool.h>
#include <stdint.h>

#include "lnd/conn/transfer.h"
#include "mem/arena.h"

/*
 * get --verify, put --verify: what a GET has brought, against what it should have and against what the peer
 * reports.  Source: docs/peer.md, "Verifying".
 */

/* The bytes that belong there: of a stream under a seed, from an offset of it on. */
struct o2_net_bytes {
	uint64_t seed, stream, offset;
};

struct o2_net_look {
	uint64_t reported;  /* by the peer, as moved */
	uint64_t right;	    /* before the first that is not; reported: all */
	uint8_t got, want;  /* that first one */
	uint64_t untouched; /* of those reported: still as o2_net_fill has made them wrong */
	uint64_t beyond;    /* written, and not reported */
};

/*
 * memory: filled with the complement of these bytes (o2_net_fill) before the GET; at most 1 MiB.  A byte by
 * itself may be wrong in just that way by chance: fewer than 8 in a row, where there are as many, are not
 * taken for untouched.  Returns false when memory runs out.
 */
bool o2_net_look(const struct o2_arena *arena, const struct o2_transfer_memory *memory, uint64_t reported,
		 const struct o2_net_bytes *belong, struct o2_net_look *look);

/* No fault was found. */
bool o2_net_look_right(const struct o2_net_look *look);

/* The fault in words: "the peer reports 8192 bytes and wrote 0 of them". */
void o2_net_look_text(const struct o2_net_look *look, uint64_t seed, char *text, size_t text_bytes);

#endif
