/* SPDX-License-Identifier: MIT */
#include "props/explain/markup.h"

void o2_markup_text(const char *text, size_t length, FILE *out)
{
	for (size_t i = 0; i < length; i++) {
		switch (text[i]) {
		case '<':
			fputs("&lt;", out);
			break;
		case '>':
			fputs("&gt;", out);
			break;
		case '&':
			fputs("&amp;", out);
			break;
		case '"':
			fputs("&quot;", out);
			break;
		default:
			fputc(text[i], out);
		}
	}
}
