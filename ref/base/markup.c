/* SPDX-License-Identifier: MIT */
#include "base/markup.h"

#include <assert.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

/* The bytes of the character that begins at text: 1 for ASCII; 0 if they are no UTF-8. */
static size_t character_bytes(const char *text, size_t length)
{
	/* By the number of bytes: what the first of them begins with, and the least character. */
	static const struct {
		uint8_t mask, start;
		uint32_t least;
	} forms[] = {{0x80, 0, 0}, {0xe0, 0xc0, 0x80}, {0xf0, 0xe0, 0x800}, {0xf8, 0xf0, 0x10000}};
	const uint8_t *byte = (const uint8_t *)text;

	for (size_t n = 0; n < sizeof(forms) / sizeof(forms[0]) && n < length; n++) {
		uint32_t character = byte[0] & (uint8_t)~forms[n].mask;

		if ((byte[0] & forms[n].mask) != forms[n].start)
			continue;
		for (size_t i = 1; i <= n; i++) {
			if ((byte[i] & 0xc0) != 0x80)
				return 0;
			character = character << 6 | (byte[i] & 0x3f);
		}
		/* Surrogates, and two that XML forbids. */
		if (character < forms[n].least || character > 0x10ffff ||
		    (character >= 0xd800 && character < 0xe000) || character == 0xfffe || character == 0xffff)
			return 0;
		return n + 1;
	}
	return 0;
}

void o2_markup_text(const char *text, size_t length, FILE *out)
{
	static const char special[4] = {'<', '>', '&', '"'};
	static const char *const entity[] = {"&lt;", "&gt;", "&amp;", "&quot;"};

	for (size_t i = 0; i < length; i++) {
		const char *at = memchr(special, text[i], sizeof(special));
		const size_t bytes = character_bytes(text + i, length - i);

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
