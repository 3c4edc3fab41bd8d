/* SPDX-License-Identifier: MIT */
#include "cli/net/conform/report.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/plain.h"
#include "cli/cli.h"
#include "wire/nid.h"

static const char *const outcome_names[O2_CONFORM_OUTCOMES] = {
	[O2_CONFORM_HOLDS] = "holds",	      [O2_CONFORM_FINDING] = "FINDING",
	[O2_CONFORM_TOLERATED] = "tolerated", [O2_CONFORM_KNOWN] = "known",
	[O2_CONFORM_NOT_TRIED] = "not tried",
};

/* Quote an argument for a shell. */
static size_t quote(const char *text, char *out, size_t bytes)
{
	const bool plain =
		text[0] != '\0' &&
		strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789@%+=:,./_-") ==
			strlen(text);
	size_t used = 0;

	if (plain)
		return (size_t)snprintf(out, bytes, " %s", text);
	used += (size_t)snprintf(out, bytes, " '");
	for (; *text != '\0' && used + 6 < bytes; text++)
		used += (size_t)snprintf(out + used, bytes - used, *text == '\'' ? "'\\''" : "%c", *text);
	/* If not even the first quote fits, the last one does not either. */
	return used < bytes ? used + (size_t)snprintf(out + used, bytes - used, "'") : used;
}

/*
 * Is argv[0] left out of a command that tries one row again, as it says what else to try, or what to write?
 * Behind "--" the option that is appended would be no option.  Returns how many arguments to leave out: the
 * option, and its value if that stands alone; 0: none.
 */
static int left_out(char *const *argv, int argc)
{
	static const struct {
		const char *name;
		bool has_value;
	} options[] = {{"--only", true}, {"--out", true}, {"--known", true}, {"--json", false}};
	const size_t length = strcspn(argv[0], "=");

	if (strcmp(argv[0], "--") == 0)
		return 1;
	/* getopt_long(3) takes the beginning of a name for it, and has refused what may be two. */
	for (size_t i = 0; length > 2 && i < sizeof(options) / sizeof(options[0]); i++)
		if (strncmp(argv[0], options[i].name, length) == 0)
			return options[i].has_value && argv[0][length] == '\0' && argc > 1 ? 2 : 1;
	return 0;
}

void o2_conform_again(const struct o2_conform_report *report, const char *id, char *text, size_t bytes)
{
	size_t used = (size_t)snprintf(text, bytes, "o2ref");

	for (int i = 0, left; i < report->argc && bytes > used; i += left > 0 ? left : 1) {
		left = left_out(report->argv + i, report->argc - i);
		if (left == 0)
			used += quote(report->argv[i], text + used, bytes - used);
	}
	if (used < bytes)
		snprintf(text + used, bytes - used, " --only %s", id);
}

static void print_row(const struct o2_conform_report *report, const struct o2_conform_row *row, FILE *out)
{
	char again[1024];

	/* Why nothing else was tried is printed only once. */
	if (report->mute != NULL && row->result.outcome == O2_CONFORM_NOT_TRIED)
		return;
	fprintf(out, "%-9s %-22s %s", outcome_names[row->result.outcome], row->id,
		row->result.outcome == O2_CONFORM_HOLDS ? row->sentence : row->result.text);
	if (row->result.lie)
		fprintf(out, "; rules that the judge reported: %s",
			row->result.named[0] == '\0' ? "none" : row->result.named);
	fputc('\n', out);
	if (row->result.outcome == O2_CONFORM_HOLDS || row->result.outcome == O2_CONFORM_NOT_TRIED)
		return;
	o2_conform_again(report, row->again, again, sizeof(again));
	fprintf(out, "          rule: %s (docs/%s)\n", row->sentence, row->source);
	fprintf(out, "          again: %s\n", again);
	if (row->result.heard[0] != '\0')
		fprintf(out, "          the peer said last: %s\n", row->result.heard);
	if (row->result.last_packet > 0) {
		fprintf(out, "          said: packets %" PRIu64 " to %" PRIu64 " of ",
			row->result.first_packet, row->result.last_packet);
		o2_print_plain(report->options->out, out);
		fputs("/" O2_CONFORM_SAID "\n", out);
	}
}

