/* SPDX-License-Identifier: MIT */
#ifndef O2_TESTS_STAGE_OUTPUTS_H
#define O2_TESTS_STAGE_OUTPUTS_H

#include "forms/dma_json.h"
#include "forms/plan_json.h"
#include "forms/rdma_json.h"
#include "forms/sg_json.h"
#include "tests/lib/unit_test.h"

/* Readers of the stages' outputs, with a common signature: each discards what it has read. */

typedef int (*read_form)(const json_t *form, struct o2_refused *refused, struct o2_error *error);

static int read_sg_output(const json_t *form, struct o2_refused *refused, struct o2_error *error)
{
	struct o2_sg_list list;

	return o2_sg_output_from_json(form, &list, refused, error);
}

static int read_dma_output(const json_t *form, struct o2_refused *refused, struct o2_error *error)
{
	struct o2_dma_list list;

	return o2_dma_output_from_json(form, &list, refused, error);
}

static int read_reg_output(const json_t *form, struct o2_refused *refused, struct o2_error *error)
{
	struct o2_reg_plan plan;

	return o2_reg_output_from_json(form, &plan, refused, error);
}

static int read_rdma_output(const json_t *form, struct o2_refused *refused, struct o2_error *error)
{
	static struct o2_rdma_plan plan;

	return o2_rdma_output_from_json(form, &plan, refused, error);
}

#endif
