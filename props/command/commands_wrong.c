/* SPDX-License-Identifier: MIT */
/* conform against a peer with one wrong field: docs/conform.md, "Probes". */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "judge/rules.h"
#include "props/command/wronging.h"

#define US   "10.0.0.1@o2ib"
#define PEER "10.99.0.1@o2ib"

/* docs/conform.md, "The command": sizes of the places. */
#define LEAST_PLACE (2u << 20)
#define WHOLE_PLACE (8u << 20)

/* Answers before the first probe after ping/one: the first contact, ping/one, and four searches for places. */
#define SURVEY	   6u
#define SURVEY_LST 3u

void o2_wronging_see(struct o2_wronging *wronging, const char *format, ...)
{
	va_list list;

	va_start(list, format);
	vsnprintf(wronging->seen + strlen(wronging->seen), sizeof(wronging->seen) - strlen(wronging->seen),
		  format, list);
	va_end(list);
}

void o2_wronging_spoil(struct o2_wronging *wronging, uint32_t at, uint32_t width, uint64_t value)
{
	struct o2_wrong *wrong = wronging->wrong;

	wrong->at = at;
	wrong->width = width;
	wrong->value = value;
}

void o2_wronging_tell(struct o2_wronging *wronging, const char *id, enum o2_msg_type type, uint32_t lnet_type,
		      uint32_t spares)
{
	wronging->probes = 1;
	snprintf(wronging->probe[0], sizeof(wronging->probe[0]), "%s", id);
	wronging->wrong->in = O2_WRONG_MESSAGE;
	wronging->wrong->type = (uint8_t)type;
	wronging->wrong->lnet_type = lnet_type;
	wronging->wrong->spares = spares;
	wronging->heard = "a message of ";
}

static void draw(struct o2_wronging *wronging)
{
	static void (*const kinds[])(struct o2_wronging * wronging) = {
		o2_wronging_reply, o2_wronging_reject, o2_wronging_move, o2_wronging_twice,
		o2_wronging_place, o2_wronging_ping,   o2_wronging_lst,
	};
	static const enum o2_commands_situation situations[] = {
		O2_COMMANDS_WRONG_REPLY, O2_COMMANDS_WRONG_REJECT, O2_COMMANDS_WRONG_BYTES,
		O2_COMMANDS_WRONG_BYTES, O2_COMMANDS_WRONG_BYTES,  O2_COMMANDS_WRONG_PING,
		O2_COMMANDS_WRONG_LST};
	static const uint32_t weights[] = {4, 3, 3, 2, 2, 4, 7};
	const size_t kind = o2_draw_weighted(wronging->c, weights, sizeof(weights) / sizeof(weights[0]));

	kinds[kind](wronging);
	wronging->trial->run->tally.seen[wronging->seen[0] == '\0' ? O2_COMMANDS_WRONG_NOT
					 : wronging->late	   ? O2_COMMANDS_WRONG_LATE
					 : wronging->returns	   ? O2_COMMANDS_WRONG_RETURNS
								   : situations[kind]]++;
}

static struct o2_trial_row *add_row(struct o2_trial *trial, const char *id)
{
	struct o2_trial_row *row = &trial->row[trial->rows++];

	memset(row, 0, sizeof(*row));
	row->outcome = "holds";
	for (uint32_t i = 0; o2_probe_at(i, &row->probe); i++)
		if (strcmp(row->probe.id, id) == 0)
			break;
	snprintf(row->again, sizeof(row->again), "%s", id);
	return row;
}

static void find(struct o2_wronging *wronging, struct o2_trial_row *row)
{
	if (wronging->seen[0] == '\0')
		return;
	row->outcome = wronging->skips ? "not tried" : "FINDING";
	row->expected = wronging->seen;
}

static void draw_words(const struct o2_wronging *wronging)
{
	/* Any name will do: the device is the peer's. */
	static const char *const devices[] = {"loop", "a b", "it's", "'", "$(x)", "\"a\"'b'", ";", "x"};
	const struct o2_trial *trial = wronging->trial;
	struct o2_command_run *command = &trial->run->command;
	const size_t device = o2_draw_bool(wronging->c, 1, 1) ? 0 : o2_draw_pick(wronging->c, 8);

	o2_commands_words(trial->run, "conform --nid=" US " --timeout=2");
	if (o2_draw_bool(wronging->c, 1, 1)) {
		o2_command_word(command, "--device=%s", devices[device]);
	} else {
		o2_command_word(command, "--device");
		o2_command_word(command, "%s", devices[device]);
	}
	if (wronging->place_bytes != WHOLE_PLACE)
		o2_command_word(command, "--place-bytes=%" PRIu32, wronging->place_bytes);
	o2_command_word(command, "--rounds=%" PRIu32, trial->rounds);
	o2_command_word(command, "--seed=%" PRIu64, trial->seed);
	o2_command_word_if(command, trial->json, "--json");
	o2_command_word_if(command, o2_draw_bool(wronging->c, 1, 1), "--known=/dev/null"); /* an empty list */
	o2_command_word_if(command, trial->lst, "--lst");
	if (trial->folder[0] != '\0')
		o2_command_word(command, "--out=%s", trial->folder);
	o2_command_word(command, "--only=%s", trial->only);
	o2_command_word(command, PEER);
}

