/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_SCENES_H
#define O2_PROPS_SCENES_H

#include "props/judge/hearing.h"

/*
 * A scene takes an honest conversation up to the boundary of a rule.  If broken is true it goes one step
 * further and predicts the finding.  A scene that is not possible in a conversation does nothing.
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
#define O2_SCENES_AGAIN	   3u

extern const struct o2_scene o2_scenes_message[O2_SCENES_MESSAGE];
extern const struct o2_scene o2_scenes_credits[O2_SCENES_CREDITS];
extern const struct o2_scene o2_scenes_transfer[O2_SCENES_TRANSFER];
extern const struct o2_scene o2_scenes_write[O2_SCENES_WRITE];
extern const struct o2_scene o2_scenes_payload[O2_SCENES_PAYLOAD];
extern const struct o2_scene o2_scenes_again[O2_SCENES_AGAIN];

/* Connections that are requested and then answered or rejected, a few times; all findings are predicted. */
void o2_scene_connect(struct o2_hearing *h);
/* One connection request that is answered by an encodable reject. */
void o2_scene_refused(struct o2_hearing *h);
/* More open transfers than the judge follows: it forgets them, and must find nothing. */
void o2_scene_many(struct o2_hearing *h);
/* An allocation of the judge fails, if the program can make it fail. */
void o2_scene_no_memory(struct o2_hearing *h);
/* The same memory described twice under one key: found, unless there are too many fragments to compare. */
void o2_scene_wide(struct o2_hearing *h);

#endif
