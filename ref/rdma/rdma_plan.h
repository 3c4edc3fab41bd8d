/* SPDX-License-Identifier: MIT */
#ifndef O2_RDMA_PLAN_H
#define O2_RDMA_PLAN_H

#include <assert.h>
#include <stdint.h>

#include "base/error.h"
#include "base/limits.h"
#include "wire/desc.h"

/*
 * Fourth stage: make RDMA WRITE work requests from a source and a sink descriptor. Source: docs/mapping.md,
 * "rdma_plan".  Pure; neither descriptor is changed.
 */

/* Gather this many bytes at this local address, under the source descriptor's key. */
struct o2_rdma_sge {
	uint64_t addr;
	uint32_t length;
};

/* One RDMA WRITE: num_sge gather entries into one contiguous range of one sink fragment. */
struct o2_rdma_wr {
	uint64_t remote_addr;
	uint32_t length;    /* sum of its gather entries */
	uint32_t first_sge; /* index into o2_rdma_plan.sge */
	uint32_t num_sge;   /* 1 to wrq_sge */
};

struct o2_rdma_limits {
	uint32_t max_wrs; /* work requests per transfer, 1 to O2_MAX_FRAGS: the connection's max_frags */
	uint32_t wrq_sge; /* gather entries per work request, 1 to O2_MAX_WRQ_SGE; o2iblnd's default is 2 */
};

#define O2_DEFAULT_WRQ_SGE 2u
static_assert(O2_DEFAULT_WRQ_SGE <= O2_MAX_WRQ_SGE, "the default is legal");

/*
 * sge[] is large enough, because a plan has at most max_wrs work requests with at most wrq_sge gather entries
 * each. About 135 KiB: keep it off small stacks.
 */
struct o2_rdma_plan {
	uint32_t lkey; /* key of every gather entry */
	uint32_t rkey; /* key of every work request */
	uint32_t nwr;
	uint32_t nsge;
	uint64_t nob; /* bytes that the plan moves: exactly the nob asked for */
	struct o2_rdma_wr wr[O2_MAX_FRAGS];
	struct o2_rdma_sge sge[O2_MAX_FRAGS * O2_MAX_WRQ_SGE];
};

/*
 * Plan to move the first `nob` bytes of `source` to the first `nob` bytes of `sink`.
 *
 * nob may be 0 (a GET answered with no data): then there are no work requests.  When nob ends inside a sink
 * fragment, the open work request is still added, so the plan writes every byte of nob.
 *
 * Returns 0, or
 *   -EPROTO    source or sink is smaller than nob
 *   -EMSGSIZE  more than max_wrs work requests are needed
 *   -EINVAL    a limit, a descriptor's count or nob is not legal
 * o2iblnd: kiblnd_init_rdma
 */
int o2_rdma_plan(const struct o2_rdma_desc *source, const struct o2_rdma_desc *sink, uint64_t nob,
		 const struct o2_rdma_limits *limits, struct o2_rdma_plan *plan, struct o2_error *error);

#endif
