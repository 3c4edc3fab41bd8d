/* SPDX-License-Identifier: MIT */
#include "oracle/stage.h"

#include <string.h>

#define STAGE(name)                                                   \
	{                                                             \
		name, "o2ref/" name "/input", "o2ref/" name "/output" \
	}

static const struct {
	const char *name;
	const char *input;
	const char *output;
} stages[O2_STAGES] = {
	[O2_STAGE_MSG_DECODE] = STAGE("msg_decode"),
	[O2_STAGE_MSG_ENCODE] = STAGE("msg_encode"),
	[O2_STAGE_SG_BUILD] = STAGE("sg_build"),
	[O2_STAGE_DMA_MAP] = STAGE("dma_map"),
	[O2_STAGE_REG_PLAN] = STAGE("reg_plan"),
	[O2_STAGE_RDMA_PLAN] = STAGE("rdma_plan"),
	[O2_STAGE_TRANSFER] = STAGE("transfer"),
	[O2_STAGE_DEVICE] = STAGE("device"),
	[O2_STAGE_RDMA_CHAIN] = STAGE("rdma_chain"),
	[O2_STAGE_CONNECT] = STAGE("connect"),
	[O2_STAGE_DELIVER] = STAGE("deliver"),
	[O2_STAGE_KEYS] = STAGE("keys"),
	[O2_STAGE_SEND_PLAN] = STAGE("send_plan"),
	[O2_STAGE_SETUP] = STAGE("setup"),
	[O2_STAGE_FLOW] = STAGE("flow"),
};

const char *o2_stage_name(enum o2_stage stage)
{
	return stages[stage].name;
}

bool o2_stage_from_name(const char *name, enum o2_stage *stage)
{
	for (uint32_t i = 0; i < O2_STAGES; i++) {
		if (strcmp(name, stages[i].name) == 0) {
			*stage = (enum o2_stage)i;
			return true;
		}
	}
	return false;
}

const char *o2_stage_input_form(enum o2_stage stage)
{
	return stages[stage].input;
}

const char *o2_stage_output_form(enum o2_stage stage)
{
	return stages[stage].output;
}
