/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_HOSTILE_LINE_H
#define O2_PROPS_HOSTILE_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "props/hostile/hostile_victim.h"

/*
 * What is said between a victim in a process of its own and the one who gives it orders: a line each way.
 * Source: docs/hostile.md, "A victim of its own process".
 */

#define O2_LINE_BYTES 512u

/* An order, or "settle": let everything happen that can. */
struct o2_victim_line {
	bool settle;
	struct o2_victim_order order;
};

/* "put 5000 fastreg".  A value that is not said is 0, a mode "global". */
void o2_line_order(const struct o2_victim_line *line, char text[O2_LINE_BYTES]);
bool o2_line_read_order(const char *text, struct o2_victim_line *line);

/* work: events that the victim has handled since it was last asked to settle. */
void o2_line_answer(const struct o2_victim_answer *answer, uint32_t work, char text[O2_LINE_BYTES]);
bool o2_line_read_answer(const char *text, struct o2_victim_answer *answer, uint32_t *work);

#endif
