/* SPDX-License-Identifier: MIT */
#ifndef O2_BASE_JSON_READ_H
#define O2_BASE_JSON_READ_H

#include <stddef.h>

#include <jansson.h>

/*
 * Read JSON from outside with jansson.  Without memory to keep a character, jansson goes on as if it had kept it.
 * So here no allocation is refused while jansson reads; if memory was short, the result is thrown away.
 *
 * flags: jansson's.  The caller owns the result.  NULL: *where says why and where, with lines counted from 1; the
 * line is 0 if memory was short, or the file cannot be opened or read.  Only one thread may read at a time:
 * jansson's allocation functions are global.
 */
json_t *o2_json_read(const char *text, size_t length_bytes, size_t flags, json_error_t *where);

/* The same for a whole file. */
json_t *o2_json_read_file(const char *path, size_t flags, json_error_t *where);

/*
 * For a value that is made, used and thrown away thousands of times a second: between these two, jansson takes
 * memory from an arena, and _end throws the value (NULL: none) away whole.  All else that jansson makes in between
 * must be freed there, and nothing from before.  The two do not nest.
 */
void o2_json_arena_begin(void);
void o2_json_arena_end(json_t *value);

/* Describe the error in text: "why (line N)", or "why".  Returns text. */
const char *o2_json_where(const json_error_t *where, char *text, size_t text_bytes);

#endif
