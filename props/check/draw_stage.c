/* SPDX-License-Identifier: MIT */
#include "props/check/draw_stage.h"

static const struct o2_draw_stage *const stages[O2_STAGES] = {
	[O2_STAGE_DEVICE] = &o2_draw_device,   [O2_STAGE_RDMA_CHAIN] = &o2_draw_chain,
	[O2_STAGE_CONNECT] = &o2_draw_connect, [O2_STAGE_DELIVER] = &o2_draw_deliver,
	[O2_STAGE_KEYS] = &o2_draw_keys,       [O2_STAGE_SETUP] = &o2_draw_setup,
	[O2_STAGE_SEND_PLAN] = &o2_draw_send,  [O2_STAGE_FLOW] = &o2_draw_flow,
};

const struct o2_draw_stage *o2_draw_stage(enum o2_stage stage)
{
	return stages[stage];
}

uint32_t o2_draw_limit(struct o2_choice *c, uint32_t most)
{
	static const uint32_t kinds[] = {40, 2, 2, 1};

	switch (o2_draw_weighted(c, kinds, 4)) {
	case 0:
		return 1 + (uint32_t)o2_draw(c, most - 1);
	case 1:
		return 0;
	case 2:
		return most + 1;
	default:
		return (uint32_t)o2_draw(c, UINT32_MAX);
	}
}
