/* SPDX-License-Identifier: MIT */
#include "cli/judge_out.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/judge_junit.h"
#include "cli/judge_page.h"
#include "cli/judge_sarif.h"

struct file {
	const char *option, *path;
	FILE *out; /* NULL: not wanted */
	int error; /* errno of the first write that failed; 0: none */
};

enum { HTML, JUNIT, SARIF, FILES };

struct o2_judge_out {
	uint32_t first_events;
	struct file file[FILES];
	struct o2_judge_page *page; /* NULL: not wanted */
	struct o2_ladder *ladder;   /* of the capture at work; NULL: none */
	json_t *log;		    /* SARIF; NULL: not wanted, or memory ran out */
};

/* What it holds stays until it is known to be nobody else's (own_files). */
static bool open_file(struct file *file, const char *option, const char *path)
{
	if (path == NULL)
		return true;
	file->option = option;
	file->path = path;
	file->out = fopen(path, "a");
	if (file->out == NULL)
		o2_cli_complain("%s: %s", path, strerror(errno));
	return file->out != NULL;
}

/* Something was written just now: a stream that has failed forgets why. */
static void look(struct file *file)
{
	if (file->error == 0 && ferror(file->out))
		file->error = errno != 0 ? errno : EIO;
}

/* Close it and see that all of it was written. */
static bool close_file(struct file *file)
{
	if (file->out == NULL)
		return true;
	look(file);
	if (fflush(file->out) != 0)
		look(file);
	if (fclose(file->out) != 0 && file->error == 0)
		file->error = errno;
	file->out = NULL;
	if (file->error != 0)
		o2_cli_complain("%s: %s", file->path, strerror(file->error));
	return file->error == 0;
}

static bool close_all(struct o2_judge_out *out)
{
	bool good = true;

	for (uint32_t i = 0; i < FILES; i++)
		good = close_file(&out->file[i]) && good;
	return good;
}

/* Only what is in a file of the disk can be lost. */
static bool is_on_disk(const struct file *file, struct stat *is)
{
	return file->out != NULL && fstat(fileno(file->out), is) == 0 && S_ISREG(is->st_mode);
}

static bool is_same(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* A file that is read, or that another option writes, is refused; a terminal or a pipe may be two of them. */
static bool own_file(const struct file *file, const struct file *before,
		     const struct o2_judge_out_options *options)
{
	struct stat is, other;

	if (!is_on_disk(file, &is))
		return true;
	for (; before != file; before++)
		if (is_on_disk(before, &other) && is_same(&is, &other)) {
			o2_cli_complain("%s: %s writes this file, and so does %s", file->path, before->option,
					file->option);
			return false;
		}
	for (uint32_t i = 0; i < options->ncaptures; i++)
		if (stat(options->captures[i], &other) == 0 && is_same(&is, &other)) {
			o2_cli_complain("%s: this is the capture that is read, so %s cannot write it",
					file->path, file->option);
			return false;
		}
	return true;
}

static bool empty_file(const struct file *file)
{
	struct stat is;

	if (!is_on_disk(file, &is) || ftruncate(fileno(file->out), 0) == 0)
		return true;
	o2_cli_complain("%s: %s", file->path, strerror(errno));
	return false;
}

static bool open_all(struct o2_judge_out *out, const struct o2_judge_out_options *options)
{
	struct file *files = out->file;

	if (!open_file(&files[HTML], "--html", options->html) ||
	    !open_file(&files[JUNIT], "--junit", options->junit) ||
	    !open_file(&files[SARIF], "--sarif", options->sarif))
		return false;
	for (uint32_t i = 0; i < FILES; i++)
		if (!own_file(&files[i], files, options))
			return false;
	for (uint32_t i = 0; i < FILES; i++)
		if (!empty_file(&files[i]))
			return false;
	if (out->file[HTML].out != NULL)
		out->page = o2_judge_page_new(out->file[HTML].out);
	if (out->file[HTML].out != NULL && out->page == NULL)
		o2_cli_complain("a file for a part of the page: %s", strerror(errno));
	return (out->page != NULL) == (out->file[HTML].out != NULL);
}

struct o2_judge_out *o2_judge_out_open(const struct o2_judge_out_options *options)
{
	struct o2_judge_out *out = calloc(1, sizeof(*out));

	if (out == NULL) {
		o2_cli_complain("not enough memory");
		return NULL;
	}
	if (!open_all(out, options)) {
		close_all(out);
		free(out);
		return NULL;
	}
	out->first_events = options->first_events;
	if (out->file[JUNIT].out != NULL)
		o2_judge_junit_begin(out->file[JUNIT].out);
	if (out->file[SARIF].out != NULL)
		out->log = o2_judge_sarif_begin(O2_VERSION);
	return out;
}

bool o2_judge_out_begin(struct o2_judge_out *out, struct o2_judge *judge, const struct o2_wire_options *wire)
{
	if (out->page == NULL)
		return true;
	out->ladder = o2_ladder_new(out->first_events, wire);
	if (out->ladder != NULL)
		o2_judge_listen(judge, o2_ladder_hear, out->ladder);
	return out->ladder != NULL;
}

void o2_judge_out_hear(struct o2_judge_out *out, const struct o2_event *event)
{
	if (out->ladder != NULL)
		out->ladder->now = event;
}

void o2_judge_out_find(struct o2_judge_out *out, const struct o2_judge_finding *finding)
{
	if (out->ladder != NULL)
		o2_ladder_find(out->ladder, finding);
}

void o2_judge_out_add(struct o2_judge_out *out, const struct o2_judge_result *result)
{
	if (out->page != NULL)
		o2_judge_page_add(out->page, result, out->ladder);
	o2_ladder_free(out->ladder);
	out->ladder = NULL;
	if (out->file[JUNIT].out != NULL) {
		o2_judge_junit_add(result, out->file[JUNIT].out);
		look(&out->file[JUNIT]);
	}
	if (out->log != NULL)
		out->log = o2_judge_sarif_add(out->log, result);
}

/* What they could not write, their streams know. */
static bool end_all(struct o2_judge_out *out)
{
	bool good = true;

	errno = 0;
	if (out->page != NULL && !o2_judge_page_end(out->page) && out->file[HTML].error == 0)
		out->file[HTML].error = errno != 0 ? errno : ENOMEM;
	if (out->file[JUNIT].out != NULL)
		o2_judge_junit_end(out->file[JUNIT].out);
	if (out->log != NULL && json_dumpf(out->log, out->file[SARIF].out, JSON_INDENT(1)) == 0) {
		putc('\n', out->file[SARIF].out);
	} else if (out->file[SARIF].out != NULL && !ferror(out->file[SARIF].out)) {
		o2_cli_complain("%s: not enough memory", out->file[SARIF].path);
		good = false;
	}
	json_decref(out->log);
	return good;
}

int o2_judge_out_close(struct o2_judge_out *out, int status)
{
	const bool ended = end_all(out);

	if (!close_all(out) || !ended)
		status = O2_CLI_USAGE;
	free(out);
	return status;
}
