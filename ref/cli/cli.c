/* SPDX-License-Identifier: MIT */
#include "cli/cli.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#include "base/complain.h"

void o2_cli_complain(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	o2_vcomplain("o2ref", format, arguments);
	va_end(arguments);
}

bool o2_cli_sibling(const char *program, char *path, size_t bytes)
{
	const ssize_t length = readlink("/proc/self/exe", path, bytes);
	char *slash;

	if (length <= 0 || (size_t)length + strlen(program) + 2 > bytes) {
		o2_cli_complain("/proc/self/exe: %s", strerror(length <= 0 ? errno : ENAMETOOLONG));
		return false;
	}
	path[length] = '\0';
	slash = strrchr(path, '/');
	strcpy(slash == NULL ? path : slash + 1, program);
	return true;
}

int o2_cli_finish(FILE *out, int status)
{
	if (fflush(out) == 0 && !ferror(out))
		return status;
	o2_cli_complain("standard output: %s", strerror(errno));
	return O2_CLI_USAGE;
}
