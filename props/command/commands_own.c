/* SPDX-License-Identifier: MIT */
/* o2ref by itself, and what it says into a file that takes nothing. */
#include <stdio.h>
#include <string.h>

#include "props/command/commands.h"

#define PEER "10.99.0.1@o2ib"

/* Its own words: docs/man/o2ref.1. */
static void say_own(struct o2_commands_run *run)
{
	static const struct {
		const char *words;
		int status;
		const char *out, *err;
	} own[] = {
		{"", 2, "", "o2ref: no command given (see: o2ref --help)\n"},
		{"nothing", 2, "", "o2ref: 'nothing' is no command (see: o2ref --help)\n"},
		{"pings", 2, "", "o2ref: 'pings' is no command (see: o2ref --help)\n"},
		{"--version", 0, "o2ref #\n", ""},
		{"-V", 0, "o2ref #\n", ""},
		{"--list-options", 0,
		 "decode\njudge\nencode\ncheck\nexplain\nping\nput\nget\nlst\nconform\nserve\n"
		 "--help\t-\t\n--version\t-\t\n",
		 ""},
	};

	for (size_t i = 0; i < sizeof(own) / sizeof(own[0]) && !run->report->failed; i++) {
		run->command.words = 0;
		snprintf(run->command.word[0], sizeof(run->command.word[0]), "own");
		o2_commands_words(run, own[i].words);
		if (!o2_commands_go(run, own[i].status))
			return;
		o2_commands_says(run, "words", run->command.out, "%s", own[i].out);
		o2_commands_complains(run, "%s", own[i].err);
	}
}

/* Nothing can be written to standard output, or to a report. */
static void say_in_vain(struct o2_commands_run *run)
{
	static const char *const lines[] = {
		"--help",
		"--version",
		"--list-options",
		"judge --help",
		"serve --help",
		"decode --list-options",
		"conform --device=loop --list",
		"ping --device=loop " PEER,
		"ping --device=loop --json " PEER,
		"put --device=loop " PEER,
		"get --device=loop --json " PEER,
		"lst --device=loop --count=2 " PEER " ping",
		"lst --device=loop --count=2 --json --judge " PEER " read",
		"conform --device=loop --only=ping/one " PEER,
		"conform --device=loop --json --only=ping/one " PEER,
		"judge -",
		"judge --json -",
		"decode --pcap -",
	};
	static const char *const reports[] = {"html", "junit", "sarif"};
	/* A capture without a packet: link type Ethernet. */
	static const uint8_t capture[24] = {0xd4, 0xc3, 0xb2, 0xa1, 2, 0, 4, [18] = 1, [20] = 1};
	const size_t which = o2_draw_pick(run->c, sizeof(lines) / sizeof(lines[0]) + 3);
	const size_t nlines = sizeof(lines) / sizeof(lines[0]);

	run->command.input = capture;
	run->command.input_bytes = sizeof(capture);
	run->command.full = which < nlines;
	if (which < nlines)
		o2_commands_words(run, lines[which]);
	else
		o2_command_word(&run->command, "judge");
	if (which >= nlines) {
		o2_command_word(&run->command, "--%s=/dev/full", reports[which - nlines]);
		o2_commands_words(run, "-");
	}
	if (o2_commands_go(run, 2))
		o2_commands_complains(run, "o2ref: %s: No space left on device\n",
				      which < nlines ? "standard output" : "/dev/full");
	run->command.full = false;
	run->command.input = NULL;
}

void o2_commands_own(struct o2_commands_run *run)
{
	run->tally.seen[O2_COMMANDS_FULL]++;
	if (o2_draw_bool(run->c, 2, 1))
		say_own(run);
	else
		say_in_vain(run);
}
