/* SPDX-License-Identifier: MIT */
/*
 * conform against a peer with other places than the command expects (docs/conform.md, "What is not tried"); with a
 * folder that cannot be written; and with wrong words and lists.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "props/command/trial.h"
#include "props/command/wrong.h"

#define US	    "10.0.0.1@o2ib"
#define PEER	    "10.99.0.1@o2ib"
#define LEAST_PLACE (2u << 20)
#define BLOCK	    4096u /* docs/conform.md, "What is not tried": bytes moved to find the end of a place */
#define LEAST	    64u	  /* and to find a smaller place */
#define SMALL	    2000u /* smallest size of a probe that reaches past the end */
#define PORTALS	    60u
#define LINE_MOST   1022u /* docs/conform.md, "Known findings": most characters per line */

/* What the command is told of the places, and what it must report; "": nothing. */
struct places {
	uint32_t bytes, portal[2];
	uint64_t bits;
	char lacks[2][100], no_end[100];
};

/* Draw the size of the place.  *ends: a PUT place ends where conform looks for its end. */
static uint32_t draw_bytes(struct o2_choice *c, uint32_t bytes, bool truncate, bool *ends)
{
	/* Extra bytes: fewer than half of the smallest such probe, or more than conform moves to find the end. */
	const uint32_t more = o2_draw_bool(c, 1, 1)   ? 0
			      : o2_draw_bool(c, 1, 1) ? (uint32_t)o2_draw(c, SMALL / 2 - 1)
						      : BLOCK + (uint32_t)o2_draw(c, BLOCK);
	const uint32_t less = o2_draw_bool(c, 1, 1) ? BLOCK : BLOCK + (uint32_t)o2_draw(c, BLOCK);

	*ends = false;
	switch (o2_draw(c, 3)) {
	case 0:
		return bytes - less;
	case 1:
		return LEAST + (uint32_t)o2_draw(c, BLOCK - LEAST - 1);
	default:
		/* A place that truncates accepts part of the block, so a little more is noticed. */
		*ends = more == 0 || (more < BLOCK && !truncate);
		return bytes + more;
	}
}

/* Give the place another portal or other match bits. */
static void miss(struct o2_choice *c, struct o2_wrong_place *place)
{
	if (o2_draw_bool(c, 1, 1))
		place->portal = PORTALS + 1;
	else
		place->bits ^= UINT64_C(1) << o2_draw(c, 63);
}

static void draw_places(struct o2_choice *c, struct places *places, struct o2_wrong *wrong)
{
	struct o2_wrong_place *written = &wrong->place[0], *read = &wrong->place[1];
	bool ends;

	places->bytes = LEAST_PLACE + (uint32_t)o2_draw(c, 100000);
	places->portal[0] = 1 + (uint32_t)o2_draw(c, PORTALS - 1);
	places->portal[1] = 1 + (places->portal[0] + (uint32_t)o2_draw(c, PORTALS - 2)) % PORTALS;
	places->bits = o2_draw(c, UINT64_MAX);
	wrong->places = true;
	wrong->truncates = o2_draw_bool(c, 1, 2);
	*written = (struct o2_wrong_place){.portal = places->portal[0], .bits = places->bits};
	written->bytes = draw_bytes(c, places->bytes, wrong->truncates, &ends);
	if (!ends)
		snprintf(places->no_end, sizeof(places->no_end),
			 "the peer's memory is not %" PRIu32 " bytes long (see --place-bytes)",
			 places->bytes);
	*read = (struct o2_wrong_place){.portal = places->portal[1], .bits = places->bits};
	read->bytes = o2_draw_bool(c, 1, 1) ? places->bytes : LEAST + (uint32_t)o2_draw(c, BLOCK);
	switch (o2_draw(c, 8)) {
	case 0:
		miss(c, written);
		snprintf(places->lacks[0], sizeof(places->lacks[0]),
			 "no memory takes PUTs at portal %" PRIu32 " (see --portal, --match-bits)",
			 places->portal[0]);
		break;
	case 1:
		written->puts_only = true;
		snprintf(places->lacks[0], sizeof(places->lacks[0]),
			 "the memory at portal %" PRIu32 " takes PUTs, but no GETs", places->portal[0]);
		break;
	case 2:
		miss(c, read);
		snprintf(places->lacks[1], sizeof(places->lacks[1]),
			 "no memory takes GETs at portal %" PRIu32 " (see --read-portal, --match-bits)",
			 places->portal[1]);
		break;
	default:
		break;
	}
}

