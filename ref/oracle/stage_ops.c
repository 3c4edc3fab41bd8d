/* SPDX-License-Identifier: MIT */
#include "oracle/stage_ops.h"

#include "base/fields_json.h"
#include "base/json.h"

static const struct o2_stage_ops *const ops[O2_STAGES] = {
	[O2_STAGE_DEVICE] = &o2_stage_device,	[O2_STAGE_RDMA_CHAIN] = &o2_stage_chain,
	[O2_STAGE_CONNECT] = &o2_stage_connect, [O2_STAGE_DELIVER] = &o2_stage_deliver,
	[O2_STAGE_KEYS] = &o2_stage_keys,
};

const struct o2_stage_ops *o2_stage_ops(enum o2_stage stage)
{
	return stage < O2_STAGES ? ops[stage] : NULL;
}

/* The most that a field may hold. */
static uint64_t most_of(const struct o2_field *field)
{
	switch (field->kind) {
	case O2_FIELD_BOOL:
		return 1;
	case O2_FIELD_NAME:
		return field->limit - 1;
	case O2_FIELD_UINT:
		return field->limit != 0 ? field->limit : UINT64_MAX;
	default:
		return UINT64_MAX;
	}
}

bool o2_result_is_legal(const struct o2_field *fields, const void *result, struct o2_answer *answer)
{
	for (; fields->name != NULL; fields++) {
		const uint64_t value = o2_field_value(fields, result);

		if (value <= most_of(fields))
			continue;
		o2_answer_break(answer, O2_CHECK_RUN_VALUE, "%s is %llu, expected at most %llu", fields->name,
				(unsigned long long)value, (unsigned long long)most_of(fields));
		return false;
	}
	return true;
}

json_t *o2_flat_case_to_json(enum o2_stage stage, const struct o2_field *fields, const void *question)
{
	return o2_fields_into_json(o2_json_form(o2_stage_input_form(stage)), fields, question);
}

int o2_flat_case_from_json(const json_t *form, enum o2_stage stage, const struct o2_field *fields,
			   void *question, struct o2_error *error)
{
	int rc = o2_json_expect_form(form, o2_stage_input_form(stage), error);

	return rc != 0 ? rc : o2_fields_from_json(form, fields, question, error);
}
