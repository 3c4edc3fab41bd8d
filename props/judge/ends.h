/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_ENDS_H
#define O2_PROPS_ENDS_H

#include "judge/end/end_judge.h"
#include "judge/end/watch_line.h"
#include "props/judge/hearing.h"

/*
 * The same conversation as one end of it hears it: every event is said as a line, read, and told to the judge at
 * an end, as bytes.  What that finds has to be what a judge finds that is told the events themselves.
 */

#define O2_ENDS_FINDINGS 64u

struct o2_ends_found {
	struct o2_judge_finding finding[O2_ENDS_FINDINGS];
	bool ours[O2_ENDS_FINDINGS];
	uint32_t count;
};

struct o2_ends {
	struct o2_hearing *h;
	enum o2_judge_side us;
	uint64_t now_ms, id; /* of the connection that is open; 0: none */
	bool opened;	     /* there is memory for both */
	uint64_t lacks_at;   /* the first allocation of the end's own in that event is refused; 0: none is */
	bool is_short;	     /* it was */
	struct o2_judge *plain;
	struct o2_judge_conn *conn;
	struct o2_end_judge *end;
	struct o2_end_heard heard; /* foretold */
	struct o2_ends_found plainly, at_end;
	struct o2_msg msg;
	uint8_t bytes[O2_MSG_BYTES], read[O2_MSG_BYTES];
	char line[O2_WATCH_LINE_BYTES], expected[O2_WATCH_LINE_BYTES];
};

/* The tap of a hearing; context: struct o2_ends, of which h is set and the rest zero. */
void o2_ends_hear(void *context, const struct o2_judge_event *event);
/* The last connection is gone. */
void o2_ends_close(struct o2_ends *ends);

#endif
