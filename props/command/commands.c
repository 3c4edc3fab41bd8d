/* SPDX-License-Identifier: MIT */
#include "props/command/commands.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const struct o2_tally_row situations[O2_COMMANDS_SITUATIONS] = {
	[O2_COMMANDS_PING] = {"ping", true},
	[O2_COMMANDS_PUT] = {"put", true},
	[O2_COMMANDS_GET] = {"get", true},
	[O2_COMMANDS_OTHER_BYTES] = {"other_bytes_than_expected", true},
	[O2_COMMANDS_NO_ROOM] = {"past_the_end", true},
	[O2_COMMANDS_CONFORM] = {"conform", true},
	[O2_COMMANDS_CONFORM_FOUND] = {"conform_with_a_quirk", true},
	[O2_COMMANDS_CONFORM_LST] = {"conform_of_a_test_node", true},
	[O2_COMMANDS_WRONG_NOT] = {"conform_of_a_peer_that_says_what_it_may", true},
	[O2_COMMANDS_WRONG_REPLY] = {"conform_of_a_wrong_reply", true},
	[O2_COMMANDS_WRONG_REJECT] = {"conform_of_a_wrong_reject", true},
	[O2_COMMANDS_WRONG_BYTES] = {"conform_of_wrong_bytes", true},
	[O2_COMMANDS_WRONG_PING] = {"conform_of_a_wrong_ping", true},
	[O2_COMMANDS_WRONG_RETURNS] = {"conform_of_wrong_returns", true},
	[O2_COMMANDS_WRONG_LST] = {"conform_of_a_wrong_test_node", true},
	[O2_COMMANDS_AT_LIMIT] = {"option_at_its_limit", true},
	[O2_COMMANDS_PAST_LIMIT] = {"option_past_its_limit", true},
	[O2_COMMANDS_PORT_TAKEN] = {"port_taken", true},
	[O2_COMMANDS_ABSENT] = {"peer_not_there", true},
	[O2_COMMANDS_MUTE] = {"peer_says_nothing", true},
	[O2_COMMANDS_JUDGED] = {"capture_judged", true},
	[O2_COMMANDS_JUDGED_FOUND] = {"capture_with_a_finding", true},
	[O2_COMMANDS_DECODED] = {"capture_decoded", true},
	[O2_COMMANDS_MESSAGE] = {"message", true},
	[O2_COMMANDS_LINES] = {"line", true},
	[O2_COMMANDS_RECORD] = {"reject_record", true},
	[O2_COMMANDS_LST] = {"lst", true},
	[O2_COMMANDS_LST_WRONG] = {"lst_with_a_wrong_bit", true},
	[O2_COMMANDS_LST_REFUSED] = {"lst_out_of_range", true},
	[O2_COMMANDS_LST_REVERSE] = {"lst_reverse", true},
	[O2_COMMANDS_LST_FAILED] = {"lst_with_a_wrong_reply", true},
	[O2_COMMANDS_SERVE] = {"serve", true},
	[O2_COMMANDS_SERVE_BACK] = {"serve_whose_client_comes_back", true},
};

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

bool o2_commands_go(struct o2_commands_run *run, int status)
{
	if (!o2_command_execute(&run->command)) {
		o2_report_fail(run->report, "commands/no-program", "o2ref is not beside this program");
		return false;
	}
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

void o2_commands_words(struct o2_commands_run *run, const char *line)
{
	while (*line != '\0') {
		const size_t length = strcspn(line, " ");

		o2_command_word(&run->command, "%.*s", (int)length, line);
		line += length + (line[length] == ' ');
	}
}

static enum o2_status run_case(void *context, struct o2_choice *choice, struct o2_report *report)
{
	static const uint32_t weights[] = {9, 3, 6, 3, 4, 1, 8, 9, 16, 5};
	struct o2_commands_run *run = context;

	o2_report_clear(report);
	run->c = choice;
	run->report = report;
	run->command.words = 0;
	run->command.input = NULL;
	run->command.input_bytes = 0;
	run->tally.cases++;
	switch (o2_draw_weighted(choice, weights, 10)) {
	case 0:
		o2_commands_net(run);
		break;
	case 1:
		o2_commands_misused(run);
		break;
	case 2:
		o2_commands_capture(run);
		break;
	case 3:
		o2_commands_conform(run);
		break;
	case 4:
		o2_commands_lines(run);
		break;
	case 5:
		o2_commands_reject(run);
		break;
	case 6:
		o2_commands_lst(run);
		break;
	case 7:
		o2_commands_serve(run);
		break;
	case 8:
		o2_commands_wrongly(run);
		break;
	default:
		o2_commands_gone(run);
		break;
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

static void print_held(const void *context, FILE *out)
{
	(void)context;
	fprintf(out, "held\n");
}

struct o2_property o2_commands_property(struct o2_commands_run *run)
{
	static const struct o2_property_ops ops = {
		O2_TALLY_PROPERTY(
			"commands",
			"o2ref says what it was asked for: what it moves, and what is in a capture"),
	};

	return o2_tally_property(&ops, run == NULL ? NULL : &run->tally, situations, O2_COMMANDS_SITUATIONS,
				 400);
}
