/* SPDX-License-Identifier: MIT */
#include "fuzz/common.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/*
 * Read by AddressSanitizer.  Memory that an input frees can be misused only by the same input, so a quarantine
 * for one input suffices.  The default of 256 MiB would consist of fresh pages and determine the program's size.
 */
const char *__asan_default_options(void);

const char *__asan_default_options(void)
{
	return "quarantine_size_mb=16";
}

void o2_fuzz_fail(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	fputs("o2ref fuzz: ", stderr);
	vfprintf(stderr, format, args);
	fputc('\n', stderr);
	va_end(args);
	abort();
}

struct o2_choice *o2_fuzz_choice(const uint8_t *data, size_t size)
{
	static struct o2_choice choice;

	o2_choice_replay(&choice, data, size);
	return &choice;
}

void o2_fuzz_report(const char *name, const struct o2_report *report)
{
	if (!report->failed)
		return;
	for (uint32_t i = 0; i < report->lines; i++)
		fprintf(stderr, "  %s\n", report->line[i]);
	o2_fuzz_fail("%s: %s", name, report->signature);
}
