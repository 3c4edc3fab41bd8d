/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_SHELL_WORD_H
#define O2_PROPS_SHELL_WORD_H

#include <stdio.h>

/* Words of the command lines that are printed for people to type. */

/* One word for a shell, whatever is in it: in single quotes. */
void o2_shell_quoted(const char *text, FILE *out);

/* The same, without quotes where a shell needs none. */
void o2_shell_word(const char *text, FILE *out);

#endif
