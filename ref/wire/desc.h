/* SPDX-License-Identifier: MIT */
#ifndef O2_WIRE_DESC_H
#define O2_WIRE_DESC_H

#include <stdint.h>

#include "base/limits.h"

/*
 * The RDMA descriptor: describes memory that the peer may write; sent in PUT_ACK and GET_REQ.
 * Source: docs/wire.md, "Descriptor".  Field names are Lustre's.
 */

/* 12 bytes on the wire. */
/* o2iblnd: kib_rdma_frag */
struct o2_rdma_frag {
	uint32_t rf_nob;  /* bytes, 1 to 1 MiB */
	uint64_t rf_addr; /* address under rd_key; rf_addr + rf_nob does not wrap */
};

/* 8 + 12 * rd_nfrags bytes on the wire.  One key covers all fragments. */
/* o2iblnd: kib_rdma_desc */
struct o2_rdma_desc {
	uint32_t rd_key;
	uint32_t rd_nfrags; /* 1 to O2_MAX_FRAGS; the sum of all rf_nob is at most 1 MiB */
	struct o2_rdma_frag rd_frags[O2_MAX_FRAGS];
};

#endif
