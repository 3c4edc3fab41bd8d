/* SPDX-License-Identifier: MIT */
/*
 * conform --hostile with a device: how it calls the liar (o2props beside it), and what it makes of the liar's
 * output (docs/conform.md, "Misbehaviours"). A stand-in for o2props prints what was drawn.
 */
#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/own_path.h"
#include "props/command/commands.h"
#include "props/command/liar_stand.h"
#include "props/command/net_process.h"
#include "props/command/probes.h"
#include "props/command/wrong.h"
#include "props/model/wire_model.h"

#define PEER	   "10.99.0.1@o2ib"
#define WORDS_SAID 1024u
#define GID_INDEX  1u	      /* of a device in the process */
#define FILE_BYTES (4u << 20) /* most bytes of a capture */

/* What the report must say. */
struct foretold {
	bool kernel, json;
	bool table, started, whole;
	char again[512];     /* the command without --only, --out and --json */
	char folder[40];     /* of --out; "": not given */
	uint32_t read;	     /* number of lies that conform reads from the table */
	const char *unknown; /* the first lie of --only that is not among those; NULL: none */
	uint32_t count[O2_LIAR_NOT_TRIED + 1], lies, named;
	uint64_t packets; /* in the capture before the first lie */
};

static void foretell(struct foretold *foretold, const struct o2_liar_stand *drawn)
{
	foretold->table = drawn->unstarted != 1 && drawn->list_status == 0 && drawn->others + drawn->rows > 0;
	foretold->read = foretold->table ? o2_liar_stand_rows(drawn) : 0;
	foretold->started = foretold->read > 0 && drawn->unstarted != 2;
	foretold->whole =
		foretold->table &&
		(foretold->read == 0 || (foretold->started && (drawn->status == 0 || drawn->status == 1)));
	foretold->lies = foretold->started ? foretold->read : 0;
	for (uint32_t i = 0; i < foretold->lies; i++) {
		char named[256];

		foretold->count[drawn->lie[i].outcome]++;
		o2_liar_talk_named(&drawn->lie[i].talk, named, sizeof(named));
		foretold->named += named[0] != '\0';
	}
}

/* The packets of one lie.  False: there is no capture, or it says nothing. */
static bool packets_of(const struct foretold *foretold, const struct o2_liar_stand *drawn, uint32_t lie,
		       uint64_t *first, uint64_t *last)
{
	*last = foretold->packets;
	for (uint32_t i = 0; i < lie; i++)
		*last += o2_liar_talk_packets(&drawn->lie[i].talk);
	*first = *last + 1;
	*last += o2_liar_talk_packets(&drawn->lie[lie].talk);
	return foretold->folder[0] != '\0' && *first <= *last;
}

static void say_rows(FILE *out, const struct foretold *foretold, const struct o2_liar_stand *drawn)
{
	static const char *const names[] = {"holds", "tolerated", "FINDING", "not tried"};

	for (uint32_t i = 0; i < foretold->lies; i++) {
		const struct o2_liar_lie *lie = &drawn->lie[i];
		char id[64], sentence[O2_LIAR_SHOWN], text[256];
		uint64_t first, last;

		o2_liar_stand_sentence(lie, sentence);
		o2_liar_talk_named(&lie->talk, text, sizeof(text));
		snprintf(id, sizeof(id), "hostile/%s", lie->name);
		fprintf(out, "%-9s %-22s %s", names[lie->outcome], id,
			lie->outcome == O2_LIAR_MET ? sentence : lie->why);
		if (lie->outcome != O2_LIAR_NOT_TRIED)
			fprintf(out, "; rules that the judge reported: %s", text[0] == '\0' ? "none" : text);
		fputc('\n', out);
		if (lie->outcome == O2_LIAR_MET || lie->outcome == O2_LIAR_NOT_TRIED)
			continue;
		o2_liar_talk_heard(&lie->talk, text, sizeof(text));
		fprintf(out,
			"          rule: %s (docs/hostile.md#the-table)\n"
			"          again: %s --only %s\n",
			sentence, foretold->again, id);
		if (lie->outcome == O2_LIAR_NOT_MET)
			fprintf(out, "          the peer said last: %s\n", text);
		if (packets_of(foretold, drawn, i, &first, &last))
			fprintf(out, "          said: packets %" PRIu64 " to %" PRIu64 " of %s/said.pcapng\n",
				first, last, foretold->folder);
	}
}

