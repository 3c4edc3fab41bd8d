/* SPDX-License-Identifier: MIT */
#ifndef O2_FUZZ_PLAN_ORACLE_H
#define O2_FUZZ_PLAN_ORACLE_H

#include "rdma/rdma_plan.h"

/*
 * The oracle of the target rdma_plan (docs/fuzzing.md, "rdma_plan"; the rules are those of rdma/rdma_plan.h).
 */

/* Run o2_rdma_plan() and compare verdict, number of work requests, limits and the place of every byte. */
void o2_fuzz_check_plan(const struct o2_rdma_desc *source, const struct o2_rdma_desc *sink, uint64_t nob,
			const struct o2_rdma_limits *limits);

#endif
