/* SPDX-License-Identifier: MIT */
/* Shared objects: one that misbehaves as O2_MISBEHAVE says (tests/impl/reference/misbehave.c). */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/own_path.h"
#include "oracle/backtrace.h"
#include "props/check/hosts.h"
#include "props/scenario/draw.h"

#define OBJECT	     "impl_misbehave.so"
#define IMPATIENT_MS 300u
#define LOST_BYTES   100u /* leaked with each call */

/* Ways to misbehave.  check, text: of a broken answer.  conduct: of a good answer. */
static const struct way {
	const char *name, *check, *text, *conduct;
	bool ends;	   /* the process ends with each such question */
	const char *calls; /* function that the backtrace must name; NULL: no signal handler runs */
} ways[] = {
	{"abort", "run/crash", "it was ended by SIGABRT (Aborted): something is wrong here", "", true,
	 "abort_aloud"},
	{"exit", "run/exit", "it ended with status 3", "", true, NULL},
	{"hang", "run/hang", "no answer within 300 ms", "", true, NULL},
	{"stdout", NULL, NULL, "it printed 14 bytes on standard output", false, NULL},
	{"stdout-rarely", NULL, NULL, "it printed 1 bytes on standard output", false, NULL},
	{"status", "run/status", "", "", false, NULL},
	{"no-errno", "run/status", "", "", false, NULL},
	{"flag", "run/value", "", "", false, NULL},
	{"count", "run/count-over-capacity", "", "", false, NULL},
	{"refuse", NULL, NULL, "", false, NULL},
	{"crash", "run/crash", "it was ended by SIGSEGV (Segmentation fault) at address 0x8", "", true,
	 "crash"},
	{"input", "run/input-written", "it wrote inside the input", "", true, "answer"},
	{"leak", NULL, NULL, "", false, NULL},
};

/* Stays in this process's environment: putenv(3) keeps the pointer, and setenv(3) would leak each value. */
static char how[40] = "O2_MISBEHAVE=none";

void o2_hosts_prepare(void)
{
	snprintf(how, sizeof(how), "O2_MISBEHAVE=none");
	putenv(how);
	o2_hosts_frames_prepare();
}

/* Check the calls that led to the end: the function and its caller, each with its line. */
void o2_hosts_check_calls(struct o2_hosts_run *run, const struct o2_answer_fault *fault)
{
	json_t *list = o2_backtrace(run->object, fault->frame, fault->nframes);
	const char *first = json_string_value(json_array_get(list, 0)),
		   *second = json_string_value(json_array_get(list, 1));
	char begins[80], site[80];

	snprintf(begins, sizeof(begins), "%s at misbehave.c:", run->calls);
	snprintf(site, sizeof(site), OBJECT "+0x%llx", (unsigned long long)fault->frame[0]);
	if (strcmp(fault->site, site) != 0)
		o2_report_fail(run->report, "hosts/site", "found %s, expected %s", fault->site, site);
	else if (first == NULL || second == NULL)
		o2_report_fail(run->report, "hosts/calls", "%zu calls", json_array_size(list));
	else if (access("/usr/bin/addr2line", X_OK) == 0
			 ? strncmp(first, begins, strlen(begins)) != 0 ||
				   strncmp(second, "sg_build at misbehave.c:", 24) != 0
			 : strcmp(first, site) != 0)
		o2_report_fail(run->report, "hosts/calls", "found %s, %s; expected %s", first, second,
			       begins);
	json_decref(list);
}

