/* SPDX-License-Identifier: MIT */
/* Captures of conversations: decode must print their content, judge the findings that a hearing had here. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/ladder.h"
#include "props/command/commands.h"
#include "props/command/commands_live.h"
#include "props/command/told_report.h"
#include "props/judge/verdicts.h"

#define BROKEN_MOST 20000u /* bytes before an input fails; a socket holds at least so many */

static struct o2_capture_file file;
static struct o2_told told;
static struct o2_judge_finding findings[O2_HEARING_LOG];

static void start(struct o2_commands_run *run, const char *command)
{
	run->command.words = 0;
	o2_command_input(&run->command, file.bytes, file.length);
	o2_command_word(&run->command, "%s", command);
}

/* --- decode --- */

/* The number of refused messages is reported at the end. */
static bool decoded(struct o2_commands_run *run)
{
	char expected[80];

	if (!o2_commands_go(run, told.refused != 0))
		return false;
	snprintf(expected, sizeof(expected), "o2ref: standard input: %" PRIu64 " message%s refused\n",
		 told.refused, told.refused == 1 ? "" : "s");
	if (told.refused != 0 && strcmp(run->command.err, expected) != 0)
		o2_commands_wrong(run, "complaint");
	return !run->report->failed;
}

static void decode_json(struct o2_commands_run *run)
{
	const char *line = run->command.out;
	size_t i;
	json_t *expected;

	start(run, "decode");
	o2_commands_words(run, "--pcap --json -");
	if (!decoded(run))
		return;
	json_array_foreach(told.rows, i, expected) {
		json_t *found = json_loads(line, JSON_DISABLE_EOF_CHECK, NULL);
		const bool equal = json_equal(found, expected);

		json_decref(found);
		if (!equal) {
			char *text = json_dumps(expected, JSON_COMPACT);

			o2_report_fail(run->report, "commands/decode/row", "expected %s", text);
			o2_report_add(run->report, "found %.*s", (int)strcspn(line, "\n"), line);
			free(text);
			return;
		}
		line += strcspn(line, "\n") + 1;
	}
	if (line[0] != '\0')
		o2_commands_wrong(run, "more-rows");
}

static void decode_text(struct o2_commands_run *run, const char *expected)
{
	start(run, "decode");
	o2_commands_words(run, "--pcap -");
	if (decoded(run))
		o2_commands_decodes(run, "line", expected);
}

/* --- judge --- */

enum view {
	HTML,
	JUNIT,
	SARIF,
	VIEWS,
};

/* Make the text that a function predicts.  The caller owns *text. */
#define SAY(text, CALL)                                       \
	do {                                                  \
		size_t bytes_;                                \
		FILE *out = open_memstream(&(text), &bytes_); \
                                                              \
		CALL;                                         \
		fclose(out);                                  \
	} while (0)

/* Expect equal texts; report both from the first line that differs. */
static void hold(struct o2_commands_run *run, const char *what, const char *found, const char *expected)
{
	size_t at, line;

	if (strcmp(found, expected) == 0)
		return;
	at = o2_commands_differ_at(expected, found, &line);
	/* For a long line, report only the end before the difference. */
	line = at - line > 60 ? at - 60 : line;
	o2_commands_other_line(run->report, "commands", what, expected + line, found + line);
}

static void hold_json(struct o2_commands_run *run, const char *what, const json_t *found, json_t *expected)
{
	char *text, *other;

	if (!json_equal(found, expected)) {
		text = json_dumps(expected, JSON_SORT_KEYS | JSON_INDENT(1));
		other = json_dumps(found, JSON_SORT_KEYS | JSON_INDENT(1));
		hold(run, what, other == NULL ? "-" : other, text == NULL ? "-" : text);
		free(text);
		free(other);
	}
	json_decref(expected);
}

static void check_page(struct o2_commands_run *run, const struct o2_told_report *report, uint64_t first)
{
	static const char start_of[] = "<!DOCTYPE html>\n<html lang=\"en\"><head>";
	const char *body = strstr(run->command.file[HTML], "</style></head><body>\n");
	char *text = NULL;
	size_t before;

	SAY(text, o2_told_page(out, report, first));
	if (body == NULL || strncmp(run->command.file[HTML], start_of, sizeof(start_of) - 1) != 0) {
		o2_commands_wrong(run, "page");
	} else {
		body = strchr(body, '\n') + 1;
		before = (size_t)(body - run->command.file[HTML]);
		/* Of a long output only the beginning was kept. */
		if (strlen(text) > O2_COMMAND_BYTES - before)
			text[O2_COMMAND_BYTES - before] = '\0';
		hold(run, "judge/page", body, text);
	}
	free(text);
}

