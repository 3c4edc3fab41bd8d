/* SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "base/monotonic.h"
#include "lnd/node/node.h"
#include "props/cmd/hostile_command.h"
#include "props/hostile/hostile.h"
#include "props/hostile/hostile_quirk.h"
#include "wire/nid.h"

/* The options of `o2props hostile`, wherever the victim is. */

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

#define AT(member) O2_OPTION_AT(struct o2_hostile_words, member)

static const struct o2_option option_table[] = {
	{"list", NULL, O2_OPTION_FLAG, AT(list), .help = "the names, with rule and reaction"},
	{"all", NULL, O2_OPTION_FLAG, AT(all), .help = "all of them"},
	{"some", "N", O2_OPTION_NUMBER, AT(some), .max = UINT32_MAX,
	 .help = "so many, chosen by the seed (only with a device)"},
	{"seed", "S", O2_OPTION_NUMBER, AT(seed), .max = UINT64_MAX,
	 .help = "of --some (default: a new one)"},
	{"device", "A,B", O2_OPTION_TEXT, AT(devices),
	 .help = "the liar's device, and that of a victim in a process of its own"},
	{"gid-index", "N", O2_OPTION_NUMBER, AT(gid_index), .max = UINT8_MAX,
	 .help = "of both devices (default: $O2REF_GID_INDEX, else 1)"},
	{"peer", "NID", O2_OPTION_READ, AT(net.peer), .read = read_nid,
	 .help = "the victim is whoever has this NID"},
	{"port", "N", O2_OPTION_NUMBER, AT(net.port), .max = UINT16_MAX,
	 .help = "that the peer listens at (987)"},
	{"patience", "S", O2_OPTION_NUMBER, AT(net.patience_ms), .max = PATIENCE_MAX_S, .unit = 1000,
	 .help = "seconds until the peer gives up on one that is silent (75)"},
	{"portal", "P", O2_OPTION_NUMBER, AT(portal), .max = UINT32_MAX,
	 .help = "where the peer serves 9000 bytes for PUT and GET, under --match-bits"},
	{"match-bits", "M", O2_OPTION_NUMBER, AT(net.match_bits), .max = UINT64_MAX,
	 .help = "under which it serves them"},
	{"profile", "P", O2_OPTION_NAME, AT(profile), .names = profiles,
	 .help = "kernel: what kernels are known to tolerate (\"Tolerated by\" in --list) is no failure "
		 "(strict)"},
	{"quirk", "NAME,...", O2_OPTION_READ, .read = o2_hostile_quirks,
	 .help = "of the honest ends, as of `o2ref serve`, which lists them (late: only with a device)"},
	{"mutant", "NAME", O2_OPTION_TEXT, AT(net.mutant),
	 .help = "of the victim: a deliberate defect, or without a check: without/RULE (only in "
		 "o2props-mutants)"},
	{"victim", NULL, O2_OPTION_FLAG, AT(victim),
	 .help = "be the victim: orders come from standard input"},
	{"liar", "NID", O2_OPTION_READ, AT(liar_nid), .read = read_nid, .help = "who the victim's liar is"},
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

/* Exactly one victim, and something to do to it. */
static int check(const struct o2_hostile_words *words)
{
	const struct o2_command *command = &words->command;
	const bool many = words->all || words->some >= 0, named = words->names[0] != NULL;

	if (words->on_device && words->devices == NULL)
		return o2_command_usage(command, "--peer and --victim need a --device");
	if (words->victim)
		return words->liar_nid != 0 && !named
			       ? 0
			       : o2_command_usage(command, "--victim needs --liar NID, and nothing else");
	if (words->list + many + named != 1 || (words->list && words->on_device))
		return o2_command_usage(command,
					"exactly one of --list, --all or --some, and names is needed");
	if (!words->on_device && words->some >= 0)
		return o2_command_usage(command, "--some is for hostile with a --device");
	if (!words->on_device && o2_hostile_quirk_takes_time())
		return o2_command_usage(command, "--quirk late is for hostile with a --device");
	if (words->profile >= 0 && words->net.peer == 0)
		return o2_command_usage(command,
					"--profile is for --peer: a victim of ours is judged strictly");
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
	words->on_device = words->devices != NULL || words->net.peer != 0 || words->victim;
	words->names = argv + first;
	return check(words) == 0 ? first : -1;
}

int o2_hostile_no_such(const struct o2_hostile_words *words, const char *name)
{
	const char *program = words->command.program;

	return o2_complain(program, "there is no misbehaviour '%s'; see %s hostile --list", name, program);
}
