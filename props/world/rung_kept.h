/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_RUNG_KEPT_H
#define O2_PROPS_RUNG_KEPT_H

#include "props/world/end.h"

/*
 * What becomes of the connections of a rung of nodes.  Nothing but the rung ends one, and nothing keeps the two
 * nodes from connecting: whatever else ends a connection or an attempt is a finding, though the next one may
 * be well.
 */

/* docs/connection.md, "Times": as long as an attempt may take. */
#define O2_RUNG_CONNECT_MS 12500u

/*
 * Nothing has ended since this was last looked at; downs: what each end had counted then.  Returns 0, or -errno
 * and *error: how it did.
 */
int o2_rung_check_kept(const struct o2_end_answer answer[2], const uint32_t downs[2], struct o2_error *error);

/* Both are connected, as their settings say, and it did not take longer than it may.  0 or -errno. */
int o2_rung_check_connected(const struct o2_end_answer answer[2], uint64_t took_ms, struct o2_error *error);

/* The connection has been closed by one end, and each says so.  0 or -errno. */
int o2_rung_check_parted(const struct o2_end_answer answer[2], const uint32_t downs[2], enum o2_side closer,
			 struct o2_error *error);

/* All messages that one end has sent have come to the other. */
bool o2_rung_nothing_between(const struct o2_end_answer answer[2]);

/* What of the judge's the ends have told; both: the source's. */
void o2_rung_tell_broken(const struct o2_end_answer answer[2], struct o2_observed *observed);

#endif
