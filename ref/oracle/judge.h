/* SPDX-License-Identifier: MIT */
#ifndef O2_ORACLE_JUDGE_H
#define O2_ORACLE_JUDGE_H

#include <jansson.h>
#include <stddef.h>

#include "oracle/check.h"

/*
 * What the author of an implementation may say about it: which of its error names stands for which rules
 * (docs/oracle.md, "Error map").  Which differences are known: known.h.
 *
 *   {"form": "o2ref/error_map", "version": 1,
 *    "errors": {"BadLength": "sg/nob", "BadPage": ["sg/kiov/no-such-page", "dma/no-such-page"]}}
 *
 * A rule that ends with "*" stands for all that begin so.
 */
struct o2_error_map {
	json_t *errors; /* NULL: no map */
};

enum o2_map_answer {
	O2_MAP_UNKNOWN, /* the name is in no map and is no rule's id: nothing to compare */
	O2_MAP_AGREES,
	O2_MAP_DIFFERS,
};

/* Read a map from a file.  Returns 0, or -EINVAL or -errno with a line in text. */
int o2_error_map_read(const char *path, struct o2_error_map *map, char *text, size_t text_bytes);
void o2_error_map_free(struct o2_error_map *map);

/* Does the implementation's name stand for the reference's rule? */
enum o2_map_answer o2_error_map_compare(const struct o2_error_map *map, const char *name, const char *rule);

/* Load a JSON file that is the named form; the caller's.  NULL with a line in text. */
json_t *o2_form_load(const char *path, const char *form, char *text, size_t text_bytes);

#endif
