/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_RUN_INTERNAL_H
#define O2_PROPS_RUN_INTERNAL_H

#include "props/engine/left_behind.h"

struct runner {
	const struct o2_property *property;
	const struct o2_run_options *options;
	struct o2_choice *choice;
	struct o2_report report;
	json_t *findings;
	json_t *hw_before[2]; /* of options->hw_device; NULL: there is none */
	char signature[O2_RUN_MAX_FINDINGS][sizeof(((struct o2_report *)0)->signature)];
	uint32_t nsignatures;
	uint32_t failures;
	bool blamed; /* every case sweeps by now */
	struct o2_process_held held;
	bool marked;			  /* held was read after the first case since the last finding */
	uint64_t weighed;		  /* the case after the last reading that held */
	bool weigh;			  /* every case is weighed by itself */
	char grown[O2_REPORT_LINE_BYTES]; /* what all cases since the first reading left; "" */
	int current_fd;
	double start;
};

/* Try the case that choice has, and weigh it if all are weighed. */
enum o2_status o2_run_try(const struct runner *r, struct o2_choice *choice, struct o2_report *report);

/* A failing case may have changed anything. */
void o2_run_reset(const struct o2_property *property);

/* A case has failed as r->report says: make a finding of it.  What was held before it says nothing any more. */
void o2_run_note_failure(struct runner *r, uint64_t index);

/*
 * After a case that held, so many in all: is it time for a reading, and is all as it was?  last: whatever the
 * time.
 */
void o2_run_check_left(struct runner *r, uint64_t done, bool last);

#endif
