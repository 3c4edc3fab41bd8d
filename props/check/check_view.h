/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_CHECK_VIEW_H
#define O2_PROPS_CHECK_VIEW_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <jansson.h>

/* Members of a result, for its views (terminal, JUnit, HTML page).  A missing member reads as "", 0 or false. */
const char *o2_view_text(const json_t *object, const char *key);
/* The first element of the object's array `key` whose member `name` is that text; NULL: there is none. */
const json_t *o2_view_find(const json_t *object, const char *key, const char *name, const char *text);
uint64_t o2_view_number(const json_t *object, const char *key);
bool o2_view_flag(const json_t *object, const char *key);

/* "new", "the same", or "" if there is no earlier result. */
const char *o2_view_since(const json_t *finding);

/* As o2_view_since, for a cause: "new" if one of its findings is. */
const char *o2_view_cause_since(const json_t *findings, uint64_t cause);

/* Write "; shrunk from ... to ..." if the finding was shrunk. */
void o2_view_shrunk(const json_t *finding, FILE *out);

/*
 * The cell of a stage in the table of results.  What was not asked is said beside a pass too: it limits what the
 * pass proves.
 */
#define O2_VIEW_CELL_BYTES 128u
void o2_view_cell(const json_t *stage, char cell[O2_VIEW_CELL_BYTES]);

#endif
