/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_ENDS_H
#define O2_PROPS_ENDS_H

#include "judge/end/end_judge.h"
#include "judge/end/watch_line.h"
#include "props/judge/hearing.h"

/*
 * The conversation of a hearing as one end of it hears it: every event is encoded as a line, read back, and given
 * as bytes to the judge of that end.  Its findings must equal those of a judge that is told the events directly.
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
	uint64_t now_ms, id; /* now_ms: clock of the end's judge; id: of the open connection, 0: none */
	bool opened;	     /* both judges were created */
	uint64_t lacks_at;   /* event in which the end's first allocation fails; 0: none */
	bool is_short;	     /* the allocation failed */
	struct o2_judge *plain;
	struct o2_judge_conn *conn;
	struct o2_end_judge *end;
	struct o2_end_heard heard; /* expected counts */
	struct o2_ends_found plainly, at_end;
	struct o2_msg msg;
	uint8_t bytes[O2_MSG_BYTES], read[O2_MSG_BYTES];
	char line[O2_WATCH_LINE_BYTES], expected[O2_WATCH_LINE_BYTES];
};

/* The tap of a hearing; context: a struct o2_ends whose member h is set and all others are zero. */
void o2_ends_hear(void *context, const struct o2_judge_event *event);
/* End the last connection, and free both judges. */
void o2_ends_close(struct o2_ends *ends);

#endif
