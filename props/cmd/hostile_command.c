/* SPDX-License-Identifier: MIT */
#include "props/cmd/hostile_command.h"

#include <stdbool.h>
#include <stdio.h>

#include "props/engine/process_held.h"
#include "props/hostile/hostile.h"

static int list_all(void)
{
	const struct o2_misbehaviour *list;
	size_t count = o2_misbehaviours(&list);

	printf("| Name | Group | What the peer does | Rule | Reaction | Tolerated by | Without the check "
	       "|\n");
	printf("|---|---|---|---|---|---|---|\n");
	for (size_t i = 0; i < count; i++) {
		char row[O2_MISBEHAVIOUR_ROW_BYTES];

		o2_misbehaviour_row(&list[i], row);
		printf("%s\n", row);
	}
	return 0;
}

/* If the process holds something more afterwards, try again: the first try may allocate what stays. */
static bool try_and_weigh(const struct o2_misbehaviour *what, char *why, size_t why_bytes)
{
	struct o2_process_held before, after;
	bool held = true, same = false;

	for (int i = 0; i < 2 && held && !same; i++) {
		o2_process_held_now(&before);
		held = o2_hostile_try(what, NULL, why);
		same = o2_process_held_again(&before, &after);
	}
	if (!held || same)
		return held;
	o2_process_held_text(&before, &after, why, why_bytes);
	return false;
}

/* Try one.  True: it met its reaction, and nothing was leaked. */
static bool try_one(const struct o2_misbehaviour *what)
{
	char why[200];
	bool held = try_and_weigh(what, why, sizeof(why));

	printf("%-24s %s%s%s\n", what->name, held ? "met" : "NOT MET", held ? "" : ": ", held ? "" : why);
	return held;
}

static int try_all(void)
{
	const struct o2_misbehaviour *list;
	size_t count = o2_misbehaviours(&list), failed = 0;

	for (size_t i = 0; i < count; i++)
		failed += !try_one(&list[i]);
	printf("%zu passed, %zu failed\n", count - failed, failed);
	return failed > 0;
}

static int try_named(const struct o2_hostile_words *words)
{
	int status = 0;

	for (char **name = words->names; *name != NULL; name++) {
		const struct o2_misbehaviour *what = o2_misbehaviour_find(*name);

		if (what == NULL)
			return o2_hostile_no_such(words, *name);
		if (!try_one(what))
			status = 1;
	}
	return status;
}

int o2_hostile_command(const struct o2_hostile_words *words)
{
	if (o2_props_mutant(words->command.program, words->net.mutant) != 0)
		return O2_PROPS_EXIT_USAGE;
	if (words->list)
		return list_all();
	return words->all ? try_all() : try_named(words);
}
