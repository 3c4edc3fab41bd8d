/* SPDX-License-Identifier: MIT */
#ifndef O2_WIRE_MUTANTS_WIRE_H
#define O2_WIRE_MUTANTS_WIRE_H

#include "wire/desc_codec.h"

/*
 * Broken variants that take more than an expression.  Defined in builds with O2_WITH_MUTANTS only; elsewhere
 * nothing calls them (base/mutant.h).
 */

/*
 * A descriptor's count by the rule "the lengths add up to at least 1 and at most 1 MiB", the lengths not
 * swapped: 1 where that holds, whatever the count, else 0 or the largest number.
 */
uint32_t o2_mutant_count_by_sum(const struct o2_desc_place *place);

#endif
