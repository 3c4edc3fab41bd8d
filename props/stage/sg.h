/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_SG_H
#define O2_PROPS_SG_H

#include <stdbool.h>
#include <stdint.h>

#include "mem/sg_build.h"
#include "oracle/case.h"
#include "props/engine/property.h"
#include "props/engine/tally.h"
#include "props/model/place_map.h"
#include "props/model/refusals.h"

/*
 * The property: sg_build lists each byte that a buffer asks for where the buffer has it, cut where a page
 * ends, with the verdict of rule G3; or refuses, and says of which piece and which figure
 * (docs/properties.md, "The sg property").
 */

/* What the definitions say of a buffer (sg_oracle.c). */
struct o2_sg_expected {
	struct o2_refusals refusals;
	struct o2_place_map map; /* of the bytes that are to be moved: O2_PLACE of each */
	uint32_t entries;	 /* pieces of pages that hold them */
	bool gaps;
};

/* Works on the bytes of the stream, not on entries.  Every input has an answer. */
void o2_sg_expect(const struct o2_buffer *buffer, const struct o2_address_space *space, uint32_t max_entries,
		  struct o2_sg_expected *expected);

/* What every rule on gaps says of a buffer, by its list, which is right (sg_gaps.c). */
void o2_sg_check_gaps(const struct o2_buffer *buffer, const struct o2_sg_list *list, uint32_t page_bytes,
		      struct o2_report *report);

/* What came out of a case. */
struct o2_sg_outcome {
	struct o2_sg_expected expected;
	struct o2_sg_list list;
	struct o2_error error; /* code 0: accepted */
	uint32_t refusal;      /* which of the expected ones it was */
};

/* Run o2_sg_build and hold it to what is expected; a failure fills *report. */
void o2_sg_check(const struct o2_buffer *buffer, const struct o2_address_space *space, uint32_t max_entries,
		 struct o2_sg_outcome *outcome, struct o2_report *report);

struct o2_sg_run {
	struct o2_tally tally; /* first: props/engine/tally.h */
	struct o2_case_sg asked;
	struct o2_sg_outcome outcome;
};

/* *run: zeros at first, the caller's. */
struct o2_property o2_sg_property(struct o2_sg_run *run);

#endif
