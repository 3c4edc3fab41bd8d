/* SPDX-License-Identifier: MIT */
/* A search whose numbers of states are wrong says so, and how to run it again (docs/simulation.md, "Every order"). */

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "props/engine/mutant.h"
#include "props/talk/explore_internal.h"
#include "tests/lib/unit_test.h"

#define TEXT_BYTES 2000u

static uint64_t
	numbers; /* that states have; so many different ones.  0: what waits at the ends is their number */

uint64_t __real_o2_explore_hash(struct o2_explore_world *world);
uint64_t __wrap_o2_explore_hash(struct o2_explore_world *world);

uint64_t __wrap_o2_explore_hash(struct o2_explore_world *world)
{
	uint64_t hash = 0;

	if (numbers > 0)
		return __real_o2_explore_hash(world) % numbers;
	for (uint32_t e = 0; e < 2; e++)
		hash = hash << 24 | (uint64_t)world->next_op[e] << 16 |
		       (uint64_t)world->receives[e].count << 8 | world->sends[e].count;
	return hash;
}

int o2_mutant_select(const char *name)
{
	return 0;
}

/* Run the command; what it prints goes to text. */
static int explore(char *word[], int words, char text[TEXT_BYTES])
{
	FILE *file = tmpfile();
	const int out = dup(STDOUT_FILENO);
	size_t length;
	int status;

	assert_true(file != NULL && out >= 0);
	fflush(stdout);
	dup2(fileno(file), STDOUT_FILENO);
	optind = 0;
	status = o2_explore_command("o2props", words, word);
	fflush(stdout);
	dup2(out, STDOUT_FILENO);
	close(out);
	rewind(file);
	length = fread(text, 1, TEXT_BYTES - 1, file);
	text[length] = '\0';
	fclose(file);
	return status;
}

TEST(two_states_with_one_number_are_a_finding)
{
	char *word[] = {"explore", "--ops", "put,put/get", "--verify", NULL};
	char text[TEXT_BYTES];

	for (numbers = 0; numbers < 3000; numbers += 1 + numbers / 7) {
		assert_int_equal(explore(word, 4, text), 1);
		assert_non_null(
			strstr(text, "\nexplore/hash\n  two states with equal hashes differ in what "));
		/* No single way shows it. */
		assert_non_null(strstr(text, "\n  again: o2props explore --version 2 "));
		assert_non_null(strstr(text, " --ops put,put/get --verify\n"));
	}
}
