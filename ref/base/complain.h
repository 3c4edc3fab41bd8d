/* SPDX-License-Identifier: MIT */
#ifndef O2_BASE_COMPLAIN_H
#define O2_BASE_COMPLAIN_H

#include <stdarg.h>

/* The error message of a command that cannot go on: one line on stderr, "program: text". */

/* The exit status of every command after a wrong command line, or a file that cannot be read or written. */
#define O2_EXIT_USAGE 2

/*
 * Print the message.  Control characters become question marks (plain.h), because names and file contents
 * come from outside.  o2_complain returns O2_EXIT_USAGE.
 */
int o2_complain(const char *program, const char *format, ...) __attribute__((format(printf, 2, 3)));
void o2_vcomplain(const char *program, const char *format, va_list arguments)
	__attribute__((format(printf, 2, 0)));

#endif
