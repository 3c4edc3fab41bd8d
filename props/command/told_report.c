/* SPDX-License-Identifier: MIT */
/* The reports of judge: docs/judge.md, "The command" and "For other programs". */
#include "props/command/told_report.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "props/command/told_internal.h"

#define UNPROVEN "not proven: packets may be missing that would show otherwise"
#define UNKNOWN	 "(unknown)" /* text for a peer whose NID is not known */
#define SCHEMA	 "https://docs.oasis-open.org/sarif/sarif/v2.1.0/os/schemas/sarif-schema-2.1.0.json"

static void set_what(const struct o2_error *error, char text[O2_TOLD_WHAT])
{
	static const char *const words[] = {[O2_LIMIT_BOUND] = "limit",
					    [O2_LIMIT_EXACT] = "expected",
					    [O2_LIMIT_MULTIPLE] = "expected a multiple of"};
	const char *open;
	int length;

	text[0] = '\0';
	if (error->field == NULL)
		return;
	open = strstr(error->field, "[]");
	if (open == NULL || error->index == O2_NO_INDEX)
		length = snprintf(text, O2_TOLD_WHAT, "%s is %" PRIu64, error->field, error->value);
	else
		length = snprintf(text, O2_TOLD_WHAT, "%.*s[%" PRIu32 "]%s is %" PRIu64,
				  (int)(open - error->field), error->field, error->index, open + 2,
				  error->value);
	/* An exact limit may be any number, even all ones: an incarnation, for example. */
	if (error->limit_kind != O2_LIMIT_OTHER &&
	    (error->limit != O2_NO_LIMIT || error->limit_kind == O2_LIMIT_EXACT))
		snprintf(text + length, O2_TOLD_WHAT - (size_t)length, ", %s %" PRIu64,
			 words[error->limit_kind], error->limit);
}

bool o2_told_is_of(const struct o2_told_report *report, uint32_t found, uint32_t row)
{
	const struct o2_judge_finding *one = report->found[found].finding,
				      *other = report->found[report->row[row].first].finding;

	return one->rule == other->rule && one->who == other->who && one->unproven == other->unproven;
}

static void add(struct o2_told_report *report, const struct o2_judge_finding *finding)
{
	const struct o2_told *told = report->told;
	struct o2_told_found *found = &report->found[report->nfound++];
	uint32_t row = 0;

	*found = (struct o2_told_found){.rule = &o2_judge_rules[finding->rule],
					.finding = finding,
					.who = finding->who,
					.packet = told->packet_of[finding->number] - told->ntwins};
	found->severity = finding->unproven ? O2_JUDGE_NOTE : found->rule->severity;
	if (finding->earlier != 0)
		found->earlier = told->packet_of[finding->earlier] - told->ntwins;
	set_what(&finding->error, found->what);
	report->times[found->severity] += 1 + told->ntwins;
	while (row < report->nrows && !o2_told_is_of(report, report->nfound - 1, row))
		row++;
	if (row == report->nrows)
		report->row[report->nrows++].first = report->nfound - 1;
	report->row[row].times += 1 + told->ntwins;
}

void o2_told_add_up(struct o2_told_report *report, const struct o2_told *told,
		    const struct o2_hearing *hearing)
{
	memset(report, 0, sizeof(*report));
	report->told = told;
	report->hearing = hearing;
	report->nfiles = 1;
	report->file[0] = (struct o2_told_file){.name = "standard input"};
	for (int side = O2_JUDGE_A; side < O2_JUDGE_SIDES; side++)
		if (hearing->end[side].nid != 0)
			o2_nid_to_text(hearing->end[side].nid, report->nid[side], O2_NID_TEXT_BYTES);
		else
			snprintf(report->nid[side], O2_NID_TEXT_BYTES, "%s", UNKNOWN);
	for (uint32_t i = 0; i < hearing->nlog; i++)
		add(report, &hearing->log[i]);
}

/* --- text --- */

const char *o2_told_plural(uint64_t count)
{
	return &"s"[count == 1];
}

