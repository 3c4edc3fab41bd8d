/* SPDX-License-Identifier: MIT */
#ifndef O2_BASE_MUTANT_H
#define O2_BASE_MUTANT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/mutant_list.h"

/*
 * Deliberate defects, by which the harness proves that it would notice them (docs/mutants.md).
 *
 * In the library they cost nothing: `o2_mutate(NAME, clean, broken)` is `clean` there and `o2_mutant(NAME)`
 * constant false.  Only a build with O2_WITH_MUTANTS, which the tests link and nobody installs, can switch
 * one on, at run time and one at a time.
 *
 * Such a build counts, for the one that is on, how often its place was reached and how often it was
 * triggered, that is: gave something else than clean code would have given there.
 */

struct o2_mutant_counts {
	uint64_t reached;
	uint64_t triggered;
};

#ifdef O2_WITH_MUTANTS

enum o2_mutant_id {
	O2_MUTANT_NONE,
#define O2_MUTANT_ID(id, name, area, defect, text) O2_MUTANT_##id,
	O2_MUTANTS(O2_MUTANT_ID)
#undef O2_MUTANT_ID
};

extern enum o2_mutant_id o2_active_mutant;
extern struct o2_mutant_counts *o2_mutant_counts;

static inline bool o2_mutant_reach(enum o2_mutant_id id)
{
	if (o2_active_mutant != id)
		return false;
	o2_mutant_counts->reached++;
	return true;
}

static inline void o2_mutant_trigger(bool differs)
{
	o2_mutant_counts->triggered += differs;
}

/* This one is on; counts that its place was reached. */
#define o2_mutant(id) o2_mutant_reach(O2_MUTANT_##id)

/* Inside `if (o2_mutant(...))`: whether what follows differs from what clean code does. */
#define o2_mutant_differs(differs) o2_mutant_trigger(differs)

/* The value of `broken` while this one is on, else of `clean`.  Both are evaluated twice: no side effects. */
#define o2_mutate(id, clean, broken) \
	(o2_mutant(id) ? (o2_mutant_differs((clean) != (broken)), (broken)) : (clean))

/*
 * The condition of a check, named by the rule that it enforces: `if (o2_breaks(rule, condition)) refuse`. Any
 * check can be taken away by the name "without/RULE"; its condition counts as never met then.
 */
bool o2_rule_breaks(const char *rule, bool broken);
#define o2_breaks(rule, broken) o2_rule_breaks(rule, broken)

#else

#define o2_breaks(rule, broken)	     ((void)sizeof(rule), (broken))
#define o2_mutant(id)		     0
#define o2_mutant_differs(differs)   ((void)sizeof(differs))
#define o2_mutate(id, clean, broken) ((void)sizeof(broken), (clean))

#endif

/* Switch on the mutant of that name ("none" for none), or take a check away ("without/RULE", for any rule
 * id).  Returns 0, -EINVAL (no such name), or -ENOTSUP without mutants. */
int o2_mutant_select(const char *name);

/*
 * Keep the counts in a file of 16 bytes, two numbers in the host's order, where they outlive a crash. Returns
 * 0 or -errno; -ENOTSUP without mutants.
 */
int o2_mutant_count_in_file(const char *path);

#endif
