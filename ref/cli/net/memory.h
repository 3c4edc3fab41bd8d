/* SPDX-License-Identifier: MIT */
#ifndef O2_CLI_NET_MEMORY_H
#define O2_CLI_NET_MEMORY_H

#include <stdint.h>

#include "base/error.h"
#include "lnd/conn/transfer.h"
#include "mem/arena.h"

/*
 * A buffer of the network commands: size_bytes in nfragments pieces, in pages of its own.
 * Source: docs/peer.md, "Fragments".
 *
 * With no more pieces than pages, all pieces but the last are whole pages, so that page lists can describe
 * them; a page is left out between any two, so that they do not touch.  With more pieces than pages, each has
 * a page of its own and fills a part of it.  That leaves gaps, which not all modes can describe.
 */
struct o2_net_memory {
	struct o2_iov *iov; /* owned */
	struct o2_transfer_memory memory;
	uint32_t npages; /* pages of the arena that it takes */
};

/* Pages that such a buffer takes.  1 <= nfragments <= size_bytes. */
uint32_t o2_net_memory_pages(uint32_t page_bytes, uint32_t size_bytes, uint32_t nfragments);

/* Lay out the buffer from first_page on.  Returns 0 or -ENOMEM.  Free with o2_net_memory_free. */
int o2_net_memory_lay(const struct o2_arena *arena, uint32_t first_page, uint32_t size_bytes,
		      uint32_t nfragments, enum o2_reg_mode mode, struct o2_net_memory *memory);
void o2_net_memory_free(struct o2_net_memory *memory);

#endif
