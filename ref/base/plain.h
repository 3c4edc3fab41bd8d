/* SPDX-License-Identifier: MIT */
#ifndef O2_BASE_PLAIN_H
#define O2_BASE_PLAIN_H

#include <stddef.h>
#include <stdio.h>

/*
 * Make text, which may come from outside, one line that is safe to print on a terminal: each byte of a control
 * character becomes a question mark, line ends and those from 0x80 to 0x9f included.
 */
void o2_make_plain(char *text);

/* Print it so. */
void o2_print_plain(const char *text, FILE *out);

/* Make text UTF-8: each byte that belongs to no character becomes a question mark. */
void o2_make_utf8(char *text);

/* The bytes of the character that begins at text: 1 for ASCII; 0 if they are no UTF-8, or none that XML has. */
size_t o2_character_bytes(const char *text, size_t length);

#endif
