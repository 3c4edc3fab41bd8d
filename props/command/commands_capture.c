/* SPDX-License-Identifier: MIT */
/* Captures of conversations: decode has to say what is in them, judge what was found in them in this process. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "props/command/commands.h"
#include "props/command/told.h"
#include "props/judge/verdicts.h"
#include "wire/nid.h"

static struct o2_capture_file file;
static struct o2_told told;
static struct o2_judge_finding findings[O2_HEARING_LOG];

static void start(struct o2_commands_run *run, const char *command)
{
	run->command.words = 0;
	run->command.input = file.bytes;
	run->command.input_bytes = file.length;
	o2_command_word(&run->command, "%s", command);
}

/* --- decode --- */

static void decode_json(struct o2_commands_run *run)
{
	const char *line = run->command.out;
	size_t i;
	json_t *expected;

	start(run, "decode");
	o2_command_word(&run->command, "--pcap");
	o2_command_word(&run->command, "--json");
	o2_command_word(&run->command, "-");
	if (!o2_commands_go(run, 0))
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
	size_t at = 0;

	start(run, "decode");
	o2_command_word(&run->command, "--pcap");
	o2_command_word(&run->command, "-");
	if (!o2_commands_go(run, 0) || strcmp(run->command.out, expected) == 0)
		return;
	for (size_t i = 0; expected[i] != '\0' && expected[i] == run->command.out[i]; i++)
		if (expected[i] == '\n')
			at = i + 1;
	o2_report_fail(run->report, "commands/decode/line", "expected %.*s",
		       (int)strcspn(expected + at, "\n"), expected + at);
	o2_report_add(run->report, "found    %.*s", (int)strcspn(run->command.out + at, "\n"),
		      run->command.out + at);
}

/* --- judge --- */

struct tally {
	uint64_t times[O2_JUDGE_SEVERITIES];
	json_t *rows;
};

static enum o2_judge_severity severity_of(const struct o2_judge_finding *finding)
{
	return finding->unproven ? O2_JUDGE_NOTE : o2_judge_rules[finding->rule].severity;
}

/* Numbers that JSON's do not hold are written in hexadecimal. */
static json_t *number(uint64_t value)
{
	return value > INT64_MAX ? json_sprintf("0x%" PRIx64, value) : json_integer((json_int_t)value);
}

static json_t *row_of(const struct o2_hearing *h, const struct o2_judge_finding *finding)
{
	static const char *const kinds[] = {
		[O2_LIMIT_BOUND] = "bound", [O2_LIMIT_EXACT] = "exact", [O2_LIMIT_MULTIPLE] = "multiple"};
	const struct o2_judge_rule *rule = &o2_judge_rules[finding->rule];
	const struct o2_error *error = &finding->error;
	char who[O2_NID_TEXT_BYTES], peer[O2_NID_TEXT_BYTES];
	json_t *row;

	o2_nid_to_text(h->end[finding->who].nid, who, sizeof(who));
	o2_nid_to_text(h->end[o2_hearing_other(finding->who)].nid, peer, sizeof(peer));
	row = json_pack("{s:s, s:s, s:b, s:s, s:s, s:i, s:I, s:I, s:s, s:s}", "rule", rule->id, "severity",
			o2_judge_severity_names[severity_of(finding)], "proven", !finding->unproven, "who",
			who, "peer", peer, "times", 1, "packet", (json_int_t)told.packet_of[finding->number],
			"time_ns", (json_int_t)told.base_ns + (json_int_t)finding->time_ns, "sentence",
			rule->sentence, "source", rule->source);
	if (finding->earlier != 0)
		json_object_set_new(row, "earlier_packet",
				    json_integer((json_int_t)told.packet_of[finding->earlier]));
	if (error->field == NULL)
		return row;
	json_object_set_new(row, "field", json_string(error->field));
	json_object_set_new(row, "value", number(error->value));
	if (error->limit == O2_NO_LIMIT || error->limit_kind == O2_LIMIT_OTHER)
		return row;
	json_object_set_new(row, "limit", number(error->limit));
	json_object_set_new(row, "limit_kind", json_string(kinds[error->limit_kind]));
	return row;
}

