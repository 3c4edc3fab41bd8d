/* SPDX-License-Identifier: MIT */
#ifndef O2_BASE_CLOCK_H
#define O2_BASE_CLOCK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * The clock of an interface.  Connections, nodes, pools and LNet's place all read this clock; none of them
 * keeps a time of its own.  Source: docs/transport.md, "Time".
 *
 * The clock counts milliseconds from the first time that it was told, which reads as 0.  So a deadline that
 * was computed before the first o2_clock_tell does not expire at once.  A caller that computes the times that
 * it tells from o2_clock_ms must tell 0 first.  All zero: a clock that was not told any time yet.
 *
 * Only one thread tells the time; any thread may read it.
 */
struct o2_clock {
	_Atomic uint64_t now_ms;
	_Atomic uint64_t step_ms; /* from the time told before to now_ms; 0: none was */
	uint64_t first_ms;
	bool running;
};

uint64_t o2_clock_ms(const struct o2_clock *clock);

/* How long the clock stood still before its present time: how far that may be behind at worst. */
uint64_t o2_clock_step_ms(const struct o2_clock *clock);

/*
 * Tell the clock that it is now told_ms: milliseconds, on any scale that never goes back.  A time before an
 * earlier one is ignored.
 */
void o2_clock_tell(struct o2_clock *clock, uint64_t told_ms);

#endif
