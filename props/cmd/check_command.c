/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/json.h"
#include "base/own_path.h"
#include "oracle/child.h"
#include "oracle/selftest.h"
#include "props/check/check_since.h"
#include "props/cmd/check_files.h"
#include "props/cmd/check_options.h"
#include "props/engine/shell_word.h"

/* `o2ref check`: open the implementations, run, write the reports. */

/* Write a line to stderr; without it nobody would know why there is no result. */
static int no_memory(const struct o2_check_arguments *a)
{
	o2_complain(a->name, "check: the result: %s", strerror(ENOMEM));
	return O2_CHECK_EXIT_CANNOT;
}

/* --- the table of checks --- */

static void list_checks(void)
{
	for (uint32_t i = 0; i < O2_CHECKS; i++) {
		const enum o2_check_id check = (enum o2_check_id)i;
		const char *group = o2_check_group(check);

		if (group != NULL)
			printf("%s### %s\n\n| check | strict | kernel | what holds |\n|---|---|---|---|\n",
			       i == 0 ? "" : "\n", group);
		printf("| `%s` | %s | %s | %s |\n", o2_check_name(check),
		       o2_severity_name(o2_check_severity(check, O2_PROFILE_STRICT)),
		       o2_severity_name(o2_check_severity(check, O2_PROFILE_KERNEL)), o2_check_text(check));
	}
}

/* --- finding the committed cases --- */

static bool is_directory(const char *path)
{
	struct stat status;

	return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

/* The corpus is installed beside the program, or in the source tree that the program was built in. */
static const char *find_corpus(char *path, size_t path_bytes)
{
	static const char *const places[] = {"../share/o2ref/corpus", "../../corpus", "../corpus"};
	char program[PATH_MAX];

	if (o2_own_path(NULL, program, sizeof(program)) != 0)
		return NULL;
	*strrchr(program, '/') = '\0';
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		if (snprintf(path, path_bytes, "%s/%s/vectors", program, places[i]) < (int)path_bytes &&
		    is_directory(path)) {
			path[strlen(path) - strlen("/vectors")] = '\0';
			return realpath(path, program) == NULL ? path : strcpy(path, program);
		}
	}
	return NULL;
}

/* The longest question that a replay command contains; a longer one is asked by its choices, not simplified. */
#define MAX_WORD_BYTES 4096u

/* --- replay --- */

/* Does the question come from an earlier result, whose file may be gone? */
static bool is_told_again(const json_t *finding)
{
	return json_object_get(finding, "choices") == NULL &&
	       strncmp(json_string_value(json_object_get(finding, "origin")), "finding ",
		       strlen("finding ")) == 0;
}

/* The question as one word of a command; NULL: it is too long, or its choices stand for it. */
static char *word_of(const json_t *finding)
{
	const json_t *shrunk = json_object_get(finding, "shrunk");
	char *text = NULL;

	if (json_is_true(json_object_get(shrunk, "simplified")) || is_told_again(finding))
		text = json_dumps(json_object_get(finding, "question"), JSON_COMPACT);
	if (text != NULL && strlen(text) > MAX_WORD_BYTES) {
		free(text);
		text = NULL;
	}
	return text;
}

/* Write an option that names a file, with the whole path: the command may be given elsewhere. */
static void say_path(const char *option, const char *path, FILE *out)
{
	char whole[PATH_MAX];

	fprintf(out, " %s ", option);
	o2_shell_word(realpath(path, whole) == NULL ? path : whole, out);
}

/* Write the words that name the implementation on the command line. */
static void say_how(const struct o2_check_arguments *a, uint32_t index, FILE *out)
{
	if (index < a->files) {
		fputc(' ', out);
		o2_shell_word(a->file[index], out);
		return;
	}
	fputs(" --", out);
	for (char *const *word = a->program; *word != NULL; word++) {
		fputc(' ', out);
		o2_shell_word(*word, out);
	}
}

