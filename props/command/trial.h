/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_TRIAL_H
#define O2_PROPS_TRIAL_H

#include <jansson.h>

#include "props/command/commands.h"
#include "props/command/probes.h"

/* One run of `o2ref conform`: its expected reports, and what its reports contain. */

#define O2_TRIAL_ROWS 160u

struct o2_trial_row {
	struct o2_probe probe;
	const char *outcome;  /* as in the text report */
	const char *expected; /* text of what was seen, '#' for any number; NULL: not predicted */
	char foretold[200];   /* storage for `expected` */
	char again[32];	      /* id for --only that repeats the probe; "": not predicted */
	/* From the report: */
	char seen[700], heard[300];
	uint64_t first, last; /* packet numbers; 0: not given */
};

struct o2_trial {
	struct o2_commands_run *run;
	const struct o2_probe_quirk *quirk;
	char folder[40]; /* of --out; "": not given */
	char only[200];
	bool json, kernel, lst;
	bool all;	  /* without --only */
	bool other_place; /* --place-bytes was given: texts about the end of the place are not predicted */
	bool hostile;
	uint64_t seed;
	uint32_t rounds;   /* value of --rounds */
	uint32_t told;	   /* queue depth in the peer's rejects; 0: the peer's real depth */
	bool stale;	   /* the first reject lets us ask the same again: "stale", or a race */
	const char *lacks; /* why probes of the place are skipped; NULL: they are not */
	char gone[5][64];  /* known findings that no longer occur */
	uint32_t ngone;
	struct o2_trial_row row[O2_TRIAL_ROWS];
	uint32_t rows, unnamed; /* unnamed: skipped probes without a row */
	/* Totals of the reports. */
	uint64_t messages, writes, connections;
};

uint64_t o2_trial_count(const struct o2_trial *trial, const char *outcome);
/* Check the report as text, as JSON, and as JUnit with the times of the JSON. */
void o2_trial_check_text(struct o2_trial *trial, const char *text);
void o2_trial_check_json(struct o2_trial *trial, const char *text);
void o2_trial_check_junit(struct o2_trial *trial, const char *text, const char *json_text);
/* Check all reports in the folder of --out, and delete the folder. */
void o2_trial_check_files(struct o2_trial *trial);
/* Check what the capture in the folder says. */
void o2_trial_check_said(struct o2_trial *trial, const uint8_t *bytes, size_t count);

#endif
