/* SPDX-License-Identifier: MIT */
#include "props/hostile_command.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "props/hostile.h"
#include "props/hostile_quirk.h"
#include "props/mutant.h"
#include "props/options.h"

void o2_hostile_usage(const char *program, FILE *out)
{
	fprintf(out,
		"usage: %s hostile --list\n"
		"       %s hostile [--quirk NAME,...] WHAT [--mutant NAME]\n"
		"       %s hostile --device A,B [--gid-index N] [--quirk NAME,...] [--mutant NAME] WHAT\n"
		"       %s hostile --device A [--gid-index N] --peer NID [--port N] [--patience S]\n"
		"                  [--portal P --match-bits M] [--profile strict|kernel] [--quirk NAME,...]\n"
		"                  WHAT\n"
		"       %s hostile --device B [--gid-index N] --victim --liar NID\n"
		"WHAT:  --all | --some N [--seed S] | NAME...\n\n"
		"A liar does what NAME says to a connection with an honest one beside it, and must meet the\n"
		"reaction that --list says (docs/hostile.md): over loop devices; over the devices A and B, "
		"to\n"
		"a victim in a process of its own; or to any peer that device A reaches.\n"
		"  --mutant NAME   of the victim: a deliberate defect, or without a check: without/RULE\n"
		"                  (only in o2props-mutants)\n"
		"  --quirk NAME,...  of the honest ends, as of `o2ref serve`, which lists them (late: only\n"
		"                  with a device)\n"
		"  --some N        so many, chosen by the seed (only with a device)\n"
		"  --gid-index N   of both devices (default: $O2REF_GID_INDEX, else 1)\n"
		"  --port N        that the peer listens at (987)\n"
		"  --patience S    seconds until the peer gives up on one that is silent (75)\n"
		"  --portal P, --match-bits M   where the peer serves 9000 bytes for PUT and GET\n"
		"  --profile kernel  what kernels are known to tolerate (\"Tolerated by\" in --list) is no\n"
		"                  failure (strict)\n"
		"  --victim        be the victim: orders come from standard input\n"
		"  --liar NID      who the victim's liar is\n\n"
		"Exit status: 0 each met its reaction (or is known to be tolerated), 1 one did not, 2 "
		"usage,\n"
		"77 no device.\n",
		program, program, program, program, program);
}

static int usage(const char *program, FILE *out, int status)
{
	o2_hostile_usage(program, out);
	return status;
}

bool o2_hostile_asks_for_device(int argc, char **argv)
{
	static const char *const options[] = {"--device", "--peer", "--victim"};

	for (int i = 1; i < argc; i++)
		for (size_t j = 0; j < sizeof(options) / sizeof(options[0]); j++)
			if (strncmp(argv[i], options[j], strlen(options[j])) == 0)
				return true;
	return false;
}

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

/* True: it met its reaction. */
static bool try_one(const struct o2_misbehaviour *what)
{
	char why[200];
	bool held = o2_hostile_try(what, why);

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

static int try_named(const char *program, int argc, char **argv)
{
	int status = 0;

	for (int i = 1; i < argc; i++) {
		const struct o2_misbehaviour *what = o2_misbehaviour_find(argv[i]);

		if (what == NULL) {
			fprintf(stderr, "%s: there is no misbehaviour '%s'; see %s hostile --list\n", program,
				argv[i], program);
			return O2_PROPS_EXIT_USAGE;
		}
		if (!try_one(what))
			status = 1;
	}
	return status;
}

int o2_hostile_command(const char *program, int argc, char **argv)
{
	if (argc >= 4 && strcmp(argv[argc - 2], "--mutant") == 0) {
		if (o2_mutant_select(argv[argc - 1]) != 0) {
			fprintf(stderr, "%s: there is no mutant '%s' in this program\n", program,
				argv[argc - 1]);
			return O2_PROPS_EXIT_USAGE;
		}
		argc -= 2;
	}
	for (; argc >= 3 && strcmp(argv[1], "--quirk") == 0; argc -= 2, argv += 2)
		if (!o2_hostile_quirks(program, argv[2]))
			return O2_PROPS_EXIT_USAGE;
	if (o2_hostile_quirk_takes_time()) {
		fprintf(stderr, "%s: --quirk late is for hostile with a --device\n", program);
		return O2_PROPS_EXIT_USAGE;
	}
	if (argc < 2)
		return usage(program, stderr, O2_PROPS_EXIT_USAGE);
	if (strcmp(argv[1], "--help") == 0)
		return usage(program, stdout, 0);
	if (strcmp(argv[1], "--list") == 0 && argc == 2)
		return list_all();
	if (strcmp(argv[1], "--all") == 0 && argc == 2)
		return try_all();
	if (argv[1][0] == '-')
		return usage(program, stderr, O2_PROPS_EXIT_USAGE);
	return try_named(program, argc, argv);
}
