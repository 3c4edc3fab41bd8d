/* SPDX-License-Identifier: MIT */
#ifndef O2_CLI_LADDER_BYTES_H
#define O2_CLI_LADDER_BYTES_H

#include <stdio.h>

#include "cli/ladder.h"

/* Decoding and showing the bytes of an event. */

/* At most one of msg and reject is not NULL, valid until the next o2_ladder_say; refused: why neither is set. */
struct o2_ladder_said {
	const struct o2_msg *msg;
	const struct o2_reject *reject;
	struct o2_error refused; /* code 0: nothing was refused */
};

/* Decode the event's bytes.  Returns false, with *said empty, for an event without bytes. */
bool o2_ladder_say(const struct o2_ladder *ladder, const struct o2_ladder_event *event,
		   struct o2_ladder_said *said);

/* A table of the fields: offset, bytes, name and value.  Fields that a finding is about are marked. */
void o2_ladder_bytes_html(const struct o2_ladder *ladder, const struct o2_ladder_event *event, FILE *out);

#endif
