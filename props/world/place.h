/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_PLACE_H
#define O2_PROPS_PLACE_H

#include <stdbool.h>
#include <stdint.h>

#include "lnd/cm/cm.h"
#include "lnd/ni/counts.h"
#include "lnd/ni/ni.h"
#include "props/engine/report.h"
#include "props/world/arenas.h"
#include "props/world/network.h"
#include "props/world/shadow.h"

/* An interface of this process, attached to a network. */
struct o2_place {
	struct o2_ni ni;
	bool open;		     /* ni is open */
	struct o2_shadow shadow;     /* expected contents of its arena, after o2_place_remember */
	struct o2_arenas_pair *pair; /* NULL: the interface has memory of its own */
	struct o2_network *network;  /* NULL: none */
	struct o2_cm *cm;	     /* NULL: not attached */
};

/*
 * Open an interface on port 1 and attach it to a network, which outlives the place, at the address of its
 * NID; network NULL: connections are made without a connection manager.  Returns 0 or -errno of o2_ni_open
 * and of attaching; after an error o2_place_close closes what is open.
 */
int o2_place_open(struct o2_place *place, const struct o2_ni_config *config, struct o2_network *network,
		  struct o2_error *error);
/*
 * As o2_place_open without a network, over a kept arena with config->arena_pages and plain_arena, which
 * outlives the place; unmapped_every: as in o2_arenas_take.
 * Returns what o2_place_open does, or -errno of creating the arena.
 */
int o2_place_open_anew(struct o2_place *place, struct o2_arenas *arenas, uint32_t unmapped_every,
		       const struct o2_ni_config *config, struct o2_error *error);
/* Open a shadow of the arena, which must be new, to check bytes; node: for findings.  0 or -ENOMEM. */
int o2_place_remember(struct o2_place *place, uint32_t node);
/* Close the place.  Does nothing if it is closed. */
void o2_place_close(struct o2_place *place);

/* If the interface is open, add it, and the regions that it accounts for. */
void o2_place_count(const struct o2_place *place, uint32_t *interfaces, uint64_t *regions);

extern const char *const o2_place_pool_names[O2_NI_POOL_KINDS];

/* A new incarnation of a NID: microseconds of the wall clock. */
uint64_t o2_place_incarnation(void);

/* Check that the interface of node `index` has everything back; a finding is called outstanding, or ledger. */
void o2_place_check_idle(struct o2_ni *ni, uint32_t index, struct o2_report *report, const char *outstanding,
			 const char *ledger);

#endif
