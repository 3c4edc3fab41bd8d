/* SPDX-License-Identifier: MIT */
#ifndef O2_BASE_BREAKS_H
#define O2_BASE_BREAKS_H

/*
 * The condition of a check, with the name of the rule that it enforces: `if (o2_breaks("connreq/version",
 * condition)) refuse`.  Its value is just the condition; with the name, a test can remove the check and see
 * whether anything notices (docs/mutants.md).
 */
#ifdef O2_WITHOUT_CHECKS /* by tests/mutants/CMakeLists.txt, for sources that had no checks when cmake ran */
#error "a source without checks has one now: run cmake again"
#endif

#define o2_breaks(rule, condition) ((void)sizeof(rule), (condition))

#endif
