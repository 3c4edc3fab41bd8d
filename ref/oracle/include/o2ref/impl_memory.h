/* SPDX-License-Identifier: MIT */
#ifndef O2REF_IMPL_MEMORY_H
#define O2REF_IMPL_MEMORY_H

#include "impl_message.h"

/* Questions and answers of stages sg_build, dma_map, reg_plan, rdma_plan, transfer.  Include o2ref/impl.h. */

/* --- sg_build (docs/mapping.md) --- */

enum o2_impl_vector_kind {
	O2_IMPL_IOV = 0,
	O2_IMPL_KIOV = 1,
};

struct o2_impl_iov {
	uint64_t base; /* virtual address */
	uint64_t len;  /* bytes */
};

struct o2_impl_kiov {
	uint32_t page; /* page number */
	uint32_t offset;
	uint32_t len;
	uint32_t reserved;
};

/* A buffer is the byte range [offset, offset + nob) of the concatenation of all pieces. */
struct o2_impl_buffer {
	uint32_t kind;	/* enum o2_impl_vector_kind */
	uint32_t count; /* of pieces */
	uint64_t offset;
	uint64_t nob;
	const struct o2_impl_iov *iov;	 /* kind IOV, else NULL */
	const struct o2_impl_kiov *kiov; /* kind KIOV, else NULL */
};

/* npages consecutive virtual pages, the first at `base`; page[i] is the page number that backs page i. */
struct o2_impl_vrange {
	uint64_t base;
	uint32_t npages;
	uint32_t reserved;
	const uint32_t *page;
};

struct o2_impl_space {
	uint32_t page_bytes;
	uint32_t npages; /* page numbers are 0 to npages - 1 */
	uint32_t nranges;
	uint32_t reserved;
	const struct o2_impl_vrange *range;
};

struct o2_impl_sg_in {
	uint32_t max_entries;
	uint32_t reserved;
	struct o2_impl_buffer buffer;
	struct o2_impl_space space;
};

struct o2_impl_sg_entry {
	uint32_t page;
	uint32_t offset;
	uint32_t length;
	uint32_t reserved;
};

struct o2_impl_sg_list {
	uint32_t count;
	uint32_t capacity;
	uint32_t gaps; /* 0 or 1; 1: the list has gaps by rule G3 */
	uint32_t reserved;
	uint64_t nob;
	struct o2_impl_sg_entry *entry;
};

/* --- dma_map (docs/mapping.md) --- */

enum o2_impl_dma_kind {
	O2_IMPL_DMA_BUS = 0,
	O2_IMPL_DMA_VIRTUAL = 1,
	O2_IMPL_DMA_IOMMU = 2,
};

enum o2_impl_dma_fault {
	O2_IMPL_DMA_NO_FAULT = 0,
	O2_IMPL_DMA_FAULT_EIO = 1,
	O2_IMPL_DMA_FAULT_ENOMEM = 2,
	O2_IMPL_DMA_FAULT_NOTHING = 3,
};

struct o2_impl_device {
	uint32_t kind; /* enum o2_impl_dma_kind */
	uint32_t page_bytes;
	uint32_t npages;
	uint32_t fault; /* IOMMU: enum o2_impl_dma_fault */
	uint64_t base;	/* device address of page 0 */
	uint64_t merge; /* IOMMU: bit i % 64 set: merge entry i with entry i - 1 if they are adjacent */
	const uint8_t *unmapped;     /* bit n % 8 of byte n / 8: page n has no CPU mapping; NULL: all have */
	const uint32_t *device_page; /* IOMMU: the device page of each of the npages pages; otherwise NULL */
};

struct o2_impl_dma_in {
	struct o2_impl_sg_list list; /* the array is read-only */
	struct o2_impl_device device;
};

struct o2_impl_segment {
	uint64_t addr;
	uint32_t length;
	uint32_t reserved;
};

struct o2_impl_dma_list {
	uint32_t count;
	uint32_t capacity;
	uint64_t nob;
	struct o2_impl_segment *segment;
};

/* --- reg_plan (docs/modes.md) --- */

enum o2_impl_mode {
	O2_IMPL_GLOBAL = 0,
	O2_IMPL_FMR = 1,
	O2_IMPL_FASTREG = 2,
	O2_IMPL_USER = 3,
	O2_IMPL_PHYS = 4,
	O2_IMPL_FASTREG_GAPS = 5,
};