/* Write the options that ask a question again: by its file, as text, by its choices, or by its origin. */
static void say_question(const struct o2_check_arguments *a, const json_t *finding, const char *file,
			 FILE *out)
{
	const char *given = a->options.case_file;
	const char *origin = json_string_value(json_object_get(finding, "origin"));
	const char *choices = json_string_value(json_object_get(finding, "choices"));
	const char *stage = json_string_value(json_object_get(finding, "stage"));
	char *word = file == NULL ? word_of(finding) : NULL;

	if (file == NULL && word == NULL && choices == NULL && given != NULL && given[0] != '{') {
		say_path("--case", given, out);
		return;
	}
	if (file == NULL && word == NULL && choices == NULL)
		file = given != NULL ? given : origin[0] == '/' ? origin : NULL;
	if (file != NULL || word != NULL) {
		fputs(" --case ", out);
		o2_shell_word(file != NULL ? file : word, out);
	} else if (choices != NULL) {
		fprintf(out, " --choices %s:%s", stage, choices);
	} else { /* a test vector: all of them are asked before drawn cases */
		fprintf(out, " --stage %s --cases 1", stage);
		if (a->corpus != NULL)
			say_path("--corpus", a->corpus, out);
	}
	free(word);
}

/* Add the command that asks a finding's question again.  Returns 0, or a status after a line on stderr. */
static int add_replay(const struct o2_check_arguments *a, uint32_t index, json_t *finding, const char *file)
{
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);
	json_t *replay = NULL;

	if (out != NULL) {
		fprintf(out, "%s check", a->name);
		say_question(a, finding, file, out);
		fputs(a->options.profile == O2_PROFILE_KERNEL ? " --profile kernel" : "", out);
		if (a->map != NULL)
			say_path("--map", a->map, out);
		if (a->host.timeout_ms != O2_CHECK_TIMEOUT_MS)
			fprintf(out, " --timeout-ms %u", a->host.timeout_ms);
		if (a->host.growth_mib != O2_CHECK_GROWTH_MIB)
			fprintf(out, " --growth-mib %u", a->host.growth_mib);
		fputs(a->options.pedantic ? " --pedantic" : "", out);
		say_how(a, index, out);
		if (fclose(out) == 0)
			replay = o2_json_text(text);
	}
	free(text);
	return json_object_set_new(finding, "replay", replay) == 0 ? 0 : no_memory(a);
}

static int add_replays(const struct o2_check_arguments *a, json_t *result)
{
	const json_t *list = json_object_get(result, "implementations");
	const json_t *one;
	json_t *finding;
	json_t *names = json_object();
	char path[PATH_MAX];
	size_t i, k;
	int rc = 0;

	json_array_foreach(list, i, one) {
		json_array_foreach(json_object_get(one, "findings"), k, finding) {
			const bool to_file =
				a->out_dir != NULL && json_is_object(json_object_get(finding, "question"));

			if (rc == 0 && to_file)
				rc = o2_check_write_files(a, (uint32_t)i, finding, names, path, sizeof(path));
			if (rc == 0)
				rc = add_replay(a, (uint32_t)i, finding, to_file ? path : NULL);
		}
	}
	json_decref(names);
	return rc;
}

/* --- reports --- */

static int to_file(struct o2_check_arguments *a, struct o2_out_file *file, const json_t *result,
		   void (*write)(const json_t *result, FILE *out))
{
	if (file->out == NULL)
		return 0;
	if (!o2_out_file_empty(a->name, file))
		return O2_CHECK_EXIT_USAGE;
	write(result, file->out);
	return o2_out_file_close(a->name, file) ? 0 : O2_CHECK_EXIT_USAGE;
}

static void write_json(const json_t *result, FILE *out)
{
	json_dumpf(result, out, JSON_INDENT(1));
	fputc('\n', out);
}

static bool has_stale(const json_t *result)
{
	const json_t *one;
	size_t i;

	json_array_foreach(json_object_get(result, "implementations"), i, one)
		if (json_array_size(json_object_get(one, "stale")) > 0)
			return true;
	return false;
}

