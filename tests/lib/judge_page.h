/* SPDX-License-Identifier: MIT */
#ifndef O2_TESTS_JUDGE_PAGE_H
#define O2_TESTS_JUDGE_PAGE_H

#include <stdbool.h>

/* docs/judge.md, "Misbehaviours": which rules name which. */

/* The text of that section. */
const char *judge_misbehaviours(void);

/* Is there a row of it whose first cell is `first`, and which has `name` in it? */
bool judge_page_has(const char *text, const char *first, const char *name);

#endif
