/* SPDX-License-Identifier: MIT */
#include "cli/cli.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>

#include "base/complain.h"
#include "base/error.h"
#include "base/own_path.h"
#include "base/plain.h"

void o2_cli_complain(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	o2_vcomplain("o2ref", format, arguments);
	va_end(arguments);
}

void o2_cli_complain_error(const char *what, const struct o2_error *error)
{
	char text[256];

	o2_error_text(error, text, sizeof(text));
	o2_cli_complain("%s: %s", what, text);
}

void o2_cli_complain_json(const char *of)
{
	if (!ferror(stdout))
		o2_cli_complain("%s%snot enough memory for the JSON form", of, of[0] == '\0' ? "" : ": ");
}

void o2_cli_heading(const char *file, bool first)
{
	fputs(first ? "== " : "\n== ", stdout);
	o2_print_plain(file, stdout);
	fputs(" ==\n", stdout);
}

bool o2_cli_sibling(const char *program, char *path, size_t bytes)
{
	const int rc = o2_own_path(program, path, bytes);

	if (rc != 0)
		o2_cli_complain("/proc/self/exe: %s", strerror(-rc));
	return rc == 0;
}

int o2_cli_finish(FILE *out, int status)
{
	if (fflush(out) == 0 && !ferror(out))
		return status;
	o2_cli_complain("standard output: %s", strerror(-o2_errno_or(errno, EIO)));
	return O2_CLI_USAGE;
}

int o2_cli_read_status(int rc)
{
	if (rc == 0)
		return O2_CLI_OK;
	return rc == -EIO || rc == -ENOMEM ? O2_CLI_USAGE : O2_CLI_REFUSED;
}