static void check_junit(struct o2_commands_run *run, const struct o2_told_report *report)
{
	char *text = NULL;

	SAY(text, o2_told_junit(out, report));
	hold(run, "judge/junit", run->command.file[JUNIT], text);
	free(text);
}

static void check_sarif(struct o2_commands_run *run, const struct o2_told_report *report)
{
	json_t *found = json_loads(run->command.file[SARIF], 0, NULL);
	json_t *program = json_array_get(json_object_get(found, "runs"), 0);

	program = json_object_get(json_object_get(program, "tool"), "driver");
	if (json_string_length(json_object_get(program, "version")) == 0)
		o2_commands_wrong(run, "version");
	json_object_del(program, "version");
	hold_json(run, "judge/sarif", found, o2_told_sarif(report));
	json_decref(found);
}

/* Check the objects, one per line. */
static void check_objects(struct o2_commands_run *run, const struct o2_told_report *report)
{
	const char *line = run->command.out;

	for (uint32_t i = 0; i < report->nfiles; i++) {
		const struct o2_told_file *of = &report->file[i];
		json_t *found = json_loads(line, JSON_DISABLE_EOF_CHECK, NULL);

		hold_json(run, "judge/report", found,
			  of->why != NULL ? o2_told_json_error(of) : o2_told_json(report, of->name));
		json_decref(found);
		line += strcspn(line, "\n");
		line += line[0] == '\n';
	}
	if (line[0] != '\0' && !run->report->failed)
		o2_commands_wrong(run, "more-reports");
}

static void check_report(struct o2_commands_run *run, const struct o2_told_report *report, bool json)
{
	char *text = NULL;

	if (json) {
		check_objects(run, report);
		return;
	}
	SAY(text, o2_told_text(out, report));
	hold(run, "judge/text", run->command.out, text);
	free(text);
}

/* The same capture again, and files that are no captures. */
static const struct o2_told_file other_files[] = {
	{.name = "/proc/self/fd/0"},
	{.name = "/dev/null",
	 .why = "truncated dump file; tried to read 4 file header bytes, only got 0",
	 .opened = true},
	{.name = "/nowhere", .why = "cannot be opened"},
};

/* Draw the files; standard input occurs at most once. */
static void draw_files(struct o2_choice *c, struct o2_told_report *report)
{
	const uint32_t count = 2 + (uint32_t)o2_draw(c, O2_TOLD_FILES - 2);
	const uint32_t first = (uint32_t)o2_draw_pick(c, count);

	for (uint32_t i = 0; i < count; i++)
		if (i != first)
			report->file[i] =
				other_files[o2_draw_pick(c, sizeof(other_files) / sizeof(other_files[0]))];
	report->file[first] = (struct o2_told_file){.name = "standard input"};
	report->nfiles = count;
}

/* The worst status of all files. */
static int status_of(const struct o2_told_report *report)
{
	int status = report->times[O2_JUDGE_MUST] != 0;

	for (uint32_t i = 0; i < report->nfiles; i++)
		if (report->file[i].why != NULL)
			status = !report->file[i].opened || status == 2 ? 2 : 1;
	return status;
}

static void check_complaints(struct o2_commands_run *run, const struct o2_told_report *report)
{
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	if (out == NULL)
		return;
	for (uint32_t i = 0; i < report->nfiles; i++)
		if (report->file[i].why != NULL)
			fprintf(out, "o2ref: %s: %s\n", report->file[i].name,
				report->file[i].opened ? report->file[i].why : "No such file or directory");
	fclose(out);
	hold(run, "judge/complaints", run->command.err, text);
	free(text);
}

