/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_RUN_H
#define O2_PROPS_RUN_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

struct o2_property;

/* What a program of the properties ends with when it cannot run here (O2_EXIT_USAGE: base/complain.h). */
#define O2_PROPS_EXIT_CANNOT 77

/* The most kinds of failure after which a run stops. */
#define O2_RUN_MAX_FINDINGS 5u

/* A run that lacks a situation at its last case goes on: to so many times as many cases at most. */
#define O2_RUN_ON 3u

/* How the ends of a rung are connected by default: each is told the other's address. */
#define O2_RUN_CONNECT_DIRECT "direct"

/* The random runner: cases from a seed until a bound is reached, findings shrunk and written to files. */

struct o2_run_options {
	const char *device;  /* as the user named it: for reports */
	const char *connect; /* likewise, how the ends are connected; NULL: they are not */
	const char *program; /* for replay lines; and options that draw the same cases on the same device */
	const char *again;
	const char *hw_device[2]; /* names under /sys/class/infiniband whose counters are read; may be NULL */
	uint64_t seed;
	uint64_t first_case;
	uint64_t cases;		       /* 0: no bound; see O2_RUN_ON */
	uint64_t moved;		       /* go on until that many transfers moved bytes; 0: no bound */
	uint64_t min_per_pair;	       /* and each ordered pair of modes in use did so that often */
	double seconds;		       /* stop after; 0: no bound */
	double progress_s;	       /* print a line every so often; 0: never */
	uint32_t shrink_calls;	       /* for each finding */
	uint32_t findings;	       /* stop after so many kinds of failure, 1 to O2_RUN_MAX_FINDINGS */
	const char *out_dir;	       /* where case files of findings go; NULL: nowhere */
	const char *current_case_path; /* rewritten before each case, for a crash; or NULL */
};

/*
 * Run.  *result is a new object as docs/properties.md, "Results", says; NULL when nothing was run, because
 * memory ran out or there is no file for the case at hand.  Returns 0 when all held, 1 with findings or
 * missing situations, 2 when a file that was asked for could not be written, which has been said.
 */
int o2_run(const struct o2_property *property, const struct o2_run_options *options, json_t **result);

/*
 * Replay one case file, or a scenario when the name ends in .json.  Prints what happened.
 * Returns 0 when the property held, 1 when not, 2 when the file cannot be read as a case.
 */
int o2_run_replay(const struct o2_property *property, const char *path);

/*
 * Write, for each situation that the property counts, the smallest case that meets it, named after it.  Of a
 * property with a tally (props/engine/tally.h) only.  Returns 0 or -errno; -ENOENT when a situation was not
 * met.
 */
int o2_export_situations(const struct o2_property *property, const char *directory, uint64_t seed);

/*
 * Fill *counters of /sys/class/infiniband/<device>/ports/1/hw_counters; an empty object when there are none.
 */
json_t *o2_hw_counters(const char *device);

/* Those that have moved since *before was read, as "NAME N, NAME N"; "" when none has. */
void o2_hw_counters_moved(const char *device, const json_t *before, char *text, size_t bytes);

#endif
