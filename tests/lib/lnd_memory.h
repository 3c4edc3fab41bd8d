/* SPDX-License-Identifier: MIT */
#ifndef O2_TESTS_LND_MEMORY_H
#define O2_TESTS_LND_MEMORY_H

#include "tests/lib/lnd_pair.h"

/* Memory of the sides of a pair: its bytes, and buffers that describe it. */

/* Both memories as they were. */
struct images {
	uint8_t *source;
	uint8_t *sink;
};

/* Bytes that differ from page to page and from side to side. */
void side_fill(struct side *side, uint32_t seed);

/* Where byte k of a buffer lies in the arena's memory, for all k: offsets[] must hold buffer->nob. */
void side_locate(const struct side *side, const struct o2_buffer *buffer, uint64_t *offsets);

/* Fresh bytes on both sides, remembered. */
struct images images_take(struct side *source, struct side *sink, uint32_t seed);

/*
 * The first nob bytes of the source buffer are in the sink buffer, and not one other byte has changed on
 * either side.  The images are gone then.
 */
void images_check(struct images *images, const struct side *source, const struct o2_buffer *from,
		  const struct side *sink, const struct o2_buffer *to, uint64_t nob);

/* Page numbers all over the arena, no two the same for i below PAIR_PAGES. */
uint32_t scattered_page(uint32_t i);

/* Pieces of a source and of a sink: as many as there may be, and one more. */
extern struct o2_kiov kiov_from[O2_MAX_FRAGS + 1], kiov_to[O2_MAX_FRAGS + 1];

/* Pieces that meet on page boundaries: no gaps by rule G3.  first_offset bytes into the first page. */
struct o2_buffer dense_kiov(struct o2_kiov *kiov, uint32_t first, uint32_t first_offset, uint64_t nob);

/* `count` pieces of piece_bytes inside their pages, each at another offset: gaps everywhere. */
struct o2_buffer gapped_kiov(struct o2_kiov *kiov, uint32_t first, uint32_t count, uint32_t piece_bytes);

/* Virtually contiguous bytes of a view, in two pieces, with bytes to skip at the front. */
struct o2_buffer view_iov(struct side *side, struct o2_iov *iov, uint32_t view, uint64_t at, uint64_t nob);

/* Such buffers as the memory of an operation; dense starts 99 bytes into its first page. */
struct o2_transfer_memory dense(struct o2_kiov *kiov, uint32_t first, uint64_t nob, enum o2_reg_mode mode);
struct o2_transfer_memory gapped(struct o2_kiov *kiov, uint32_t first, uint32_t count, uint32_t piece_bytes,
				 enum o2_reg_mode mode);

#endif
