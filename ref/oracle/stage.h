/* SPDX-License-Identifier: MIT */
#ifndef O2_ORACLE_STAGE_H
#define O2_ORACLE_STAGE_H

#include <stdbool.h>
#include <stdint.h>

/* The stages about which an implementation can be asked.  Source: docs/oracle.md. */
enum o2_stage {
	O2_STAGE_MSG_DECODE,
	O2_STAGE_MSG_ENCODE,
	O2_STAGE_SG_BUILD,
	O2_STAGE_DMA_MAP,
	O2_STAGE_REG_PLAN,
	O2_STAGE_RDMA_PLAN,
	O2_STAGE_TRANSFER,
	O2_STAGES_1, /* number of stages in version 1 of the ABI; version 2 has added the following ones */
	O2_STAGE_DEVICE = O2_STAGES_1,
	O2_STAGE_RDMA_CHAIN,
	O2_STAGE_CONNECT,
	O2_STAGE_DELIVER,
	O2_STAGE_KEYS,
	O2_STAGE_SEND_PLAN,
	O2_STAGE_SETUP,
	O2_STAGE_FLOW,
	O2_STAGES,
};

/* The name of the stage in the JSON forms, e.g. "sg_build". */
const char *o2_stage_name(enum o2_stage stage);

/* The stage of that name; false when there is none. */
bool o2_stage_from_name(const char *name, enum o2_stage *stage);

/* The names of the stage's forms, e.g. "o2ref/sg_build/input" and "o2ref/sg_build/output". */
const char *o2_stage_input_form(enum o2_stage stage);
const char *o2_stage_output_form(enum o2_stage stage);

#endif
