/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "props/cmd/options.h"
#include "props/engine/shell_word.h"

/* The options of a replay line. */

static void add_far(const struct o2_props_arguments *a, FILE *out)
{
	fputs(" --far ", out);
	o2_shell_quoted(a->far, out);
	fprintf(out, " --far-side %s", o2_props_sides[a->far_side]);
	if (a->far_program != NULL) {
		fputs(" --far-program ", out);
		o2_shell_word(a->far_program, out);
	}
	if (a->far_timeout_s != O2_FAR_TIMEOUT_S)
		fprintf(out, " --far-timeout %" PRIu32, a->far_timeout_s);
}

/* The GID index as given, or a device's default from the environment, which a replay line does not repeat. */
static void add_gid_index(const struct o2_props_arguments *a, FILE *out)
{
	int64_t index = a->gid_index;

	if (index < 0 && a->run.hw_device[0] != NULL && o2_props_gid_index() != O2_PROPS_GID_INDEX)
		index = o2_props_gid_index();
	if (index >= 0)
		fprintf(out, " --gid-index %" PRId64, index);
}

static void add_space(const struct o2_props_arguments *a, FILE *out)
{
	const char *before = " --modes ";

	for (uint32_t mode = 0; mode < O2_REG_MODES; mode++)
		if (a->mode[mode]) {
			fprintf(out, "%s%s", before, o2_reg_mode_name(mode));
			before = ",";
		}
	if (a->max_bytes != O2_MAX_TRANSFER_BYTES)
		fprintf(out, " --max-bytes %" PRIu64, a->max_bytes);
}

const char *o2_props_again(const struct o2_props_arguments *a)
{
	static char *text; /* result of the last call */
	size_t bytes;
	FILE *out;

	free(text);
	text = NULL;
	out = open_memstream(&text, &bytes);
	if (out == NULL)
		return "...";
	fprintf(out, "--device %s", a->device);
	if (a->far != NULL)
		add_far(a, out);
	else if (strcmp(a->connect, O2_RUN_CONNECT_DIRECT) != 0)
		fprintf(out, " --connect %s", a->connect);
	add_gid_index(a, out);
	add_space(a, out);
	if (a->mutant != NULL)
		fprintf(out, " --mutant %s", a->mutant);
	if (a->only != NULL) {
		fputs(" --only ", out);
		o2_shell_word(a->only, out);
	}
	/* The judge may see another kind of failure first. */
	if (a->no_judge)
		fputs(" --no-judge", out);
	return fclose(out) == 0 ? text : "...";
}
