/* SPDX-License-Identifier: MIT */
#ifndef O2_BASE_LIMITS_H
#define O2_BASE_LIMITS_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

/* Limits that several stages share.  Sources: docs/wire.md ("Limits") and docs/mapping.md ("Limits"). */

/*
 * Most fragments of a descriptor: 256 pages of the LNet MTU plus one, because an unaligned 1 MiB touches 257
 * pages.  Trees before 2.14.56 use 256.  An instance may choose either limit; arrays have room for the
 * larger.
 */
#define O2_MAX_FRAGS	    257u /* o2iblnd: IBLND_MAX_RDMA_FRAGS */
#define O2_MAX_FRAGS_LEGACY 256u /* LNet: LNET_MAX_IOV */

/* LNet's largest payload: the most that one transfer may move. */
#define O2_MAX_TRANSFER_BYTES (1u << 20) /* LNet: LNET_MTU */
static_assert(O2_MAX_TRANSFER_BYTES <= UINT32_MAX, "its lengths travel in 32 bits");

/* The largest message on the wire, header included; also the size of one message slot. */
#define O2_MSG_BYTES 4096u /* o2iblnd: IBLND_MSG_SIZE */

/* Length of a GET_REQ with one fragment: a node that accepts only shorter messages cannot be sent any GET. */
#define O2_MIN_MSG_BYTES 148u
static_assert(O2_MIN_MSG_BYTES <= O2_MSG_BYTES, "a least and a largest message");

/* Credits travel in one byte. */
#define O2_MAX_QUEUE_DEPTH 255u /* o2iblnd: IBLND_CREDITS_MAX */
static_assert(O2_MAX_QUEUE_DEPTH <= UINT8_MAX, "credits travel in one byte");

/* Page sizes that the pure stages accept.  Registration on a device uses the host's page size. */
#define O2_PAGE_BYTES_MIN 4096u
#define O2_PAGE_BYTES_MAX 65536u
static_assert(O2_MAX_FRAGS_LEGACY * O2_PAGE_BYTES_MIN == O2_MAX_TRANSFER_BYTES &&
		      O2_MAX_FRAGS == O2_MAX_FRAGS_LEGACY + 1,
	      "the pages of the largest transfer, and one more when it is not aligned");

static inline bool o2_page_bytes_legal(uint32_t page_bytes)
{
	return page_bytes == O2_PAGE_BYTES_MIN || page_bytes == 16384 || page_bytes == O2_PAGE_BYTES_MAX;
}

/* Most gather entries of one work request: what soft-RoCE offers. */
#define O2_MAX_WRQ_SGE 32u

#endif