/* Standard output carries either one of the reports or the text. */
static bool is_taken(const struct o2_check_arguments *a)
{
	for (uint32_t i = 0; i < O2_CHECK_REPORTS; i++)
		if (a->report[i].out == stdout)
			return true;
	return false;
}

static int report(struct o2_check_arguments *a, json_t *result)
{
	int rc = add_replays(a, result);
	bool right = json_is_true(json_object_get(result, "agree"));

	if (a->since != NULL) {
		o2_check_since(result, a->options.since, a->since);
		right = right || (!o2_check_since_has_new(result, a->options.since) && !has_stale(result));
	}
	o2_check_print(result, a->color, is_taken(a) ? stderr : stdout);
	if (rc == 0)
		rc = to_file(a, &a->report[O2_CHECK_JSON], result, write_json);
	if (rc == 0)
		rc = to_file(a, &a->report[O2_CHECK_HTML], result, o2_check_html);
	if (rc == 0)
		rc = to_file(a, &a->report[O2_CHECK_JUNIT], result, o2_check_junit);
	if (rc != 0)
		return rc;
	return right ? O2_CHECK_EXIT_AGREE : O2_CHECK_EXIT_DIFFER;
}

/* --- running --- */

static int open_host(const struct o2_check_arguments *a, uint32_t index, char **alone, struct o2_host **host)
{
	const char *path = index < a->files ? a->file[index] : a->program[0];
	char text[512];
	int rc;

	if (index == a->files) {
		rc = o2_host_open_program(a->program, &a->host, host, text, sizeof(text));
	} else if (o2_check_is_library(path)) {
		rc = o2_host_open_object(path, &a->host, host, text, sizeof(text));
	} else {
		alone[0] = (char *)(uintptr_t)path;
		rc = o2_host_open_program(alone, &a->host, host, text, sizeof(text));
	}
	return rc == 0 ? 0 : o2_complain(a->name, "check: %s: %s", path, text);
}

/* Read once for all implementations: a pipe cannot be read twice. */
static int read_judgement(const struct o2_check_arguments *a, struct o2_error_map *map,
			  struct o2_known *known)
{
	char text[512];

	if (a->map != NULL && o2_error_map_read(a->map, map, text, sizeof(text)) != 0)
		return o2_complain(a->name, "check: %s", text);
	if (a->known != NULL && o2_known_read(a->known, known, text, sizeof(text)) != 0)
		return o2_complain(a->name, "check: %s", text);
	return 0;
}

static bool answered_anything(const struct o2_check_subject *subject)
{
	for (uint32_t i = 0; i < O2_STAGES; i++)
		if (subject->tally[i].asked > subject->tally[i].not_implemented)
			return true;
	return subject->findings > 0;
}

/* Say why nothing is known about the implementation. */
static int complain_of_nothing(const struct o2_check_arguments *a, const struct o2_check_subject *subject)
{
	const char *name = subject->host->name;

	for (uint32_t i = 0; i < O2_STAGES; i++)
		if (subject->tally[i].asked > 0)
			return o2_complain(a->name, "check: %s: it implements none of what it was asked",
					   name);
	if (subject->not_given > 0)
		return o2_complain(a->name, "check: %s: it was not asked: profile %s does not ask this", name,
				   o2_profile_name(a->options.profile));
	if (subject->not_selected > 0)
		return o2_complain(a->name, "check: %s: it was not asked: --stage leaves out this stage",
				   name);
	return o2_complain(a->name, "check: %s: it was not asked anything", name);
}

static int run_subject(const struct o2_check_arguments *a, uint32_t index, struct o2_check_subject *subject)
{
	char *alone[2] = {NULL, NULL};
	char text[512];
	int rc = open_host(a, index, alone, &subject->host);

	subject->place = index;
	if (rc != 0)
		return rc;
	rc = o2_check_run(&a->options, subject, text, sizeof(text));
	if (rc != 0) {
		o2_complain(a->name, "check: %s", text[0] != '\0' ? text : strerror(-rc));
		return text[0] != '\0' ? O2_CHECK_EXIT_USAGE : O2_CHECK_EXIT_CANNOT;
	}
	if (!answered_anything(subject))
		return complain_of_nothing(a, subject);
	return 0;
}

