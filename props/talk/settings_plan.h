/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_SETTINGS_PLAN_H
#define O2_PROPS_SETTINGS_PLAN_H

#include "props/talk/settings_internal.h"

/* Plans for a domain, drawn without reg_plan, and what reg_bind has to say of them. */

#define O2_SETTINGS_BINDINGS 3u /* fewer than a pool has elements: none grows */

/* The domain as it was asked for, what is bound on it, and the plan at hand. */
struct o2_settings_place {
	struct o2_ni *ni;
	struct o2_reg_caps caps;
	uint32_t ncpts, page_bytes, npages, windows;
	uint64_t base, bytes;
	bool bounce, fast, plain;
	struct o2_binding binding[O2_SETTINGS_BINDINGS];
	bool has_window[O2_SETTINGS_BINDINGS];
	uint32_t kept;
	/* The plan, the partition whose pools it is for, and which entry of a list is spoiled. */
	struct o2_reg_plan plan;
	uint32_t cpt, entry;
};

/* Draw a plan that the domain takes. */
void o2_settings_draw_plan(struct o2_choice *c, struct o2_settings_place *p);

/*
 * Spoil one thing of it, or nothing, and foretell what comes of it.  Returns the situation, which is
 * O2_SETTINGS_PLAN_BOUND where nothing was spoiled.
 */
uint32_t o2_settings_spoil(struct o2_choice *c, struct o2_settings_place *p,
			   struct o2_settings_verdict *expected);

struct o2_settings_verdict o2_settings_refuse(const char *rule, const char *field, uint64_t value,
					      uint64_t limit);

/* Is each place of the plan's bytes in a list of pages? */
bool o2_settings_by_pages(const struct o2_reg_plan *plan);

#endif
