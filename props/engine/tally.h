/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_TALLY_H
#define O2_PROPS_TALLY_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "props/engine/property.h"

/*
 * Counts of situations, for properties that need no device: how often each occurred, and which must occur in
 * a run that is long enough (docs/properties.md, "Counters").
 *
 * The run of a property has its tally as the first member, so that the functions below can serve as functions
 * of struct o2_property_ops: their context is the run.
 */
#define O2_TALLY_MAX 128u

/*
 * Declare situations as a list `#define LIST(ENTRY) ENTRY(constant, "name") ...`.  LIST(O2_SITUATION_ID)
 * gives the enumerators, LIST(O2_SITUATION_NAME) their names.
 */
#define O2_SITUATION_ID(id, name)   id,
#define O2_SITUATION_NAME(id, name) [id] = name,

struct o2_tally {
	const char *const *situation; /* names in results, words joined by _; borrowed */
	uint32_t situations;	      /* at most O2_TALLY_MAX */
	uint64_t enough_cases;	      /* a run of at least this many cases fails if a situation is missing */
	bool excused[O2_TALLY_MAX];   /* .. unless it is excused because it cannot occur everywhere */
	uint64_t cases;
	uint64_t seen[O2_TALLY_MAX];
};

/*
 * Make the property of a run whose first member is a struct o2_tally; run is NULL only to list the property.
 * situation, situations, enough_cases: as in struct o2_tally.
 */
struct o2_property o2_tally_property(const struct o2_property_ops *ops, void *run,
				     const char *const *situation, uint32_t situations,
				     uint64_t enough_cases);

/* Returns place, or new zeroed memory if place is NULL; without memory returns NULL and fills *report. */
void *o2_tally_place(void *place, size_t bytes, const char *signature, struct o2_report *report);

/* End a case: count it unless it is overrun or rejected.  Returns the status for run_case to return. */
enum o2_status o2_tally_case(struct o2_tally *tally, const struct o2_choice *choice,
			     const struct o2_report *report);

/* The members "cases" and "situations" of a result. */
void o2_tally_result(const void *tally, const struct o2_run_options *options, json_t *result);

/* Names of the required situations that did not occur; a new array. */
json_t *o2_tally_missing(const void *tally, uint64_t packets_sent);

/* One line "N cases, ...". */
void o2_tally_line(const void *tally, double seconds, char *text, size_t text_bytes);

/* The members of struct o2_property_ops that report the counts. */
#define O2_TALLY_OPS .result = o2_tally_result, .missing = o2_tally_missing, .line = o2_tally_line

/* For every property with a tally; its file names its functions after the members. */
#define O2_TALLY_PROPERTY(name_, summary_)    O2_PROPERTY_OPS(name_, summary_), O2_TALLY_OPS
#define O2_TALLY_HELD(name_, summary_, held_) O2_PROPERTY_HELD(name_, summary_, held_), O2_TALLY_OPS

#endif
