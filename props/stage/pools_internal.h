/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_POOLS_INTERNAL_H
#define O2_PROPS_POOLS_INTERNAL_H

#include "props/stage/pools.h"

/* The steps of the pools property, for each kind of set; called by props/stage/pools.c. */

extern const char *const o2_pool_kind_names[O2_POOLS_KINDS];

/* Draw a set's configuration, then open the set and its model.  Nothing fails at this point. */
void o2_pools_open(struct o2_pools_run *run, struct o2_choice *c, uint32_t index, struct o2_report *report);

/* Check what must hold after every step: all counts agree, and the device saw no violation. */
void o2_pools_compare(struct o2_pool_subject *subject, struct o2_report *report);

/* Close the set: check that it is refused while anything is in use, and otherwise leaves nothing. */
void o2_pools_close(struct o2_pool_subject *subject, struct o2_report *report);

/*
 * Compare the result of a call with the prediction.  rule: of the predicted refusal, or NULL.  False: they differ,
 * and *report says how.
 */
bool o2_pools_expect(const struct o2_pool_subject *subject, const char *what, int rc, int want,
		     const char *rule, const struct o2_error *error, struct o2_report *report);

/* Compare value and limit of a refusal with the prediction (docs/pools.md, "Refusals").  False: as above. */
bool o2_pools_expect_figures(const struct o2_pool_subject *subject, const char *what,
			     const struct o2_error *error, uint64_t value, uint64_t limit,
			     struct o2_report *report);

/* Note that an element is in use; note that the element held at `at` is not in use any more. */
void o2_pools_hold(struct o2_pool_subject *subject, uint32_t element, void *object);
void o2_pools_let_go(struct o2_pool_subject *subject, uint32_t at);

/*
 * Draw a request and take an element: check that it is given or refused as the model predicts.  step->how and
 * step->number are for the printed case.
 */
void o2_pools_take_tx(struct o2_pools_run *run, struct o2_pool_subject *subject, struct o2_choice *c,
		      struct o2_pool_step *step, struct o2_report *report);
void o2_pools_take_frd(struct o2_pools_run *run, struct o2_pool_subject *subject, struct o2_choice *c,
		       struct o2_pool_step *step, struct o2_report *report);
void o2_pools_take_fmr(struct o2_pools_run *run, struct o2_pool_subject *subject, struct o2_choice *c,
		       struct o2_pool_step *step, struct o2_report *report);

/* Put back the element held at `at`, in one of the possible ways. */
void o2_pools_put_tx(struct o2_pools_run *run, struct o2_pool_subject *subject, uint32_t at,
		     struct o2_choice *c, struct o2_pool_step *step, struct o2_report *report);
void o2_pools_put_frd(struct o2_pools_run *run, struct o2_pool_subject *subject, uint32_t at,
		      struct o2_choice *c, struct o2_pool_step *step, struct o2_report *report);
void o2_pools_put_fmr(struct o2_pools_run *run, struct o2_pool_subject *subject, uint32_t at,
		      struct o2_choice *c, struct o2_pool_step *step, struct o2_report *report);

/* The state of the pool of element `element`. */
enum o2_pool_fate o2_pools_fate(const struct o2_pool_subject *subject, uint32_t element);

/* Compare the regions of every live FMR pool with the model: their lists, and which keys are alive. */
void o2_pools_compare_fmr(struct o2_pool_subject *subject, struct o2_report *report);

#endif
