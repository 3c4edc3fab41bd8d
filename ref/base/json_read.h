/* SPDX-License-Identifier: MIT */
#ifndef O2_BASE_JSON_READ_H
#define O2_BASE_JSON_READ_H

#include <stddef.h>

#include <jansson.h>

/*
 * JSON from outside, read by jansson.  jansson takes a character for read whether or not it had memory to keep it; so
 * here it is never refused memory while it reads, and what it made after it should have been is thrown away.
 *
 * flags: jansson's.  The caller owns what is returned.  NULL: *where says why and where, lines counted from 1; where
 * memory did not suffice, or the file cannot be opened or read, the line is 0.  Not from two threads at a time, since
 * jansson's allocation functions are the process's.
 */
json_t *o2_json_read(const char *text, size_t length_bytes, size_t flags, json_error_t *where);

/* The same of a whole file. */
json_t *o2_json_read_file(const char *path, size_t flags, json_error_t *where);

/* What is wrong, in words: "why (line N)", or "why".  Returns text. */
const char *o2_json_where(const json_error_t *where, char *text, size_t text_bytes);

#endif
