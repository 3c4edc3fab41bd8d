/* SPDX-License-Identifier: MIT */
/* Checks of stages and of whole transfers: one part of check_list.h. */

#define SG_LIST(KIND, kind)                                                                                  \
	O2_CHECK(SG_##KIND##_BYTES, "sg/" kind "/bytes", MUST, MUST,                                         \
		 "The entries cover the bytes that the buffer asks for, each once, in order.")               \
	O2_CHECK(SG_##KIND##_NOB, "sg/" kind "/nob", MUST, MUST,                                             \
		 "nob is the sum of the lengths: what the buffer asked for.")                                \
	O2_CHECK(SG_##KIND##_ENTRY_IN_PAGE, "sg/" kind "/entry-in-page", MUST, MUST,                         \
		 "No entry is empty or leaves its page.")                                                    \
	O2_CHECK(SG_##KIND##_ENTRIES, "sg/" kind "/entries", SHOULD, SHOULD,                                 \
		 "One entry per piece of a page: nothing is merged and nothing is split, pieces that touch " \
		 "included. Lists that cover the same bytes otherwise differ in this only.")                 \
	O2_CHECK(SG_##KIND##_TOO_MANY, "sg/" kind "/too-many", MUST, MUST, "At most max_entries entries.")   \
	O2_CHECK(SG_##KIND##_GAP_FLAG, "sg/" kind "/gap-flag", MUST, MUST,                                   \
		 "The verdict on gaps is that of rule G3 (LU-20399): an entry other than the first starts "  \
		 "inside a page, or one other than the last ends inside one.")                               \
	O2_CHECK(SG_##KIND##_GAP_EXACT, "sg/" kind "/gap-exact", SHOULD, SHOULD,                             \
		 "Pieces that touch inside one page are flagged, too, as rule G3 does without knowing "      \
		 "addresses. By the exact rule nothing is missing there.")

#define DMA_LIST(KIND, kind, how_many)                                                               \
	O2_CHECK(DMA_##KIND##_BYTES, "dma/" kind "/bytes", MUST, MUST,                               \
		 "The segments cover the device addresses of the list's bytes, in order.")           \
	O2_CHECK(DMA_##KIND##_NOB, "dma/" kind "/nob", MUST, MUST, "nob is the sum of the lengths.") \
	O2_CHECK(DMA_##KIND##_EMPTY_SEGMENT, "dma/" kind "/empty-segment", MUST, MUST,               \
		 "No segment is empty.")                                                             \
	O2_CHECK(DMA_##KIND##_SEGMENTS, "dma/" kind "/segments", SHOULD, SHOULD, how_many)

#define MODE_PLANS_LEGAL(MODE, mode)                                                   \
	O2_CHECK(REG_##MODE##_REFUSED_LEGAL, "reg/" mode "/refused-legal", MUST, MUST, \
		 "Mode " mode " makes a plan of segments that it can express.")

#define REGISTERED_BYTES \
	"The fragments, looked up in what the plan registers, are the bytes of the segments, in order."

#define MODE_FRAGMENTS(MODE, mode, bytes, how_many)                                                         \
	O2_CHECK(REG_##MODE##_BYTES, "reg/" mode "/bytes", MUST, MUST, bytes)                               \
	O2_CHECK(REG_##MODE##_FRAGMENTS, "reg/" mode "/fragments", SHOULD, SHOULD,                          \
		 "As many fragments as the reference publishes: " how_many)                                 \
	O2_CHECK(REG_##MODE##_PEER_LIMIT, "reg/" mode "/peer-limit", MUST, MUST,                            \
		 "A sink publishes at most peer_max_frags fragments.")                                      \
	O2_CHECK(REG_##MODE##_ACCESS, "reg/" mode "/access", MUST, MUST,                                    \
		 "A sink's region admits writes by the peer, and by its own node, which verbs demand with " \
		 "it.")

#define DECODABLE                                                                                           \
	"What a sink publishes can be decoded by its peer, in any mode: no fragment of 0 bytes, none that " \
	"passes 2^64 - 1, and no more than 1 MiB in all."

#define MODE_RANGE(MODE, mode)                                                                          \
	O2_CHECK(REG_##MODE##_RANGE, "reg/" mode "/range", MUST, MUST,                                  \
		 "The region is exactly what the fragments span, from the lowest published address to " \
		 "the highest: holes between them are inside, and not one byte more is.")

#define MODE_PAGES(MODE, mode)                                                                             \
	O2_CHECK(REG_##MODE##_PAGES, "reg/" mode "/pages", MUST, MUST,                                     \
		 "At most max_pages pages, each a multiple of the page size; page_offset is where the "    \
		 "first byte lies in the first page, and iova has the same offset in its page.")           \
	O2_CHECK(REG_##MODE##_PAGE_LIST, "reg/" mode "/page-list", SHOULD, SHOULD,                         \
		 "The pages that the reference lists: each that a segment spans, once for each time that " \
		 "the bytes come to its start.")

#define PLANS_WORK(WHAT, what, text) O2_CHECK(RDMA_##WHAT, "rdma/" what, MUST, MUST, text)

#define TRANSFERS(WHAT, what, text) O2_CHECK(TRANSFER_##WHAT, "transfer/" what, MUST, MUST, text)

O2_CHECK_GROUP("Rules of sg_build")
STAGE_RULE(SG_PAGE_SIZE, "sg/page-size", OFF, "EINVAL: not 4096, 16384 or 65536.")
STAGE_RULE(SG_MAX_ENTRIES, "sg/max-entries", OFF, "EINVAL: neither 256 nor 257.")
STAGE_RULE(SG_NOB, "sg/nob", OFF, "EINVAL: 0, or above 1 MiB.")
STAGE_RULE(SG_KIOV_NO_SUCH_PAGE, "sg/kiov/no-such-page", OFF, "EINVAL: the page does not exist.")
STAGE_RULE(SG_KIOV_ENTRY_PAST_PAGE, "sg/kiov/entry-past-page", OFF, "EINVAL: offset + len leaves the page.")
STAGE_RULE(SG_IOV_WRAPS, "sg/iov/wraps", OFF, "EINVAL: base + len passes 2^64 - 1.")
STAGE_RULE(SG_VECTOR_TOO_SHORT, "sg/vector-too-short", OFF, "EINVAL: fewer than offset + nob bytes.")
STAGE_RULE(SG_TOO_MANY_ENTRIES, "sg/too-many-entries", MUST, "EFAULT: one entry more than max_entries.")
STAGE_RULE(SG_IOV_NO_PAGE, "sg/iov/no-page", MUST, "EFAULT: no page behind an address.")
O2_CHECK_GROUP("Rules of dma_map")
STAGE_RULE(DMA_PAGE_SIZE, "dma/page-size", OFF, "EINVAL: not 4096, 16384 or 65536.")
STAGE_RULE(DMA_BASE_ALIGNMENT, "dma/base-alignment", OFF, "EINVAL: base is inside a page.")
STAGE_RULE(DMA_BASE_WRAPS, "dma/base-wraps", OFF, "EINVAL: the last page passes 2^64 - 1.")
STAGE_RULE(DMA_COUNT, "dma/count", OFF, "EINVAL: no entries (more than 257 cannot be asked).")
STAGE_RULE(DMA_NO_SUCH_PAGE, "dma/no-such-page", OFF, "EINVAL: the device does not know the page.")
STAGE_RULE(DMA_ENTRY_PAST_PAGE, "dma/entry-past-page", OFF, "EINVAL: an entry is empty or leaves its page.")
STAGE_RULE(DMA_IOMMU_NO_SUCH_DEVICE_PAGE, "dma/iommu/no-such-device-page", OFF,
	   "EINVAL: the table puts a page outside the device.")
STAGE_RULE(DMA_IOMMU_FAILED, "dma/iommu/failed", OFF, "EIO or ENOMEM: the mapping fails.")
STAGE_RULE(DMA_IOMMU_MAPPED_NOTHING, "dma/iommu/mapped-nothing", OFF, "EIO: no entry was mapped.")
STAGE_RULE(DMA_VIRTUAL_NO_CPU_MAPPING, "dma/virtual/no-cpu-mapping", MUST,
	   "EFAULT: kind virtual, page without a CPU mapping.")
O2_CHECK_GROUP("Refusals of sg_build and dma_map: whether, and with which words")
O2_CHECK(SG_KIOV_REFUSED_LEGAL, "sg/kiov/refused-legal", MUST, MUST,
	 "A legal page vector is turned into a list.")
O2_CHECK(SG_IOV_REFUSED_LEGAL, "sg/iov/refused-legal", MUST, MUST,
	 "A legal vector of virtual addresses is turned into a list.")
O2_CHECK(DMA_BUS_REFUSED_LEGAL, "dma/bus/refused-legal", MUST, MUST,
	 "A legal list is mapped for a device of kind bus.")
O2_CHECK(DMA_VIRTUAL_REFUSED_LEGAL, "dma/virtual/refused-legal", MUST, MUST,
	 "A legal list is mapped for a device of kind virtual.")
O2_CHECK(DMA_IOMMU_REFUSED_LEGAL, "dma/iommu/refused-legal", MUST, MUST,
	 "A legal list is mapped for a device of kind iommu.")
SAYS_ERRNO(SG, "sg")
SAYS_ERRNO(DMA, "dma")
SAYS_RULE(SG, "sg")
SAYS_RULE(DMA, "dma")
SAYS_INDEX(SG, "sg")
SAYS_INDEX(DMA, "dma")
O2_CHECK_GROUP("Scatter lists")
SG_LIST(KIOV, "kiov")
SG_LIST(IOV, "iov")
O2_CHECK_GROUP("Segments")
DMA_LIST(BUS, "bus", "One segment per entry: this kind neither merges nor splits.")
DMA_LIST(VIRTUAL, "virtual", "One segment per entry: this kind neither merges nor splits.")
DMA_LIST(IOMMU, "iommu",
	 "The number of segments: one per entry, less those that an iommu was told to merge (merge bit set, "
	 "addresses join up).")
O2_CHECK_GROUP("Rules of reg_plan")
STAGE_RULE(REG_PAGE_SIZE, "reg/page-size", OFF, "EINVAL: not 4096, 16384 or 65536.")
STAGE_RULE(REG_MAX_PAGES, "reg/max-pages", OFF, "EINVAL: neither 256 nor 257.")
STAGE_RULE(REG_PEER_MAX_FRAGS, "reg/peer-max-frags", OFF, "EINVAL: a sink, and 0 or above 257.")
STAGE_RULE(REG_COUNT, "reg/count", OFF, "EINVAL: no segments (more than 257 cannot be asked).")
STAGE_RULE(REG_EMPTY_SEGMENT, "reg/empty-segment", OFF, "EINVAL: length 0.")
STAGE_RULE(REG_SEGMENT_WRAPS, "reg/segment-wraps", OFF, "EINVAL: addr + length passes 2^64 - 1.")
STAGE_RULE(REG_TOO_LONG, "reg/too-long", OFF, "EMSGSIZE: more than 1 MiB in all.")
STAGE_RULE(REG_TOO_MANY_PAGES, "reg/too-many-pages", MUST, "EINVAL: fmr, fastreg, phys: more than max_pages.")
STAGE_RULE(REG_FMR_UNDECLARED_GAP, "reg/fmr/undeclared-gap", OFF,
	   "EINVAL: fmr: declared dense, and a seam is not.")
STAGE_RULE(REG_FASTREG_GAPS, "reg/fastreg/gaps", MUST, "EPROTONOSUPPORT: fastreg: the list has gaps.")
STAGE_RULE(REG_FASTREG_SHORT_MAP, "reg/fastreg/short-map", MUST,
	   "EINVAL: fastreg: declared dense, and a seam is not.")
STAGE_RULE(REG_FASTREG_IOVA_WRAPS, "reg/fastreg/iova-wraps", OFF,
	   "EINVAL: fastreg: the region would pass 2^64 - 1.")
STAGE_RULE(REG_USER_NOT_CONTIGUOUS, "reg/user/not-contiguous", MUST,
	   "EPROTONOSUPPORT: user: not one range of virtual addresses.")
STAGE_RULE(REG_USER_ADDRESS_WRAPS, "reg/user/address-wraps", OFF,
	   "EINVAL: user: the range would pass 2^64 - 1.")
STAGE_RULE(REG_PHYS_GAPS, "reg/phys/gaps", MUST, "EINVAL: phys: the list has gaps.")
STAGE_RULE(REG_PHYS_UNDECLARED_GAP, "reg/phys/undeclared-gap", MUST,
	   "EINVAL: phys: declared dense, and a seam is not.")
STAGE_RULE(REG_PHYS_IOVA_ALIGNMENT, "reg/phys/iova-alignment", OFF,
	   "EINVAL: phys: iova is inside a page, and not where the first byte is in its own.")
STAGE_RULE(REG_PHYS_IOVA_WRAPS, "reg/phys/iova-wraps", OFF, "EINVAL: phys: the region would pass 2^64 - 1.")
STAGE_RULE(REG_FASTREG_GAPS_TOO_MANY_ENTRIES, "reg/fastreg_gaps/too-many-entries", MUST,
	   "EINVAL: fastreg_gaps: more than max_pages.")
STAGE_RULE(REG_FASTREG_GAPS_IOVA_WRAPS, "reg/fastreg_gaps/iova-wraps", OFF,
	   "EINVAL: fastreg_gaps: the region would pass 2^64 - 1.")
STAGE_RULE(REG_MORE_FRAGMENTS_THAN_PEER_ACCEPTS, "reg/more-fragments-than-peer-accepts", OFF,
	   "EFBIG: a sink with more fragments than the peer takes.")
O2_CHECK_GROUP("Rules of rdma_plan")
STAGE_RULE(RDMA_MAX_WRS, "rdma/max-wrs", OFF, "EINVAL: 0, or above 257.")
STAGE_RULE(RDMA_WRQ_SGE, "rdma/wrq-sge", OFF, "EINVAL: 0, or above 32.")
STAGE_RULE(RDMA_NOB, "rdma/nob", OFF, "EINVAL: above 1 MiB.")
STAGE_RULE(RDMA_SOURCE_TOO_SMALL, "rdma/source-too-small", MUST, "EPROTO: fewer than nob bytes.")
STAGE_RULE(RDMA_SINK_TOO_SMALL, "rdma/sink-too-small", MUST, "EPROTO: fewer than nob bytes.")
STAGE_RULE(RDMA_TOO_MANY_WORK_REQUESTS, "rdma/too-many-work-requests", MUST, "EMSGSIZE: more than max_wrs.")
O2_CHECK_GROUP("Refusals of plans: whether, and with which words")
MODE_PLANS_LEGAL(GLOBAL, "global")
MODE_PLANS_LEGAL(FMR, "fmr")
MODE_PLANS_LEGAL(FASTREG, "fastreg")
MODE_PLANS_LEGAL(USER, "user")
MODE_PLANS_LEGAL(PHYS, "phys")
MODE_PLANS_LEGAL(FASTREG_GAPS, "fastreg_gaps")
PLANS_WORK(REFUSED_LEGAL, "refused-legal",
	   "Two descriptors that are large enough, within the limits, give work requests.")
TRANSFERS(REFUSED_LEGAL, "refused-legal", "A transfer that every stage admits is admitted.")
SAYS_ERRNO(REG, "reg")
SAYS_ERRNO(RDMA, "rdma")
SAYS_ERRNO(TRANSFER, "transfer")
SAYS_RULE(REG, "reg")
SAYS_RULE(RDMA, "rdma")
SAYS_RULE(TRANSFER, "transfer")
SAYS_INDEX(REG, "reg")
SAYS_INDEX(RDMA, "rdma")
TRANSFERS(WHERE, "where",
	  "A refused transfer names the side whose memory it was about, or the work requests. Compared when "
	  "it is said.")
O2_CHECK_GROUP("Registration plans")
O2_CHECK(REG_GAP_EXACT, "reg/gap-exact", SHOULD, SHOULD,
	 "A list that is declared to have gaps is planned as one, although by the exact rule it has none: "
	 "segments touch inside a page.")
O2_CHECK(REG_SOURCE_ACCESS, "reg/source-access", MUST, OFF,
	 "A source's region admits no writes by the peer, in any mode.")
O2_CHECK(REG_SINK_FRAGMENTS, "reg/sink-fragments", MUST, MUST, DECODABLE)
MODE_FRAGMENTS(GLOBAL, "global", REGISTERED_BYTES, "one per segment.")
MODE_FRAGMENTS(FMR, "fmr", REGISTERED_BYTES " (LU-9983 is what this check is named for in mode fmr.)",
	       "one without gaps, one per segment with them. One per segment throughout is a variant that "
	       "Lustre had.")
MODE_RANGE(FMR, "fmr")
O2_CHECK(REG_FMR_RANGE_IN_PAGES, "reg/fmr/range-in-pages", MUST, OFF,
	 "The region is not larger than what the fragments span, not even by what fills the first page and "
	 "the last.")
MODE_PAGES(FMR, "fmr")
MODE_FRAGMENTS(FASTREG, "fastreg", REGISTERED_BYTES, "one.")
MODE_RANGE(FASTREG, "fastreg")
MODE_PAGES(FASTREG, "fastreg")
O2_CHECK(REG_FASTREG_IOVA, "reg/fastreg/iova", MUST, MUST,
	 "The region begins at the device address of the first byte.")
MODE_FRAGMENTS(USER, "user", "The fragments are the range of virtual addresses that was asked for.", "one.")
MODE_RANGE(USER, "user")
O2_CHECK(REG_USER_IOVA, "reg/user/iova", MUST, MUST,
	 "The region begins at the virtual address of the first byte.")
MODE_FRAGMENTS(PHYS, "phys", REGISTERED_BYTES, "one.")
MODE_RANGE(PHYS, "phys")
MODE_PAGES(PHYS, "phys")
O2_CHECK(REG_PHYS_IOVA, "reg/phys/iova", MUST, MUST,
	 "The first page, or the first byte, lies at the iova that the caller chose.")
MODE_FRAGMENTS(FASTREG_GAPS, "fastreg_gaps", REGISTERED_BYTES, "one.")
MODE_RANGE(FASTREG_GAPS, "fastreg_gaps")
O2_CHECK(REG_FASTREG_GAPS_IOVA, "reg/fastreg_gaps/iova", MUST, MUST,
	 "The region begins at the device address of the first byte.")
O2_CHECK(REG_FASTREG_GAPS_ENTRIES, "reg/fastreg_gaps/entries", MUST, MUST,
	 "The entries are the byte ranges of the segments, at most max_pages.")
O2_CHECK_GROUP("Work requests")
PLANS_WORK(SOURCE_BYTES, "source-bytes",
	   "The gather entries are the first nob bytes of the source's fragments, in order (bz6241 was of "
	   "this kind).")
PLANS_WORK(SINK_BYTES, "sink-bytes",
	   "The work requests write the first nob bytes of the sink's fragments, in order; the last one is "
	   "there also when it ends inside a fragment.")
PLANS_WORK(BYTES_MOVED, "bytes-moved", "The plan says that it moves nob bytes.")
PLANS_WORK(WR_LENGTH, "wr-length", "A work request is as long as its gather entries together.")
PLANS_WORK(WR_LEAVES_FRAGMENT, "wr-leaves-fragment", "A work request writes into one fragment of the sink.")
PLANS_WORK(WR_OVER_LIMIT, "wr-over-limit", "At most max_wrs work requests.")
PLANS_WORK(SGE_OVER_LIMIT, "sge-over-limit", "A work request has 1 to wrq_sge gather entries.")
PLANS_WORK(SGE_INDEX, "sge-index", "The work requests use the gather entries one after the other, each once.")
PLANS_WORK(EMPTY_SGE, "empty-sge", "No gather entry is empty.")
PLANS_WORK(LKEY, "lkey", "Gather entries carry the source descriptor's key.")
PLANS_WORK(RKEY, "rkey", "Work requests carry the sink descriptor's key.")
O2_CHECK(RDMA_IMPOSSIBLE, "rdma/impossible", SHOULD, OFF,
	 "Memory that no transfer has (a fragment of 0 bytes, one that wraps, more than 1 MiB in all) is "
	 "dealt "
	 "with as any other: whatever differs there is this, of a sink if it is refused with EPROTO.")
O2_CHECK(RDMA_WORK_REQUESTS, "rdma/work-requests", SHOULD, SHOULD,
	 "As few work requests as the two lists allow.")
O2_CHECK_GROUP("Whole transfers")
TRANSFERS(BYTES, "bytes",
	  "Carried out on a device that knows the two plans only, the work requests bring every byte from "
	  "its place in the source to its place in the sink.")
TRANSFERS(OUTSIDE_REGION, "outside-region",
	  "No gather entry and no work request leaves what the plans register.")
TRANSFERS(WORK_REQUESTS, "work-requests",
	  "The work requests keep the limits of the connection, and their gather entries add up.")
TRANSFERS(KEYS, "keys", "Gather entries carry the source's key, work requests the sink's.")
TRANSFERS(NOB, "nob", "The plan moves as many bytes as the smaller buffer asks for.")
TRANSFERS(PUBLISHED, "published",
	  "The fragments of the node that asks hold all that it asks for, those of the other one what moves.")
O2_CHECK(TRANSFER_GAP_EXACT, "transfer/gap-exact", SHOULD, SHOULD,
	 "Lists with pieces that touch inside a page count as lists with gaps, by rule G3 and not by the "
	 "exact rule.")
TRANSFERS(ACCESS, "access",
	  "The sink's region admits writes by the peer, and by its own node, which verbs demand with it.")
O2_CHECK(TRANSFER_SOURCE_ACCESS, "transfer/source-access", MUST, OFF,
	 "The source's region admits no writes by the peer.")
TRANSFERS(RANGE, "range", "Each region is exactly what its fragments span, but in mode global.")
O2_CHECK(TRANSFER_RANGE_IN_PAGES, "transfer/range-in-pages", MUST, OFF,
	 "In mode fmr neither region is larger than what its fragments span, not even by what fills the "
	 "first page and the last.")
TRANSFERS(PEER_LIMIT, "peer-limit", "The sink publishes at most max_frags fragments.")
TRANSFERS(SINK_FRAGMENTS, "sink-fragments", DECODABLE)
TRANSFERS(
	PAGES, "pages",
	"In modes with a page list each side has at most max_pages pages, each a multiple of the page size; "
	"page_offset is where the first byte lies in the first page, and iova has the same offset in its "
	"page.")
TRANSFERS(IOVA, "iova",
	  "A region begins at the device address of its first byte in modes fastreg and fastreg_gaps, at its "
	  "virtual address in mode user, and where the caller chose in mode phys.")
TRANSFERS(ENTRIES, "entries",
	  "In mode fastreg_gaps each side has at most max_pages byte ranges, and none of them is empty.")
#undef SG_LIST
#undef DMA_LIST
#undef MODE_PLANS_LEGAL
#undef REGISTERED_BYTES
#undef MODE_FRAGMENTS
#undef DECODABLE
#undef MODE_RANGE
#undef MODE_PAGES
#undef PLANS_WORK
#undef TRANSFERS
