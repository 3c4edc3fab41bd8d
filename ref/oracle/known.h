/* SPDX-License-Identifier: MIT */
#ifndef O2_ORACLE_KNOWN_H
#define O2_ORACLE_KNOWN_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "oracle/case.h"
#include "oracle/check.h"

/*
 * The list of known differences, each with a reason (docs/oracle.md, "Known differences"):
 *
 *   {"form": "o2ref/known_differences", "version": 1,
 *    "differences": [{"check": "sg/kiov/gap-flag", "reason": "rule G2: a tree before LU-20399"},
 *                    {"check": "reg/errno", "stage": "reg_plan", "when": {"request.mode": "phys"},
 *                     "reason": "..."}]}
 */

struct o2_known_difference {
	enum o2_check_id check;
	enum o2_stage stage; /* O2_STAGES: any */
	const json_t *when;  /* conditions on members of the question; NULL: no condition */
	const char *reason;
};

struct o2_known {
	uint32_t count;
	struct o2_known_difference *item; /* owned */
	json_t *file;			  /* owned; the items point into it */
};

/* Read a list from a file.  Returns 0, or -EINVAL, -ENOMEM or -errno with a line in text. */
int o2_known_read(const char *path, struct o2_known *known, char *text, size_t text_bytes);
void o2_known_free(struct o2_known *known);

/*
 * Look up a difference in this check on this question.  Returns the index of the first item that matches,
 * plus 1; 0: the difference is not known.  known may be NULL.
 */
uint32_t o2_known_find(const struct o2_known *known, const struct o2_case *asked, enum o2_check_id check);

#endif
