/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_KEYS_H
#define O2_PROPS_KEYS_H

#include "props/engine/property.h"
#include "props/engine/tally.h"
#include "props/model/keys_model.h"
#include "reg/pool/pool_frd.h"

/*
 * The property: after any sequence of steps the life of a key (reg/pool/pool_frd.h) is what a model of flags
 * says, and a strict device agrees with every request (docs/properties.md, "The keys property").
 *
 *   - the key that is published is the one that gets bound, and it was never bound before;
 *   - each key is invalidated once at most, and a chain is posted once;
 *   - a step that the state does not allow is refused and changes nothing;
 *   - under invalidate last nothing is alive once the mapping was given up.
 */

#define O2_KEYS_STEPS 120u /* of a case, at most: fewer than a low byte has numbers */

/* A device with one region, which holds one key or none. */
struct o2_key_device {
	bool bound;
	uint32_t key;
	uint32_t region;
	bool was_bound[256];	   /* by low byte, of this region */
	bool was_invalidated[256]; /* likewise */
};

struct o2_keys_run {
	struct o2_tally tally; /* first: props/engine/tally.h */
	uint8_t low;
	struct o2_key_step step[O2_KEYS_STEPS];
	int code[O2_KEYS_STEPS]; /* what each step answered */
	uint32_t steps;
	struct o2_frd_key key;
	struct o2_key_model model;
	struct o2_key_device device;
};

/* *run: zeros at first, the caller's. */
struct o2_property o2_keys_property(struct o2_keys_run *run);

#endif
