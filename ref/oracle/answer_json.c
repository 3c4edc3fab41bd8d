/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/errno_name.h"
#include "base/fields_json.h"
#include "base/json.h"
#include "forms/dma_json.h"
#include "forms/msg_json.h"
#include "forms/plan_json.h"
#include "forms/rdma_json.h"
#include "forms/sg_json.h"
#include "oracle/stage_ops.h"

/* Answers as the output forms of their stages (docs/oracle.md, "Process protocol"). */

#define ERRNO_MAX 133

static const char *const where_names[] = {"", "source", "sink", "writes"};
static const char *const cost_names[] = {"local", "message", "connection"}; /* local: msg_encode refuses */

void o2_answer_break(struct o2_answer *answer, enum o2_check_id check, const char *format, ...)
{
	va_list arguments;

	answer->kind = O2_ANSWER_BROKEN;
	answer->fault = (struct o2_answer_fault){.check = check};
	va_start(arguments, format);
	vsnprintf(answer->fault.text, sizeof(answer->fault.text), format, arguments);
	va_end(arguments);
}

void o2_answer_break_as(struct o2_answer *answer, const struct o2_answer_fault *fault)
{
	answer->kind = O2_ANSWER_BROKEN;
	answer->fault = *fault;
}

/* --- reading --- */

/* Whether the member is present.  A wrong type breaks the answer; otherwise the comparison would skip it. */
static bool is_said(const json_t *refused, const char *key, json_type type, const char *of_type,
		    struct o2_answer *answer)
{
	const json_t *member = json_object_get(refused, key);

	if (member == NULL || json_is_null(member))
		return false;
	if (json_typeof(member) == type)
		return true;
	o2_answer_break(answer, O2_CHECK_PROTOCOL_FIELD, "refused.%s is not %s", key, of_type);
	return false;
}

/* Index of the member's value in names.  An unknown name breaks the answer.  0: absent, or names[0]. */
static uint32_t read_name(const json_t *refused, const char *key, const char *const *names, uint32_t count,
			  struct o2_answer *answer)
{
	const char *name = json_string_value(json_object_get(refused, key));

	if (!is_said(refused, key, JSON_STRING, "a text", answer))
		return 0;
	for (uint32_t i = 0; i < count; i++)
		if (strcmp(name, names[i]) == 0)
			return i;
	o2_answer_break(answer, O2_CHECK_PROTOCOL_FIELD, "refused.%s is \"%.40s\", expected one as \"%s\"",
			key, name, names[1]);
	return 0;
}

static int errno_of(const char *name)
{
	for (int i = 1; name != NULL && i <= ERRNO_MAX; i++) {
		const char *known = o2_errno_symbol(i);

		if (known != NULL && strcmp(known, name) == 0)
			return i;
	}
	return 0;
}

static void read_refusal(const json_t *refused, struct o2_answer *answer)
{
	const char *error = json_string_value(json_object_get(refused, "errno"));
	const char *rule = json_string_value(json_object_get(refused, "rule"));
	const json_t *index = json_object_get(refused, "index");
	struct o2_answer_refusal *out = &answer->refusal;

	out->error = errno_of(error);
	if (error == NULL && json_object_get(refused, "errno") != NULL) {
		o2_answer_break(answer, O2_CHECK_PROTOCOL_FIELD,
				"refused.errno is not a text, expected a name such as \"EINVAL\"");
		return;
	}
	if (out->error == 0) {
		o2_answer_break(answer, O2_CHECK_PROTOCOL_FIELD,
				"refused.errno is %s%.40s%s, expected a name such as \"EINVAL\"",
				error == NULL ? "missing" : "\"", error == NULL ? "" : error,
				error == NULL ? "" : "\"");
		return;
	}
	if (rule != NULL && strlen(rule) >= O2_ANSWER_NAME_BYTES) {
		o2_answer_break(answer, O2_CHECK_PROTOCOL_FIELD, "refused.rule has %zu bytes, limit %u",
				strlen(rule), O2_ANSWER_NAME_BYTES - 1);
		return;
	}
	answer->kind = O2_ANSWER_REFUSED;
	(void)is_said(refused, "rule", JSON_STRING, "a text", answer);
	snprintf(out->name, sizeof(out->name), "%s", rule == NULL ? "" : rule);
	out->cost = (enum o2_answer_cost)read_name(refused, "class", cost_names, 3, answer);
	out->where = (enum o2_answer_where)read_name(refused, "where", where_names, 4, answer);
	out->index = O2_NO_INDEX;
	if (!is_said(refused, "index", JSON_INTEGER, "an integer", answer))
		return;
	if (json_integer_value(index) >= 0 && json_integer_value(index) < UINT32_MAX)
		out->index = (uint32_t)json_integer_value(index);
	else
		o2_answer_break(answer, O2_CHECK_PROTOCOL_FIELD,
				"refused.index is %lld, expected 0 to 4294967294",
				(long long)json_integer_value(index));
}

