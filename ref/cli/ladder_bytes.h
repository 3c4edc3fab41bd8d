/* SPDX-License-Identifier: MIT */
#ifndef O2_CLI_LADDER_BYTES_H
#define O2_CLI_LADDER_BYTES_H

#include <stdio.h>

#include "cli/ladder.h"

/* What the bytes of an event say, and how they are shown. */

/* At most one of msg and reject is not NULL, until the next event is asked for; refused: why none is. */
struct o2_ladder_said {
	const struct o2_msg *msg;
	const struct o2_reject *reject;
	struct o2_error refused; /* code 0: nothing was */
};

/* Returns false, and nothing is said, for an event without bytes. */
bool o2_ladder_say(const struct o2_ladder *ladder, const struct o2_ladder_event *event,
		   struct o2_ladder_said *said);

/* A table of its fields: offset, bytes, name and value; those that findings are about are marked. */
void o2_ladder_bytes_html(const struct o2_ladder *ladder, const struct o2_ladder_event *event, FILE *out);

#endif
