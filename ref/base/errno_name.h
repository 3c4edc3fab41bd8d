/* SPDX-License-Identifier: MIT */
#ifndef O2_BASE_ERRNO_NAME_H
#define O2_BASE_ERRNO_NAME_H

#include <stdint.h>

/*
 * Names of the errno values that stages return, for the JSON forms: numbers differ between systems, names do
 * not.  Source: errno(3).
 */

/* "EINVAL" for EINVAL or -EINVAL; NULL for a value that no stage returns. */
const char *o2_errno_name(int code);

/* The positive value of a name; 0 when the name is not in the table. */
int o2_errno_from_name(const char *name);

/*
 * The name of any errno that the C library knows, positive or negative, for people and for numbers that come
 * from outside.  NULL for others: a kernel has some of its own, such as 524.
 */
const char *o2_errno_symbol(int64_t code);

#define O2_ERRNO_TEXT_BYTES 32u

/* The same, but "errno 524" for a number without a name.  Returns the name or text. */
const char *o2_errno_text(int64_t code, char text[O2_ERRNO_TEXT_BYTES]);

#endif
