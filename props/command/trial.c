/* SPDX-License-Identifier: MIT */
/* The reports of o2ref conform: docs/conform.md. */
#include "props/command/trial.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "props/command/told_report.h"

#define MUTE	    "the peer does not answer a ping, so nothing else was tried"
#define PEER	    "10.99.0.1@o2ib"
#define SHOWN_BYTES 64u

uint64_t o2_trial_count(const struct o2_trial *trial, const char *outcome)
{
	uint64_t count = strcmp(outcome, "not tried") == 0 ? trial->unnamed : 0;

	for (uint32_t i = 0; i < trial->rows; i++)
		count += strcmp(trial->row[i].outcome, outcome) == 0;
	return count;
}

/* Append a word quoted for a shell: in quotes if it has other characters than these. */
static size_t quoted(const char *word, char *text, size_t bytes)
{
	size_t used = 0;

	for (const char *at = word; *at != '\0'; at++)
		if (!isalnum((unsigned char)*at) && strchr("@%+=:,./_-", *at) == NULL) {
			used += (size_t)snprintf(text, bytes, " '");
			for (at = word; *at != '\0'; at++)
				used += (size_t)snprintf(text + used, bytes - used,
							 *at == '\'' ? "'\\%c'" : "%c", *at);
			return used + (size_t)snprintf(text + used, bytes - used, "'");
		}
	return (size_t)snprintf(text, bytes, " %s", word);
}

/* The command that repeats a probe: without the words that docs/conform.md says are left out. */
static void again(const struct o2_trial *trial, const char *id, char *text, size_t bytes)
{
	static const char *const left_out[] = {"--only", "--out", "--known", "--json"};
	const struct o2_command_run *command = &trial->run->command;
	size_t used = (size_t)snprintf(text, bytes, "o2ref");

	for (uint32_t i = 0; i < command->words; i++) {
		const char *word = command->word[i];
		bool drop = false;

		for (size_t k = 0; k < 4; k++)
			if (strncmp(word, left_out[k], strlen(left_out[k])) == 0) {
				drop = true;
				i += k < 3 && word[strlen(left_out[k])] == '\0';
			}
		if (!drop)
			used += quoted(word, text + used, bytes - used);
	}
	snprintf(text + used, bytes - used, " --only %s", id);
}

static void differs(struct o2_trial *trial, const char *what, const char *expected, const char *found)
{
	if (!trial->run->report->failed)
		o2_commands_other_line(trial->run->report, "commands/conform", what, expected, found);
}

/* --- text --- */

struct reading {
	struct o2_trial *trial;
	const char *at;
};

