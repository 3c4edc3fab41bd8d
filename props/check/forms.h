/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_FORMS_H
#define O2_PROPS_FORMS_H

#include <jansson.h>
#include <stdbool.h>

#include "oracle/answer.h"
#include "oracle/case.h"
#include "oracle/compare.h"
#include "props/engine/property.h"
#include "props/engine/tally.h"
#include "props/scenario/scenario.h"

/*
 * The property: what is written as a JSON form, be it a question, an answer or a refusal, is read as the
 * same; a form that was changed in one place is refused with the name of a field on the way there, or read as
 * what it says; and an answer that differs is found to differ (docs/properties.md, "The forms property").
 */

#define O2_FORM_PATH 8u /* steps from a form to its deepest value */

#define O2_FORM_KEY_BYTES 32u

/* One place in a form, and what was done to it. */
struct o2_form_change {
	char key[O2_FORM_PATH][O2_FORM_KEY_BYTES]; /* of objects; empty: a step into an array */
	size_t index[O2_FORM_PATH];
	uint32_t steps;
	bool deleted;
	char text[128]; /* the whole, for a reader */
};

/* Change a form in one place.  False when there is nothing to change. */
bool o2_form_change(struct o2_choice *choice, json_t *form, struct o2_form_change *change);

/* What is there; NULL: nothing, or no more. */
json_t *o2_form_at(const json_t *form, const struct o2_form_change *change);

/* Whether it is one of a set of numbers: what is named twice there is written once. */
bool o2_form_is_of_set(const struct o2_form_change *change);

/* Whether it is what is meant where nothing is said: then it need not be written. */
bool o2_form_is_default(const json_t *value, const struct o2_form_change *change);

/* Whether it is a number, written as one or as hex digits. */
bool o2_form_number(const json_t *value, uint64_t *number);

/* Whether a refusal's field is one on the way to the change. */
bool o2_form_names(const struct o2_form_change *change, const char *field);

/*
 * Whether written says what read says: each of its members is there and equal. Where the change took a
 * member away, it may have come back with a default.
 */
bool o2_form_agrees(const json_t *written, const json_t *read, const struct o2_form_change *change);

/* Whether the oracle of its stage finds a plan wrong, that of a registration or of work requests, in what matters to others. */
bool o2_forms_plan_is_wrong(const struct o2_case *asked, const struct o2_answer *expected,
			    const struct o2_answer *found);

struct o2_forms_run {
	struct o2_tally tally; /* first: props/engine/tally.h */
	struct o2_case asked, again;
	struct o2_scenario scenario;
	struct o2_answer expected, found;
	struct o2_comparison comparison;
	struct o2_form_change change;
	void (*fail_allocation)(uint32_t nth); /* NULL: none can be made to fail */
	bool (*allocation_failed)(void);
	int64_t (*allocated)(void);
};

/* Draw a question of the stage; what is found is what the reference answers.  False: that is no result. */
bool o2_forms_begin(struct o2_forms_run *run, struct o2_choice *choice, enum o2_stage stage);

/*
 * Differences for a source that no caller has are of one check, which names the other one that each would be, and
 * are counted; of other sources none are.
 */
bool o2_forms_is_of_its_class(const struct o2_forms_run *run, uint64_t *impossible_found);

/* A finding about a form, "PART/WHAT": a text, and the form or its beginning. */
void o2_forms_fail(struct o2_report *report, const char *part, const char *what, const char *text,
		   const json_t *form);

/* Nothing is read into tables of pages behind the last page. */
bool o2_forms_tables_end(const struct o2_case *asked);

/* run->comparison of what was expected and found, without a map. */
void o2_forms_compare(struct o2_forms_run *run);

/* Which differences two answers must have, and in which words, where the two forms tell. */
void o2_forms_check_words(struct o2_forms_run *run, const json_t *before, const json_t *after,
			  struct o2_report *report);

/* The first difference of a check that is not its field's, in words that the next call overwrites; NULL: none. */
const char *o2_forms_other_check(const struct o2_forms_run *run);

/* The check of one byte of an encoded message. */
const char *o2_forms_check_at(const struct o2_msg *msg, uint32_t at);

/* The member "refused" of output forms, by itself. */
void o2_forms_check_refused(struct o2_forms_run *run, struct o2_choice *choice, struct o2_report *report);

/* A wrong byte of an encoded message, and conduct: which check, where, and in which words. */
void o2_forms_check_encoded(struct o2_forms_run *run, struct o2_choice *choice, struct o2_report *report);
void o2_forms_check_conduct(struct o2_forms_run *run, struct o2_choice *choice, struct o2_report *report);

/* Who knows one flavour of checksum: how that is asked, and what it explains. */
void o2_forms_check_flavour(struct o2_forms_run *run, struct o2_choice *choice, struct o2_report *report);

/*
 * What the oracle shares with a shared object: the places, what is noticed beside them, and in which words; and
 * each list of each stage about as long as it may be.
 */
void o2_forms_check_slots(struct o2_forms_run *run, struct o2_choice *choice, struct o2_report *report);
void o2_forms_check_limits(struct o2_forms_run *run, struct o2_choice *choice, struct o2_report *report);

/* A chain of which the message is another. */
void o2_forms_check_chain(struct o2_forms_run *run, struct o2_choice *choice, struct o2_report *report);

/* What is read without memory. */
void o2_forms_check_short(struct o2_forms_run *run, struct o2_choice *choice, struct o2_report *report);

/* Any two verdicts, refusals mostly. */
void o2_forms_check_verdicts(struct o2_forms_run *run, struct o2_choice *choice, struct o2_report *report);

/* Are the figures of a set-up, or of a conversation, those that docs/oracle.md allows? */
bool o2_forms_may_be_asked(const struct o2_case *asked);
/* Any set-up, and any life of a key: what is wrong with them, and in which words. */
void o2_forms_check_setup(struct o2_forms_run *run, struct o2_choice *choice, struct o2_report *report);
void o2_forms_check_keys(struct o2_forms_run *run, struct o2_choice *choice, struct o2_report *report);

/* A conversation of which one thing is another; one that lacks a NOOP, and whether that may wait. */
bool o2_forms_check_flow_waits(struct o2_forms_run *run, struct o2_choice *choice, struct o2_report *report);
void o2_forms_check_flow(struct o2_forms_run *run, struct o2_choice *choice, struct o2_report *report);

/* Lists of the author's: what its errors stand for, and which differences are known of which questions. */
void o2_forms_check_map(struct o2_forms_run *run, struct o2_choice *choice, struct o2_report *report);
void o2_forms_check_known(struct o2_forms_run *run, struct o2_choice *choice, struct o2_report *report);

/* *run: zeros at first, the caller's.  It is large: keep it off the stack. */
struct o2_property o2_forms_property(struct o2_forms_run *run);

#endif
