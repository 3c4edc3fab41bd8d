/* SPDX-License-Identifier: MIT */
#include "cli/judge_out.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/out_file.h"
#include "cli/cli.h"
#include "cli/judge_junit.h"
#include "cli/judge_page.h"
#include "cli/judge_sarif.h"

#define PROGRAM "o2ref"

enum { HTML, JUNIT, SARIF, FILES };

struct o2_judge_out {
	uint32_t first_events;
	struct o2_out_file file[FILES];
	struct o2_judge_page *page; /* NULL: not wanted */
	struct o2_ladder *ladder;   /* of the current capture; NULL: none */
	json_t *log;		    /* SARIF; NULL: not wanted, or memory ran out */
};

static bool close_all(struct o2_judge_out *out)
{
	bool good = true;

	for (uint32_t i = 0; i < FILES; i++)
		good = o2_out_file_close(PROGRAM, &out->file[i]) && good;
	return good;
}

static bool open_all(struct o2_judge_out *out, const struct o2_judge_out_options *options)
{
	struct o2_out_file *file = out->file;

	if (!o2_out_file_open(PROGRAM, &file[HTML], "--html", options->html, false) ||
	    !o2_out_file_open(PROGRAM, &file[JUNIT], "--junit", options->junit, false) ||
	    !o2_out_file_open(PROGRAM, &file[SARIF], "--sarif", options->sarif, false))
		return false;
	if (!o2_out_files_are_own(PROGRAM, file, FILES))
		return false;
	for (uint32_t i = 0; i < options->ncaptures; i++)
		if (!o2_out_files_spare(PROGRAM, file, FILES, options->captures[i],
					"the capture that is read"))
			return false;
	for (uint32_t i = 0; i < FILES; i++)
		if (!o2_out_file_empty(PROGRAM, &file[i]))
			return false;
	if (out->file[HTML].out != NULL)
		out->page = o2_judge_page_new(out->file[HTML].out);
	if (out->file[HTML].out != NULL && out->page == NULL)
		o2_cli_complain("temporary file for the HTML page: %s", strerror(errno));
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
		o2_out_files_drop(out->file, FILES);
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
		o2_out_file_look(&out->file[JUNIT]);
	}
	if (out->log != NULL)
		out->log = o2_judge_sarif_add(out->log, result);
}

/* Errors of writing are found in the streams, by close_all. */
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
