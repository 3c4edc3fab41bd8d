/* SPDX-License-Identifier: MIT */
#include "props/run.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "props/case_file.h"
#include "props/scenario_io.h"
#include "props/shrink.h"

/* Failures of known kinds are only counted; a run full of them ends. */
#define MAX_FAILURES 50u
#define PIECES_SHOWN 12u

struct runner {
	struct o2_transfer_run *run;
	const struct o2_run_options *options;
	struct o2_choice *choice;
	struct o2_report report;
	json_t *findings;
	char signature[O2_RUN_MAX_FINDINGS][sizeof(((struct o2_report *)0)->signature)];
	uint32_t nsignatures;
	uint32_t failures;
	int current_fd;
	double start;
};

static double seconds_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* A failing case may have written anywhere on either side: start from clean memory. */
static void refill(struct o2_transfer_run *run)
{
	struct o2_image *source = run->image[O2_SOURCE][run->scenario.source.kind];
	struct o2_image *sink = run->image[O2_SINK][run->scenario.sink.kind];

	o2_image_init(source, source->arena, run->seed);
	o2_image_init(sink, sink->arena, run->seed);
}

/* Shrinking: the same kind of failure again? */
struct same_failure {
	struct o2_transfer_run *run;
	char signature[sizeof(((struct o2_report *)0)->signature)];
	struct o2_report report;
};

static enum o2_status fails_alike(void *context, struct o2_choice *choice)
{
	struct same_failure *same = context;
	enum o2_status status = o2_transfer_case(same->run, choice, &same->report);

	if (status != O2_STATUS_INTERESTING)
		return status;
	refill(same->run);
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
	char name[O2_CASE_NAME_BYTES], path[512], replay[640];
	json_t *scenario;

	if (r->options->out_dir == NULL)
		return;
	mkdir(r->options->out_dir, 0777);
	o2_case_name(bytes, length, name);
	snprintf(path, sizeof(path), "%s/transfer-%s", r->options->out_dir, name);
	if (o2_case_write(path, bytes, length) == 0)
		json_object_set_new(finding, "case_file", json_string(path));
	snprintf(replay, sizeof(replay), "o2props replay %s --device %s", path, r->options->device);
	json_object_set_new(finding, "replay", json_string(replay));
	strncat(path, ".json", sizeof(path) - strlen(path) - 1);
	scenario = o2_scenario_to_json(&r->run->scenario);
	if (scenario != NULL && json_dump_file(scenario, path, JSON_INDENT(1)) == 0)
		json_object_set_new(finding, "scenario_file", json_string(path));
	json_decref(scenario);
}

static void print_finding(const struct runner *r, const json_t *finding, uint64_t index)
{
	const char *replay = json_string_value(json_object_get(finding, "replay"));

	fflush(stdout);
	fprintf(stderr, "FINDING transfer on %s: %s (seed 0x%llx, case %llu)\n", r->options->device,
		r->report.signature, (unsigned long long)r->options->seed, (unsigned long long)index);
	for (uint32_t i = 0; i < r->report.lines; i++)
		fprintf(stderr, "  %s\n", r->report.line[i]);
	o2_scenario_print(&r->run->scenario, PIECES_SHOWN, stderr);
	if (replay != NULL)
		fprintf(stderr, "  replay: %s\n", replay);
	else
		fprintf(stderr,
			"  replay: o2props run transfer --device %s --seed 0x%llx --first %llu --cases 1\n",
			r->options->device, (unsigned long long)r->options->seed, (unsigned long long)index);
	fflush(stderr);
}

