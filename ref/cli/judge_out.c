/* SPDX-License-Identifier: MIT */
#include "cli/judge_out.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/judge_junit.h"
#include "cli/judge_sarif.h"

struct file {
	const char *path;
	FILE *out; /* NULL: not wanted */
	int error; /* errno of the first write that failed; 0: none */
};

struct o2_judge_out {
	struct file junit, sarif;
	json_t *log; /* SARIF; NULL: not wanted, or memory ran out */
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

struct o2_judge_out *o2_judge_out_open(const struct o2_judge_out_options *options)
{
	struct o2_judge_out *out = calloc(1, sizeof(*out));

	if (out == NULL) {
		o2_cli_complain("not enough memory");
		return NULL;
	}
	if (!open_file(&out->junit, options->junit) || !open_file(&out->sarif, options->sarif)) {
		close_file(&out->junit);
		close_file(&out->sarif);
		free(out);
		return NULL;
	}
	if (out->junit.out != NULL)
		o2_judge_junit_begin(out->junit.out);
	if (out->sarif.out != NULL)
		out->log = o2_judge_sarif_begin(O2_VERSION);
	return out;
}

void o2_judge_out_add(struct o2_judge_out *out, const struct o2_judge_result *result)
{
	if (out->junit.out != NULL) {
		o2_judge_junit_add(result, out->junit.out);
		look(&out->junit);
	}
	if (out->log != NULL)
		out->log = o2_judge_sarif_add(out->log, result);
}

int o2_judge_out_close(struct o2_judge_out *out, int status)
{
	if (out->junit.out != NULL)
		o2_judge_junit_end(out->junit.out);
	if (!close_file(&out->junit))
		status = O2_CLI_USAGE;
	if (out->sarif.out != NULL && out->log == NULL) {
		o2_cli_complain("%s: not enough memory", out->sarif.path);
		status = O2_CLI_USAGE;
	}
	/* What it could not write, its stream knows as well. */
	if (out->log != NULL && json_dumpf(out->log, out->sarif.out, JSON_INDENT(1)) == 0)
		putc('\n', out->sarif.out);
	json_decref(out->log);
	if (!close_file(&out->sarif))
		status = O2_CLI_USAGE;
	free(out);
	return status;
}
