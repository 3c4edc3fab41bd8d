/* SPDX-License-Identifier: MIT */
#ifndef O2_ORACLE_JUDGE_H
#define O2_ORACLE_JUDGE_H

#include <jansson.h>
#include <stddef.h>

#include "oracle/check.h"

/*
 * The error map of an implementation: a file by its author that says which error name stands for which rules
 * (docs/oracle.md, "Error map").  The list of known differences is in known.h.
 *
 *   {"form": "o2ref/error_map", "version": 1,
 *    "errors": {"BadLength": "sg/nob", "BadPage": ["sg/kiov/no-such-page", "dma/no-such-page"]}}
 *
 * A rule that ends with "*" stands for all rules with that prefix.
 */
struct o2_error_map {
	json_t *errors; /* NULL: no map */
};

enum o2_map_answer {
	O2_MAP_UNKNOWN, /* the name is neither in the map nor a rule id: it cannot be compared */
	O2_MAP_AGREES,
	O2_MAP_DIFFERS,
};

/* Read a map from a file.  Returns 0, or -EINVAL or -errno with a line in text. */
int o2_error_map_read(const char *path, struct o2_error_map *map, char *text, size_t text_bytes);
void o2_error_map_free(struct o2_error_map *map);

/* Does the implementation's name stand for the reference's rule? */
enum o2_map_answer o2_error_map_compare(const struct o2_error_map *map, const char *name, const char *rule);

/* Load a JSON file that has the named form.  The caller owns the result; NULL with a line in text. */
json_t *o2_form_load(const char *path, const char *form, char *text, size_t text_bytes);

#endif
