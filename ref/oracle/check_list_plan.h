/* SPDX-License-Identifier: MIT */
/* Checks of reg_plan, rdma_plan and whole transfers: one part of check_list.h. */
O2_CHECK_GROUP("Rules of reg_plan")
O2_CHECK(REG_PAGE_SIZE, "reg/page-size", MUST, OFF, "To be refused with EINVAL: not 4096, 16384 or 65536.")
O2_CHECK(REG_MAX_PAGES, "reg/max-pages", MUST, OFF, "To be refused with EINVAL: neither 256 nor 257.")
O2_CHECK(REG_PEER_MAX_FRAGS, "reg/peer-max-frags", MUST, OFF,
	 "To be refused with EINVAL: a sink, and 0 or above 257.")
O2_CHECK(REG_COUNT, "reg/count", MUST, OFF, "To be refused with EINVAL: no segments, or more than 257.")
O2_CHECK(REG_EMPTY_SEGMENT, "reg/empty-segment", MUST, OFF, "To be refused with EINVAL: length 0.")
O2_CHECK(REG_SEGMENT_WRAPS, "reg/segment-wraps", MUST, OFF,
	 "To be refused with EINVAL: addr + length passes 2^64 - 1.")
O2_CHECK(REG_TOO_LONG, "reg/too-long", MUST, OFF, "To be refused with EMSGSIZE: more than 1 MiB in all.")
O2_CHECK(REG_TOO_MANY_PAGES, "reg/too-many-pages", MUST, MUST,
	 "To be refused with EINVAL: fmr, fastreg, phys: more than max_pages.")
O2_CHECK(REG_FMR_UNDECLARED_GAP, "reg/fmr/undeclared-gap", MUST, MUST,
	 "To be refused with EINVAL: fmr: declared dense, and a seam is not.")
O2_CHECK(REG_FASTREG_GAPS, "reg/fastreg/gaps", MUST, MUST,
	 "To be refused with EPROTONOSUPPORT: fastreg: the list has gaps.")
O2_CHECK(REG_FASTREG_SHORT_MAP, "reg/fastreg/short-map", MUST, MUST,
	 "To be refused with EINVAL: fastreg: declared dense, and a seam is not.")
O2_CHECK(REG_FASTREG_IOVA_WRAPS, "reg/fastreg/iova-wraps", MUST, OFF,
	 "To be refused with EINVAL: fastreg: the region would pass 2^64 - 1.")
O2_CHECK(REG_USER_NOT_CONTIGUOUS, "reg/user/not-contiguous", MUST, MUST,
	 "To be refused with EPROTONOSUPPORT: user: not one range of virtual addresses.")
O2_CHECK(REG_USER_ADDRESS_WRAPS, "reg/user/address-wraps", MUST, OFF,
	 "To be refused with EINVAL: user: the range would pass 2^64 - 1.")
O2_CHECK(REG_PHYS_GAPS, "reg/phys/gaps", MUST, MUST, "To be refused with EINVAL: phys: the list has gaps.")
O2_CHECK(REG_PHYS_UNDECLARED_GAP, "reg/phys/undeclared-gap", MUST, MUST,
	 "To be refused with EINVAL: phys: declared dense, and a seam is not.")
O2_CHECK(
	REG_PHYS_IOVA_ALIGNMENT, "reg/phys/iova-alignment", MUST, OFF,
	"To be refused with EINVAL: phys: iova is inside a page, and not where the first byte is in its own.")
O2_CHECK(REG_PHYS_IOVA_WRAPS, "reg/phys/iova-wraps", MUST, OFF,
	 "To be refused with EINVAL: phys: the region would pass 2^64 - 1.")
O2_CHECK(REG_FASTREG_GAPS_TOO_MANY_ENTRIES, "reg/fastreg_gaps/too-many-entries", MUST, MUST,
	 "To be refused with EINVAL: fastreg_gaps: more than max_pages.")
O2_CHECK(REG_FASTREG_GAPS_IOVA_WRAPS, "reg/fastreg_gaps/iova-wraps", MUST, OFF,
	 "To be refused with EINVAL: fastreg_gaps: the region would pass 2^64 - 1.")
