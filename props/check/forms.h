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
 * The property: a question, an answer or a refusal that is written as a JSON form is read back unchanged. A form
 * that was changed in one place is either refused, with the name of a field on the path to the change, or read as
 * what it now says. An answer that differs is found to differ (docs/properties.md, "The forms property").
 */

#define O2_FORM_PATH 8u /* steps from a form to its deepest value */

#define O2_FORM_KEY_BYTES 32u

/* One place in a form, and what was done to it. */
struct o2_form_change {
	char key[O2_FORM_PATH][O2_FORM_KEY_BYTES]; /* key of an object; empty: step into an array */
	size_t index[O2_FORM_PATH];
	uint32_t steps;
	bool deleted;
	char text[128]; /* path and change, for reports */
};

/* Change a form in one place.  False when there is nothing to change. */
bool o2_form_change(struct o2_choice *choice, json_t *form, struct o2_form_change *change);

/* The value at the changed place; NULL: there is none. */
json_t *o2_form_at(const json_t *form, const struct o2_form_change *change);

/* Is the changed value one of a set of numbers?  A number that is given twice there is written once. */
bool o2_form_is_of_set(const struct o2_form_change *change);

/* Is the value the default of its member, which need not be written? */
bool o2_form_is_default(const json_t *value, const struct o2_form_change *change);

/* Is the value a number, written as an integer or as hexadecimal digits? */
bool o2_form_number(const json_t *value, uint64_t *number);

/* Is the field of a refusal on the path to the change? */
bool o2_form_names(const struct o2_form_change *change, const char *field);

/*
 * Does `written` agree with `read`: is each member of `read` there, with an equal value? A member that the change
 * removed may be there with its default.
 */
bool o2_form_agrees(const json_t *written, const json_t *read, const struct o2_form_change *change);

/* Does the stage's own oracle find the registration or the work requests wrong, in a way that the peer notices? */
bool o2_forms_plan_is_wrong(const struct o2_case *asked, const struct o2_answer *expected,
			    const struct o2_answer *found);

/* Check that the bytes of a region, taken in two parts, lie where they lie when taken as a whole. */
void o2_forms_check_region(const struct o2_reg_plan *plan, struct o2_report *report);

struct o2_forms_run {
	struct o2_tally tally; /* must be first: props/engine/tally.h */
	struct o2_case asked, again;
	struct o2_scenario scenario;
	struct o2_answer expected, found;
	struct o2_comparison comparison;
	struct o2_form_change change;
	void (*fail_allocation)(uint32_t nth); /* make the nth allocation fail; NULL: not possible here */
	bool (*allocation_failed)(void);
	int64_t (*allocated)(void);
};

/* Draw a question of the stage; run->found: the reference's answer.  False: that answer is no result. */
bool o2_forms_begin(struct o2_forms_run *run, struct o2_choice *choice, enum o2_stage stage);

/*
 * Are all differences in their class? Those for a source descriptor that no caller has are of one check, whose
 * cause names the actual check, and are counted; those for other sources are not of that check.
 */
bool o2_forms_is_of_its_class(const struct o2_forms_run *run, uint64_t *impossible_found);

/* Report a finding "PART/WHAT" about a form, with a text and the beginning of the form. */
void o2_forms_fail(struct o2_report *report, const char *part, const char *what, const char *text,
		   const json_t *form);

/* Are the entries behind the last page of each page table unset? */
bool o2_forms_tables_end(const struct o2_case *asked);

/* A difference that must be reported, word for word. */
#define O2_SAID_BYTES 400u
struct o2_said {
	char check[80], field[48], rule[80], refused_as[80];
	char expected[O2_SAID_BYTES], found[O2_SAID_BYTES], cause[O2_SAID_BYTES];
};

/* All of them, in their order.  About 95 KiB: keep it off the stack. */
struct o2_foretold {
	uint32_t count;
	struct o2_said said[64];
};

/* Add a difference.  The caller fills in its other texts. */
struct o2_said *o2_foretold_add(struct o2_foretold *foretold, const char *check, const char *field);

