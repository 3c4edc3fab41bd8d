/* SPDX-License-Identifier: MIT */
#ifndef O2_TESTS_JUDGE_PAGE_H
#define O2_TESTS_JUDGE_PAGE_H

#include <stdbool.h>

/* The tables of docs/judge.md, "Misbehaviours", which say which rules report which misbehaviour. */

/* The text of the section "Misbehaviours". */
const char *judge_misbehaviours(void);

/* Does the text have a table row whose first cell is `first` and which contains `name` in backquotes? */
bool judge_page_has(const char *text, const char *first, const char *name);

#endif
