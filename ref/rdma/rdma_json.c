/* SPDX-License-Identifier: MIT */
#include "rdma/rdma_json.h"

#include <errno.h>

#include "base/json.h"
#include "wire/frags_json.h"

#define MAX_SGES (O2_MAX_FRAGS * O2_MAX_WRQ_SGE)

static json_t *give_up(json_t *json)
{
	json_decref(json);
	return NULL;
}

json_t *o2_rdma_input_to_json(const struct o2_rdma_input *input)
{
	return json_pack("{s:s, s:i, s:o, s:{s:o, s:o}, s:o, s:o}", "form", O2_RDMA_INPUT_FORM, "version",
			 (int)O2_JSON_VERSION, "nob", o2_json_length(input->nob), "limits", "max_wrs",
			 json_integer(input->limits.max_wrs), "wrq_sge", json_integer(input->limits.wrq_sge),
			 "source", o2_desc_to_json(&input->source), "sink", o2_desc_to_json(&input->sink));
}

/* How errors name the parts of one descriptor. */
struct desc_fields {
	const char *key;
	const char *rd_key;
	const char *rd_frags;
	const char *entry;
};

static int read_desc(const json_t *form, const struct desc_fields *fields, struct o2_rdma_desc *desc,
		     struct o2_error *error)
{
	const struct o2_json_member key = {"rd_key", fields->rd_key, O2_JSON_HEX32, &desc->rd_key};
	const json_t *object;
	int rc = o2_json_get_object(form, fields->key, &object, error);

	if (rc == 0)
		rc = o2_json_get_members(object, &key, 1, O2_NO_INDEX, error);
	if (rc != 0)
		return rc;
	return o2_frags_from_json(object, "rd_frags", fields->rd_frags, fields->entry, desc->rd_frags,
				  &desc->rd_nfrags, error);
}

int o2_rdma_input_from_json(const json_t *object, struct o2_rdma_input *input, struct o2_error *error)
{
	static const struct desc_fields source = {"source", "source.rd_key", "source.rd_frags",
						  "source.rd_frags[]"};
	static const struct desc_fields sink = {"sink", "sink.rd_key", "sink.rd_frags", "sink.rd_frags[]"};
	const struct o2_json_member limits[] = {
		{"max_wrs", "limits.max_wrs", O2_JSON_U32, &input->limits.max_wrs},
		{"wrq_sge", "limits.wrq_sge", O2_JSON_U32, &input->limits.wrq_sge},
	};
	const json_t *child;
	int rc = o2_json_expect_form(object, O2_RDMA_INPUT_FORM, error);

	if (rc == 0)
		rc = o2_json_get_length(object, "nob", &input->nob, error);
	if (rc == 0)
		rc = o2_json_get_object(object, "limits", &child, error);
	if (rc == 0)
		rc = o2_json_get_members(child, limits, 2, O2_NO_INDEX, error);
	if (rc == 0)
		rc = read_desc(object, &source, &input->source, error);
	if (rc == 0)
		rc = read_desc(object, &sink, &input->sink, error);
	return rc;
}

static json_t *wrs_to_json(const struct o2_rdma_plan *plan)
{
	json_t *array = plan->nwr <= O2_MAX_FRAGS ? json_array() : NULL;

	for (uint32_t i = 0; array != NULL && i < plan->nwr; i++) {
		const struct o2_rdma_wr *wr = &plan->wr[i];

		if (json_array_append_new(array, json_pack("{s:o, s:o, s:o, s:o}", "remote_addr",
							   o2_json_hex(wr->remote_addr), "length",
							   json_integer(wr->length), "first_sge",
							   json_integer(wr->first_sge), "num_sge",
							   json_integer(wr->num_sge))) != 0)
			return give_up(array);
	}
	return array;
}

static json_t *sges_to_json(const struct o2_rdma_plan *plan)
{
	json_t *array = plan->nsge <= MAX_SGES ? json_array() : NULL;

	for (uint32_t i = 0; array != NULL && i < plan->nsge; i++) {
		if (json_array_append_new(array,
					  json_pack("{s:o, s:o}", "addr", o2_json_hex(plan->sge[i].addr),
						    "length", json_integer(plan->sge[i].length))) != 0)
			return give_up(array);
	}
	return array;
}