/* Members of a plan that repeat the question are optional; their values are taken from the question. */
static int read_node_plan(const json_t *plan, enum o2_reg_mode mode, enum o2_side side, uint32_t page_bytes,
			  struct o2_reg_plan *out, struct o2_error *error)
{
	if (!json_is_object(plan))
		return o2_json_refuse_kind("json/not-an-object", "plan", error);
	out->mode = mode;
	out->side = side;
	out->page_bytes = page_bytes;
	out->access = side == O2_SINK ? O2_ACCESS_LOCAL_WRITE : 0;
	out->nentries = 0;
	return o2_fields_from_json(plan, o2_reg_answer_fields, out, error);
}

static int read_transfer(const struct o2_case_transfer *asked, const json_t *object,
			 struct o2_answer_transfer *out, struct o2_error *error)
{
	int rc = o2_json_expect_form(object, o2_stage_output_form(O2_STAGE_TRANSFER), error);

	for (uint32_t i = 0; rc == 0 && i < 2; i++)
		rc = read_node_plan(json_object_get(object, o2_side_names[i]), asked->node[i].mode,
				    (enum o2_side)i, asked->node[i].memory.space.page_bytes, &out->node[i],
				    error);
	return rc != 0 ? rc : o2_rdma_plan_from_json(object, &out->plan, error);
}

static int read_bytes(const json_t *object, struct o2_answer_bytes *out, struct o2_error *error)
{
	struct o2_wire_refused refused;
	struct o2_wire_bytes bytes;
	int rc = o2_msg_encode_output_from_json(object, &bytes, &refused, error);

	if (rc != 0)
		return rc;
	if (bytes.length_bytes > sizeof(out->bytes))
		bytes.length_bytes = sizeof(out->bytes);
	out->length_bytes = (uint32_t)bytes.length_bytes;
	memcpy(out->bytes, bytes.bytes, bytes.length_bytes);
	return 0;
}

static int read_message(const json_t *object, struct o2_answer_msg *out, struct o2_error *error)
{
	struct o2_wire_refused refused;
	struct o2_msg_json read;
	int rc = o2_msg_decode_output_from_json(object, &read, &refused, error);

	if (rc != 0)
		return rc;
	out->msg = read.msg;
	if (read.msg.ibm_type == O2_MSG_IMMEDIATE)
		out->msg.u.immediate.payload = memcpy(out->payload, read.payload, sizeof(out->payload));
	return 0;
}

static int read_result(const struct o2_case *asked, const json_t *object, struct o2_answer *answer,
		       struct o2_error *error)
{
	struct o2_refused refused;

	if (o2_stage_ops(asked->stage) != NULL)
		return o2_stage_result_from_json(asked, object, answer, error);
	switch (asked->stage) {
	case O2_STAGE_MSG_DECODE:
		return read_message(object, &answer->msg_decode, error);
	case O2_STAGE_MSG_ENCODE:
		return read_bytes(object, &answer->msg_encode, error);
	case O2_STAGE_SG_BUILD:
		return o2_sg_output_from_json(object, &answer->sg, &refused, error);
	case O2_STAGE_DMA_MAP:
		return o2_dma_output_from_json(object, &answer->dma, &refused, error);
	case O2_STAGE_REG_PLAN:
		return read_node_plan(json_object_get(object, "plan"), asked->reg.request.mode,
				      asked->reg.request.side, asked->reg.request.page_bytes, &answer->reg,
				      error);
	case O2_STAGE_RDMA_PLAN:
		return o2_rdma_output_from_json(object, &answer->rdma, &refused, error);
	case O2_STAGE_TRANSFER:
	default:
		break;
	}
	return read_transfer(&asked->transfer, object, &answer->transfer, error);
}

/* As read_result, of an answer that has "refused": null, which means the same as none. */
static int read_without_null(const struct o2_case *asked, const json_t *object, struct o2_answer *answer,
			     struct o2_error *error)
{
	json_t *rest = json_copy((json_t *)(uintptr_t)object);
	int rc;

	json_object_del(rest, "refused");
	rc = read_result(asked, rest, answer, error);
	json_decref(rest);
	return rc;
}

void o2_answer_stages(const json_t *object, bool absent[O2_STAGES])
{
	const json_t *stages = json_object_get(object, "stages");
	const json_t *name;
	enum o2_stage stage;
	size_t i;

	if (!json_is_array(stages))
		return;
	for (stage = O2_STAGES_1; stage < O2_STAGES; stage++)
		absent[stage] = true;
	json_array_foreach(stages, i, name)
		if (json_is_string(name) && o2_stage_from_name(json_string_value(name), &stage) &&
		    stage >= O2_STAGES_1)
			absent[stage] = false;
}

/* A list that cannot be read must not pass for none: its stages would go untested. */
static bool is_list_of_names(const json_t *list)
{
	const json_t *name;
	size_t i;

	json_array_foreach(list, i, name)
		if (!json_is_string(name))
			return false;
	return list == NULL || json_is_null(list) || json_is_array(list);
}