O2_CHECK(REG_MORE_FRAGMENTS_THAN_PEER_ACCEPTS, "reg/more-fragments-than-peer-accepts", MUST, MUST,
	 "To be refused with EFBIG: a sink with more fragments than the peer takes.")
O2_CHECK_GROUP("Rules of rdma_plan")
O2_CHECK(RDMA_MAX_WRS, "rdma/max-wrs", MUST, OFF, "To be refused with EINVAL: 0, or above 257.")
O2_CHECK(RDMA_WRQ_SGE, "rdma/wrq-sge", MUST, OFF, "To be refused with EINVAL: 0, or above 32.")
O2_CHECK(RDMA_NOB, "rdma/nob", MUST, OFF, "To be refused with EINVAL: above 1 MiB.")
O2_CHECK(RDMA_SOURCE_TOO_SMALL, "rdma/source-too-small", MUST, MUST,
	 "To be refused with EPROTO: fewer than nob bytes.")
O2_CHECK(RDMA_SINK_TOO_SMALL, "rdma/sink-too-small", MUST, MUST,
	 "To be refused with EPROTO: fewer than nob bytes.")
O2_CHECK(RDMA_TOO_MANY_WORK_REQUESTS, "rdma/too-many-work-requests", MUST, MUST,
	 "To be refused with EMSGSIZE: more than max_wrs.")
O2_CHECK_GROUP("Refusals of plans: whether, and with which words")
O2_CHECK(REG_GLOBAL_REFUSED_LEGAL, "reg/global/refused-legal", MUST, MUST,
	 "Mode global makes a plan of segments that it can express.")
O2_CHECK(REG_FMR_REFUSED_LEGAL, "reg/fmr/refused-legal", MUST, MUST,
	 "Mode fmr makes a plan of segments that it can express.")
O2_CHECK(REG_FASTREG_REFUSED_LEGAL, "reg/fastreg/refused-legal", MUST, MUST,
	 "Mode fastreg makes a plan of segments that it can express.")
O2_CHECK(REG_USER_REFUSED_LEGAL, "reg/user/refused-legal", MUST, MUST,
	 "Mode user makes a plan of segments that it can express.")
O2_CHECK(REG_PHYS_REFUSED_LEGAL, "reg/phys/refused-legal", MUST, MUST,
	 "Mode phys makes a plan of segments that it can express.")
O2_CHECK(REG_FASTREG_GAPS_REFUSED_LEGAL, "reg/fastreg_gaps/refused-legal", MUST, MUST,
	 "Mode fastreg_gaps makes a plan of segments that it can express.")
O2_CHECK(RDMA_REFUSED_LEGAL, "rdma/refused-legal", MUST, MUST,
	 "Two descriptors that are large enough, within the limits, give work requests.")
O2_CHECK(TRANSFER_REFUSED_LEGAL, "transfer/refused-legal", MUST, MUST,
	 "A transfer that every stage admits is admitted.")
O2_CHECK(REG_ERRNO, "reg/errno", MUST, SHOULD,
	 "A refusal carries the errno of the rule that is broken (the tables of refusals). Of several "
	 "broken rules the first in the order of the checks counts.")
O2_CHECK(RDMA_ERRNO, "rdma/errno", MUST, SHOULD,
	 "A refusal carries the errno of the rule that is broken (the tables of refusals). Of several "
	 "broken rules the first in the order of the checks counts.")
O2_CHECK(TRANSFER_ERRNO, "transfer/errno", MUST, SHOULD,
	 "A refusal carries the errno of the rule that is broken (the tables of refusals). Of several "
	 "broken rules the first in the order of the checks counts.")
O2_CHECK(REG_RULE, "reg/rule", MUST, SHOULD,
	 "The refusal names the rule that is broken first. Compared when the error map knows the "
	 "name, or when the name is a rule id itself.")
O2_CHECK(RDMA_RULE, "rdma/rule", MUST, SHOULD,
	 "The refusal names the rule that is broken first. Compared when the error map knows the "
	 "name, or when the name is a rule id itself.")
