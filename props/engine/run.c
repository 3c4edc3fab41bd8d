/* SPDX-License-Identifier: MIT */
#include "props/engine/run.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/complain.h"
#include "base/json.h"
#include "base/monotonic.h"
#include "props/engine/run_internal.h"
#include "props/engine/shrink.h"

/* Failures of known kinds are only counted; a run ends after this many. */
#define MAX_FAILURES 50u

/* A generator rejects some cases, but not so many: a run that counts none of them has tested nothing. */
#define CASES_FOR_ONE 100u

enum o2_status o2_run_try(const struct runner *r, struct o2_choice *choice, struct o2_report *report)
{
	if (r->weigh)
		return o2_left_weigh(r->property, choice, report);
	return r->property->ops->run_case(r->property->context, choice, report);
}

void o2_run_reset(const struct o2_property *property)
{
	if (property->ops->reset != NULL)
		property->ops->reset(property->context);
}

/* For the shrinker: does the case fail in the same way? */
struct same_failure {
	const struct runner *r;
	char signature[sizeof(((struct o2_report *)0)->signature)];
	struct o2_report report;
};

static enum o2_status fails_alike(void *context, struct o2_choice *choice)
{
	struct same_failure *same = context;
	enum o2_status status = o2_run_try(same->r, choice, &same->report);

	if (status != O2_STATUS_INTERESTING)
		return status;
	o2_run_reset(same->r->property);
	return strcmp(same->report.signature, same->signature) == 0 ? O2_STATUS_INTERESTING : O2_STATUS_VALID;
}

static json_t *report_lines(const struct o2_report *report)
{
	json_t *lines = json_array();

	for (uint32_t i = 0; i < report->lines; i++)
		json_array_append_new(lines, o2_json_text(report->line[i]));
	return lines;
}

/* Run the shrunk case once more, to get its report.  If it does not fail alike, keep the first failure's report. */
static void tell_again(struct runner *r, const struct same_failure *same, const uint8_t *bytes, size_t length)
{
	const struct o2_report first = r->report;

	o2_choice_replay(r->choice, bytes, length);
	if (o2_run_try(r, r->choice, &r->report) == O2_STATUS_INTERESTING &&
	    strcmp(r->report.signature, same->signature) == 0)
		return;
	r->report = first;
	o2_report_add(&r->report, "it did not fail like this when it was run again");
}

void *o2_run_keep_counts(const struct runner *r)
{
	void *counts = malloc(r->property->counters_bytes);

	if (counts != NULL)
		memcpy(counts, r->property->counters, r->property->counters_bytes);
	return counts;
}

void o2_run_restore_counts(const struct runner *r, void *counts)
{
	if (counts != NULL)
		memcpy(r->property->counters, counts, r->property->counters_bytes);
	free(counts);
}

/* Shrink the case that just failed, run it once more for its report, and keep it as a finding. */
static void keep_finding(struct runner *r, uint64_t index)
{
	uint8_t *bytes = malloc(O2_CHOICE_MAX_BYTES);
	struct same_failure *same = calloc(1, sizeof(*same));
	struct o2_shrink_report shrunk = {0};
	json_t *finding = json_object();
	size_t length = r->choice->record_bytes;
	void *counts = o2_run_keep_counts(r);
	char seed[32];

	if (bytes == NULL || same == NULL || finding == NULL) {
		o2_complain(r->options->program, "no memory to keep case %llu, which fails: %s",
			    (unsigned long long)index, r->report.signature);
		goto out;
	}
	memcpy(bytes, r->choice->record, length);
	same->r = r;
	memcpy(same->signature, r->report.signature, sizeof(same->signature));
	o2_run_reset(r->property);
	if (r->options->shrink_calls > 0)
		o2_shrink(fails_alike, same, bytes, &length, r->options->shrink_calls, &shrunk);
	tell_again(r, same, bytes, length);
	if (r->grown[0] != '\0')
		o2_report_add(&r->report, "%s", r->grown);
	o2_run_reset(r->property);
	snprintf(seed, sizeof(seed), "0x%llx", (unsigned long long)r->options->seed);
	json_object_set_new(finding, "signature", json_string(same->signature));
	if (r->exhaustive == NULL)
		json_object_set_new(finding, "seed", json_string(seed));
	json_object_set_new(finding, "case", o2_json_length(index));
	json_object_set_new(finding, "lines", report_lines(&r->report));
	json_object_set_new(finding, "shrink_calls", json_integer(shrunk.calls));
	o2_run_write_files(r, bytes, length, index, finding);
	o2_run_print_finding(r, index);
	json_array_append(r->findings, finding);
out:
	o2_run_restore_counts(r, counts);
	json_decref(finding);
	free(same);
	free(bytes);
}

static bool known(struct runner *r, const char *signature)
{
	for (uint32_t i = 0; i < r->nsignatures; i++) {
		if (strcmp(r->signature[i], signature) == 0)
			return true;
	}
	if (r->nsignatures < O2_RUN_MAX_FINDINGS)
		snprintf(r->signature[r->nsignatures++], sizeof(r->signature[0]), "%s", signature);
	return false;
}

