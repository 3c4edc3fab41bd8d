/* SPDX-License-Identifier: MIT */
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "props/engine/mutant.h"
#include "props/hostile/hostile.h"

/*
 * Every check that a misbehaviour of docs/hostile.md runs into is necessary: without the check, the
 * misbehaviour no longer gets its reaction.
 *
 *   test_hostile_mutants [NAME]
 *
 * Each runs in a process of its own: without a check anything may happen, even a crash.
 */

#define SECONDS_AT_MOST 60

static void run(const struct o2_misbehaviour *what, const char *mutant)
{
	struct rlimit none = {0, 0};
	char why[200];

	alarm(SECONDS_AT_MOST);
	setrlimit(RLIMIT_CORE, &none);
	if (freopen("/dev/null", "w", stderr) == NULL || freopen("/dev/null", "w", stdout) == NULL)
		_exit(2);
	if (mutant != NULL && o2_mutant_select(mutant) != 0)
		_exit(2);
	_exit(o2_hostile_try(what, NULL, why) ? 0 : 1);
}

/*
 * Returns 0: the reaction was still met; 1: it was not, or there was a crash; 2: it could not be tried.
 * mutant: NULL for none.
 */
static int try_with(const struct o2_misbehaviour *what, const char *mutant)
{
	pid_t child;
	int status;

	fflush(NULL);
	child = fork();
	if (child < 0)
		return 2;
	if (child == 0)
		run(what, mutant);
	if (waitpid(child, &status, 0) != child)
		return 2;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

int main(int argc, char **argv)
{
	const struct o2_misbehaviour *list;
	size_t count = o2_misbehaviours(&list);
	int passed = 0, failed = 0;

	for (size_t i = 0; i < count; i++) {
		char text[96];
		const char *mutant = o2_misbehaviour_mutant(&list[i], text);
		int outcome;

		if (argc > 1 && strcmp(argv[1], list[i].name) != 0)
			continue;
		outcome = try_with(&list[i], mutant);
		if (outcome == 1 && try_with(&list[i], NULL) == 0) {
			passed++;
			continue;
		}
		failed++;
		printf("%s: %s %s\n  again: %s %s\n", list[i].name,
		       outcome == 0   ? "not noticed:"
		       : outcome == 1 ? "not met with every check either, so it says nothing about"
				      : "could not be tried:",
		       mutant, argv[0], list[i].name);
	}
	printf("%d passed, %d failed\n", passed, failed);
	return failed > 0 || passed == 0;
}
