/* SPDX-License-Identifier: MIT */
#ifndef O2_LND_NI_POOLS_H
#define O2_LND_NI_POOLS_H

#include "lnd/ni.h"

/* The transmit pools of an interface (docs/pools.md, "Transmit pools"): parts of ni.c and tx_slot.c. */

/*
 * One set per CPU partition.  Returns 0 or -errno; o2_ni_close_tx_sets frees what there is then.
 * o2iblnd: kiblnd_net_init_pools
 */
int o2_ni_open_tx_sets(struct o2_ni *ni, struct o2_error *error);

/*
 * Nothing may be in use.  Does nothing when there is none.
 * o2iblnd: kiblnd_net_fini_pools
 */
void o2_ni_close_tx_sets(struct o2_ni *ni);

/* The lkey under which the device reads the message slot of a transmit. */
uint32_t o2_ni_slot_lkey(const struct o2_pool_tx *slot);

#endif
