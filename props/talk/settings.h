/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_SETTINGS_H
#define O2_PROPS_SETTINGS_H

#include "lnd/ni/ni.h"
#include "props/engine/property.h"
#include "props/engine/tally.h"

/*
 * The property: an interface, a connection and what is agreed with a peer take each setting up to its limits,
 * and refuse one further by its name, value and limit, with nothing left behind (docs/properties.md, "The
 * settings property").
 */
struct o2_settings_run {
	struct o2_tally tally; /* first: props/engine/tally.h */
	struct o2_ni ni[2];    /* of connections; kept from case to case */
	bool open;
	char text[160]; /* what was tried */
	/* The nth allocation fails; did it; how many are there (props/talk/wrap/alloc_fault.h).  NULL: none can. */
	void (*fail_allocation)(uint32_t nth);
	bool (*allocation_failed)(void);
	int64_t (*allocated)(void);
};

/* *run: zeros at first, the caller's. */
struct o2_property o2_settings_property(struct o2_settings_run *run);

#endif
