/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_END_LIFE_H
#define O2_PROPS_END_LIFE_H

#include "props/world/end.h"
#include "props/world/held.h"

/*
 * The life of an end that has its own process, whoever asks it (props/world/end_process.h,
 * props/world/far.h): it opens the device, answers questions, and in the end reports what it held.
 */

/* What it held of the device: before opening it, before closing it, and afterwards; and what its judge heard. */
struct o2_end_farewell {
	struct o2_held before, most, after;
	struct o2_judged judged;
};

struct o2_end_life {
	struct o2_network *network;
	struct o2_end end;
	bool open; /* end is open */
	struct o2_end_question question;
	struct o2_end_answer answer; /* result of the opening, then of each question */
	struct o2_end_farewell farewell;
};

/* Open the end: ->answer has .nid, and .code is 0 or the result of o2_end_open. */
void o2_end_life_begin(struct o2_end_life *life, const struct o2_end_config *config,
		       o2_network_open_fn open_network);

/* Answer ->question, except QUIT, in ->answer. */
void o2_end_life_answer(struct o2_end_life *life);

/* Between questions: handle pending events, or sleep until there are any or fd is readable.  May return at once. */
void o2_end_life_idle(struct o2_end_life *life, int fd);

/* After the last question: close everything, within a bound of time, and fill ->farewell. */
void o2_end_life_over(struct o2_end_life *life);

#endif