/* Accept any finding of the judge; the verdicts property checks its rules.  Here only its place is checked. */
static void add_judged(struct o2_trial *trial, const struct o2_wronging *wronging)
{
	const char *probe = wronging->probe[wronging->at], *out = trial->run->command.out;
	struct o2_trial_row *row;
	char id[40];

	if (strstr(out, " (1 times)") != NULL)
		o2_commands_wrong(trial->run, "times");
	for (unsigned int i = 0; i < O2_JUDGE_RULES && wronging->seen[0] != '\0'; i++) {
		const struct o2_judge_rule *rule = &o2_judge_rules[i];

		snprintf(id, sizeof(id), trial->json ? "\"judge/%s\"" : "judge/%s ", rule->id);
		if (strstr(out, id) == NULL)
			continue;
		row = add_row(trial, probe);
		row->outcome = "FINDING";
		snprintf(row->probe.id, sizeof(row->probe.id), "judge/%s", rule->id);
		snprintf(row->probe.sentence, sizeof(row->probe.sentence), "%s", rule->sentence);
		snprintf(row->probe.source, sizeof(row->probe.source), "%s",
			 rule->source + (strncmp(rule->source, "docs/", 5) == 0 ? 5 : 0));
	}
}

/* Check that the judge blames the peer, in the probe with the wrong field. */
static void check_judged(struct o2_trial *trial, const struct o2_wronging *wronging)
{
	char by[64];
	const int length = snprintf(by, sizeof(by), "the peer, in %s%s", wronging->probe[wronging->at],
				    trial->folder[0] == '\0' ? ": " : " (packet ");

	for (uint32_t i = wronging->probes; i < trial->rows && !trial->run->report->failed; i++)
		if (strncmp(trial->row[i].seen, by, (size_t)length) != 0)
			o2_commands_wrong(trial->run, "judged");
}

void o2_commands_wrongly(struct o2_commands_run *run)
{
	static struct o2_trial trial; /* large */
	static struct o2_probe_quirk quirk;
	struct o2_wrong wrong = {.lst_type = O2_WRONG_ANY, .answers = 1, .most = 1};
	struct o2_wronging wronging = {.c = run->c, .trial = &trial, .wrong = &wrong};

	memset(&trial, 0, sizeof(trial));
	memset(&quirk, 0, sizeof(quirk));
	trial.run = run;
	trial.quirk = &quirk;
	trial.json = o2_draw_bool(run->c, 1, 1);
	trial.rounds = 1 + (uint32_t)o2_draw(run->c, 1);
	trial.seed = 1 + o2_draw(run->c, 1000);
	wronging.place_bytes = o2_draw_bool(run->c, 1, 9)
				       ? LEAST_PLACE + 4096 * (uint32_t)o2_draw(run->c, 100)
				       : WHOLE_PLACE;
	trial.other_place = wronging.place_bytes != WHOLE_PLACE;
	draw(&wronging);
	wrong.from += trial.lst ? SURVEY_LST : SURVEY;
	quirk.heard = wronging.heard;
	for (uint32_t i = 0; i < wronging.probes; i++) {
		struct o2_trial_row *row = add_row(&trial, wronging.probe[i]);

		snprintf(trial.only + strlen(trial.only), sizeof(trial.only) - strlen(trial.only), "%s%s",
			 i == 0 ? "" : ",", wronging.probe[i]);
		if (i == wronging.at)
			find(&wronging, row);
	}
	if (o2_draw_bool(run->c, 1, 1)) {
		snprintf(trial.folder, sizeof(trial.folder), "/tmp/o2props-XXXXXX");
		if (mkdtemp(trial.folder) == NULL)
			trial.folder[0] = '\0';
	}
	draw_words(&wronging);
	o2_wrong_execute(&run->command, &wrong);
	add_judged(&trial, &wronging);
	if (run->command.status != (o2_trial_count(&trial, "FINDING") > 0 ? 1 : 0) ||
	    run->command.err[0] != '\0')
		o2_commands_wrong(run, "status");
	else if (wrong.told == 0)
		o2_commands_wrong(run, "untold");
	if (trial.folder[0] != '\0')
		o2_trial_check_files(&trial);
	else if (!run->report->failed && trial.json)
		o2_trial_check_json(&trial, run->command.out);
	else if (!run->report->failed)
		o2_trial_check_text(&trial, run->command.out);
	check_judged(&trial, &wronging);
	if (!run->report->failed && !o2_wronging_returned(&wronging, trial.row[wronging.at].seen))
		o2_commands_wrong(run, "returns");
	if (run->report->failed)
		o2_report_add(run->report, "%u bytes at %u are %s%" PRIu64 " in %s", wrong.width, wrong.at,
			      wrong.adds ? "more by " : "", wrong.value, wronging.probe[wronging.at]);
}
