/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_TRIAL_H
#define O2_PROPS_TRIAL_H

#include <jansson.h>

#include "props/command/commands.h"
#include "props/command/probes.h"

/* One run of `o2ref conform`, what it has to report, and what is in its reports. */

#define O2_TRIAL_ROWS 160u

struct o2_trial_row {
	struct o2_probe probe;
	const char *outcome;  /* as in the text */
	const char *expected; /* what is said to have been seen, '#' for any number; NULL: not foretold */
	char foretold[200];   /* room for that */
	char again[32];	      /* the probe that finds it again; "": not foretold */
	/* From the report: */
	char seen[700], heard[300];
	uint64_t first, last; /* packets; 0: it does not say */
};

struct o2_trial {
	struct o2_commands_run *run;
	const struct o2_probe_quirk *quirk;
	char folder[40]; /* of --out; "": there is none */
	char only[200];
	bool json, kernel, lst;
	bool all;	  /* there is no --only */
	bool other_place; /* --place-bytes: what is said of its end is not foretold */
	bool hostile;
	uint64_t seed;
	uint32_t rounds;   /* of --rounds */
	uint32_t told;	   /* the depth that its rejects name; 0: that of the peer */
	bool stale;	   /* its first reject is for a connection of before */
	const char *lacks; /* why probes of the place are not tried; NULL: it is there */
	char gone[4][32];  /* known findings that do not occur any more */
	uint32_t ngone;
	struct o2_trial_row row[O2_TRIAL_ROWS];
	uint32_t rows, unnamed; /* unnamed: probes that are not tried, of which no row is printed */
	/* What the reports count. */
	uint64_t messages, writes, connections;
};

uint64_t o2_trial_count(const struct o2_trial *trial, const char *outcome);
/* The report as text, as JSON, and as JUnit with the times of the JSON. */
void o2_trial_check_text(struct o2_trial *trial, const char *text);
void o2_trial_check_json(struct o2_trial *trial, const char *text);
void o2_trial_check_junit(struct o2_trial *trial, const char *text, const char *json_text);
/* All of them, in the folder of --out, which goes. */
void o2_trial_check_files(struct o2_trial *trial);
/* The capture in the folder; peer, ours: IPv4 addresses. */
void o2_trial_check_said(struct o2_trial *trial, const uint8_t *bytes, size_t count);

#endif
