/* SPDX-License-Identifier: MIT */
/* conform against the network of --device=loop, with a peer that has one quirk: docs/conform.md. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "judge/rules.h"
#include "props/command/trial.h"
#include "props/hostile/hostile.h"

#define PEER	   "10.99.0.1@o2ib"
#define PATTERN	   UINT64_C(0xeeb0eeb1eeb2eeb3) /* docs/lst.md, "Constants": the word that fills bulks */
#define FILE_BYTES (24u << 20)			/* most bytes of a report or a capture */
#define FLIP_MOST  2048u /* docs/peer.md, "Quirks": offset of the flipped byte, at most */

static struct o2_trial_row *add_row(struct o2_trial *trial, const char *id, const char *outcome)
{
	struct o2_trial_row *row = &trial->row[trial->rows++];

	*row = (struct o2_trial_row){.outcome = outcome};
	snprintf(row->probe.id, sizeof(row->probe.id), "%s", id);
	snprintf(row->again, sizeof(row->again), "%s", id);
	return row;
}

/* Draw words of --only: folders and names of probes. */
static void draw_only(struct o2_trial *trial)
{
	static const char *const folders[] = {"put/",	 "get/",     "frags/", "mode/",	    "offset/",
					      "flight/", "connect/", "flow/",  "checksum/", "ping/",
					      "leave/",	 "restart/", "lst/"};
	struct o2_choice *c = trial->run->c;
	struct o2_probe probe;
	uint64_t words = 1 + o2_draw(c, 5);
	size_t used = (size_t)snprintf(trial->only, sizeof(trial->only), "%s", trial->quirk->draw);

	/* With such a quirk each transfer by RDMA would wait for a timeout, so add no other probes. */
	if (trial->quirk->rule != NULL)
		words = used > 0 ? 0 : words;
	for (; words > 0; words--) {
		const bool folder = o2_draw_bool(c, 2, 1), lst = trial->lst && o2_draw_bool(c, 1, 1);

		(void)o2_probe_at((uint32_t)(lst ? O2_PROBES + o2_draw(c, O2_PROBES_LST - 1)
						 : o2_draw(c, O2_PROBES - 1)),
				  &probe);
		used += (size_t)snprintf(trial->only + used, sizeof(trial->only) - used, "%s%s",
					 used == 0 ? "" : ",",
					 folder ? folders[lst ? 12 : o2_draw_pick(c, 12)] : probe.id);
	}
}

/*
 * Ask for one or two misbehaviours, which cannot be tried: the network in the process has no device. Their texts
 * are those of docs/hostile.md, "The table": what the peer does, and the reaction.
 */
static void add_hostile(struct o2_trial *trial)
{
	static const char lacks[] = "--hostile needs an RDMA device";
	const struct o2_misbehaviour *list;
	const size_t most = o2_misbehaviours(&list);
	char reaction[80];
	struct o2_trial_row *last;

	for (size_t i = 0; i < most; i++) {
		if (!o2_draw_bool(trial->run->c, (uint32_t)most - 1, 1) && (i + 1 < most || trial->hostile))
			continue;
		trial->hostile = true;
		snprintf(trial->only + strlen(trial->only), sizeof(trial->only) - strlen(trial->only),
			 ",hostile/%s", list[i].name);
		last = add_row(trial, "", "not tried");
		snprintf(last->probe.id, sizeof(last->probe.id), "hostile/%s", list[i].name);
		snprintf(last->again, sizeof(last->again), "hostile/%s", list[i].name);
		snprintf(last->probe.source, sizeof(last->probe.source), "hostile.md#the-table");
		last->expected = lacks;
		o2_misbehaviour_reaction(&list[i], reaction, sizeof(reaction));
		snprintf(last->probe.sentence, sizeof(last->probe.sentence), "%s: %s", list[i].text,
			 reaction);
		if (strlen(trial->only) > O2_COMMAND_WORD - 50)
			return;
	}
}

