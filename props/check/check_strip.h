/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_CHECK_STRIP_H
#define O2_PROPS_CHECK_STRIP_H

#include <stdint.h>
#include <stdio.h>

#include "props/check/check_both.h"

/*
 * Draw where an answer puts the bytes, compared with where they belong: one bar per side, from the first byte of
 * the transfer to the last; wrong, lost and superfluous bytes are red. For send_plan the bar is the message,
 * divided by gather entry.
 * Returns a new JSON string with a self-contained SVG picture, or null if the answers have no bytes or place them
 * alike.
 */
json_t *o2_check_strip(const struct o2_check_both *both);

/* --- for the files that draw a strip --- */

#define O2_STRIP_LEFT	130.0
#define O2_STRIP_WIDTH	850.0
#define O2_STRIP_MARGIN 20.0
#define O2_STRIP_BAR	22.0

enum o2_strip_fate {
	O2_STRIP_RIGHT,
	O2_STRIP_WRONG,
	O2_STRIP_LOST,
	O2_STRIP_TOO_MANY,
	O2_STRIP_FATES,
};

/* CSS class of a byte, by its fate. */
extern const char *const o2_strip_kinds[O2_STRIP_FATES];

/* Begin the picture.  The caller must end it with </svg>. */
void o2_strip_open(double height, FILE *out);
void o2_strip_label(double x, double y, const char *text, FILE *out);
/* Begin a stretch of a bar.  The caller must add <title> and </rect>. */
void o2_strip_run(double y, double x, double width, const char *kind, FILE *out);
/* Write how many bytes have each fate. */
void o2_strip_counts(double y, const char *name, const uint64_t bytes[O2_STRIP_FATES], FILE *out);

/* Draw the strip of send_plan.  Writes nothing if nothing is wrong. */
void o2_check_strip_send(const struct o2_check_both *both, FILE *out);

#endif
