/* SPDX-License-Identifier: MIT */
/* Checks of sg_build and dma_map: one part of check_list.h. */
O2_CHECK_GROUP("Rules of sg_build")
O2_CHECK(SG_PAGE_SIZE, "sg/page-size", MUST, OFF, "To be refused with EINVAL: not 4096, 16384 or 65536.")
O2_CHECK(SG_MAX_ENTRIES, "sg/max-entries", MUST, OFF, "To be refused with EINVAL: neither 256 nor 257.")
O2_CHECK(SG_NOB, "sg/nob", MUST, OFF, "To be refused with EINVAL: 0, or above 1 MiB.")
O2_CHECK(SG_KIOV_NO_SUCH_PAGE, "sg/kiov/no-such-page", MUST, OFF,
	 "To be refused with EINVAL: the page does not exist.")
O2_CHECK(SG_KIOV_ENTRY_PAST_PAGE, "sg/kiov/entry-past-page", MUST, OFF,
	 "To be refused with EINVAL: offset + len leaves the page.")
O2_CHECK(SG_IOV_WRAPS, "sg/iov/wraps", MUST, OFF, "To be refused with EINVAL: base + len passes 2^64 - 1.")
O2_CHECK(SG_VECTOR_TOO_SHORT, "sg/vector-too-short", MUST, MUST,
	 "To be refused with EINVAL: fewer than offset + nob bytes.")
O2_CHECK(SG_TOO_MANY_ENTRIES, "sg/too-many-entries", MUST, MUST,
	 "To be refused with EFAULT: one entry more than max_entries.")
O2_CHECK(SG_IOV_NO_PAGE, "sg/iov/no-page", MUST, MUST,
	 "To be refused with EFAULT: no page behind an address.")
O2_CHECK_GROUP("Rules of dma_map")
O2_CHECK(DMA_PAGE_SIZE, "dma/page-size", MUST, OFF, "To be refused with EINVAL: not 4096, 16384 or 65536.")
O2_CHECK(DMA_BASE_ALIGNMENT, "dma/base-alignment", MUST, OFF,
	 "To be refused with EINVAL: base is inside a page.")
O2_CHECK(DMA_BASE_WRAPS, "dma/base-wraps", MUST, OFF,
	 "To be refused with EINVAL: the last page passes 2^64 - 1.")
O2_CHECK(DMA_COUNT, "dma/count", MUST, OFF, "To be refused with EINVAL: no entries, or more than 257.")
O2_CHECK(DMA_NO_SUCH_PAGE, "dma/no-such-page", MUST, OFF,
	 "To be refused with EINVAL: the device does not know the page.")
O2_CHECK(DMA_ENTRY_PAST_PAGE, "dma/entry-past-page", MUST, OFF,
	 "To be refused with EINVAL: an entry is empty or leaves its page.")
O2_CHECK(DMA_IOMMU_NO_SUCH_DEVICE_PAGE, "dma/iommu/no-such-device-page", MUST, OFF,
	 "To be refused with EINVAL: the table puts a page outside the device.")
O2_CHECK(DMA_IOMMU_FAILED, "dma/iommu/failed", MUST, MUST,
	 "To be refused with EIO or ENOMEM: the mapping fails.")
O2_CHECK(DMA_IOMMU_MAPPED_NOTHING, "dma/iommu/mapped-nothing", MUST, MUST,
	 "To be refused with EIO: no entry was mapped.")
O2_CHECK(DMA_VIRTUAL_NO_CPU_MAPPING, "dma/virtual/no-cpu-mapping", MUST, MUST,
	 "To be refused with EFAULT: kind virtual, page without a CPU mapping.")
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
O2_CHECK(SG_ERRNO, "sg/errno", MUST, SHOULD,
	 "A refusal carries the errno of the rule that is broken (the tables of refusals). Of several "
	 "broken rules the first in the order of the checks counts.")
O2_CHECK(DMA_ERRNO, "dma/errno", MUST, SHOULD,
	 "A refusal carries the errno of the rule that is broken (the tables of refusals). Of several "
	 "broken rules the first in the order of the checks counts.")
O2_CHECK(SG_RULE, "sg/rule", MUST, SHOULD,
	 "The refusal names the rule that is broken first. Compared when the error map knows the "
	 "name, or when the name is a rule id itself.")
O2_CHECK(DMA_RULE, "dma/rule", MUST, SHOULD,
	 "The refusal names the rule that is broken first. Compared when the error map knows the "
	 "name, or when the name is a rule id itself.")
O2_CHECK(SG_INDEX, "sg/index", SHOULD, OFF,
	 "A refusal that is about one entry of a list names that entry. Compared when the same rule "
	 "was named and an index was given.")
