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
 * The property: sg_build lists each requested byte of a buffer at its place, split at page boundaries, with the
 * correct verdict of rule G3; or it refuses, and names the piece and the figure (docs/properties.md, "The sg
 * property").
 */

/* The expected result for a buffer, by the definitions (sg_oracle.c). */
struct o2_sg_expected {
	struct o2_refusals refusals;
	struct o2_place_map map; /* O2_PLACE of each byte that is to be moved */
	uint32_t entries;	 /* number of pieces of pages that hold them */
	bool gaps;
};

static inline uint64_t o2_sg_piece_bytes(const struct o2_buffer *buffer, uint32_t piece)
{
	return buffer->kind == O2_IOV ? buffer->iov[piece].len : buffer->kiov[piece].len;
}

/* Compute the expected result from the stream's bytes, without entries.  Every input has a result. */
void o2_sg_expect(const struct o2_buffer *buffer, const struct o2_address_space *space, uint32_t max_entries,
		  struct o2_sg_expected *expected);

/* Check the verdict of every gap rule on a buffer, given its list, which is known to be right (sg_gaps.c). */
void o2_sg_check_gaps(const struct o2_buffer *buffer, const struct o2_sg_list *list, uint32_t page_bytes,
		      struct o2_report *report);

/* The result of a case. */
struct o2_sg_outcome {
	struct o2_sg_expected expected;
	struct o2_sg_list list;
	struct o2_error error; /* code 0: accepted */
	uint32_t refusal;      /* index of the expected refusal that was reported */
};

/* Run o2_sg_build and compare it with the expected result; a failure fills *report. */
void o2_sg_check(const struct o2_buffer *buffer, const struct o2_address_space *space, uint32_t max_entries,
		 struct o2_sg_outcome *outcome, struct o2_report *report);

struct o2_sg_run {
	struct o2_tally tally; /* first: props/engine/tally.h */
	struct o2_case_sg asked;
	struct o2_sg_outcome outcome;
};

/* *run: owned by the caller, zeroed before the first case. */
struct o2_property o2_sg_property(struct o2_sg_run *run);

#endif