O2_CHECK(TRANSFER_RULE, "transfer/rule", MUST, SHOULD,
	 "The refusal names the rule that is broken first. Compared when the error map knows the "
	 "name, or when the name is a rule id itself.")
O2_CHECK(REG_INDEX, "reg/index", SHOULD, OFF,
	 "A refusal that is about one entry of a list names that entry. Compared when the same rule "
	 "was named and an index was given.")
O2_CHECK(RDMA_INDEX, "rdma/index", SHOULD, OFF,
	 "A refusal that is about one entry of a list names that entry. Compared when the same rule "
	 "was named and an index was given.")
O2_CHECK(TRANSFER_WHERE, "transfer/where", MUST, MUST,
	 "A refused transfer names the side whose memory it was about, or the work requests. Compared "
	 "when it is said.")
O2_CHECK_GROUP("Registration plans")
O2_CHECK(REG_GLOBAL_BYTES, "reg/global/bytes", MUST, MUST,
	 "The fragments, looked up in what the plan registers, are the bytes of the segments, in "
	 "order.")
O2_CHECK(REG_GLOBAL_FRAGMENTS, "reg/global/fragments", SHOULD, SHOULD,
	 "As many fragments as the reference publishes: one per segment.")
O2_CHECK(REG_GLOBAL_PEER_LIMIT, "reg/global/peer-limit", MUST, MUST,
	 "A sink publishes at most peer_max_frags fragments.")
O2_CHECK(REG_GLOBAL_ACCESS, "reg/global/access", MUST, MUST,
	 "A sink's region admits writes by the peer, a source's does not.")
O2_CHECK(REG_FMR_BYTES, "reg/fmr/bytes", MUST, MUST,
	 "The fragments, looked up in what the plan registers, are the bytes of the segments, in "
	 "order. (LU-9983 is what this check is named for in mode fmr.)")
O2_CHECK(REG_FMR_FRAGMENTS, "reg/fmr/fragments", SHOULD, SHOULD,
	 "As many fragments as the reference publishes: one without gaps, one per segment with them. "
	 "One per segment throughout is a variant that Lustre had.")
O2_CHECK(REG_FMR_PEER_LIMIT, "reg/fmr/peer-limit", MUST, MUST,
	 "A sink publishes at most peer_max_frags fragments.")
O2_CHECK(REG_FMR_ACCESS, "reg/fmr/access", MUST, MUST,
	 "A sink's region admits writes by the peer, a source's does not.")
O2_CHECK(REG_FMR_RANGE, "reg/fmr/range", MUST, MUST,
	 "The region is exactly the published bytes: from the first to the last, not one more.")
O2_CHECK(REG_FMR_PAGES, "reg/fmr/pages", MUST, MUST,
	 "At most max_pages pages, each a multiple of the page size; page_offset is where the first "
	 "byte lies in the first page, and iova has the same offset in its page.")
O2_CHECK(REG_FMR_PAGE_LIST, "reg/fmr/page-list", SHOULD, SHOULD,
	 "The pages that the reference lists: each that a segment spans, once for each time that the "
	 "bytes come to its start.")
O2_CHECK(REG_FASTREG_BYTES, "reg/fastreg/bytes", MUST, MUST,
	 "The fragments, looked up in what the plan registers, are the bytes of the segments, in "
	 "order.")
O2_CHECK(REG_FASTREG_FRAGMENTS, "reg/fastreg/fragments", SHOULD, SHOULD,
	 "As many fragments as the reference publishes: one.")
O2_CHECK(REG_FASTREG_PEER_LIMIT, "reg/fastreg/peer-limit", MUST, MUST,
	 "A sink publishes at most peer_max_frags fragments.")
O2_CHECK(REG_FASTREG_ACCESS, "reg/fastreg/access", MUST, MUST,
	 "A sink's region admits writes by the peer, a source's does not.")
O2_CHECK(REG_FASTREG_RANGE, "reg/fastreg/range", MUST, MUST,
	 "The region is exactly the published bytes: from the first to the last, not one more.")
