/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_PARTS_H
#define O2_PROPS_PARTS_H

#include "lst/wire/msg.h"
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

/*
 * Any bytes as a message of LNet selftest: refused, or read, as a model of widths says, and written again in either byte
 * order.  True: *msg was read, and holds; *same: 160 bytes, what is written of it in its own order.
 */
bool o2_parts_lst_bytes(const uint8_t *bytes, size_t length_bytes, struct o2_lst_msg *msg, uint8_t *same,
			struct o2_report *report);

#endif
