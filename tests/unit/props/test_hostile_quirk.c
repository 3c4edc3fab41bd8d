/* SPDX-License-Identifier: MIT */
#include <sys/wait.h>
#include <unistd.h>

#include "props/hostile/hostile.h"
#include "props/hostile/hostile_quirk.h"
#include "quirk/quirk.h"
#include "tests/lib/unit_test.h"

/* The judge of liars, with honest ends that have quirks (docs/hostile.md, "Quirks"). */

static bool bend(const char *quirk)
{
	const struct o2_option option = {.name = "quirk"};
	char why[O2_OPTION_WHY_BYTES];

	return o2_hostile_quirks(&option, quirk, NULL, why);
}

/* A quirk applies to a whole program, so each try gets its own process. */
static int try_bent(const char *quirk, const char *name, const char *expected)
{
	pid_t pid = fork();
	int status = 0;

	assert_true(pid >= 0);
	if (pid == 0) {
		char why[200] = "";
		bool held = bend(quirk) && o2_hostile_try(o2_misbehaviour_find(name), NULL, why);

		if (strcmp(held ? "met" : why, expected) != 0)
			printf("%s, %s: '%s', not '%s'\n", quirk, name, held ? "met" : why, expected);
		fflush(stdout);
		_exit(strcmp(held ? "met" : why, expected) != 0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status;
}

TEST(the_honest_connection_is_missed)
{
	/* A direct connection closes before the liar's message is read; a CM request is no message. */
	assert_int_equal(try_bent("closes-first", "magic",
				  "open 0, closed 1 times with -5 by conn/completion; "
				  "expected -71 by wire/header/magic"),
			 0);
	assert_int_equal(try_bent("closes-first", "asks-depth-9",
				  "the honest connection does not work any more: its PUT ends with Software "
				  "caused connection abort: the connection has ended: the peer has ended the "
				  "connection (DREQ)"),
			 0);
}

TEST(what_can_be_lived_with_is_no_failure)
{
	for (unsigned int i = 0; i < O2_QUIRKS; i++)
		if (i != O2_QUIRK_CLOSES_FIRST && i != O2_QUIRK_LATE) {
			assert_int_equal(try_bent(o2_quirk_name(i), "magic", "met"), 0);
			assert_int_equal(try_bent(o2_quirk_name(i), "asks-depth-9", "met"), 0);
		}
}

/* The victim's process gets the same quirks. */
TEST(words_for_another_process)
{
	assert_null(o2_hostile_quirk_words());
	assert_true(bend("late,closes-first"));
	assert_string_equal(o2_hostile_quirk_words(), "closes-first,late=3000");
	assert_true(bend("late=7"));
	assert_string_equal(o2_hostile_quirk_words(), "closes-first,late=7");
	assert_true(o2_hostile_quirk_takes_time());
	assert_false(bend("x"));
}
