/* SPDX-License-Identifier: MIT */
#include "props/world/device.h"

#include <time.h>

#include "loopverbs/loopverbs.h"

#pragma weak o2_loop_reg_gaps
#pragma weak o2_loop_alloc_mr
#pragma weak o2_loop_map_mr
#pragma weak o2_loop_reg_mr
#pragma weak o2_loop_set_option

o2_reg_gaps_fn o2_device_reg_gaps(void)
{
	return o2_loop_reg_gaps;
}

const struct o2_reg_fast *o2_device_reg_fast(void)
{
	static const struct o2_reg_fast fast = {o2_loop_alloc_mr, o2_loop_map_mr, o2_loop_reg_mr};

	return fast.alloc != NULL ? &fast : NULL;
}

void o2_device_trust_pages(void)
{
	if (o2_loop_set_option != NULL)
		o2_loop_set_option(O2_LOOP_CHECK_PAGES, 0);
}

void o2_device_pause(void)
{
	nanosleep(&(struct timespec){.tv_nsec = 500000}, NULL);
}
