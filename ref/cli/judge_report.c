/* SPDX-License-Identifier: MIT */
#include "cli/judge_report.h"

#include <inttypes.h>
#include <string.h>

#include "base/json.h"
#include "base/monotonic.h"
#include "wire/nid.h"

static const char *wire_rule_of(const struct o2_judge_finding *finding)
{
	return finding->rule == O2_JUDGE_MESSAGE_WIRE ? finding->error.rule : NULL;
}

enum o2_judge_severity o2_judge_row_severity(const struct o2_judge_row *row)
{
	return row->unproven ? O2_JUDGE_NOTE : o2_judge_rules[row->rule].severity;
}

struct o2_judge_row o2_judge_row_of(const struct o2_judge_finding *finding)
{
	const struct o2_judge_view view = o2_judge_view(finding->conn);

	return (struct o2_judge_row){
		.rule = finding->rule,
		.wire_rule = wire_rule_of(finding),
		.who_nid = view.nid[finding->who],
		.peer_nid = view.nid[o2_judge_other(finding->who)],
		.conn = view.id,
		.times = 1,
		.unproven = finding->unproven,
		.number = finding->number,
		.time_ns = finding->time_ns,
		.earlier = finding->earlier,
		.error = finding->error,
	};
}

bool o2_judge_row_same(const struct o2_judge_row *a, const struct o2_judge_row *b)
{
	/* Two nodes without a name may be the same one only on one connection. */
	if (a->conn != b->conn && (a->who_nid == 0 || a->peer_nid == 0))
		return false;
	/* The codec's rule names are literals, so each has one address. */
	return a->rule == b->rule && a->wire_rule == b->wire_rule && a->unproven == b->unproven &&
	       a->who_nid == b->who_nid && a->peer_nid == b->peer_nid;
}

void o2_judge_report_add(void *context, const struct o2_judge_finding *finding)
{
	struct o2_judge_report *report = context;
	const struct o2_judge_row row = o2_judge_row_of(finding);
	const enum o2_judge_severity severity = o2_judge_row_severity(&row);

	report->times[severity]++;
	for (uint32_t i = 0; i < report->count; i++) {
		struct o2_judge_row *known = &report->row[i];
		const uint64_t times = known->times + 1;

		if (!o2_judge_row_same(known, &row))
			continue;
		/* A finding that has waited for a proof may come after a later one of another connection. */
		if (row.number < known->number)
			*known = row;
		known->times = times;
		return;
	}
	if (report->count < O2_JUDGE_ROWS_MAX)
		report->row[report->count++] = row;
	else if (report->more++ == 0 || severity < report->rest)
		report->rest = severity;
}

enum o2_judge_severity o2_judge_report_rest(const struct o2_judge_report *report)
{
	return report->more == 0 ? O2_JUDGE_SEVERITIES : report->rest;
}

void o2_judge_nid_text(uint64_t nid, char text[O2_NID_TEXT_BYTES])
{
	if (nid == 0 || o2_nid_to_text(nid, text, O2_NID_TEXT_BYTES) < 0)
		strcpy(text, "(unknown)");
}

void o2_judge_row_where(const struct o2_judge_row *row, char text[O2_JUDGE_ROW_TEXT_BYTES])
{
	char who[O2_NID_TEXT_BYTES], peer[O2_NID_TEXT_BYTES], times[64] = "", about[64] = "";

	o2_judge_nid_text(row->who_nid, who);
	o2_judge_nid_text(row->peer_nid, peer);
	if (row->times != 1)
		snprintf(times, sizeof(times), "%" PRIu64 " times, first ", row->times);
	if (row->earlier != 0)
		snprintf(about, sizeof(about), ", about packet %" PRIu64, row->earlier);
	snprintf(text, O2_JUDGE_ROW_TEXT_BYTES, "%s (to %s): %spacket %" PRIu64 "%s", who, peer, times,
		 row->number, about);
}

void o2_judge_what(const char *wire_rule, const struct o2_error *error, char text[O2_JUDGE_ROW_TEXT_BYTES])
{
	char what[O2_ERROR_WHAT_BYTES];

	text[0] = '\0';
	if (error->field == NULL)
		return;
	o2_error_what(error, what, sizeof(what));
	snprintf(text, O2_JUDGE_ROW_TEXT_BYTES, "%s%s%s", wire_rule != NULL ? wire_rule : "",
		 wire_rule != NULL ? ": " : "", what);
}