/* Drawn text contains no '#', which would stand for a number. */
static void say_text(FILE *out, const struct foretold *foretold, const struct o2_liar_stand *drawn,
		     const char *sentence)
{
	const uint32_t lies = foretold->lies - foretold->count[O2_LIAR_NOT_TRIED];

	fprintf(out, "%-9s %-22s %s\n", "holds", "ping/one", sentence);
	say_rows(out, foretold, drawn);
	if (!foretold->whole)
		fputs("not complete: the run was not completed\n", out);
	fputs("judged: # messages and # WRITEs of ours on # connections\n", out);
	if (lies > 0)
		fprintf(out, "misbehaviours: the judge reported a rule for %" PRIu32 " of %" PRIu32 "%s",
			foretold->named, lies, foretold->named < lies ? "; none for" : "");
	for (uint32_t i = 0; i < foretold->lies && lies > 0; i++) {
		char named[256];

		o2_liar_talk_named(&drawn->lie[i].talk, named, sizeof(named));
		if (drawn->lie[i].outcome != O2_LIAR_NOT_TRIED && named[0] == '\0')
			fprintf(out, " hostile/%s", drawn->lie[i].name);
	}
	if (lies > 0)
		fputc('\n', out);
	fprintf(out,
		"%" PRIu32 " hold, %" PRIu32 " findings, 0 known, %" PRIu32 " tolerated, %" PRIu32
		" not tried; seed #\n",
		1 + foretold->count[O2_LIAR_MET], foretold->count[O2_LIAR_NOT_MET],
		foretold->count[O2_LIAR_TOLERATED], foretold->count[O2_LIAR_NOT_TRIED]);
}

/* Split "a, b" into names. */
static json_t *names_of(const char *text)
{
	json_t *names = json_array();

	while (*text != '\0') {
		const char *end = strstr(text, ", ");

		json_array_append_new(names, end == NULL ? json_string(text)
							 : json_stringn(text, (size_t)(end - text)));
		text = end == NULL ? strchr(text, '\0') : end + 2;
	}
	return names;
}

static json_t *row_of(const struct foretold *foretold, const struct o2_liar_stand *drawn, uint32_t i)
{
	static const char *const names[] = {"holds", "tolerated", "finding", "not tried"};
	const struct o2_liar_lie *lie = &drawn->lie[i];
	char sentence[O2_LIAR_SHOWN], text[256];
	uint64_t first, last;
	json_t *row;

	o2_liar_stand_sentence(lie, sentence);
	row = json_pack("{s:o, s:s, s:s, s:s}", "id", json_sprintf("hostile/%s", lie->name), "outcome",
			names[lie->outcome], "sentence", sentence, "source", "hostile.md#the-table");
	if (packets_of(foretold, drawn, i, &first, &last)) {
		json_object_set_new(row, "first_packet", json_integer((json_int_t)first));
		json_object_set_new(row, "last_packet", json_integer((json_int_t)last));
	}
	o2_liar_talk_named(&lie->talk, text, sizeof(text));
	if (lie->outcome != O2_LIAR_NOT_TRIED)
		json_object_set_new(row, "named", names_of(text));
	o2_liar_talk_heard(&lie->talk, text, sizeof(text));
	if (lie->outcome == O2_LIAR_NOT_MET)
		json_object_set_new(row, "heard", json_string(text));
	if (lie->outcome != O2_LIAR_MET) {
		json_object_set_new(row, "seen", json_string(lie->why));
		json_object_set_new(row, "again",
				    json_sprintf("%s --only hostile/%s", foretold->again, lie->name));
	}
	return row;
}

static void add_rows(struct o2_report *report, const json_t *expected, const json_t *found)
{
	char *lines[] = {json_dumps(expected, JSON_SORT_KEYS), json_dumps(found, JSON_SORT_KEYS)};

	o2_report_add(report, "expected %s", lines[0] == NULL ? "" : lines[0]);
	o2_report_add(report, "found    %s", lines[1] == NULL ? "" : lines[1]);
	free(lines[0]);
	free(lines[1]);
}

