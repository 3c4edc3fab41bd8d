/* SPDX-License-Identifier: MIT */
#ifndef O2_BASE_STANDARD_H
#define O2_BASE_STANDARD_H

/*
 * For the start of main: a program may be run with standard input, output or error closed, and what it opened first
 * would then get that number, and what is said to the user.  /dev/null stands there instead, opened the wrong way, so
 * that reading or writing still fails and is told.  Where /dev/null cannot be opened nothing changes.
 */
void o2_standard_hold(void);

#endif