/* Draw known findings, for standard input: some of the probes, and a rule of the judge. */
static void draw_known(struct o2_trial *trial, char *text, size_t bytes)
{
	struct o2_choice *c = trial->run->c;
	const char *rule = o2_judge_rules[o2_draw_pick(c, O2_JUDGE_RULES)].id;
	bool there = !o2_draw_bool(c, 1, 3);
	size_t used = (size_t)snprintf(text, bytes, o2_draw_bool(c, 1, 1) ? "# why\n\n" : "\n");

	for (uint32_t i = 0; i < trial->rows; i++) {
		struct o2_trial_row *row = &trial->row[i];
		const bool finding = strcmp(row->outcome, "FINDING") == 0;
		const bool occurs = finding || strcmp(row->outcome, "tolerated") == 0;

		there |= strncmp(row->probe.id, "judge/", 6) == 0 && strcmp(row->probe.id + 6, rule) == 0;
		if (strcmp(row->outcome, "not tried") == 0 || (!occurs && trial->ngone == 4) ||
		    !o2_draw_bool(c, occurs ? 1 : 6, 1))
			continue;
		used += (size_t)snprintf(text + used, bytes - used, "  %s%s\n", row->probe.id,
					 o2_draw_bool(c, 1, 1) ? "  # seen before" : "");
		if (finding)
			row->outcome = "known";
		else if (!occurs)
			snprintf(trial->gone[trial->ngone++], sizeof(trial->gone[0]), "%s", row->probe.id);
	}
	if (there)
		return;
	/* A known rule that nobody breaks is mentioned if all probes had the chance to. */
	snprintf(text + used, bytes - used, "judge/%s\n", rule);
	if (trial->all)
		snprintf(trial->gone[trial->ngone++], sizeof(trial->gone[0]), "judge/%s", rule);
}

static bool needs_place(const char *id)
{
	return strncmp(id, "put/", 4) == 0 || strncmp(id, "end/", 4) == 0 || strncmp(id, "mode/", 5) == 0 ||
	       strncmp(id, "frags/", 6) == 0 || strncmp(id, "offset/", 7) == 0;
}

/* The test node flips the middle bit of a read.  Check simple looks at both ends of each page only. */
static void foretell_lst(const struct o2_trial *trial, struct o2_trial_row *row)
{
	unsigned int bytes, at;

	if (strcmp(row->probe.id, "lst/expire") == 0) {
		row->outcome = "not tried";
		row->expected = "its session timeout (100 s) is not below --timeout";
	}
	if (!trial->quirk->lst || sscanf(row->probe.id, "lst/read-%u", &bytes) != 1)
		return;
	at = bytes / 2 < FLIP_MOST ? bytes / 2 : FLIP_MOST;
	snprintf(row->foretold, sizeof(row->foretold),
		 "read of %u bytes, offset 0, check %s: 1 of # failed, the first so: bytes %u to %u are "
		 "0x%" PRIx64 ", not 0x%" PRIx64,
		 bytes, bytes == 8 ? "simple" : "full", at / 8 * 8, at / 8 * 8 + 7,
		 PATTERN ^ UINT64_C(1) << at % 8 * 8, PATTERN);
	row->expected = row->foretold;
}

/* Predict the report of each probe. */
static void foretell(struct o2_trial *trial)
{
	const uint32_t probes = O2_PROBES + (trial->lst ? O2_PROBES_LST : 0);
	const struct o2_probe_quirk *quirk = trial->quirk;
	const char *found = trial->kernel && quirk->tolerated ? "tolerated" : "FINDING";
	struct o2_trial_row *row, *rule;
	const char *first = NULL;
	struct o2_probe probe;

	for (uint32_t i = 0; i < probes && o2_probe_at(i, &probe); i++) {
		const bool finds = quirk->found != NULL && o2_probe_is_asked(probe.id, quirk->found);

		if (!trial->all && !o2_probe_is_asked(probe.id, trial->only) && !(quirk->mute && finds))
			continue;
		if (quirk->mute && !finds) {
			trial->unnamed++;
			continue;
		}
		row = add_row(trial, probe.id, finds ? found : "holds");
		row->probe = probe;
		row->expected = finds ? quirk->seen : NULL;
		if (trial->lacks != NULL && needs_place(probe.id)) {
			row->outcome = "not tried";
			row->expected = trial->lacks;
		}
		if (strcmp(probe.id, "checksum/payload") == 0 && !finds &&
		    (quirk->quirk == NULL || strncmp(quirk->quirk, "sums-", 5) != 0)) {
			row->outcome = "not tried";
			row->expected = "it sends no checksums";
		}
		foretell_lst(trial, row);
		first = finds && first == NULL ? trial->row[trial->rows - 1].probe.id : first;
	}
	if (first == NULL || quirk->rule == NULL)
		return;
	rule = add_row(trial, quirk->rule, trial->kernel ? "tolerated" : "FINDING");
	snprintf(rule->probe.sentence, sizeof(rule->probe.sentence), "%s", quirk->sentence);
	snprintf(rule->probe.source, sizeof(rule->probe.source), "%s", quirk->source);
	/* Another rule may already be broken before the first such probe, so `again` is not predicted. */
	if (strcmp(quirk->rule, "judge/payload/get") == 0)
		snprintf(rule->again, sizeof(rule->again), "%s", first);
	else
		rule->again[0] = '\0';
}

