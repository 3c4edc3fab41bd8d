/* SPDX-License-Identifier: MIT */
#include "cli/live.h"

#include <pcap/pcap.h>
#include <signal.h>
#include <string.h>

#include "base/complain.h"

#define BUFFER_BYTES (32 * 1024 * 1024)

static volatile sig_atomic_t stopped;

static void stop(int signal_number)
{
	(void)signal_number;
	stopped = 1;
}

/*
 * A signal ends the walk, so that findings can be printed; a second one of the same kind ends the program.  A finding
 * that is being written then is not lost: writing goes on.  poll(2), by which the walk waits, is not restarted.
 */
static void take_signals(void)
{
	struct sigaction action = {.sa_handler = stop, .sa_flags = (int)(SA_RESETHAND | SA_RESTART)};

	sigemptyset(&action.sa_mask);
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
}

int o2_live_walk(const struct o2_live_options *live, const struct o2_wire_options *options,
		 o2_event_sink sink, void *context, struct o2_walk_totals *totals,
		 char why[O2_PCAP_WHY_BYTES])
{
	const struct o2_capture_end end = {live->seconds, live->packets, &stopped};
	struct o2_capture capture;
	int rc;

	memset(totals, 0, sizeof(*totals));
	take_signals();
	rc = o2_capture_open_live(live->interface, BUFFER_BYTES, &end, &capture, why);
	if (rc == 0) {
		o2_complain("o2ref", "listening on %s", live->interface);
		rc = o2_capture_walk(&capture, options, sink, context, totals, why);
		totals->dropped = o2_capture_dropped(&capture);
	}
	o2_capture_close(&capture);
	return rc;
}
