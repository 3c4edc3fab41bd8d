/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_RUN_H
#define O2_PROPS_RUN_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

struct o2_property;

/* Exit status of a property program that cannot run here (O2_EXIT_USAGE: base/complain.h). */
#define O2_PROPS_EXIT_CANNOT 77

/* A run stops after at most this many kinds of failure. */
#define O2_RUN_MAX_FINDINGS 5u

/* A run that lacks a situation after its last case continues, up to this many times the number of cases. */
#define O2_RUN_ON 3u

/* The default way to connect the ends of a rung: each is told the other's address. */
#define O2_RUN_CONNECT_DIRECT "direct"

/*
 * The runner: random cases from a seed until a bound is reached, or with `exhaustive` every case near the simplest
 * one (props/engine/exhaustive.h); findings are shrunk and written to files.
 */

struct o2_run_options {
	const char *device;  /* as the user named it, for reports */
	const char *connect; /* as the user named it: how the ends are connected; NULL: they are not */
	const char *program; /* for replay lines; again: options that repeat the same cases */
	const char *again;
	const char *mutant;	  /* the deliberate defect that is switched on; NULL: none */
	const char *hw_device[2]; /* names under /sys/class/infiniband whose counters are read; may be NULL */
	uint64_t seed;
	uint64_t first_case;
	uint32_t exhaustive;	       /* 0: random cases; else every case so near the simplest one */
	uint64_t cases;		       /* 0: no bound; see O2_RUN_ON */
	uint64_t moved;		       /* continue until this many transfers moved bytes; 0: no bound */
	uint64_t min_per_pair;	       /* and until each ordered pair of modes in use did so this often */
	double seconds;		       /* stop after this time; 0: no bound */
	double progress_s;	       /* interval of progress lines; 0: none */
	uint32_t shrink_calls;	       /* limit per finding */
	uint32_t findings;	       /* stop after this many kinds of failure, 1 to O2_RUN_MAX_FINDINGS */
	const char *out_dir;	       /* directory for case files of findings; NULL: none are written */
	const char *current_case_path; /* file rewritten before each case, to survive a crash; or NULL */
};

/*
 * Run.  *result is a new object as described in docs/properties.md, "Results"; it is NULL when nothing was
 * run, because memory ran out or the file for the current case cannot be written.  Returns 0 when all held, 1
 * with findings or missing situations, 2 when a requested file could not be written (an error was printed).
 */
int o2_run(const struct o2_property *property, const struct o2_run_options *options, json_t **result);

/*
 * Replay one case file, or a scenario when the name ends in .json.  Prints what happened.  Returns 0 when the
 * property held, 1 when it did not, 2 when the file cannot be read as a case.
 */
int o2_run_replay(const struct o2_property *property, const char *path);

/*
 * For each situation that the property counts, write the smallest case that meets it, named after it.  Only
 * for a property with a tally (props/engine/tally.h).  Situations that are excused may be left out.  Returns 0;
 * 1 if others are, each after a line on stderr; or -errno.
 */
int o2_export_situations(const struct o2_property *property, const char *directory, uint64_t seed);

/* A new object of /sys/class/infiniband/<device>/ports/1/hw_counters; it is empty when there are none. */
json_t *o2_hw_counters(const char *device);

/* The counters that changed since *before was read, as "NAME N, NAME N"; "" when none did. */
void o2_hw_counters_moved(const char *device, const json_t *before, char *text, size_t bytes);

#endif
