/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_HELD_H
#define O2_PROPS_HELD_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "props/engine/process_held.h"

/*
 * What this process holds of a device: pinned memory by the kernel's own account, and the objects of the
 * in-process device.  Before a rung is opened and after it was closed it must be the same
 * (docs/properties.md, "Nothing is left").
 */
struct o2_held {
	uint64_t pinned_kib; /* VmPin of proc(5): 0 unless a kernel device pins memory */
	uint32_t regions;    /* of loopverbs, 0 on any other device */
	uint32_t windows;
	uint32_t queue_pairs;
	uint32_t others;		/* domains, queues, contexts, ... */
	struct o2_process_held process; /* of an end's process; zeros of this one, which the runner judges */
};

void o2_held_now(struct o2_held *held);

/* What several processes hold. */
void o2_held_add(struct o2_held *sum, const struct o2_held *one);

bool o2_held_equal(const struct o2_held *a, const struct o2_held *b);

/*
 * Put "held" into a result: {before, most, after}, each an object of the members above; and when after is
 * not what before was, a finding "left-behind", or of the ends' processes "PROPERTY/left-behind-process".
 * Returns true when nothing is left.
 */
bool o2_held_to_json(const struct o2_held *before, const struct o2_held *most, const struct o2_held *after,
		     json_t *result);

#endif