static bool number_is(const json_t *object, const char *key, uint32_t value)
{
	return json_integer_value(json_object_get(object, key)) == value;
}

static void check_json(struct o2_commands_run *run, const struct foretold *foretold,
		       const struct o2_liar_stand *drawn)
{
	const uint32_t *count = foretold->count;
	json_t *found = json_loads(run->command.out, 0, NULL), *probes = json_object_get(found, "probes");
	bool equal = json_array_size(probes) == 1 + foretold->lies &&
		     json_is_true(json_object_get(found, "whole")) == foretold->whole &&
		     number_is(found, "holds", 1 + count[O2_LIAR_MET]) &&
		     number_is(found, "findings", count[O2_LIAR_NOT_MET]) &&
		     number_is(found, "not_tried", count[O2_LIAR_NOT_TRIED]) &&
		     number_is(found, "tolerated", count[O2_LIAR_TOLERATED]) &&
		     number_is(found, "lies", foretold->lies - count[O2_LIAR_NOT_TRIED]) &&
		     number_is(found, "lies_named", foretold->named);

	for (uint32_t i = 0; i < foretold->lies && equal; i++) {
		json_t *row = json_array_get(probes, 1 + i), *expected = row_of(foretold, drawn, i);

		equal = json_real_value(json_object_get(row, "seconds")) >= 0 &&
			json_real_value(json_object_get(row, "seconds")) < 60;
		json_object_del(row, "seconds");
		equal = equal && json_equal(row, expected);
		if (!equal)
			add_rows(run->report, expected, row);
		json_decref(expected);
	}
	if (!equal)
		o2_commands_wrong(run, "liar");
	json_decref(found);
}

static const char *sentence_of_ping(void)
{
	static struct o2_probe probe;

	for (uint32_t i = 0; o2_probe_at(i, &probe); i++)
		if (strcmp(probe.id, "ping/one") == 0)
			break;
	return probe.sentence;
}

/* Compare line by line; '#' stands for any number. */
static void hold_lines(struct o2_commands_run *run, char *expected)
{
	const char *found = run->command.out;
	char *line = expected, line_found[1024];

	while (*line != '\0') {
		const size_t length = strcspn(found, "\n");
		char *end = line + strcspn(line, "\n");

		assert(*end == '\n');
		*end = '\0';
		snprintf(line_found, sizeof(line_found), "%.*s", (int)length, found);
		if (strcmp(line_found, line) != 0 && !o2_commands_fits(line_found, line)) {
			o2_commands_wrong(run, "liar");
			o2_report_add(run->report, "expected %s", line);
			o2_report_add(run->report, "found    %s", line_found);
			return;
		}
		line = end + 1;
		found += length + (found[length] == '\n');
	}
	if (*found != '\0')
		o2_commands_wrong(run, "more");
}

/* Write all expected complaints, in order. */
static void complain(const struct foretold *foretold, const struct o2_liar_stand *drawn, char *text,
		     size_t bytes)
{
	static const int codes[] = {EMFILE, EAGAIN, ENOENT, ENOMEM};
	char path[4096] = "";
	size_t used = 0;

	if (foretold->unknown != NULL) {
		snprintf(text, bytes,
			 "o2ref: --only: unknown probe 'hostile/%s' (see: o2ref conform --list)\n",
			 foretold->unknown);
		return;
	}
	text[0] = '\0';
	if (drawn->unstarted == 1 || (drawn->unstarted == 2 && foretold->read > 0)) {
		(void)o2_own_path("o2props", path, sizeof(path));
		used += (size_t)snprintf(text, bytes, "o2ref: %s: %s\n", path, strerror(codes[drawn->lack]));
	}
	if (!foretold->table)
		used += (size_t)snprintf(text + used, bytes - used,
					 "o2ref: o2props hostile --list gave no table\n");
	else if (!foretold->whole && (foretold->started || drawn->lack == O2_LIAR_NO_PROGRAM))
		used += (size_t)snprintf(text + used, bytes - used,
					 "o2ref: --hostile: the run was not completed (status %d)\n",
					 foretold->started ? drawn->status : 77);
	if (!foretold->whole)
		snprintf(text + used, bytes - used, "o2ref: the run was not completed\n");
}

