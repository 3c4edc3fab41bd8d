/* SPDX-License-Identifier: MIT */
#include "props/explain/explain.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_read.h"
#include "base/out_file.h"
#include "props/cmd/options.h"
#include "props/engine/case_file.h"
#include "props/scenario/scenario_io.h"

/* A scenario has a few kilobytes; a larger file is no scenario. */
#define SCENARIO_FILE_BYTES (1u << 20)

struct arguments {
	const char *program;
	const char *path;
	const char *svg;
	const char *mutant;
	bool all;
};

#define O2_OPTION_TARGET struct arguments

static const struct o2_option option_table[] = {
	{"svg", "FILE", "draw it into FILE; - is standard output, and then there is no text", O2_TEXT(svg)},
	{"all", NULL, "do not shorten long lists", O2_FLAG(all)},
	{"mutant", "NAME", "switch on a deliberate defect (only in o2props-mutants)", O2_TEXT(mutant)},
	{0},
};

/* Returns as o2_options_read does. */
static int parse(int argc, char **argv, struct arguments *a)
{
	const struct o2_command command = {
		.program = a->program,
		.name = "explain",
		.usage = "CASE [--svg FILE] [--all] [--mutant NAME]",
		.about = "Show the whole way of one transfer: pages, list, segments, registration, "
			 "fragments, work requests, and what the sink's memory holds afterwards.  CASE is "
			 "a scenario (.json) or a case (bytes).",
		.options = option_table,
		.end = "Exit status: 0 all bytes are right, or it was refused as foretold; 1 not; 2 usage, "
		       "or a file that is no case or cannot be read or written.",
	};
	const int first = o2_options_read(&command, argc, argv, a);

	if (first <= 0)
		return first;
	a->path = argv[first];
	if (argc - first != 1) {
		o2_command_usage(&command, "%s", first == argc ? "no case given" : "one case at a time");
		return -1;
	}
	return o2_props_mutant(a->program, a->mutant) == 0 ? first : -1;
}

static int read_scenario(const struct arguments *a, struct o2_scenario *scenario)
{
	FILE *file = fopen(a->path, "rb");
	char *text = malloc(SCENARIO_FILE_BYTES + 1u);
	struct o2_error error = {0};
	json_error_t where;
	json_t *object = NULL;
	char words[200];
	size_t length = 0;
	int rc = 0;

	if (file != NULL && text != NULL) {
		errno = 0;
		length = fread(text, 1, SCENARIO_FILE_BYTES + 1u, file);
	}
	if (file == NULL || text == NULL || ferror(file))
		rc = o2_complain(a->program, "%s: %s", a->path, strerror(errno));
	else if (length > SCENARIO_FILE_BYTES)
		rc = o2_complain(a->program, "%s: longer than %u bytes", a->path, SCENARIO_FILE_BYTES);
	if (file != NULL)
		fclose(file);
	if (rc == 0) {
		object = o2_json_read(text, length, JSON_REJECT_DUPLICATES, &where);
		if (object == NULL)
			rc = o2_complain(a->program, "%s: %s", a->path,
					 o2_json_where(&where, words, sizeof(words)));
	}
	if (rc == 0 && o2_scenario_from_json(object, scenario, &error) != 0) {
		o2_error_text(&error, words, sizeof(words));
		rc = o2_complain(a->program, "%s: %s", a->path, words);
	}
	json_decref(object);
	free(text);
	return rc;
}

static int read_bytes(const struct arguments *a, struct o2_transfer_run *run)
{
	struct o2_choice *choice = calloc(1, sizeof(*choice));
	uint8_t *bytes = malloc(O2_CHOICE_MAX_BYTES);
	size_t length;
	int rc = choice == NULL || bytes == NULL ? -ENOMEM : o2_case_read(a->path, bytes, &length);

	if (rc != 0) {
		rc = o2_complain(a->program, "%s: %s", a->path, strerror(-rc));
	} else {
		o2_choice_replay(choice, bytes, length);
		o2_scenario_draw(choice, &run->space, &run->scenario);
		if (!o2_choice_ok(choice))
			rc = o2_complain(a->program, "%s: not a case: it is longer than a case may be",
					 a->path);
	}
	free(choice);
	free(bytes);
	return rc;
}

static int write_picture(const struct arguments *a, const struct o2_explain *explain,
			 struct o2_out_file *picture)
{
	if (!o2_out_file_empty(a->program, picture))
		return O2_PROPS_EXIT_USAGE;
	o2_explain_svg(explain, a->mutant, picture->out);
	return o2_out_file_close(a->program, picture) ? 0 : O2_PROPS_EXIT_USAGE;
}

static int show(const struct arguments *a, struct o2_explain *explain)
{
	struct o2_out_file picture = {0};
	size_t length = strlen(a->path);
	bool json = length > 5 && strcmp(a->path + length - 5, ".json") == 0;
	int rc = json ? read_scenario(a, &explain->run.scenario) : read_bytes(a, &explain->run);
	int code;

	if (rc != 0)
		return rc;
	code = o2_explain_scenario(explain);
	if (code != 0)
		return o2_complain(a->program, "%s: cannot be run: %s", a->path,
				   code == -EINVAL ? "a vector is shorter than what it is to move"
						   : strerror(-code));
	if (!o2_out_file_open(a->program, &picture, "--svg", a->svg, true) ||
	    !o2_out_files_are_own(a->program, &picture, 1) ||
	    !o2_out_files_spare(a->program, &picture, 1, a->path, "the case that is read"))
		return O2_PROPS_EXIT_USAGE;
	if (picture.out != stdout)
		o2_explain_text(explain, a->all, stdout);
	if (picture.out != NULL)
		rc = write_picture(a, explain, &picture);
	if (rc == 0 && fflush(stdout) != 0)
		rc = o2_complain(a->program, "standard output: %s", strerror(errno));
	return rc != 0 ? rc : explain->held ? 0 : 1;
}

int o2_explain_command(const char *program, int argc, char **argv)
{
	struct arguments a = {.program = program};
	struct o2_error error = {0};
	struct o2_explain *explain;
	const int first = parse(argc, argv, &a);
	int rc;

	if (first <= 0)
		return first < 0 ? O2_PROPS_EXIT_USAGE : 0;
	rc = o2_explain_open(&explain, &error);
	if (rc != 0) {
		o2_complain(program, "cannot make the memory model: %s", strerror(-rc));
		return O2_PROPS_EXIT_CANNOT;
	}
	rc = show(&a, explain);
	o2_explain_close(explain);
	return rc;
}
