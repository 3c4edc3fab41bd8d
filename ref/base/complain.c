/* SPDX-License-Identifier: MIT */
#include "base/complain.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/plain.h"

void o2_vcomplain(const char *program, const char *format, va_list arguments)
{
	char short_text[1200], *text = short_text, *whole = NULL;
	va_list again;
	int length;

	va_copy(again, arguments);
	length = vsnprintf(short_text, sizeof(short_text), format, arguments);
	/* Print the whole text: what is wrong often follows a word of the user's, which may be long. */
	if (length >= (int)sizeof(short_text))
		whole = malloc((size_t)length + 1);
	if (whole != NULL) {
		vsnprintf(whole, (size_t)length + 1, format, again);
		text = whole;
	}
	va_end(again);
	o2_make_plain(text);
	fprintf(stderr, "%s: %s\n", program, text);
	free(whole);
}

int o2_complain(const char *program, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	o2_vcomplain(program, format, arguments);
	va_end(arguments);
	return O2_EXIT_USAGE;
}
