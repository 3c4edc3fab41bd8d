/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_MUTANT_H
#define O2_PROPS_MUTANT_H

#include <stdbool.h>

/*
 * Deliberate defects of the library, by which the harness proves that it would notice them (docs/mutants.md).
 * Only programs that are linked with the library that has them (-mutants in their name) can switch one on.
 */

/*
 * Switch on the mutant of that name ("none" for none), or take a check away ("without/RULE", for any rule
 * id). Returns 0, -EINVAL (no such name), or -ENOTSUP without mutants.
 */
int o2_mutant_select(const char *name);

/*
 * Keep the counts in a file of 16 bytes, two numbers in the host's order, where they outlive a crash: how
 * often its place was reached, and how often it gave something else there. Returns 0 or -errno; -ENOTSUP
 * without mutants.
 */
int o2_mutant_count_in_file(const char *path);

/* Put what is switched on aside while a judge looks, which must not have the defect itself; and back. */
void o2_mutant_aside(bool aside);

#endif
