/* SPDX-License-Identifier: MIT */
#ifndef O2REF_IMPL_H
#define O2REF_IMPL_H

#include <stdint.h>

/*
 * Plug an implementation into `o2ref check`: the C ABI, version 1.
 *
 * A shared object defines one function, o2_impl_v1, which returns a table of functions, one per stage.  A
 * stage that it does not have is NULL.  `o2ref check ./libmine.so` calls them in a child process and compares
 * what they answer with the reference.  docs/oracle.md is the guide; what each stage has to do is in
 * docs/wire.md (messages), docs/mapping.md (sg_build, dma_map, rdma_plan) and docs/modes.md (reg_plan).
 *
 * This header needs nothing but <stdint.h>.  Its structs hold fixed-width integers and pointers only, so
 * that any language that can speak C's calling convention can fill them in.
 *
 * What holds for every function:
 *   - `in` and all that it points to belongs to the caller and is not to be changed.  It is gone when the
 *     function returns.
 *   - `out` and all that it points to belongs to the caller.  Arrays come as a pointer and a capacity; the
 *     function fills the array, sets the count next to it, and leaves pointer and capacity alone.  Nothing is
 *     allocated for the caller.  Entries behind the count are ignored.
 *   - It returns an enum o2_impl_status.  After O2_IMPL_REFUSED the refusal says why, and *out is ignored;
 *     after O2_IMPL_OK *refusal is ignored.
 *   - What it does not have (a mode, a kind, a limit, an option that is set) it answers with
 *     O2_IMPL_NOT_IMPLEMENTED.  An assertion that fails is a crash, not a refusal (docs/oracle.md, "What one
 *     does not have").
 *   - Pointers are not NULL where there is a count, arrays are as long as their counts, enums and flags have
 *     one of their values.  Other numbers may be anything, unless the profile trusts callers.
 *   - `in` and `out` lie between pages that cannot be touched.  For arrays of one's own: o2ref/guard.h.
 *   - It is a function of its input: the same question gets the same answer, in any order.
 *   - It prints nothing on standard output: anything there is a finding.
 */

