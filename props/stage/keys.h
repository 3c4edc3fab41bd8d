/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_KEYS_H
#define O2_PROPS_KEYS_H

#include "props/engine/property.h"
#include "props/engine/tally.h"
#include "props/model/keys_model.h"
#include "reg/pool/pool_frd.h"

/*
 * The property: after any sequence of steps, the state of a key (reg/pool/pool_frd.h) equals that of a model of
 * flags, and a strict device accepts every request (docs/properties.md, "The keys property").
 *
 *   - the key that is published is the one that is bound next, and it was never bound before;
 *   - each key is invalidated at most once, and a chain is posted once;
 *   - a step that the state does not allow is refused and changes nothing;
 *   - under invalidate last no key is alive after the mapping has been given up.
 */

#define O2_KEYS_STEPS 120u /* most steps of a case: fewer than the values of a key's low byte */

/* A device with one region, which has one bound key or none. */
struct o2_key_device {
	bool bound;
	uint32_t key;
	uint32_t region;
	bool was_bound[256];	   /* by low byte of the keys of this region */
	bool was_invalidated[256]; /* likewise */
};

struct o2_keys_run {
	struct o2_tally tally; /* first: props/engine/tally.h */
	uint8_t low;
	struct o2_key_step step[O2_KEYS_STEPS];
	int code[O2_KEYS_STEPS]; /* what each step returned */
	uint32_t steps;
	struct o2_frd_key key;
	struct o2_key_model model;
	struct o2_key_device device;
};

/* *run: owned by the caller, zeroed before the first case. */
struct o2_property o2_keys_property(struct o2_keys_run *run);

#endif
