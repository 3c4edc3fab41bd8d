/* SPDX-License-Identifier: MIT */
#ifndef O2_BASE_PLAIN_H
#define O2_BASE_PLAIN_H

/*
 * Make text, which may come from outside, one line that is safe to print on a terminal: each control
 * character, line ends included, becomes a question mark.
 */
void o2_make_plain(char *text);

#endif
