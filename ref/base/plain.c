/* SPDX-License-Identifier: MIT */
#include "base/plain.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

size_t o2_character_bytes(const char *text, size_t length)
{
	/* For each length: mask and value of the first byte's leading bits, and the least character. */
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
		/* Refuse overlong forms, surrogates, and two characters that XML forbids. */
		if (character < forms[n].least || character > 0x10ffff ||
		    (character >= 0xd800 && character < 0xe000) || character == 0xfffe || character == 0xffff)
			return 0;
		return n + 1;
	}
	return 0;
}

/*
 * The number of bytes of the next character, and whether a terminal would act on it: ASCII's control characters and
 * those from 0x80 to 0x9f, encoded in UTF-8 or as single bytes that belong to no character.
 */
static size_t look(const char *text, size_t left, bool *control)
{
	const uint8_t *byte = (const uint8_t *)text;
	const size_t bytes = o2_character_bytes(text, left);

	*control = (bytes == 1 && iscntrl(byte[0])) || (bytes == 2 && byte[0] == 0xc2 && byte[1] < 0xa0) ||
		   (bytes == 0 && byte[0] < 0xa0);
	return bytes == 0 ? 1 : bytes;
}

void o2_make_plain(char *text)
{
	bool control;

	for (size_t left = strlen(text), bytes; left > 0; left -= bytes, text += bytes) {
		bytes = look(text, left, &control);
		if (control)
			memset(text, '?', bytes);
	}
}

void o2_print_plain(const char *text, FILE *out)
{
	bool control;

	for (size_t left = strlen(text), bytes; left > 0; left -= bytes, text += bytes) {
		bytes = look(text, left, &control);
		fwrite(control ? "??" : text, 1, bytes, out);
	}
}

void o2_make_utf8(char *text)
{
	size_t left = strlen(text);

	while (left > 0) {
		size_t bytes = o2_character_bytes(text, left);

		if (bytes == 0) {
			*text = '?';
			bytes = 1;
		}
		text += bytes;
		left -= bytes;
	}
}
