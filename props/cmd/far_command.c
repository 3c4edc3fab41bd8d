/* SPDX-License-Identifier: MIT */
#include "props/cmd/far_command.h"

#include <ctype.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/own_path.h"
#include "props/cmd/rung_open.h"

#define ARGUMENTS 12u

/* These words pass through our shell and the far one, so they must contain no special characters. */
static const char *plain(const char *what, const char *text)
{
	for (const char *c = text; *c != '\0'; c++)
		if (!isalnum((unsigned char)*c) && strchr("/_.:@%+=,-", *c) == NULL)
			exit(o2_complain(
				"o2props",
				"%s '%s' goes through a shell at the far end, which reads '%c' itself", what,
				text, *c));
	return text;
}

static const char *own_path(void)
{
	static char path[PATH_MAX];

	if (o2_own_path(NULL, path, sizeof(path)) != 0)
		exit(o2_complain("o2props", "cannot tell this program's path; --far-program PATH says it"));
	return path;
}

const struct o2_far_config *o2_far_options(struct o2_props_arguments *a, const char *device)
{
	static const char *argv[ARGUMENTS];
	static struct o2_far_config config;
	struct o2_error error = {0};
	char text[200];
	uint32_t n = 0;

	if (strlen(a->far) >= O2_FAR_WORDS_BYTES)
		exit(o2_complain("o2props", "--far has %zu characters, at most %u can be", strlen(a->far),
				 O2_FAR_WORDS_BYTES - 1));
	config = (struct o2_far_config){
		.words = a->far,
		.argv = argv,
		.side = (enum o2_side)a->far_side,
		.timeout_ms = a->far_timeout_s * 1000,
	};
	argv[n++] = plain("the program's path", a->far_program != NULL ? a->far_program : own_path());
	argv[n++] = "far";
	argv[n++] = "--device";
	argv[n++] = plain("device", device);
	argv[n++] = "--far-side";
	argv[n++] = o2_props_sides[config.side];
	if (a->mutant != NULL) {
		argv[n++] = "--mutant";
		argv[n++] = plain("mutant", a->mutant);
	}
	if (a->no_judge)
		argv[n++] = "--no-judge";
	argv[n] = NULL;
	if (o2_far_identity(&config.identity, &error) != 0) {
		o2_error_text(&error, text, sizeof(text));
		exit(o2_complain("o2props", "%s", text));
	}
	return &config;
}

int o2_far_command(struct o2_props_arguments *a, o2_network_open_fn open_network)
{
	struct o2_far_served served = {
		.end = {.side = (enum o2_side)a->far_side},
		.open_network = open_network,
		.deserted_ms = O2_FAR_DESERTED_MS,
	};
	struct o2_error error = {0};
	const char *device[2];
	char text[200];
	int rc;

	o2_rung_devices(a, device, &served.end.gid_index);
	served.end.device = device[served.end.side];
	/* Both streams belong to the near end, so other output goes to standard error. */
	served.in = dup(STDIN_FILENO);
	served.out = dup(STDOUT_FILENO);
	if (served.in < 0 || served.out < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
		return o2_complain("o2props", "far: standard input or output is closed");
	signal(SIGPIPE, SIG_IGN);
	rc = o2_far_identity(&served.identity, &error);
	if (rc == 0)
		rc = o2_far_serve(&served, &error);
	if (rc == 0)
		return 0;
	o2_error_text(&error, text, sizeof(text));
	o2_complain("o2props", "far: %s", text);
	return O2_PROPS_EXIT_CANNOT;
}
