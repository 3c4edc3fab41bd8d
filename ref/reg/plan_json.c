/* SPDX-License-Identifier: MIT */
#include "reg/plan_json.h"

#include <errno.h>
#include <stdlib.h>

#include "base/json.h"
#include "mem/dma_json.h"
#include "wire/frags_json.h"

static const char *const mode_names[O2_REG_MODES] = {"global", "fmr",  "fastreg",
						     "user",   "phys", "fastreg_gaps"};
static const char *const side_names[] = {[O2_SOURCE] = "source", [O2_SINK] = "sink"};

#define SIDES 2u

static json_t *give_up(json_t *json)
{
	json_decref(json);
	return NULL;
}

static bool has_names(enum o2_reg_mode mode, enum o2_side side)
{
	return (uint32_t)mode < O2_REG_MODES && (uint32_t)side < SIDES;
}

/* Only these modes look at the request's iova and contiguous. */
static bool wants_iova(enum o2_reg_mode mode)
{
	return mode == O2_REG_USER || mode == O2_REG_PHYS;
}

json_t *o2_reg_input_to_json(const struct o2_reg_request *request, const struct o2_dma_list *segments)
{
	json_t *request_json;

	if (!has_names(request->mode, request->side))
		return NULL;
	request_json = json_pack("{s:s, s:s, s:o, s:o, s:o, s:b}", "mode", mode_names[request->mode], "side",
				 side_names[request->side], "page_bytes", json_integer(request->page_bytes),
				 "max_pages", json_integer(request->max_pages), "peer_max_frags",
				 json_integer(request->peer_max_frags), "gaps", request->gaps);
	if (wants_iova(request->mode) &&
	    (json_object_set_new(request_json, "iova", o2_json_hex(request->iova)) != 0 ||
	     json_object_set_new(request_json, "contiguous", json_boolean(request->contiguous)) != 0))
		return give_up(request_json);
	return json_pack("{s:s, s:i, s:o, s:o}", "form", O2_REG_INPUT_FORM, "version", (int)O2_JSON_VERSION,
			 "request", request_json, "list", o2_dma_list_to_json(segments));
}

/* Mode and side, which stand in the request and in the plan. */
static int read_names(const json_t *object, const char *mode_field, const char *side_field,
		      enum o2_reg_mode *mode, enum o2_side *side, struct o2_error *error)
{
	uint32_t index;
	int rc = o2_json_at(o2_json_get_name(object, "mode", mode_names, O2_REG_MODES, &index, error),
			    mode_field, O2_NO_INDEX, error);

	if (rc != 0)
		return rc;
	*mode = (enum o2_reg_mode)index;
	rc = o2_json_at(o2_json_get_name(object, "side", side_names, SIDES, &index, error), side_field,
			O2_NO_INDEX, error);
	if (rc == 0)
		*side = (enum o2_side)index;
	return rc;
}

int o2_reg_input_from_json(const json_t *object, struct o2_reg_request *request, struct o2_dma_list *segments,
			   struct o2_error *error)
{
	const struct o2_json_member members[] = {
		{"page_bytes", "request.page_bytes", O2_JSON_U32, &request->page_bytes},
		{"max_pages", "request.max_pages", O2_JSON_U32, &request->max_pages},
		{"peer_max_frags", "request.peer_max_frags", O2_JSON_U32, &request->peer_max_frags},
		{"gaps", "request.gaps", O2_JSON_BOOL, &request->gaps},
		{"iova", "request.iova", O2_JSON_HEX64, &request->iova},
		{"contiguous", "request.contiguous", O2_JSON_BOOL, &request->contiguous},
	};
	const json_t *child;
	int rc = o2_json_expect_form(object, O2_REG_INPUT_FORM, error);

	if (rc == 0)
		rc = o2_json_get_object(object, "request", &child, error);
	if (rc == 0)
		rc = read_names(child, "request.mode", "request.side", &request->mode, &request->side, error);
	request->iova = 0;
	request->contiguous = false;
	if (rc == 0)
		rc = o2_json_get_members(child, members, wants_iova(request->mode) ? 6 : 4, O2_NO_INDEX,
					 error);
	return rc != 0 ? rc : o2_dma_list_from_json(object, segments, error);
}

static json_t *pages_to_json(const struct o2_reg_plan *plan)
{
	json_t *array = plan->npages <= O2_MAX_FRAGS ? json_array() : NULL;

	for (uint32_t i = 0; array != NULL && i < plan->npages; i++) {
		if (json_array_append_new(array, o2_json_hex(plan->page[i])) != 0)
			return give_up(array);
	}
	return array;
}

static json_t *entries_to_json(const struct o2_reg_plan *plan)
{
	json_t *array = plan->nentries <= O2_MAX_FRAGS ? json_array() : NULL;

	for (uint32_t i = 0; array != NULL && i < plan->nentries; i++) {
		const struct o2_dma_segment *entry = &plan->entry[i];

		if (json_array_append_new(array, json_pack("{s:o, s:o}", "addr", o2_json_hex(entry->addr),
							   "length", json_integer(entry->length))) != 0)
			return give_up(array);
	}
	return array;
}

