/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_OPTIONS_H
#define O2_PROPS_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/complain.h"
#include "base/option.h"
#include "props/engine/run.h"
#include "reg/plan.h"

/* The command line of o2props: list, run, replay and export. */

#define O2_PROPS_EXIT_USAGE O2_EXIT_USAGE
#define O2_PROPS_GID_INDEX  1u
#define O2_FAR_WORDS_BYTES  256u
#define O2_FAR_TIMEOUT_S    60u /* longer than an end may take to answer (props/world/end_process.h) */

struct o2_props_arguments {
	const char *device;
	const char *connect;	 /* "direct", "cm" or "processes" */
	const char *far;	 /* command that starts the other end elsewhere; NULL: it is local */
	uint32_t far_side;	 /* enum o2_side of the far end */
	const char *far_program; /* path of o2props there; NULL: this program's path */
	uint32_t far_timeout_s;
	int64_t gid_index; /* -1: o2_props_gid_index */
	bool json;
	bool version;
	bool cases_said, seed_said; /* run.cases and run.seed were given on the command line */
	const char *json_path;
	const char *mutant;
	const char *mutant_counts;
	bool no_judge;
	const char *only; /* kind of failure; NULL: all */
	const char *property;
	bool mode[O2_REG_MODES]; /* modes to draw from; none set: all */
	uint64_t max_bytes;
	int64_t shrink_calls; /* -1: default of the device */
	uint32_t seconds, progress_s;
	struct o2_run_options run;
};

extern const struct o2_command o2_props_command;
extern const char *const o2_props_sides[]; /* values of --far-side, by enum o2_side; NULL-terminated */

/* Fill *a; returns as o2_options_read does. */
int o2_props_parse(int argc, char **argv, struct o2_props_arguments *a);

/*
 * Refuse an option that this command, or this property, would ignore.  on_devices: it runs on RDMA devices. Returns
 * 0, or O2_EXIT_USAGE after a line on stderr.
 */
int o2_props_check(const struct o2_props_arguments *a, const char *command, const char *property,
		   bool on_devices);

/* Is the device provided by this program: model or loop? */
bool o2_props_in_process(const struct o2_props_arguments *a);

/* The default RoCEv2 GID index of a device: $O2REF_GID_INDEX, else 1.  Exits if the variable is invalid. */
uint8_t o2_props_gid_index(void);

/*
 * Options for a replay line: with them this program draws the same cases on the same device. --seed and --first are
 * not included. Valid until the next call.
 */
const char *o2_props_again(const struct o2_props_arguments *a);

/* Enable a deliberate defect; NULL: none.  Returns 0, or O2_EXIT_USAGE after a line on stderr. */
int o2_props_mutant(const char *program, const char *name);

#endif
