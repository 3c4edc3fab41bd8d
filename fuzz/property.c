/* SPDX-License-Identifier: MIT */
#include "fuzz/property.h"

#include <stdio.h>

#define PIECES_SHOWN 20u

/*
 * The smallest case creates what is kept from case to case.  AFL++ forks after this, so that every forked
 * process has it and starts in the same state.  Weak, because ci/bench-fuzz has its own (fuzz/bench_mutator.c).
 */
__attribute__((weak)) int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	return LLVMFuzzerTestOneInput((const uint8_t *)"", 0);
}

void o2_fuzz_property(const struct o2_property *property, const uint8_t *data, size_t size)
{
	static struct o2_report report;
	struct o2_choice *choice = o2_fuzz_choice(data, size);

	if (property->ops->run_case(property->context, choice, &report) == O2_STATUS_INTERESTING)
		o2_fuzz_found(property, &report);
}

void o2_fuzz_found(const struct o2_property *property, const struct o2_report *report)
{
	property->ops->print(property->context, PIECES_SHOWN, stderr);
	o2_fuzz_report(property->ops->name, report);
}
