/* SPDX-License-Identifier: MIT */
#include "props/world/device.h"

#include "loopverbs/loopverbs.h"

#pragma weak o2_loop_reg_gaps

o2_reg_gaps_fn o2_device_reg_gaps(void)
{
	return o2_loop_reg_gaps;
}