/*
 * A sweep found that some earlier case wrote outside its memory.  Run the cases since the last sweep again,
 * each with its own sweep, to find that case.  Returns its index, or the given one if none fails again.  The
 * cases have been counted before.
 */
static uint64_t blame(struct runner *r, uint64_t index)
{
	uint64_t back = r->property->sweep_cases;
	uint64_t first = index >= back + r->options->first_case ? index - back : r->options->first_case;
	const struct o2_report swept = r->report;
	void *counts = o2_run_keep_counts(r);
	uint64_t at = first;

	r->property->ops->sweep_always(r->property->context);
	o2_run_reset(r->property);
	for (; at <= index; at++) {
		o2_choice_random(r->choice, r->options->seed, at);
		if (o2_run_try(r, r->choice, &r->report) == O2_STATUS_INTERESTING)
			break;
	}
	o2_run_restore_counts(r, counts);
	if (at <= index)
		return at;
	r->report = swept;
	o2_report_add(&r->report, "none of the last cases shows it alone");
	return index;
}

static void note_current(struct runner *r, uint64_t index)
{
	char *line;
	size_t n;

	if (r->current_fd < 0)
		return;
	line = o2_run_line(r, index, "                    \n");
	n = line == NULL ? 0 : strlen(line);
	errno = line == NULL ? ENOMEM : ENOSPC; /* a short write sets no errno */
	if (line == NULL || pwrite(r->current_fd, line, n, 0) != (ssize_t)n) {
		o2_run_not_written(r, r->options->current_case_path, errno);
		close(r->current_fd);
		r->current_fd = -1;
	}
	free(line);
}

/* Open the file of the current case and write the first case; if that fails, the run does not start. */
static bool open_current(struct runner *r)
{
	const char *path = r->options->current_case_path;

	r->current_fd = -1;
	if (path == NULL)
		return true;
	r->current_fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (r->current_fd < 0)
		o2_run_not_written(r, path, errno);
	note_current(r, r->options->first_case);
	return !r->unwritten;
}

/* Is a required situation still missing? */
static bool lacks_a_situation(const struct runner *r)
{
	json_t *missing = r->property->ops->missing(r->property->context, UINT64_MAX);
	const bool lacks = json_array_size(missing) > 0;

	json_decref(missing);
	return lacks;
}

static bool enough(const struct runner *r, uint64_t done)
{
	const struct o2_run_options *o = r->options;
	const struct o2_property *property = r->property;

	if (r->failures >= MAX_FAILURES || json_array_size(r->findings) >= r->options->findings)
		return true;
	if (o->seconds > 0 && o2_monotonic_seconds() - r->start >= o->seconds)
		return true;
	/* What has to occur has to occur at random; cases near the simplest one may lack it. */
	if (o->cases > 0 && done >= o->cases &&
	    (r->exhaustive != NULL || done / O2_RUN_ON >= o->cases || !lacks_a_situation(r)))
		return true;
	return property->ops->enough != NULL && property->ops->enough(property->context, o);
}

void o2_run_note_failure(struct runner *r, uint64_t index)
{
	r->failures++;
	r->marked = false;
	if (strcmp(r->report.signature, "sweep") == 0 && !r->blamed) {
		r->blamed = true;
		index = blame(r, index);
	}
	if (!known(r, r->report.signature))
		keep_finding(r, index);
	else
		o2_run_reset(r->property);
}

/* Prepare the next case; false if there is none. */
static bool next_case(struct runner *r, uint64_t index)
{
	if (r->exhaustive != NULL)
		return o2_exhaustive_next(r->exhaustive, r->choice);
	o2_choice_random(r->choice, r->options->seed, index);
	return true;
}

static void run_cases(struct runner *r)
{
	const struct o2_property_ops *ops = r->property->ops;
	double last = r->start;
	uint64_t i;

	/* An exhaustive run cannot go back to the cases before a failed sweep. */
	if (r->exhaustive != NULL && ops->sweep_always != NULL) {
		ops->sweep_always(r->property->context);
		r->blamed = true;
	}
	for (i = 0; !enough(r, i); i++) {
		uint64_t index = r->options->first_case + i;

		if (!next_case(r, index))
			break;
		note_current(r, index);
		if (o2_run_try(r, r->choice, &r->report) == O2_STATUS_INTERESTING)
			o2_run_note_failure(r, index);
		else
			o2_run_check_left(r, i + 1, false);
		if (r->options->progress_s > 0 && o2_monotonic_seconds() - last >= r->options->progress_s) {
			char text[200];

			last = o2_monotonic_seconds();
			ops->line(r->property->context, last - r->start, text, sizeof(text));
			fprintf(stderr, "%s: %s\n", r->options->device, text);
		}
	}
	if (i > 0 && r->marked)
		o2_run_check_left(r, i, true);
	o2_report_clear(&r->report);
	if (i > 0 && ops->sweep != NULL && !ops->sweep(r->property->context, &r->report) && r->report.failed)
		o2_run_note_failure(r, r->options->first_case + i - 1);
	r->tried = i;
}

