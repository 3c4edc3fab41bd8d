/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_SCENES_H
#define O2_PROPS_SCENES_H

#include "props/judge/hearing.h"

/*
 * A scene goes up to the boundary of a rule, in a conversation that is honest up to then: broken, it goes one
 * further, and says which finding that has to be.  Some cannot be played in some conversations, and do nothing.
 */
struct o2_scene {
	enum o2_judge_rule_id rule;
	void (*play)(struct o2_hearing *h, bool broken);
};

#define O2_SCENES_MESSAGE  12u
#define O2_SCENES_CREDITS  7u
#define O2_SCENES_TRANSFER 12u
#define O2_SCENES_WRITE	   7u
#define O2_SCENES_PAYLOAD  2u

extern const struct o2_scene o2_scenes_message[O2_SCENES_MESSAGE];
extern const struct o2_scene o2_scenes_credits[O2_SCENES_CREDITS];
extern const struct o2_scene o2_scenes_transfer[O2_SCENES_TRANSFER];
extern const struct o2_scene o2_scenes_write[O2_SCENES_WRITE];
extern const struct o2_scene o2_scenes_payload[O2_SCENES_PAYLOAD];

/* A connection that is asked for, answered or refused, a few times: all of its findings are foretold. */
void o2_scene_connect(struct o2_hearing *h);
/* One connection that is asked for, of which the answer is a reject that can be sent. */
void o2_scene_refused(struct o2_hearing *h);
/* More transfers than are followed at a time: what is open is forgotten, and nothing is found. */
void o2_scene_many(struct o2_hearing *h);
/* An allocation of the judge's fails, where the program can do that. */
void o2_scene_no_memory(struct o2_hearing *h);
/* The same memory under one key, twice: found, unless there is too much to compare. */
void o2_scene_wide(struct o2_hearing *h);

#endif