/* Of each rule that a side has broken, proven or not, a row: the first time, and how often. */
static void add_up(const struct o2_hearing *h, struct tally *tally)
{
	for (uint32_t i = 0; i < h->nlog; i++) {
		json_t *row = row_of(h, &findings[i]), *known;
		size_t k;

		tally->times[severity_of(&findings[i])]++;
		json_array_foreach(tally->rows, k, known) {
			if (!json_equal(json_object_get(known, "rule"), json_object_get(row, "rule")) ||
			    !json_equal(json_object_get(known, "who"), json_object_get(row, "who")) ||
			    !json_equal(json_object_get(known, "proven"), json_object_get(row, "proven")))
				continue;
			json_object_set_new(
				known, "times",
				json_integer(json_integer_value(json_object_get(known, "times")) + 1));
			json_decref(row);
			row = NULL;
			break;
		}
		if (row != NULL)
			json_array_append_new(tally->rows, row);
	}
}

static void judge(struct o2_commands_run *run, const struct o2_hearing *h)
{
	struct tally tally = {.rows = json_array()};
	const struct o2_hearing_end *a = &h->end[O2_JUDGE_A], *b = &h->end[O2_JUDGE_B];
	json_t *expected, *found;

	add_up(h, &tally);
	start(run, "judge");
	o2_command_word(&run->command, "--json");
	o2_command_word(&run->command, "--timeout=%" PRIu64, h->options.timeout_ms);
	o2_command_word(&run->command, "--keepalive=%" PRIu64, h->options.keepalive_ms);
	o2_command_word(&run->command, "-");
	run->tally.seen[h->nlog == 0 ? O2_COMMANDS_JUDGED : O2_COMMANDS_JUDGED_FOUND]++;
	if (o2_commands_go(run, tally.times[O2_JUDGE_MUST] != 0)) {
		expected = json_pack(
			"{s:s, s:i, s:{s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:I, s:I, s:I}, s:I, s:I, s:I, "
			"s:i, s:O}",
			"form", "o2ref/judge/output", "version", 1, "seen", "packets", (int)file.packets,
			"cut", 0, "dropped", 0, "connections", 1, "whole", (int)h->whole, "one_way", 0,
			"forgotten", 0, "messages", (json_int_t)a->messages + (json_int_t)b->messages,
			"writes", (json_int_t)a->writes + (json_int_t)b->writes, "write_bytes",
			(json_int_t)a->write_bytes + (json_int_t)b->write_bytes, "must",
			(json_int_t)tally.times[O2_JUDGE_MUST], "should",
			(json_int_t)tally.times[O2_JUDGE_SHOULD], "note",
			(json_int_t)tally.times[O2_JUDGE_NOTE], "more", 0, "findings", tally.rows);
		found = json_loads(run->command.out, 0, NULL);
		json_object_del(found, "file");
		if (!json_equal(found, expected)) {
			char *text = json_dumps(expected, JSON_COMPACT | JSON_SORT_KEYS);
			char *other = json_dumps(found, JSON_COMPACT | JSON_SORT_KEYS);

			o2_report_fail(run->report, "commands/judge/report", "expected %s",
				       text == NULL ? "-" : text);
			o2_report_add(run->report, "found    %s", other == NULL ? "-" : other);
			free(text);
			free(other);
		}
		json_decref(found);
		json_decref(expected);
	}
	json_decref(tally.rows);
}

void o2_commands_capture(struct o2_commands_run *run)
{
	static struct o2_tally counts;
	struct o2_hearing *h = &run->hearing;
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
	told.text = open_memstream(&text, &text_bytes);
	o2_told_start(&told);
	o2_verdicts_tell(h, &counts);
	o2_told_end(&told);
	fclose(told.text);
	if (!told.untold && !file.full && h->nlog < O2_HEARING_LOG && !run->report->failed) {
		switch (o2_draw(run->c, 4)) {
		case 0:
			judge(run, h);
			break;
		case 1:
			decode_json(run);
			break;
		case 2:
			decode_text(run, text);
			break;
		default:
			o2_commands_message(run, &told.said, told.bytes);
			break;
		}
		run->tally.seen[O2_COMMANDS_DECODED]++;
	}
	json_decref(told.rows);
	free(text);
}
