/* SPDX-License-Identifier: MIT */
#ifndef O2_BASE_WORDS_H
#define O2_BASE_WORDS_H

#include <stddef.h>

/* A text in the caller's memory to which text is appended; what does not fit is dropped. */
struct o2_words {
	char *text;  /* terminated by a zero once something was added */
	size_t room; /* size of text, with the terminating zero */
	size_t length;
};

/* Append, as printf does. */
void o2_words_add(struct o2_words *words, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
