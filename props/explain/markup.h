/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_MARKUP_H
#define O2_PROPS_MARKUP_H

#include <stddef.h>
#include <stdio.h>

/* Write text so that HTML, SVG and XML take it as text, also between double quotes. */
void o2_markup_text(const char *text, size_t length, FILE *out);

#endif