void o2_judge_row_line(const struct o2_judge_row *row, FILE *out)
{
	char where[O2_JUDGE_ROW_TEXT_BYTES], what[O2_JUDGE_ROW_TEXT_BYTES];

	o2_judge_row_where(row, where);
	o2_judge_what(row->wire_rule, &row->error, what);
	fprintf(out, "%s %s: %s%s%s", o2_judge_severity_names[o2_judge_row_severity(row)],
		o2_judge_rules[row->rule].id, where, what[0] != '\0' ? ": " : "", what);
}

void o2_judge_row_rule(const struct o2_judge_row *row, char text[O2_JUDGE_ROW_TEXT_BYTES])
{
	const struct o2_judge_rule *rule = &o2_judge_rules[row->rule];

	snprintf(text, O2_JUDGE_ROW_TEXT_BYTES, "Rule: %s (%s).%s%s", rule->sentence, rule->source,
		 row->unproven ? " This one is " : "", row->unproven ? O2_JUDGE_UNPROVEN_TEXT "." : "");
}

static void print_row(const struct o2_judge_row *row, FILE *out)
{
	const struct o2_judge_rule *rule = &o2_judge_rules[row->rule];
	char text[O2_JUDGE_ROW_TEXT_BYTES];

	o2_judge_row_where(row, text);
	fprintf(out, "%-6s  %-23s  %s\n", o2_judge_severity_names[o2_judge_row_severity(row)], rule->id,
		text);
	o2_judge_what(row->wire_rule, &row->error, text);
	if (text[0] != '\0')
		fprintf(out, "        %s\n", text);
	if (row->unproven)
		fprintf(out, "        %s\n", O2_JUDGE_UNPROVEN_TEXT);
	fprintf(out, "        rule: %s (%s)\n", rule->sentence, rule->source);
}

static const char *plural(uint64_t count)
{
	return count == 1 ? "" : "s";
}

void o2_judge_seen_print(const struct o2_judge_seen_totals *totals, FILE *out)
{
	const struct o2_links_totals *links = &totals->links;

	fprintf(out,
		"%" PRIu64 " packets: %" PRIu64 " message%s and %" PRIu64 " WRITE%s (%" PRIu64
		" bytes) on %" PRIu64 " connection%s\n",
		totals->walk.packets, links->messages, plural(links->messages), links->writes,
		plural(links->writes), links->write_bytes, links->connections, plural(links->connections));
	if (links->connections != links->whole)
		fprintf(out,
			"incomplete: %" PRIu64 " connection%s (start or later packets missing), %" PRIu64
			" of them seen in one direction only\n",
			links->connections - links->whole, plural(links->connections - links->whole),
			links->one_way);
	if (links->other_protocols != 0)
		fprintf(out, "%" PRIu64 " connection%s of other protocols: not judged\n",
			links->other_protocols, plural(links->other_protocols));
	if (totals->walk.cut != 0)
		fprintf(out, "%" PRIu64 " packet%s not captured as a whole\n", totals->walk.cut,
			totals->walk.cut == 1 ? " was" : "s were");
	if (totals->walk.repeated != 0)
		fprintf(out, "%" PRIu64 " packet%s repeated; retries took up to %.3f ms\n",
			totals->walk.repeated, totals->walk.repeated == 1 ? " was" : "s were",
			(double)totals->walk.retry_ns / 1e6);
	if (totals->walk.dropped != 0)
		fprintf(out, "%" PRIu64 " packets came too fast to be read\n", totals->walk.dropped);
	if (links->forgotten + totals->walk.forgotten != 0)
		fprintf(out,
			"forgotten, because there were more than can be followed: %" PRIu64
			" connections, %" PRIu64 " directions\n",
			links->forgotten, totals->walk.forgotten);
}

void o2_judge_report_print(const struct o2_judge_report *report, const struct o2_judge_seen_totals *totals,
			   FILE *out)
{
	o2_judge_seen_print(totals, out);
	for (int severity = 0; severity < O2_JUDGE_SEVERITIES; severity++)
		for (uint32_t i = 0; i < report->count; i++)
			if ((int)o2_judge_row_severity(&report->row[i]) == severity)
				print_row(&report->row[i], out);
	if (report->more != 0)
		fprintf(out, "%" PRIu64 " " O2_JUDGE_MORE_TEXT "\n", report->more);
	fprintf(out, "%" PRIu64 " must, %" PRIu64 " should, %" PRIu64 " note%s\n",
		report->times[O2_JUDGE_MUST], report->times[O2_JUDGE_SHOULD], report->times[O2_JUDGE_NOTE],
		plural(report->times[O2_JUDGE_NOTE]));
}