static json_t *plan_to_json(const struct o2_reg_plan *plan)
{
	json_t *object;

	if (!has_names(plan->mode, plan->side))
		return NULL;
	object = json_pack(
		"{s:s, s:s, s:o, s:b, s:b, s:o, s:o, s:o, s:o, s:o}", "mode", mode_names[plan->mode], "side",
		side_names[plan->side], "page_bytes", json_integer(plan->page_bytes), "local_write",
		(plan->access & O2_ACCESS_LOCAL_WRITE) != 0, "remote_write",
		(plan->access & O2_ACCESS_REMOTE_WRITE) != 0, "iova", o2_json_hex(plan->iova), "length",
		o2_json_length(plan->length), "page_offset", json_integer(plan->page_offset), "pages",
		pages_to_json(plan), "frags", o2_frags_to_json(plan->frag, plan->nfrags));
	if (object != NULL && plan->mode == O2_REG_FASTREG_GAPS &&
	    json_object_set_new(object, "entries", entries_to_json(plan)) != 0)
		return give_up(object);
	return object;
}

json_t *o2_reg_output_to_json(const struct o2_reg_plan *plan, const struct o2_error *refused)
{
	json_t *form = o2_output_form(O2_REG_OUTPUT_FORM, refused);

	if (form == NULL || (refused != NULL && refused->code != 0))
		return form;
	return json_object_set_new(form, "plan", plan_to_json(plan)) == 0 ? form : give_up(form);
}

static int read_pages(const json_t *object, struct o2_reg_plan *plan, struct o2_error *error)
{
	const json_t *array;
	int rc = o2_json_at(o2_json_get_array(object, "pages", O2_MAX_FRAGS, &array, error), "plan.pages",
			    O2_NO_INDEX, error);

	if (rc != 0)
		return rc;
	plan->npages = (uint32_t)json_array_size(array);
	for (uint32_t i = 0; rc == 0 && i < plan->npages; i++)
		rc = o2_json_at(o2_json_parse_hex(json_array_get(array, i), &plan->page[i], error),
				"plan.pages[]", i, error);
	return rc;
}

static int read_entries(const json_t *object, struct o2_reg_plan *plan, struct o2_error *error)
{
	const json_t *array;
	int rc = o2_json_at(o2_json_get_array(object, "entries", O2_MAX_FRAGS, &array, error), "plan.entries",
			    O2_NO_INDEX, error);

	if (rc != 0)
		return rc;
	plan->nentries = (uint32_t)json_array_size(array);
	for (uint32_t i = 0; rc == 0 && i < plan->nentries; i++) {
		const struct o2_json_member members[] = {
			{"addr", "plan.entries[].addr", O2_JSON_HEX64, &plan->entry[i].addr},
			{"length", "plan.entries[].length", O2_JSON_U32, &plan->entry[i].length},
		};

		rc = o2_json_get_members(json_array_get(array, i), members, 2, i, error);
	}
	return rc;
}

static int read_plan(const json_t *object, struct o2_reg_plan *plan, struct o2_error *error)
{
	bool local_write;
	bool remote_write;
	const struct o2_json_member members[] = {
		{"page_bytes", "plan.page_bytes", O2_JSON_U32, &plan->page_bytes},
		{"local_write", "plan.local_write", O2_JSON_BOOL, &local_write},
		{"remote_write", "plan.remote_write", O2_JSON_BOOL, &remote_write},
		{"iova", "plan.iova", O2_JSON_HEX64, &plan->iova},
		{"length", "plan.length", O2_JSON_LENGTH, &plan->length},
		{"page_offset", "plan.page_offset", O2_JSON_U32, &plan->page_offset},
	};
	int rc = read_names(object, "plan.mode", "plan.side", &plan->mode, &plan->side, error);

	if (rc == 0)
		rc = o2_json_get_members(object, members, 6, O2_NO_INDEX, error);
	if (rc != 0)
		return rc;
	plan->access =
		(local_write ? O2_ACCESS_LOCAL_WRITE : 0) | (remote_write ? O2_ACCESS_REMOTE_WRITE : 0);
	rc = read_pages(object, plan, error);
	plan->nentries = 0;
	if (rc == 0 && plan->mode == O2_REG_FASTREG_GAPS)
		rc = read_entries(object, plan, error);
	if (rc == 0)
		rc = o2_frags_from_json(object, "frags", "plan.frags", "plan.frags[]", plan->frag,
					&plan->nfrags, error);
	return rc;
}

int o2_reg_output_from_json(const json_t *object, struct o2_reg_plan *plan, struct o2_refused *refused,
			    struct o2_error *error)
{
	const json_t *child;
	int rc = o2_output_expect(object, O2_REG_OUTPUT_FORM, refused, error);

	if (rc != 0 || refused->code != 0)
		return rc;
	rc = o2_json_get_object(object, "plan", &child, error);
	return rc != 0 ? rc : read_plan(child, plan, error);
}
