/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_POOLS_INTERNAL_H
#define O2_PROPS_POOLS_INTERNAL_H

#include "props/stage/pools.h"

/* The steps of the pools property, by kind of set (props/stage/pools.c calls them). */

extern const char *const o2_pool_kind_names[O2_POOLS_KINDS];

/* Draw a set of its own configuration and open it, with its model.  Nothing fails yet. */
void o2_pools_open(struct o2_pools_run *run, struct o2_choice *c, uint32_t index, struct o2_report *report);

/* What must hold after every step: all counts agree, and the device saw nothing wrong. */
void o2_pools_compare(struct o2_pool_subject *subject, struct o2_report *report);

/* Close the set: refused while anything is in use, else nothing is left. */
void o2_pools_close(struct o2_pool_subject *subject, struct o2_report *report);

/*
 * Compare what a call answered.  rule: of the refusal that is expected, or NULL.  False, with the report
 * filled, when it is not what was foretold.
 */
bool o2_pools_expect(const struct o2_pool_subject *subject, const char *what, int rc, int want,
		     const char *rule, const struct o2_error *error, struct o2_report *report);

/* Note that an element is in use, and that it is not any more. */
void o2_pools_hold(struct o2_pool_subject *subject, uint32_t element, void *object);
void o2_pools_let_go(struct o2_pool_subject *subject, uint32_t at);

/*
 * Take an element, or be refused, as the model foretold.  Draws what is asked for.  step->how and
 * step->number are for people.
 */
void o2_pools_take_tx(struct o2_pools_run *run, struct o2_pool_subject *subject, struct o2_choice *c,
		      struct o2_pool_step *step, struct o2_report *report);
void o2_pools_take_frd(struct o2_pools_run *run, struct o2_pool_subject *subject, struct o2_choice *c,
		       struct o2_pool_step *step, struct o2_report *report);
void o2_pools_take_fmr(struct o2_pools_run *run, struct o2_pool_subject *subject, struct o2_choice *c,
		       struct o2_pool_step *step, struct o2_report *report);

/* Put back the element that is held at `at`, in one of the ways there are. */
void o2_pools_put_tx(struct o2_pools_run *run, struct o2_pool_subject *subject, uint32_t at,
		     struct o2_choice *c, struct o2_pool_step *step, struct o2_report *report);
void o2_pools_put_frd(struct o2_pools_run *run, struct o2_pool_subject *subject, uint32_t at,
		      struct o2_choice *c, struct o2_pool_step *step, struct o2_report *report);
void o2_pools_put_fmr(struct o2_pools_run *run, struct o2_pool_subject *subject, uint32_t at,
		      struct o2_choice *c, struct o2_pool_step *step, struct o2_report *report);

/* What the pool of element `element` became. */
enum o2_pool_fate o2_pools_fate(const struct o2_pool_subject *subject, uint32_t element);

/* Where the regions of every live FMR pool are, and which keys are alive. */
void o2_pools_compare_fmr(struct o2_pool_subject *subject, struct o2_report *report);

#endif
