/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_RUNG_STALE_H
#define O2_PROPS_RUNG_STALE_H

#include <infiniband/verbs.h>
#include <stdint.h>

#include "lnd/conn/conn.h"

/*
 * Use a key as a peer could after the transfer: write one byte to `addr` under `rkey` on the connection's
 * queue pair, bypassing the transport's own logic.  No data contains this byte (props/pattern/pattern.h).
 *
 * Returns 0 and the status of the write's completion, or -errno.  The connection is unusable afterwards: if
 * the write is refused, its queue pair is in error, and the call consumes the connection's completions.
 */
int o2_rung_try_key(struct o2_ni *ni, struct o2_conn *conn, uint64_t addr, uint32_t rkey,
		    enum ibv_wc_status *status);

#endif
