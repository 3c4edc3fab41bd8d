/* SPDX-License-Identifier: MIT */
#ifndef O2_CLI_NET_CONFORM_REPORT_H
#define O2_CLI_NET_CONFORM_REPORT_H

#include <stdio.h>

#include "cli/net/conform/conform.h"
#include "cli/net/conform/known.h"
#include "cli/net/judging.h"

/*
 * The report of conform: a row for each probe as it ends, then how many there are of each outcome; or one
 * JSON object.  With --out also as files, with JUnit.
 */

struct o2_conform_row {
	char id[O2_CONFORM_ID_BYTES];
	char sentence[192];
	char source[96];		 /* "page.md#section" */
	char again[O2_CONFORM_ID_BYTES]; /* the probe to try again for this row */
	struct o2_conform_result result;
};

struct o2_conform_report {
	const struct o2_net_options *options;
	int argc; /* the command line, for commands that try a row again */
	char **argv;
	struct o2_conform_known known;
	struct o2_conform_row *rows; /* owned */
	uint32_t nrows;
	uint32_t count[O2_CONFORM_OUTCOMES];
	uint32_t lies, lies_named; /* misbehaviours that were done; those for which the judge named a rule */
	/* The probe that must hold before anything else can be tried, and does not; NULL: it holds. */
	const struct o2_conform_probe *mute;
	struct o2_end_heard judged;
	bool whole;	 /* everything that was wanted was tried */
	const char *why; /* why it is not; NULL: it is */
	bool starved;	 /* memory ran out: a row is missing */
};

/* The capture's name in the folder of --out. */
#define O2_CONFORM_SAID "said.pcapng"

/* Ids of the judge's findings: "judge/" and the rule. */
#define O2_CONFORM_JUDGE "judge/"

/* again: the probe that shows the row again, mostly the row's own id. */
void o2_conform_report_add(struct o2_conform_report *report, const char *id, const char *sentence,
			   const char *source, const char *again, const struct o2_conform_result *result);
/*
 * Print the end, and write the files of --out.  Returns false if the JSON form could not be printed, or a file not be
 * written; there is a line on stderr, but for a standard output that has failed: o2_cli_finish reports that.
 */
bool o2_conform_report_end(struct o2_conform_report *report);
void o2_conform_report_free(struct o2_conform_report *report);

/* "o2ref conform .. --only ID": the command that tries a row again. */
void o2_conform_again(const struct o2_conform_report *report, const char *id, char *text, size_t bytes);

/*
 * report_out.c: make the folder of --out, before anything is tried, or find it.  Nobody may take the files of an earlier
 * run for those of a run that writes none: remove them.  folder NULL: none is wanted.  False, after a line on stderr: no
 * files can be written there.
 */
bool o2_conform_report_prepare(const char *folder);
/* report_out.c: write the files.  False: one could not be written. */
bool o2_conform_report_files(const struct o2_conform_report *report);
/* report.c: the contents of the files. */
void o2_conform_report_text(const struct o2_conform_report *report, FILE *out);
bool o2_conform_report_json(const struct o2_conform_report *report, FILE *out);

#endif
