/* SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "base/monotonic.h"
#include "lnd/node/node.h"
#include "props/cmd/hostile_command.h"
#include "props/hostile/hostile.h"
#include "props/hostile/hostile_quirk.h"
#include "wire/nid.h"

/* The options of `o2props hostile` for all kinds of victims. */

#define PATIENCE_S     75u
#define PATIENCE_MAX_S 3600u

static bool read_nid(const struct o2_option *option, const char *text, void *target,
		     char why[O2_OPTION_WHY_BYTES])
{
	if (o2_nid_from_text(text, (uint64_t *)((char *)target + option->at), NULL) == 0)
		return true;
	snprintf(why, O2_OPTION_WHY_BYTES, "--%s is '%s', not a NID such as 192.168.77.2@o2ib", option->name,
		 text);
	return false;
}

static const char *const profiles[] = {[O2_HOSTILE_STRICT] = "strict", [O2_HOSTILE_KERNEL] = "kernel", NULL};

#define O2_OPTION_TARGET struct o2_hostile_words

static const struct o2_option option_table[] = {
	{"list", NULL, "the names, with rule and reaction", O2_FLAG(list)},
	{"all", NULL, "all of them", O2_FLAG(all)},
	{"some", "N", "so many, chosen by the seed (only with a device)", O2_NUMBER(some, 1, UINT32_MAX),
	 .goes_with = "device"},
	{"seed", "S", "of --some (default: a new one)", O2_NUMBER(seed, 0, UINT64_MAX), .goes_with = "some"},
	{"device", "A,B", "the liar's device, and that of a victim in a process of its own",
	 O2_TEXT(devices)},
	{"gid-index", "N", "of both devices (default: $O2REF_GID_INDEX, else 1)",
	 O2_NUMBER(gid_index, 0, UINT8_MAX), .goes_with = "device"},
	{"peer", "NID", "the victim is whoever has this NID", O2_READ(net.peer, read_nid),
	 .goes_with = "device"},
	{"port", "N", "that the peer listens at (987)", O2_NUMBER(net.port, 0, UINT16_MAX),
	 .goes_with = "peer"},
	{"patience", "S", "seconds until the peer gives up on one that is silent (75)",
	 O2_NUMBER(net.patience_ms, 0, PATIENCE_MAX_S), .unit = 1000, .goes_with = "peer"},
	{"portal", "P", "where the peer serves 9000 bytes for PUT and GET, under --match-bits",
	 O2_NUMBER(portal, 0, UINT32_MAX), .goes_with = "peer"},
	{"match-bits", "M", "under which it serves them", O2_NUMBER(net.match_bits, 0, UINT64_MAX),
	 .goes_with = "portal"},
	{"profile", "P",
	 "kernel: what kernels are known to tolerate (\"Tolerated by\" in --list) is no failure (strict)",
	 O2_NAME(profile, profiles), .goes_with = "peer"},
	{"quirk", "NAME,...",
	 "of the honest ends, as of `o2ref serve`, which lists them (late: only with a device; not "
	 "lst-flip-bit)",
	 .kind = O2_OPTION_READ, .read = o2_hostile_quirks},
	{"mutant", "NAME",
	 "of a victim of ours: a deliberate defect, or without a check: without/RULE (only in "
	 "o2props-mutants)",
	 O2_TEXT(net.mutant)},
	{"tell", NULL, "with --peer: also print all that is said, as lines that `o2ref conform` reads",
	 O2_FLAG(tell), .goes_with = "peer"},
	{"victim", NULL, "be the victim: orders come from standard input", O2_FLAG(victim),
	 .goes_with = "device"},
	{"liar", "NID", "who the victim's liar is", O2_READ(liar_nid, read_nid), .goes_with = "victim"},
	{0},
};

static const struct o2_command hostile_command = {
	.name = "hostile",
	.usage = "--list\n"
		 "[OPTION]... WHAT\n"
		 "--device A,B [OPTION]... WHAT\n"
		 "--device A --peer NID [OPTION]... WHAT\n"
		 "--device B --victim --liar NID",
	.about = "WHAT:  --all | --some N [--seed S] | NAME...\n"
		 "\n"
		 "A liar does what NAME says to a connection with an honest one beside it, and must meet "
		 "the reaction that --list says (docs/hostile.md): over loop devices; over the devices A "
		 "and B, to a victim in a process of its own; or to any peer that device A reaches.",
	.options = option_table,
	.end = "Exit status: 0 each met its reaction (or is known to be tolerated), 1 one did not, 2 "
	       "usage, 77 no device.",
};

/* Require exactly one victim, and something to try on it. */
static int check(const struct o2_hostile_words *words)
{
	const struct o2_command *command = &words->command;
	const bool some = words->some > 0, named = words->names[0] != NULL;

	if (words->victim)
		return words->liar_nid != 0 && !named
			       ? 0
			       : o2_command_usage(command, "--victim needs --liar NID, and nothing else");
	if (words->list + words->all + some + named != 1 || (words->list && words->devices != NULL))
		return o2_command_usage(command,
					"exactly one of --list, --all or --some, and names is needed");
	if (words->devices == NULL && o2_hostile_quirk_takes_time())
		return o2_command_usage(command, "--quirk late is for hostile with a --device");
	if (o2_hostile_quirk_is_of_lst())
		return o2_command_usage(command,
					"--quirk lst-flip-bit changes nothing: no LNet selftest runs here");
	if (words->net.peer != 0 && words->net.mutant != NULL)
		return o2_command_usage(command, "--mutant is of a victim of ours, not of a --peer");
	return 0;
}

int o2_hostile_read(const char *program, int argc, char **argv, struct o2_hostile_words *words)
{
	int first;

	*words = (struct o2_hostile_words){
		.command = hostile_command,
		.net = {.port = O2_SERVICE_PORT, .patience_ms = 1000 * PATIENCE_S},
		.gid_index = -1,
		.portal = -1,
		.profile = -1,
		.some = -1,
		.seed = o2_monotonic_ms(),
	};
	words->command.program = program;
	first = o2_options_read(&words->command, argc, argv, words);
	if (first <= 0)
		return first;
	words->names = argv + first;
	return check(words) == 0 ? first : -1;
}

int o2_hostile_no_such(const struct o2_hostile_words *words, const char *name)
{
	const char *program = words->command.program;

	return o2_complain(program, "there is no misbehaviour '%s'; see %s hostile --list", name, program);
}
