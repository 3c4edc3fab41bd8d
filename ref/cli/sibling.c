/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"

#define MAX_ARGUMENTS 64

/*
 * Replace this process by another program of the same folder, with our arguments.  Returns only on failure.
 */
static int become(const char *program, int argc, char **argv)
{
	static char name[] = "o2ref";
	char path[PATH_MAX];
	char *arguments[MAX_ARGUMENTS + 2] = {name};

	if (argc > MAX_ARGUMENTS)
		return o2_complain("o2ref", "too many arguments (%d, at most %d; see: o2ref %s --help)",
				   argc - 1, MAX_ARGUMENTS - 1, argv[0]);
	for (int i = 0; i < argc; i++)
		arguments[i + 1] = argv[i];
	if (!o2_cli_sibling(program, path, sizeof(path)))
		return O2_CLI_USAGE;
	execv(path, arguments);
	o2_cli_complain("%s: %s", path, strerror(errno));
	return O2_CLI_USAGE;
}

/* The property runner has the scenarios, the generators and the memory model; the library has none of them. */
int o2_cli_props(int argc, char **argv)
{
	return become("o2props", argc, argv);
}

/* The last value of --device, as getopt_long(3) reads it; no other option begins with --d.  NULL: none. */
static const char *device_said(int argc, char **argv)
{
	static const char option[] = "--device";
	const char *said = NULL;

	for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
		const size_t length = strcspn(argv[i], "=");

		if (length < sizeof("--d") - 1 || strncmp(argv[i], option, length) != 0)
			continue;
		if (argv[i][length] == '=')
			said = argv[i] + length + 1;
		else if (i + 1 < argc)
			said = argv[++i];
	}
	return said;
}

/* Devices are linked in: o2ref-net has those of the machine, o2ref-net-loop the one in the process. */
int o2_cli_net(int argc, char **argv)
{
	const char *device = device_said(argc, argv);

	return become(device != NULL && strcmp(device, "loop") == 0 ? "o2ref-net-loop" : "o2ref-net", argc,
		      argv);
}
