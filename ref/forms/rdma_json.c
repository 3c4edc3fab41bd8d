/* SPDX-License-Identifier: MIT */
#include "forms/rdma_json.h"

#include <errno.h>

#include "base/fields_json.h"
#include "base/json.h"
#include "forms/wire_fields.h"

static const struct o2_field limits_fields[] = {
	{O2_FIELD("limits.max_wrs", UINT, struct o2_rdma_limits, max_wrs)},
	{O2_FIELD("limits.wrq_sge", UINT, struct o2_rdma_limits, wrq_sge)},
	{0},
};

const struct o2_field o2_rdma_input_fields[] = {
	{O2_FIELD("nob", LENGTH, struct o2_rdma_input, nob)},
	{O2_FIELD("limits", PART, struct o2_rdma_input, limits), .part = limits_fields},
	{O2_FIELD("source", PART, struct o2_rdma_input, source), .part = o2_desc_fields,
	 .inside = (const char *const[]){"source.rd_key", "source.rd_frags", "source.rd_frags[].rf_nob",
					 "source.rd_frags[].rf_addr", NULL}},
	{O2_FIELD("sink", PART, struct o2_rdma_input, sink), .part = o2_desc_fields,
	 .inside = (const char *const[]){"sink.rd_key", "sink.rd_frags", "sink.rd_frags[].rf_nob",
					 "sink.rd_frags[].rf_addr", NULL}},
	{0},
};

static const struct o2_field wr_fields[] = {
	{O2_FIELD("plan.wr[].remote_addr", HEX, struct o2_rdma_wr, remote_addr)},
	{O2_FIELD("plan.wr[].length", UINT, struct o2_rdma_wr, length)},
	{O2_FIELD("plan.wr[].first_sge", UINT, struct o2_rdma_wr, first_sge)},
	{O2_FIELD("plan.wr[].num_sge", UINT, struct o2_rdma_wr, num_sge)},
	{0},
};

static const struct o2_field sge_fields[] = {
	{O2_FIELD("plan.sge[].addr", HEX, struct o2_rdma_sge, addr)},
	{O2_FIELD("plan.sge[].length", UINT, struct o2_rdma_sge, length)},
	{0},
};

const struct o2_field o2_rdma_plan_fields[] = {
	{O2_FIELD("plan.lkey", HEX, struct o2_rdma_plan, lkey)},
	{O2_FIELD("plan.rkey", HEX, struct o2_rdma_plan, rkey)},
	{O2_FIELD("plan.nob", LENGTH, struct o2_rdma_plan, nob)},
	{O2_FIELD("plan.wr", LIST, struct o2_rdma_plan, wr), .part = wr_fields,
	 .stride_bytes = sizeof(struct o2_rdma_wr), .count_bytes = offsetof(struct o2_rdma_plan, nwr)},
	{O2_FIELD("plan.sge", LIST, struct o2_rdma_plan, sge), .part = sge_fields,
	 .stride_bytes = sizeof(struct o2_rdma_sge), .count_bytes = offsetof(struct o2_rdma_plan, nsge)},
	{0},
};

json_t *o2_rdma_input_to_json(const struct o2_rdma_input *input)
{
	return o2_fields_into_json(o2_json_form(O2_RDMA_INPUT_FORM), o2_rdma_input_fields, input);
}

int o2_rdma_input_from_json(const json_t *object, struct o2_rdma_input *input, struct o2_error *error)
{
	const int rc = o2_json_expect_form(object, O2_RDMA_INPUT_FORM, error);

	return rc != 0 ? rc : o2_fields_from_json(object, o2_rdma_input_fields, input, error);
}

json_t *o2_rdma_output_to_json(const struct o2_rdma_plan *plan, const struct o2_error *refused)
{
	return o2_output_to_json(O2_RDMA_OUTPUT_FORM, "plan", o2_rdma_plan_fields, plan, refused);
}

static int check_wrs(const struct o2_rdma_plan *plan, struct o2_error *error)
{
	for (uint32_t i = 0; i < plan->nwr; i++) {
		const struct o2_rdma_wr *wr = &plan->wr[i];

		if (wr->first_sge > plan->nsge || wr->num_sge > plan->nsge - wr->first_sge)
			return o2_refuse(error, -EINVAL, "json/no-such-sge", "plan.wr[].num_sge", i,
					 (uint64_t)wr->first_sge + wr->num_sge, plan->nsge);
	}
	return 0;
}

int o2_rdma_plan_from_json(const json_t *form, struct o2_rdma_plan *plan, struct o2_error *error)
{
	const int rc = o2_part_from_json(form, "plan", o2_rdma_plan_fields, plan, error);

	return rc != 0 ? rc : check_wrs(plan, error);
}

int o2_rdma_output_from_json(const json_t *object, struct o2_rdma_plan *plan, struct o2_refused *refused,
			     struct o2_error *error)
{
	const int rc = o2_output_expect(object, O2_RDMA_OUTPUT_FORM, refused, error);

	return rc != 0 || refused->code != 0 ? rc : o2_rdma_plan_from_json(object, plan, error);
}