void o2_answer_from_json(const struct o2_case *asked, const json_t *object, struct o2_answer *answer)
{
	const char *expected = o2_stage_output_form(asked->stage);
	const json_t *refused = json_object_get(object, "refused");
	struct o2_error error = {0};
	char text[200];

	if (o2_json_expect_form(object, expected, &error) != 0) {
		const char *form = json_string_value(json_object_get(object, "form"));

		if (form != NULL && strcmp(form, expected) == 0)
			o2_answer_break(answer, O2_CHECK_PROTOCOL_FORM,
					"the answer's version is missing or is not %u", O2_JSON_VERSION);
		else
			o2_answer_break(answer, O2_CHECK_PROTOCOL_FORM,
					"the answer's form is %.60s, expected %s in version %u",
					form == NULL ? "missing" : form, expected, O2_JSON_VERSION);
		return;
	}
	if (!is_list_of_names(json_object_get(object, "stages"))) {
		o2_answer_break(answer, O2_CHECK_PROTOCOL_FIELD, "stages is not an array of texts");
		return;
	}
	answer->kind = O2_ANSWER_RESULT;
	if (json_is_true(json_object_get(object, "not_implemented"))) {
		answer->kind = O2_ANSWER_NOT_IMPLEMENTED;
	} else if (refused != NULL && !json_is_null(refused)) {
		read_refusal(refused, answer);
	} else if (refused != NULL ? read_without_null(asked, object, answer, &error) != 0
				   : read_result(asked, object, answer, &error) != 0) {
		o2_error_text(&error, text, sizeof(text));
		o2_answer_break(answer, O2_CHECK_PROTOCOL_FIELD, "%s", text);
	}
}

/* --- writing --- */

static json_t *refusal_to_json(const struct o2_case *asked, const struct o2_answer_refusal *refusal)
{
	char text[O2_ERRNO_TEXT_BYTES];
	json_t *object = json_pack("{s:s, s:o}", "errno", o2_errno_text(refusal->error, text), "rule",
				   o2_json_text(refusal->name));

	if (refusal->cost != O2_COST_NOT_SAID)
		object = o2_json_with(object, "class", json_string(cost_names[refusal->cost]));
	if (asked->stage == O2_STAGE_TRANSFER && refusal->where != O2_WHERE_NOT_SAID)
		object = o2_json_with(object, "where", json_string(where_names[refusal->where]));
	if (refusal->index != O2_NO_INDEX)
		object = o2_json_with(object, "index", json_integer(refusal->index));
	return object;
}

static json_t *transfer_to_json(const struct o2_answer_transfer *transfer)
{
	json_t *form = o2_json_form(o2_stage_output_form(O2_STAGE_TRANSFER));

	for (uint32_t i = 0; i < 2; i++)
		form = o2_json_with(form, o2_side_names[i],
				    o2_fields_to_json(o2_reg_plan_fields, &transfer->node[i]));
	return o2_json_with(form, "plan", o2_fields_to_json(o2_rdma_plan_fields, &transfer->plan));
}

static json_t *result_to_json(const struct o2_case *asked, const struct o2_answer *answer)
{
	const struct o2_error none = {0};

	if (o2_stage_ops(asked->stage) != NULL)
		return o2_stage_result_to_json(asked, answer);
	if (asked->stage == O2_STAGE_MSG_DECODE && !o2_msg_payload_fits(&answer->msg_decode.msg))
		return NULL;
	switch (asked->stage) {
	case O2_STAGE_MSG_DECODE:
		return o2_msg_decode_output_to_json(&answer->msg_decode.msg, &none);
	case O2_STAGE_MSG_ENCODE:
		return o2_msg_encode_output_to_json(answer->msg_encode.bytes, answer->msg_encode.length_bytes,
						    &none);
	case O2_STAGE_SG_BUILD:
		return o2_sg_output_to_json(&answer->sg, NULL);
	case O2_STAGE_DMA_MAP:
		return o2_dma_output_to_json(&answer->dma, NULL);
	case O2_STAGE_REG_PLAN:
		return o2_reg_output_to_json(&answer->reg, NULL);
	case O2_STAGE_RDMA_PLAN:
		return o2_rdma_output_to_json(&answer->rdma, NULL);
	case O2_STAGE_TRANSFER:
	default:
		break;
	}
	return transfer_to_json(&answer->transfer);
}

json_t *o2_answer_to_json(const struct o2_case *asked, const struct o2_answer *answer)
{
	json_t *object;

	if (answer->kind == O2_ANSWER_RESULT) {
		object = result_to_json(asked, answer);
		if (object != NULL)
			return object;
	}
	object = o2_json_form(o2_stage_output_form(asked->stage));
	if (answer->kind == O2_ANSWER_REFUSED)
		return o2_json_with(object, "refused", refusal_to_json(asked, &answer->refusal));
	if (answer->kind == O2_ANSWER_NOT_IMPLEMENTED)
		return o2_json_with(object, "not_implemented", json_true());
	if (answer->kind == O2_ANSWER_BROKEN)
		return o2_json_with(object, "fault", o2_json_text(answer->fault.text));
	return o2_json_with(object, "fault",
			    json_string("a value that the form cannot hold, or no memory for it"));
}
