/* SPDX-License-Identifier: MIT */
#ifndef O2_CLI_LIVE_H
#define O2_CLI_LIVE_H

#include "cli/pcap_walk.h"

/* Walk the traffic of an interface while it passes.  Source: docs/judge.md, "While it happens". */

struct o2_live_options {
	const char *interface;
	/* When to end, besides on SIGINT and SIGTERM; 0: no limit. */
	uint64_t seconds, packets;
};

/*
 * Like o2_capture_walk, until an end that `live` names.  Says on stderr when it begins to listen.  Returns
 * what o2_capture_walk returns, or sets *why and returns -EIO if the interface cannot be opened or read.
 */
int o2_live_walk(const struct o2_live_options *live, const struct o2_wire_options *options,
		 o2_event_sink sink, void *context, struct o2_walk_totals *totals,
		 char why[O2_PCAP_WHY_BYTES]);

#endif
