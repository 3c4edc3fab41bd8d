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
 * The property: rdma_plan takes byte k of the source to byte k of the sink, in as few work requests as the
 * definition needs, none across a fragment of the sink and none beyond a limit; or refuses, and says by which
 * figure (docs/properties.md, "The rdma property").
 */

/* What the definitions say of two descriptors (rdma_oracle.c). */
struct o2_rdma_expected {
	struct o2_refusals refusals;
	struct o2_place_map source, sink; /* the first bytes of both: as many as are to be moved */
	uint64_t nwr;
};

void o2_rdma_expect(const struct o2_rdma_input *asked, struct o2_rdma_expected *expected);

/* What came out of a case. */
struct o2_rdma_outcome {
	struct o2_rdma_expected expected;
	struct o2_rdma_plan plan;
	struct o2_error error; /* code 0: accepted */
};

/* Run o2_rdma_plan and hold it to what is expected; a failure fills *report. */
void o2_rdma_check(const struct o2_rdma_input *asked, struct o2_rdma_outcome *outcome,
		   struct o2_report *report);

/* Hold outcome->plan to outcome->expected, which accepts. */
void o2_rdma_check_plan(const struct o2_rdma_input *asked, const struct o2_rdma_outcome *outcome,
			struct o2_report *report);

struct o2_rdma_run {
	struct o2_tally tally; /* first: props/engine/tally.h */
	struct o2_rdma_input asked;
	struct o2_rdma_outcome outcome;
};

/* rdma_post.c: the plan, which was accepted, is posted with what goes around it.  True: all of it is taken. */
bool o2_rdma_post(struct o2_rdma_run *run, struct o2_choice *c, struct o2_report *report);

/* *run: zeros at first, the caller's. */
struct o2_property o2_rdma_property(struct o2_rdma_run *run);

#endif
