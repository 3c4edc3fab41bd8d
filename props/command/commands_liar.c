/* SPDX-License-Identifier: MIT */
/*
 * conform --hostile with a device: what it tells the liar, o2props beside it, and what it makes of what the liar says
 * (docs/conform.md, "Misbehaviours").  In place of that program a function of ours says what was drawn.
 */
#include <assert.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "props/command/commands.h"
#include "props/command/net_process.h"
#include "props/command/probes.h"
#include "props/command/wrong.h"
#include "props/hostile/hostile.h"

#define PEER	   "10.99.0.1@o2ib"
#define LIES	   5u
#define WORDS_SAID 1024u
#define GID_INDEX  1u /* that of a device in the process */
#define SHOWN	   192u

enum outcome {
	MET,
	TOLERATED,
	NOT_MET,
	NOT_TRIED,
};

struct lie {
	char name[48], sentence[SHOWN], why[80];
	enum outcome outcome;
};

/* Of the liar's processes; what it was told comes back. */
static struct stand_in {
	uint32_t nlies;
	struct lie lie[LIES];
	uint32_t rows;	       /* of its table, from the first lie on; the others it does not have */
	int list_status;       /* of the table */
	int status;	       /* of all others; -1: it is killed */
	char told[WORDS_SAID]; /* the words of the second call, with a blank behind each */
	uint32_t calls;
} * liar;

static void list_lies(void)
{
	dprintf(STDOUT_FILENO,
		"| Name | Group | What the peer does | Rule | Reaction | Tolerated by |\n|---|---|---|\n");
	for (uint32_t i = 0; i < liar->rows; i++) {
		const struct o2_misbehaviour *list;
		const size_t most = o2_misbehaviours(&list);
		char row[O2_MISBEHAVIOUR_ROW_BYTES];

		for (size_t k = 0; k < most; k++)
			if (strcmp(list[k].name, liar->lie[i].name) == 0) {
				o2_misbehaviour_row(&list[k], row);
				dprintf(STDOUT_FILENO, "%s\n", row);
			}
	}
	dprintf(STDOUT_FILENO, "\n%u rows\n", liar->rows);
}

static void tell_lies(char *const argv[])
{
	static const char *const words[] = {"met", "TOLERATED (known): ", "NOT MET: ", "not tried: "};
	size_t used = 0;

	for (size_t i = 0; argv[i] != NULL; i++)
		used += (size_t)snprintf(liar->told + used, used < WORDS_SAID ? WORDS_SAID - used : 0, "%s ",
					 argv[i]);
	dprintf(STDOUT_FILENO, "seed 0x1\n");
	for (uint32_t i = 0; i < liar->rows; i++) {
		const struct lie *lie = &liar->lie[i];

		dprintf(STDOUT_FILENO, "try %s\n", lie->name);
		dprintf(STDOUT_FILENO, "%-24s %s%s\n", lie->name, words[lie->outcome],
			lie->outcome == MET ? "" : lie->why);
	}
	dprintf(STDOUT_FILENO, "%u passed, 0 failed\n", liar->rows);
}

/* What execv(3) is while this case runs. */
static int be_liar(const char *path, char *const argv[])
{
	const bool lists =
		argv[0] != NULL && argv[1] != NULL && argv[2] != NULL && strcmp(argv[2], "--list") == 0;

	if (strrchr(path, '/') == NULL || strcmp(strrchr(path, '/'), "/o2props") != 0)
		_exit(99);
	liar->calls++;
	if (lists)
		list_lies();
	else
		tell_lies(argv);
	if (!lists && liar->status < 0)
		raise(SIGKILL);
	_exit(lists ? liar->list_status : liar->status);
}