O2_CHECK(REG_FASTREG_PAGES, "reg/fastreg/pages", MUST, MUST,
	 "At most max_pages pages, each a multiple of the page size; page_offset is where the first "
	 "byte lies in the first page, and iova has the same offset in its page.")
O2_CHECK(REG_FASTREG_PAGE_LIST, "reg/fastreg/page-list", SHOULD, SHOULD,
	 "The pages that the reference lists: each that a segment spans, once for each time that the "
	 "bytes come to its start.")
O2_CHECK(REG_FASTREG_IOVA, "reg/fastreg/iova", MUST, MUST,
	 "The region begins at the device address of the first byte.")
O2_CHECK(REG_USER_BYTES, "reg/user/bytes", MUST, MUST,
	 "The fragments are the range of virtual addresses that was asked for.")
O2_CHECK(REG_USER_FRAGMENTS, "reg/user/fragments", SHOULD, SHOULD,
	 "As many fragments as the reference publishes: one.")
O2_CHECK(REG_USER_PEER_LIMIT, "reg/user/peer-limit", MUST, MUST,
	 "A sink publishes at most peer_max_frags fragments.")
O2_CHECK(REG_USER_ACCESS, "reg/user/access", MUST, MUST,
	 "A sink's region admits writes by the peer, a source's does not.")
O2_CHECK(REG_USER_RANGE, "reg/user/range", MUST, MUST,
	 "The region is exactly the published bytes: from the first to the last, not one more.")
O2_CHECK(REG_USER_IOVA, "reg/user/iova", MUST, MUST,
	 "The region begins at the virtual address of the first byte.")
O2_CHECK(REG_PHYS_BYTES, "reg/phys/bytes", MUST, MUST,
	 "The fragments, looked up in what the plan registers, are the bytes of the segments, in "
	 "order.")
O2_CHECK(REG_PHYS_FRAGMENTS, "reg/phys/fragments", SHOULD, SHOULD,
	 "As many fragments as the reference publishes: one.")
O2_CHECK(REG_PHYS_PEER_LIMIT, "reg/phys/peer-limit", MUST, MUST,
	 "A sink publishes at most peer_max_frags fragments.")
O2_CHECK(REG_PHYS_ACCESS, "reg/phys/access", MUST, MUST,
	 "A sink's region admits writes by the peer, a source's does not.")
O2_CHECK(REG_PHYS_RANGE, "reg/phys/range", MUST, MUST,
	 "The region is exactly the published bytes: from the first to the last, not one more.")
O2_CHECK(REG_PHYS_PAGES, "reg/phys/pages", MUST, MUST,
	 "At most max_pages pages, each a multiple of the page size; page_offset is where the first "
	 "byte lies in the first page, and iova has the same offset in its page.")
O2_CHECK(REG_PHYS_PAGE_LIST, "reg/phys/page-list", SHOULD, SHOULD,
	 "The pages that the reference lists: each that a segment spans, once for each time that the "
	 "bytes come to its start.")
O2_CHECK(REG_PHYS_IOVA, "reg/phys/iova", MUST, MUST,
	 "The first page, or the first byte, lies at the iova that the caller chose.")
O2_CHECK(REG_FASTREG_GAPS_BYTES, "reg/fastreg_gaps/bytes", MUST, MUST,
	 "The fragments, looked up in what the plan registers, are the bytes of the segments, in "
	 "order.")
O2_CHECK(REG_FASTREG_GAPS_FRAGMENTS, "reg/fastreg_gaps/fragments", SHOULD, SHOULD,
	 "As many fragments as the reference publishes: one.")
O2_CHECK(REG_FASTREG_GAPS_PEER_LIMIT, "reg/fastreg_gaps/peer-limit", MUST, MUST,
	 "A sink publishes at most peer_max_frags fragments.")
O2_CHECK(REG_FASTREG_GAPS_ACCESS, "reg/fastreg_gaps/access", MUST, MUST,
	 "A sink's region admits writes by the peer, a source's does not.")