/* Check that the capture has all that was said, behind the probe's packets; count the probe's packets. */
static void check_capture(struct o2_commands_run *run, struct foretold *foretold,
			  const struct o2_liar_stand *drawn)
{
	static uint8_t bytes[FILE_BYTES];
	static const char *const others[] = {"report.txt", "report.json", "report.junit.xml"};
	size_t count = 0, at = 60, total;
	uint64_t packets = 0, lies = 0;
	char path[80];
	FILE *file;

	snprintf(path, sizeof(path), "%s/said.pcapng", foretold->folder);
	file = fopen(path, "rb");
	if (file != NULL) {
		count = fread(bytes, 1, sizeof(bytes), file);
		fclose(file);
	}
	unlink(path);
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", foretold->folder, others[i]);
		unlink(path);
	}
	rmdir(foretold->folder);
	for (uint32_t i = 0; i < foretold->lies; i++)
		lies += o2_liar_talk_packets(&drawn->lie[i].talk);
	for (size_t next = at; next + 8 <= count && (total = o2_wm_load(bytes + next + 4, 4, true)) >= 36;
	     next += total)
		packets++;
	if (packets <= lies) {
		o2_commands_wrong(run, "capture");
		return;
	}
	foretold->packets = packets - lies;
	for (uint64_t i = foretold->packets; i > 0; i--)
		at += o2_wm_load(bytes + at + 4, 4, true);
	for (uint32_t i = 0; i < foretold->lies && !run->report->failed; i++)
		if (!o2_liar_talk_captured(&drawn->lie[i].talk, bytes, count, &at)) {
			o2_commands_wrong(run, "captured");
			o2_report_add(run->report, "what was said in %s is not there", drawn->lie[i].name);
		}
}

/* Check the exit status, the complaints, the words of the liar, and the report. */
static void check(struct o2_commands_run *run, const struct foretold *foretold,
		  const struct o2_liar_stand *drawn, const char *told)
{
	const int status = foretold->unknown != NULL				      ? 2
			   : foretold->count[O2_LIAR_NOT_MET] > 0 || !foretold->whole ? 1
										      : 0;
	const uint32_t calls = (drawn->unstarted == 1 ? 0 : 1) + foretold->started;
	char *text = NULL, complaint[4400];
	size_t bytes;
	FILE *out;

	complain(foretold, drawn, complaint, sizeof(complaint));
	if (run->command.status != status || strcmp(run->command.err, complaint) != 0 ||
	    drawn->calls != calls || strcmp(drawn->told, foretold->started ? told : "") != 0) {
		o2_commands_wrong(run, "liar");
		o2_report_add(run->report, "exit status %d, complaint \"%s\"", status, complaint);
		o2_report_add(run->report, "the liar was to be told \"%s\", and was told \"%s\"", told,
			      drawn->told);
		return;
	}
	if (foretold->json && foretold->unknown == NULL)
		check_json(run, foretold, drawn);
	if (foretold->json || foretold->unknown != NULL)
		return;
	out = open_memstream(&text, &bytes);
	if (out == NULL)
		return;
	say_text(out, foretold, drawn, sentence_of_ping());
	fclose(out);
	hold_lines(run, text);
	free(text);
}

/* Draw the command line, the expected `again`, and the expected words of the liar. */
static void draw_words(struct o2_commands_run *run, const struct o2_liar_stand *drawn,
		       struct foretold *foretold, char *told, size_t told_bytes)
{
	struct o2_choice *c = run->c;
	const uint64_t timeout = 1 + o2_draw(c, 300), port = 1 + o2_draw(c, 65534);
	const bool place = o2_draw_bool(c, 1, 3);
	const uint64_t portal = place ? 60 : 7, bits = place ? 0x1234 : 1 + o2_draw(c, 99);
	const bool folder = drawn->others == 0 && o2_draw_bool(c, 1, 1);
	char rest[256];
	size_t used;

