/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_TOLD_REPORT_H
#define O2_PROPS_TOLD_REPORT_H

#include "props/command/told.h"
#include "props/judge/hearing.h"
#include "wire/nid.h"

/* What o2ref judge must report for a capture: the findings of a hearing, as text, JSON, JUnit, SARIF and HTML. */

#define O2_TOLD_WHAT 160u

struct o2_told_found {
	const struct o2_judge_rule *rule;
	enum o2_judge_severity severity;
	const struct o2_judge_finding *finding;
	enum o2_judge_side who;
	uint64_t packet, earlier; /* numbers; earlier 0: none */
	char what[O2_TOLD_WHAT];  /* "": no text */
};

/* A rule that a side has broken, proven or not: the first finding, and how many there are. */
struct o2_told_row {
	uint32_t first; /* index into found */
	uint64_t times;
};

/* A file that is judged. */
struct o2_told_file {
	const char *name;
	const char *why; /* why it cannot be judged; NULL: it is the capture */
	bool opened;
};

#define O2_TOLD_FILES 5u

struct o2_told_report {
	const struct o2_told *told;
	/* Mostly one, standard input. */
	uint32_t nfiles;
	struct o2_told_file file[O2_TOLD_FILES];
	uint64_t dropped; /* packets dropped by an interface */
	const struct o2_hearing *hearing;
	char nid[O2_JUDGE_SIDES][O2_NID_TEXT_BYTES];
	uint64_t times[O2_JUDGE_SEVERITIES];
	uint32_t nfound, nrows;
	struct o2_told_found found[O2_HEARING_LOG];
	struct o2_told_row row[O2_HEARING_LOG];
};

/* Collect the findings of the hearing's log, once per conversation.  The first twin is the first conversation. */
void o2_told_add_up(struct o2_told_report *report, const struct o2_told *told,
		    const struct o2_hearing *hearing);
/* Does the finding belong to the row? */
bool o2_told_is_of(const struct o2_told_report *report, uint32_t found, uint32_t row);

/* Write the first lines of the text report (seen), or all of it (text); or the JUnit report. */
void o2_told_seen(FILE *out, const struct o2_told_report *report);
void o2_told_text(FILE *out, const struct o2_told_report *report);
void o2_told_junit(FILE *out, const struct o2_told_report *report);
/* Write the body of the page.  first: ids up to this one are always shown (told_page.c). */
void o2_told_page(FILE *out, const struct o2_told_report *report, uint64_t first);
/* The form o2ref/judge/output of a file, and SARIF without the version of o2ref.  Both are new objects. */
json_t *o2_told_json(const struct o2_told_report *report, const char *name);
/* The form o2ref/judge/output of a file that could not be judged. */
json_t *o2_told_json_error(const struct o2_told_file *file);
json_t *o2_told_sarif(const struct o2_told_report *report);
/* Write what the rule demands, and whether the finding is proven. */
void o2_told_holds(FILE *out, const struct o2_told_found *found);
/* Write text escaped for HTML or XML. */
void o2_told_escaped(FILE *out, const char *text);

#endif
