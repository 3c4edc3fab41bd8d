/* SPDX-License-Identifier: MIT */
#ifndef O2_BASE_PLAIN_H
#define O2_BASE_PLAIN_H

/*
 * Make text, which may come from outside, one line that a terminal obeys nothing of: each control character
 * becomes a question mark.
 */
void o2_make_plain(char *text);

#endif