void o2_told_seen(FILE *out, const struct o2_told_report *report)
{
	const struct o2_hearing_end *a = &report->hearing->end[O2_JUDGE_A],
				    *b = &report->hearing->end[O2_JUDGE_B];
	const uint64_t conns = 1 + report->told->ntwins, messages = conns * (a->messages + b->messages),
		       writes = conns * (a->writes + b->writes);

	fprintf(out,
		"%" PRIu32 " packets: %" PRIu64 " message%s and %" PRIu64 " WRITE%s (%" PRIu64
		" bytes) on %" PRIu64 " connection%s\n",
		report->told->file->packets, messages, o2_told_plural(messages), writes,
		o2_told_plural(writes), conns * (a->write_bytes + b->write_bytes), conns,
		o2_told_plural(conns));
	if (!report->hearing->whole)
		fprintf(out,
			"incomplete: %" PRIu64 " connection%s (start or later packets missing), 0 of them "
			"seen in one direction only\n",
			conns, o2_told_plural(conns));
	if (report->told->cut != 0)
		fprintf(out, "%" PRIu64 " packet%s not captured as a whole\n", report->told->cut,
			report->told->cut == 1 ? " was" : "s were");
	/* A repetition has the time of the original here. */
	if (report->told->repeated != 0)
		fprintf(out, "%" PRIu64 " packet%s repeated; retries took up to 0.000 ms\n",
			report->told->repeated, report->told->repeated == 1 ? " was" : "s were");
	if (report->dropped != 0)
		fprintf(out, "%" PRIu64 " packets came too fast to be read\n", report->dropped);
}

/* Write who broke the rule, and where. */
static void where(FILE *out, const struct o2_told_report *report, const struct o2_told_row *row)
{
	const struct o2_told_found *found = &report->found[row->first];

	fprintf(out, "%s (to %s): ", report->nid[found->who], report->nid[1 - (int)found->who]);
	if (row->times > 1)
		fprintf(out, "%" PRIu64 " times, first ", row->times);
	fprintf(out, "packet %" PRIu64, found->packet);
	if (found->earlier != 0)
		fprintf(out, ", about packet %" PRIu64, found->earlier);
}

static void one_text(FILE *out, const struct o2_told_report *report)
{
	o2_told_seen(out, report);
	for (int severity = 0; severity < O2_JUDGE_SEVERITIES; severity++) {
		for (uint32_t i = 0; i < report->nrows; i++) {
			const struct o2_told_found *found = &report->found[report->row[i].first];

			if ((int)found->severity != severity)
				continue;
			fprintf(out, "%-8s%-25s", o2_judge_severity_names[severity], found->rule->id);
			where(out, report, &report->row[i]);
			fputc('\n', out);
			if (found->what[0] != '\0')
				fprintf(out, "        %s\n", found->what);
			if (found->finding->unproven)
				fprintf(out, "        " UNPROVEN "\n");
			fprintf(out, "        rule: %s (%s)\n", found->rule->sentence, found->rule->source);
		}
	}
	fprintf(out, "%" PRIu64 " must, %" PRIu64 " should, %" PRIu64 " note%s\n",
		report->times[O2_JUDGE_MUST], report->times[O2_JUDGE_SHOULD], report->times[O2_JUDGE_NOTE],
		o2_told_plural(report->times[O2_JUDGE_NOTE]));
}

void o2_told_text(FILE *out, const struct o2_told_report *report)
{
	for (uint32_t i = 0; i < report->nfiles; i++) {
		const struct o2_told_file *file = &report->file[i];

		if (report->nfiles > 1)
			fprintf(out, "%s== %s ==\n", i == 0 ? "" : "\n",
				strcmp(file->name, "standard input") == 0 ? "-" : file->name);
		if (file->why == NULL)
			one_text(out, report);
	}
}

/* --- JSON --- */

/* Numbers too large for JSON are written in hexadecimal. */
static json_t *number(uint64_t value)
{
	return value > INT64_MAX ? json_sprintf("0x%" PRIx64, value) : json_integer((json_int_t)value);
}

static json_t *nid_form(const struct o2_told_report *report, enum o2_judge_side side)
{
	return strcmp(report->nid[side], UNKNOWN) == 0 ? json_null() : json_string(report->nid[side]);
}

