/* SPDX-License-Identifier: MIT */
/* Programs: a shell that prints and ends as drawn. */
#include "props/check/hosts.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "props/scenario/draw.h"

static const char *const situations[O2_HOSTS_SITUATIONS] = {O2_HOSTS_SITUATION_LIST(O2_SITUATION_NAME)};

/* --- checking answers --- */

/*
 * The report of a leak must state its size. The heap rounds sizes up, and does not grow for pieces in the thread's
 * cache: glibc keeps seven per size, so at least half of the growth is seen.
 */
static bool is_conduct(const struct o2_hosts_due *due, const char *text)
{
	char again[O2_ANSWER_TEXT_BYTES];
	unsigned long long bytes = 0;

	if (due->lost_bytes == 0)
		return strcmp(text, due->conduct) == 0;
	(void)sscanf(text, "the heap grows by %llu", &bytes);
	snprintf(again, sizeof(again), "the heap grows by %llu bytes with each call", bytes);
	return strcmp(text, again) == 0 && bytes > due->lost_bytes / 2 && bytes < 2u * due->lost_bytes;
}

void o2_hosts_take(void *context, uint32_t index, const struct o2_answer *answer)
{
	struct o2_hosts_run *run = context;
	const struct o2_hosts_due *due = &run->due[index];
	const char *conduct = answer->conduct.check < O2_CHECKS ? answer->conduct.text : "";
	const char *check = answer->fault.check < O2_CHECKS ? o2_check_name(answer->fault.check) : "-";
	const char *text = answer->fault.text;
	bool right = answer->kind == due->kind && index == run->answered;

	if (right && due->kind == O2_ANSWER_REFUSED)
		right = answer->refusal.error == due->error && strcmp(answer->refusal.name, due->name) == 0;
	if (right && due->kind == O2_ANSWER_BROKEN) {
		const size_t bytes = strlen(text), end = strlen(due->text_end);

		right = strcmp(check, due->check) == 0 &&
			(due->text[0] == '\0' || strcmp(text, due->text) == 0) && bytes >= end &&
			strcmp(text + bytes - end, due->text_end) == 0 &&
			(run->calls != NULL || strcmp(answer->fault.site, due->site) == 0);
	}
	run->answered++;
	if (right && run->calls != NULL && due->kind == O2_ANSWER_BROKEN && !run->report->failed)
		o2_hosts_check_calls(run, &answer->fault);
	if (run->report->failed || (right && is_conduct(due, conduct)))
		return;
	o2_report_fail(run->report, right ? "hosts/conduct" : "hosts/answer",
		       "answer %" PRIu32 " of %" PRIu32, index, run->nasked);
	o2_report_add(run->report, "found    %d, %d %s, %s: %s (%s); %s", answer->kind, answer->refusal.error,
		      answer->refusal.name, answer->kind == O2_ANSWER_BROKEN ? check : "-",
		      answer->kind == O2_ANSWER_BROKEN ? text : "-",
		      answer->kind == O2_ANSWER_BROKEN ? answer->fault.site : "-", conduct);
	o2_report_add(run->report, "expected %d, %d %s, %s: %s%s (%s); %s", due->kind, due->error, due->name,
		      due->kind == O2_ANSWER_BROKEN ? due->check : "-", due->text, due->text_end, due->site,
		      due->conduct);
}

void o2_hosts_ask(struct o2_hosts_run *run, struct o2_host *host)
{
	struct o2_case *asked[O2_HOSTS_ASKED];
	int rc;

	for (uint32_t i = 0; i < run->nasked; i++)
		asked[i] = &run->asked[i];
	run->answered = 0;
	rc = host->ops->ask(host, asked, run->nasked, o2_hosts_take, run);
	if (!run->report->failed && (rc != 0 || run->answered != run->nasked))
		o2_report_fail(run->report, "hosts/count", "%" PRIu32 " answers to %" PRIu32 " questions, %d",
			       run->answered, run->nasked, rc);
	if (!run->report->failed && host->restarts + 1 != run->lives)
		o2_report_fail(run->report, "hosts/lives", "begun %" PRIu64 " times, expected %" PRIu64,
			       host->restarts + 1, run->lives);
}

/* --- the case --- */

/* Put bytes into a file; the program reads it at the returned descriptor number. */
static int file_of(const void *bytes, size_t count)
{
	const int fd = memfd_create("o2ref-hosts", 0);

	if (fd < 0 || (count != 0 && write(fd, bytes, count) != (ssize_t)count))
		abort(); /* out of memory: the harness cannot test anything */
	return fd;
}

