/* SPDX-License-Identifier: MIT */
#ifndef O2_BASE_WORDS_H
#define O2_BASE_WORDS_H

#include <stddef.h>

/* A text that grows at its end, in memory of the caller's; what does not fit is dropped. */
struct o2_words {
	char *text;  /* ended, once something was added */
	size_t room; /* characters, with the zero behind them */
	size_t length;
};

/* As printf. */
void o2_words_add(struct o2_words *words, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
