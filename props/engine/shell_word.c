/* SPDX-License-Identifier: MIT */
#include "props/engine/shell_word.h"

#include <string.h>

void o2_shell_quoted(const char *text, FILE *out)
{
	fputc('\'', out);
	for (; *text != '\0'; text++)
		if (*text == '\'')
			fputs("'\\''", out);
		else
			fputc(*text, out);
	fputc('\'', out);
}

void o2_shell_word(const char *text, FILE *out)
{
	static const char plain[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789%+,-./:=@_";

	if (text[0] != '\0' && text[strspn(text, plain)] == '\0')
		fputs(text, out);
	else
		o2_shell_quoted(text, out);
}
