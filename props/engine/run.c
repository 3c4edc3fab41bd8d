/* SPDX-License-Identifier: MIT */
#include "props/engine/run.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/monotonic.h"
#include "props/engine/case_file.h"
#include "props/engine/run_internal.h"
#include "props/engine/shrink.h"

/* Failures of known kinds are only counted; a run full of them ends. */
#define MAX_FAILURES 50u
#define PIECES_SHOWN 12u

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

/* Shrinking: the same kind of failure again? */
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
		json_array_append_new(lines, json_string(report->line[i]));
	return lines;
}

/* Write the case and its scenario; the finding says where. */
static void write_files(const struct runner *r, const uint8_t *bytes, size_t length, json_t *finding)
{
	const struct o2_property_ops *ops = r->property->ops;
	char name[O2_CASE_NAME_BYTES], path[512];
	json_t *scenario;

	if (r->options->out_dir == NULL)
		return;
	mkdir(r->options->out_dir, 0777);
	o2_case_name(bytes, length, name);
	snprintf(path, sizeof(path), "%s/%s-%s", r->options->out_dir, ops->name, name);
	if (o2_case_write(path, bytes, length) == 0)
		json_object_set_new(finding, "case_file", json_string(path));
	json_object_set_new(finding, "replay",
			    json_sprintf("%s replay %s %s", r->options->program, path, r->options->again));
	if (ops->to_json == NULL)
		return;
	strncat(path, ".json", sizeof(path) - strlen(path) - 1);
	scenario = ops->to_json(r->property->context);
	if (scenario != NULL && json_dump_file(scenario, path, JSON_INDENT(1)) == 0)
		json_object_set_new(finding, "scenario_file", json_string(path));
	json_decref(scenario);
}

static void print_finding(const struct runner *r, const json_t *finding, uint64_t index)
{
	const char *replay = json_string_value(json_object_get(finding, "replay"));
	const char *scenario = json_string_value(json_object_get(finding, "scenario_file"));
	char counters[1000];

	fflush(stdout);
	fprintf(stderr, "FINDING %s on %s: %s (seed 0x%llx, case %llu)\n", r->property->ops->name,
		r->options->device, r->report.signature, (unsigned long long)r->options->seed,
		(unsigned long long)index);
	for (uint32_t i = 0; i < r->report.lines; i++)
		fprintf(stderr, "  %s\n", r->report.line[i]);
	r->property->ops->print(r->property->context, PIECES_SHOWN, stderr);
	for (int i = 0; i < 2 && r->hw_before[i] != NULL; i++) {
		o2_hw_counters_moved(r->options->hw_device[i], r->hw_before[i], counters, sizeof(counters));
		if (counters[0] != '\0')
			fprintf(stderr, "  counted by %s since the run began: %s\n", r->options->hw_device[i],
				counters);
	}
	if (replay != NULL)
		fprintf(stderr, "  replay: %s\n", replay);
	if (replay != NULL && scenario != NULL)
		fprintf(stderr, "  explain: o2ref explain %s --svg picture.svg\n", scenario);
	if (replay == NULL)
		fprintf(stderr, "  replay: %s run %s %s --seed 0x%llx --first %llu --cases 1\n",
			r->options->program, r->property->ops->name, r->options->again,
			(unsigned long long)r->options->seed, (unsigned long long)index);
	fflush(stderr);
}

/*
 * Run the case that is left of it once more, for its words.  What holds then has only those of its first
 * time.
 */
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