static void run_program(struct o2_hosts_run *run, uint32_t timeout_ms)
{
	const struct o2_host_options options = {.timeout_ms = timeout_ms, .growth_mib = 1000};
	char shell[] = "sh", flag[] = "-c", text[160];
	char *argv[] = {shell, flag, run->script, NULL};
	struct o2_host *host;
	int rc = o2_host_open_program(argv, &options, &host, text, sizeof(text));

	if (rc != 0) {
		o2_report_fail(run->report, "hosts/open", "%d: %s", rc, text);
		return;
	}
	if (host->has_capacity || host->title[0] != '\0' || strcmp(host->name, shell) != 0)
		o2_report_fail(run->report, "hosts/open", "a program is taken for something else");
	o2_hosts_ask(run, host);
	host->ops->close(host);
}

/* Predict the answers and the number of lives; in each life the program starts again with its first answer. */
static void foretell(struct o2_hosts_run *run, const struct o2_hosts_due *good, const size_t *good_end,
		     uint32_t count, const struct o2_hosts_ending *end)
{
	uint32_t next = 0;

	for (run->lives = 0; next < run->nasked; run->lives++) {
		for (uint32_t i = 0; i < count && next < run->nasked; i++, next++) {
			run->due[next] = good[i];
			if (next + 1 == run->nasked && run->said_bytes > good_end[i]) {
				snprintf(run->due[next].conduct, sizeof(run->due[next].conduct),
					 "%zu bytes came behind the answer", run->said_bytes - good_end[i]);
				run->tally.seen[O2_HOSTS_BEHIND]++;
			}
		}
		if (next < run->nasked)
			run->due[next++] = end->due;
		/* The program is started once more, but not asked. */
		if (end->absent && next < run->nasked)
			run->lives++;
		while (end->absent && next < run->nasked)
			run->due[next++] = (struct o2_hosts_due){.kind = O2_ANSWER_NOT_IMPLEMENTED};
	}
	run->tally.seen[O2_HOSTS_AGAIN] += run->lives > 1;
}

static void talk(struct o2_hosts_run *run)
{
	struct o2_hosts_due good[O2_HOSTS_ASKED];
	size_t good_end[O2_HOSTS_ASKED];
	char words[O2_ANSWER_TEXT_BYTES], site[O2_ANSWER_SITE_BYTES];
	uint32_t count = (uint32_t)o2_draw(run->c, run->nasked);
	struct o2_hosts_ending end;
	int said, murmur;

	o2_hosts_draw_murmur(run, words, site);
	for (uint32_t i = 0; i < count; i++) {
		o2_hosts_say_answer(run, &good[i]);
		good_end[i] = run->said_bytes;
	}
	end = o2_hosts_draw_ending(run, words, site);
	for (; !end.ends && count < run->nasked; count++) {
		o2_hosts_say_answer(run, &good[count]);
		good_end[count] = run->said_bytes;
	}
	/* Each further life would wait for the time limit, so ask no more. */
	if (end.timeout_ms != O2_HOSTS_PATIENCE_MS && count < run->nasked)
		run->nasked = count + 1;
	foretell(run, good, good_end, count, &end);
	run->tally.seen[O2_HOSTS_ANSWERED] += !end.ends;
	murmur = file_of(run->murmur, run->murmur_bytes);
	said = file_of(run->said, run->said_bytes);
	snprintf(run->script, sizeof(run->script), "cat /dev/fd/%d >&2; cat /dev/fd/%d; %s", murmur, said,
		 end.command);
	run_program(run, end.timeout_ms);
	close(said);
	close(murmur);
}

/* Put the frames that the program must receive into run->said. */
static bool frames_of(struct o2_hosts_run *run)
{
	run->said_bytes = 0;
	for (uint32_t i = 0; i < run->nasked; i++) {
		json_t *form = o2_case_to_json(&run->asked[i]);
		char *text = form == NULL ? NULL : json_dumps(form, JSON_COMPACT);
		const bool fits = text != NULL &&
				  run->said_bytes + O2_HOSTS_HEAD_BYTES + strlen(text) < sizeof(run->said);

		if (fits)
			o2_hosts_say_frame(run, text);
		free(text);
		json_decref(form);
		if (!fits)
			return false;
	}
	return true;
}