static json_t *row_form(const struct o2_told_report *report, const struct o2_told_row *row)
{
	static const char *const kinds[] = {
		[O2_LIMIT_BOUND] = "bound", [O2_LIMIT_EXACT] = "exact", [O2_LIMIT_MULTIPLE] = "multiple"};
	const struct o2_told_found *found = &report->found[row->first];
	const struct o2_error *error = &found->finding->error;
	json_t *form = json_pack("{s:s, s:s, s:b, s:o, s:o, s:I, s:I, s:I, s:s, s:s}", "rule",
				 found->rule->id, "severity", o2_judge_severity_names[found->severity],
				 "proven", !found->finding->unproven, "who", nid_form(report, found->who),
				 "peer", nid_form(report, (enum o2_judge_side)(1 - (int)found->who)), "times",
				 (json_int_t)row->times, "packet", (json_int_t)found->packet, "time_ns",
				 (json_int_t)report->told->base_ns + (json_int_t)found->finding->time_ns,
				 "sentence", found->rule->sentence, "source", found->rule->source);

	if (found->earlier != 0)
		json_object_set_new(form, "earlier_packet", number(found->earlier));
	if (error->field == NULL)
		return form;
	json_object_set_new(form, "field", json_string(error->field));
	if (error->index != O2_NO_INDEX)
		json_object_set_new(form, "index", json_integer(error->index));
	json_object_set_new(form, "value", number(error->value));
	if (error->limit == O2_NO_LIMIT || error->limit_kind == O2_LIMIT_OTHER)
		return form;
	json_object_set_new(form, "limit", number(error->limit));
	json_object_set_new(form, "limit_kind", json_string(kinds[error->limit_kind]));
	return form;
}

json_t *o2_told_json(const struct o2_told_report *report, const char *name)
{
	const struct o2_hearing_end *a = &report->hearing->end[O2_JUDGE_A],
				    *b = &report->hearing->end[O2_JUDGE_B];
	const json_int_t conns = 1 + (json_int_t)report->told->ntwins;
	json_t *rows = json_array();

	for (uint32_t i = 0; i < report->nrows; i++)
		json_array_append_new(rows, row_form(report, &report->row[i]));
	return json_pack(
		"{s:s, s:i, s:s, s:{s:i, s:i, s:I, s:I, s:I, s:I, s:I, s:i, s:i, s:i, s:I, s:I, s:I}, s:I, "
		"s:I, s:I, s:i, "
		"s:o}",
		"form", "o2ref/judge/output", "version", 1, "file", name, "seen", "packets",
		(int)report->told->file->packets, "cut", (int)report->told->cut, "repeated",
		(json_int_t)report->told->repeated, "retry_ns", (json_int_t)0, "dropped",
		(json_int_t)report->dropped, "connections", conns, "whole",
		report->hearing->whole ? conns : 0, "one_way", 0, "other_protocols", 0, "forgotten", 0,
		"messages", conns * (json_int_t)(a->messages + b->messages), "writes",
		conns * (json_int_t)(a->writes + b->writes), "write_bytes",
		conns * (json_int_t)(a->write_bytes + b->write_bytes), "must",
		(json_int_t)report->times[O2_JUDGE_MUST], "should",
		(json_int_t)report->times[O2_JUDGE_SHOULD], "note", (json_int_t)report->times[O2_JUDGE_NOTE],
		"more", 0, "findings", rows);
}

json_t *o2_told_json_error(const struct o2_told_file *file)
{
	return json_pack(
		"{s:s, s:i, s:s, s:s, s:{s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:i}, "
		"s:i, s:i, s:i, "
		"s:i, s:[]}",
		"form", "o2ref/judge/output", "version", 1, "file", file->name, "error", file->why, "seen",
		"packets", 0, "cut", 0, "repeated", 0, "retry_ns", 0, "dropped", 0, "connections", 0, "whole",
		0, "one_way", 0, "other_protocols", 0, "forgotten", 0, "messages", 0, "writes", 0,
		"write_bytes", 0, "must", 0, "should", 0, "note", 0, "more", 0, "findings");
}

