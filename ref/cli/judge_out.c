/* SPDX-License-Identifier: MIT */
#include "cli/judge_out.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/judge_junit.h"
#include "cli/judge_page.h"
#include "cli/judge_sarif.h"

struct file {
	const char *path;
	FILE *out; /* NULL: not wanted */
	int error; /* errno of the first write that failed; 0: none */
};

struct o2_judge_out {
	uint32_t first_events;
	struct file html, junit, sarif;
	struct o2_judge_page *page; /* NULL: not wanted */
	struct o2_ladder *ladder;   /* of the capture at work; NULL: none */
	json_t *log;		    /* SARIF; NULL: not wanted, or memory ran out */
};

static bool open_file(struct file *file, const char *path)
{
	if (path == NULL)
		return true;
	file->path = path;
	file->out = fopen(path, "w");
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
	const bool html = close_file(&out->html), junit = close_file(&out->junit);

	return close_file(&out->sarif) && html && junit;
}

static bool open_all(struct o2_judge_out *out, const struct o2_judge_out_options *options)
{
	if (!open_file(&out->html, options->html) || !open_file(&out->junit, options->junit) ||
	    !open_file(&out->sarif, options->sarif))
		return false;
	if (out->html.out != NULL)
		out->page = o2_judge_page_new(out->html.out);
	if (out->html.out != NULL && out->page == NULL)
		o2_cli_complain("a file for a part of the page: %s", strerror(errno));
	return (out->page != NULL) == (out->html.out != NULL);
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
	if (out->junit.out != NULL)
		o2_judge_junit_begin(out->junit.out);
	if (out->sarif.out != NULL)
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
	if (out->junit.out != NULL) {
		o2_judge_junit_add(result, out->junit.out);
		look(&out->junit);
	}
	if (out->log != NULL)
		out->log = o2_judge_sarif_add(out->log, result);
}

/* What they could not write, their streams know. */
static bool end_all(struct o2_judge_out *out)
{
	bool good = true;

	errno = 0;
	if (out->page != NULL && !o2_judge_page_end(out->page) && out->html.error == 0)
		out->html.error = errno != 0 ? errno : ENOMEM;
	if (out->junit.out != NULL)
		o2_judge_junit_end(out->junit.out);
	if (out->log != NULL && json_dumpf(out->log, out->sarif.out, JSON_INDENT(1)) == 0) {
		putc('\n', out->sarif.out);
	} else if (out->sarif.out != NULL && !ferror(out->sarif.out)) {
		o2_cli_complain("%s: not enough memory", out->sarif.path);
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
