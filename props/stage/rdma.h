/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_RDMA_H
#define O2_PROPS_RDMA_H

#include <stdbool.h>
#include <stdint.h>

#include "forms/rdma_json.h"
#include "props/engine/property.h"
#include "props/engine/tally.h"
#include "props/model/place_map.h"
#include "props/model/refusals.h"
#include "rdma/rdma_plan.h"

/*
 * The property: rdma_plan transfers byte k of the source to byte k of the sink, in the fewest work requests; none
 * crosses a fragment of the sink or exceeds a limit.  Or it refuses, and names the offending figure
 * (docs/properties.md, "The rdma property").
 */

/* The expected result for two descriptors, by the definitions (rdma_oracle.c). */
struct o2_rdma_expected {
	struct o2_refusals refusals;
	struct o2_place_map source, sink; /* places of the bytes to be moved, in each descriptor */
	uint64_t nwr;
};

void o2_rdma_expect(const struct o2_rdma_input *asked, struct o2_rdma_expected *expected);

/* The result of a case. */
struct o2_rdma_outcome {
	struct o2_rdma_expected expected;
	struct o2_rdma_plan plan;
	struct o2_error error; /* code 0: accepted */
};

/* Run o2_rdma_plan and compare it with the expected result; a failure fills *report. */
void o2_rdma_check(const struct o2_rdma_input *asked, struct o2_rdma_outcome *outcome,
		   struct o2_report *report);

/* Check outcome->plan against outcome->expected, which must be without refusals. */
void o2_rdma_check_plan(const struct o2_rdma_input *asked, const struct o2_rdma_outcome *outcome,
			struct o2_report *report);

struct o2_rdma_run {
	struct o2_tally tally; /* first: props/engine/tally.h */
	struct o2_rdma_input asked;
	struct o2_rdma_outcome outcome;
};

/* rdma_post.c: post an accepted plan, with the requests before and after it.  True: all requests were accepted. */
bool o2_rdma_post(struct o2_rdma_run *run, struct o2_choice *c, struct o2_report *report);

/* *run: owned by the caller, zeroed before the first case. */
struct o2_property o2_rdma_property(struct o2_rdma_run *run);

#endif
