/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_CHECK_DRAW_STAGE_H
#define O2_PROPS_CHECK_DRAW_STAGE_H

#include "oracle/case.h"
#include "props/engine/choice.h"

/* How questions of a stage of version 2 are drawn and classified; one file per stage. */
struct o2_draw_stage {
	/* Fill the whole part of the stage in *drawn.  If all choices are 0, draw the simplest question. */
	void (*draw)(struct o2_choice *c, struct o2_case *drawn);
	/* Set O2_STEER_FEATURES values, each below O2_STEER_VALUES.  f is zeroed before. */
	void (*features)(const struct o2_case *asked, uint8_t *f);
};

/* NULL for a stage of version 1. */
const struct o2_draw_stage *o2_draw_stage(enum o2_stage stage);

extern const struct o2_draw_stage o2_draw_device, o2_draw_chain, o2_draw_connect, o2_draw_deliver,
	o2_draw_keys, o2_draw_send, o2_draw_setup, o2_draw_flow;

/* Draw a limit: mostly one of 1 to most, seldom 0 or most + 1, more seldom any value. */
uint32_t o2_draw_limit(struct o2_choice *c, uint32_t most);

/*
 * Draw how many pages a registration holds, which a scenario does not say. Must be drawn last: committed choices
 * end before this draw, and keep their meaning.
 */
void o2_draw_max_pages(struct o2_choice *c, struct o2_case_node *node);

#endif
