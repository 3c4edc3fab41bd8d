/* SPDX-License-Identifier: MIT */
#ifndef O2_LST_BULK_H
#define O2_LST_BULK_H

#include <stdint.h>

#include "base/error.h"
#include "lnd/conn/transfer.h"
#include "lst/pattern.h"
#include "mem/arena.h"

/*
 * Memory for bulk data: a pool of pages, and the pattern of brw tests in them.  A bulk's pages may lie anywhere
 * in the arena; only the first may have an offset.  Source: docs/lst.md, "Tests and batches".
 */

struct o2_lst_pages;

/*
 * Create a pool of npages pages of the arena, from first_page on.  The arena must outlive the pool.  mode: how
 * a bulk is registered for RDMA.  Returns 0, -EINVAL (no pages, or pages that do not exist) or -ENOMEM.
 */
int o2_lst_pages_create(const struct o2_arena *arena, uint32_t first_page, uint32_t npages,
			enum o2_reg_mode mode, struct o2_lst_pages **pages, struct o2_error *error);
/* Every bulk must have been put back. */
void o2_lst_pages_destroy(struct o2_lst_pages *pages);

/* Number of pages in use. */
uint32_t o2_lst_pages_used(const struct o2_lst_pages *pages);

/* One bulk.  All zero: no bulk. */
struct o2_lst_bulk {
	struct o2_lst_pages *pages;
	struct o2_kiov *kiov; /* owned; one vector for each page */
	uint32_t count;
	uint32_t length_bytes;
};

/*
 * Take memory of 1 to O2_LST_MAX_BULK_BYTES bytes, which begins at `offset` (below the size of a page) in its
 * first page.  Returns 0; -ENOBUFS: too few pages are free; -EMSGSIZE: the pool is too small; -ENOMEM.
 * LNet: srpc_alloc_bulk
 */
int o2_lst_bulk_get(struct o2_lst_pages *pages, uint32_t length_bytes, uint32_t offset,
		    struct o2_lst_bulk *bulk);
/*
 * Give the memory back, and set *bulk to zero.  Has no effect if *bulk is zero already.
 * LNet: srpc_free_bulk
 */
void o2_lst_bulk_put(struct o2_lst_bulk *bulk);

/* The bulk as LNet needs it.  The vectors remain the bulk's. */
struct o2_transfer_memory o2_lst_bulk_memory(const struct o2_lst_bulk *bulk);

/* Copy bytes from or to the bulk, from its byte `at` on.  Returns 0, or an error of o2_kmap.  The range must lie
 * inside the bulk. */
int o2_lst_bulk_read(const struct o2_lst_bulk *bulk, uint32_t at, void *to, uint32_t length_bytes);
int o2_lst_bulk_write(const struct o2_lst_bulk *bulk, uint32_t at, const void *from, uint32_t length_bytes);

/*
 * Write the poison word, or the data word, to every word of the bulk.  This is more than check simple needs, so
 * that a reader finds the same bytes whatever the memory held before.  Length and offset are multiples of 8
 * here and below.
 * LNet: brw_fill_bulk
 */
int o2_lst_bulk_poison(const struct o2_lst_bulk *bulk);
int o2_lst_bulk_fill(const struct o2_lst_bulk *bulk, enum o2_byte_order order);

/*
 * Check that the bulk has the data word wherever `check` requires it.  Returns 0; -EBADMSG: it has not, and
 * *wrong (may be NULL) says where; or an error of o2_kmap.
 * LNet: brw_check_bulk
 */
int o2_lst_bulk_check(const struct o2_lst_bulk *bulk, enum o2_lst_brw_check check, enum o2_byte_order order,
		      struct o2_lst_wrong *wrong);

#endif
