/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_SETTINGS_H
#define O2_PROPS_SETTINGS_H

#include "lnd/ni/ni.h"
#include "props/engine/property.h"
#include "props/engine/tally.h"

/*
 * The property: an interface, a connection and the negotiation with a peer accept each setting up to its limits.
 * They refuse a value past a limit with an error record that names the setting, its value and the limit.  A refusal
 * leaves nothing behind (docs/properties.md, "The settings property").
 */
struct o2_settings_run {
	struct o2_tally tally; /* first: props/engine/tally.h */
	struct o2_ni ni[2];    /* for connections; kept from case to case */
	bool open;
	char text[160]; /* what the current case tries, as text */
	/* Fail the nth allocation; has it failed; live allocations: props/talk/wrap/alloc_fault.h.  NULL: none. */
	void (*fail_allocation)(uint32_t nth);
	bool (*allocation_failed)(void);
	int64_t (*allocated)(void);
};

/* *run: owned by the caller, zeroed before the first case. */
struct o2_property o2_settings_property(struct o2_settings_run *run);

#endif
