/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_RUNG_KEPT_H
#define O2_PROPS_RUNG_KEPT_H

#include "props/world/end.h"

/*
 * Checks on the connections of a rung of nodes.  Only the rung ends a connection, and nothing prevents the
 * two nodes from connecting.  Any other end of a connection or an attempt is therefore a finding, even if the
 * next attempt succeeds.
 */

/* The time limit of a connection attempt: docs/connection.md, "Times". */
#define O2_RUNG_CONNECT_MS 12500u

/*
 * Check that no connection or attempt has ended since the counts in downs were taken.  Returns 0, or -errno
 * with the fault in *error.
 */
int o2_rung_check_kept(const struct o2_end_answer answer[2], const uint32_t downs[2], struct o2_error *error);

/* Check that both are connected with the terms of their settings, within the time limit.  0 or -errno. */
int o2_rung_check_connected(const struct o2_end_answer answer[2], uint64_t took_ms, struct o2_error *error);

/* Check that the connection was closed by closer, and that both ends say so.  0 or -errno. */
int o2_rung_check_parted(const struct o2_end_answer answer[2], const uint32_t downs[2], enum o2_side closer,
			 struct o2_error *error);

/* True if every message that one end sent was handled by the other. */
bool o2_rung_nothing_between(const struct o2_end_answer answer[2]);

/* Copy the judge's finding from the ends' answers; if both have one, the source's. */
void o2_rung_tell_broken(const struct o2_end_answer answer[2], struct o2_observed *observed);

#endif
