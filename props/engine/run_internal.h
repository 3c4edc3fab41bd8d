/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_RUN_INTERNAL_H
#define O2_PROPS_RUN_INTERNAL_H

#include "props/engine/exhaustive.h"
#include "props/engine/left_behind.h"

struct runner {
	const struct o2_property *property;
	const struct o2_run_options *options;
	struct o2_choice *choice;
	struct o2_exhaustive *exhaustive; /* NULL: cases are random */
	struct o2_report report;
	json_t *findings;
	json_t *hw_before[2]; /* counters of options->hw_device before the run; NULL: none */
	char signature[O2_RUN_MAX_FINDINGS][sizeof(((struct o2_report *)0)->signature)];
	uint32_t nsignatures;
	uint32_t failures;
	bool blamed; /* sweep_always was called: every case sweeps */
	struct o2_process_held held;
	bool marked;			  /* held was read after the first case since the last finding */
	uint64_t weighed;		  /* first case after the last reading that held */
	bool weigh;			  /* each case is weighed individually */
	char grown[O2_REPORT_LINE_BYTES]; /* what all cases since the first reading left; "": nothing */
	int current_fd;			  /* file of the current case; -1: none, or no longer written */
	uint64_t tried;			  /* cases of the run, counted or not */
	/* Of the finding at hand, byte for byte; NULL: none.  JSON holds only UTF-8. */
	char *replay, *scenario_file;
	bool unwritten; /* a requested file could not be written, and the user was told */
	double start;
};

/* Run the case in choice; also weigh it if all cases are weighed. */
enum o2_status o2_run_try(const struct runner *r, struct o2_choice *choice, struct o2_report *report);

/* Restore the property's initial state, because a failing case may have changed anything. */
void o2_run_reset(const struct o2_property *property);

/*
 * Cases that are run again must not be counted again.  The counters as they are now, for o2_run_restore_counts;
 * without memory NULL, which restores nothing.
 */
void *o2_run_keep_counts(const struct runner *r);
void o2_run_restore_counts(const struct runner *r, void *counts);

/* A case failed as r->report says: make a finding of it.  The last reading of what the process holds is void. */
void o2_run_note_failure(struct runner *r, uint64_t index);

/*
 * The command that runs one case by its number, followed by `end`; the caller frees it. NULL: no memory.  An
 * exhaustive run has to visit the cases before it too.
 */
char *o2_run_line(const struct runner *r, uint64_t index, const char *end);

/* Report that a file cannot be written, and why: code is an errno.  The run ends with status 2. */
void o2_run_not_written(struct runner *r, const char *path, int code);

/*
 * Write case number `index` and its scenario, if the user asked for files.  The finding then says where they
 * are and how to replay the case: by its number if the file could not be written.
 */
void o2_run_write_files(struct runner *r, const uint8_t *bytes, size_t length, uint64_t index,
			json_t *finding);

/* Print the finding that r->report describes, after o2_run_write_files. */
void o2_run_print_finding(const struct runner *r, uint64_t index);

/*
 * Call after each case that held; done: cases so far.  If a reading is due, check that the process holds what
 * it held before.  last: take a reading in any case.
 */
void o2_run_check_left(struct runner *r, uint64_t done, bool last);

#endif