/* Run a program that reads all questions first, and answers then. */
static void listen(struct o2_hosts_run *run)
{
	static char heard[O2_HOSTS_LONG], asked[O2_HOSTS_LONG];
	const size_t asked_bytes = run->said_bytes;
	int said, ears;

	memcpy(asked, run->said, asked_bytes);
	run->said_bytes = 0;
	run->lives = 1;
	if (run->nasked == 1 && o2_draw_bool(run->c, 1, 1)) {
		o2_hosts_say_long(run);
		run->tally.seen[O2_HOSTS_IN_PARTS]++;
	} else {
		for (uint32_t i = 0; i < run->nasked; i++)
			o2_hosts_say_answer(run, &run->due[i]);
	}
	said = file_of(run->said, run->said_bytes);
	ears = file_of(NULL, 0);
	snprintf(run->script, sizeof(run->script), "head -c %zu >/dev/fd/%d; cat /dev/fd/%d; cat >/dev/null",
		 asked_bytes, ears, said);
	run_program(run, O2_HOSTS_PATIENCE_MS);
	if (!run->report->failed && (pread(ears, heard, sizeof(heard), 0) != (ssize_t)asked_bytes ||
				     memcmp(heard, asked, asked_bytes) != 0))
		o2_report_fail(run->report, "hosts/question", "what was asked is not what was read");
	close(said);
	close(ears);
}

/* Run programs that are asked one to four questions. */
static void run_programs(struct o2_hosts_run *run)
{
	const enum o2_stage stage = (enum o2_stage)o2_draw(run->c, O2_STAGES_1 - 1);

	run->nasked = 1 + (uint32_t)o2_draw(run->c, O2_HOSTS_ASKED - 1);
	for (uint32_t i = 0; i < run->nasked; i++)
		o2_draw_case(run->c, stage, &run->asked[i], &run->scenario);
	if (!o2_choice_ok(run->c) || !frames_of(run))
		return;
	if (o2_draw_bool(run->c, 2, 1)) {
		listen(run);
	} else {
		run->said_bytes = 0;
		talk(run);
	}
}

static void run_long(struct o2_hosts_run *run)
{
	run->nasked = 1;
	o2_draw_case(run->c, O2_STAGE_SG_BUILD, &run->asked[0], &run->scenario);
	if (o2_choice_ok(run->c) && frames_of(run))
		o2_hosts_grow(run);
}

static enum o2_status run_case(void *context, struct o2_choice *choice, struct o2_report *report)
{
	static void (*const kinds[])(struct o2_hosts_run *) = {
		run_programs, o2_hosts_object, o2_hosts_selftest, o2_hosts_start, run_long, o2_hosts_frames};
	static const uint32_t weights[] = {60, 10, 10, 8, 2, 5};
	struct o2_hosts_run *run = context;

	signal(SIGPIPE, SIG_IGN);
	o2_hosts_prepare();
	o2_draw_prepare();
	o2_report_clear(report);
	run->c = choice;
	run->report = report;
	run->said_bytes = run->murmur_bytes = 0;
	run->nasked = 0;
	run->calls = NULL;
	snprintf(run->script, sizeof(run->script), "none");
	run->tally.cases++;
	kinds[o2_draw_weighted(choice, weights, sizeof(weights) / sizeof(weights[0]))](run);
	return o2_choice_status(choice, report->failed ? O2_STATUS_INTERESTING : O2_STATUS_VALID);
}

static void print(const void *context, uint32_t pieces, FILE *out)
{
	const struct o2_hosts_run *run = context;

	(void)pieces;
	fprintf(out, "%" PRIu32 " questions; %s; %zu bytes said, %zu on standard error\n", run->nasked,
		run->script, run->said_bytes, run->murmur_bytes);
}

struct o2_property o2_hosts_property(struct o2_hosts_run *run)
{
	static const struct o2_property_ops ops = {O2_TALLY_HELD(
		"hosts", "whatever a process does that is asked questions, its answers say it", "")};

	/* An installation has no impl_misbehave.so. */
	if (run != NULL) {
		run->tally.excused[O2_HOSTS_OBJECT] = run->tally.excused[O2_HOSTS_UNUSABLE] = true;
		run->tally.excused[O2_HOSTS_NO_MEMORY] = run->fail_allocation == NULL;
	}
	return o2_tally_property(&ops, run, situations, O2_HOSTS_SITUATIONS, 800);
}
