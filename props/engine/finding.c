/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/complain.h"
#include "base/json.h"
#include "props/engine/case_file.h"
#include "props/engine/run_internal.h"
#include "props/engine/shell_word.h"

/* Files and text of a finding: the files of its case, and the command that runs it again. */

#define PIECES_SHOWN 12u

char *o2_run_line(const struct runner *r, uint64_t index, const char *end)
{
	const struct o2_run_options *o = r->options;
	const char *property = r->property->ops->name;
	char *line;
	int n;

	if (r->exhaustive != NULL)
		n = asprintf(&line, "%s run %s %s --exhaustive %" PRIu32 " --cases %" PRIu64 "%s", o->program,
			     property, o->again, o->exhaustive, index + 1, end);
	else
		n = asprintf(&line, "%s run %s %s --seed 0x%" PRIx64 " --first %" PRIu64 " --cases 1%s",
			     o->program, property, o->again, o->seed, index, end);
	return n < 0 ? NULL : line;
}

void o2_run_not_written(struct runner *r, const char *path, int code)
{
	o2_complain(r->options->program, "cannot write %s: %s", path, strerror(code));
	r->unwritten = true;
}

/* The command that replays a file; the caller frees it. */
static char *replay_line(const struct runner *r, const char *path)
{
	char *line = NULL;
	size_t bytes;
	FILE *out = open_memstream(&line, &bytes);

	if (out == NULL)
		return NULL;
	fprintf(out, "%s replay ", r->options->program);
	o2_shell_word(path, out);
	fprintf(out, " %s", r->options->again);
	fclose(out);
	return line;
}

static bool write_case(struct runner *r, const char *path, const uint8_t *bytes, size_t length)
{
	const int code = o2_case_write(path, bytes, length);

	if (code != 0)
		o2_run_not_written(r, path, -code);
	return code == 0;
}

static void write_scenario(struct runner *r, const char *case_path, json_t *finding)
{
	json_t *scenario = r->property->ops->to_json(r->property->context);
	char *path;

	if (scenario != NULL && asprintf(&path, "%s.json", case_path) >= 0) {
		if (json_dump_file(scenario, path, JSON_INDENT(1)) == 0) {
			json_object_set_new(finding, "scenario_file", o2_json_text(path));
			r->scenario_file = path;
		} else {
			o2_run_not_written(r, path, errno);
			unlink(path); /* remove the partial file */
			free(path);
		}
	}
	json_decref(scenario);
}

void o2_run_write_files(struct runner *r, const uint8_t *bytes, size_t length, uint64_t index,
			json_t *finding)
{
	const char *name = r->property->ops->name, *out_dir = r->options->out_dir;
	char digits[O2_CASE_NAME_BYTES], *path;

	free(r->replay);
	free(r->scenario_file);
	r->scenario_file = NULL;
	r->replay = o2_run_line(r, index, ""); /* by its number, if there is no file */
	if (out_dir == NULL)
		return;
	mkdir(out_dir, 0777);
	o2_case_name(bytes, length, digits);
	/* The replay line must not take the path for an option. */
	if (asprintf(&path, "%s%s/%s-%s", out_dir[0] == '-' ? "./" : "", out_dir, name, digits) < 0)
		return;
	if (write_case(r, path, bytes, length)) {
		json_object_set_new(finding, "case_file", o2_json_text(path));
		free(r->replay);
		r->replay = replay_line(r, path);
	}
	if (r->replay != NULL)
		json_object_set_new(finding, "replay", o2_json_text(r->replay));
	if (r->property->ops->to_json != NULL)
		write_scenario(r, path, finding);
	free(path);
}

static void print_replay(const struct runner *r)
{
	if (r->replay != NULL)
		fprintf(stderr, "  replay: %s\n", r->replay);
	if (r->scenario_file != NULL) {
		/* o2ref has no mutants: without the defect it would show a transfer that is right. */
		const char *mutant = r->options->mutant;

		fprintf(stderr, "  explain: %s explain ", mutant == NULL ? "o2ref" : r->options->program);
		o2_shell_word(r->scenario_file, stderr);
		fputs(" --svg picture.svg", stderr);
		if (mutant != NULL)
			fprintf(stderr, " --mutant %s", mutant);
		fputc('\n', stderr);
	}
}

void o2_run_print_finding(const struct runner *r, uint64_t index)
{
	char counters[1000];

	fflush(stdout);
	fprintf(stderr, "FINDING %s on %s: %s (", r->property->ops->name, r->options->device,
		r->report.signature);
	if (r->exhaustive != NULL)
		fprintf(stderr, "exhaustive %" PRIu32, r->options->exhaustive);
	else
		fprintf(stderr, "seed 0x%" PRIx64, r->options->seed);
	fprintf(stderr, ", case %" PRIu64 ")\n", index);
	for (uint32_t i = 0; i < r->report.lines; i++)
		fprintf(stderr, "  %s\n", r->report.line[i]);
	r->property->ops->print(r->property->context, PIECES_SHOWN, stderr);
	for (int i = 0; i < 2 && r->hw_before[i] != NULL; i++) {
		o2_hw_counters_moved(r->options->hw_device[i], r->hw_before[i], counters, sizeof(counters));
		if (counters[0] != '\0')
			fprintf(stderr, "  counted by %s since the run began: %s\n", r->options->hw_device[i],
				counters);
	}
	print_replay(r);
	fflush(stderr);
}