/* Shrink the case that just failed, run it once more for its words, keep it. */
static void keep_finding(struct runner *r, uint64_t index)
{
	uint8_t *bytes = malloc(O2_CHOICE_MAX_BYTES);
	struct same_failure *same = calloc(1, sizeof(*same));
	struct o2_shrink_report shrunk = {0};
	json_t *finding = json_object();
	size_t length = r->choice->record_bytes;
	struct o2_counters counters = r->run->counters;
	char seed[32];

	if (bytes == NULL || same == NULL || finding == NULL)
		goto out;
	memcpy(bytes, r->choice->record, length);
	same->run = r->run;
	memcpy(same->signature, r->report.signature, sizeof(same->signature));
	refill(r->run);
	if (r->options->shrink_calls > 0)
		o2_shrink(fails_alike, same, bytes, &length, r->options->shrink_calls, &shrunk);
	o2_choice_replay(r->choice, bytes, length);
	o2_transfer_case(r->run, r->choice, &r->report);
	refill(r->run);
	r->run->counters = counters;
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
	uint64_t first = index >= O2_SWEEP_CASES + r->options->first_case ? index - O2_SWEEP_CASES
									  : r->options->first_case;

	r->run->sweep_always = true;
	refill(r->run);
	for (uint64_t i = first; i <= index; i++) {
		o2_choice_random(r->choice, r->options->seed, i);
		if (o2_transfer_case(r->run, r->choice, &r->report) == O2_STATUS_INTERESTING)
			return i;
	}
	snprintf(r->report.signature, sizeof(r->report.signature), "sweep");
	o2_report_add(&r->report, "a sweep found a changed page; none of the last cases shows it alone");
	return index;
}

static void note_current(const struct runner *r, uint64_t index)
{
	char text[160];
	int n;

	if (r->current_fd < 0)
		return;
	n = snprintf(
		text, sizeof(text),
		"o2props run transfer --device %s --seed 0x%llx --first %llu --cases 1                    \n",
		r->options->device, (unsigned long long)r->options->seed, (unsigned long long)index);
	if (pwrite(r->current_fd, text, (size_t)n, 0) < 0)
		return; /* only a crash would have needed it */
}

static bool enough(const struct runner *r, uint64_t done)
{
	const struct o2_run_options *o = r->options;
	const struct o2_counters *c = &r->run->counters;

	if (r->failures >= MAX_FAILURES || json_array_size(r->findings) >= r->options->findings)
		return true;
	if (o->seconds > 0 && seconds_now() - r->start >= o->seconds)
		return true;
	if (o->cases > 0 && done >= o->cases)
		return true;
	if (o->moved == 0 || c->moved < o->moved)
		return false;
	for (uint32_t i = 0; i < O2_REG_MODES * O2_REG_MODES; i++) {
		if (r->run->space.mode_weight[i / O2_REG_MODES] > 0 &&
		    r->run->space.mode_weight[i % O2_REG_MODES] > 0 &&
		    c->pair[i / O2_REG_MODES][i % O2_REG_MODES] < o->min_per_pair)
			return false;
	}
	return true;
}

