/* SPDX-License-Identifier: MIT */
#ifndef O2_BASE_MARKUP_H
#define O2_BASE_MARKUP_H

#include <stddef.h>
#include <stdio.h>

/*
 * Write HTML, SVG and XML with text that may come from anywhere: &, <, > and " are escaped, ASCII
 * control characters except line ends are left out, and bytes that are not UTF-8 become question marks.
 */

/* Write markup with a %s for each text; attributes are in double quotes. */
void o2_markup(FILE *out, const char *markup, ...) __attribute__((format(printf, 2, 3)));

/* Write text that does not end with a zero. */
void o2_markup_text(const char *text, size_t length, FILE *out);

#endif
