/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_HELD_H
#define O2_PROPS_HELD_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "props/engine/process_held.h"

/*
 * Device resources that this process holds: pinned memory as the kernel accounts it, and the objects of the
 * in-process device.  They must be the same before a rung is opened and after it was closed
 * (docs/properties.md, "Nothing is left").
 */
struct o2_held {
	uint64_t pinned_kib; /* VmPin of proc(5): 0 unless a kernel device pins memory */
	uint32_t regions;    /* loopverbs objects, 0 on any other device, also those below */
	uint32_t windows;
	uint32_t queue_pairs;
	uint32_t others;		/* domains, queues, contexts, ... */
	struct o2_process_held process; /* for an end's process; zero for this one, which the runner checks */
};

void o2_held_now(struct o2_held *held);

/* Add *one to *sum, to total several processes. */
void o2_held_add(struct o2_held *sum, const struct o2_held *one);

bool o2_held_equal(const struct o2_held *a, const struct o2_held *b);

/*
 * Add "held" to a result: {before, most, after}, each an object of the members above.  If after differs from
 * before, also add a finding "left-behind", or "PROPERTY/left-behind-process" for the ends' processes.
 * Returns true when nothing is left.
 */
bool o2_held_to_json(const struct o2_held *before, const struct o2_held *most, const struct o2_held *after,
		     json_t *result);

#endif
