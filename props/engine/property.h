/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_PROPERTY_H
#define O2_PROPS_PROPERTY_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"
#include "props/engine/choice.h"
#include "props/engine/report.h"
#include "props/engine/run.h"

/*
 * The runner's (props/engine/run.h) interface to a property: how to run one case, and how to report on it.
 *
 * Each function is called with `context`, which belongs to the property.  Members marked optional may be NULL.
 */
struct o2_property_ops {
	const char *name;    /* one word: in commands, case file names and results */
	const char *summary; /* what holds, in one line */

	/* Draw a case and try it; a failure fills *report. */
	enum o2_status (*run_case)(void *context, struct o2_choice *choice, struct o2_report *report);
	/* Optional.  After a failure: restore the initial state, because the case may have changed it. */
	void (*reset)(void *context);
	/*
	 * Optional.  Close what the property keeps from case to case to save time; the next case creates it
	 * again.  Afterwards the process holds what it held before (props/engine/left_behind.h).
	 */
	void (*give_back)(void *context);
	/*
	 * Optional.  After all cases: check that everything is unchanged that no single case compared.  False
	 * fills *report.
	 */
	bool (*sweep)(void *context, struct o2_report *report);
	/* Optional.  Sweep after each case from now on. */
	void (*sweep_always)(void *context);

	/* Print the current case for people; pieces: the most list entries to print. */
	void (*print)(const void *context, uint32_t pieces, FILE *out);
	/* Print one line on how the case held.  NULL: "held" and the string `held`, or print's output. */
	void (*print_held)(const void *context, FILE *out);
	const char *held;
	/* Optional.  The current case as JSON that stays valid when the generator changes; a new object. */
	json_t *(*to_json)(const void *context);
	/* Optional.  Run an object of to_json.  Returns 0 and *status, or -errno with *error filled. */
	int (*run_json)(void *context, const json_t *object, enum o2_status *status, struct o2_report *report,
			struct o2_error *error);

	/* Optional.  True when bounds other than cases and seconds are set and met. */
	bool (*enough)(const void *context, const struct o2_run_options *options);
	/* Add the property's own members to the result: "cases" and its situations. */
	void (*result)(const void *context, const struct o2_run_options *options, json_t *result);
	/* Names of situations that should have occurred but did not; a new array. */
	json_t *(*missing)(const void *context, uint64_t packets_sent);
	/* One line "N cases, ...". */
	void (*line)(const void *context, double seconds, char *text, size_t text_bytes);
};

/* The members that every property sets; its file names its functions after the members. */
#define O2_PROPERTY_HELD(name_, summary_, held_) \
	.name = name_, .summary = summary_, .run_case = run_case, .print = print, .held = held_
#define O2_PROPERTY_OPS(name_, summary_) O2_PROPERTY_HELD(name_, summary_, NULL), .print_held = print_held

struct o2_property {
	const struct o2_property_ops *ops;
	void *context;
	void *counters; /* counters of situations: restored after shrinking */
	size_t counters_bytes;
	bool keeps; /* cases run on objects that others own: what stays in the process is not judged */
	bool gives_back_slowly; /* give_back takes as long as many cases */
	uint32_t sweep_cases;	/* a sweep's finding comes from one of the last so many cases; 0: no sweeps */
};

#endif
