/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_RUNG_STALE_H
#define O2_PROPS_RUNG_STALE_H

#include <infiniband/verbs.h>
#include <stdint.h>

#include "lnd/conn/conn.h"

/*
 * What a peer can do with a key after the transfer: write one byte to `addr` under `rkey` on the connection's
 * queue pair, past all of the transport's own logic.  The byte is one that no data has
 * (props/pattern/pattern.h).
 *
 * Returns 0 and the status of its completion, or -errno.  The connection is of no use afterwards: when the
 * write is refused its queue pair is in error, and completions that belong to it were taken.
 */
int o2_rung_try_key(struct o2_ni *ni, struct o2_conn *conn, uint64_t addr, uint32_t rkey,
		    enum ibv_wc_status *status);

#endif
