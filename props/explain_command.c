/* SPDX-License-Identifier: MIT */
#include "props/explain.h"

#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/plain.h"
#include "props/case_file.h"
#include "props/mutant.h"
#include "props/scenario_io.h"

#define EXIT_USAGE  2
#define EXIT_CANNOT 77

/* A scenario is a few kilobytes; a larger file is none. */
#define SCENARIO_FILE_BYTES (1u << 20)

struct arguments {
	const char *program;
	const char *path;
	const char *svg;
	const char *mutant;
	bool all;
};

/* One line, and nothing that a terminal would obey: names and what a file says come from outside. */
static int complain(const struct arguments *a, const char *format, ...) __attribute__((format(printf, 2, 3)));

static int complain(const struct arguments *a, const char *format, ...)
{
	char text[1024];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	o2_make_plain(text);
	fprintf(stderr, "%s: %s\n", a->program, text);
	return EXIT_USAGE;
}

static void usage(const struct arguments *a)
{
	printf("usage: %s explain CASE [--svg FILE] [--all] [--mutant NAME]\n"
	       "\n"
	       "Show the whole way of one transfer: pages, list, segments, registration, fragments, work "
	       "requests,\n"
	       "and what the sink's memory holds afterwards.  CASE is a scenario (.json) or a case (bytes).\n"
	       "\n"
	       "  --svg FILE     draw it into FILE; - is standard output, and then there is no text\n"
	       "  --all          do not shorten long lists\n"
	       "  --mutant NAME  switch on a deliberate defect (only in o2props-mutants)\n"
	       "\n"
	       "Exit status: 0 all bytes are right, or it was refused as foretold; 1 not; 2 usage, or a "
	       "file\n"
	       "that is no case or cannot be read or written.\n",
	       a->program);
}

/* Returns 0, or EXIT_USAGE after a line on stderr; *done: help was asked for. */
static int parse(int argc, char **argv, struct arguments *a, bool *done)
{
	static const struct option options[] = {
		{"svg", required_argument, NULL, 's'},
		{"all", no_argument, NULL, 'a'},
		{"mutant", required_argument, NULL, 'X'},
		{"help", no_argument, NULL, 'h'},
		{NULL, 0, NULL, 0},
	};
	int option;

	opterr = 0;
	optind = 1;
	while ((option = getopt_long(argc, argv, "h", options, NULL)) != -1) {
		switch (option) {
		case 's':
			a->svg = optarg;
			break;
		case 'a':
			a->all = true;
			break;
		case 'X':
			a->mutant = optarg;
			break;
		case 'h':
			usage(a);
			*done = true;
			return 0;
		default:
			return complain(a, "explain: '%s' is no option, or its value is missing",
					argv[optind - 1]);
		}
	}
	if (optind + 1 != argc)
		return complain(a, "explain: %s (see: %s explain --help)",
				optind == argc ? "no case given" : "one case at a time", a->program);
	a->path = argv[optind];
	if (o2_mutant_select(a->mutant == NULL ? "none" : a->mutant) != 0)
		return complain(a, "explain: there is no mutant '%s' in this program", a->mutant);
	return 0;
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
		rc = complain(a, "%s: %s", a->path, strerror(errno));
	else if (length > SCENARIO_FILE_BYTES)
		rc = complain(a, "%s: longer than %u bytes", a->path, SCENARIO_FILE_BYTES);
	if (file != NULL)
		fclose(file);
	if (rc == 0) {
		object = json_loadb(text, length, JSON_REJECT_DUPLICATES, &where);
		if (object == NULL)
			rc = complain(a, "%s: %s (line %d)", a->path, where.text, where.line);
	}
	if (rc == 0 && o2_scenario_from_json(object, scenario, &error) != 0) {
		o2_error_text(&error, words, sizeof(words));
		rc = complain(a, "%s: %s", a->path, words);
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
		rc = complain(a, "%s: %s", a->path, strerror(-rc));
	} else {
		o2_choice_replay(choice, bytes, length);
		o2_scenario_draw(choice, &run->space, &run->scenario);
		if (!o2_choice_ok(choice))
			rc = complain(a, "%s: not a case: its %zu bytes end before the scenario does",
				      a->path, length);
	}
	free(choice);
	free(bytes);
	return rc;
}

static int write_picture(const struct arguments *a, const struct o2_explain *explain)
{
	bool to_stdout = strcmp(a->svg, "-") == 0;
	FILE *out = to_stdout ? stdout : fopen(a->svg, "w");
	bool failed;

	if (out == NULL)
		return complain(a, "%s: %s", a->svg, strerror(errno));
	o2_explain_svg(explain, a->mutant, out);
	failed = fflush(out) != 0 || ferror(out);
	if (!to_stdout && fclose(out) != 0)
		failed = true;
	return failed ? complain(a, "%s: %s", a->svg, strerror(errno)) : 0;
}

static int show(const struct arguments *a, struct o2_explain *explain)
{
	size_t length = strlen(a->path);
	bool json = length > 5 && strcmp(a->path + length - 5, ".json") == 0;
	int rc = json ? read_scenario(a, &explain->run.scenario) : read_bytes(a, &explain->run);

	if (rc == 0 && o2_explain_scenario(explain) != 0)
		rc = complain(a, "%s: cannot be run: a vector is shorter than what it is to move", a->path);
	if (rc != 0)
		return rc;
	if (a->svg == NULL || strcmp(a->svg, "-") != 0)
		o2_explain_text(explain, a->all, stdout);
	if (a->svg != NULL)
		rc = write_picture(a, explain);
	if (rc == 0 && fflush(stdout) != 0)
		rc = complain(a, "standard output: %s", strerror(errno));
	return rc != 0 ? rc : explain->held ? 0 : 1;
}

int o2_explain_command(const char *program, int argc, char **argv)
{
	struct arguments a = {.program = program};
	struct o2_error error = {0};
	struct o2_explain *explain;
	bool done = false;
	int rc = parse(argc, argv, &a, &done);

	if (rc != 0 || done)
		return rc;
	rc = o2_explain_open(&explain, &error);
	if (rc != 0) {
		complain(&a, "cannot make the memory model: %s", strerror(-rc));
		return EXIT_CANNOT;
	}
	rc = show(&a, explain);
	o2_explain_close(explain);
	return rc;
}
