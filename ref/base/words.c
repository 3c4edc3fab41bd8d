/* SPDX-License-Identifier: MIT */
#include "base/words.h"

#include <stdarg.h>
#include <stdio.h>

void o2_words_add(struct o2_words *words, const char *format, ...)
{
	const size_t room = words->room - words->length;
	va_list arguments;
	int length;

	va_start(arguments, format);
	length = vsnprintf(words->text + words->length, room, format, arguments);
	va_end(arguments);
	if (length > 0)
		words->length += (size_t)length < room ? (size_t)length : room - 1;
}
