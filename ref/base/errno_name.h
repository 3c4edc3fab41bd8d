/* SPDX-License-Identifier: MIT */
#ifndef O2_BASE_ERRNO_NAME_H
#define O2_BASE_ERRNO_NAME_H

#include <stdint.h>

/*
 * Names of the errno values that stages return, for the JSON forms: a number differs between systems, a name
 * does not.  Source: errno(3).
 */

/* "EINVAL" for EINVAL or -EINVAL; NULL for a value that no stage returns. */
const char *o2_errno_name(int code);

/* The positive value of a name; 0 when the name is not in the table. */
int o2_errno_from_name(const char *name);

/*
 * For people, and for numbers that come from outside: any errno that the C library has a name for, positive
 * or negative.  NULL for others: a kernel has some of its own, such as 524.
 */
const char *o2_errno_symbol(int64_t code);

#define O2_ERRNO_TEXT_BYTES 32u

/* The same, and "errno 524" for one without a name.  Returns the name or text. */
const char *o2_errno_text(int64_t code, char text[O2_ERRNO_TEXT_BYTES]);

#endif
