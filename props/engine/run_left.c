/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "props/engine/run_internal.h"

/* Finds the first case that leaves something in the process (props/engine/left_behind.h). */

/* Run cases first to last: do they leave something in the process? */
static bool leave(struct runner *r, uint64_t first, uint64_t last)
{
	struct o2_process_held held;

	o2_left_mark(r->property, &held);
	for (uint64_t i = first; i <= last; i++) {
		o2_choice_random(r->choice, r->options->seed, i);
		if (o2_run_try(r, r->choice, &r->report) == O2_STATUS_INTERESTING)
			o2_run_reset(r->property);
	}
	return !o2_left_nothing(r->property, &held, &r->report);
}

/* Find the first of cases first..last that leaves something, in ever longer parts; last + 1: none. */
static uint64_t first_to_leave(struct runner *r, uint64_t first, uint64_t last)
{
	uint64_t length = 1, end = first;

	for (; first <= last; first = end + 1, length *= 2) {
		end = last - first < length ? last : first + length - 1;
		if (leave(r, first, end))
			break;
	}
	while (first < end) {
		const uint64_t middle = first + (end - first) / 2;

		if (leave(r, first, middle))
			end = middle;
		else
			first = middle + 1;
	}
	return first;
}

/*
 * The cases since the last reading left something in the process: find the first that does so by itself, and run it
 * again for the report.
 */
static uint64_t find_leaver(struct runner *r, uint64_t index)
{
	const struct o2_report together = r->report;
	void *counts = o2_run_keep_counts(r);
	uint64_t at = first_to_leave(r, r->weighed, index);

	r->weigh = true;
	o2_choice_random(r->choice, r->options->seed, at);
	if (at > index || o2_run_try(r, r->choice, &r->report) != O2_STATUS_INTERESTING) {
		/* None by itself: the finding shows the last case. */
		at = index;
		o2_choice_random(r->choice, r->options->seed, at);
		o2_run_try(r, r->choice, &r->report);
		r->report = together;
	}
	o2_run_restore_counts(r, counts);
	return at;
}

static void note_left(struct runner *r, uint64_t index)
{
	const bool weigh = r->weigh;

	snprintf(r->grown, sizeof(r->grown), "found after cases %llu to %llu: %.200s",
		 (unsigned long long)r->weighed, (unsigned long long)index, r->report.line[0]);
	/* An exhaustive run cannot go back to a case: the finding shows the last one. */
	if (r->exhaustive == NULL)
		index = find_leaver(r, index);
	o2_run_note_failure(r, index);
	r->weigh = weigh;
	r->grown[0] = '\0';
}

void o2_run_check_left(struct runner *r, uint64_t done, bool last)
{
	const struct o2_property *property = r->property;
	const uint64_t index = r->options->first_case + done - 1;

	if (property->keeps || (r->marked && !last && !o2_left_due(property, done)))
		return;
	o2_report_clear(&r->report);
	/* Sweep first: what give_back closes cannot be swept later. */
	if (property->ops->sweep != NULL && !property->ops->sweep(property->context, &r->report) &&
	    r->report.failed) {
		o2_run_note_failure(r, index);
		return;
	}
	if (r->marked && !o2_left_nothing(property, &r->held, &r->report)) {
		if (r->report.failed) {
			note_left(r, index);
			return;
		}
		r->marked = false; /* a failure that does not count (o2_report_only) */
	}
	if (!r->marked)
		o2_left_mark(property, &r->held);
	r->marked = true;
	r->weighed = index + 1;
}
