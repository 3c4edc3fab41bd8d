/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_CHECK_SINCE_H
#define O2_PROPS_CHECK_SINCE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "oracle/compare.h"

/*
 * Compare a result with an earlier one: which findings are new, the same, or gone (docs/oracle.md, "Then and now").
 * Both have the form "o2ref/check_result"; implementations are paired by their index.
 */

/* Read an earlier result from a file.  The caller owns it.  NULL: failed, with a line in text. */
json_t *o2_check_since_read(const char *path, char *text, size_t text_bytes);

/* Findings of the implementation at index `place` of an earlier result; NULL: there is no such index. */
const json_t *o2_check_since_findings(const json_t *old, size_t place);

/*
 * Did the earlier result's finding of the cause `explains` explain `difference` there?  True if it had no such
 * finding, so that a new finding may explain what comes with it.
 */
bool o2_check_since_explained(const json_t *findings, enum o2_stage stage,
			      const struct o2_difference *explains, const struct o2_difference *difference);

/*
 * Write into the result what became of the findings: "since" into each, "gone" into each implementation,
 * "since" into the result itself.
 */
void o2_check_since(json_t *result, const json_t *old, const char *path);

/* Does the result have a new finding that counts, or drop some for a check that dropped none before? */
bool o2_check_since_has_new(const json_t *result, const json_t *old);

#endif