/* --- SARIF --- */

static const char *const levels[] = {
	[O2_JUDGE_MUST] = "error", [O2_JUDGE_SHOULD] = "warning", [O2_JUDGE_NOTE] = "note"};

/* A path is made absolute; an interface has only its name. */
static json_t *artifact(const struct o2_told_report *report, uint32_t file)
{
	const char *name = report->file[file].name;

	return json_pack("{s:o, s:i}", "uri",
			 name[0] == '/'		     ? json_sprintf("file://%s", name)
			 : strchr(name, ' ') != NULL ? json_string("standard%20input")
						     : json_string(name),
			 "index", (int)file);
}

static json_t *location(const struct o2_told_report *report, uint32_t file, uint64_t packet)
{
	return json_pack("{s:{s:o}, s:[{s:o, s:s}]}", "physicalLocation", "artifactLocation",
			 artifact(report, file), "logicalLocations", "name",
			 json_sprintf("packet %" PRIu64, packet), "kind", "packet");
}

static json_t *invocation(const struct o2_told_report *report, uint32_t file)
{
	if (report->file[file].why == NULL)
		return json_pack("{s:b}", "executionSuccessful", 1);
	return json_pack("{s:b, s:[{s:s, s:{s:s}, s:[{s:{s:o}}]}]}", "executionSuccessful", 0,
			 "toolExecutionNotifications", "level", "error", "message", "text",
			 report->file[file].why, "locations", "physicalLocation", "artifactLocation",
			 artifact(report, file));
}

static json_t *result(const struct o2_told_report *report, uint32_t file, const struct o2_told_row *row)
{
	const struct o2_told_found *found = &report->found[row->first];
	char *text = NULL;
	size_t bytes;
	FILE *out = o2_told_open(&text, &bytes);
	json_t *form, *earlier;

	where(out, report, row);
	fprintf(out, "%s%s. Rule: %s.%s", found->what[0] == '\0' ? "" : ": ", found->what,
		found->rule->sentence, found->finding->unproven ? " (" UNPROVEN ")" : "");
	fclose(out);
	form = json_pack("{s:s, s:I, s:s, s:{s:s}, s:I, s:[o], s:o}", "ruleId", found->rule->id, "ruleIndex",
			 (json_int_t)(found->rule - o2_judge_rules), "level", levels[found->severity],
			 "message", "text", text, "occurrenceCount", (json_int_t)row->times, "locations",
			 location(report, file, found->packet), "properties", row_form(report, row));
	free(text);
	if (found->earlier == 0)
		return form;
	earlier = location(report, file, found->earlier);
	json_object_set_new(earlier, "id", json_integer(1));
	json_object_set_new(earlier, "message",
			    json_pack("{s:s}", "text", "the earlier packet that it refers to"));
	json_object_set_new(form, "relatedLocations", json_pack("[o]", earlier));
	return form;
}

json_t *o2_told_sarif(const struct o2_told_report *report)
{
	json_t *rules = json_array(), *results = json_array(), *invocations = json_array(),
	       *artifacts = json_array();

	for (uint32_t i = 0; i < O2_JUDGE_RULES; i++) {
		const struct o2_judge_rule *rule = &o2_judge_rules[i];
		json_t *help = json_sprintf("Rule: %s. Source: %s.", rule->sentence, rule->source);

		json_array_append_new(rules, json_pack("{s:s, s:{s:s}, s:{s:o}, s:{s:s}}", "id", rule->id,
						       "shortDescription", "text", rule->sentence, "help",
						       "text", help, "defaultConfiguration", "level",
						       levels[rule->severity]));
	}
	for (uint32_t file = 0; file < report->nfiles; file++) {
		json_array_append_new(invocations, invocation(report, file));
		json_array_append_new(artifacts, json_pack("{s:o}", "location", artifact(report, file)));
		for (uint32_t i = 0; i < report->nrows && report->file[file].why == NULL; i++)
			json_array_append_new(results, result(report, file, &report->row[i]));
	}
	return json_pack("{s:s, s:s, s:[{s:{s:{s:s, s:o}}, s:o, s:o, s:o}]}", "$schema", SCHEMA, "version",
			 "2.1.0", "runs", "tool", "driver", "name", "o2ref judge", "rules", rules,
			 "invocations", invocations, "artifacts", artifacts, "results", results);
}

