/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_CHECK_SINCE_H
#define O2_PROPS_CHECK_SINCE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/*
 * Compare a result with an earlier one: which causes are new, the same, or gone (docs/oracle.md, "Then and now").
 * Both have the form "o2ref/check_result"; implementations are paired by their index.
 */

/* Read an earlier result from a file.  The caller owns it.  NULL: failed, with a line in text. */
json_t *o2_check_since_read(const char *path, char *text, size_t text_bytes);

/* Findings of the implementation at index `place` of an earlier result; NULL: there is no such index. */
const json_t *o2_check_since_findings(const json_t *old, size_t place);

/*
 * Write into the result what became of each cause: "since" into each finding, "gone" into each implementation,
 * "since" into the result itself.
 */
void o2_check_since(json_t *result, const json_t *old, const char *path);

/* Does the result have a new cause that counts? */
bool o2_check_since_has_new(const json_t *result);

#endif
