/* SPDX-License-Identifier: MIT */
#ifndef O2_BASE_STANDARD_H
#define O2_BASE_STANDARD_H

/*
 * For the start of main.  A program may be started with standard input, output or error closed; the first file that
 * it opens would get that number, and the messages to the user.  This opens /dev/null there, in the wrong
 * direction, so that reading or writing still fails and is reported; if that fails, nothing changes.
 */
void o2_standard_hold(void);

#endif
