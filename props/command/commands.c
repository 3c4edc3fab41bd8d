/* SPDX-License-Identifier: MIT */
#include "props/command/commands.h"

#include <ctype.h>
#include <inttypes.h>
#include <malloc.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"

#define JUNK	0xa5
#define STARVED 4u /* runs per command, each with another failing allocation */

static const char *const situations[O2_COMMANDS_SITUATIONS] = {O2_COMMANDS_SITUATION_LIST(O2_SITUATION_NAME)};

static void add_line(struct o2_report *report, const char *what, const char *text)
{
	o2_report_add(report, "%s: %.*s", what, (int)strcspn(text, "\n"), text);
}

void o2_commands_wrong(struct o2_commands_run *run, const char *what)
{
	const struct o2_command_run *command = &run->command;
	char signature[96];

	snprintf(signature, sizeof(signature), "commands/%.20s/%s", command->word[0], what);
	o2_report_fail(run->report, signature, "exit status %d", command->status);
	add_line(run->report, "standard output", command->out);
	add_line(run->report, "standard error", command->err);
}

/* Commands without a network can be called in a child of this process, where their memory is checked. */
static void choose_place(struct o2_commands_run *run)
{
	static const struct {
		const char *name;
		int (*command)(int argc, char **argv);
	} own[] = {{"decode", o2_cli_decode}, {"judge", o2_cli_judge}, {"encode", o2_cli_encode}};
	struct o2_command_run *command = &run->command;

	command->command = NULL;
	if (!run->inside || command->memory == NULL || command->words == 0)
		return;
	for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
		if (strcmp(command->word[0], own[i].name) == 0)
			command->command = own[i].command;
}

/* Did the command report lack of memory, and end? */
static bool lacks_memory(const struct o2_command_run *run)
{
	return run->failed && run->status > 0 && strncmp(run->err, "o2ref: ", 7) == 0 &&
	       strstr(run->err, "memory") != NULL && strstr(run->err, "no error") == NULL;
}

static bool same(const struct o2_command_run *run, const struct o2_command_run *other)
{
	for (uint32_t i = 0; i < O2_COMMAND_FILES; i++)
		if (strcmp(run->file[i], other->file[i]) != 0)
			return false;
	return run->status == other->status && strcmp(run->out, other->out) == 0 &&
	       strcmp(run->err, other->err) == 0;
}

/* Copy the outcome; of the texts only the used part. */
static void keep(struct o2_command_run *run, const struct o2_command_run *other)
{
	memcpy(run, other, offsetof(struct o2_command_run, out));
	strcpy(run->out, other->out);
	strcpy(run->err, other->err);
	for (uint32_t i = 0; i < O2_COMMAND_FILES; i++)
		strcpy(run->file[i], other->file[i]);
}

/* Whichever allocation fails, the command must report it, or do the same as with all memory. */
static void starve(struct o2_commands_run *run)
{
	static struct o2_command_run whole;
	struct o2_command_run *command = &run->command;
	const char *what = NULL;

	keep(&whole, command);
	for (uint32_t i = 0; i < STARVED && whole.made != 0 && whole.left == 0 && !run->report->failed; i++) {
		command->fail_nth = 1 + (uint32_t)o2_draw(run->c, UINT32_MAX) % whole.made;
		o2_command_execute(command);
		run->tally.seen[O2_COMMANDS_SHORT_INSIDE] += command->failed;
		what = command->left != 0				  ? "left"
		       : command->open != 0				  ? "open"
		       : !lacks_memory(command) && !same(command, &whole) ? "starved"
									  : NULL;
		if (what != NULL) {
			o2_commands_wrong(run, what);
			o2_report_add(run->report, "allocation %" PRIu32 " of %" PRIu32 " is refused",
				      command->fail_nth, whole.made);
		}
	}
	if (!run->report->failed)
		keep(command, &whole);
}

bool o2_commands_go(struct o2_commands_run *run, int status)
{
	choose_place(run);
	if (!o2_command_execute(&run->command)) {
		o2_report_fail(run->report, "commands/no-program", "o2ref is not beside this program");
		return false;
	}
	if (run->command.command != NULL && run->starved)
		starve(run);
	if (run->greeting != NULL && strncmp(run->command.err, run->greeting, strlen(run->greeting)) == 0)
		memmove(run->command.err, run->command.err + strlen(run->greeting),
			strlen(run->command.err + strlen(run->greeting)) + 1);
	else if (run->greeting != NULL)
		o2_commands_wrong(run, "greeting");
	if (run->report->failed)
		return false;
	if (run->command.status == status && (status != 0 || run->command.err[0] == '\0'))
		return true;
	o2_commands_wrong(run, "status");
	o2_report_add(run->report, "expected exit status %d%s", status,
		      status == 0 ? ", and nothing on standard error" : "");
	return false;
}

