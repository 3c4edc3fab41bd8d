/* SPDX-License-Identifier: MIT */
#include "props/check/check_kind.h"

#include <stdio.h>

#include "forms/mem_fields.h"

#define FIRST_DMA  ((uint32_t)O2_KIOV + 1)
#define FIRST_MODE (FIRST_DMA + O2_DMA_KINDS)

uint32_t o2_check_kind(const struct o2_case *asked)
{
	if (asked->stage == O2_STAGE_SG_BUILD)
		return (uint32_t)asked->sg.memory.buffer.kind;
	if (asked->stage == O2_STAGE_DMA_MAP)
		return FIRST_DMA + (uint32_t)asked->dma.device.device.kind;
	if (asked->stage == O2_STAGE_REG_PLAN)
		return FIRST_MODE + (uint32_t)asked->reg.request.mode;
	return O2_CHECK_KINDS;
}

const char *o2_check_kind_name(uint32_t kind, char *text)
{
	if (kind < FIRST_DMA)
		snprintf(text, O2_CHECK_KIND_BYTES, "sg/%s", o2_vector_kind_names[kind]);
	else if (kind < FIRST_MODE)
		snprintf(text, O2_CHECK_KIND_BYTES, "dma/%s", o2_dma_kind_names[kind - FIRST_DMA]);
	else
		snprintf(text, O2_CHECK_KIND_BYTES, "reg/%s",
			 o2_reg_mode_name((enum o2_reg_mode)(kind - FIRST_MODE)));
	return text;
}