static void draw_words(struct o2_trial *trial, bool known)
{
	struct o2_command_run *command = &trial->run->command;
	struct o2_choice *c = trial->run->c;

	o2_command_word(command, "conform");
	o2_command_word(command, "--device=loop");
	o2_command_word(command, "--rounds=%" PRIu32, trial->rounds);
	o2_command_word(command, "--seed=%" PRIu64, trial->seed);
	o2_command_word_if(command, trial->quirk->rule != NULL, "--timeout=1");
	o2_command_word_if(command, trial->json, "--json");
	o2_command_word_if(command, trial->lst, "--lst");
	o2_command_word_if(command, trial->hostile, "--hostile");
	if (trial->quirk->quirk != NULL)
		o2_command_word(command, "--loop-quirk=%s", trial->quirk->quirk);
	o2_command_word_if(command, trial->kernel, "--profile=kernel");
	o2_command_word_if(command, trial->lacks != NULL, "--portal=7");
	o2_command_word_if(command, known, "--known=/dev/stdin");
	if (!trial->all && o2_draw_bool(c, 1, 1)) {
		o2_command_word(command, "--only=%s", trial->only);
	} else if (!trial->all) {
		o2_command_word(command, "--only");
		o2_command_word(command, "%s", trial->only);
	}
	if (trial->folder[0] != '\0') {
		if (o2_draw_bool(c, 1, 1)) {
			o2_command_word(command, "--out=%s", trial->folder);
		} else {
			o2_command_word(command, "--out");
			o2_command_word(command, "%s", trial->folder);
		}
	}
	o2_command_word(command, PEER);
}

/* Read a file of the folder, and delete it. */
static char *take_file(const struct o2_trial *trial, const char *name, size_t *bytes)
{
	struct stat found;
	char path[80], *text;
	FILE *file;
	size_t room;

	snprintf(path, sizeof(path), "%s/%s", trial->folder, name);
	file = fopen(path, "rb");
	*bytes = 0;
	if (file == NULL || fstat(fileno(file), &found) != 0) {
		if (!trial->run->report->failed)
			o2_report_fail(trial->run->report, "commands/conform/file", "there is no %s", name);
		if (file != NULL)
			fclose(file);
		return calloc(1, 1);
	}
	room = found.st_size < (off_t)FILE_BYTES ? (size_t)found.st_size : FILE_BYTES;
	text = calloc(1, room + 1);
	*bytes = text == NULL ? 0 : fread(text, 1, room, file);
	fclose(file);
	unlink(path);
	return text;
}

void o2_trial_check_files(struct o2_trial *trial)
{
	static const char *const names[] = {"report.txt", "report.json", "report.junit.xml", "said.pcapng"};
	const struct o2_report *report = trial->run->report;
	const char *out = trial->run->command.out;
	size_t bytes[4];
	char *text[4];

	for (size_t i = 0; i < 4; i++)
		text[i] = take_file(trial, names[i], &bytes[i]);
	rmdir(trial->folder);
	if (!report->failed && strcmp(text[trial->json ? 1 : 0], out) != 0)
		o2_commands_wrong(trial->run, "file");
	if (!report->failed)
		o2_trial_check_text(trial, text[0]);
	if (!report->failed)
		o2_trial_check_json(trial, text[1]);
	if (!report->failed)
		o2_trial_check_junit(trial, text[2], text[1]);
	if (!report->failed && bytes[3] < FILE_BYTES)
		o2_trial_check_said(trial, (const uint8_t *)text[3], bytes[3]);
	for (size_t i = 0; i < 4; i++)
		free(text[i]);
}