/* Shrink the case that just failed, run it once more for its words, keep it. */
static void keep_finding(struct runner *r, uint64_t index)
{
	uint8_t *bytes = malloc(O2_CHOICE_MAX_BYTES);
	struct same_failure *same = calloc(1, sizeof(*same));
	struct o2_shrink_report shrunk = {0};
	json_t *finding = json_object();
	size_t length = r->choice->record_bytes;
	void *counters = malloc(r->property->counters_bytes);
	char seed[32];

	if (bytes == NULL || same == NULL || finding == NULL || counters == NULL)
		goto out;
	memcpy(counters, r->property->counters, r->property->counters_bytes);
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
	memcpy(r->property->counters, counters, r->property->counters_bytes);
	snprintf(seed, sizeof(seed), "0x%llx", (unsigned long long)r->options->seed);
	json_object_set_new(finding, "signature", json_string(same->signature));
	json_object_set_new(finding, "seed", json_string(seed));
	json_object_set_new(finding, "case", json_integer((json_int_t)index));
	json_object_set_new(finding, "lines", report_lines(&r->report));
	json_object_set_new(finding, "shrink_calls", json_integer(shrunk.calls));
	write_files(r, bytes, length, finding);
	print_finding(r, finding, index);
	json_array_append(r->findings, finding);
out:
	json_decref(finding);
	free(counters);
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
 * A sweep says that some earlier case wrote where it should not.  Run the cases since the last sweep again,
 * each with a sweep of its own, to find it; the index found, or the one given when none shows it again.
 */
static uint64_t blame(struct runner *r, uint64_t index)
{
	uint64_t back = r->property->sweep_cases;
	uint64_t first = index >= back + r->options->first_case ? index - back : r->options->first_case;

	r->property->ops->sweep_always(r->property->context);
	o2_run_reset(r->property);
	for (uint64_t i = first; i <= index; i++) {
		o2_choice_random(r->choice, r->options->seed, i);
		if (o2_run_try(r, r->choice, &r->report) == O2_STATUS_INTERESTING)
			return i;
	}
	snprintf(r->report.signature, sizeof(r->report.signature), "sweep");
	o2_report_add(&r->report, "a sweep found a changed page; none of the last cases shows it alone");
	return index;
}

static void note_current(const struct runner *r, uint64_t index)
{
	char text[O2_RUN_AGAIN_BYTES + 160];
	int n;

	if (r->current_fd < 0)
		return;
	n = snprintf(text, sizeof(text),
		     "%s run %s %s --seed 0x%llx --first %llu --cases 1                    \n",
		     r->options->program, r->property->ops->name, r->options->again,
		     (unsigned long long)r->options->seed, (unsigned long long)index);
	assert(n > 0 && (size_t)n < sizeof(text));
	if (pwrite(r->current_fd, text, (size_t)n, 0) < 0)
		return; /* only a crash would have needed it */
}

/* Has a situation not occurred that had to? */
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
	if (o->cases > 0 && done >= o->cases && (done / O2_RUN_ON >= o->cases || !lacks_a_situation(r)))
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

static void run_cases(struct runner *r)
{
	double last = r->start;
	uint64_t i;

	for (i = 0; !enough(r, i); i++) {
		uint64_t index = r->options->first_case + i;

		note_current(r, index);
		o2_choice_random(r->choice, r->options->seed, index);
		if (o2_run_try(r, r->choice, &r->report) == O2_STATUS_INTERESTING)
			o2_run_note_failure(r, index);
		else
			o2_run_check_left(r, i + 1, false);
		if (r->options->progress_s > 0 && o2_monotonic_seconds() - last >= r->options->progress_s) {
			char text[200];

			last = o2_monotonic_seconds();
			r->property->ops->line(r->property->context, last - r->start, text, sizeof(text));
			fprintf(stderr, "%s: %s\n", r->options->device, text);
		}
	}
	if (i > 0 && r->marked)
		o2_run_check_left(r, i, true);
}

/* Packets that the devices sent between two readings; UINT64_MAX when they do not count them. */
static uint64_t packets_between(const json_t *before, const json_t *after)
{
	const json_t *first = json_object_get(before, "sent_pkts");
	const json_t *last = json_object_get(after, "sent_pkts");

	if (!json_is_integer(first) || !json_is_integer(last))
		return UINT64_MAX;
	return (uint64_t)(json_integer_value(last) - json_integer_value(first));
}

/* What every result has (docs/properties.md, "Results"). */
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
	json_object_set_new(result, "seed", json_string(seed));
}

int o2_run(const struct o2_property *property, const struct o2_run_options *options, json_t **result)
{
	struct runner *r = calloc(1, sizeof(*r));
	json_t *counters = json_object();
	uint64_t packets = UINT64_MAX;
	const struct o2_property_ops *ops = property->ops;
	struct o2_report sweep = {0};
	bool failed;

	*result = json_object();
	if (r == NULL || (r->choice = calloc(1, sizeof(*r->choice))) == NULL) {
		free(r);
		return 1;
	}
	r->property = property;
	r->options = options;
	r->findings = json_array();
	r->weigh = options->cases == 1 && !property->keeps; /* there is no later case to compare with */
	r->current_fd = -1;
	if (options->current_case_path != NULL)
		r->current_fd =
			open(options->current_case_path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	for (int i = 0; i < 2; i++)
		r->hw_before[i] =
			options->hw_device[i] != NULL ? o2_hw_counters(options->hw_device[i]) : NULL;
	r->start = o2_monotonic_seconds();
	run_cases(r);
	if (ops->sweep != NULL && !ops->sweep(property->context, &sweep))
		json_array_append_new(r->findings, json_pack("{s:s, s:o}", "signature", "sweep", "lines",
							     report_lines(&sweep)));
	begin_result(property, options, *result);
	ops->result(property->context, options, *result);
	json_object_set_new(*result, "seconds", json_real(o2_monotonic_seconds() - r->start));
	for (int i = 0; i < 2 && r->hw_before[i] != NULL; i++) {
		json_t *after = o2_hw_counters(options->hw_device[i]);
		uint64_t sent = packets_between(r->hw_before[i], after);

		if (sent != UINT64_MAX)
			packets = packets == UINT64_MAX ? sent : packets + sent;
		json_object_set_new(counters, options->hw_device[i],
				    json_pack("{s:o, s:o}", "before", r->hw_before[i], "after", after));
	}
	json_object_set_new(*result, "hw_counters", counters);
	json_object_set_new(*result, "missing", ops->missing(property->context, packets));
	json_object_set(*result, "findings", r->findings);
	failed = json_array_size(r->findings) > 0 || json_array_size(json_object_get(*result, "missing")) > 0;
	json_decref(r->findings);
	if (r->current_fd >= 0)
		close(r->current_fd);
	free(r->choice);
	free(r);
	return failed ? 1 : 0;
}
