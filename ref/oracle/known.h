/* SPDX-License-Identifier: MIT */
#ifndef O2_ORACLE_KNOWN_H
#define O2_ORACLE_KNOWN_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "oracle/case.h"
#include "oracle/check.h"

/*
 * Differences that are there for a reason (docs/oracle.md, "Known differences"):
 *
 *   {"form": "o2ref/known_differences", "version": 1,
 *    "differences": [{"check": "sg/kiov/gap-flag", "reason": "rule G2: a tree before LU-20399"},
 *                    {"check": "reg/errno", "stage": "reg_plan", "when": {"request.mode": "phys"},
 *                     "reason": "..."}]}
 */

struct o2_known_difference {
	enum o2_check_id check;
	enum o2_stage stage; /* O2_STAGES: any */
	const json_t *when;  /* members of the question and what they are; NULL: whatever they are */
	const char *reason;
};

struct o2_known {
	uint32_t count;
	struct o2_known_difference *item; /* owned */
	json_t *file;			  /* what they point into */
};

/* Read a list from a file.  Returns 0, or -EINVAL, -ENOMEM or -errno with a line in text. */
int o2_known_read(const char *path, struct o2_known *known, char *text, size_t text_bytes);
void o2_known_free(struct o2_known *known);

/*
 * The first one that a difference in this check is on this question: its index and 1; 0: it is not known.
 * known may be NULL.
 */
uint32_t o2_known_find(const struct o2_known *known, const struct o2_case *asked, enum o2_check_id check);

#endif
