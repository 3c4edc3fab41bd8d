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
 * What the runner (props/engine/run.h) knows of a property: how to run one case, and how to report on it.
 *
 * The functions get `context`, which is the property's own.  Those marked optional may be NULL.
 */
struct o2_property_ops {
	const char *name;    /* one word: in commands, case file names and results */
	const char *summary; /* what holds, in one line */

	/* Draw a case and try it; a failure fills *report. */
	enum o2_status (*run_case)(void *context, struct o2_choice *choice, struct o2_report *report);
	/* Optional.  After a failure: make everything as it was, because the case may have changed it. */
	void (*reset)(void *context);
	/*
	 * Optional.  Close what is kept from case to case to save time; the next case makes it anew.  After
	 * it the process holds what it held before (props/engine/left_behind.h).
	 */
	void (*give_back)(void *context);
	/*
	 * Optional. When all cases are done: is everything unchanged that no case compared?  False fills
	 * *report.
	 */
	bool (*sweep)(void *context, struct o2_report *report);
	/* Optional.  From now on sweep after each case. */
	void (*sweep_always)(void *context);

	/* The case at hand, for people; pieces: list entries to print, at most. */
	void (*print)(const void *context, uint32_t pieces, FILE *out);
	/* One line on how it held; NULL: "held", and behind it `held`, or what print says where that is NULL. */
	void (*print_held)(const void *context, FILE *out);
	const char *held;
	/* Optional.  The case at hand as a file that outlives changes of the generator; a new object. */
	json_t *(*to_json)(const void *context);
	/* Optional.  Run such an object.  0 and *status, or -errno with *error filled. */
	int (*run_json)(void *context, const json_t *object, enum o2_status *status, struct o2_report *report,
			struct o2_error *error);

	/* Optional.  Other bounds than cases and seconds; true when they are met (and there are any). */
	bool (*enough)(const void *context, const struct o2_run_options *options);
	/* The members of the result that are the property's own: "cases" and its situations. */
	void (*result)(const void *context, const struct o2_run_options *options, json_t *result);
	/* Names of situations that should have occurred and did not; a new array. */
	json_t *(*missing)(const void *context, uint64_t packets_sent);
	/* One line "N cases, ...". */
	void (*line)(const void *context, double seconds, char *text, size_t text_bytes);
};

/* What every property has; the functions of its file are called as the members are. */
#define O2_PROPERTY_HELD(name_, summary_, held_) \
	.name = name_, .summary = summary_, .run_case = run_case, .print = print, .held = held_
#define O2_PROPERTY_OPS(name_, summary_) O2_PROPERTY_HELD(name_, summary_, NULL), .print_held = print_held

struct o2_property {
	const struct o2_property_ops *ops;
	void *context;
	void *counters; /* of situations: put back as they were after shrinking */
	size_t counters_bytes;
	bool keeps; /* what cases run on is another's: what it leaves in the process is not judged */
	bool gives_back_slowly; /* it takes as long as many cases */
	uint32_t sweep_cases;	/* a sweep's finding is due to one of the last so many cases; 0: no sweeps */
};

#endif
