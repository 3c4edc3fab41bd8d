/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_REG_PLAN_H
#define O2_PROPS_REG_PLAN_H

#include "props/engine/property.h"
#include "props/engine/tally.h"
#include "reg/plan.h"

/*
 * The property: a plan, in any mode, publishes and registers exactly the bytes of its segments, in their
 * order, in the form that docs/modes.md gives that mode; or it is refused by a rule that is broken, and no
 * rule of an earlier stage is (docs/properties.md, "The reg_plan property").
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

/* Draw a request and a list of segments: legal for the most part. */
void o2_plan_draw(struct o2_plan_run *run, struct o2_choice *c);

struct o2_plan_rule {
	const char *name;
	int code;
	uint32_t stage; /* a rule is only checked when those of the stages before hold */
};

extern const struct o2_plan_rule o2_plan_rules[O2_PLAN_RULES];

/* The rules that are broken, of the first stage that has any, as bits in the order of o2_plan_rules. */
uint32_t o2_plan_broken(const struct o2_plan_run *run);

/* What a refusal by the rule of that number says, one of those that are broken: docs/modes.md, "Refusals of reg_plan". */
struct o2_plan_figures {
	uint32_t index;
	uint64_t value, limit;
};
struct o2_plan_figures o2_plan_figures(const struct o2_plan_run *run, uint32_t rule);

/* Is every seam one that a list of pages can express? */
bool o2_plan_is_dense(const struct o2_plan_run *run);

/* Pages that a list of pages has for these segments. */
uint64_t o2_plan_slots(const struct o2_plan_run *run);

/* Does run->plan say what it must?  A failure fills *report. */
void o2_plan_check(const struct o2_plan_run *run, struct o2_report *report);

/* *run: zeros at first, the caller's. */
struct o2_property o2_plan_property(struct o2_plan_run *run);

#endif