	snprintf(rest, sizeof(rest),
		 "--hostile --device=loop0 --nid=10.0.0.1@o2ib --timeout=%" PRIu64 " --port=%" PRIu64
		 "%s%s " PEER,
		 timeout, port, foretold->kernel ? " --profile=kernel" : "", place ? "" : " --portal=7");
	snprintf(foretold->again, sizeof(foretold->again), "o2ref conform %s", rest);
	o2_command_word(&run->command, "conform");
	o2_command_word_if(&run->command, foretold->json, "--json");
	o2_command_word(&run->command, "--only");
	/* Ask for lies by name, or for all of the table. */
	snprintf(run->command.word[run->command.words], O2_COMMAND_WORD,
		 folder ? "ping/one,hostile/" : "ping/one");
	for (uint32_t i = 0; i < drawn->nlies && !folder; i++)
		snprintf(strchr(run->command.word[run->command.words], '\0'),
			 O2_COMMAND_WORD - strlen(run->command.word[run->command.words]), ",hostile/%s",
			 drawn->lie[i].name);
	run->command.words++;
	if (!folder && foretold->table && foretold->read < drawn->nlies) {
		foretold->unknown = drawn->lie[foretold->read].name;
		foretold->started = foretold->whole = false;
		foretold->lies = foretold->named = 0;
	}
	if (foretold->folder[0] != '\0')
		o2_command_word(&run->command, "--out=%s", foretold->folder);
	o2_commands_words(run, rest);
	used = (size_t)snprintf(
		told, told_bytes,
		"o2props hostile --device loop0 --peer " PEER " --gid-index %u --port %" PRIu64
		" --patience %" PRIu64 " --tell --profile %s ",
		GID_INDEX, port, (timeout > 50 ? timeout : 50) + 25, foretold->kernel ? "kernel" : "strict");
	if (place)
		used += (size_t)snprintf(told + used, told_bytes - used,
					 "--portal %" PRIu64 " --match-bits %" PRIu64 " ", portal, bits);
	for (uint32_t i = 0; i < foretold->read; i++)
		used += (size_t)snprintf(told + used, told_bytes - used, "%s ", drawn->lie[i].name);
}

void o2_commands_liar(struct o2_commands_run *run)
{
	static char told[WORDS_SAID];
	static struct o2_liar_stand drawn; /* large */
	struct foretold foretold = {.kernel = false};
	struct o2_wrong wrong = {.in = O2_WRONG_NOWHERE, .events = true};
	struct o2_liar_stand *shared;

	if (run->command.memory == NULL)
		return;
	memset(&drawn, 0, sizeof(drawn));
	o2_liar_stand_draw(run->c, &drawn);
	foretold.json = o2_draw_bool(run->c, 1, 1);
	foretold.kernel = o2_draw_bool(run->c, 2, 1);
	foretell(&foretold, &drawn);
	if (o2_draw_bool(run->c, 1, 1)) {
		snprintf(foretold.folder, sizeof(foretold.folder), "/tmp/o2props-XXXXXX");
		if (mkdtemp(foretold.folder) == NULL)
			foretold.folder[0] = '\0';
	}
	wrong.alone = o2_draw_bool(run->c, 1, 1);
	draw_words(run, &drawn, &foretold, told, sizeof(told));
	shared = o2_net_share(&drawn, sizeof(drawn));
	if (shared == NULL)
		return;
	o2_liar_stand_in(run->command.memory, shared);
	o2_wrong_execute(&run->command, &wrong);
	o2_liar_stand_down(run->command.memory);
	o2_net_unshare(shared, &drawn, sizeof(drawn));
	run->tally.seen[foretold.whole ? O2_COMMANDS_LIAR : O2_COMMANDS_LIAR_GONE]++;
	run->tally.seen[O2_COMMANDS_LIAR_ALONE] += wrong.alone && foretold.started;
	run->tally.seen[O2_COMMANDS_LIAR_NAMED] += foretold.named > 0;
	run->tally.seen[O2_COMMANDS_LIAR_UNSTARTED] += drawn.unstarted > 0 && !foretold.whole;
	if (foretold.unknown != NULL)
		rmdir(foretold.folder);
	else if (foretold.folder[0] != '\0')
		check_capture(run, &foretold, &drawn);
	if (!run->report->failed)
		check(run, &foretold, &drawn, told);
}