#ifdef __cplusplus
extern "C" {
#endif

#define O2_IMPL_ABI_VERSION 1u

/* Limits of this protocol (docs/wire.md and docs/mapping.md, "Limits"). */
#define O2_IMPL_MAX_FRAGS	 257u	    /* fragments, entries, segments, pages of a list */
#define O2_IMPL_MAX_WRQ_SGE	 32u	    /* gather entries of one work request */
#define O2_IMPL_MSG_BYTES	 4096u	    /* a message */
#define O2_IMPL_PAYLOAD_BYTES	 3976u	    /* payload of an IMMEDIATE */
#define O2_IMPL_TRANSFER_BYTES	 (1u << 20) /* of one transfer */
#define O2_IMPL_ERROR_NAME_BYTES 64u

enum o2_impl_status {
	O2_IMPL_OK = 0,
	O2_IMPL_REFUSED = 1,
	O2_IMPL_NOT_IMPLEMENTED = 89, /* for this input: say a mode or a device kind that is not modelled */
};

/* What a refusal costs the connection; only message decode is asked. */
enum o2_impl_cost {
	O2_IMPL_COST_NOT_SAID = 0,
	O2_IMPL_COST_MESSAGE = 1,    /* this message fails, the connection is kept */
	O2_IMPL_COST_CONNECTION = 2, /* the connection closes */
};

/* Whose work refused; only the whole transfer is asked. */
enum o2_impl_where {
	O2_IMPL_WHERE_NOT_SAID = 0,
	O2_IMPL_WHERE_SOURCE = 1, /* the source's memory: its list, mapping or registration */
	O2_IMPL_WHERE_SINK = 2,	  /* the sink's */
	O2_IMPL_WHERE_WRITES = 3, /* both can be registered; the work requests cannot be made */
};

struct o2_impl_refusal {
	uint32_t error;			     /* errno, positive: EINVAL is 22 */
	uint32_t cost;			     /* enum o2_impl_cost */
	uint32_t where;			     /* enum o2_impl_where */
	uint32_t index;			     /* the entry it is about; UINT32_MAX: none, or not said */
	char name[O2_IMPL_ERROR_NAME_BYTES]; /* your own name of the error, ends with a zero; "": none.
						An error map turns it into a rule id of the reference. */
};

/* --- messages (docs/wire.md) --- */

enum o2_impl_cksum_flavour {
	O2_IMPL_CKSUM_NONE = 0,
	O2_IMPL_CKSUM_UNSIGNED = 1, /* also where both sums are the same */
	O2_IMPL_CKSUM_SIGNED = 2,
	O2_IMPL_CKSUM_UNVERIFIED = 3, /* passed by tolerate_immediate_checksum */
};

struct o2_impl_wire_options {
	uint32_t max_frags;	   /* 256 or 257 */
	uint32_t require_checksum; /* 0 or 1, as the next two */
	uint32_t any_lnd;
	uint32_t tolerate_immediate_checksum;
};

/*
 * The LNet header with the fields of all variants side by side: those that the type does not have are 0 on
 * the way in and ignored on the way out.
 */
struct o2_impl_lnet_hdr {
	uint64_t dest_nid;
	uint64_t src_nid;
	uint32_t dest_pid;
	uint32_t src_pid;
	uint32_t type; /* ACK 0, PUT 1, GET 2, REPLY 3, HELLO 4 */
	uint32_t payload_length;
	uint64_t wmd_interface_cookie; /* ACK and REPLY: dst_wmd; PUT: ack_wmd; GET: return_wmd */
	uint64_t wmd_object_cookie;    /* opaque bytes, as a little-endian reader sees them */
	uint64_t match_bits;	       /* ACK, PUT, GET */
	uint64_t hdr_data;	       /* PUT; opaque, as the cookies */
	uint32_t mlength;	       /* ACK */
	uint32_t ptl_index;	       /* PUT, GET */
	uint32_t offset;	       /* PUT */
	uint32_t src_offset;	       /* GET */
	uint32_t sink_length;	       /* GET */
	uint32_t reserved;
};

struct o2_impl_frag {
	uint64_t rf_addr;
	uint32_t rf_nob;
	uint32_t reserved;
};

struct o2_impl_desc {
	uint32_t rd_key;
	uint32_t rd_nfrags;
	uint32_t capacity; /* of rd_frags */
	uint32_t reserved;
	struct o2_impl_frag *rd_frags;
};

/*
 * One message, with the fields of all types side by side: those that its type does not have are 0 on the way
 * in and ignored on the way out.
 */
struct o2_impl_msg {
	uint8_t big_endian; /* 0: the sender is little-endian; 1: big-endian */
	uint8_t ibm_type;
	uint8_t ibm_credits;
	uint8_t cksum_flavour; /* enum o2_impl_cksum_flavour */
	uint16_t ibm_version;
	uint16_t reserved;
	uint32_t ibm_nob; /* decode: as received; encode: ignored, it is computed */
	int32_t ibcm_status;
	uint64_t ibm_srcnid;
	uint64_t ibm_srcstamp;
	uint64_t ibm_dstnid;
	uint64_t ibm_dststamp;

	uint16_t ibcp_queue_depth; /* CONNREQ, CONNACK */
	uint16_t ibcp_max_frags;
	uint32_t ibcp_max_msg_size;
	struct o2_impl_lnet_hdr hdr; /* IMMEDIATE, PUT_REQ, GET_REQ */
	uint64_t cookie;	     /* PUT_REQ: ibprm_cookie; GET_REQ: ibgm_cookie; the rest: ibcm_cookie */
	uint64_t ibpam_src_cookie;   /* PUT_ACK */
	uint64_t ibpam_dst_cookie;
	struct o2_impl_desc rd; /* PUT_ACK: ibpam_rd; GET_REQ: ibgm_rd */

	/* IMMEDIATE: hdr.payload_length bytes.  Decode copies them to payload, if it refuses nothing. */
	uint8_t *payload;
	uint64_t payload_capacity_bytes;
};

struct o2_impl_msg_decode_in {
	struct o2_impl_wire_options options;
	const uint8_t *bytes;
	uint64_t length_bytes; /* received; the message may be shorter */
};

struct o2_impl_msg_encode_in {
	struct o2_impl_wire_options options;
	struct o2_impl_msg msg; /* its arrays are for reading only */
};

struct o2_impl_bytes {
	uint8_t *bytes;
	uint64_t capacity_bytes;
	uint64_t length_bytes; /* how many were written */
};

/* --- sg_build (docs/mapping.md) --- */

enum o2_impl_vector_kind {
	O2_IMPL_IOV = 0,
	O2_IMPL_KIOV = 1,
};

struct o2_impl_iov {
	uint64_t base; /* virtual address */
	uint64_t len;
};

struct o2_impl_kiov {
	uint32_t page; /* page number */
	uint32_t offset;
	uint32_t len;
	uint32_t reserved;
};

/* The bytes [offset, offset + nob) of the concatenation of all pieces. */
struct o2_impl_buffer {
	uint32_t kind;	/* enum o2_impl_vector_kind */
	uint32_t count; /* pieces */
	uint64_t offset;
	uint64_t nob;
	const struct o2_impl_iov *iov;	 /* kind IOV, else NULL */
	const struct o2_impl_kiov *kiov; /* kind KIOV, else NULL */
};

/* npages pages of virtual addresses from base on, and the page behind each. */
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
	uint32_t gaps; /* 0 or 1: rule G3 */
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
	uint32_t fault;		 /* iommu: enum o2_impl_dma_fault */
	uint64_t base;		 /* device address of page 0 */
	uint64_t merge;		 /* iommu: bit i % 64: merge entry i with the one before, if they join up */
	const uint8_t *unmapped; /* NULL, or a bit per page: bit n % 8 of byte n / 8 */
	const uint32_t *device_page; /* iommu: npages numbers, else NULL */
};

