/* SPDX-License-Identifier: MIT */
#ifndef O2_BASE_MUTANT_H
#define O2_BASE_MUTANT_H

/*
 * Deliberate defects, by which the harness proves that it would notice them (docs/mutants.md).
 *
 * `if (o2_mutant(NAME))` is constant false in the library and costs nothing there.  Only a build with
 * O2_WITH_MUTANTS, which the tests link and nobody installs, can switch one on, at run time and one at a
 * time.
 */

#define O2_MUTANTS(X)                                                                                       \
	X(COLLAPSE_GAPPED, "fmr-collapse-gapped", "fmr publishes one fragment although the list has gaps")  \
	X(FORGET_LAST_FRAGMENT, "forget-last-fragment", "the last fragment of a sink gets no work request") \
	X(SWAP_FRAGMENTS, "swap-fragments", "the addresses of two equal sink fragments change places")      \
	X(OPEN_WORK_REQUEST, "open-work-request",                                                           \
	  "the work request that is open when the bytes run out is lost")                                   \
	X(GLOBAL_FIRST_PAGE, "global-first-page",                                                           \
	  "mode global publishes every fragment in the page of the first")                                  \
	X(FMR_PAGE_ORDER, "fmr-page-order", "mode fmr lists the last two pages in the wrong order")         \
	X(FASTREG_PAGE_TWICE, "fastreg-page-twice",                                                         \
	  "mode fastreg lists the second page twice and drops the third")                                   \
	X(LEAK_MAPPING, "leak-mapping", "what was mapped for the device is not unmapped")                   \
	X(UNMAP_TWICE, "unmap-twice", "what was mapped for the device is unmapped twice")                   \
	X(USER_PAGE_START, "user-page-start", "mode user publishes the start of the first byte's page")     \
	X(PHYS_LAST_PAGE, "phys-last-page", "mode phys lists the first page in place of the last")          \
	X(GAPS_ENTRY_ORDER, "gaps-entry-order",                                                             \
	  "mode fastreg_gaps lists the last two entries the wrong way round")                               \
	X(NOT_REMAPPED, "not-remapped",                                                                     \
	  "behind a remapping, entries after the first keep the addresses of the bus")

#ifdef O2_WITH_MUTANTS

enum o2_mutant_id {
	O2_MUTANT_NONE,
#define O2_MUTANT_ID(id, name, text) O2_MUTANT_##id,
	O2_MUTANTS(O2_MUTANT_ID)
#undef O2_MUTANT_ID
};

extern enum o2_mutant_id o2_active_mutant;

#define o2_mutant(id) (o2_active_mutant == O2_MUTANT_##id)

#else

#define o2_mutant(id) 0

#endif

/* Switch on the mutant of that name ("none" for none).  Returns 0, -EINVAL (no such name), or -ENOTSUP
 * without mutants. */
int o2_mutant_select(const char *name);

#endif
