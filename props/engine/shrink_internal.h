/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_SHRINK_INTERNAL_H
#define O2_PROPS_SHRINK_INTERNAL_H

#include "props/engine/shrink.h"

/* Shared by the shrinker's engine (shrink.c) and its passes (shrink_passes.c); not for other files. */

struct o2_shrinker {
	o2_run_fn run;
	void *context;
	uint32_t max_calls;
	struct o2_shrink_report report;
	struct o2_choice *best;	 /* the smallest failing case so far, as run */
	struct o2_choice *trial; /* scratch for the next run */
	uint8_t candidate[O2_CHOICE_MAX_BYTES];
	size_t candidate_bytes;
	uint64_t *tried; /* open-addressed set of hashes; 0 = free */
	size_t tried_mask;
};

/* Make the candidate a copy of best, to be edited. */
void o2_shrink_copy_best(struct o2_shrinker *s);

/* Run the candidate and keep it as best if it fails and its record is smaller.  The record may differ from
 * the candidate's bytes. */
bool o2_shrink_try(struct o2_shrinker *s);

/* Repeat all passes until none makes progress or the calls are spent. */
void o2_shrink_to_rest(struct o2_shrinker *s);

#endif