O2_CHECK(REG_FASTREG_GAPS_RANGE, "reg/fastreg_gaps/range", MUST, MUST,
	 "The region is exactly the published bytes: from the first to the last, not one more.")
O2_CHECK(REG_FASTREG_GAPS_IOVA, "reg/fastreg_gaps/iova", MUST, MUST,
	 "The region begins at the device address of the first byte.")
O2_CHECK(REG_FASTREG_GAPS_ENTRIES, "reg/fastreg_gaps/entries", MUST, MUST,
	 "The entries are the byte ranges of the segments, at most max_pages.")
O2_CHECK_GROUP("Work requests")
O2_CHECK(RDMA_SOURCE_BYTES, "rdma/source-bytes", MUST, MUST,
	 "The gather entries are the first nob bytes of the source's fragments, in order (bz6241 was "
	 "of this kind).")
O2_CHECK(RDMA_SINK_BYTES, "rdma/sink-bytes", MUST, MUST,
	 "The work requests write the first nob bytes of the sink's fragments, in order; the last one "
	 "is there also when it ends inside a fragment.")
O2_CHECK(RDMA_BYTES_MOVED, "rdma/bytes-moved", MUST, MUST, "The plan says that it moves nob bytes.")
O2_CHECK(RDMA_WR_LENGTH, "rdma/wr-length", MUST, MUST,
	 "A work request is as long as its gather entries together.")
O2_CHECK(RDMA_WR_LEAVES_FRAGMENT, "rdma/wr-leaves-fragment", MUST, MUST,
	 "A work request writes into one fragment of the sink.")
O2_CHECK(RDMA_WR_OVER_LIMIT, "rdma/wr-over-limit", MUST, MUST, "At most max_wrs work requests.")
O2_CHECK(RDMA_SGE_OVER_LIMIT, "rdma/sge-over-limit", MUST, MUST,
	 "A work request has 1 to wrq_sge gather entries.")
O2_CHECK(RDMA_SGE_INDEX, "rdma/sge-index", MUST, MUST,
	 "The work requests use the gather entries one after the other, each once.")
O2_CHECK(RDMA_EMPTY_SGE, "rdma/empty-sge", MUST, MUST, "No gather entry is empty.")
O2_CHECK(RDMA_LKEY, "rdma/lkey", MUST, MUST, "Gather entries carry the source descriptor's key.")
O2_CHECK(RDMA_RKEY, "rdma/rkey", MUST, MUST, "Work requests carry the sink descriptor's key.")
O2_CHECK(RDMA_WORK_REQUESTS, "rdma/work-requests", SHOULD, SHOULD,
	 "As few work requests as the two lists allow.")
O2_CHECK_GROUP("Whole transfers")
O2_CHECK(TRANSFER_BYTES, "transfer/bytes", MUST, MUST,
	 "Carried out on a device that knows the two plans only, the work requests bring every byte "
	 "from its place in the source to its place in the sink.")
O2_CHECK(TRANSFER_OUTSIDE_REGION, "transfer/outside-region", MUST, MUST,
	 "No gather entry and no work request leaves what the plans register.")
O2_CHECK(TRANSFER_WORK_REQUESTS, "transfer/work-requests", MUST, MUST,
	 "The work requests keep the limits of the connection, and their gather entries add up.")
O2_CHECK(TRANSFER_KEYS, "transfer/keys", MUST, MUST,
	 "Gather entries carry the source's key, work requests the sink's.")
O2_CHECK(TRANSFER_NOB, "transfer/nob", MUST, MUST,
	 "The plan moves as many bytes as the smaller buffer asks for.")
O2_CHECK(TRANSFER_ACCESS, "transfer/access", MUST, MUST,
	 "The sink's region admits writes by the peer, the source's does not.")
O2_CHECK(TRANSFER_RANGE, "transfer/range", MUST, MUST,
	 "Neither region is larger than the published bytes, but in mode global.")
O2_CHECK(TRANSFER_PEER_LIMIT, "transfer/peer-limit", MUST, MUST,
	 "The sink publishes at most max_frags fragments.")
