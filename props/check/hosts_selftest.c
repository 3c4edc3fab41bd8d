/* SPDX-License-Identifier: MIT */
/*
 * check --selftest of a shell that behaves or misbehaves in one way: every printed line is predicted
 * (docs/oracle.md, "Process protocol").
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "props/check/hosts_trial.h"

#define IMPATIENT_MS 100u
#define STAYING_MS   1000u /* the time limit if it stays: its answers still come in time */
#define CANNOT	     77
#define USAGE	     2
#define NO_STAGE     89
#define GONE	     "o2ref-no-such-program"

/* --- the lives --- */

/* Begin another life; false: no further process can be made. */
static bool begin(struct o2_hosts_trial *t)
{
	t->cannot = t->lines >= t->scarce_after;
	if (t->cannot) {
		o2_hosts_due_line(t, "      %-28s Too many open files", "no process can be made");
		return false;
	}
	o2_hosts_script(t, "%s%" PRIu32 ") ", t->lives == 0 ? "" : ";;\n", t->lives);
	t->lives++;
	return true;
}

static void wrong(struct o2_hosts_trial *t, const char *step)
{
	o2_hosts_due_line(t, "WRONG %-28s %s", step, t->words);
	t->wrong = true;
}

/* End the life without an answer. */
static void leave(struct o2_hosts_trial *t, bool reads)
{
	if (reads)
		o2_hosts_hear(t);
	o2_hosts_go(t, o2_draw_bool(t->run->c, 1, 1));
	t->run->tally.seen[O2_HOSTS_TRIED_GONE]++;
}

/* The life in which one stage is asked.  False: the trial is over. */
static bool one_stage(struct o2_hosts_trial *t, enum o2_stage stage, bool there, bool fails)
{
	struct o2_choice *c = t->run->c;
	const char *name = o2_stage_name(stage);
	enum o2_hosts_way way = O2_HOSTS_RIGHT;

	t->stage = stage;
	if (!begin(t))
		return false;
	if (!there) {
		o2_hosts_script(t, "echo never mind >&2; exit %d", NO_STAGE);
		o2_hosts_due_line(t, "      %-28s not implemented (exit status 89)", name);
		return true;
	}
	if (fails)
		way = o2_hosts_draw_way(t);
	/* A program that exits is asked once more, and may answer then. */
	if (way == O2_HOSTS_LEAVES || (!fails && o2_draw_bool(c, 15, 1))) {
		leave(t, o2_draw_bool(c, 1, 1));
		if (!begin(t))
			return false;
	}
	if (way == O2_HOSTS_LEAVES) {
		leave(t, o2_draw_bool(c, 1, 1));
	} else if (way != O2_HOSTS_RIGHT) {
		o2_hosts_hear(t);
		o2_hosts_print_wrong(t, way);
	} else {
		o2_hosts_print_right(t, o2_draw_bool(c, 3, 1));
		o2_hosts_script(t, "read x");
		o2_hosts_due_line(t, "ok    %-28s answered", name);
		return true;
	}
	wrong(t, name);
	return false;
}

/* Try every stage that the program is known to have, each in its own life.  False: the trial is over. */
static bool stages(struct o2_hosts_trial *t, bool fails)
{
	struct o2_choice *c = t->run->c;
	const uint32_t first = (uint32_t)o2_draw(c, O2_STAGES_1 - 1);
	const bool none = !fails && o2_draw_bool(c, 9, 1);
	enum o2_stage talks = O2_STAGES;

	for (uint32_t i = 0; i < O2_STAGES; i++) {
		const bool there = !none && (i == first || (i > first && o2_draw_bool(c, 4, 1)));

		if (i >= O2_STAGES_1 && !t->told[i])
			continue;
		/* If a wrong answer is to come, a stage may still answer, and a later stage or step fail. */
		if (!one_stage(t, (enum o2_stage)i, there, fails && there && o2_draw_bool(c, 1, 1)))
			return false;
		if (there && talks == O2_STAGES)
			talks = (enum o2_stage)i;
	}
	t->stage = talks;
	if (talks != O2_STAGES)
		return true;
	snprintf(t->words, sizeof(t->words), "none is implemented");
	wrong(t, "stages");
	t->run->tally.seen[O2_HOSTS_TRIED_NONE]++;
	return false;
}

