/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_SHELL_WORD_H
#define O2_PROPS_SHELL_WORD_H

#include <stdio.h>

/* Print words of command lines that users can paste into a shell. */

/* Print text as one word for a shell, always in single quotes. */
void o2_shell_quoted(const char *text, FILE *out);

/* Print text as one word for a shell, without quotes where it needs none. */
void o2_shell_word(const char *text, FILE *out);

#endif
