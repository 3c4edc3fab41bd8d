/* SPDX-License-Identifier: MIT */
#include "props/cmd/check_files.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/json.h"
#include "props/check/check_view.h"
#include "props/check/reproducer.h"

#define NAME_BYTES   128u
#define REASON_BYTES 64u /* of a file name; a longer reason does not help a reader */

/* Append letters and digits in lower case, and one dash for each run of other characters. */
static void append_words(char *name, size_t name_bytes, const char *text)
{
	size_t n = strlen(name);

	for (; *text != '\0' && n + 2 < name_bytes; text++) {
		const bool word = isalnum((unsigned char)*text) || *text == '_';

		if (word)
			name[n++] = (char)tolower((unsigned char)*text);
		else if (n > 0 && name[n - 1] != '-')
			name[n++] = '-';
	}
	while (n > 0 && name[n - 1] == '-')
		n--;
	name[n] = '\0';
}

/* Make a file name that no other cause of this run has. */
static void name_file(uint32_t index, const json_t *finding, json_t *names, char *name, size_t name_bytes)
{
	char reason[REASON_BYTES] = "";
	size_t base;

	append_words(reason, sizeof(reason), o2_view_text(finding, "reason"));
	snprintf(name, name_bytes, "%" PRIu32 "-%s-", index, o2_view_text(finding, "stage"));
	append_words(name, name_bytes - sizeof(reason) - 8, o2_view_text(finding, "check"));
	base = strlen(name);
	snprintf(name + base, name_bytes - base, "-%s", reason);
	base = strlen(name);
	for (uint32_t again = 2; json_object_get(names, name) != NULL; again++)
		snprintf(name + base, name_bytes - base, "-%" PRIu32, again);
	json_object_set_new(names, name, json_true());
}

static bool spare(const struct o2_check_arguments *a, const char *path, const char *what)
{
	return o2_out_files_spare(a->name, a->report, O2_CHECK_REPORTS, path, what);
}

/* Refuse to overwrite files that are read, also among a program's words, which may be an interpreter's script. */
static bool spare_what_is_read(const struct o2_check_arguments *a)
{
	static const char tested[] = "what is tested";
	bool well = spare(a, a->map, "the error map") &&
		    spare(a, a->known, "the list of known differences") &&
		    spare(a, a->options.case_file, "the case that is asked") &&
		    o2_out_files_spare(a->name, a->report + O2_CHECK_HTML, O2_CHECK_REPORTS - O2_CHECK_HTML,
				       a->since, "the earlier result");

	for (uint32_t i = 0; i < a->files && well; i++)
		well = spare(a, a->file[i], tested);
	for (char *const *word = a->program; word != NULL && *word != NULL && well; word++)
		well = spare(a, *word, tested);
	return well;
}

/* A report among the cases of the corpus would be taken for one of them, now or next time. */
static bool spare_corpus(const struct o2_check_arguments *a)
{
	for (uint32_t i = 0; a->options.corpus != NULL && i < O2_CHECK_REPORTS; i++)
		if (a->report[i].out != NULL && a->report[i].out != stdout &&
		    o2_check_corpus_reads(a->options.corpus, a->report[i].path)) {
			o2_complain(a->name,
				    "%s: this would be read as a case of the corpus, so %s cannot write it",
				    a->report[i].path, a->report[i].option);
			return false;
		}
	return true;
}

/* Make the folder.  Returns 0 or an errno. */
static int make_folder(const char *path)
{
	struct stat is;

	if (mkdir(path, 0777) == 0)
		return 0;
	if (errno != EEXIST)
		return errno;
	return stat(path, &is) != 0 ? errno : S_ISDIR(is.st_mode) ? 0 : ENOTDIR;
}

int o2_check_open_files(struct o2_check_arguments *a)
{
	const bool well = o2_out_file_open(a->name, &a->report[O2_CHECK_JSON], "--json", a->json, true) &&
			  o2_out_file_open(a->name, &a->report[O2_CHECK_HTML], "--html", a->html, true) &&
			  o2_out_file_open(a->name, &a->report[O2_CHECK_JUNIT], "--junit", a->junit, true) &&
			  o2_out_files_are_own(a->name, a->report, O2_CHECK_REPORTS) &&
			  spare_what_is_read(a) && spare_corpus(a);
	int error;

	if (!well)
		return O2_CHECK_EXIT_USAGE;
	error = a->out_dir == NULL ? 0 : make_folder(a->out_dir);
	return error == 0 ? 0 : o2_complain(a->name, "%s: %s", a->out_dir, strerror(error));
}

/* Write the C file.  If the question cannot be written, no file is left. */
static int write_program(const struct o2_check_arguments *a, uint32_t index, json_t *finding,
			 const char *name, const char *path)
{
	char library[PATH_MAX], file[NAME_BYTES + 2];
	FILE *out = fopen(path, "w");
	bool made, failed;

	if (out == NULL)
		return o2_complain(a->name, "check: %s: %s", path, strerror(errno));
	/* dlopen searches other folders for a name without a slash. */
	snprintf(library, sizeof(library), "%s%s", strchr(a->file[index], '/') == NULL ? "./" : "",
		 a->file[index]);
	snprintf(file, sizeof(file), "%s.c", name);
	errno = 0;
	made = o2_reproducer(finding, a->options.profile, library, file, out);
	failed = ferror(out) != 0;
	if (fclose(out) != 0 || failed)
		return o2_complain(a->name, "check: %s: %s", path, strerror(errno != 0 ? errno : EIO));
	if (made)
		json_object_set_new(finding, "reproducer", o2_json_text(path));
	else
		remove(path);
	return 0;
}

int o2_check_write_files(const struct o2_check_arguments *a, uint32_t index, json_t *finding, json_t *names,
			 char *path, size_t path_bytes)
{
	char name[NAME_BYTES], program[PATH_MAX];

	name_file(index, finding, names, name, sizeof(name));
	snprintf(path, path_bytes, "%s/%s.json", a->out_dir, name);
	errno = 0;
	if (json_dump_file(json_object_get(finding, "question"), path, JSON_INDENT(1)) != 0)
		return o2_complain(a->name, "check: %s: %s", path, strerror(errno != 0 ? errno : ENOMEM));
	if (index >= a->files || !o2_check_is_library(a->file[index]))
		return 0;
	snprintf(program, sizeof(program), "%s/%s.c", a->out_dir, name);
	return write_program(a, index, finding, name, program);
}
