/* SPDX-License-Identifier: MIT */
#include "base/clock.h"

uint64_t o2_clock_ms(const struct o2_clock *clock)
{
	return atomic_load_explicit(&clock->now_ms, memory_order_relaxed);
}

uint64_t o2_clock_step_ms(const struct o2_clock *clock)
{
	return atomic_load_explicit(&clock->step_ms, memory_order_relaxed);
}

void o2_clock_tell(struct o2_clock *clock, uint64_t told_ms)
{
	if (!clock->running) {
		clock->running = true;
		clock->first_ms = told_ms;
	}
	if (told_ms > clock->first_ms && told_ms - clock->first_ms > o2_clock_ms(clock)) {
		atomic_store_explicit(&clock->step_ms, told_ms - clock->first_ms - o2_clock_ms(clock),
				      memory_order_relaxed);
		atomic_store_explicit(&clock->now_ms, told_ms - clock->first_ms, memory_order_relaxed);
	}
}