static bool is_gone(const struct o2_conform_known_entry *entry)
{
	return entry->tried && !entry->occurs;
}

/* How many misbehaviours were done, and for which of them the judge reported no rule. */
static void print_lies(const struct o2_conform_report *report, FILE *out)
{
	if (report->lies == 0)
		return;
	fprintf(out, "misbehaviours: the judge reported a rule for %" PRIu32 " of %" PRIu32 "%s",
		report->lies_named, report->lies, report->lies_named < report->lies ? "; none for" : "");
	for (uint32_t i = 0; i < report->nrows; i++)
		if (report->rows[i].result.lie && report->rows[i].result.named[0] == '\0')
			fprintf(out, " %s", report->rows[i].id);
	fputc('\n', out);
}

static void print_end(const struct o2_conform_report *report, FILE *out)
{
	const uint32_t *count = report->count;

	if (report->why != NULL)
		fprintf(out, "not complete: %s\n", report->why);
	if (report->mute != NULL)
		fprintf(out, "not tried the others             it does not answer a ping: see %s\n",
			report->mute->id);
	for (uint32_t i = 0; i < report->known.count; i++)
		if (is_gone(&report->known.entry[i]))
			fprintf(out, "listed in --known but no longer found: %s\n",
				report->known.entry[i].id);
	fprintf(out,
		"judged: %" PRIu64 " messages and %" PRIu64 " WRITEs of ours on %" PRIu64 " connections\n",
		report->judged.messages, report->judged.writes, report->judged.connections);
	print_lies(report, out);
	fprintf(out,
		"%" PRIu32 " hold, %" PRIu32 " findings, %" PRIu32 " known, %" PRIu32 " tolerated, %" PRIu32
		" not tried; seed %" PRIu64 "\n",
		count[O2_CONFORM_HOLDS], count[O2_CONFORM_FINDING], count[O2_CONFORM_KNOWN],
		count[O2_CONFORM_TOLERATED], count[O2_CONFORM_NOT_TRIED], report->options->seed);
}

void o2_conform_report_text(const struct o2_conform_report *report, FILE *out)
{
	for (uint32_t i = 0; i < report->nrows; i++)
		print_row(report, &report->rows[i], out);
	print_end(report, out);
}

void o2_conform_report_add(struct o2_conform_report *report, const char *id, const char *sentence,
			   const char *source, const char *again, const struct o2_conform_result *result)
{
	struct o2_conform_row *rows = realloc(report->rows, (report->nrows + 1) * sizeof(*rows));
	struct o2_conform_row *row;

	if (rows == NULL) {
		report->starved = true;
		report->count[result->outcome]++;
		return;
	}
	report->rows = rows;
	row = &rows[report->nrows++];
	row->result = *result;
	snprintf(row->id, sizeof(row->id), "%s", id);
	snprintf(row->sentence, sizeof(row->sentence), "%s", sentence);
	snprintf(row->source, sizeof(row->source), "%s", source);
	snprintf(row->again, sizeof(row->again), "%s", again);
	/* What the profile tolerates does occur, and stays tolerated. */
	if (result->outcome != O2_CONFORM_NOT_TRIED &&
	    o2_conform_known_note(&report->known, id, result->outcome != O2_CONFORM_HOLDS) &&
	    result->outcome == O2_CONFORM_FINDING)
		row->result.outcome = O2_CONFORM_KNOWN;
	report->count[row->result.outcome]++;
	report->lies += row->result.lie;
	report->lies_named += row->result.named[0] != '\0' && row->result.lie;
	if (report->options->json)
		return;
	print_row(report, row, stdout);
	fflush(stdout);
}

/* The names in "a, b" as an array. */
static json_t *named_json(const char *text)
{
	json_t *named = json_array();

	while (*text != '\0') {
		const size_t length = strcspn(text, ",");

		named = o2_json_append(named, json_stringn(text, length));
		text += length;
		text += strspn(text, ", ");
	}
	return named;
}

