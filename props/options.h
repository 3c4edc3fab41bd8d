/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_OPTIONS_H
#define O2_PROPS_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "props/run.h"

/* The command line of o2props. */

#define O2_PROPS_EXIT_USAGE  2
#define O2_PROPS_EXIT_CANNOT 77

struct o2_props_arguments {
	const char *device;
	const char *connect; /* "direct", "cm" or "processes" */
	long gid_index;
	bool json;
	const char *json_path;
	const char *mutant;
	const char *mutant_counts;
	const char *property;
	const char *modes;
	uint64_t max_bytes;
	int64_t shrink_calls; /* -1: by device */
	struct o2_run_options run;
};

void o2_props_usage(FILE *out);

/* An unsigned number, decimal or 0x...; exits with a usage error that names the option. */
uint64_t o2_props_number(const char *option, const char *text, uint64_t max);

/* Fill *a; exits with a usage error.  optind is then the first argument that is no option. */
void o2_props_parse(int argc, char **argv, struct o2_props_arguments *a);

#endif