static void add_row(struct o2_trial *trial, const char *id, const char *lacks)
{
	struct o2_trial_row *row = &trial->row[trial->rows++];

	for (uint32_t i = 0; o2_probe_at(i, &row->probe); i++)
		if (strcmp(row->probe.id, id) == 0)
			break;
	row->outcome = lacks[0] == '\0' ? "holds" : "not tried";
	row->expected = lacks;
	snprintf(trial->only + strlen(trial->only), sizeof(trial->only) - strlen(trial->only), "%s%s",
		 trial->rows == 1 ? "" : ",", id);
}

/* Each probe's place is there or missing; the first missing one is reported. */
static void look_for_places(struct o2_commands_run *run)
{
	static const char *const past_end[] = {"end/put", "end/get", "end/put-small", "end/get-small"};
	static struct o2_trial trial; /* large */
	static struct o2_probe_quirk quirk;
	struct o2_command_run *command = &run->command;
	struct o2_wrong wrong = {.lst_type = O2_WRONG_ANY};
	struct places places = {.bytes = 0};

	memset(&trial, 0, sizeof(trial));
	trial.run = run;
	trial.quirk = &quirk;
	trial.json = o2_draw_bool(run->c, 1, 1);
	trial.seed = 1 + o2_draw(run->c, 1000);
	draw_places(run->c, &places, &wrong);
	add_row(&trial, "ping/one", "");
	add_row(&trial, past_end[o2_draw_pick(run->c, 4)],
		places.lacks[0][0] != '\0' ? places.lacks[0] : places.no_end);
	add_row(&trial, "put/size-1", places.lacks[0]);
	add_row(&trial, "get/size-1", places.lacks[1]);
	o2_commands_words(run, "conform --device=loop --nid=" US " --timeout=2");
	o2_command_word(command, "--place-bytes=%" PRIu32, places.bytes);
	o2_command_word(command, "--portal=%" PRIu32, places.portal[0]);
	o2_command_word(command, "--read-portal=%" PRIu32, places.portal[1]);
	o2_command_word(command, "--match-bits=0x%" PRIx64, places.bits);
	o2_command_word(command, "--seed=%" PRIu64, trial.seed);
	o2_command_word_if(command, trial.json, "--json");
	o2_command_word(command, "--only=%s", trial.only);
	o2_command_word(command, PEER);
	o2_wrong_execute(command, &wrong);
	run->tally.seen[O2_COMMANDS_PLACES] += o2_trial_count(&trial, "not tried") > 0;
	if (command->status != 0 || command->err[0] != '\0')
		o2_commands_wrong(run, "places");
	else if (trial.json)
		o2_trial_check_json(&trial, command->out);
	else
		o2_trial_check_text(&trial, command->out);
}

/* The folder or the capture cannot be created; nothing is tried. */
static void write_in_vain(struct o2_commands_run *run)
{
	struct o2_wrong wrong = {.lst_type = O2_WRONG_ANY};
	char folder[] = "/tmp/o2props-XXXXXX", path[80];
	const bool capture = o2_draw_bool(run->c, 1, 1), file = o2_draw_bool(run->c, 1, 1);

	if (mkdtemp(folder) == NULL)
		return;
	snprintf(path, sizeof(path), "%s/said.pcapng", folder);
	if (mkdir(path, 0700) != 0)
		return;
	o2_commands_words(run, "conform --device=loop --nid=" US " --only=ping/one");
	if (capture)
		o2_command_word(&run->command, "--out=%s", folder);
	else
		o2_command_word(&run->command, "--out=%s%s", file ? "/dev/null" : folder,
				file ? "" : "/none/there");
	o2_command_word(&run->command, PEER);
	o2_wrong_execute(&run->command, &wrong);
	rmdir(path);
	rmdir(folder);
	run->tally.seen[O2_COMMANDS_UNWRITTEN]++;
	if (run->command.status != 2 || run->command.out[0] != '\0')
		o2_commands_wrong(run, "unwritten");
	if (capture)
		o2_commands_complains(run, "o2ref: %s: Is a directory\n", path);
	else if (file)
		o2_commands_complains(run, "o2ref: /dev/null: Not a directory\n");
	else
		o2_commands_complains(run, "o2ref: %s/none/there: No such file or directory\n", folder);
}

