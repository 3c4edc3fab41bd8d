/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_PARTS_H
#define O2_PROPS_PARTS_H

#include "props/engine/property.h"
#include "props/engine/tally.h"
#include "props/model/reject_model.h"

/*
 * The property: what the codec reads and writes besides messages is what docs/wire.md says: reject records,
 * and NIDs as text (docs/properties.md, "The parts property").
 */

#define O2_PARTS_TEXT_BYTES 80u

struct o2_parts_run {
	struct o2_tally tally; /* first: props/engine/tally.h */
	struct o2_reject record;
	uint8_t bytes[64];
	size_t length_bytes; /* of what is decoded; of the room for what is encoded */
	char text[O2_PARTS_TEXT_BYTES];
};

/* *run: zeros at first, the caller's. */
struct o2_property o2_parts_property(struct o2_parts_run *run);

#endif
