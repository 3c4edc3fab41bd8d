/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_REPORT_H
#define O2_PROPS_REPORT_H

#include <stdbool.h>
#include <stdint.h>

/* What a property says about a case that failed (docs/properties.md, "Results"). */

#define O2_REPORT_LINES	     12u
#define O2_REPORT_LINE_BYTES 320u

/* What went wrong, in words; empty when the property held. */
struct o2_report {
	bool failed;
	char signature[96]; /* what kind of failure: a shrinker keeps to one kind */
	uint32_t lines;
	char line[O2_REPORT_LINES][O2_REPORT_LINE_BYTES];
};

/* Nothing is wrong yet. */
void o2_report_clear(struct o2_report *report);

/*
 * From now on only failures of a kind that begins with prefix count, in all reports of the process; of others
 * nothing is said.  NULL: all count.  prefix: kept.
 */
void o2_report_only(const char *prefix);
/* Is that kind, whole, what alone counts? */
bool o2_report_asked(const char *signature);

/* Append a line to a report, and mark it failed. */
void o2_report_add(struct o2_report *report, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The same with the kind of failure, which is that of the first call. */
void o2_report_fail(struct o2_report *report, const char *signature, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* The same, of the kind "PART/WHAT". */
void o2_report_fail_in(struct o2_report *report, const char *part, const char *what, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

#endif
