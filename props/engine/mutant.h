/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_MUTANT_H
#define O2_PROPS_MUTANT_H

#include <stdbool.h>

/*
 * Deliberate defects of the library, which prove that the harness would detect them (docs/mutants.md).  Only
 * programs linked with the library's -mutants variant (-mutants in their name) can switch one on.
 */

/*
 * Switch on the named mutant ("none" for none), or remove a check ("without/RULE", for any rule id). Returns
 * 0, -EINVAL (no such name), or -ENOTSUP in a build without mutants.
 */
int o2_mutant_select(const char *name);

/*
 * Keep the mutant's counts in a file, where they survive a crash: 16 bytes, two numbers in host byte order.
 * The first counts how often the mutated place was reached, the second how often the mutant gave another
 * result there.  Returns 0 or -errno; -ENOTSUP in a build without mutants.
 */
int o2_mutant_count_in_file(const char *path);

/* true: suspend a named mutant (no removed check) while a judge runs, which must be free of it; false: resume it. */
void o2_mutant_aside(bool aside);

#endif
