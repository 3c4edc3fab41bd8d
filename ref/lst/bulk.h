/* SPDX-License-Identifier: MIT */
#ifndef O2_LST_BULK_H
#define O2_LST_BULK_H

#include <stdint.h>

#include "base/error.h"
#include "lnd/conn/transfer.h"
#include "lst/pattern.h"
#include "mem/arena.h"

/*
 * The memory of bulks: pages that are handed out and given back, and the pattern of brw in them.  A bulk's
 * pages lie anywhere in the arena; only its first may begin behind the page's first byte.  Source: docs/lst.md,
 * "Tests and batches".
 */

struct o2_lst_pages;

/*
 * npages of the arena, from first_page on, belong to it.  The arena outlives it; mode: how a bulk is
 * registered where it goes by RDMA.  Returns 0, -EINVAL (no pages, or pages that do not exist) or -ENOMEM.
 */
int o2_lst_pages_create(const struct o2_arena *arena, uint32_t first_page, uint32_t npages,
			enum o2_reg_mode mode, struct o2_lst_pages **pages, struct o2_error *error);
/* All bulks must have been given back. */
void o2_lst_pages_destroy(struct o2_lst_pages *pages);

/* How many are handed out. */
uint32_t o2_lst_pages_used(const struct o2_lst_pages *pages);

/* All zero: none. */
struct o2_lst_bulk {
	struct o2_lst_pages *pages;
	struct o2_kiov *kiov; /* owned: a piece for each page */
	uint32_t count;
	uint32_t length_bytes;
};

/*
 * Memory of 1 to O2_LST_MAX_BULK_BYTES, which begins at offset, below the size of a page.  Returns 0;
 * -ENOBUFS: there are not so many pages now; -EMSGSIZE: there never are; -ENOMEM.
 * LNet: srpc_alloc_bulk
 */
int o2_lst_bulk_get(struct o2_lst_pages *pages, uint32_t length_bytes, uint32_t offset,
		    struct o2_lst_bulk *bulk);
/*
 * Of no effect on one that is all zero, which it is then.
 * LNet: srpc_free_bulk
 */
void o2_lst_bulk_put(struct o2_lst_bulk *bulk);

/* For LNet; the vectors are the bulk's. */
struct o2_transfer_memory o2_lst_bulk_memory(const struct o2_lst_bulk *bulk);

/* Bytes of it, from `at` on.  They lie in it.  Returns 0, or what o2_kmap refuses. */
int o2_lst_bulk_read(const struct o2_lst_bulk *bulk, uint32_t at, void *to, uint32_t length_bytes);
int o2_lst_bulk_write(const struct o2_lst_bulk *bulk, uint32_t at, const void *from, uint32_t length_bytes);

/*
 * The poison word, and the data word, in every word of it: more than check simple asks for, so that who reads
 * it finds the same whatever the memory was used for before.  Length and offset are multiples of 8 here and
 * below.
 * LNet: brw_fill_bulk
 */
int o2_lst_bulk_poison(const struct o2_lst_bulk *bulk);
int o2_lst_bulk_fill(const struct o2_lst_bulk *bulk, enum o2_byte_order order);

/*
 * Whether the data word stands where the check says.  Returns 0; -EBADMSG: no, and *wrong says where; or what
 * o2_kmap refuses.
 * LNet: brw_check_bulk
 */
int o2_lst_bulk_check(const struct o2_lst_bulk *bulk, enum o2_lst_brw_check check, enum o2_byte_order order,
		      struct o2_lst_wrong *wrong);

#endif