static void try_probes(struct o2_commands_run *run, bool hostile)
{
	static struct o2_trial trial; /* large */
	static char known_text[2048];
	struct o2_choice *c = run->c;
	bool known;

	memset(&trial, 0, sizeof(trial));
	trial.run = run;
	trial.quirk =
		&o2_probe_quirks[hostile || o2_draw_bool(c, 2, 1) ? 0 : o2_draw_pick(c, O2_PROBE_QUIRKS)];
	trial.seed = 1 + o2_draw(c, 1000);
	trial.lst = trial.quirk->lst || (trial.quirk->quirk == NULL && o2_draw_bool(c, 1, 1));
	run->tally.seen[O2_COMMANDS_CONFORM_LST] += trial.lst;
	trial.json = o2_draw_bool(c, 1, 1);
	trial.rounds = o2_draw_bool(c, 1, 2) ? 1 + (uint32_t)o2_draw(c, 2) : 1;
	trial.kernel = o2_draw_bool(c, 3, 1);
	trial.lacks = !hostile && trial.quirk->quirk == NULL && o2_draw_bool(c, 5, 1)
			      ? "no memory takes PUTs at portal 7 (see --portal, --match-bits)"
			      : NULL;
	trial.all = !hostile && trial.lacks == NULL && trial.quirk->quirk == NULL && o2_draw_bool(c, 1, 1);
	if (trial.lacks == NULL && !trial.all)
		draw_only(&trial);
	else if (!trial.all)
		snprintf(trial.only, sizeof(trial.only), "end/,ping/,put/size-1,mode/,get/size-3977,frags/2");
	foretell(&trial);
	/* With another place the reported texts are not predicted. */
	if (hostile)
		add_hostile(&trial);
	known = !trial.quirk->mute && o2_draw_bool(c, 2, 1);
	if (known) {
		draw_known(&trial, known_text, sizeof(known_text));
		o2_command_input(&run->command, known_text, strlen(known_text));
	}
	if (!hostile && o2_draw_bool(c, 1, 2)) {
		snprintf(trial.folder, sizeof(trial.folder), "/tmp/o2props-XXXXXX");
		if (mkdtemp(trial.folder) == NULL)
			trial.folder[0] = '\0';
	}
	draw_words(&trial, known);
	run->tally.seen[O2_COMMANDS_CONFORM_HOSTILE] += trial.hostile;
	run->tally.seen[o2_trial_count(&trial, "FINDING") > 0 ? O2_COMMANDS_CONFORM_FOUND
							      : O2_COMMANDS_CONFORM]++;
	if (o2_commands_go(run, o2_trial_count(&trial, "FINDING") > 0 ? 1 : 0) &&
	    strcmp(run->command.err,
		   trial.quirk->mute ? "o2ref: the peer does not answer a ping, so nothing else was tried\n"
				     : "") != 0)
		o2_commands_wrong(run, "complaint");
	if (trial.folder[0] != '\0')
		o2_trial_check_files(&trial);
	else if (run->report->failed)
		return;
	else if (trial.json)
		o2_trial_check_json(&trial, run->command.out);
	else
		o2_trial_check_text(&trial, run->command.out);
	o2_command_input(&run->command, NULL, 0);
}

/* --- what is only listed --- */

static void list(struct o2_commands_run *run)
{
	struct o2_probe probe;
	char *expected = NULL;
	size_t bytes;
	FILE *out = open_memstream(&expected, &bytes);

	if (out == NULL)
		return;
	for (uint32_t i = 0; o2_probe_at(i, &probe); i++)
		fprintf(out, "%-22s %s (docs/%s)\n", probe.id, probe.sentence, probe.source);
	fclose(out);
	o2_commands_words(run, "conform --device=loop --list");
	if (o2_commands_go(run, 0) && strcmp(run->command.out, expected) != 0)
		o2_commands_wrong(run, "list");
	free(expected);
}

void o2_commands_conform(struct o2_commands_run *run)
{
	static const uint32_t weights[] = {12, 1, 8};

	switch (o2_draw_weighted(run->c, weights, 3)) {
	case 0:
		try_probes(run, false);
		break;
	case 1:
		list(run);
		break;
	default:
		try_probes(run, true);
	}
}
