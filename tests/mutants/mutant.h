/* SPDX-License-Identifier: MIT */
#ifndef TESTS_MUTANTS_MUTANT_H
#define TESTS_MUTANTS_MUTANT_H

#include <stdbool.h>
#include <stdint.h>

#include "mutant_list.h"

/*
 * The switches in the copies of the library's sources that tests/mutants/switches.py makes, one for each
 * place of a deliberate defect (docs/mutants.md). At most one defect is on, chosen at run time.
 *
 * For the defect that is on, two counters run: how often its place was reached, and how often it was
 * triggered, which means that it computed something else than the clean code would have.
 */

enum o2_mutant_id {
	O2_MUTANT_NONE,
#define O2_MUTANT_ID(id, name, group) O2_MUTANT_##id,
	O2_MUTANTS(O2_MUTANT_ID)
#undef O2_MUTANT_ID
};

struct o2_mutant_counts {
	uint64_t reached;
	uint64_t triggered;
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

/* True while this defect is on; counts that its place was reached. */
#define o2_mutant(id) o2_mutant_reach(O2_MUTANT_##id)

/* Inside `if (o2_mutant(...))`: counts a trigger if `differs`: the clean code would act otherwise. */
#define o2_mutant_differs(differs) o2_mutant_trigger(differs)

/* `broken` while this defect is on, else `clean`.  Either may be evaluated twice: no side effects. */
#define o2_mutate(id, clean, broken) \
	(o2_mutant(id) ? (o2_mutant_differs((clean) != (broken)), (broken)) : (clean))

#endif
