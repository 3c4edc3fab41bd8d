/* SPDX-License-Identifier: MIT */
#ifndef O2_BASE_PLAIN_H
#define O2_BASE_PLAIN_H

#include <stddef.h>
#include <stdio.h>

/*
 * Make text from outside a single line that is safe to print on a terminal: each byte of a control character
 * becomes a question mark, including line ends and the characters from 0x80 to 0x9f.
 */
void o2_make_plain(char *text);

/* Print text in this form; text itself is not changed. */
void o2_print_plain(const char *text, FILE *out);

/* Make text valid UTF-8: each byte that belongs to no character becomes a question mark. */
void o2_make_utf8(char *text);

/* Bytes of the character that begins at text: 1 for ASCII; 0 if it is not UTF-8 or not allowed in XML. */
size_t o2_character_bytes(const char *text, size_t length);

#endif