struct o2_impl_dma_in {
	struct o2_impl_sg_list list; /* its array is for reading only */
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
	uint32_t max_pages;	 /* pages that one registration holds: 256 or 257 */
	uint32_t peer_max_frags; /* a sink: fragments that the peer accepts */
	uint32_t gaps;		 /* 0 or 1: the verdict of sg_build */
	/* phys: where the first page goes, or the first byte; user: virtual address of the first byte */
	uint64_t iova;
	uint32_t contiguous; /* user: 1 if the buffer is one range of virtual addresses */
	uint32_t reserved;
};

struct o2_impl_reg_in {
	struct o2_impl_reg_request request;
	struct o2_impl_dma_list list; /* its array is for reading only */
};

/*
 * What to register and what to publish: the bytes [iova, iova + length) of a region.  fmr, fastreg and phys
 * have pages, fastreg_gaps has entries, global and user have neither.
 */
struct o2_impl_reg_plan {
	uint32_t remote_write; /* 0 or 1: the region admits writes by the peer */
	uint32_t page_offset;  /* of the first byte in the first page */
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
	struct o2_impl_desc source; /* their arrays are for reading only */
	struct o2_impl_desc sink;
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

/* --- a whole transfer: all stages between two nodes --- */

enum o2_impl_op {
	O2_IMPL_PUT = 0, /* the source asks */
	O2_IMPL_GET = 1, /* the sink asks */
};

/* The memory of one side, from the buffer to the registration.  page_bytes of all parts are the same. */
struct o2_impl_memory {
	struct o2_impl_buffer buffer;
	struct o2_impl_space space;
	struct o2_impl_device device;
	uint32_t mode;	    /* enum o2_impl_mode */
	uint32_t max_pages; /* and sg_build's max_entries */
	uint64_t iova;	    /* phys */
	uint32_t key;	    /* that the registration gives */
	uint32_t reserved;
};

/*
 * Move as many bytes as the smaller of the two buffers asks for.  The node that asks makes its own memory
 * ready first; then the other one does, for the bytes that move; the source then plans the work requests.
 */
struct o2_impl_transfer_in {
	uint32_t op;	    /* enum o2_impl_op */
	uint32_t max_frags; /* of the connection: the sink's peer_max_frags, and max_wrs */
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

/* --- the table --- */

struct o2_impl {
	uint32_t abi_version;  /* O2_IMPL_ABI_VERSION */
	uint32_t struct_bytes; /* sizeof(struct o2_impl) */
	const char *name;      /* for reports, e.g. "mine 1.2"; may be NULL */

	int32_t (*msg_decode)(const struct o2_impl_msg_decode_in *in, struct o2_impl_msg *out,
			      struct o2_impl_refusal *refusal);
	int32_t (*msg_encode)(const struct o2_impl_msg_encode_in *in, struct o2_impl_bytes *out,
			      struct o2_impl_refusal *refusal);
	int32_t (*sg_build)(const struct o2_impl_sg_in *in, struct o2_impl_sg_list *out,
			    struct o2_impl_refusal *refusal);
	int32_t (*dma_map)(const struct o2_impl_dma_in *in, struct o2_impl_dma_list *out,
			   struct o2_impl_refusal *refusal);
	int32_t (*reg_plan)(const struct o2_impl_reg_in *in, struct o2_impl_reg_plan *out,
			    struct o2_impl_refusal *refusal);
	int32_t (*rdma_plan)(const struct o2_impl_rdma_in *in, struct o2_impl_rdma_plan *out,
			     struct o2_impl_refusal *refusal);
	int32_t (*transfer)(const struct o2_impl_transfer_in *in, struct o2_impl_transfer_out *out,
			    struct o2_impl_refusal *refusal);
};

/* How a table begins: what it was compiled with, and its name. */
#define O2_IMPL_HEAD(name_) \
	.abi_version = O2_IMPL_ABI_VERSION, .struct_bytes = sizeof(struct o2_impl), .name = name_

/* What a shared object defines.  The table is constant for as long as the object is loaded. */
const struct o2_impl *o2_impl_v1(void);

#ifdef __cplusplus
}
#endif

#endif
