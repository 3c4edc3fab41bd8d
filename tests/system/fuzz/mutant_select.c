/* SPDX-License-Identifier: MIT */
/*
 * Linked into a replayer with the mutants: before main, switches on the mutant that O2_MUTANT names.
 */
#include "props/engine/mutant.h"

#include <stdio.h>
#include <stdlib.h>

__attribute__((constructor)) static void select_mutant(void)
{
	const char *name = getenv("O2_MUTANT");

	if (name == NULL || o2_mutant_select(name) != 0) {
		fprintf(stderr, "O2_MUTANT names no mutant: %s\n", name == NULL ? "not set" : name);
		exit(2);
	}
}
