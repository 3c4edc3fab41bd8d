/* SPDX-License-Identifier: MIT */
#ifndef O2_TESTS_STRANGER_H
#define O2_TESTS_STRANGER_H

#include "props/hostile/hostile_net.h"
#include "tests/lib/unit_test.h"

/*
 * Peers of this process for the judge of peers that take no orders.  They sit on the network that the judge
 * opens, and are driven when it drives that.
 */

#define STRANGER_TIMEOUT_MS 2000u /* after which it gives up one that is silent */

/* Less than that: what only runs into it has not closed at once. */
#define STRANGER_CLOSING_MS 1000u

/* Where it serves GETs and takes PUTs. */
#define PORTAL	   60u
#define MATCH_BITS 0x1234u

/* How the next one is, and what it was asked for. */
extern struct stranger {
	uint32_t serves_bytes, takes_bytes; /* that GETs and PUTs may move */
	const char *quirk;		    /* NULL: none */
	bool garbles_pings;
	uint32_t pings, ping_sink_bytes; /* asked of it; the last one's room */
} stranger;

/* How the judge reaches it; what it serves is at its defaults.  Closing its network closes the stranger. */
struct o2_net_liar_options stranger_options(void);

#endif
