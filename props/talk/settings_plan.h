/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_SETTINGS_PLAN_H
#define O2_PROPS_SETTINGS_PLAN_H

#include "props/talk/settings_internal.h"

/* Registration plans for a domain, drawn without reg_plan, and the predicted answer of reg_bind to each. */

#define O2_SETTINGS_BINDINGS 3u /* fewer than a pool has elements, so that no pool grows */

/* The domain as configured, the bindings that exist on it, and the current plan. */
struct o2_settings_place {
	struct o2_ni *ni;
	struct o2_reg_caps caps;
	uint32_t ncpts, page_bytes, npages, windows;
	uint64_t base, bytes;
	bool bounce, fast, plain;
	struct o2_binding binding[O2_SETTINGS_BINDINGS];
	bool has_window[O2_SETTINGS_BINDINGS];
	uint32_t kept;
	/* The plan, the CPU partition whose pools it uses, and the index of the list entry that is spoiled. */
	struct o2_reg_plan plan;
	uint32_t cpt, entry;
};

/* Draw a plan that the domain accepts. */
void o2_settings_draw_plan(struct o2_choice *c, struct o2_settings_place *p);

/*
 * Spoil one member of the plan, or none, and predict the result of binding it.  Returns the situation to count:
 * O2_SETTINGS_PLAN_BOUND if nothing was spoiled.
 */
uint32_t o2_settings_spoil(struct o2_choice *c, struct o2_settings_place *p,
			   struct o2_settings_verdict *expected);

struct o2_settings_verdict o2_settings_refuse(const char *rule, const char *field, uint64_t value,
					      uint64_t limit);

/* True if every address of the plan's bytes comes from a page list. */
bool o2_settings_by_pages(const struct o2_reg_plan *plan);

#endif