enum o2_impl_side {
	O2_IMPL_SOURCE = 0,
	O2_IMPL_SINK = 1,
};

struct o2_impl_reg_request {
	uint32_t mode; /* enum o2_impl_mode */
	uint32_t side; /* enum o2_impl_side */
	uint32_t page_bytes;
	uint32_t max_pages;	 /* maximum number of pages in one registration: 256 or 257 */
	uint32_t peer_max_frags; /* SINK: maximum number of fragments that the peer accepts */
	uint32_t gaps;		 /* 0 or 1: the gaps flag of sg_build */
	/* PHYS: address that the first page or first byte gets; USER: virtual address of the first byte */
	uint64_t iova;
	uint32_t contiguous; /* USER: 1 if the buffer is one contiguous range of virtual addresses */
	uint32_t reserved;
};

struct o2_impl_reg_in {
	struct o2_impl_reg_request request;
	struct o2_impl_dma_list list; /* the array is read-only */
};

/*
 * The registration, and the fragments to publish.  The region covers [iova, iova + length).  Modes FMR,
 * FASTREG and PHYS fill `page`, FASTREG_GAPS fills `entry`, GLOBAL and USER fill neither.
 */
struct o2_impl_reg_plan {
	uint32_t remote_write; /* 0 or 1; 1: the region allows writes by the peer */
	uint32_t page_offset;  /* offset of the first byte in the first page */
	uint64_t iova;
	uint64_t length;
	uint32_t npages;
	uint32_t page_capacity;
	uint64_t *page; /* device addresses of whole pages */
	uint32_t nentries;
	uint32_t entry_capacity;
	struct o2_impl_segment *entry;
	uint32_t nfrags;
	uint32_t frag_capacity;
	struct o2_impl_frag *frag;
};

/* --- rdma_plan (docs/mapping.md) --- */

struct o2_impl_rdma_limits {
	uint32_t max_wrs;
	uint32_t wrq_sge;
};

struct o2_impl_rdma_in {
	struct o2_impl_desc source; /* the array is read-only */
	struct o2_impl_desc sink;   /* the array is read-only */
	uint64_t nob;
	struct o2_impl_rdma_limits limits;
};

struct o2_impl_wr {
	uint64_t remote_addr;
	uint32_t length;
	uint32_t first_sge; /* index into sge */
	uint32_t num_sge;
	uint32_t reserved;
};

struct o2_impl_rdma_plan {
	uint32_t lkey; /* of all gather entries */
	uint32_t rkey; /* of all work requests */
	uint64_t nob;
	uint32_t nwr;
	uint32_t wr_capacity;
	struct o2_impl_wr *wr;
	uint32_t nsge;
	uint32_t sge_capacity;
	struct o2_impl_segment *sge; /* local addresses */
};

/* --- transfer: all of the above stages, for both nodes (docs/oracle.md, "A whole transfer") --- */

enum o2_impl_op {
	O2_IMPL_PUT = 0, /* the source is the requester */
	O2_IMPL_GET = 1, /* the sink is the requester */
};

/* The memory of one node, from the buffer to the registration.  page_bytes is the same in all parts. */
struct o2_impl_memory {
	struct o2_impl_buffer buffer;
	struct o2_impl_space space;
	struct o2_impl_device device;
	uint32_t mode;	    /* enum o2_impl_mode */
	uint32_t max_pages; /* limit of a registration, and max_entries for sg_build */
	uint64_t iova;	    /* PHYS only */
	uint32_t key;	    /* key that the registration yields */
	uint32_t reserved;
};

/*
 * The transfer moves the smaller nob of the two buffers.  The requester registers its own buffer first, for
 * its full nob.  The other node then registers the bytes that move.  The source then plans the work requests.
 */
struct o2_impl_transfer_in {
	uint32_t op;	    /* enum o2_impl_op */
	uint32_t max_frags; /* of the connection; serves as the sink's peer_max_frags and as max_wrs */
	uint32_t wrq_sge;
	uint32_t reserved;
	struct o2_impl_memory source;
	struct o2_impl_memory sink;
};

struct o2_impl_transfer_out {
	struct o2_impl_reg_plan source;
	struct o2_impl_reg_plan sink;
	struct o2_impl_rdma_plan plan;
};

#endif
