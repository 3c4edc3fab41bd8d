/* SPDX-License-Identifier: MIT */
#ifndef O2_TESTS_STRANGER_H
#define O2_TESTS_STRANGER_H

#include "props/hostile/hostile_net.h"
#include "tests/lib/unit_test.h"

/*
 * In-process peers for the conformance judge of peers that it cannot control.  A stranger is attached to the
 * network that the judge opens, and makes progress whenever the judge drives that network.
 */

#define STRANGER_TIMEOUT_MS 2000u /* the stranger closes a connection whose peer is silent this long */

/* Less than STRANGER_TIMEOUT_MS, so that a close by time-out does not count as a prompt close. */
#define STRANGER_CLOSING_MS 1000u

/* Where the stranger serves GETs and accepts PUTs. */
#define PORTAL	   60u
#define MATCH_BITS 0x1234u

/* The settings of the next stranger, and counts of the pings that it received. */
extern struct stranger {
	uint32_t serves_bytes, takes_bytes; /* that GETs and PUTs can move */
	const char *quirk;		    /* NULL: none */
	bool garbles_pings;
	uint32_t pings, ping_sink_bytes; /* pings received; sink length of the last one */
} stranger;

/* Options with which the judge reaches the stranger and its entry.  Closing the network closes the stranger. */
struct o2_net_liar_options stranger_options(void);

#endif