static void draw_lies(struct o2_choice *c, struct stand_in *drawn)
{
	static const char *const whys[] = {"it said nothing for 3 s", "not met", "a|b met: ", "x"};
	const struct o2_misbehaviour *list;
	const size_t most = o2_misbehaviours(&list);
	size_t at = o2_draw_pick(c, most);

	drawn->nlies = 1 + (uint32_t)o2_draw(c, LIES - 1);
	for (uint32_t i = 0; i < drawn->nlies; i++) {
		struct lie *lie = &drawn->lie[i];
		char row[O2_MISBEHAVIOUR_ROW_BYTES], *cell[5] = {NULL}, *rest = row + 2;

		o2_misbehaviour_row(&list[at], row);
		for (size_t k = 0; k < 5 && rest != NULL; k++) {
			cell[k] = rest;
			rest = strstr(rest, " | ");
			if (rest != NULL) {
				*rest = '\0';
				rest += 3;
			}
		}
		snprintf(lie->name, sizeof(lie->name), "%s", list[at].name);
		snprintf(lie->sentence, sizeof(lie->sentence), "%s: %s", cell[2], cell[4]);
		snprintf(lie->why, sizeof(lie->why), "%s", whys[o2_draw_pick(c, 4)]);
		lie->outcome = (enum outcome)o2_draw(c, NOT_TRIED);
		/* In the order of the table. */
		at += 1 + o2_draw(c, 3);
		if (at >= most)
			drawn->nlies = i + 1;
	}
	drawn->rows = drawn->nlies - (uint32_t)o2_draw_bool(c, 5, 1);
	drawn->list_status = o2_draw_bool(c, 9, 1) ? 2 : 0;
	drawn->status = o2_draw_bool(c, 2, 1) ? (int)o2_draw(c, 5) - 1 : (int)o2_draw(c, 1);
}

/* What the report is to say of it. */
struct foretold {
	bool kernel, json, whole;
	char again[512]; /* the command, without --only and --json */
	uint32_t count[NOT_TRIED + 1], lies;
};

static void say_rows(FILE *out, const struct foretold *foretold, const struct stand_in *drawn)
{
	static const char *const names[] = {"holds", "tolerated", "FINDING", "not tried"};

	for (uint32_t i = 0; i < drawn->rows && foretold->lies > 0; i++) {
		const struct lie *lie = &drawn->lie[i];
		char id[64];

		snprintf(id, sizeof(id), "hostile/%s", lie->name);
		fprintf(out, "%-9s %-22s %s%s\n", names[lie->outcome], id,
			lie->outcome == MET ? lie->sentence : lie->why,
			lie->outcome == NOT_TRIED ? "" : "; the judge names it: no rule");
		if (lie->outcome == MET || lie->outcome == NOT_TRIED)
			continue;
		fprintf(out,
			"          it should be so: %s (docs/hostile.md#the-table)\n"
			"          again: %s --only %s\n",
			lie->sentence, foretold->again, id);
		if (lie->outcome == NOT_MET)
			fputs("          the peer said last: nothing\n", out);
	}
}

/* '#' stands for a number, so there is none in what is drawn. */
static void say_text(FILE *out, const struct foretold *foretold, const struct stand_in *drawn,
		     const char *sentence)
{
	uint32_t lies = 0;

	fprintf(out, "%-9s %-22s %s\n", "holds", "ping/one", sentence);
	say_rows(out, foretold, drawn);
	fputs("judged: # messages and # WRITEs of ours on # connections\n", out);
	for (uint32_t i = 0; i < drawn->rows && foretold->lies > 0; i++)
		lies += drawn->lie[i].outcome != NOT_TRIED;
	if (lies > 0)
		fprintf(out, "lies: the judge names 0 of %" PRIu32 " by a rule; not", lies);
	for (uint32_t i = 0; i < drawn->rows && lies > 0; i++)
		if (drawn->lie[i].outcome != NOT_TRIED)
			fprintf(out, " hostile/%s", drawn->lie[i].name);
	if (lies > 0)
		fputc('\n', out);
	fprintf(out,
		"%" PRIu32 " hold, %" PRIu32 " findings, 0 known, %" PRIu32 " tolerated, %" PRIu32
		" not tried; seed #\n",
		1 + foretold->count[MET], foretold->count[NOT_MET], foretold->count[TOLERATED],
		foretold->count[NOT_TRIED]);
}

