/* SPDX-License-Identifier: MIT */
#include "props/engine/report.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const char *only; /* NULL: all kinds count */

void o2_report_only(const char *prefix)
{
	only = prefix;
}

bool o2_report_asked(const char *signature)
{
	return only != NULL && strcmp(signature, only) == 0;
}

static bool counts(const char *signature)
{
	return only == NULL || strncmp(signature, only, strlen(only)) == 0;
}

void o2_report_clear(struct o2_report *report)
{
	report->failed = false;
	report->lines = 0;
	report->signature[0] = '\0';
}

static void add(struct o2_report *report, const char *format, va_list arguments)
{
	report->failed = true;
	if (report->lines == O2_REPORT_LINES)
		return;
	vsnprintf(report->line[report->lines++], O2_REPORT_LINE_BYTES, format, arguments);
}

void o2_report_add(struct o2_report *report, const char *format, ...)
{
	va_list arguments;

	if (only != NULL && !report->failed)
		return;
	va_start(arguments, format);
	add(report, format, arguments);
	va_end(arguments);
}

static void fail(struct o2_report *report, const char *signature, const char *format, va_list arguments)
{
	if (!counts(signature))
		return;
	if (!report->failed)
		snprintf(report->signature, sizeof(report->signature), "%s", signature);
	add(report, format, arguments);
}

void o2_report_kind(struct o2_report *report, const char *format, ...)
{
	char signature[sizeof(report->signature)];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(signature, sizeof(signature), format, arguments);
	va_end(arguments);
	if (!counts(signature))
		return;
	snprintf(report->signature, sizeof(report->signature), "%s", signature);
	report->failed = true;
}

void o2_report_fail(struct o2_report *report, const char *signature, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	fail(report, signature, format, arguments);
	va_end(arguments);
}

void o2_report_fail_in(struct o2_report *report, const char *part, const char *what, const char *format, ...)
{
	char signature[sizeof(report->signature)];
	va_list arguments;

	snprintf(signature, sizeof(signature), "%s/%s", part, what);
	va_start(arguments, format);
	fail(report, signature, format, arguments);
	va_end(arguments);
}

bool o2_same_text(const char *a, const char *b)
{
	return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}
