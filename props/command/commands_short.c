/* SPDX-License-Identifier: MIT */
/* A network command to which an allocation is refused: docs/peer.md, "When it does not work". */
#include <stdio.h>
#include <string.h>

#include "props/command/commands.h"
#include "props/command/wrong.h"

#define PEER "10.99.0.1@o2ib"
#define MOST 52u /* allocations of those that have the most */

/* What has been done, and said, if all is as it is with all memory: the end of it. */
struct line {
	const char *words, *done;
};

/* Some can do without what was refused, all others say what they lacked. */
static void check(struct o2_commands_run *run, const char *done)
{
	const struct o2_command_run *command = &run->command;
	const bool as_ever = strstr(command->out, done) != NULL;
	const char *said = command->err;

	/* Of what the judge could not keep it says so. */
	if (strcmp(said, "o2ref: judge: not enough memory, so not all was heard\n") == 0)
		said = "";
	if (command->status == 0 ? !as_ever || said[0] != '\0'
				 : command->status < 0 || strncmp(said, "o2ref: ", 7) != 0)
		o2_commands_wrong(run, "short");
	else if (command->status != 0 && strstr(said, "memory") == NULL)
		o2_commands_wrong(run, "cause");
	else if (strstr(said, "no error") != NULL)
		o2_commands_wrong(run, "no-error");
}

void o2_commands_short(struct o2_commands_run *run)
{
	static const struct line lines[] = {
		{"ping --judge", " us, pid "},
		{"ping --json", "\"done\": 1,"},
		{"put --verify --size=5000 --fragments=3 --mode=fmr", ": 1 done, 0 failed, "},
		{"put --size=9 --count=3 --in-flight=2 --judge", ": 3 done, 0 failed, "},
		{"get --judge --json --size=3000", "\"done\": 1,"},
		{"get --verify --count=2 --size=70000", ": 2 done, 0 failed, "},
		{"lst --count=2 --judge " PEER " read", ": 2 done, 0 failed, "},
		{"lst --count=2 --concurrency=2 --json " PEER " ping", "\"done\": 2,"},
		{"conform --only=ping/one,connect/version-1,put/size-1", "3 hold, 0 findings"},
		{"conform --lst --only=ping/one,lst/ping", "2 hold, 0 findings"},
	};
	const struct line *line = &lines[o2_draw_pick(run->c, sizeof(lines) / sizeof(lines[0]))];
	struct o2_wrong wrong = {.in = O2_WRONG_NOWHERE};

	run->command.fail_nth = 1 + (uint32_t)o2_draw(run->c, MOST - 1);
	o2_commands_words(run, line->words);
	o2_commands_words(run, "--device=loop --nid=10.77.3.4@o2ib --timeout=1");
	if (strncmp(line->words, "lst", 3) != 0)
		o2_commands_words(run, PEER);
	o2_wrong_execute(&run->command, &wrong);
	run->tally.seen[O2_COMMANDS_SHORT] += run->command.failed;
	if (run->command.failed || run->command.status != 0)
		check(run, line->done);
	if (run->report->failed)
		o2_report_add(run->report, "allocation %u is refused", run->command.fail_nth);
}
