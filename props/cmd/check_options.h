/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_CHECK_OPTIONS_H
#define O2_PROPS_CHECK_OPTIONS_H

#include "base/complain.h"
#include "base/option.h"
#include "base/out_file.h"
#include "props/check/check.h"

/* The command line of `o2ref check`. */

#define O2_CHECK_SUBJECTS   16u
#define O2_CHECK_TIMEOUT_MS 1000u /* unless --timeout-ms says otherwise */
#define O2_CHECK_GROWTH_MIB 768u  /* unless --growth-mib does; sanitizers keep 256 MiB of freed memory */

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
};

enum { O2_CHECK_JSON, O2_CHECK_HTML, O2_CHECK_JUNIT, O2_CHECK_REPORTS };

struct o2_check_arguments {
	const char *name; /* name of the command, for messages */
	enum o2_check_action action;
	struct o2_check_options options;
	struct o2_host_options host;
	const char *map;
	const char *corpus; /* as given; NULL: not given */
	const char *known;
	const char *out_dir;
	const char *since; /* path of an earlier result */
	const char *json;
	const char *html;
	const char *junit;
	struct o2_out_file report[O2_CHECK_REPORTS]; /* opened by o2_check_open_files */
	bool no_corpus;
	enum o2_color_when color_when;
	bool color;
	uint32_t files; /* shared objects, and programs without arguments */
	const char *file[O2_CHECK_SUBJECTS];
	char *const *program; /* words behind --; NULL: none */
};

/* Returns a positive number, 0 after --help, or -1 after a line on stderr. */
int o2_check_parse(const char *name, int argc, char **argv, struct o2_check_arguments *a);

/* Is the file a shared object, by its name?  Otherwise it is a program. */
bool o2_check_is_library(const char *path);

/* Replace this process by the fuzzer for a->file[0].  Returns only on failure. */
int o2_check_fuzz(const struct o2_check_arguments *a);

#endif
