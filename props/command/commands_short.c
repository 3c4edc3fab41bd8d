/* SPDX-License-Identifier: MIT */
/* A network command with a failing allocation: docs/peer.md, "When it does not work". */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "props/command/commands.h"
#include "props/command/serve.h"
#include "props/command/wrong.h"

#define PEER "10.99.0.1@o2ib"
#define RUNS 2u /* per case; each with another failing allocation */

/* A command line, and `done`: a text that must be printed on success. */
struct line {
	const char *words, *done;
	uint32_t count, most; /* operations asked for; approximate number of allocations */
};

/* Read how many operations were done and failed, from text or JSON; false: not printed. */
static bool read_counts(const char *out, uint64_t *done, uint64_t *failed)
{
	const char *words = strstr(out, " done, "), *json = strstr(out, "\"done\": ");

	while (words != NULL && words > out && words[-1] >= '0' && words[-1] <= '9')
		words--;
	if (words != NULL)
		return sscanf(words, "%" SCNu64 " done, %" SCNu64 " failed", done, failed) == 2;
	return json != NULL && sscanf(json, "\"done\": %" SCNu64 ", \"failed\": %" SCNu64, done, failed) == 2;
}

/* Some commands succeed without the allocation; all others must report a lack of memory. */
static void check(struct o2_commands_run *run, const struct line *line)
{
	const struct o2_command_run *command = &run->command;
	const bool as_ever = strstr(command->out, line->done) != NULL;
	const char *said = command->err;
	uint64_t done = 0, failed = 0;

	if (command->status == 0
		    ? !as_ever || said[0] != '\0'
		    : command->status < 0 || command->status > 2 || strncmp(said, "o2ref: ", 7) != 0)
		o2_commands_wrong(run, "short");
	else if (command->status != 0 && strstr(said, "memory") == NULL)
		o2_commands_wrong(run, "cause");
	else if (strstr(said, "no error") != NULL)
		o2_commands_wrong(run, "no-error");
	else if (strstr(command->out, "FINDING") != NULL || strstr(command->out, "\"finding\"") != NULL)
		o2_commands_wrong(run, "accused");
	else if (strncmp(line->words, "conform", 7) == 0 && command->status == 1 &&
		 strstr(command->out, ", 0 tolerated, ") == NULL &&
		 strstr(command->out, "\"tolerated\": 0,") == NULL)
		o2_commands_wrong(run, "tolerated");
	else if (command->status != 0 && strstr(command->out, "\"whole\": true") != NULL)
		o2_commands_wrong(run, "whole");
	else if (read_counts(command->out, &done, &failed) &&
		 (done > line->count || failed > line->count || done + failed > line->count))
		o2_commands_wrong(run, "count");
}

static void ask_a_peer(struct o2_commands_run *run, const struct line *line)
{
	struct o2_wrong wrong = {.in = O2_WRONG_NOWHERE};

	o2_commands_words(run, "--device=loop --nid=10.77.3.4@o2ib --timeout=1");
	if (strncmp(line->words, "lst", 3) != 0)
		o2_commands_words(run, PEER);
	o2_wrong_execute(&run->command, &wrong);
}

/* Nobody connects, and then serve is told to stop. */
static void serve_nobody(struct o2_commands_run *run)
{
	static struct o2_serve_script script; /* large */

	memset(&script, 0, sizeof(script));
	o2_commands_words(run, "--device=loop0 --nid=" O2_SERVE_NID);
	o2_serve_execute(&run->command, &script);
}

static void refuse(struct o2_commands_run *run, const struct line *line, uint32_t nth)
{
	run->command.words = 0;
	run->command.fail_nth = nth;
	run->command.failed = false;
	o2_commands_words(run, line->words);
	if (strncmp(line->words, "serve", 5) == 0)
		serve_nobody(run);
	else
		ask_a_peer(run, line);
	run->tally.seen[O2_COMMANDS_SHORT] += run->command.failed;
	if (run->command.failed || run->command.status != 0)
		check(run, line);
	if (run->report->failed)
		o2_report_add(run->report, "allocation %" PRIu32 " is refused", nth);
}

/* Let each of the command's own allocations fail, one per run. */
static void refuse_each(struct o2_commands_run *run)
{
	static const struct line lines[] = {
		{"serve --verify", "serve: 0 done, 0 failed, ", 0, 0},
		{"serve --lst --judge --json", "\"done\": 0,", 0, 0},
		{"conform --place-bytes=2097152 --lst --only=lst/session", "1 hold, 0 findings", UINT32_MAX,
		 0},
	};
	const struct line *line = &lines[o2_draw_pick(run->c, sizeof(lines) / sizeof(lines[0]))];
	uint32_t nth = 0;

	do
		refuse(run, line, ++nth);
	while (run->command.failed && !run->report->failed && run->command.left == 0);
}

/* Let some allocations fail: there are many, and each run costs as much as the command. */
static void refuse_some(struct o2_commands_run *run)
{
	static const struct line lines[] = {
		{"ping --judge", " us, pid ", 1, 29},
		{"ping --json", "\"done\": 1,", 1, 62},
		{"put --verify --size=5000 --fragments=3 --mode=fmr", ": 1 done, 0 failed, ", 1, 32},
		{"put --size=9 --count=3 --in-flight=2 --judge", ": 3 done, 0 failed, ", 3, 36},
		{"get --judge --json --size=3000", "\"done\": 1,", 1, 91},
		{"get --verify --count=2 --size=70000", ": 2 done, 0 failed, ", 2, 33},
		{"lst --count=2 --judge " PEER " read", ": 2 done, 0 failed, ", 2, 55},
		{"lst --count=2 --concurrency=2 --json " PEER " ping", "\"done\": 2,", 2, 127},
		{"lst --reverse --count=2 " PEER " write", ": 2 done, 0 failed, ", 2, 46},
		{"conform --place-bytes=2097152 --only=ping/one,connect/version-1,put/size-1",
		 "3 hold, 0 findings", UINT32_MAX, 284},
		{"conform --place-bytes=2097152 --json --only=ping/one,put/no-ack,get/size-1",
		 "\"holds\": 3,", UINT32_MAX, 330},
		{"conform --place-bytes=2097152 --lst --only=ping/one,lst/ping", "2 hold, 0 findings",
		 UINT32_MAX, 330},
		{"conform --place-bytes=2097152 --lst --only=lst/session,lst/read-longer",
		 "2 hold, 0 findings", UINT32_MAX, 330},
	};
	static const uint32_t begin[] = {0, 4, 6, 6}; /* start of the range, in eighths */
	const struct line *line = &lines[o2_draw_pick(run->c, sizeof(lines) / sizeof(lines[0]))];

	/* The first allocations are the same for all commands, so prefer the later ones. */
	for (uint32_t i = 0; i < RUNS && !run->report->failed && run->command.left == 0; i++) {
		const uint32_t before = begin[o2_draw_pick(run->c, 4)] * (line->most / 8);

		refuse(run, line, 1 + before + (uint32_t)o2_draw(run->c, line->most - before - 1));
	}
}

void o2_commands_short(struct o2_commands_run *run)
{
	if (o2_draw_bool(run->c, 3, 1))
		refuse_each(run);
	else
		refuse_some(run);
}
