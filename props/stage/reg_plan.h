/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_REG_PLAN_H
#define O2_PROPS_REG_PLAN_H

#include "props/engine/property.h"
#include "props/engine/tally.h"
#include "reg/plan.h"

/*
 * The property: a plan, in any mode, publishes and registers exactly the bytes of its segments, in order, in the
 * form that docs/modes.md gives that mode; or reg_plan refuses by a broken rule, while all rules of earlier stages
 * hold (docs/properties.md, "The reg_plan property").
 */

#define O2_PLAN_RULES 23u

struct o2_plan_run {
	struct o2_tally tally; /* first: props/engine/tally.h */
	struct o2_reg_request request;
	struct o2_dma_list list;
	struct o2_reg_plan plan;
	int code;
	const char *rule;
};

/* Draw a request and a list of segments, valid for the most part. */
void o2_plan_draw(struct o2_plan_run *run, struct o2_choice *c);

struct o2_plan_rule {
	const char *name;
	int code;
	uint32_t stage; /* a rule is checked only if all rules of earlier stages hold */
};

extern const struct o2_plan_rule o2_plan_rules[O2_PLAN_RULES];

/* The broken rules of the first stage that has any, as bits in the order of o2_plan_rules. */
uint32_t o2_plan_broken(const struct o2_plan_run *run);

/* The figures in a refusal by broken rule number `rule`: docs/modes.md, "Refusals of reg_plan". */
struct o2_plan_figures {
	uint32_t index;
	uint64_t value, limit;
};
struct o2_plan_figures o2_plan_figures(const struct o2_plan_run *run, uint32_t rule);

/* True if a page list can express every boundary between segments. */
bool o2_plan_is_dense(const struct o2_plan_run *run);

/* Number of pages in a page list for these segments. */
uint64_t o2_plan_slots(const struct o2_plan_run *run);

/* Check run->plan; a failure fills *report. */
void o2_plan_check(const struct o2_plan_run *run, struct o2_report *report);

/* *run: owned by the caller, zeroed before the first case. */
struct o2_property o2_plan_property(struct o2_plan_run *run);

#endif