static void judge(struct o2_commands_run *run, const struct o2_hearing *h)
{
	static const char *const names[] = {[HTML] = "html", [JUNIT] = "junit", [SARIF] = "sarif"};
	static struct o2_told_report report;
	const bool json = o2_draw_bool(run->c, 1, 1);
	const bool listens = o2_commands_can_listen(run, &file) && o2_draw_bool(run->c, 1, 1);
	uint64_t first = 1000;
	bool wanted[VIEWS], good;

	o2_told_add_up(&report, &told, h);
	start(run, "judge");
	o2_command_word_if(&run->command, json, "--json");
	o2_command_word(&run->command, "--timeout=%" PRIu64, h->options.timeout_ms);
	o2_command_word(&run->command, "--keepalive=%" PRIu64, h->options.keepalive_ms);
	for (uint32_t i = 0; i < VIEWS; i++) {
		wanted[i] = o2_draw_bool(run->c, 1, 2) &&
			    !(i == HTML && told.nsteps * (told.ntwins + 1) > O2_LADDER_RECENT);
		if (wanted[i])
			o2_command_word(&run->command, "--%s=" O2_COMMAND_FILE, names[i], O2_COMMAND_FD(i));
	}
	if (wanted[HTML] && o2_draw_bool(run->c, 1, 1)) {
		first = o2_draw(run->c, o2_draw_bool(run->c, 1, 1) ? 4 : told.nsteps);
		o2_command_word(&run->command, "--events=%" PRIu64, first);
	}
	if (listens)
		o2_commands_listen(run, &file, &report);
	else if (o2_draw_bool(run->c, 3, 1))
		draw_files(run->c, &report);
	for (uint32_t i = 0; i < report.nfiles && !listens; i++)
		o2_command_word(&run->command, "%s",
				report.file[i].name[0] == '/' ? report.file[i].name : "-");
	run->tally.seen[h->nlog == 0 ? O2_COMMANDS_JUDGED : O2_COMMANDS_JUDGED_FOUND]++;
	run->tally.seen[O2_COMMANDS_JUDGED_FILES] += report.nfiles > 1;
	run->tally.seen[O2_COMMANDS_PAGE_REJECT] += wanted[HTML] && told.rejected;
	run->tally.seen[O2_COMMANDS_PAGE_SEVERAL] += wanted[HTML] && told.ntwins > 0 && h->nlog != 0;
	run->tally.seen[O2_COMMANDS_JUDGED_ENDED] += told.ended;
	run->tally.seen[O2_COMMANDS_JUDGED_SEVERAL] += told.ntwins > 0;
	run->tally.seen[O2_COMMANDS_JUDGED_LOST] += told.lost;
	run->tally.seen[O2_COMMANDS_JUDGED_NAK] += told.nacked;
	run->tally.seen[O2_COMMANDS_JUDGED_REJECT] += told.rejected;
	good = o2_commands_go(run, status_of(&report));
	if (listens)
		o2_commands_listened(run);
	if (!good)
		return;
	if (listens)
		o2_commands_take_findings(run, &report, json);
	check_complaints(run, &report);
	check_report(run, &report, json);
	if (wanted[HTML])
		check_page(run, &report, first);
	if (wanted[JUNIT])
		check_junit(run, &report);
	if (wanted[SARIF])
		check_sarif(run, &report);
}

/* A file that is no capture, has an unknown link type, or ends inside a packet: one line must say so. */
static void read_in_vain(struct o2_commands_run *run)
{
	static const uint32_t others[] = {105, 0, 2, 112, 114, 198, 246, 248, 275, 277};
	static const char *const reads[] = {"decode --pcap -", "decode --pcap --json -", "judge -",
					    "judge --json -"};
	const uint64_t which = o2_draw(run->c, 3), reader = o2_draw(run->c, 3);
	const uint32_t other = others[o2_draw_pick(run->c, sizeof(others) / sizeof(others[0]))];
	char expected[128];

	run->command.words = 0;
	o2_command_input(&run->command, file.bytes, file.length);
	snprintf(expected, sizeof(expected), "o2ref: standard input: truncated dump file; tried to read ");
	if (which == 0) {
		run->command.input_bytes = o2_draw(run->c, 23);
	} else if (which == 1) {
		for (int i = 0; i < 4; i++)
			file.bytes[20 + i] = (uint8_t)(other >> 8 * (file.big_endian ? 3 - i : i));
		snprintf(expected, sizeof(expected),
			 "o2ref: standard input: cli/pcap/link-type: link_type is %" PRIu32 " (", other);
	} else if (which == 2) {
		file.bytes[0] ^= 0x55;
		snprintf(expected, sizeof(expected), "o2ref: standard input: unknown file format");
	} else {
		run->command.input_bytes = file.last_record + 1 + o2_draw(run->c, 14);
		snprintf(expected, sizeof(expected),
			 "o2ref: standard input: packet %" PRIu32
			 ": truncated dump file; tried to read 16 header bytes, only got %zu",
			 file.packets, run->command.input_bytes - file.last_record);
	}
	o2_commands_words(run, reads[reader]);
	run->tally.seen[O2_COMMANDS_NO_CAPTURE]++;
	if (!o2_commands_go(run, 1))
		return;
	if (strstr(run->command.err, expected) == NULL)
		o2_commands_wrong(run, "no-capture");
	/* Packets before the end of a truncated file are printed. */
	if (which < 3 && reader < 2 && run->command.out[0] != '\0')
		o2_commands_wrong(run, "no-capture-output");
}