/* Packets that the devices sent between two readings; UINT64_MAX if they do not count packets. */
static uint64_t packets_between(const json_t *before, const json_t *after)
{
	const json_t *first = json_object_get(before, "sent_pkts");
	const json_t *last = json_object_get(after, "sent_pkts");

	if (!json_is_integer(first) || !json_is_integer(last))
		return UINT64_MAX;
	return (uint64_t)(json_integer_value(last) - json_integer_value(first));
}

/* Members of every result (docs/properties.md, "Results"). */
static void begin_result(const struct o2_property *property, const struct o2_run_options *options,
			 json_t *result)
{
	char seed[32];

	snprintf(seed, sizeof(seed), "0x%llx", (unsigned long long)options->seed);
	json_object_set_new(result, "form", json_string("o2ref/props_result"));
	json_object_set_new(result, "version", json_integer(1));
	json_object_set_new(result, "property", json_string(property->ops->name));
	json_object_set_new(result, "device", json_string(options->device));
	if (options->connect != NULL)
		json_object_set_new(result, "connect", json_string(options->connect));
	if (options->exhaustive == 0)
		json_object_set_new(result, "seed", json_string(seed));
}

static void runner_close(struct runner *r)
{
	if (r == NULL)
		return;
	json_decref(r->findings);
	free(r->exhaustive);
	if (r->current_fd >= 0)
		close(r->current_fd);
	free(r->replay);
	free(r->scenario_file);
	free(r->choice);
	free(r);
}

static struct runner *runner_open(const struct o2_property *property, const struct o2_run_options *options)
{
	struct runner *r = calloc(1, sizeof(*r));

	if (r == NULL)
		return NULL;
	r->property = property;
	r->options = options;
	r->findings = json_array();
	/* A random case by itself: there is no later one to compare with. */
	r->weigh = options->cases == 1 && options->exhaustive == 0 && !property->keeps;
	r->current_fd = -1;
	r->choice = calloc(1, sizeof(*r->choice));
	if (options->exhaustive > 0) {
		r->exhaustive = malloc(sizeof(*r->exhaustive));
		if (r->exhaustive != NULL)
			o2_exhaustive_start(r->exhaustive, options->exhaustive);
	}
	if (r->choice != NULL && (r->exhaustive != NULL || options->exhaustive == 0))
		return r;
	runner_close(r);
	return NULL;
}

/* A new array of what an exhaustive run lacks; the result gets the members of such a run. */
static json_t *missing_of_exhaustive(const struct runner *r, json_t *result)
{
	json_t *missing = json_array();

	json_object_set_new(result, "exhaustive", json_integer(r->options->exhaustive));
	json_object_set_new(result, "complete", json_boolean(o2_exhaustive_complete(r->exhaustive)));
	if (r->exhaustive->unstable)
		json_array_append_new(missing,
				      json_string("the same numbers asked for after the same answers"));
	return missing;
}

int o2_run(const struct o2_property *property, const struct o2_run_options *options, json_t **result)
{
	struct runner *r = runner_open(property, options);
	json_t *counters;
	/* Of all devices; UINT64_MAX if one of them does not count, or there is none. */
	uint64_t packets = options->hw_device[0] == NULL ? UINT64_MAX : 0;
	const struct o2_property_ops *ops = property->ops;
	int rc;

	*result = NULL;
	if (r == NULL)
		return o2_complain(options->program, "%s", strerror(ENOMEM));
	if (!open_current(r)) {
		runner_close(r);
		return O2_EXIT_USAGE;
	}
	*result = json_object();
	counters = json_object();
	for (int i = 0; i < 2; i++)
		r->hw_before[i] =
			options->hw_device[i] != NULL ? o2_hw_counters(options->hw_device[i]) : NULL;
	r->start = o2_monotonic_seconds();
	run_cases(r);
	begin_result(property, options, *result);
	ops->result(property->context, options, *result);
	json_object_set_new(*result, "seconds", json_real(o2_monotonic_seconds() - r->start));
	for (int i = 0; i < 2 && r->hw_before[i] != NULL; i++) {
		json_t *after = o2_hw_counters(options->hw_device[i]);
		uint64_t sent = packets_between(r->hw_before[i], after);

		packets = sent == UINT64_MAX || packets == UINT64_MAX ? UINT64_MAX : packets + sent;
		json_object_set_new(counters, options->hw_device[i],
				    json_pack("{s:o, s:o}", "before", r->hw_before[i], "after", after));
	}
	json_object_set_new(*result, "hw_counters", counters);
	json_object_set_new(*result, "missing",
			    r->exhaustive != NULL ? missing_of_exhaustive(r, *result)
						  : ops->missing(property->context, packets));
	if (r->tried >= CASES_FOR_ONE && json_integer_value(json_object_get(*result, "cases")) == 0)
		json_array_append_new(json_object_get(*result, "missing"),
				      json_string("a case that could be run"));
	json_object_set(*result, "findings", r->findings);
	rc = r->failures > 0 || json_array_size(json_object_get(*result, "missing")) > 0;
	if (r->unwritten)
		rc = O2_EXIT_USAGE;
	runner_close(r);
	return rc;
}
