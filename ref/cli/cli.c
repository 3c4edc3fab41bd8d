/* SPDX-License-Identifier: MIT */
#include "cli/cli.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>

#include "base/complain.h"

void o2_cli_complain(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	o2_vcomplain("o2ref", format, arguments);
	va_end(arguments);
}

int o2_cli_finish(FILE *out, int status)
{
	if (fflush(out) == 0 && !ferror(out))
		return status;
	o2_cli_complain("standard output: %s", strerror(errno));
	return O2_CLI_USAGE;
}
