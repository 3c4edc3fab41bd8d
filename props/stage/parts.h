/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_PARTS_H
#define O2_PROPS_PARTS_H

#include "lst/wire/msg.h"
#include "props/engine/property.h"
#include "props/engine/tally.h"
#include "props/model/reject_model.h"

/*
 * The property: what the codec reads and writes besides messages agrees with docs/wire.md: reject records, and NIDs
 * as text (docs/properties.md, "The parts property").
 */

#define O2_PARTS_TEXT_BYTES 80u

struct o2_parts_run {
	struct o2_tally tally; /* first: props/engine/tally.h */
	struct o2_reject record;
	uint8_t bytes[64];
	size_t length_bytes; /* of the decoder's input, or of the room for the encoder's output */
	char text[O2_PARTS_TEXT_BYTES];
};

/* *run: owned by the caller, zeroed before the first case. */
struct o2_property o2_parts_property(struct o2_parts_run *run);

/*
 * Decode bytes as a message of LNet selftest, check the result against a model of widths, and encode it in either
 * byte order.  True: *msg is a valid message; *same: the 160 bytes that encoding it in its own order gives.
 */
bool o2_parts_lst_bytes(const uint8_t *bytes, size_t length_bytes, struct o2_lst_msg *msg, uint8_t *same,
			struct o2_report *report);

#endif
