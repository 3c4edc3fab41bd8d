/* SPDX-License-Identifier: MIT */
#include "cli/cli.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/plain.h"

/* One line, and nothing that a terminal would obey: names and JSON come from outside. */
static void complain(const char *format, va_list arguments)
{
	char text[1024];

	vsnprintf(text, sizeof(text), format, arguments);
	o2_make_plain(text);
	fprintf(stderr, "o2ref: %s", text);
}

void o2_cli_complain(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	complain(format, arguments);
	va_end(arguments);
	fputc('\n', stderr);
}

int o2_cli_usage(const char *command, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	complain(format, arguments);
	va_end(arguments);
	fprintf(stderr, " (see: o2ref %s --help)\n", command);
	return O2_CLI_USAGE;
}

bool o2_cli_color(const char *when, FILE *out, bool *color)
{
	const char *no_color = getenv("NO_COLOR");

	*color = strcmp(when, "always") == 0;
	if (strcmp(when, "auto") == 0)
		*color = isatty(fileno(out)) != 0 && (no_color == NULL || no_color[0] == '\0');
	return *color || strcmp(when, "auto") == 0 || strcmp(when, "never") == 0;
}

bool o2_cli_max_frags(const char *text, unsigned int *max_frags)
{
	char *end;
	const unsigned long value = strtoul(text, &end, 10);

	if (*text == '\0' || *end != '\0' || (value != O2_MAX_FRAGS && value != O2_MAX_FRAGS_LEGACY))
		return false;
	*max_frags = (unsigned int)value;
	return true;
}

int o2_cli_finish(FILE *out, int status)
{
	if (fflush(out) == 0 && !ferror(out))
		return status;
	o2_cli_complain("standard output: %s", strerror(errno));
	return O2_CLI_USAGE;
}
