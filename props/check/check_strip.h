/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_CHECK_STRIP_H
#define O2_PROPS_CHECK_STRIP_H

#include <stdint.h>
#include <stdio.h>

#include "props/check/check_both.h"

/*
 * What an implementation's own answer does with the bytes, drawn beside what has to become of them: a bar for
 * each side, from the first byte of the transfer to the last; red where a byte is wrong, lost, or one too
 * many.  Of send_plan: the bytes of the message, cut by what gathers them.
 *
 * A new JSON string with an SVG picture that needs nothing but
 * itself, or null: there are no bytes in either answer, or both have them at the same places.
 */
json_t *o2_check_strip(const struct o2_check_both *both);

/* --- for its parts --- */

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

/* How a byte of that fate is drawn. */
extern const char *const o2_strip_kinds[O2_STRIP_FATES];

/* The picture begins; who draws ends it with </svg>. */
void o2_strip_open(double height, FILE *out);
void o2_strip_label(double x, double y, const char *text, FILE *out);
/* A stretch of a bar; its <title> and </rect> are still to come. */
void o2_strip_run(double y, double x, double width, const char *kind, FILE *out);
/* How many bytes there are of each fate. */
void o2_strip_counts(double y, const char *name, const uint64_t bytes[O2_STRIP_FATES], FILE *out);

/* Writes nothing where nothing is wrong. */
void o2_check_strip_send(const struct o2_check_both *both, FILE *out);

#endif
