/* SPDX-License-Identifier: MIT */
#ifndef O2_TESTS_MUTANT_KILLS_H
#define O2_TESTS_MUTANT_KILLS_H

#include <stdbool.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "props/engine/mutant.h"
#include "tests/lib/unit_test.h"
#include "tests/mutants/mutant.h"

/*
 * Is a deliberate defect noticed by a unit test?  Each test runs in a process of its own; a defect may crash it, or
 * make it loop forever.
 */

#define SECONDS_AT_MOST 60

static void run_with(const char *mutant, CMUnitTestFunction test)
{
	void *state = NULL;

	alarm(SECONDS_AT_MOST);
	/* Hide the output of assertions that a defect fails. */
	if (strcmp(mutant, "none") != 0 &&
	    (freopen("/dev/null", "w", stderr) == NULL || freopen("/dev/null", "w", stdout) == NULL))
		_exit(1);
	if (o2_mutant_select(mutant) != 0)
		_exit(0);
	test(&state);
	_exit(0);
}

/* Returns 1: the test passed; 0: it failed; -1: fork failed. */
static int holds(const char *mutant, CMUnitTestFunction test)
{
	pid_t child;
	int status;

	fflush(NULL);
	child = fork();
	if (child < 0)
		return -1;
	if (child == 0)
		run_with(mutant, test);
	if (waitpid(child, &status, 0) != child)
		return -1;
	return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* Does the test pass without the defect, and fail with it, after it was triggered?  If not, says why. */
static bool killed_by(const char *mutant, CMUnitTestFunction test)
{
	struct o2_mutant_counts *counts =
		mmap(NULL, sizeof(*counts), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	const char *why = NULL;

	if (counts == MAP_FAILED)
		return false;
	o2_mutant_counts = counts;
	if (holds("none", test) != 1)
		why = "its test fails without it";
	else if (holds(mutant, test) != 0)
		why = "not noticed";
	else if (counts->reached == 0 || counts->triggered == 0)
		why = "not triggered";
	if (why != NULL)
		printf("%s: %s\n", mutant, why);
	munmap(counts, sizeof(*counts));
	return why == NULL;
}

#endif
