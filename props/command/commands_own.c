/* SPDX-License-Identifier: MIT */
/* o2ref without a command, and output to a file that cannot be written. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "forms/msg_json.h"
#include "props/command/commands.h"

#define PEER	 "10.99.0.1@o2ib"
#define NO_SPACE "No space left on device"

#define NOWHERE	  "/nowhere"
#define NOT_THERE "o2ref: " NOWHERE ": No such file or directory\n"

/* Check the program's own options: docs/man/o2ref.1. */
static void say_own(struct o2_commands_run *run)
{
	static const struct {
		const char *words;
		int status;
		const char *out, *err;
	} own[] = {
		{"", 2, "", "o2ref: no command given (see: o2ref --help)\n"},
		{"nothing", 2, "", "o2ref: unknown command 'nothing' (see: o2ref --help)\n"},
		{"pings", 2, "", "o2ref: unknown command 'pings' (see: o2ref --help)\n"},
		{"--version", 0, "o2ref #\n", ""},
		{"-V", 0, "o2ref #\n", ""},
		{"--list-options", 0,
		 "decode\njudge\nencode\ncheck\nexplain\nping\nput\nget\nlst\nconform\nserve\n"
		 "--help\t-\t\n--version\t-\t\n",
		 ""},
		{"decode " NOWHERE, 2, "", NOT_THERE},
		{"decode --pcap " NOWHERE, 2, "", NOT_THERE},
		{"decode --pcap --json " NOWHERE " " NOWHERE, 2, "", NOT_THERE NOT_THERE},
		{"decode --reject " NOWHERE " " NOWHERE, 2, "== " NOWHERE " ==\n\n== " NOWHERE " ==\n",
		 NOT_THERE NOT_THERE},
		{"encode " NOWHERE, 2, "", NOT_THERE},
		{"judge " NOWHERE, 2, "", NOT_THERE},
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

/* Refuse bytes on a terminal, and what needs another program that is missing. */
static void refuse_place(struct o2_commands_run *run)
{
	static const struct {
		const char *words, *program;
	} others[] = {{"ping " PEER, "o2ref-net"},
		      {"put --device=loop " PEER, "o2ref-net-loop"},
		      {"explain x", "o2props"},
		      {"check --list", "o2props"}};

	run->command.words = 0;
	o2_commands_words(run, "encode -");
	run->command.terminal = true;
	if (o2_commands_go(run, 2))
		o2_commands_complains(
			run, "o2ref: bytes would go to the terminal: redirect the output, or use --hex (see: "
			     "o2ref encode --help)\n");
	run->command.terminal = false;
	run->command.alone = true;
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]) && !run->report->failed; i++) {
		run->command.words = 0;
		o2_commands_words(run, others[i].words);
		if (o2_commands_go(run, 2))
			o2_commands_complains(run, "o2ref: /%s: No such file or directory\n",
					      others[i].program);
	}
	run->command.alone = false;
}

/* A signal must end a long run; the summary says what was done, and that it is not complete. */
static void end_by_signal(struct o2_commands_run *run)
{
	run->command.signal = o2_draw_bool(run->c, 1, 1) ? SIGTERM : SIGINT;
	run->command.words = 0;
	o2_commands_words(run, "ping --device=loop --count=1000000 --interval=3600000 " PEER);
	if (o2_commands_go(run, 1)) {
		o2_commands_says(run, "output", run->command.out,
				 PEER ": # us, pid 12345, features 0xe: 0@lo " PEER
				      "\nping: 1 done, 0 failed, 48 bytes in # s: # MB/s, #/s; #/#/# us "
				      "(min/mean/max)\n");
		o2_commands_complains(run, "o2ref: ended after 1 of 1000000 operations\n");
	}
	run->command.signal = 0;
}

/* A capture without packets; link type Ethernet. */
static const uint8_t no_packets[24] = {0xd4, 0xc3, 0xb2, 0xa1, 2, 0, 4, [18] = 1, [20] = 1};

static bool fails(struct o2_commands_run *run, const char *name, const char *why)
{
	if (!o2_commands_go(run, 2))
		return false;
	o2_commands_complains(run, "o2ref: %s: %s\n", name, why);
	return !run->report->failed;
}

