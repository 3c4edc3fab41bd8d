/* SPDX-License-Identifier: MIT */
#include "oracle/stage_ops.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/fields_json.h"
#include "base/json.h"
#include "forms/bytes_json.h"

static const struct o2_stage_ops *const stages[O2_STAGES] = {
	[O2_STAGE_DEVICE] = &o2_stage_device,	[O2_STAGE_RDMA_CHAIN] = &o2_stage_chain,
	[O2_STAGE_CONNECT] = &o2_stage_connect, [O2_STAGE_DELIVER] = &o2_stage_deliver,
	[O2_STAGE_KEYS] = &o2_stage_keys,	[O2_STAGE_SETUP] = &o2_stage_setup,
	[O2_STAGE_SEND_PLAN] = &o2_stage_send,	[O2_STAGE_FLOW] = &o2_stage_flow,
};

const struct o2_stage_ops *o2_stage_ops(enum o2_stage stage)
{
	return stage < O2_STAGES ? stages[stage] : NULL;
}

/* The maximum value of a field. */
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

uint32_t o2_stage_get_steps(struct o2_impl_slot *slot, enum o2_impl_part part, uint32_t count,
			    size_t step_bytes, bool (*is_legal)(const void *step, struct o2_answer *answer),
			    void *steps, struct o2_answer *answer)
{
	const uint8_t *step = o2_impl_take(slot, part, count, (uint32_t)step_bytes, answer);

	for (uint32_t i = 0; step != NULL && i < count; i++) {
		if (!is_legal(step + i * step_bytes, answer))
			break;
		memcpy((uint8_t *)steps + i * step_bytes, step + i * step_bytes, step_bytes);
	}
	return step == NULL ? 0 : count;
}

bool o2_stage_fits(const char *what, uint32_t count, uint32_t room, struct o2_answer *answer)
{
	if (count <= room)
		return true;
	o2_answer_break(answer, O2_CHECK_RUN_COUNT_OVER_CAPACITY,
			"a step counts %" PRIu32 " %s, capacity %" PRIu32, count, what, room);
	return false;
}

int o2_stage_one_step_each(const char *rule, uint32_t steps, uint32_t events, struct o2_error *error)
{
	return steps == events ? 0 : o2_refuse_other(error, -EINVAL, rule, "steps", steps, events);
}

/* --- forms --- */

json_t *o2_stage_case_to_json(const struct o2_case *asked)
{
	const struct o2_stage_ops *stage = stages[asked->stage];
	const uint8_t *at = (const uint8_t *)asked;
	json_t *form;
	uint64_t length_bytes;

	if (stage->case_to_json != NULL)
		return stage->case_to_json(asked);
	form = o2_fields_into_json(o2_json_form(o2_stage_input_form(asked->stage)), stage->question,
				   at + stage->question_at);
	if (stage->bytes.room_bytes == 0)
		return form;
	memcpy(&length_bytes, at + stage->bytes.length_at, sizeof(length_bytes));
	return o2_json_with(form, "bytes", o2_bytes_to_json(at + stage->bytes.at, length_bytes));
}

int o2_stage_case_from_json(const json_t *form, struct o2_case *asked, struct o2_error *error)
{
	const struct o2_stage_ops *stage = stages[asked->stage];
	uint8_t *at = (uint8_t *)asked;
	size_t length_bytes = 0;
	int rc;

	if (stage->case_from_json != NULL)
		return stage->case_from_json(form, asked, error);
	rc = o2_json_expect_form(form, o2_stage_input_form(asked->stage), error);
	if (rc == 0)
		rc = o2_fields_from_json(form, stage->question, at + stage->question_at, error);
	if (rc == 0 && stage->question_check != NULL)
		rc = stage->question_check(asked, error);
	if (rc != 0 || stage->bytes.room_bytes == 0)
		return rc;
	rc = o2_bytes_from_json(form, "bytes", "bytes", at + stage->bytes.at, stage->bytes.room_bytes,
				&length_bytes, error);
	memcpy(at + stage->bytes.length_at, &(uint64_t){length_bytes}, sizeof(uint64_t));
	return rc;
}

json_t *o2_stage_result_to_json(const struct o2_case *asked, const struct o2_answer *answer)
{
	const struct o2_stage_ops *stage = stages[asked->stage];
	const void *result = (const uint8_t *)answer + stage->result_at;
	json_t *form = o2_json_form(o2_stage_output_form(asked->stage));

	if (stage->result_to_json != NULL)
		return o2_json_with(form, stage->member, stage->result_to_json(answer));
	return stage->member == NULL
		       ? o2_fields_into_json(form, stage->result, result)
		       : o2_json_with(form, stage->member, o2_fields_to_json(stage->result, result));
}

int o2_stage_result_from_json(const struct o2_case *asked, const json_t *form, struct o2_answer *answer,
			      struct o2_error *error)
{
	const struct o2_stage_ops *stage = stages[asked->stage];
	void *result = (uint8_t *)answer + stage->result_at;
	int rc = stage->member == NULL ? o2_fields_from_json(form, stage->result, result, error)
				       : o2_part_from_json(form, stage->member, stage->result, result, error);

	if (rc == 0 && stage->result_from_json != NULL)
		rc = stage->result_from_json(asked, json_object_get(form, stage->member), answer, error);
	return rc != 0 || stage->result_check == NULL ? rc : stage->result_check(asked, answer, error);
}
