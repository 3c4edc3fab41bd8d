/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"

/*
 * Scenarios and the memory model are the property runner's, and the library knows nothing of them, so this
 * command becomes that program: o2props in the directory of o2ref.
 */
int o2_cli_explain(int argc, char **argv)
{
	static char name[] = "o2ref";
	const char sibling[] = "o2props";
	char path[PATH_MAX];
	char *arguments[64] = {name};
	const ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - sizeof(sibling));
	char *slash;

	if (argc + 1 >= (int)(sizeof(arguments) / sizeof(arguments[0])))
		return o2_cli_usage("explain", "%d arguments are too many", argc - 1);
	for (int i = 0; i < argc; i++)
		arguments[i + 1] = argv[i];
	if (length <= 0) {
		o2_cli_complain("/proc/self/exe: %s", strerror(errno));
		return O2_CLI_USAGE;
	}
	path[length] = '\0';
	slash = strrchr(path, '/');
	strcpy(slash == NULL ? path : slash + 1, sibling);
	execv(path, arguments);
	o2_cli_complain("%s: %s", path, strerror(errno));
	return O2_CLI_USAGE;
}