/* An object that cannot be asked anything: the reason must be reported. */
static void check_unusable(struct o2_hosts_run *run)
{
	static const char *const hows[] = {"load-abort", "load-exit", "no-table", "other-version",
					   "other-size"};
	const struct o2_host_options options = {.timeout_ms = O2_HOSTS_PATIENCE_MS, .growth_mib = 1000};
	const uint64_t which = o2_draw(run->c, 5);
	const size_t bytes = sizeof(struct o2_impl);
	char text[160] = "",
	     texts[6][120] = {
		     "when it was loaded, it was ended by SIGABRT (Aborted): something is wrong here",
		     "when it was loaded, it ended with status 3", "o2_impl_v1 returned NULL"};
	struct o2_host *host;
	int rc;

	snprintf(texts[3], sizeof(texts[3]), "its table has version 7 and %zu bytes, expected 1 and %zu",
		 bytes, bytes);
	snprintf(texts[4], sizeof(texts[4]), "its table has version 1 and %zu bytes, expected 1 and %zu",
		 bytes - 8, bytes);
	snprintf(texts[5], sizeof(texts[5]), "No such file or directory");
	if (which == 5)
		strcat(run->object, ".not");
	else
		snprintf(how, sizeof(how), "O2_MISBEHAVE=%s", hows[which]);
	snprintf(run->script, sizeof(run->script), OBJECT ", %s", which == 5 ? "not there" : hows[which]);
	rc = o2_host_open_object(run->object, &options, &host, text, sizeof(text));
	if (rc == 0) {
		host->ops->close(host);
		o2_report_fail(run->report, "hosts/unusable", "it can be asked");
	} else if (rc != (which == 5 ? -ENOENT : -ENOEXEC) || strcmp(text, texts[which]) != 0) {
		o2_report_fail(run->report, "hosts/unusable", "found %d: %s", rc, text);
		o2_report_add(run->report, "expected %s", texts[which]);
	}
	run->tally.seen[O2_HOSTS_UNUSABLE]++;
}

/* Check which stages the object has, and what may be asked of it. */
static void check_host(struct o2_hosts_run *run, const struct o2_host *host)
{
	bool right = strcmp(host->title, "misbehave") == 0 && host->has_capacity;

	for (int stage = 0; stage < O2_STAGES; stage++)
		right = right &&
			host->absent[stage] == (stage != O2_STAGE_MSG_DECODE && stage != O2_STAGE_SG_BUILD);
	if (!right)
		o2_report_fail(run->report, "hosts/title", "it calls itself '%s', or has other stages",
			       host->title);
}

void o2_hosts_object(struct o2_hosts_run *run)
{
	const struct way *way = &ways[o2_draw_pick(run->c, sizeof(ways) / sizeof(ways[0]))];
	const bool hangs = strcmp(way->name, "hang") == 0;
	const struct o2_host_options options = {.timeout_ms = hangs ? IMPATIENT_MS : O2_HOSTS_PATIENCE_MS,
						.growth_mib = 1000};
	char text[160];
	struct o2_host *host;
	bool ended = false, lost = false;

	run->nasked = 1 + (uint32_t)o2_draw(run->c, hangs ? 0 : O2_HOSTS_ASKED - 1);
	run->lives = 1;
	run->calls = way->calls;
	for (uint32_t i = 0; i < run->nasked; i++)
		o2_draw_case(run->c, O2_STAGE_SG_BUILD, &run->asked[i], &run->scenario);
	if (!o2_choice_ok(run->c) || o2_own_path(OBJECT, run->object, sizeof(run->object)) != 0 ||
	    access(run->object, R_OK) != 0)
		return;
	if (o2_draw_bool(run->c, 3, 1)) {
		check_unusable(run);
		return;
	}
	for (uint32_t i = 0; i < run->nasked; i++) {
		struct o2_hosts_due *due = &run->due[i];

		run->lives += ended;
		ended = false;
		*due = (struct o2_hosts_due){.kind = O2_ANSWER_NOT_IMPLEMENTED};
		if (run->asked[i].sg.memory.buffer.count < 2)
			continue;
		ended = way->ends;
		if (way->check != NULL) {
			due->kind = O2_ANSWER_BROKEN;
			due->check = way->check;
			snprintf(due->text, sizeof(due->text), "%s", way->text);
		} else if (strcmp(way->name, "refuse") == 0) {
			due->kind = O2_ANSWER_REFUSED;
			due->error = 22;
			snprintf(due->name, sizeof(due->name), "Mine");
		} else if (strcmp(way->name, "leak") == 0) {
			/* Reported once per stage. */
			due->lost_bytes = lost ? 0 : LOST_BYTES;
			lost = true;
		}
		snprintf(due->conduct, sizeof(due->conduct), "%s", way->conduct);
	}
	snprintf(run->script, sizeof(run->script), OBJECT ", O2_MISBEHAVE=%s", way->name);
	run->tally.seen[O2_HOSTS_OBJECT]++;
	snprintf(how, sizeof(how), "O2_MISBEHAVE=%s", way->name);
	if (o2_host_open_object(run->object, &options, &host, text, sizeof(text)) != 0) {
		o2_report_fail(run->report, "hosts/object", "%s", text);
	} else {
		check_host(run, host);
		o2_hosts_ask(run, host);
		host->ops->close(host);
	}
}
