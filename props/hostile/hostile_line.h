/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_HOSTILE_LINE_H
#define O2_PROPS_HOSTILE_LINE_H

#include <stdbool.h>
#include <stdint.h>

#include "props/hostile/hostile_victim.h"

/*
 * The protocol between a victim in its own process and the process that gives it orders: one line each way.
 * Source: docs/hostile.md, "A victim of its own process".
 */

#define O2_LINE_BYTES 512u

/* An order, or "settle": handle all events. */
struct o2_victim_line {
	bool settle;
	struct o2_victim_order order;
};

/* An order as text: "put 5000 fastreg".  A missing value is 0, a missing mode "global". */
void o2_line_order(const struct o2_victim_line *line, char text[O2_LINE_BYTES]);
bool o2_line_read_order(const char *text, struct o2_victim_line *line);

/* work: events that the victim has handled since it was last told to settle. */
void o2_line_answer(const struct o2_victim_answer *answer, uint32_t work, char text[O2_LINE_BYTES]);
bool o2_line_read_answer(const char *text, struct o2_victim_answer *answer, uint32_t *work);

#endif