static void report_in_vain(struct o2_commands_run *run)
{
	static const char *const reports[] = {"html", "junit", "sarif"};
	static const struct {
		const char *path, *why;
	} places[] = {{"/dev/full", NO_SPACE}, {"/nowhere/report", "No such file or directory"}};

	o2_command_input(&run->command, no_packets, sizeof(no_packets));
	for (size_t i = 0; i < 6; i++) {
		run->command.words = 0;
		o2_commands_words(run, "judge");
		o2_command_word(&run->command, "--%s=%s", reports[i / 2], places[i % 2].path);
		o2_commands_words(run, "-");
		if (!fails(run, places[i % 2].path, places[i % 2].why))
			break;
	}
	o2_command_input(&run->command, NULL, 0);
}

/* Decode a message; the output cannot be written. */
static void message_in_vain(struct o2_commands_run *run)
{
	static const char *const lines[] = {"decode --raw-input -", "decode --raw-input --json -", "encode -",
					    "encode --hex -"};
	const struct o2_msg noop = {.ibm_version = O2_MSG_VERSION_2,
				    .ibm_type = O2_MSG_NOOP,
				    .ibm_srcnid = UINT64_C(0x000500000a000001),
				    .ibm_srcstamp = 1,
				    .ibm_dstnid = UINT64_C(0x000500000a000002),
				    .ibm_dststamp = 2};
	uint8_t bytes[O2_MSG_BYTES];
	const struct o2_wire_options options = O2_WIRE_DEFAULTS;
	const int length = o2_msg_encode(&noop, NULL, bytes, sizeof(bytes), NULL);
	json_t *form = o2_msg_encode_input_to_json(&noop, &options);
	char *text = json_dumps(form, JSON_COMPACT);

	for (size_t i = 0; length > 0 && text != NULL && i < sizeof(lines) / sizeof(lines[0]); i++) {
		run->command.words = 0;
		o2_commands_words(run, lines[i]);
		o2_command_input(&run->command, i < 2 ? bytes : (const void *)text,
				 i < 2 ? (size_t)length : strlen(text));
		if (!fails(run, "standard output", NO_SPACE))
			break;
	}
	o2_command_input(&run->command, NULL, 0);
	free(text);
	json_decref(form);
}

/* Print a command's help, or its options; the output cannot be written. */
static void words_in_vain(struct o2_commands_run *run)
{
	static const char *const own[] = {"--help", "-h", "help", "--version", "-V", "--list-options"};
	static const char *const names[] = {"decode", "judge", "encode", "check",   "explain", "ping",
					    "put",    "get",   "lst",	 "conform", "serve"};
	const char *name = names[o2_draw_pick(run->c, sizeof(names) / sizeof(names[0]))];
	bool good = true;

	for (size_t i = 0; good && i < sizeof(own) / sizeof(own[0]); i++) {
		run->command.words = 0;
		o2_commands_words(run, own[i]);
		good = fails(run, "standard output", NO_SPACE);
	}
	for (size_t i = 0; good && i < 2; i++) {
		run->command.words = 0;
		o2_commands_words(run, name);
		o2_commands_words(run, i == 0 ? "--help" : "--list-options");
		good = fails(run, "standard output", NO_SPACE);
	}
}

static void line_in_vain(struct o2_commands_run *run)
{
	static const char *const lines[] = {
		"check --list",
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

	run->command.words = 0;
	o2_command_input(&run->command, no_packets, sizeof(no_packets));
	o2_commands_words(run, lines[o2_draw_pick(run->c, sizeof(lines) / sizeof(lines[0]))]);
	fails(run, "standard output", NO_SPACE);
	o2_command_input(&run->command, NULL, 0);
}

/* Standard output, or a report, cannot be written. */
static void say_in_vain(struct o2_commands_run *run)
{
	static void (*const kinds[])(struct o2_commands_run * run) = {words_in_vain, line_in_vain,
								      message_in_vain, report_in_vain};
	const size_t kind = o2_draw_pick(run->c, sizeof(kinds) / sizeof(kinds[0]));

	run->command.full = kind != 3;
	kinds[kind](run);
	run->command.full = false;
}

void o2_commands_own(struct o2_commands_run *run)
{
	const bool full = o2_draw_bool(run->c, 1, 3);

	run->tally.seen[full ? O2_COMMANDS_FULL : O2_COMMANDS_OWN]++;
	if (full)
		say_in_vain(run);
	else
		say_own(run);
	if (!full && !run->report->failed)
		end_by_signal(run);
	if (!full && !run->report->failed)
		refuse_place(run);
}
