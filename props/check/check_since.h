/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_CHECK_SINCE_H
#define O2_PROPS_CHECK_SINCE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/*
 * A result held against an earlier one: which causes are new, the same, or gone (docs/oracle.md, "Then and
 * now").  Both are of form "o2ref/check_result"; implementations are paired in the order in which they are.
 */

/* Read an earlier result from a file; the caller's.  NULL with a line in text. */
json_t *o2_check_since_read(const char *path, char *text, size_t text_bytes);

/* Findings of an implementation in an earlier result, by its place; NULL: it has none of that place. */
const json_t *o2_check_since_findings(const json_t *old, size_t place);

/*
 * Write into a result what became of each cause: "since" into its findings, "gone" into its implementations,
 * "since" into itself.
 */
void o2_check_since(json_t *result, const json_t *old, const char *path);

/* Is there a cause that counts and is new? */
bool o2_check_since_has_new(const json_t *result);

#endif
