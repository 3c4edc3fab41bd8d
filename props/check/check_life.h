/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_CHECK_LIFE_H
#define O2_PROPS_CHECK_LIFE_H

#include <stdio.h>

#include "props/check/check_both.h"

/*
 * A conversation of stage keys as a life line: event by event what the reference and the implementation hand
 * over, which key is alive on the device, and what is published; red where they differ.  One of setup as bars:
 * how long the implementation holds what.  One of flow as two ladders: event by event what arrives, what is sent
 * and what waits; red is the implementation's first fault, pale what follows it.  A new JSON string, or null for
 * another stage, or an answer that is none.
 */
json_t *o2_check_life(const struct o2_check_both *both);

/* --- for its parts --- */

#define O2_LIFE_RED "#c8102e"

/* The beginning of a picture of so many pixels. */
void o2_check_life_open(FILE *out, int width, int height);
/* A line of text; differs: red and bold. */
void o2_check_life_text(FILE *out, int x, int y, bool differs, const char *text);

void o2_check_life_keys(const struct o2_check_both *both, FILE *out);
void o2_check_life_flow(const struct o2_check_both *both, FILE *out);
void o2_check_life_setup(const struct o2_check_both *both, FILE *out);

#endif