/* Refuse another profile: its causes cannot be compared, as other differences count there. */
static int read_since(struct o2_check_arguments *a)
{
	const char *profile = o2_profile_name(a->options.profile), *then;
	char text[512];
	json_t *old = o2_check_since_read(a->since, text, sizeof(text));

	a->options.since = old;
	if (old == NULL)
		return o2_complain(a->name, "check: %s", text);
	then = json_string_value(json_object_get(old, "profile"));
	if (then == NULL || strcmp(then, profile) != 0)
		return o2_complain(a->name, "check: %s: its profile is '%s', that of this run %s", a->since,
				   then == NULL ? "" : then, profile);
	return 0;
}

static int check(struct o2_check_arguments *a)
{
	const uint32_t count = a->files + (a->program != NULL);
	struct o2_check_subject *subjects = calloc(count, sizeof(*subjects));
	struct o2_error_map map = {0};
	struct o2_known known = {0};
	char corpus[PATH_MAX];
	json_t *result = NULL;
	int rc = subjects == NULL ? no_memory(a) : 0;

	a->corpus = a->options.corpus;
	if (a->no_corpus)
		a->options.corpus = NULL;
	else if (a->options.corpus == NULL)
		a->options.corpus = find_corpus(corpus, sizeof(corpus));
	else if (is_directory(a->options.corpus))
		a->options.corpus = realpath(a->corpus, corpus) == NULL ? a->corpus : corpus;
	else
		rc = o2_complain(a->name, "check: %s: %s", a->options.corpus, strerror(ENOTDIR));
	if (rc == 0)
		rc = o2_check_open_files(a);
	if (rc == 0 && a->since != NULL)
		rc = read_since(a);
	if (rc == 0)
		rc = read_judgement(a, &map, &known);
	for (uint32_t i = 0; rc == 0 && i < count; i++) {
		subjects[i].map = &map;
		subjects[i].known = &known;
		rc = run_subject(a, i, &subjects[i]);
	}
	if (rc == 0)
		result = o2_check_result(&a->options, subjects, count);
	if (rc == 0)
		rc = result == NULL ? no_memory(a) : report(a, result);
	o2_out_files_drop(a->report, O2_CHECK_REPORTS);
	json_decref(result);
	json_decref((json_t *)(uintptr_t)a->options.since);
	for (uint32_t i = 0; subjects != NULL && i < count; i++) {
		if (subjects[i].host != NULL)
			subjects[i].host->ops->close(subjects[i].host);
		o2_check_subject_free(&subjects[i]);
	}
	free(subjects);
	o2_error_map_free(&map);
	o2_known_free(&known);
	return rc;
}

static struct o2_check_arguments arguments; /* global for the signal handler */

static void leave_no_files(void)
{
	o2_out_files_remove(arguments.report, O2_CHECK_REPORTS);
}

int o2_check_command(const char *program, int argc, char **argv)
{
	struct o2_check_arguments *a = &arguments;
	const int first = o2_check_parse(program, argc, argv, a);

	if (first <= 0)
		return first < 0 ? O2_CHECK_EXIT_USAGE : O2_CHECK_EXIT_AGREE;
	/* A child that stops reading must become a finding, not end this process. */
	signal(SIGPIPE, SIG_IGN);
	o2_child_end_with_us(leave_no_files);
	switch (a->action) {
	case O2_CHECK_ACTION_LIST:
		list_checks();
		return O2_CHECK_EXIT_AGREE;
	case O2_CHECK_ACTION_SELFTEST:
		return o2_oracle_selftest(a->program, a->host.timeout_ms, stdout);
	case O2_CHECK_ACTION_FUZZ:
		return o2_check_fuzz(a);
	case O2_CHECK_ACTION_CHECK:
		break;
	}
	return check(a);
}
