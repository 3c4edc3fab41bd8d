/* SPDX-License-Identifier: MIT */
#include "props/explain/markup.h"

#include <assert.h>
#include <stdarg.h>
#include <string.h>

void o2_markup_text(const char *text, size_t length, FILE *out)
{
	static const char special[4] = {'<', '>', '&', '"'};
	static const char *const entity[] = {"&lt;", "&gt;", "&amp;", "&quot;"};

	for (size_t i = 0; i < length; i++) {
		const char *at = memchr(special, text[i], sizeof(special));

		if (at != NULL)
			fputs(entity[at - special], out);
		else if ((unsigned char)text[i] >= ' ' || text[i] == '\n')
			fputc(text[i], out);
	}
}

void o2_markup(FILE *out, const char *markup, ...)
{
	const char *place;
	va_list texts;

	va_start(texts, markup);
	for (; (place = strchr(markup, '%')) != NULL; markup = place + 2) {
		const char *text = va_arg(texts, const char *);

		assert(place[1] == 's');
		fwrite(markup, 1, (size_t)(place - markup), out);
		o2_markup_text(text, strlen(text), out);
	}
	va_end(texts);
	fputs(markup, out);
}
