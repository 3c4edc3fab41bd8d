/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_END_LIFE_H
#define O2_PROPS_END_LIFE_H

#include "props/world/end.h"
#include "props/world/held.h"

/*
 * The life of an end that has a process to itself, whoever asks it and however (props/world/end_process.h,
 * props/world/far.h): the device is opened, questions are answered, and in the end it is said what was held.
 */

/* What it held of the device: before it opened it, before it closed it, and afterwards; what its judge has heard. */
struct o2_end_farewell {
	struct o2_held before, most, after;
	struct o2_judged judged;
};

struct o2_end_life {
	struct o2_network *network;
	struct o2_end end;
	bool open; /* end is */
	struct o2_end_question question;
	struct o2_end_answer answer; /* of the opening, then of each question */
	struct o2_end_farewell farewell;
};

/* Open the end: ->answer.code is 0, or what o2_end_open said, and ->answer.nid. */
void o2_end_life_begin(struct o2_end_life *life, const struct o2_end_config *config,
		       o2_network_open_fn open_network);

/* Do what ->question asks, all but QUIT; ->answer says how it went. */
void o2_end_life_answer(struct o2_end_life *life);

/* Nothing is asked: handle what is there, or sleep until something is, or fd is readable.  May return at once. */
void o2_end_life_idle(struct o2_end_life *life, int fd);

/* Nothing will be asked any more: close everything, within a bound of time, and fill ->farewell. */
void o2_end_life_over(struct o2_end_life *life);

#endif
