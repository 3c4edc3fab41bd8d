/* SPDX-License-Identifier: MIT */
#ifndef O2_MEM_BUFFER_H
#define O2_MEM_BUFFER_H

#include <stdint.h>

/*
 * The buffer that an upper layer passes down: a list of pieces, either virtual (IOV) or by page (KIOV).
 *
 * A transfer moves the `nob` bytes that start `offset` bytes into the concatenation of all pieces.
 * Source: docs/mapping.md, "Buffers".
 */

/* A piece of virtually contiguous memory; its pages need not be contiguous. */
/* kernel: kvec */
struct o2_iov {
	uint64_t base; /* virtual address */
	uint64_t len;  /* bytes; 0 is legal and describes nothing */
};

/* A piece of one page. */
/* LNet: lnet_kiov_t */
/* kernel: bio_vec */
struct o2_kiov {
	uint32_t page;	 /* page number */
	uint32_t offset; /* bytes from the start of the page */
	uint32_t len;	 /* bytes; offset + len <= page size; 0 is legal */
};

enum o2_vector_kind {
	O2_IOV,
	O2_KIOV,
};

/* The vectors belong to the caller, who keeps them alive while the buffer is used. */
struct o2_buffer {
	enum o2_vector_kind kind;
	uint32_t count;	 /* pieces in the vector */
	uint64_t offset; /* bytes to skip before the transfer starts */
	uint64_t nob;	 /* bytes to transfer, 1 to O2_MAX_TRANSFER_BYTES */
	union {
		const struct o2_iov *iov;   /* kind O2_IOV */
		const struct o2_kiov *kiov; /* kind O2_KIOV */
	};
};

/*
 * A range of virtual addresses and the page behind each of its pages, as in a page table; for IOVs. Ranges do
 * not overlap; base is a multiple of the page size.
 * LNet: lnet_kvaddr_to_page
 */
struct o2_vrange {
	uint64_t base;	      /* first virtual address */
	uint32_t npages;      /* pages in the range */
	const uint32_t *page; /* page number of each; belongs to the caller */
};

struct o2_address_space {
	uint32_t page_bytes; /* 4096, 16384 or 65536 */
	uint32_t npages;     /* page numbers run from 0 to npages - 1 */
	uint32_t nranges;
	const struct o2_vrange *range; /* belongs to the caller; may be NULL when nranges is 0 */
};

#endif