/* --- JUnit --- */

void o2_told_escaped(FILE *out, const char *text)
{
	for (; *text != '\0'; text++) {
		if (*text == '<')
			fputs("&lt;", out);
		else if (*text == '>')
			fputs("&gt;", out);
		else if (*text == '&')
			fputs("&amp;", out);
		else if (*text == '"')
			fputs("&quot;", out);
		else
			fputc(*text, out);
	}
}

void o2_told_holds(FILE *out, const struct o2_told_found *found)
{
	fputs("Rule: ", out);
	o2_told_escaped(out, found->rule->sentence);
	fputs(" (", out);
	o2_told_escaped(out, found->rule->source);
	fputs(found->finding->unproven ? "). This one is " UNPROVEN "." : ").", out);
}

/* Write those rows of a rule that are notes, or the others, in a test case. */
static void case_rows(FILE *out, const struct o2_told_report *report, const struct o2_judge_rule *rule,
		      bool notes)
{
	bool some = false;

	for (uint32_t i = 0; i < report->nrows; i++) {
		const struct o2_told_found *found = &report->found[report->row[i].first];

		if (found->rule != rule || (found->severity == O2_JUDGE_NOTE) != notes)
			continue;
		if (!some && notes)
			fputs("<system-out>", out);
		if (!some && !notes) {
			fprintf(out, "<failure type=\"%s\" message=\"",
				o2_judge_severity_names[found->severity]);
			where(out, report, &report->row[i]);
			fputs(": ", out);
			o2_told_escaped(out, found->what[0] != '\0' ? found->what : rule->sentence);
			fputs("\">", out);
		}
		some = true;
		where(out, report, &report->row[i]);
		fprintf(out, "\n%s%s", found->what, found->what[0] == '\0' ? "" : "\n");
		if (found->finding->unproven)
			fputs(UNPROVEN "\n", out);
		fputs("rule: ", out);
		o2_told_escaped(out, rule->sentence);
		fputs(" (", out);
		o2_told_escaped(out, rule->source);
		fputs(")\n", out);
	}
	if (some)
		fputs(notes ? "</system-out>" : "</failure>", out);
}

/* A file that could not be judged is an error, and breaks no rule. */
static void suite(FILE *out, const struct o2_told_report *report, const struct o2_told_file *file)
{
	char *cases = NULL;
	size_t bytes;
	FILE *rest = o2_told_open(&cases, &bytes);
	uint32_t failures = 0;

	for (uint32_t i = 0; i < O2_JUDGE_RULES; i++) {
		long before, after;

		fprintf(rest, "  <testcase classname=\"o2ref.judge\" name=\"%s\">", o2_judge_rules[i].id);
		before = ftell(rest);
		if (file->why == NULL)
			case_rows(rest, report, &o2_judge_rules[i], false);
		after = ftell(rest);
		failures += before != after;
		if (file->why == NULL)
			case_rows(rest, report, &o2_judge_rules[i], true);
		fputs("</testcase>\n", rest);
	}
	fclose(rest);
	fprintf(out,
		" <testsuite name=\"%s\" tests=\"%u\" failures=\"%" PRIu32 "\" errors=\"%d\" skipped=\"0\">\n"
		"  <testcase classname=\"o2ref.judge\" name=\"capture\">",
		file->name, O2_JUDGE_RULES + 1u, failures, file->why != NULL);
	if (file->why != NULL)
		fprintf(out, "<error type=\"capture\" message=\"%s\"/>", file->why);
	fprintf(out, "</testcase>\n%s </testsuite>\n", cases);
	free(cases);
}

void o2_told_junit(FILE *out, const struct o2_told_report *report)
{
	fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"o2ref judge\">\n", out);
	for (uint32_t i = 0; i < report->nfiles; i++)
		suite(out, report, &report->file[i]);
	fputs("</testsuites>\n", out);
}