json_t *o2_rdma_output_to_json(const struct o2_rdma_plan *plan, const struct o2_error *refused)
{
	json_t *form = o2_output_form(O2_RDMA_OUTPUT_FORM, refused);
	json_t *child;

	if (form == NULL || (refused != NULL && refused->code != 0))
		return form;
	child = json_pack("{s:o, s:o, s:o, s:o, s:o}", "lkey", o2_json_hex(plan->lkey), "rkey",
			  o2_json_hex(plan->rkey), "nob", o2_json_length(plan->nob), "wr", wrs_to_json(plan),
			  "sge", sges_to_json(plan));
	return json_object_set_new(form, "plan", child) == 0 ? form : give_up(form);
}

static int read_sges(const json_t *array, struct o2_rdma_plan *plan, struct o2_error *error)
{
	int rc = 0;

	plan->nsge = (uint32_t)json_array_size(array);
	for (uint32_t i = 0; rc == 0 && i < plan->nsge; i++) {
		const struct o2_json_member members[] = {
			{"addr", "plan.sge[].addr", O2_JSON_HEX64, &plan->sge[i].addr},
			{"length", "plan.sge[].length", O2_JSON_U32, &plan->sge[i].length},
		};

		rc = o2_json_get_members(json_array_get(array, i), members, 2, i, error);
	}
	return rc;
}

static int read_wrs(const json_t *array, struct o2_rdma_plan *plan, struct o2_error *error)
{
	plan->nwr = (uint32_t)json_array_size(array);
	for (uint32_t i = 0; i < plan->nwr; i++) {
		struct o2_rdma_wr *wr = &plan->wr[i];
		const struct o2_json_member members[] = {
			{"remote_addr", "plan.wr[].remote_addr", O2_JSON_HEX64, &wr->remote_addr},
			{"length", "plan.wr[].length", O2_JSON_U32, &wr->length},
			{"first_sge", "plan.wr[].first_sge", O2_JSON_U32, &wr->first_sge},
			{"num_sge", "plan.wr[].num_sge", O2_JSON_U32, &wr->num_sge},
		};
		int rc = o2_json_get_members(json_array_get(array, i), members, 4, i, error);

		if (rc != 0)
			return rc;
		if (wr->first_sge > plan->nsge || wr->num_sge > plan->nsge - wr->first_sge)
			return o2_refuse(error, -EINVAL, "json/no-such-sge", "plan.wr[].num_sge", i,
					 (uint64_t)wr->first_sge + wr->num_sge, plan->nsge);
	}
	return 0;
}

static int read_plan(const json_t *object, struct o2_rdma_plan *plan, struct o2_error *error)
{
	const struct o2_json_member members[] = {
		{"lkey", "plan.lkey", O2_JSON_HEX32, &plan->lkey},
		{"rkey", "plan.rkey", O2_JSON_HEX32, &plan->rkey},
		{"nob", "plan.nob", O2_JSON_LENGTH, &plan->nob},
	};
	const json_t *wrs;
	const json_t *sges;
	int rc = o2_json_get_members(object, members, 3, O2_NO_INDEX, error);

	if (rc == 0)
		rc = o2_json_at(o2_json_get_array(object, "wr", O2_MAX_FRAGS, &wrs, error), "plan.wr",
				O2_NO_INDEX, error);
	if (rc == 0)
		rc = o2_json_at(o2_json_get_array(object, "sge", MAX_SGES, &sges, error), "plan.sge",
				O2_NO_INDEX, error);
	if (rc == 0)
		rc = read_sges(sges, plan, error);
	return rc != 0 ? rc : read_wrs(wrs, plan, error);
}

int o2_rdma_output_from_json(const json_t *object, struct o2_rdma_plan *plan, struct o2_refused *refused,
			     struct o2_error *error)
{
	const json_t *child;
	int rc = o2_output_expect(object, O2_RDMA_OUTPUT_FORM, refused, error);

	if (rc != 0 || refused->code != 0)
		return rc;
	rc = o2_json_get_object(object, "plan", &child, error);
	return rc != 0 ? rc : read_plan(child, plan, error);
}
