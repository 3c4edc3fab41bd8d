/* SPDX-License-Identifier: MIT */
#ifndef O2_ORACLE_CHECK_H
#define O2_ORACLE_CHECK_H

#include <stdbool.h>

/* The checks of the oracle (docs/oracle.md, "Checks").  The table is check_list.h. */

enum o2_severity {
	O2_CHECK_OFF,	 /* not checked under this profile */
	O2_CHECK_SHOULD, /* a difference moves the same bytes: it is reported, but is no failure */
	O2_CHECK_MUST,	 /* a difference is a failure */
};

enum o2_profile {
	O2_PROFILE_STRICT, /* what the reference does */
	O2_PROFILE_KERNEL, /* what public trees of Lustre do where the reference is stricter */
	O2_PROFILES,
};

enum o2_check_id {
#define O2_CHECK_GROUP(title)
#define O2_CHECK(symbol, id, severity, kernel, text) O2_CHECK_##symbol,
#include "oracle/check_list.h"
#undef O2_CHECK
#undef O2_CHECK_GROUP
	O2_CHECKS, /* number of checks; as a value: no check */
};

/* "strict", "kernel". */
const char *o2_profile_name(enum o2_profile profile);

/* The id of the check, e.g. "sg/kiov/gap-flag".  Ids are stable. */
const char *o2_check_name(enum o2_check_id check);

/* What the check requires, in one or two sentences. */
const char *o2_check_text(enum o2_check_id check);

enum o2_severity o2_check_severity(enum o2_check_id check, enum o2_profile profile);

/* "must", "should", "off". */
const char *o2_severity_name(enum o2_severity severity);

/* The check of that id; O2_CHECKS when there is none. */
enum o2_check_id o2_check_find(const char *name);

/* Whether the check is a rule of the reference, i.e. one that an input can break. */
bool o2_check_is_rule(enum o2_check_id check);

/* The title of the group that begins with this check; NULL inside a group. */
const char *o2_check_group(enum o2_check_id check);

#endif