static json_t *nid_to_json(uint64_t nid)
{
	char text[O2_NID_TEXT_BYTES];

	if (nid == 0)
		return json_null();
	o2_judge_nid_text(nid, text);
	return json_string(text);
}

static json_t *with_error(json_t *object, const struct o2_error *error)
{
	static const char *const kinds[] = {
		[O2_LIMIT_BOUND] = "bound", [O2_LIMIT_EXACT] = "exact", [O2_LIMIT_MULTIPLE] = "multiple"};

	if (error->field == NULL)
		return object;
	object = o2_json_with(object, "field", json_string(error->field));
	if (error->index != O2_NO_INDEX)
		object = o2_json_with(object, "index", json_integer(error->index));
	object = o2_json_with(object, "value", o2_json_length(error->value));
	if (error->limit_kind == O2_LIMIT_OTHER || error->limit == O2_NO_LIMIT)
		return object;
	object = o2_json_with(object, "limit", o2_json_length(error->limit));
	return o2_json_with(object, "limit_kind", json_string(kinds[error->limit_kind]));
}

json_t *o2_judge_row_to_json(const struct o2_judge_row *row)
{
	const struct o2_judge_rule *rule = &o2_judge_rules[row->rule];
	json_t *object = json_object();

	object = o2_json_with(object, "rule", json_string(rule->id));
	if (row->wire_rule != NULL)
		object = o2_json_with(object, "wire_rule", json_string(row->wire_rule));
	object = o2_json_with(object, "severity",
			      json_string(o2_judge_severity_names[o2_judge_row_severity(row)]));
	object = o2_json_with(object, "proven", json_boolean(!row->unproven));
	object = o2_json_with(object, "who", nid_to_json(row->who_nid));
	object = o2_json_with(object, "peer", nid_to_json(row->peer_nid));
	object = o2_json_with(object, "times", o2_json_length(row->times));
	object = o2_json_with(object, "packet", o2_json_length(row->number));
	object = o2_json_with(object, "time_ns", o2_json_length(row->time_ns));
	if (row->earlier != 0)
		object = o2_json_with(object, "earlier_packet", o2_json_length(row->earlier));
	object = with_error(object, &row->error);
	object = o2_json_with(object, "sentence", json_string(rule->sentence));
	return o2_json_with(object, "source", json_string(rule->source));
}

json_t *o2_judge_finding_to_json(const struct o2_judge_row *row)
{
	json_t *object = o2_json_form("o2ref/judge/finding"), *members = o2_judge_row_to_json(row);

	if (members == NULL || json_object_update(object, members) != 0) {
		json_decref(object);
		object = NULL;
	}
	json_decref(members);
	return object;
}

static json_t *seen_to_json(const struct o2_judge_seen_totals *totals)
{
	const struct {
		const char *name;
		uint64_t value;
	} rows[] = {
		{"packets", totals->walk.packets},
		{"cut", totals->walk.cut},
		{"repeated", totals->walk.repeated},
		{"retry_ns", totals->walk.retry_ns},
		{"dropped", totals->walk.dropped},
		{"connections", totals->links.connections},
		{"whole", totals->links.whole},
		{"one_way", totals->links.one_way},
		{"other_protocols", totals->links.other_protocols},
		{"forgotten", totals->links.forgotten + totals->walk.forgotten},
		{"messages", totals->links.messages},
		{"writes", totals->links.writes},
		{"write_bytes", totals->links.write_bytes},
	};
	json_t *object = json_object();

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		object = o2_json_with(object, rows[i].name, o2_json_length(rows[i].value));
	return object;
}

json_t *o2_judge_rows_to_json(const struct o2_judge_report *report)
{
	json_t *rows = json_array();

	for (uint32_t i = 0; i < report->count && rows != NULL; i++)
		rows = o2_json_append(rows, o2_judge_row_to_json(&report->row[i]));
	return rows;
}

json_t *o2_judge_report_to_json(const struct o2_judge_result *result)
{
	const struct o2_judge_report *report = result->report;
	json_t *object = o2_json_form("o2ref/judge/output"), *findings = o2_judge_rows_to_json(report);

	object = o2_json_with(object, "file", o2_json_text(result->name));
	if (result->why != NULL)
		object = o2_json_with(object, "error", o2_json_text(result->why));
	object = o2_json_with(object, "seen", seen_to_json(result->totals));
	for (int severity = 0; severity < O2_JUDGE_SEVERITIES; severity++)
		object = o2_json_with(object, o2_judge_severity_names[severity],
				      o2_json_length(report->times[severity]));
	object = o2_json_with(object, "more", o2_json_length(report->more));
	return o2_json_with(object, "findings", findings);
}
