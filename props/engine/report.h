/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_REPORT_H
#define O2_PROPS_REPORT_H

#include <stdbool.h>
#include <stdint.h>

/* What a property says about a case that failed (docs/properties.md, "Results"). */

#define O2_REPORT_LINES	     12u
#define O2_REPORT_LINE_BYTES 320u

/* A description of the failure; empty when the property held. */
struct o2_report {
	bool failed;
	char signature[96]; /* the kind of failure; the shrinker keeps to one kind */
	uint32_t lines;
	char line[O2_REPORT_LINES][O2_REPORT_LINE_BYTES];
};

/* Reset the report: no failure. */
void o2_report_clear(struct o2_report *report);

/*
 * From now on, only failures whose kind begins with prefix count, in all reports of the process; others are
 * dropped.  NULL: all count.  The pointer prefix is kept, so the string must stay valid.
 */
void o2_report_only(const char *prefix);
/* True if o2_report_only was given exactly this kind. */
bool o2_report_asked(const char *signature);

/* Append a line to a report, and mark it failed. */
void o2_report_add(struct o2_report *report, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The kind of the failure that the following lines describe, in place of an earlier one. */
void o2_report_kind(struct o2_report *report, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Append a line as well, and set the kind of failure; only the first call sets it. */
void o2_report_fail(struct o2_report *report, const char *signature, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* As o2_report_fail, with the kind "PART/WHAT". */
void o2_report_fail_in(struct o2_report *report, const char *part, const char *what, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/* True if both texts are the same, or both are NULL, as the rule or field of an error may be. */
bool o2_same_text(const char *a, const char *b);

#endif