/* Reading the input fails in its middle: a line must say why. */
static void read_broken(struct o2_commands_run *run)
{
	static const char *const reads[] = {"decode --pcap -", "judge -",  "judge --json -",
					    "decode -",	       "encode -", "decode --reject -"};
	const size_t reader = o2_draw_pick(run->c, sizeof(reads) / sizeof(reads[0]));
	static const char why[] = ": Connection reset by peer\n";
	const char *err = run->command.err;

	run->command.words = 0;
	o2_command_input(&run->command, file.bytes,
			 o2_draw(run->c, file.length < BROKEN_MOST ? file.length : BROKEN_MOST));
	run->command.broken = true;
	o2_commands_words(run, reads[reader]);
	run->tally.seen[O2_COMMANDS_BROKEN]++;
	if (o2_commands_go(run, 2) &&
	    (strncmp(err, "o2ref: standard input: ", 23) != 0 || strlen(err) < sizeof(why) ||
	     strcmp(err + strlen(err) + 1 - sizeof(why), why) != 0))
		o2_commands_wrong(run, "broken");
	run->command.broken = false;
}

static bool has_found(const struct o2_hearing *h, enum o2_judge_rule_id rule)
{
	for (uint32_t i = 0; i < h->nlog; i++)
		if (h->log[i].rule == rule)
			return true;
	return false;
}

void o2_commands_capture(struct o2_commands_run *run)
{
	static struct o2_tally counts;
	struct o2_hearing *h = &run->hearing;
	static const uint32_t kinds[] = {4, 4, 2, 2, 3};
	const uint64_t kind = o2_draw_weighted(run->c, kinds, 5);
	char *text = NULL;
	size_t text_bytes = 0;

	memset(h, 0, sizeof(*h));
	memset(&told, 0, sizeof(told));
	h->c = told.c = run->c;
	h->report = run->report;
	h->tap = o2_told_event;
	h->tap_context = &told;
	h->log = findings;
	told.file = &file;
	told.hearing = h;
	told.decoded = kind == 2 || kind == 3;
	told.text = open_memstream(&text, &text_bytes);
	o2_told_start(&told);
	if (kind < 2)
		o2_told_twins(&told);
	o2_verdicts_tell(h, &counts);
	o2_told_end(&told);
	fclose(told.text);
	/*
	 * Twins would change what the judge compares: a request with the answer to the one before, and what a GET
	 * brings with what was last PUT there.
	 */
	told.untold |= told.ntwins > 0 && (told.rejected || has_found(h, O2_JUDGE_PAYLOAD_GET));
	if (!told.untold && !file.full && h->nlog < O2_HEARING_LOG && !run->report->failed) {
		switch (kind) {
		case 0:
		case 1:
			judge(run, h);
			break;
		case 2:
			decode_json(run);
			break;
		case 3:
			decode_text(run, text);
			break;
		default:
			o2_commands_message(run, &told.said, told.bytes);
			break;
		}
		run->tally.seen[O2_COMMANDS_DECODED] += told.decoded;
		run->tally.seen[O2_COMMANDS_FRONTS] += kind < 4 && told.fronts;
		/* This check is cheap. */
		if (!run->report->failed && o2_draw_bool(run->c, 1, 1))
			read_broken(run);
		if (!run->report->failed && o2_commands_can_listen(run, &file) && o2_draw_bool(run->c, 1, 1))
			o2_commands_listen_in_vain(run, &file);
		if (!run->report->failed && file.packets != 0 && o2_draw_bool(run->c, 1, 1))
			read_in_vain(run);
	}
	o2_told_free(&told);
	free(text);
}