static void line_is(struct reading *reading, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Expect a line that is this text, or begins with it; the rest goes to *rest. */
static void line_is(struct reading *reading, const char *format, ...)
{
	char expected[2048];
	const size_t length = strcspn(reading->at, "\n");
	va_list list;

	va_start(list, format);
	vsnprintf(expected, sizeof(expected), format, list);
	va_end(list);
	if (strlen(expected) != length || strncmp(expected, reading->at, length) != 0)
		differs(reading->trial, "text", expected, reading->at);
	reading->at += length + (reading->at[length] == '\n');
}

/* Expect the first 64 bytes, in groups of four, and ".." if there are more. */
static void check_shown(struct o2_trial *trial, const char *heard)
{
	unsigned int bytes = 0;
	bool shown = true;
	const char *text;
	int at = 0;

	if (sscanf(heard, "a %*s of %u bytes: %n", &bytes, &at) != 1 || at == 0)
		return;
	text = heard + at;
	for (unsigned int i = 0; i < bytes && i < SHOWN_BYTES && shown; i++) {
		if (i > 0 && i % 4 == 0)
			shown = *text++ == ' ';
		shown = shown && isxdigit((unsigned char)text[0]) && isxdigit((unsigned char)text[1]);
		text += 2;
	}
	if (!shown || strcmp(text, bytes > SHOWN_BYTES ? " .." : "") != 0)
		differs(trial, "shown", "its first 64 bytes", heard);
}

/* Read the line about the peer's last message. */
static void read_heard(struct reading *reading, struct o2_trial_row *row)
{
	static const char before[] = "          the peer said last: ";
	const char *expected = reading->trial->quirk->heard;
	const size_t length = strcspn(reading->at, "\n"), from = sizeof(before) - 1;

	if (length < from || strncmp(reading->at, before, from) != 0) {
		differs(reading->trial, "text", before, reading->at);
		return;
	}
	snprintf(row->heard, sizeof(row->heard), "%.*s", (int)(length - from), reading->at + from);
	if (expected == NULL || strncmp(row->heard, expected, strlen(expected)) != 0)
		differs(reading->trial, "heard", expected == NULL ? "nothing" : expected, row->heard);
	check_shown(reading->trial, row->heard);
	reading->at += length + 1;
}

static void read_finding(struct reading *reading, struct o2_trial_row *row)
{
	struct o2_trial *trial = reading->trial;
	char text[1024], name[60];
	const size_t length = strcspn(reading->at, "\n");
	const int from = snprintf(name, sizeof(name), "%-9s %-22s ", row->outcome, row->probe.id);

	if (strncmp(reading->at, name, (size_t)from) != 0 || length <= (size_t)from) {
		differs(trial, "text", name, reading->at);
		return;
	}
	snprintf(row->seen, sizeof(row->seen), "%.*s", (int)length - from, reading->at + from);
	if (row->expected != NULL && !o2_commands_fits(row->seen, row->expected))
		differs(trial, "seen", row->expected, row->seen);
	reading->at += length + 1;
	if (strcmp(row->outcome, "not tried") == 0)
		return;
	line_is(reading, "          rule: %s (docs/%s)", row->probe.sentence, row->probe.source);
	if (row->again[0] == '\0') {
		reading->at += strcspn(reading->at, "\n") + 1;
	} else {
		again(trial, row->again, text, sizeof(text));
		line_is(reading, "          again: %s", text);
	}
	/* A finding of the judge names its packet itself. */
	if (strncmp(row->probe.id, "judge/", strlen("judge/")) == 0)
		return;
	read_heard(reading, row);
	if (trial->folder[0] == '\0')
		return;
	if (sscanf(reading->at, "          said: packets %" SCNu64 " to %" SCNu64, &row->first, &row->last) !=
	    2)
		row->first = row->last = 0;
	line_is(reading, "          said: packets %" PRIu64 " to %" PRIu64 " of %s/said.pcapng", row->first,
		row->last, trial->folder);
}

void o2_trial_check_text(struct o2_trial *trial, const char *text)
{
	struct reading reading = {trial, text};
	const struct o2_report *report = trial->run->report;

	for (uint32_t i = 0; i < trial->rows && !report->failed; i++) {
		struct o2_trial_row *row = &trial->row[i];

		if (strcmp(row->outcome, "holds") == 0)
			line_is(&reading, "holds     %-22s %s", row->probe.id, row->probe.sentence);
		else
			read_finding(&reading, row);
	}
	if (trial->quirk->mute)
		line_is(&reading, "not complete: %s", MUTE);
	if (trial->quirk->mute)
		line_is(&reading, "not tried the others             it does not answer a ping: see ping/one");
	for (uint32_t i = 0; i < trial->ngone; i++)
		line_is(&reading, "listed in --known but no longer found: %s", trial->gone[i]);
	sscanf(reading.at, "judged: %" SCNu64 " messages and %" SCNu64 " WRITEs of ours on %" SCNu64,
	       &trial->messages, &trial->writes, &trial->connections);
	line_is(&reading,
		"judged: %" PRIu64 " messages and %" PRIu64 " WRITEs of ours on %" PRIu64 " connections",
		trial->messages, trial->writes, trial->connections);
	line_is(&reading,
		"%" PRIu64 " hold, %" PRIu64 " findings, %" PRIu64 " known, %" PRIu64 " tolerated, %" PRIu64
		" not tried; seed %" PRIu64,
		o2_trial_count(trial, "holds"), o2_trial_count(trial, "FINDING"),
		o2_trial_count(trial, "known"), o2_trial_count(trial, "tolerated"),
		o2_trial_count(trial, "not tried"), trial->seed);
	if (*reading.at != '\0')
		differs(trial, "text", "nothing more", reading.at);
}

/* --- JSON --- */

static void text_is(struct o2_trial *trial, const json_t *object, const char *key, const char *expected)
{
	const char *found = json_string_value(json_object_get(object, key));

	if (expected == NULL ? found != NULL : found == NULL || strcmp(found, expected) != 0)
		differs(trial, key, expected == NULL ? "nothing" : expected,
			found == NULL ? "nothing" : found);
}

static void number_is(struct o2_trial *trial, const json_t *object, const char *key, uint64_t expected)
{
	const json_t *value = json_object_get(object, key);
	char wanted[32], found[32];

	if (json_is_integer(value) && (uint64_t)json_integer_value(value) == expected)
		return;
	snprintf(wanted, sizeof(wanted), "%" PRIu64, expected);
	snprintf(found, sizeof(found), "%" JSON_INTEGER_FORMAT, json_integer_value(value));
	differs(trial, key, wanted, found);
}

/* Check a row of the list; what was seen must be the same as in the text report. */
static void check_row(struct o2_trial *trial, const json_t *object, struct o2_trial_row *row)
{
	const bool finding = strcmp(row->outcome, "FINDING") == 0, holds = strcmp(row->outcome, "holds") == 0;
	const double took = json_real_value(json_object_get(object, "seconds"));
	const char *seen = json_string_value(json_object_get(object, "seen"));
	char text[1024];

	text_is(trial, object, "id", row->probe.id);
	text_is(trial, object, "outcome", finding ? "finding" : row->outcome);
	text_is(trial, object, "sentence", row->probe.sentence);
	text_is(trial, object, "source", row->probe.source);
	if (row->seen[0] == '\0' && seen != NULL)
		snprintf(row->seen, sizeof(row->seen), "%s", seen);
	if (!holds && row->expected != NULL && !o2_commands_fits(row->seen, row->expected))
		differs(trial, "seen", row->expected, row->seen);
	text_is(trial, object, "seen", holds ? NULL : row->seen);
	if (row->heard[0] != '\0')
		text_is(trial, object, "heard", row->heard);
	again(trial, row->again, text, sizeof(text));
	if (row->again[0] != '\0')
		text_is(trial, object, "again", holds ? NULL : text);
	if (!(took >= 0 && took < 60))
		differs(trial, "seconds", "up to 60", "others");
	if (row->last != 0) {
		number_is(trial, object, "first_packet", row->first);
		number_is(trial, object, "last_packet", row->last);
	}
	if (trial->folder[0] == '\0' && json_object_get(object, "last_packet") != NULL)
		differs(trial, "last_packet", "nothing", "a packet");
	row->first = (uint64_t)json_integer_value(json_object_get(object, "first_packet"));
	row->last = (uint64_t)json_integer_value(json_object_get(object, "last_packet"));
}

void o2_trial_check_json(struct o2_trial *trial, const char *text)
{
	json_t *object = json_loads(text, 0, NULL);
	const json_t *probes = json_object_get(object, "probes"),
		     *gone = json_object_get(object, "known_and_gone");
	char seed[32];

	snprintf(seed, sizeof(seed), "0x%" PRIx64, trial->seed);
	text_is(trial, object, "form", "o2ref/conform/output");
	text_is(trial, object, "peer", PEER);
	text_is(trial, object, "nid", "10.0.0.1@o2ib");
	text_is(trial, object, "seed", seed);
	number_is(trial, object, "version", 1);
	number_is(trial, object, "holds", o2_trial_count(trial, "holds"));
	number_is(trial, object, "findings", o2_trial_count(trial, "FINDING"));
	number_is(trial, object, "known", o2_trial_count(trial, "known"));
	number_is(trial, object, "tolerated", o2_trial_count(trial, "tolerated"));
	number_is(trial, object, "not_tried", o2_trial_count(trial, "not tried"));
	number_is(trial, object, "lies", 0);
	number_is(trial, object, "lies_named", 0);
	if (trial->messages == 0) {
		trial->messages = (uint64_t)json_integer_value(json_object_get(object, "judged_messages"));
		trial->connections =
			(uint64_t)json_integer_value(json_object_get(object, "judged_connections"));
	}
	number_is(trial, object, "judged_messages", trial->messages);
	number_is(trial, object, "judged_connections", trial->connections);
	if (json_is_true(json_object_get(object, "whole")) == trial->quirk->mute)
		differs(trial, "whole", trial->quirk->mute ? "false" : "true", "the other");
	if (json_array_size(gone) != trial->ngone || json_array_size(probes) != trial->rows + trial->unnamed)
		differs(trial, "rows", "others", "those");
	for (uint32_t i = 0; i < trial->ngone; i++)
		if (strcmp(json_string_value(json_array_get(gone, i)), trial->gone[i]) != 0)
			differs(trial, "gone", trial->gone[i], "another");
	for (uint32_t i = 0; i < trial->rows && !trial->quirk->mute; i++)
		check_row(trial, json_array_get(probes, i), &trial->row[i]);
	json_decref(object);
}

/* --- JUnit --- */

static void put_case(const json_t *object, FILE *out)
{
	const char *id = json_string_value(json_object_get(object, "id"));
	const char *outcome = json_string_value(json_object_get(object, "outcome"));
	const char *seen = json_string_value(json_object_get(object, "seen"));

	fprintf(out, "  <testcase classname=\"o2ref.conform\" name=\"%s\" time=\"%.3f\">", id,
		json_real_value(json_object_get(object, "seconds")));
	if (strcmp(outcome, "finding") == 0) {
		fputs("<failure message=\"", out);
		o2_told_escaped(out, seen);
		fputs("\">rule: ", out);
		o2_told_escaped(out, json_string_value(json_object_get(object, "sentence")));
		fputs(" (docs/", out);
		o2_told_escaped(out, json_string_value(json_object_get(object, "source")));
		fputs(")\nagain: ", out);
		o2_told_escaped(out, json_string_value(json_object_get(object, "again")));
		fputs("\n</failure>", out);
	} else if (strcmp(outcome, "not tried") == 0) {
		fputs("<skipped message=\"", out);
		o2_told_escaped(out, seen);
		fputs("\"/>", out);
	} else if (strcmp(outcome, "holds") != 0) {
		fprintf(out, "<system-out>%s: ", outcome);
		o2_told_escaped(out, seen);
		fputs("</system-out>", out);
	}
	fputs("</testcase>\n", out);
}

void o2_trial_check_junit(struct o2_trial *trial, const char *text, const char *json_text)
{
	json_t *object = json_loads(json_text, 0, NULL), *probe;
	char *expected = NULL;
	size_t bytes = 0, i, at = 0;
	FILE *out = open_memstream(&expected, &bytes);

	if (out == NULL) {
		differs(trial, "junit", "memory", "none");
		json_decref(object);
		return;
	}
	fprintf(out,
		"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"o2ref conform\">\n"
		" <testsuite name=\"" PEER "\" tests=\"%" PRIu64 "\" failures=\"%" PRIu64
		"\" errors=\"%d\" skipped=\"%" PRIu64 "\">\n",
		(uint64_t)trial->rows + trial->unnamed + trial->quirk->mute, o2_trial_count(trial, "FINDING"),
		trial->quirk->mute, o2_trial_count(trial, "not tried"));
	if (trial->quirk->mute)
		fputs("  <testcase classname=\"o2ref.conform\" name=\"run\"><error message=\"" MUTE
		      "\"/></testcase>\n",
		      out);
	json_array_foreach(json_object_get(object, "probes"), i, probe)
		put_case(probe, out);
	fputs(" </testsuite>\n</testsuites>\n", out);
	fclose(out);
	if (strcmp(expected, text) != 0) {
		for (i = 0; expected[i] != '\0' && expected[i] == text[i]; i++)
			at = text[i] == '\n' ? i + 1 : at;
		differs(trial, "junit", expected + at, text + at);
	}
	free(expected);
	json_decref(object);
}
