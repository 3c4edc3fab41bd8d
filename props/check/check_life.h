/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_CHECK_LIFE_H
#define O2_PROPS_CHECK_LIFE_H

#include <stdio.h>

#include "props/check/check_both.h"

/*
 * Draw the answers over time, and return a new JSON string; null for another stage or an answer that is no result.
 * keys: a life line per answer; event by event the requests posted, the key alive on the device and the key
 * published; differences are red. setup: bars that show how long the implementation holds each resource. flow: two
 * ladders of what arrives, is sent and waits; the implementation's first fault is red, what follows is pale.
 */
json_t *o2_check_life(const struct o2_check_both *both);

/* --- for the files that draw one stage each --- */

#define O2_LIFE_RED "#c8102e"

/* Write the beginning of a picture; sizes are in pixels. */
void o2_check_life_open(FILE *out, int width, int height);
/* Write a line of text; differs: in red and bold. */
void o2_check_life_text(FILE *out, int x, int y, bool differs, const char *text);

void o2_check_life_keys(const struct o2_check_both *both, FILE *out);
void o2_check_life_flow(const struct o2_check_both *both, FILE *out);
void o2_check_life_setup(const struct o2_check_both *both, FILE *out);

#endif
