/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_SHRINK_H
#define O2_PROPS_SHRINK_H

#include "props/engine/choice.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Make a failing case small (docs/properties.md, "Shrinking"): of all strings tried that fail in the same
 * way, the one that comes first in shortlex order.
 */

#define O2_SHRINK_MAX_CALLS	(1u << 20) /* bounds the memory of the set of strings already tried: 16 MiB */
#define O2_SHRINK_DEFAULT_CALLS 20000u

/*
 * Run one case: draw from c (which replays a candidate) and say what became of it.  Return INTERESTING only
 * for the same failure signature as that of the first case; another failure is VALID here (keep it aside if
 * it is new). The shrinker afterwards reads c: the draws, the spans and the canonical bytes guide it.  A case
 * that ran in a child: run it on a copy of *c in shared memory and copy that back; or call
 * o2_choice_opaque(c).
 */
typedef enum o2_status (*o2_run_fn)(void *context, struct o2_choice *c);

struct o2_shrink_report {
	uint32_t calls;	     /* of run */
	uint32_t accepted;   /* steps that made the case smaller */
	uint32_t duplicates; /* candidates not run because they had been before */
	size_t before_bytes; /* length of the record of the first case, and of the last */
	size_t after_bytes;
	bool out_of_calls; /* the budget ended before the passes came to rest */
};

/*
 * Shrink bytes in place.
 *
 * bytes: a failing case of *length_bytes <= O2_CHOICE_MAX_BYTES, in a buffer of O2_CHOICE_MAX_BYTES.  On
 * return, its smallest known relative.  max_calls: 3..O2_SHRINK_MAX_CALLS.  report may be NULL. Deterministic
 * if run is.
 *
 * Returns 0; -EINVAL for a length or max_calls out of range; -ENOMEM; -ESTALE if the first case does not
 * fail, or the last does not fail again when it is run once more (bytes are then the first case: the failure
 * is not a function of its bytes).
 */
int o2_shrink(o2_run_fn run, void *context, uint8_t *bytes, size_t *length_bytes, uint32_t max_calls,
	      struct o2_shrink_report *report);

#endif