/* Are field, expected and found those of the difference?  Are these differences reported, and no others? */
bool o2_said_words(const struct o2_said *said, const struct o2_difference *item);
bool o2_foretold_found(const struct o2_foretold *foretold, const struct o2_comparison *comparison);

/* Add to a report what was expected (NULL: nothing to add) and what was found. */
void o2_foretold_report(const struct o2_foretold *foretold, const struct o2_comparison *comparison,
			struct o2_report *report);

/* Set run->comparison: run->expected against run->found, without an error map. */
void o2_forms_compare(struct o2_forms_run *run);

/* Check that the differences of two answers, and their words, are those that follow from the two forms. */
void o2_forms_check_words(struct o2_forms_run *run, const json_t *before, const json_t *after,
			  struct o2_report *report);

/* The first difference whose check does not fit its field, as text valid until the next call; NULL: none. */
const char *o2_forms_other_check(const struct o2_forms_run *run);

/* The check that a byte of an encoded message belongs to. */
const char *o2_forms_check_at(const struct o2_msg *msg, uint32_t at);

/* Check the member "refused" of output forms by itself. */
void o2_forms_check_refused(struct o2_forms_run *run, struct o2_choice *choice, struct o2_report *report);

/* Check what is reported of a wrong byte of an encoded message, and of conduct: check, place and words. */
void o2_forms_check_encoded(struct o2_forms_run *run, struct o2_choice *choice, struct o2_report *report);
void o2_forms_check_conduct(struct o2_forms_run *run, struct o2_choice *choice, struct o2_report *report);

/* Check how an implementation with one flavour of checksum is asked, and which refusals that explains. */
void o2_forms_check_flavour(struct o2_forms_run *run, struct o2_choice *choice, struct o2_report *report);

/*
 * Check the memory shared with a shared object (layout, stray writes and their reports), and lists of each stage
 * that are about as long as allowed.
 */
void o2_forms_check_slots(struct o2_forms_run *run, struct o2_choice *choice, struct o2_report *report);
void o2_forms_check_limits(struct o2_forms_run *run, struct o2_choice *choice, struct o2_report *report);

/* Check a chain whose message is wrong. */
void o2_forms_check_chain(struct o2_forms_run *run, struct o2_choice *choice, struct o2_report *report);

/* Check reading when memory runs out. */
void o2_forms_check_short(struct o2_forms_run *run, struct o2_choice *choice, struct o2_report *report);

/* Check the comparison of any two verdicts, mostly refusals. */
void o2_forms_check_verdicts(struct o2_forms_run *run, struct o2_choice *choice, struct o2_report *report);

/* Are the numbers of a set-up or a conversation within what docs/oracle.md allows? */
bool o2_forms_may_be_asked(const struct o2_case *asked);
/* Check any set-up, and any life of a key: what is reported as wrong, and in which words. */
void o2_forms_check_setup(struct o2_forms_run *run, struct o2_choice *choice, struct o2_report *report);
void o2_forms_check_keys(struct o2_forms_run *run, struct o2_choice *choice, struct o2_report *report);

/* Check a conversation with one change; and one that lacks a NOOP, which in some states may wait. */
bool o2_forms_check_flow_waits(struct o2_forms_run *run, struct o2_choice *choice, struct o2_report *report);
void o2_forms_check_flow(struct o2_forms_run *run, struct o2_choice *choice, struct o2_report *report);

/* Draw the id of a rule that has a check. */
const char *o2_forms_draw_rule(struct o2_choice *c);

/* Check the files that an author writes: the error map, and the known differences. */
void o2_forms_check_map(struct o2_forms_run *run, struct o2_choice *choice, struct o2_report *report);
void o2_forms_check_known(struct o2_forms_run *run, struct o2_choice *choice, struct o2_report *report);

/* *run: zeros at first; the caller owns it.  It is large: keep it off the stack. */
struct o2_property o2_forms_property(struct o2_forms_run *run);

#endif
