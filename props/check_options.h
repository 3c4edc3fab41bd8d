/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_CHECK_OPTIONS_H
#define O2_PROPS_CHECK_OPTIONS_H

#include "props/check.h"

/* The command line of `o2ref check`. */

#define O2_CHECK_SUBJECTS 16u

enum {
	O2_CHECK_EXIT_AGREE = 0,
	O2_CHECK_EXIT_DIFFER = 1,
	O2_CHECK_EXIT_USAGE = 2,
	O2_CHECK_EXIT_CANNOT = 77,
};

enum o2_check_action {
	O2_CHECK_ACTION_CHECK,
	O2_CHECK_ACTION_LIST,	  /* print the table of checks */
	O2_CHECK_ACTION_SELFTEST, /* try a program's framing */
	O2_CHECK_ACTION_FUZZ,
	O2_CHECK_ACTION_HELP,
};

struct o2_check_arguments {
	const char *name; /* of the command, for messages */
	enum o2_check_action action;
	struct o2_check_options options;
	struct o2_host_options host;
	const char *map;
	const char *known;
	const char *out_dir;
	const char *json;
	const char *html;
	const char *junit;
	bool no_corpus;
	bool color;
	uint32_t files; /* shared objects, and programs without arguments */
	const char *file[O2_CHECK_SUBJECTS];
	char *const *program; /* what stands behind --; NULL: nothing */
};

/* Returns 0, or O2_CHECK_EXIT_USAGE after a line on standard error. */
int o2_check_parse(const char *name, int argc, char **argv, struct o2_check_arguments *a);

void o2_check_usage(const struct o2_check_arguments *a, FILE *out);

/* One line on standard error; returns O2_CHECK_EXIT_USAGE. */
int o2_check_complain(const struct o2_check_arguments *a, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Become the fuzzer for a->file[0].  Returns only when that fails. */
int o2_check_fuzz(const struct o2_check_arguments *a);

#endif
