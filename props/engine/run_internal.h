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
	int current_fd;			  /* -1: no case is noted, or none any more */
	bool unwritten;			  /* a file that was asked for is not there, and this was said */
	double start;
};

/* Try the case that choice has, and weigh it if all are weighed. */
enum o2_status o2_run_try(const struct runner *r, struct o2_choice *choice, struct o2_report *report);

/* A failing case may have changed anything. */
void o2_run_reset(const struct o2_property *property);

/* A case has failed as r->report says: make a finding of it.  What was held before it says nothing any more. */
void o2_run_note_failure(struct runner *r, uint64_t index);

/* The command that runs one case by its number, with `end` behind it; the caller frees it. NULL: no memory. */
char *o2_run_line(const struct runner *r, uint64_t index, const char *end);

/* Say that a file cannot be written, and why: code is an errno.  The run ends with status 2. */
void o2_run_not_written(struct runner *r, const char *path, int code);

/*
 * Write the case that was number `index` and its scenario, if that is asked for; the finding then says where
 * they are, and how to replay the case: by its number where it could not be written.
 */
void o2_run_write_files(struct runner *r, const uint8_t *bytes, size_t length, uint64_t index,
			json_t *finding);

/* What r->report says, in words. */
void o2_run_print_finding(const struct runner *r, const json_t *finding, uint64_t index);

/*
 * After a case that held, so many in all: is it time for a reading, and is all as it was?  last: whatever the
 * time.
 */
void o2_run_check_left(struct runner *r, uint64_t done, bool last);

#endif