static json_t *row_json(const struct o2_conform_report *report, const struct o2_conform_row *row)
{
	const bool finding = row->result.outcome == O2_CONFORM_FINDING;
	json_t *object = json_object();
	char again[1024];

	object = o2_json_with(object, "id", json_string(row->id));
	object = o2_json_with(object, "outcome",
			      json_string(finding ? "finding" : outcome_names[row->result.outcome]));
	object = o2_json_with(object, "sentence", json_string(row->sentence));
	object = o2_json_with(object, "source", json_string(row->source));
	object = o2_json_with(object, "seconds", json_real((double)row->result.took_ns / 1e9));
	if (row->result.last_packet > 0) {
		object = o2_json_with(object, "first_packet", o2_json_length(row->result.first_packet));
		object = o2_json_with(object, "last_packet", o2_json_length(row->result.last_packet));
	}
	if (row->result.lie)
		object = o2_json_with(object, "named", named_json(row->result.named));
	if (row->result.outcome == O2_CONFORM_HOLDS)
		return object;
	o2_conform_again(report, row->again, again, sizeof(again));
	object = o2_json_with(object, "seen", o2_json_text(row->result.text));
	if (row->result.heard[0] != '\0')
		object = o2_json_with(object, "heard", json_string(row->result.heard));
	return o2_json_with(object, "again", o2_json_text(again));
}

static json_t *gone_json(const struct o2_conform_report *report)
{
	json_t *gone = json_array();

	for (uint32_t i = 0; i < report->known.count; i++)
		if (is_gone(&report->known.entry[i]))
			gone = o2_json_append(gone, json_string(report->known.entry[i].id));
	return gone;
}

static json_t *report_json(const struct o2_conform_report *report)
{
	json_t *object = o2_json_form("o2ref/conform/output"), *rows = json_array();
	const uint32_t *count = report->count;
	char nid[O2_NID_TEXT_BYTES];

	for (uint32_t i = 0; i < report->nrows; i++)
		rows = o2_json_append(rows, row_json(report, &report->rows[i]));
	o2_nid_to_text(report->options->nid, nid, sizeof(nid));
	object = o2_json_with(object, "nid", json_string(nid));
	o2_nid_to_text(report->options->peer, nid, sizeof(nid));
	object = o2_json_with(object, "peer", json_string(nid));
	object = o2_json_with(object, "seed", o2_json_hex(report->options->seed));
	object = o2_json_with(object, "whole", json_boolean(report->whole));
	object = o2_json_with(object, "holds", json_integer(count[O2_CONFORM_HOLDS]));
	object = o2_json_with(object, "findings", json_integer(count[O2_CONFORM_FINDING]));
	object = o2_json_with(object, "known", json_integer(count[O2_CONFORM_KNOWN]));
	object = o2_json_with(object, "tolerated", json_integer(count[O2_CONFORM_TOLERATED]));
	object = o2_json_with(object, "not_tried", json_integer(count[O2_CONFORM_NOT_TRIED]));
	object = o2_json_with(object, "judged_messages", o2_json_length(report->judged.messages));
	object = o2_json_with(object, "judged_connections", o2_json_length(report->judged.connections));
	object = o2_json_with(object, "lies", json_integer(report->lies));
	object = o2_json_with(object, "lies_named", json_integer(report->lies_named));
	object = o2_json_with(object, "known_and_gone", gone_json(report));
	return o2_json_with(object, "probes", rows);
}

bool o2_conform_report_json(const struct o2_conform_report *report, FILE *out)
{
	json_t *object = report_json(report);
	const bool ok =
		object != NULL && json_dumpf(object, out, JSON_INDENT(2) | JSON_REAL_PRECISION(9)) == 0;

	if (ok)
		fputc('\n', out);
	json_decref(object);
	return ok;
}

bool o2_conform_report_end(struct o2_conform_report *report)
{
	bool ok = true;

	if (!report->options->json)
		print_end(report, stdout);
	else
		ok = o2_conform_report_json(report, stdout);
	if (!ok)
		o2_cli_complain_json("");
	return (report->options->out == NULL || o2_conform_report_files(report)) && ok;
}

void o2_conform_report_free(struct o2_conform_report *report)
{
	o2_conform_known_free(&report->known);
	free(report->rows);
}
