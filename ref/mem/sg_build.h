/* SPDX-License-Identifier: MIT */
#ifndef O2_MEM_SG_BUILD_H
#define O2_MEM_SG_BUILD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/limits.h"
#include "mem/buffer.h"

/*
 * First stage: build the scatter list of a buffer, one entry per piece of a page, and a verdict on gaps.
 * Source: docs/mapping.md, "sg_build".  Pure: no allocation, no clock, no verbs.
 */

/* Bytes [offset, offset + length) of one page; length >= 1 and offset + length <= page size. */
struct o2_sg_entry {
	uint32_t page;
	uint32_t offset;
	uint32_t length;
};

/* kernel: scatterlist */
struct o2_sg_list {
	uint32_t count; /* 1 to max_entries */
	bool gaps;	/* rule G3: a page-list registration may not be able to express the list */
	uint64_t nob;	/* sum of all lengths: buffer->nob */
	struct o2_sg_entry entry[O2_MAX_FRAGS];
};

/*
 * Build the list of the bytes that `buffer` describes.
 *
 * space: the pages and, for an IOV, the ranges in which its addresses may lie.
 * max_entries: O2_MAX_FRAGS or O2_MAX_FRAGS_LEGACY.
 * list: written on success; its content is undefined on failure.
 * error: may be NULL; says which piece broke which rule.
 *
 * Empty pieces are ignored, in the list and in the gap verdict.  Only pieces that contribute bytes are
 * checked.
 *
 * Returns 0, or
 *   -EINVAL  nob is 0 or above 1 MiB; a KIOV entry passes its page or names a page that does not exist; the
 *            vector is shorter than offset + nob; an IOV's end wraps; page size or max_entries is not legal
 *   -EFAULT  an IOV address lies in no range; the list needs more than max_entries entries
 * o2iblnd: kiblnd_setup_rd_kiov, kiblnd_setup_rd_iov
 */
int o2_sg_build(const struct o2_buffer *buffer, const struct o2_address_space *space, uint32_t max_entries,
		struct o2_sg_list *list, struct o2_error *error);

/*
 * Whether the bytes of a transfer are one range of virtual addresses, which mode user requires
 * (docs/modes.md, "user").  Pure.  An IOV is one range if every piece that contributes bytes begins where the
 * previous one ended; empty pieces are ignored.  A KIOV never is: it names pages, which have no virtual
 * addresses here.
 *
 * addr: set to the address of the first byte if true.  Also false for a vector that is too short.
 * o2iblnd: none, only user space registers virtual addresses
 */
bool o2_virtual_range(const struct o2_buffer *buffer, uint64_t *addr);

#endif
