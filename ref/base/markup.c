/* SPDX-License-Identifier: MIT */
#include "base/markup.h"

#include <assert.h>
#include <stdarg.h>
#include <string.h>

#include "base/plain.h"

void o2_markup_text(const char *text, size_t length, FILE *out)
{
	static const char special[4] = {'<', '>', '&', '"'};
	static const char *const entity[] = {"&lt;", "&gt;", "&amp;", "&quot;"};

	for (size_t i = 0; i < length; i++) {
		const char *at = memchr(special, text[i], sizeof(special));
		const size_t bytes = o2_character_bytes(text + i, length - i);

		if (at != NULL) {
			fputs(entity[at - special], out);
		} else if (bytes == 0) {
			fputc('?', out);
		} else if (bytes > 1) {
			fwrite(text + i, 1, bytes, out);
			i += bytes - 1;
		} else if ((text[i] >= ' ' && text[i] != 0x7f) || text[i] == '\n') {
			fputc(text[i], out);
		}
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