/* Words that are no probe. */
static void ask_for_nothing(struct o2_commands_run *run)
{
	static const char *const wrong[][2] = {{"put", "put"},
					       {"ping/one,put/size-2", "put/size-2"},
					       {"hostile/magic", NULL},
					       {"lst/ping", NULL}};
	const size_t which = o2_draw_pick(run->c, sizeof(wrong) / sizeof(wrong[0]));
	const char *unknown = wrong[which][1];

	o2_commands_words(run, "conform --device=loop " PEER);
	o2_command_word(&run->command, "--only=%s", wrong[which][0]);
	if (!o2_commands_go(run, 2))
		return;
	if (unknown == NULL)
		o2_commands_complains(run, "o2ref: --only: '%s' needs --%.*s\n", wrong[which][0],
				      (int)strcspn(wrong[which][0], "/"), wrong[which][0]);
	else
		o2_commands_complains(run, "o2ref: --only: unknown probe '%s' (see: o2ref conform --list)\n",
				      unknown);
}

/* Draw valid lines; *last: the probe in the last line that lists one.  Returns the next line's number. */
static unsigned int draw_list(struct o2_choice *c, char *text, size_t bytes, struct o2_probe *last)
{
	struct o2_probe probe;
	unsigned int number = 1;
	size_t used = 0;

	text[0] = last->id[0] = '\0';
	for (uint32_t at = (uint32_t)o2_draw(c, 30); o2_draw_bool(c, 1, 6) && number < 40; number++) {
		if (o2_draw_bool(c, 1, 1) || !o2_probe_at(at, &probe)) {
			used += (size_t)snprintf(text + used, bytes - used, "%*s\n",
						 o2_draw_bool(c, 9, 1) ? (int)LINE_MOST : 0,
						 o2_draw_bool(c, 1, 1) ? "" : "\t # nothing");
			continue;
		}
		at += 1 + (uint32_t)o2_draw(c, 3);
		*last = probe;
		used += (size_t)snprintf(text + used, bytes - used, "%s%s%s\n",
					 o2_draw_bool(c, 1, 1) ? "" : " \t", probe.id,
					 o2_draw_bool(c, 1, 1) ? "" : "#twice");
	}
	return number;
}

/* A list of known findings with one wrong line. */
static void know_wrongly(struct o2_commands_run *run)
{
	static const char *const ids[] = {
		"end/gets", "judge/no/rule",
		"judge/",   "put/",
		"twice",    "a-name-that-is-longer-than-any-of-them-all-may-be-in-such-a-list"};
	static char text[64 * LINE_MOST];
	struct o2_probe last;
	const unsigned int number = draw_list(run->c, text, sizeof(text), &last);
	const size_t which = o2_draw_pick(run->c, 8), used = strlen(text);
	const bool twice = which == 4 && last.id[0] != '\0', is_long = which == 6;
	const bool unmarked = which == 7;
	const char *id = twice ? last.id : is_long ? "x" : unmarked ? "end/get" : ids[which];
	const int width = is_long ? (int)LINE_MOST + 1 + (int)o2_draw(run->c, 40) : 0;

	snprintf(text + used, sizeof(text) - used, "%-*s%s\nend/get\n", width, id,
		 is_long    ? ""
		 : unmarked ? " why # why"
			    : " # why");
	o2_commands_words(run, "conform --device=loop --only=ping/one --known=/dev/stdin " PEER);
	o2_command_input(&run->command, text, strlen(text));
	if (o2_commands_go(run, 2))
		o2_commands_complains(run, "o2ref: /dev/stdin: line %u: '%.60s' %s\n", number, id,
				      twice	 ? "is listed twice"
				      : is_long	 ? "begins a line of more than 1022 characters"
				      : unmarked ? "is followed by text that is no comment"
						 : "is no id of a finding (see: o2ref conform --list)");
	o2_command_input(&run->command, NULL, 0);
}

void o2_commands_places(struct o2_commands_run *run)
{
	static void (*const kinds[])(struct o2_commands_run * run) = {look_for_places, write_in_vain,
								      ask_for_nothing, know_wrongly};
	static const uint32_t weights[] = {8, 3, 2, 4};

	kinds[o2_draw_weighted(run->c, weights, 4)](run);
}