/* --- the life with a conversation --- */

enum { FIRST, SECOND, TOGETHER, TOGETHER_SECOND, PIECES, AT_END };

/* The program does not answer the second request in time. */
static void silent(struct o2_hosts_trial *t)
{
	const uint64_t kind = o2_draw(t->run->c, 5);

	t->timeout_ms = IMPATIENT_MS;
	t->run->tally.seen[O2_HOSTS_TRIED_SILENT]++;
	if (kind == 0) {
		o2_hosts_script(t, "exec sleep 60");
		snprintf(t->words, sizeof(t->words),
			 "no answer within %u ms: is the length read as four bytes, little-endian, and no "
			 "more than that many bytes behind it?",
			 t->timeout_ms);
		return;
	}
	o2_hosts_script(t, "read x; ");
	if (kind < 3) {
		o2_hosts_go(t, false);
		return;
	}
	o2_hosts_print_right(t, false);
	snprintf(t->words, sizeof(t->words),
		 "the answer came only at the end of the input: flush standard output after each answer");
}

/* Print more behind the answer, in the same write. */
static void say_more(struct o2_hosts_trial *t, const char *step)
{
	const bool newline = o2_draw_bool(t->run->c, 1, 1);
	const size_t more = 1 + o2_draw(t->run->c, 2);

	o2_hosts_print_more(t, newline ? "\n  " : "{ \n", more);
	snprintf(t->words, sizeof(t->words), "%zu bytes came behind the answer%s", more,
		 newline ? ": no newline stands between frames" : "");
	wrong(t, step);
	t->run->tally.seen[O2_HOSTS_TRIED_MORE]++;
}

/* Print one answer as drawn.  False: it is wrong. */
static bool answer(struct o2_hosts_trial *t, uint32_t step, const char *name, bool fails)
{
	struct o2_choice *c = t->run->c;
	enum o2_hosts_way way;

	o2_hosts_hear(t);
	if (!fails) {
		o2_hosts_print_right(t, false);
		return true;
	}
	if (step <= SECOND && o2_draw_bool(c, 2, 1)) {
		say_more(t, name);
		return false;
	}
	way = o2_hosts_draw_way(t);
	if (step == SECOND && o2_draw_bool(c, 1, 2))
		silent(t);
	else if (way == O2_HOSTS_LEAVES)
		leave(t, false);
	else
		o2_hosts_print_wrong(t, way);
	wrong(t, name);
	return false;
}

static void at_end(struct o2_hosts_trial *t)
{
	const uint64_t kind = o2_draw(t->run->c, 11);

	if (kind == 0) {
		t->timeout_ms = STAYING_MS;
		o2_hosts_script(t, "exec sleep 60");
		snprintf(t->words, sizeof(t->words), "it does not leave");
		wrong(t, "end of input");
	} else if (kind < 4) {
		o2_hosts_script(t, "read x; ");
		o2_hosts_go(t, false);
		/* Status 0 is right. */
		if (strcmp(t->words, "it ended with status 0") == 0)
			o2_hosts_due_line(t, "ok    %-28s %s", "end of input", t->words);
		else
			wrong(t, "end of input");
	} else {
		o2_hosts_script(t, "read x; exit 0");
		o2_hosts_due_line(t, "ok    %-28s it ended with status 0", "end of input");
		t->run->tally.seen[O2_HOSTS_TRIED_RIGHT]++;
	}
}

