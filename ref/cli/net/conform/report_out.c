/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/markup.h"
#include "cli/cli.h"
#include "cli/net/conform/report.h"
#include "wire/nid.h"

/* The files of --out. */

static void put_case(const struct o2_conform_report *report, const struct o2_conform_row *row, FILE *out)
{
	const struct o2_conform_result *result = &row->result;
	char again[1024];

	o2_markup(out, "  <testcase classname=\"o2ref.conform\" name=\"%s\"", row->id);
	fprintf(out, " time=\"%.3f\">", (double)result->took_ns / 1e9);
	o2_conform_again(report, row->again, again, sizeof(again));
	if (result->outcome == O2_CONFORM_FINDING)
		o2_markup(out, "<failure message=\"%s\">rule: %s (docs/%s)\nagain: %s\n</failure>",
			  result->text, row->sentence, row->source, again);
	else if (result->outcome == O2_CONFORM_NOT_TRIED)
		o2_markup(out, "<skipped message=\"%s\"/>", result->text);
	else if (result->outcome != O2_CONFORM_HOLDS)
		o2_markup(out, "<system-out>%s: %s</system-out>",
			  result->outcome == O2_CONFORM_TOLERATED ? "tolerated" : "known", result->text);
	fputs("</testcase>\n", out);
}

static bool put_junit(const struct o2_conform_report *report, FILE *out)
{
	char nid[O2_NID_TEXT_BYTES];

	o2_nid_to_text(report->options->peer, nid, sizeof(nid));
	fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n", out);
	o2_markup(out, "<testsuites name=\"o2ref conform\">\n <testsuite name=\"%s\"", nid);
	fprintf(out,
		" tests=\"%" PRIu32 "\" failures=\"%" PRIu32 "\" errors=\"%u\" skipped=\"%" PRIu32 "\">\n",
		report->nrows + (report->why != NULL), report->count[O2_CONFORM_FINDING], report->why != NULL,
		report->count[O2_CONFORM_NOT_TRIED]);
	/* Who reads only this file must not take the run for a whole one. */
	if (report->why != NULL)
		o2_markup(out,
			  "  <testcase classname=\"o2ref.conform\" name=\"run\"><error message=\"%s\"/>"
			  "</testcase>\n",
			  report->why);
	for (uint32_t i = 0; i < report->nrows; i++)
		put_case(report, &report->rows[i], out);
	fputs(" </testsuite>\n</testsuites>\n", out);
	return true;
}

static bool put_text(const struct o2_conform_report *report, FILE *out)
{
	o2_conform_report_text(report, out);
	return true;
}

static bool write_file(const struct o2_conform_report *report, const char *name,
		       bool (*put)(const struct o2_conform_report *report, FILE *out))
{
	char path[PATH_MAX];
	FILE *out;
	bool ok, starved;

	snprintf(path, sizeof(path), "%s/%s", report->options->out, name);
	out = fopen(path, "w");
	ok = out != NULL && put(report, out);
	/* If the stream has no error, memory for the contents ran out. */
	starved = out != NULL && !ok && ferror(out) == 0;
	ok = ok && ferror(out) == 0;
	if (out != NULL && fclose(out) != 0)
		ok = false;
	if (!ok)
		o2_cli_complain("%s: %s", path, strerror(starved ? ENOMEM : -o2_errno_or(errno, EIO)));
	return ok;
}

#define LONGEST_NAME "report.junit.xml"

static const struct {
	const char *name;
	bool (*put)(const struct o2_conform_report *report, FILE *out);
} files[] = {
	{"report.txt", put_text},
	{"report.json", o2_conform_report_json},
	{LONGEST_NAME, put_junit},
};

bool o2_conform_report_files(const struct o2_conform_report *report)
{
	bool ok = true;

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		ok &= write_file(report, files[i].name, files[i].put);
	return ok;
}

/* Make a folder, or find it.  Returns 0, or an errno: no files can be written there. */
static int make_folder(const char *path)
{
	struct stat there;

	/* Behind it the longest name of a file must fit. */
	if (strlen(path) + sizeof("/" LONGEST_NAME) > PATH_MAX)
		return ENAMETOOLONG;
	if (mkdir(path, 0777) == 0)
		return 0;
	if (errno != EEXIST)
		return errno;
	if (stat(path, &there) == 0 && !S_ISDIR(there.st_mode))
		return ENOTDIR;
	return access(path, W_OK | X_OK) == 0 ? 0 : errno;
}

static void remove_file(const char *folder, const char *name)
{
	char path[PATH_MAX];
	struct stat there;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	if (lstat(path, &there) == 0 && S_ISREG(there.st_mode))
		unlink(path);
}

bool o2_conform_report_prepare(const char *folder)
{
	const int code = folder == NULL ? 0 : make_folder(folder);

	if (code != 0)
		o2_cli_complain("%s: %s", folder, strerror(code));
	if (code != 0 || folder == NULL)
		return code == 0;
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		remove_file(folder, files[i].name);
	remove_file(folder, O2_CONFORM_SAID);
	return true;
}
