/* SPDX-License-Identifier: MIT */
#include "base/complain.h"

#include <stdio.h>

#include "base/plain.h"

void o2_vcomplain(const char *program, const char *format, va_list arguments)
{
	char text[1200];

	vsnprintf(text, sizeof(text), format, arguments);
	o2_make_plain(text);
	fprintf(stderr, "%s: %s\n", program, text);
}

int o2_complain(const char *program, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	o2_vcomplain(program, format, arguments);
	va_end(arguments);
	return O2_EXIT_USAGE;
}
