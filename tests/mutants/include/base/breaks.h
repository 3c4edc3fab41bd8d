/* SPDX-License-Identifier: MIT */
#ifndef O2_BASE_BREAKS_H
#define O2_BASE_BREAKS_H

#include <stdbool.h>

/*
 * Replaces ref/base/breaks.h in the library with deliberate defects: the name "without/RULE" disables the
 * check of any rule (tests/mutants/mutant.c).  The condition of a disabled check counts as never met.
 */
bool o2_rule_breaks(const char *rule, bool condition);
#define o2_breaks(rule, condition) o2_rule_breaks(rule, condition)

#endif