static void check_json(struct o2_commands_run *run, const struct foretold *foretold,
		       const struct stand_in *drawn)
{
	static const char *const names[] = {"holds", "tolerated", "finding", "not tried"};
	const uint32_t rows = foretold->lies == 0 ? 0 : drawn->rows;
	json_t *found = json_loads(run->command.out, 0, NULL), *probes = json_object_get(found, "probes");
	bool equal =
		json_array_size(probes) == 1 + rows &&
		json_is_true(json_object_get(found, "whole")) == foretold->whole &&
		json_integer_value(json_object_get(found, "holds")) == 1 + foretold->count[MET] &&
		json_integer_value(json_object_get(found, "findings")) == foretold->count[NOT_MET] &&
		json_integer_value(json_object_get(found, "not_tried")) == foretold->count[NOT_TRIED] &&
		json_integer_value(json_object_get(found, "tolerated")) == foretold->count[TOLERATED] &&
		json_integer_value(json_object_get(found, "lies")) == rows - foretold->count[NOT_TRIED] &&
		json_integer_value(json_object_get(found, "lies_named")) == 0;

	for (uint32_t i = 0; i < rows && equal; i++) {
		const struct lie *lie = &drawn->lie[i];
		json_t *row = json_array_get(probes, 1 + i);
		json_t *expected = json_pack(
			"{s:o, s:s, s:s, s:s}", "id", json_sprintf("hostile/%s", lie->name), "outcome",
			names[lie->outcome], "sentence", lie->sentence, "source", "hostile.md#the-table");

		if (lie->outcome != NOT_TRIED)
			json_object_set_new(expected, "named", json_array());
		if (lie->outcome == NOT_MET)
			json_object_set_new(expected, "heard", json_string("nothing"));
		if (lie->outcome != MET) {
			json_object_set_new(expected, "seen", json_string(lie->why));
			json_object_set_new(expected, "again",
					    json_sprintf("%s --only hostile/%s", foretold->again, lie->name));
		}
		equal = json_real_value(json_object_get(row, "seconds")) >= 0 &&
			json_real_value(json_object_get(row, "seconds")) < 60;
		json_object_del(row, "seconds");
		equal = equal && json_equal(row, expected);
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

/* Each line; '#' stands for any number. */
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

/* Exit status and complaints; the words of the liar; the report. */
static void check(struct o2_commands_run *run, const struct foretold *foretold, const struct stand_in *drawn,
		  const char *told)
{
	const bool table = drawn->list_status == 0 && drawn->rows > 0;
	const int status = foretold->count[NOT_MET] > 0 || !foretold->whole ? 1 : 0;
	char *text = NULL, complaint[128] = "";
	size_t bytes;
	FILE *out;

	if (!table)
		snprintf(complaint, sizeof(complaint),
			 "o2ref: --hostile: there is no table of misbehaviours\n");
	else if (!foretold->whole)
		snprintf(complaint, sizeof(complaint),
			 "o2ref: --hostile: it did not come to its end (status %d)\n", drawn->status);
	if (!foretold->whole)
		strcat(complaint, "o2ref: it did not come to its end\n");
	if (run->command.status != status || strcmp(run->command.err, complaint) != 0 ||
	    drawn->calls != (table ? 2 : 1) || strcmp(drawn->told, table ? told : "") != 0) {
		o2_commands_wrong(run, "liar");
		o2_report_add(run->report, "exit status %d, complaint \"%s\"", status, complaint);
		o2_report_add(run->report, "the liar was to be told \"%s\", and was told \"%s\"", told,
			      drawn->told);
		return;
	}
	if (foretold->json) {
		check_json(run, foretold, drawn);
		return;
	}
	out = open_memstream(&text, &bytes);
	if (out == NULL)
		return;
	say_text(out, foretold, drawn, sentence_of_ping());
	fclose(out);
	hold_lines(run, text);
	free(text);
}

/* The command line, what `again` has of it, and the words of the liar. */
static void draw_words(struct o2_commands_run *run, const struct stand_in *drawn, struct foretold *foretold,
		       char *told, size_t told_bytes)
{
	struct o2_choice *c = run->c;
	const uint64_t timeout = 1 + o2_draw(c, 300), port = 1 + o2_draw(c, 65534);
	const bool place = o2_draw_bool(c, 1, 3);
	const uint64_t portal = place ? 60 : 7, bits = place ? 0x1234 : 1 + o2_draw(c, 99);
	char rest[256];
	size_t used;

	snprintf(rest, sizeof(rest),
		 "--hostile --device=loop0 --nid=10.0.0.1@o2ib --timeout=%" PRIu64 " --port=%" PRIu64
		 "%s%s " PEER,
		 timeout, port, foretold->kernel ? " --profile=kernel" : "", place ? "" : " --portal=7");
	snprintf(foretold->again, sizeof(foretold->again), "o2ref conform %s", rest);
	o2_command_word(&run->command, "conform");
	if (foretold->json)
		o2_command_word(&run->command, "--json");
	o2_command_word(&run->command, "--only");
	snprintf(run->command.word[run->command.words], O2_COMMAND_WORD, "ping/one");
	for (uint32_t i = 0; i < drawn->nlies; i++)
		snprintf(strchr(run->command.word[run->command.words], '\0'),
			 O2_COMMAND_WORD - strlen(run->command.word[run->command.words]), ",hostile/%s",
			 drawn->lie[i].name);
	run->command.words++;
	o2_commands_words(run, rest);
	used = (size_t)snprintf(told, told_bytes,
				"o2props hostile --device loop0 --peer " PEER
				" --gid-index %u --port %" PRIu64 " --patience %" PRIu64
				" --tell --profile %s ",
				GID_INDEX, port, timeout + 25, foretold->kernel ? "kernel" : "strict");
	if (place)
		used += (size_t)snprintf(told + used, told_bytes - used,
					 "--portal %" PRIu64 " --match-bits %" PRIu64 " ", portal, bits);
	for (uint32_t i = 0; i < drawn->rows; i++)
		used += (size_t)snprintf(told + used, told_bytes - used, "%s ", drawn->lie[i].name);
}

void o2_commands_liar(struct o2_commands_run *run)
{
	static char told[WORDS_SAID];
	struct stand_in drawn = {.nlies = 0};
	struct foretold foretold = {.whole = true};
	struct o2_wrong wrong = {.in = O2_WRONG_NOWHERE, .events = true};

	if (run->command.memory == NULL)
		return;
	draw_lies(run->c, &drawn);
	foretold.json = o2_draw_bool(run->c, 1, 1);
	foretold.kernel = o2_draw_bool(run->c, 2, 1);
	draw_words(run, &drawn, &foretold, told, sizeof(told));
	if (drawn.list_status == 0 && drawn.rows > 0)
		foretold.lies = drawn.rows;
	for (uint32_t i = 0; i < foretold.lies; i++)
		foretold.count[drawn.lie[i].outcome]++;
	foretold.whole = foretold.lies > 0 && (drawn.status == 0 || drawn.status == 1);
	liar = o2_net_share(&drawn, sizeof(drawn));
	if (liar == NULL)
		return;
	run->command.memory->exec_as(be_liar);
	o2_wrong_execute(&run->command, &wrong);
	run->command.memory->exec_as(NULL);
	o2_net_unshare(liar, &drawn, sizeof(drawn));
	run->tally.seen[foretold.whole ? O2_COMMANDS_LIAR : O2_COMMANDS_LIAR_GONE]++;
	check(run, &foretold, &drawn, told);
}
