/* SPDX-License-Identifier: MIT */
#ifndef O2_BASE_BREAKS_H
#define O2_BASE_BREAKS_H

#include <stdbool.h>

/*
 * In place of ref/base/breaks.h in the library with deliberate defects: any check can be taken away by the
 * name "without/RULE" (tests/mutants/mutant.c). Its condition counts as never met then.
 */
bool o2_rule_breaks(const char *rule, bool condition);
#define o2_breaks(rule, condition) o2_rule_breaks(rule, condition)

#endif
