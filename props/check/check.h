/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_CHECK_H
#define O2_PROPS_CHECK_H

#include <jansson.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "oracle/compare.h"
#include "oracle/host.h"
#include "oracle/judge.h"
#include "oracle/known.h"
#include "props/check/check_kind.h"
#include "props/engine/choice.h"
#include "props/scenario/draw.h"

/*
 * `o2ref check` asks an implementation and the reference the same questions, committed ones first and then drawn
 * ones. It keeps the first difference of each cause, shrunk to a small question (docs/oracle.md).
 */

#define O2_CHECK_ORIGIN_BYTES PATH_MAX /* a path, for the replay command */

struct o2_check_options {
	uint64_t seed;
	uint64_t first; /* number of the first drawn case */
	uint64_t cases; /* number of drawn cases; 0: as many as the time allows */
	double seconds; /* time for asking, without shrinking, which has its own bound; 0: no bound */
	bool stage[O2_STAGES];
	enum o2_profile profile;
	uint32_t shrink_calls; /* questions that shrinking may ask per finding */
	const char *corpus;    /* directory of committed cases; NULL: none */
	const char *case_file; /* the only case to ask, as a path or as the form itself; NULL: none */
	const char *choices;   /* the only case to ask, as "STAGE:HEX"; NULL: none */
	const char *label;     /* name and commit of what is tested, for reports; NULL: not given */
	const json_t *since;   /* an earlier result, whose questions are asked first; NULL: none */
	bool pedantic;	       /* a broken `should` rule counts as a difference */
	bool pictures;	       /* keep the scenarios that pictures are drawn from */
};

/*
 * Most causes kept per stage, check and entry of the known differences: a defect that gives each case a cause of its
 * own must not fill the report, nor take the room of another one.
 */
#define O2_CHECK_CAUSES 8u

/* Most differences that a finding lists as explained. */
#define O2_CHECK_EXPLAINED 64u

/* The first difference of a check in one field and for one reason. */
struct o2_check_finding {
	enum o2_stage stage;
	uint32_t cause;	     /* index of the finding that stands for its cause (o2_check_causes) */
	uint64_t seen;	     /* cases that showed it */
	uint64_t explained;  /* other differences that this finding explains */
	json_t *explains;    /* these: objects of stage, check and reason; NULL: none */
	bool shrinkable;     /* true: drawn from choices; false: a case from a file, kept as it is */
	uint64_t after;	     /* answers of all stages before the finding was seen */
	double seconds;	     /* time from the start of the run to the finding */
	uint32_t calls;	     /* questions that shrinking and simplifying asked */
	uint32_t from_bytes; /* bytes of choices before shrinking (from) and after (to) */
	uint32_t to_bytes;
	bool simplified; /* the question is smaller than the one that the choices stand for */
	char origin[O2_CHECK_ORIGIN_BYTES]; /* "seed 0x1, case 12", or the path of a file */
	char *choices; /* shrunk, in hexadecimal digits; NULL: the finding has no choices.  Owned. */
	struct o2_difference difference;
	json_t *question, *expected, *found; /* JSON forms of the stage */
	json_t *others;			     /* texts: differences of the same case in other checks */
	json_t *backtrace;	      /* of a crash: texts, the innermost call first; NULL: not known */
	struct o2_scenario *scenario; /* of a transfer, to draw its picture; else NULL */
};

/* Cases of one stage. */
struct o2_check_tally {
	uint64_t asked;
	uint64_t agreed;
	uint64_t differed;
	uint64_t not_implemented;
	uint64_t left_out; /* drawn but not asked: similar questions got no answers (check_steer.h) */
};

/* One implementation under test. */
struct o2_check_subject {
	struct o2_host *host;		/* the caller owns host, map and known */
	const struct o2_error_map *map; /* rules that the implementation's error names stand for; not NULL */
	const struct o2_known *known;	/* known differences; not NULL */
	struct o2_check_tally tally[O2_STAGES];
	uint32_t place; /* index among the subjects of the run */
	uint64_t kind_answered[O2_CHECK_KINDS];
	uint64_t met[O2_CHECKS];      /* cases that the reference refuses by this rule */
	uint64_t accepted[O2_CHECKS]; /* cases that differ in a check that the profile turns off */
	uint64_t not_given;	      /* questions that a trusted caller never asks, so they were left out */
	uint64_t not_selected;	      /* questions of stages that the options leave out */
	uint32_t findings;
	struct o2_check_finding *finding;	 /* owned */
	uint64_t more_causes;			 /* cases whose cause found no room in `finding` */
	uint32_t not_kept[O2_STAGES][O2_CHECKS]; /* those of them that count as differences */
	uint32_t hangs[O2_STAGES];		 /* answers that came too late, or never */
	uint32_t misframed;			 /* answers that were no frame, or had bytes behind them */
	bool given_up[O2_STAGES]; /* too many hangs, or wrong frames: the stage is not asked any more */
	uint64_t late;		  /* answers that were late, but in time when the question was repeated */
	uint64_t unmapped;	  /* refusals whose name is not in the map */
	double seconds;
};

/*
 * Run all cases of the options on one subject. The caller fills in host, map and known, and sets the rest to
 * zero. Returns 0, or -errno: with a line in text if a file or an option cannot be read, and without one if the
 * machine fails.
 */
int o2_check_run(const struct o2_check_options *options, struct o2_check_subject *subject, char *text,
		 size_t text_bytes);

/* Would a run on the corpus in this directory read this file as a case? */
bool o2_check_corpus_reads(const char *directory, const char *path);

/*
 * Set `cause` of each finding: the index of the finding that stands for its cause.  Returns how many causes there
 * are.
 */
uint32_t o2_check_causes(struct o2_check_subject *subject, enum o2_profile profile);

/* Free what the findings hold, and the array. */
void o2_check_subject_free(struct o2_check_subject *subject);

/* Does it count as a difference of the implementation? */
bool o2_check_counts(const struct o2_check_options *options, const struct o2_difference *difference);

/* Cases of a stage that must be asked before a known difference that did not occur counts as a difference. */
#define O2_CHECK_STALE_CASES 1000u

/* Has the known difference at this index not occurred, although the profile asks for it and enough cases were asked? */
bool o2_check_stale(const struct o2_check_options *options, const struct o2_check_subject *subject,
		    uint32_t index);

/* The stage that a check belongs to.  False: the check is about conduct, not about a stage. */
bool o2_check_stage(enum o2_check_id check, enum o2_stage *stage);

/*
 * The result of a run over several subjects as an object of form "o2ref/check_result" (docs/oracle.md,
 * "Results"). NULL when memory runs out.
 */
json_t *o2_check_result(const struct o2_check_options *options, const struct o2_check_subject *subjects,
			uint32_t count);

/* Write the result to a stream: as text for a terminal, as JUnit, and as an HTML page. */
void o2_check_print(const json_t *result, bool color, FILE *out);
void o2_check_junit(const json_t *result, FILE *out);
void o2_check_html(const json_t *result, FILE *out);

/* `o2ref check ...`; argv[0] is "check".  Returns the exit status. */
int o2_check_command(const char *program, int argc, char **argv);

#endif
