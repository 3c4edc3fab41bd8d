/* SPDX-License-Identifier: MIT */
#include "oracle/check.h"

#include <stddef.h>
#include <string.h>

#define RULES "Rules of "

#define MUST   O2_CHECK_MUST
#define SHOULD O2_CHECK_SHOULD
#define OFF    O2_CHECK_OFF

static const struct {
	const char *id;
	const char *text;
	enum o2_severity severity[O2_PROFILES];
} checks[O2_CHECKS] = {
#define O2_CHECK_GROUP(title)
#define O2_CHECK(symbol, id, strict, kernel, text) [O2_CHECK_##symbol] = {id, text, {strict, kernel}},
#include "oracle/check_list.h"
#undef O2_CHECK
#undef O2_CHECK_GROUP
};

/* Titles and checks in one list, in order: the title of a group precedes its checks. */
static const struct {
	const char *title; /* NULL: a check */
	enum o2_check_id check;
} rows[] = {
#define O2_CHECK_GROUP(title)			     {title, O2_CHECKS},
#define O2_CHECK(symbol, id, severity, kernel, text) {NULL, O2_CHECK_##symbol},
#include "oracle/check_list.h"
#undef O2_CHECK
#undef O2_CHECK_GROUP
};

const char *o2_profile_name(enum o2_profile profile)
{
	static const char *const names[] = {[O2_PROFILE_STRICT] = "strict", [O2_PROFILE_KERNEL] = "kernel"};

	return names[profile];
}

const char *o2_check_name(enum o2_check_id check)
{
	return checks[check].id;
}

const char *o2_check_text(enum o2_check_id check)
{
	return checks[check].text;
}

enum o2_severity o2_check_severity(enum o2_check_id check, enum o2_profile profile)
{
	return checks[check].severity[profile];
}

const char *o2_severity_name(enum o2_severity severity)
{
	static const char *const names[] = {"off", "should", "must"};

	return names[severity];
}

enum o2_check_id o2_check_find(const char *name)
{
	for (unsigned int i = 0; i < O2_CHECKS; i++)
		if (strcmp(name, checks[i].id) == 0)
			return (enum o2_check_id)i;
	return O2_CHECKS;
}

/* Rules are the checks in the groups whose titles begin with RULES. */
bool o2_check_is_rule(enum o2_check_id check)
{
	const char *title = NULL;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (rows[i].title != NULL)
			title = rows[i].title;
		else if (rows[i].check == check)
			return title != NULL && strncmp(title, RULES, strlen(RULES)) == 0;
	}
	return false;
}

const char *o2_check_group(enum o2_check_id check)
{
	for (size_t i = 1; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (rows[i].title == NULL && rows[i].check == check)
			return rows[i - 1].title;
	return NULL;
}