O2_CHECK(DMA_INDEX, "dma/index", SHOULD, OFF,
	 "A refusal that is about one entry of a list names that entry. Compared when the same rule "
	 "was named and an index was given.")
O2_CHECK_GROUP("Scatter lists")
O2_CHECK(SG_KIOV_BYTES, "sg/kiov/bytes", MUST, MUST,
	 "The entries cover the bytes that the buffer asks for, each once, in order.")
O2_CHECK(SG_KIOV_NOB, "sg/kiov/nob", MUST, MUST, "nob is the sum of the lengths: what the buffer asked for.")
O2_CHECK(SG_KIOV_ENTRY_IN_PAGE, "sg/kiov/entry-in-page", MUST, MUST, "No entry is empty or leaves its page.")
O2_CHECK(SG_KIOV_ENTRIES, "sg/kiov/entries", SHOULD, SHOULD,
	 "One entry per piece of a page: nothing is merged and nothing is split, pieces that touch "
	 "included. Lists that cover the same bytes otherwise differ in this only.")
O2_CHECK(SG_KIOV_TOO_MANY, "sg/kiov/too-many", MUST, MUST, "At most max_entries entries.")
O2_CHECK(SG_KIOV_GAP_FLAG, "sg/kiov/gap-flag", MUST, MUST,
	 "The verdict on gaps is that of rule G3 (LU-20399): an entry other than the first starts "
	 "inside a page, or one other than the last ends inside one.")
O2_CHECK(SG_IOV_BYTES, "sg/iov/bytes", MUST, MUST,
	 "The entries cover the bytes that the buffer asks for, each once, in order.")
O2_CHECK(SG_IOV_NOB, "sg/iov/nob", MUST, MUST, "nob is the sum of the lengths: what the buffer asked for.")
O2_CHECK(SG_IOV_ENTRY_IN_PAGE, "sg/iov/entry-in-page", MUST, MUST, "No entry is empty or leaves its page.")
O2_CHECK(SG_IOV_ENTRIES, "sg/iov/entries", SHOULD, SHOULD,
	 "One entry per piece of a page: nothing is merged and nothing is split, pieces that touch "
	 "included. Lists that cover the same bytes otherwise differ in this only.")
O2_CHECK(SG_IOV_TOO_MANY, "sg/iov/too-many", MUST, MUST, "At most max_entries entries.")
O2_CHECK(SG_IOV_GAP_FLAG, "sg/iov/gap-flag", MUST, MUST,
	 "The verdict on gaps is that of rule G3 (LU-20399): an entry other than the first starts "
	 "inside a page, or one other than the last ends inside one.")
O2_CHECK_GROUP("Segments")
O2_CHECK(DMA_BUS_BYTES, "dma/bus/bytes", MUST, MUST,
	 "The segments cover the device addresses of the list's bytes, in order.")
O2_CHECK(DMA_BUS_NOB, "dma/bus/nob", MUST, MUST, "nob is the sum of the lengths.")
O2_CHECK(DMA_BUS_EMPTY_SEGMENT, "dma/bus/empty-segment", MUST, MUST, "No segment is empty.")
O2_CHECK(DMA_BUS_SEGMENTS, "dma/bus/segments", SHOULD, SHOULD,
	 "One segment per entry: this kind neither merges nor splits.")
O2_CHECK(DMA_VIRTUAL_BYTES, "dma/virtual/bytes", MUST, MUST,
	 "The segments cover the device addresses of the list's bytes, in order.")
O2_CHECK(DMA_VIRTUAL_NOB, "dma/virtual/nob", MUST, MUST, "nob is the sum of the lengths.")
O2_CHECK(DMA_VIRTUAL_EMPTY_SEGMENT, "dma/virtual/empty-segment", MUST, MUST, "No segment is empty.")
O2_CHECK(DMA_VIRTUAL_SEGMENTS, "dma/virtual/segments", SHOULD, SHOULD,
	 "One segment per entry: this kind neither merges nor splits.")
O2_CHECK(DMA_IOMMU_BYTES, "dma/iommu/bytes", MUST, MUST,
	 "The segments cover the device addresses of the list's bytes, in order.")
O2_CHECK(DMA_IOMMU_NOB, "dma/iommu/nob", MUST, MUST, "nob is the sum of the lengths.")
O2_CHECK(DMA_IOMMU_EMPTY_SEGMENT, "dma/iommu/empty-segment", MUST, MUST, "No segment is empty.")
O2_CHECK(DMA_IOMMU_SEGMENTS, "dma/iommu/segments", SHOULD, SHOULD,
	 "The number of segments: one per entry, less those that an iommu was told to merge (merge "
	 "bit set, addresses join up).")
