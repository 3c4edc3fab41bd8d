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
 * `o2ref check`: ask an implementation and the reference the same questions, committed ones first and then
 * drawn ones, and keep the first difference of each cause, shrunk (docs/oracle.md).
 */

#define O2_CHECK_ORIGIN_BYTES PATH_MAX /* a path, for the replay */

struct o2_check_options {
	uint64_t seed;
	uint64_t first; /* number of the first drawn case */
	uint64_t cases; /* drawn; 0: as many as the time allows */
	double seconds; /* for asking; shrinking has its own bound.  0: none */
	bool stage[O2_STAGES];
	enum o2_profile profile;
	uint32_t shrink_calls; /* for each finding */
	const char *corpus;    /* directory of committed cases; NULL: none */
	const char *case_file; /* one case instead of all others, a path or the form itself; NULL: none */
	const char *choices;   /* likewise, as "STAGE:HEX"; NULL: none */
	const char *label;     /* what is tested, for reports: a name and a commit; NULL: not said */
	const json_t *since;   /* an earlier result: its questions are asked first; NULL: none */
	bool pedantic;	       /* a `should` counts as a difference */
	bool pictures;	       /* keep what a picture is drawn from */
};

/* Causes of one check that are kept: one defect with a cause of its own for each case is no more than these. */
#define O2_CHECK_CAUSES 8u

/* The first difference of a check in one field and for one reason. */
struct o2_check_finding {
	enum o2_stage stage;
	uint32_t cause;	     /* index of the finding that stands for its cause (o2_check_causes) */
	uint64_t seen;	     /* cases that showed it */
	uint64_t explained;  /* other differences that it explains */
	bool shrinkable;     /* drawn from choices; else a case from a file, kept as it is */
	uint64_t after;	     /* so many answers of all stages, and */
	double seconds;	     /* so long after the beginning of the run */
	uint32_t calls;	     /* that shrinking and simplifying took */
	uint32_t from_bytes; /* of choices, before shrinking and after */
	uint32_t to_bytes;
	bool simplified;		    /* the question is smaller than what the choices stand for */
	char origin[O2_CHECK_ORIGIN_BYTES]; /* "seed 0x1, case 12", or a file */
	char *choices; /* in hexadecimal digits, shrunk; NULL when it has none.  Owned. */
	struct o2_difference difference;
	json_t *question, *expected, *found; /* forms of the stage */
	json_t *others;			     /* differences in other checks of the same case: texts */
	json_t *backtrace;	      /* of a crash: texts, the innermost call first; NULL: not known */
	struct o2_scenario *scenario; /* of a transfer, for a picture; else NULL */
};

/* Cases of one stage. */
struct o2_check_tally {
	uint64_t asked;
	uint64_t agreed;
	uint64_t differed;
	uint64_t not_implemented;
	uint64_t left_out; /* drawn and not asked: their like got no answers (check_steer.h) */
};

/* One implementation under test. */
struct o2_check_subject {
	struct o2_host *host;		/* the caller's, as are */
	const struct o2_error_map *map; /* what its names stand for, and */
	const struct o2_known *known;	/* which differences are known; neither is NULL */
	struct o2_check_tally tally[O2_STAGES];
	uint32_t place; /* among the subjects of the run */
	uint64_t kind_answered[O2_CHECK_KINDS];
	uint64_t met[O2_CHECKS];      /* cases that asked for this rule, or for this kind of result */
	uint64_t accepted[O2_CHECKS]; /* cases that differ in a check that the profile turns off */
	uint64_t not_given;	      /* questions that no caller gives, and so were not asked */
	uint32_t findings;
	struct o2_check_finding *finding; /* O2_CHECKS times O2_CHECK_CAUSES of them; owned */
	uint64_t more_causes;		  /* cases with a cause that found no room among them */
	uint32_t hangs[O2_STAGES];	  /* answers that came too late, or never */
	bool given_up[O2_STAGES];	  /* so many that the stage is not asked any more */
	uint64_t late;			  /* answers that were late, and in time when asked for again */
	uint64_t unmapped;		  /* refusals whose name is in no map */
	double seconds;
};

/*
 * Run all cases of the options on one subject, whose host, map and known differences the caller has filled
 * in; the rest is zeros.  Returns 0, or -errno with a line in text when the machine fails or a file cannot be
 * read.
 */
int o2_check_run(const struct o2_check_options *options, struct o2_check_subject *subject, char *text,
		 size_t text_bytes);

/* Say of each finding which one stands for its cause; how many causes there are. */
uint32_t o2_check_causes(struct o2_check_subject *subject, enum o2_profile profile);

/* Frees the findings. */
void o2_check_subject_free(struct o2_check_subject *subject);

/* Does the finding count, so that the implementation is one that differs? */
bool o2_check_counts(const struct o2_check_options *options, const struct o2_check_finding *finding);

/*
 * How many cases of a stage must have been asked before a known difference that did not occur counts as a
 * difference.
 */
#define O2_CHECK_STALE_CASES 1000u

/* Is this a known difference, by its index, that has not occurred, although enough cases were asked? */
bool o2_check_stale(const struct o2_check_subject *subject, uint32_t index);

/* The stage that a check belongs to; false for those of conduct. */
bool o2_check_stage(enum o2_check_id check, enum o2_stage *stage);

/*
 * The result of a run over several subjects as an object of form "o2ref/check_result" (docs/oracle.md,
 * "Results"). NULL when memory runs out.
 */
json_t *o2_check_result(const struct o2_check_options *options, const struct o2_check_subject *subjects,
			uint32_t count);

/* The result for people, as JUnit, and as a page; each to a stream. */
void o2_check_print(const json_t *result, bool color, FILE *out);
void o2_check_junit(const json_t *result, FILE *out);
void o2_check_html(const json_t *result, FILE *out);

/* `o2ref check ...`; argv[0] is "check".  Returns the exit status. */
int o2_check_command(const char *program, int argc, char **argv);

#endif
