/* SPDX-License-Identifier: MIT */
#ifndef O2_BASE_ERRNO_NAME_H
#define O2_BASE_ERRNO_NAME_H

/*
 * Names of the errno values that stages return, for the JSON forms: a number differs between systems, a name
 * does not.  Source: errno(3).
 */

/* "EINVAL" for EINVAL or -EINVAL; NULL for a value that no stage returns. */
const char *o2_errno_name(int code);

/* The positive value of a name; 0 when the name is not in the table. */
int o2_errno_from_name(const char *name);

#endif