static void talk(struct o2_hosts_trial *t, uint32_t fails_at)
{
	static const struct {
		const char *name, *when_wrong, *all, *when_right;
	} steps[] = {
		{"first request", NULL, NULL, NULL},
		{"second request", NULL, "requests one by one", "answered"},
		{"two requests at once", NULL, NULL, NULL},
		{"two requests at once: second",
		 "      what is read behind the first request belongs to the second", "two requests at once",
		 "answered in order"},
		{"a request in four pieces",
		 "      a read may return fewer bytes than were asked for: read on",
		 "a request in four pieces", "answered"},
	};

	if (!begin(t))
		return;
	for (uint32_t i = 0; i < AT_END; i++) {
		if (!answer(t, i, steps[i].name, i == fails_at)) {
			if (steps[i].when_wrong != NULL)
				o2_hosts_due_line(t, "%s", steps[i].when_wrong);
			return;
		}
		if (steps[i].all != NULL)
			o2_hosts_due_line(t, "ok    %-28s %s", steps[i].all, steps[i].when_right);
	}
	at_end(t);
}

/* --- the case --- */

/* A program that does not exist fails in each life, whatever is asked. */
static void not_there(struct o2_hosts_trial *t)
{
	if (!begin(t) || !begin(t))
		return;
	t->gone = true;
	snprintf(t->words, sizeof(t->words), "it ended with status 127: " GONE ": No such file or directory");
	wrong(t, o2_stage_name(O2_STAGE_MSG_DECODE));
}

static void compare(struct o2_hosts_trial *t, int rc)
{
	struct o2_report *report = t->run->report;
	const int due = t->cannot ? CANNOT : t->gone ? USAGE : t->wrong ? 1 : 0;
	const char *found = t->said, *expected = t->due;
	size_t same = 0;

	if (!t->cannot)
		o2_hosts_due_line(t, t->gone	? "the program cannot be run"
				     : t->wrong ? "the framing is wrong"
						: "the framing is right");
	t->said[t->said_bytes] = '\0';
	if (strcmp(t->said, t->due) != 0) {
		for (size_t i = 0; t->said[i] != '\0' && t->said[i] == t->due[i]; i++)
			same = t->said[i] == '\n' ? i + 1 : same;
		found += same;
		expected += same;
		o2_report_fail(report, "hosts/selftest", "a line that is said");
		o2_report_add(report, "found    %.*s", (int)strcspn(found, "\n"), found);
		o2_report_add(report, "expected %.*s", (int)strcspn(expected, "\n"), expected);
	} else if (rc != due) {
		o2_report_fail(report, "hosts/selftest-status", "found %d, expected %d", rc, due);
	} else if (!o2_hosts_heard(t)) {
		o2_report_fail(report, "hosts/question", "what it was asked is not what it has to be");
	}
}

void o2_hosts_selftest(struct o2_hosts_run *run)
{
	static struct o2_hosts_trial trial;
	struct o2_hosts_trial *t = &trial;
	struct o2_choice *c = run->c;
	static const uint32_t weights[] = {4, 5, 12, 1}, steps[AT_END] = {2, 5, 2, 2, 2};
	const uint64_t kind = o2_draw_weighted(c, weights, 4);
	const uint64_t after = o2_draw_bool(c, 15, 1) ? o2_draw(c, 7) : UINT32_MAX;
	int rc;

	o2_hosts_trial_begin(t, run, (uint32_t)after);
	if (kind == 3)
		not_there(t);
	else if (stages(t, kind == 1))
		talk(t, kind == 0 ? AT_END : (uint32_t)o2_draw_weighted(c, steps, AT_END));
	if (o2_choice_ok(c)) {
		snprintf(run->script, sizeof(run->script), "a selftest, %" PRIu32 " lives", t->lives);
		rc = o2_hosts_trial_run(t, kind == 3 ? GONE : NULL);
		compare(t, rc);
		run->tally.seen[O2_HOSTS_TRIED_WRONG] += t->wrong;
		run->tally.seen[O2_HOSTS_TRIED_CANNOT] += t->cannot;
	}
	o2_hosts_trial_end(t);
}
