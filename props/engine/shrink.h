/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_SHRINK_H
#define O2_PROPS_SHRINK_H

#include "props/engine/choice.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Make a failing case small (docs/properties.md, "Shrinking"): of all strings tried that fail in the same
 * way, keep the first in shortlex order.
 */

#define O2_SHRINK_MAX_CALLS	(1u << 20) /* bounds the set of strings already tried to 16 MiB */
#define O2_SHRINK_DEFAULT_CALLS 20000u

/*
 * Run one case: draw from c (which replays a candidate) and return its outcome.  Return INTERESTING only for
 * the failure signature of the first case; report another failure as VALID (and keep it aside if it is new).
 * The shrinker then reads c: the draws, the spans and the canonical bytes guide it.  To run a case in a
 * child, run it on a copy of *c in shared memory and copy that back; or call o2_choice_opaque(c).
 */
typedef enum o2_status (*o2_run_fn)(void *context, struct o2_choice *c);

struct o2_shrink_report {
	uint32_t calls;	     /* calls of run */
	uint32_t accepted;   /* candidates that made the case smaller */
	uint32_t duplicates; /* candidates skipped because they had been run before */
	size_t before_bytes; /* length of the record of the first case (before) and the last (after) */
	size_t after_bytes;
	bool out_of_calls; /* the calls were spent before the passes stopped making progress */
};

/*
 * Shrink bytes in place.
 *
 * bytes: a failing case of *length_bytes <= O2_CHOICE_MAX_BYTES, in a buffer of O2_CHOICE_MAX_BYTES.  On
 * return it holds the smallest case found.  max_calls: 3..O2_SHRINK_MAX_CALLS.  report may be NULL. The
 * result is deterministic if run is.
 *
 * Returns 0; -EINVAL for a length or max_calls out of range; -ENOMEM; -ESTALE if the first case does not
 * fail, or if the last one does not fail again when repeated (bytes then holds the first case: the failure is
 * not a function of its bytes).
 */
int o2_shrink(o2_run_fn run, void *context, uint8_t *bytes, size_t *length_bytes, uint32_t max_calls,
	      struct o2_shrink_report *report);

#endif