bool o2_commands_fits(const char *text, const char *pattern)
{
	for (; *pattern != '\0'; pattern++) {
		if (*pattern != '#') {
			if (*text++ != *pattern)
				return false;
			continue;
		}
		if (!isdigit((unsigned char)*text))
			return false;
		text += strspn(text, "0123456789.");
	}
	return *text == '\0';
}

void o2_commands_says(struct o2_commands_run *run, const char *what, const char *text, const char *format,
		      ...)
{
	char pattern[2048];
	va_list list;

	va_start(list, format);
	vsnprintf(pattern, sizeof(pattern), format, list);
	va_end(list);
	if (run->report->failed || o2_commands_fits(text, pattern))
		return;
	o2_commands_wrong(run, what);
	o2_report_add(run->report, "expected %s", pattern);
}

void o2_commands_other_line(struct o2_report *report, const char *part, const char *what,
			    const char *expected, const char *found)
{
	o2_report_fail_in(report, part, what, "expected %.*s", (int)strcspn(expected, "\n"), expected);
	o2_report_add(report, "found    %.*s", (int)strcspn(found, "\n"), found);
}

size_t o2_commands_differ_at(const char *expected, const char *found, size_t *line)
{
	size_t at = 0;

	*line = 0;
	for (; expected[at] != '\0' && expected[at] == found[at]; at++)
		if (expected[at] == '\n')
			*line = at + 1;
	return at;
}

void o2_commands_decodes(struct o2_commands_run *run, const char *what, const char *expected)
{
	const char *found = run->command.out;
	size_t line;

	if (run->report->failed || strcmp(found, expected) == 0)
		return;
	(void)o2_commands_differ_at(expected, found, &line);
	o2_commands_other_line(run->report, "commands/decode", what, expected + line, found + line);
}

void o2_commands_words(struct o2_commands_run *run, const char *line)
{
	while (*line != '\0') {
		const size_t length = strcspn(line, " ");

		o2_command_word(&run->command, "%.*s", (int)length, line);
		line += length + (line[length] == ' ');
	}
}

#define KINDS 18u

static void (*const kinds[KINDS])(struct o2_commands_run *run) = {
	o2_commands_net,    o2_commands_misused, o2_commands_capture, o2_commands_conform, o2_commands_lines,
	o2_commands_reject, o2_commands_lst,	 o2_commands_serve,   o2_commands_wrongly, o2_commands_gone,
	o2_commands_short,  o2_commands_device,	 o2_commands_options, o2_commands_liar,	   o2_commands_answer,
	o2_commands_own,    o2_commands_places,	 o2_commands_middle};
static const uint32_t weights[KINDS] = {14, 3, 20, 8, 9, 3, 11, 8, 16, 6, 4, 6, 2, 5, 6, 4, 7, 4};

static enum o2_status run_case(void *context, struct o2_choice *choice, struct o2_report *report)
{
	struct o2_commands_run *run = context;
	const struct o2_command_memory *memory = run->command.memory;

	o2_report_clear(report);
	run->c = choice;
	run->report = report;
	/* Clear all but the last outcome, which is large. */
	memset(&run->command, 0, offsetof(struct o2_command_run, status));
	run->command.memory = memory;
	run->inside = o2_draw_bool(choice, 1, 2);
	run->starved = run->inside && o2_draw_bool(choice, 1, 1);
	/*
	 * Fill new memory with junk, so that uninitialized memory is never zero by chance; alloc_fault.h fills only
	 * the beginning of large pieces. Off when starving, which runs the command many times.
	 */
	mallopt(M_PERTURB, run->inside && !run->starved ? JUNK : 0);
	run->greeting = NULL;
	run->tally.cases++;
	kinds[o2_draw_weighted(choice, weights, KINDS)](run);
	if (!report->failed && run->command.left != 0) {
		o2_commands_wrong(run, "left");
		o2_report_add(report, "%d allocations are left", (int)run->command.left);
	}
	if (!report->failed && run->command.open != 0) {
		o2_commands_wrong(run, "open");
		o2_report_add(report, "%d files are open still", run->command.open);
	}
	return o2_choice_status(choice, report->failed ? O2_STATUS_INTERESTING : O2_STATUS_VALID);
}

static void print(const void *context, uint32_t pieces, FILE *out)
{
	const struct o2_commands_run *run = context;

	(void)pieces;
	fprintf(out, "o2ref");
	for (uint32_t i = 0; i < run->command.words; i++)
		fprintf(out, " %s", run->command.word[i]);
	fprintf(out, run->command.input == NULL ? "\n" : ", with %zu bytes on standard input\n",
		run->command.input_bytes);
}

struct o2_property o2_commands_property(struct o2_commands_run *run)
{
	static const struct o2_property_ops ops = {
		O2_TALLY_HELD("commands",
			      "o2ref says what it was asked for: what it moves, and what is in a capture",
			      ""),
	};

	return o2_tally_property(&ops, run, situations, O2_COMMANDS_SITUATIONS, 1000);
}
