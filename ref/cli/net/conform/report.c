/* SPDX-License-Identifier: MIT */
#include "cli/net/conform/report.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "cli/cli.h"
#include "wire/nid.h"

static const char *const outcome_names[O2_CONFORM_OUTCOMES] = {
	[O2_CONFORM_HOLDS] = "holds",
	[O2_CONFORM_FINDING] = "FINDING",
	[O2_CONFORM_TOLERATED] = "tolerated",
	[O2_CONFORM_NOT_TRIED] = "not tried",
};

/* An argument as a shell reads it. */
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
	return used + (size_t)snprintf(out + used, bytes - used, "'");
}

/* The command line as it was given, and the one probe: of two --only the last one counts. */
static void again_text(const struct o2_conform_report *report, const struct o2_conform_probe *probe,
		       char *text, size_t bytes)
{
	size_t used = (size_t)snprintf(text, bytes, "o2ref");

	for (int i = 0; i < report->argc && used < bytes; i++)
		used += quote(report->argv[i], text + used, bytes - used);
	if (used < bytes)
		snprintf(text + used, bytes - used, " --only %s", probe->id);
}

static void print_row(const struct o2_conform_report *report, const struct o2_conform_row *row)
{
	const struct o2_conform_probe *probe = row->probe;
	char again[1024];

	printf("%-9s %-22s %s\n", outcome_names[row->result.outcome], probe->id,
	       row->result.outcome == O2_CONFORM_HOLDS ? probe->sentence : row->result.text);
	if (row->result.outcome == O2_CONFORM_FINDING || row->result.outcome == O2_CONFORM_TOLERATED) {
		again_text(report, probe, again, sizeof(again));
		printf("          it should be so: %s (docs/%s)\n", probe->sentence, probe->source);
		printf("          again: %s\n", again);
	}
	fflush(stdout);
}

void o2_conform_report_add(struct o2_conform_report *report, const struct o2_conform_probe *probe,
			   const struct o2_conform_result *result)
{
	struct o2_conform_row *rows = realloc(report->rows, (report->nrows + 1) * sizeof(*rows));

	report->count[result->outcome]++;
	if (rows == NULL) {
		o2_cli_complain("not enough memory for the report");
		return;
	}
	report->rows = rows;
	rows[report->nrows] = (struct o2_conform_row){probe, *result};
	if (!report->options->json && (report->mute == NULL || report->mute == probe))
		print_row(report, &rows[report->nrows]);
	report->nrows++;
}

static json_t *row_json(const struct o2_conform_report *report, const struct o2_conform_row *row)
{
	json_t *object = json_object();
	char again[1024];

	object = o2_json_with(object, "id", json_string(row->probe->id));
	object = o2_json_with(object, "outcome",
			      json_string(row->result.outcome == O2_CONFORM_FINDING
						  ? "finding"
						  : outcome_names[row->result.outcome]));
	object = o2_json_with(object, "sentence", json_string(row->probe->sentence));
	object = o2_json_with(object, "source", json_string(row->probe->source));
	object = o2_json_with(object, "seconds", json_real((double)row->result.took_ns / 1e9));
	if (row->result.outcome == O2_CONFORM_HOLDS)
		return object;
	again_text(report, row->probe, again, sizeof(again));
	object = o2_json_with(object, "seen", json_string(row->result.text));
	return o2_json_with(object, "again", json_string(again));
}

static json_t *report_json(const struct o2_conform_report *report)
{
	json_t *object = o2_json_form("o2ref/conform/output"), *rows = json_array();
	char nid[O2_NID_TEXT_BYTES];

	for (uint32_t i = 0; i < report->nrows; i++)
		json_array_append_new(rows, row_json(report, &report->rows[i]));
	o2_nid_to_text(report->options->nid, nid, sizeof(nid));
	object = o2_json_with(object, "nid", json_string(nid));
	o2_nid_to_text(report->options->peer, nid, sizeof(nid));
	object = o2_json_with(object, "peer", json_string(nid));
	object = o2_json_with(object, "seed", o2_json_hex(report->options->seed));
	object = o2_json_with(object, "whole", json_boolean(report->whole));
	object = o2_json_with(object, "holds", json_integer(report->count[O2_CONFORM_HOLDS]));
	object = o2_json_with(object, "findings", json_integer(report->count[O2_CONFORM_FINDING]));
	object = o2_json_with(object, "tolerated", json_integer(report->count[O2_CONFORM_TOLERATED]));
	object = o2_json_with(object, "not_tried", json_integer(report->count[O2_CONFORM_NOT_TRIED]));
	return o2_json_with(object, "probes", rows);
}

void o2_conform_report_end(struct o2_conform_report *report)
{
	json_t *object;

	if (!report->options->json) {
		if (report->mute != NULL)
			printf("not tried the others             it does not answer a ping: see %s\n",
			       report->mute->id);
		printf("%" PRIu32 " hold, %" PRIu32 " findings, %" PRIu32 " tolerated, %" PRIu32
		       " not tried; seed %" PRIu64 "\n",
		       report->count[O2_CONFORM_HOLDS], report->count[O2_CONFORM_FINDING],
		       report->count[O2_CONFORM_TOLERATED], report->count[O2_CONFORM_NOT_TRIED],
		       report->options->seed);
		return;
	}
	object = report_json(report);
	if (object == NULL || json_dumpf(object, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(9)) != 0)
		o2_cli_complain("not enough memory for the JSON form");
	putchar('\n');
	json_decref(object);
}

void o2_conform_report_free(struct o2_conform_report *report)
{
	free(report->rows);
}
