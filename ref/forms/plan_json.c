/* SPDX-License-Identifier: MIT */
#include "forms/plan_json.h"

#include "base/fields_json.h"
#include "base/json.h"
#include "forms/mem_fields.h"
#include "forms/wire_fields.h"

static const struct o2_field no_fields[] = {{0}};

/* Only modes user and phys look at the request's iova and contiguous. */
static const struct o2_field iova_fields[] = {
	{O2_FIELD("request.iova", HEX, struct o2_reg_request, iova)},
	{O2_FIELD("request.contiguous", BOOL, struct o2_reg_request, contiguous)},
	{0},
};

static const struct o2_field *iova_of(const void *holder)
{
	const struct o2_reg_request *request = holder;

	return request->mode == O2_REG_USER || request->mode == O2_REG_PHYS ? iova_fields : no_fields;
}

static const struct o2_field request_fields[] = {
	{O2_FIELD("request.mode", NAME, struct o2_reg_request, mode), .names = o2_reg_mode_names,
	 .limit = O2_REG_MODES},
	{O2_FIELD("request.side", NAME, struct o2_reg_request, side), .names = o2_side_names,
	 .limit = O2_SINK + 1},
	{O2_FIELD("request.page_bytes", UINT, struct o2_reg_request, page_bytes)},
	{O2_FIELD("request.max_pages", UINT, struct o2_reg_request, max_pages)},
	{O2_FIELD("request.peer_max_frags", UINT, struct o2_reg_request, peer_max_frags)},
	{O2_FIELD("request.gaps", BOOL, struct o2_reg_request, gaps)},
	{.name = "iova", .kind = O2_FIELD_MORE, .more = iova_of},
	{0},
};

/* Only plans of mode fastreg_gaps have entries. */
static const struct o2_field entry_fields[] = {
	{O2_FIELD("plan.entries", LIST, struct o2_reg_plan, entry), .part = o2_dma_segment_fields,
	 .stride_bytes = sizeof(struct o2_dma_segment), .count_bytes = offsetof(struct o2_reg_plan, nentries),
	 .inside = (const char *const[]){"plan.entries[].addr", "plan.entries[].length", NULL}},
	{0},
};

static const struct o2_field *entries_of(const void *holder)
{
	return ((const struct o2_reg_plan *)holder)->mode == O2_REG_FASTREG_GAPS ? entry_fields : no_fields;
}

static const struct o2_field page_fields[] = {
	{.name = "plan.pages[]", .kind = O2_FIELD_HEX, .width_bytes = sizeof(uint64_t)},
	{0},
};

static const struct o2_field result_fields[] = {
	{O2_FIELD("plan.remote_write", BIT, struct o2_reg_plan, access), .limit = O2_ACCESS_REMOTE_WRITE},
	{O2_FIELD("plan.iova", HEX, struct o2_reg_plan, iova)},
	{O2_FIELD("plan.length", LENGTH, struct o2_reg_plan, length)},
	{O2_FIELD("plan.page_offset", UINT, struct o2_reg_plan, page_offset)},
	{O2_FIELD("plan.pages", LIST, struct o2_reg_plan, page), .part = page_fields,
	 .stride_bytes = sizeof(uint64_t), .count_bytes = offsetof(struct o2_reg_plan, npages)},
	{O2_FIELD("plan.frags", LIST, struct o2_reg_plan, frag), .part = o2_frag_fields,
	 .stride_bytes = sizeof(struct o2_rdma_frag), .count_bytes = offsetof(struct o2_reg_plan, nfrags),
	 .inside = (const char *const[]){"plan.frags[].rf_nob", "plan.frags[].rf_addr", NULL}},
	{.name = "entries", .kind = O2_FIELD_MORE, .more = entries_of},
	{0},
};

static const struct o2_field *result_of(const void *holder)
{
	(void)holder;
	return result_fields;
}

const struct o2_field o2_reg_plan_fields[] = {
	{O2_FIELD("plan.mode", NAME, struct o2_reg_plan, mode), .names = o2_reg_mode_names,
	 .limit = O2_REG_MODES},
	{O2_FIELD("plan.side", NAME, struct o2_reg_plan, side), .names = o2_side_names, .limit = O2_SINK + 1},
	{O2_FIELD("plan.page_bytes", UINT, struct o2_reg_plan, page_bytes)},
	{O2_FIELD("plan.local_write", BIT, struct o2_reg_plan, access), .limit = O2_ACCESS_LOCAL_WRITE},
	{.name = "result", .kind = O2_FIELD_MORE, .more = result_of},
	{0},
};

const struct o2_field o2_reg_answer_fields[] = {
	{O2_FIELD("plan.local_write", BIT, struct o2_reg_plan, access), .limit = O2_ACCESS_LOCAL_WRITE,
	 .optional = true},
	{.name = "result", .kind = O2_FIELD_MORE, .more = result_of},
	{0},
};

json_t *o2_reg_input_to_json(const struct o2_reg_request *request, const struct o2_dma_list *segments)
{
	json_t *form = o2_json_with(o2_json_form(O2_REG_INPUT_FORM), "request",
				    o2_fields_to_json(request_fields, request));

	return o2_json_with(form, "list", o2_fields_to_json(o2_dma_list_fields, segments));
}

int o2_reg_input_from_json(const json_t *object, struct o2_reg_request *request, struct o2_dma_list *segments,
			   struct o2_error *error)
{
	int rc = o2_json_expect_form(object, O2_REG_INPUT_FORM, error);

	request->iova = 0;
	request->contiguous = false;
	if (rc == 0)
		rc = o2_part_from_json(object, "request", request_fields, request, error);
	return rc != 0 ? rc : o2_part_from_json(object, "list", o2_dma_list_fields, segments, error);
}

json_t *o2_reg_output_to_json(const struct o2_reg_plan *plan, const struct o2_error *refused)
{
	return o2_output_to_json(O2_REG_OUTPUT_FORM, "plan", o2_reg_plan_fields, plan, refused);
}

int o2_reg_output_from_json(const json_t *object, struct o2_reg_plan *plan, struct o2_refused *refused,
			    struct o2_error *error)
{
	plan->access = 0;
	plan->nentries = 0;
	return o2_output_from_json(object, O2_REG_OUTPUT_FORM, "plan", o2_reg_plan_fields, plan, refused,
				   error);
}
