/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_MUTANT_H
#define O2_PROPS_MUTANT_H

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

#endif
