/* SPDX-License-Identifier: MIT */
#ifndef O2_CLI_NET_LOOK_H
#define O2_CLI_NET_LOOK_H

#include <stdbool.h>
#include <stdint.h>

#include "lnd/conn/transfer.h"
#include "mem/arena.h"

/*
 * get --verify, put --verify: compares what a GET has brought with what it should bring, and with what the
 * peer reports.  Source: docs/peer.md, "Verifying".
 */

/* The bytes that belong in the memory: of a stream under a seed, from an offset of that stream on. */
struct o2_net_bytes {
	uint64_t seed, stream, offset;
};

struct o2_net_look {
	uint64_t reported;  /* bytes that the peer reports as moved */
	uint64_t right;	    /* right bytes before the first wrong one; = reported: all */
	uint8_t got, want;  /* of the first wrong byte */
	uint64_t untouched; /* reported bytes that still are as o2_net_fill left them */
	uint64_t beyond;    /* bytes that were written but not reported */
};

/*
 * memory: at most 1 MiB, filled with the complement of these bytes (o2_net_fill) before the GET.  A wrong
 * byte may be the complement by chance, so fewer than 8 in a row (or all, if there are fewer) do not count as
 * untouched.  Returns false when memory runs out.
 */
bool o2_net_look(const struct o2_arena *arena, const struct o2_transfer_memory *memory, uint64_t reported,
		 const struct o2_net_bytes *belong, struct o2_net_look *look);

/* Whether no fault was found. */
bool o2_net_look_right(const struct o2_net_look *look);

/* The fault as text: "the peer reports 8192 bytes and wrote 0 of them". */
void o2_net_look_text(const struct o2_net_look *look, uint64_t seed, char *text, size_t text_bytes);

#endif
