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
#define O2_FAR_TIMEOUT_S    60u /* more than an end may take for an answer (props/world/end_process.h) */

struct o2_props_arguments {
	const char *device;
	const char *connect;	 /* "direct", "cm" or "processes" */
	const char *far;	 /* words that start the other end elsewhere; NULL: it is here */
	uint32_t far_side;	 /* enum o2_side: what it is there */
	const char *far_program; /* there; NULL: this one's path */
	uint32_t far_timeout_s;
	int64_t gid_index; /* -1: o2_props_gid_index */
	bool json;
	bool version;
	bool cases_said; /* run.cases is not what it is when nothing is said */
	const char *json_path;
	const char *mutant;
	const char *mutant_counts;
	bool no_judge;
	const char *only; /* kind of failure; NULL: all */
	const char *property;
	bool mode[O2_REG_MODES]; /* that are drawn from; none: all */
	uint64_t max_bytes;
	int64_t shrink_calls; /* -1: by device */
	uint32_t seconds, progress_s;
	struct o2_run_options run;
};

extern const struct o2_command o2_props_command;
extern const char *const o2_props_sides[]; /* of --far-side, by enum o2_side; NULL at the end */

/* Fill *a; returns as o2_options_read does. */
int o2_props_parse(int argc, char **argv, struct o2_props_arguments *a);

/*
 * Refuses an option that this command, or this property, would ignore.  on_devices: it runs on RDMA devices.
 * Returns 0, or O2_EXIT_USAGE after a line on stderr.
 */
int o2_props_check(const struct o2_props_arguments *a, const char *command, const char *property,
		   bool on_devices);

/* Is the device one of this program's: model or loop? */
bool o2_props_in_process(const struct o2_props_arguments *a);

/* The RoCEv2 GID of a device when the command line says nothing: $O2REF_GID_INDEX, else 1; exits if it is
 * wrong. */
uint8_t o2_props_gid_index(void);

/*
 * For a replay line: the options with which this program draws the same cases on the same device, --seed and
 * --first aside.  Valid until the next call.
 */
const char *o2_props_again(const struct o2_props_arguments *a);

/* Switch on a deliberate defect; NULL: none.  Returns 0, or O2_EXIT_USAGE after a line on stderr. */
int o2_props_mutant(const char *program, const char *name);

#endif
