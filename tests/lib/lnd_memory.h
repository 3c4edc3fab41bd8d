/* SPDX-License-Identifier: MIT */
#ifndef O2_TESTS_LND_MEMORY_H
#define O2_TESTS_LND_MEMORY_H

#include "tests/lib/lnd_pair.h"

/* The memory of a pair's sides: its contents, and buffers that describe parts of it. */

/* Copies of both sides' memory, made before a transfer. */
struct images {
	uint8_t *source;
	uint8_t *sink;
};

/* Fill the side's memory with a pattern that differs between pages and between sides. */
void side_fill(struct side *side, uint32_t seed);

/* offsets[k]: where byte k of the buffer lies in the arena's memory.  offsets[] must have buffer->nob elements. */
void side_locate(const struct side *side, const struct o2_buffer *buffer, uint64_t *offsets);

/* Fill both sides' memory anew, and return copies of it. */
struct images images_take(struct side *source, struct side *sink, uint32_t seed);

/*
 * Assert that the sink buffer holds the first nob bytes of the source buffer, and that no other byte has
 * changed on either side.  Frees the images.
 */
void images_check(struct images *images, const struct side *source, const struct o2_buffer *from,
		  const struct side *sink, const struct o2_buffer *to, uint64_t nob);

/* Page numbers scattered over the arena; all are different for i below PAIR_PAGES. */
uint32_t scattered_page(uint32_t i);

/* Page lists for a source and for a sink: the maximal length, and one more. */
extern struct o2_kiov kiov_from[O2_MAX_FRAGS + 1], kiov_to[O2_MAX_FRAGS + 1];

/* Pieces that meet on page boundaries: no gaps by rule G3.  first_offset: where the first page's piece starts. */
struct o2_buffer dense_kiov(struct o2_kiov *kiov, uint32_t first, uint32_t first_offset, uint64_t nob);

/* A page list with a gap after every piece: `count` pieces of piece_bytes at different offsets inside pages. */
struct o2_buffer gapped_kiov(struct o2_kiov *kiov, uint32_t first, uint32_t count, uint32_t piece_bytes);

/* nob virtually contiguous bytes of a view, as two pieces; the buffer skips bytes at the front of the first. */
struct o2_buffer view_iov(struct side *side, struct o2_iov *iov, uint32_t view, uint64_t at, uint64_t nob);

/* dense_kiov and gapped_kiov as the memory of an operation; dense starts 99 bytes into its first page. */
struct o2_transfer_memory dense(struct o2_kiov *kiov, uint32_t first, uint64_t nob, enum o2_reg_mode mode);
struct o2_transfer_memory gapped(struct o2_kiov *kiov, uint32_t first, uint32_t count, uint32_t piece_bytes,
				 enum o2_reg_mode mode);

#endif
