/* SPDX-License-Identifier: MIT */
#ifndef O2_BASE_BREAKS_H
#define O2_BASE_BREAKS_H

/*
 * The condition of a check, named by the rule that it enforces: `if (o2_breaks("connreq/version", condition))
 * refuse`. It is the condition and nothing else; the name lets a test ask what is noticed without the check
 * (docs/mutants.md).
 */
#ifdef O2_WITHOUT_CHECKS /* tests/mutants/CMakeLists.txt: as the sources were when they were configured */
#error "a source without checks has one now: run cmake again"
#endif

#define o2_breaks(rule, condition) ((void)sizeof(rule), (condition))

#endif
