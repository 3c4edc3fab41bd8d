/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_MARKUP_H
#define O2_PROPS_MARKUP_H

#include <stddef.h>
#include <stdio.h>

/*
 * HTML, SVG and XML with text in it: &, <, > and " are escaped, control characters but a line's end left out.
 */

/* Markup with a place %s for each text. */
void o2_markup(FILE *out, const char *markup, ...) __attribute__((format(printf, 2, 3)));

/* Text that does not end with a zero. */
void o2_markup_text(const char *text, size_t length, FILE *out);

#endif