static void run_cases(struct runner *r)
{
	double last = r->start;

	for (uint64_t i = 0; !enough(r, i); i++) {
		uint64_t index = r->options->first_case + i;

		note_current(r, index);
		o2_choice_random(r->choice, r->options->seed, index);
		if (o2_transfer_case(r->run, r->choice, &r->report) == O2_STATUS_INTERESTING) {
			r->failures++;
			if (strcmp(r->report.signature, "sweep") == 0 && !r->run->sweep_always)
				index = blame(r, index);
			if (!known(r, r->report.signature))
				keep_finding(r, index);
			else
				refill(r->run);
		}
		if (r->options->progress_s > 0 && seconds_now() - last >= r->options->progress_s) {
			char text[200];

			last = seconds_now();
			o2_counters_line(&r->run->counters, last - r->start, text, sizeof(text));
			fprintf(stderr, "%s: %s\n", r->options->device, text);
		}
	}
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

int o2_run(struct o2_transfer_run *run, const struct o2_run_options *options, json_t **result)
{
	struct runner *r = calloc(1, sizeof(*r));
	json_t *before[2] = {NULL, NULL};
	json_t *counters = json_object();
	uint64_t packets = UINT64_MAX;
	struct o2_report sweep = {0};
	bool failed;

	*result = json_object();
	if (r == NULL || (r->choice = calloc(1, sizeof(*r->choice))) == NULL) {
		free(r);
		return 1;
	}
	r->run = run;
	r->options = options;
	r->findings = json_array();
	r->current_fd = -1;
	if (options->current_case_path != NULL)
		r->current_fd =
			open(options->current_case_path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	for (int i = 0; i < 2; i++)
		before[i] = options->hw_device[i] != NULL ? o2_hw_counters(options->hw_device[i]) : NULL;
	r->start = seconds_now();
	run_cases(r);
	if (!o2_transfer_sweep(run, &sweep))
		json_array_append_new(r->findings, json_pack("{s:s, s:o}", "signature", "sweep", "lines",
							     report_lines(&sweep)));
	o2_counters_to_json(run, options, *result);
	json_object_set_new(*result, "seconds", json_real(seconds_now() - r->start));
	for (int i = 0; i < 2 && before[i] != NULL; i++) {
		json_t *after = o2_hw_counters(options->hw_device[i]);
		uint64_t sent = packets_between(before[i], after);

		if (sent != UINT64_MAX)
			packets = packets == UINT64_MAX ? sent : packets + sent;
		json_object_set_new(counters, options->hw_device[i],
				    json_pack("{s:o, s:o}", "before", before[i], "after", after));
	}
	json_object_set_new(*result, "hw_counters", counters);
	json_object_set_new(*result, "missing", o2_counters_missing(run, packets));
	json_object_set(*result, "findings", r->findings);
	failed = json_array_size(r->findings) > 0 || json_array_size(json_object_get(*result, "missing")) > 0;
	json_decref(r->findings);
	if (r->current_fd >= 0)
		close(r->current_fd);
	free(r->choice);
	free(r);
	return failed ? 1 : 0;
}

static int replay_scenario(struct o2_transfer_run *run, const char *path, struct o2_report *report)
{
	struct o2_error error = {0};
	json_error_t where;
	char text[200];
	json_t *object = json_load_file(path, 0, &where);

	if (object == NULL) {
		fprintf(stderr, "o2props: %s: %s (line %d)\n", path, where.text, where.line);
		return 2;
	}
	if (o2_scenario_from_json(object, &run->scenario, &error) != 0) {
		o2_error_text(&error, text, sizeof(text));
		fprintf(stderr, "o2props: %s: %s\n", path, text);
		json_decref(object);
		return 2;
	}
	json_decref(object);
	return o2_transfer_scenario(run, report) == O2_STATUS_INTERESTING ? 1 : 0;
}

static int replay_bytes(struct o2_transfer_run *run, const char *path, struct o2_report *report)
{
	struct o2_choice *choice = calloc(1, sizeof(*choice));
	uint8_t *bytes = malloc(O2_CHOICE_MAX_BYTES);
	size_t length;
	int rc = choice == NULL || bytes == NULL ? -ENOMEM : o2_case_read(path, bytes, &length);

	if (rc != 0) {
		fprintf(stderr, "o2props: %s: %s\n", path, strerror(-rc));
		rc = 2;
	} else {
		o2_choice_replay(choice, bytes, length);
		rc = o2_transfer_case(run, choice, report) == O2_STATUS_INTERESTING ? 1 : 0;
	}
	free(choice);
	free(bytes);
	return rc;
}

int o2_run_replay(struct o2_transfer_run *run, const char *path)
{
	size_t length = strlen(path);
	bool json = length > 5 && strcmp(path + length - 5, ".json") == 0;
	struct o2_report report = {0};
	int rc;

	run->sweep_always = true;
	rc = json ? replay_scenario(run, path, &report) : replay_bytes(run, path, &report);
	if (rc == 2)
		return rc;
	o2_scenario_print(&run->scenario, O2_SCENARIO_PIECES, stdout);
	for (uint32_t i = 0; i < report.lines; i++)
		printf("  %s\n", report.line[i]);
	if (rc == 0 && run->prediction.verdict != O2_MOVES)
		printf("held: refused as foretold: %s (%s)\n", run->prediction.reason,
		       strerror(-run->prediction.code));
	else if (rc == 0)
		printf("held: %llu bytes moved, %u fragments, %u work requests\n",
		       (unsigned long long)o2_scenario_moved(&run->scenario), run->observed.nfrags,
		       run->observed.nwr);
	else
		printf("failed: %s\n", report.signature);
	refill(run);
	return rc;
}
