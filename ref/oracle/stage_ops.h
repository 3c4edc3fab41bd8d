/* SPDX-License-Identifier: MIT */
#ifndef O2_ORACLE_STAGE_OPS_H
#define O2_ORACLE_STAGE_OPS_H

#include "base/fields.h"
#include "oracle/answer.h"
#include "oracle/case.h"
#include "oracle/compare.h"
#include "oracle/impl_slot.h"

/*
 * The operations of one stage of version 2 of the ABI.  Each such stage has a file in oracle/stages/.  Stages
 * of version 1 have no ops: o2_case_to_json, o2_impl_put_case and similar functions handle them directly.
 */
struct o2_stage_ops {
	size_t entry; /* offset of the stage's function in struct o2_impl_2 */
	/* The checks of a refusal; O2_CHECKS: not checked. */
	enum o2_check_id refused_legal; /* for a refusal of what the reference admits */
	enum o2_check_id error, rule, index, cost;
	const char *request; /* a legal question as JSON, for o2_oracle_selftest */

	/*
	 * JSON forms.  `question` describes the members of a question, found at offset question_at of struct
	 * o2_case, and `result` those of a result, at offset result_at of struct o2_answer.
	 */
	const struct o2_field *question, *result;
	size_t question_at, result_at;
	struct o2_stage_bytes {	       /* the question's member "bytes", as offsets in struct o2_case */
		size_t at, room_bytes; /* room_bytes 0: there is no such member */
		size_t length_at;      /* of a uint64_t */
	} bytes;
	const char *member; /* name of the member that holds the result; NULL: the form itself does */
	/* If a result has more than its fields: write the whole member; read what is no field.  Else NULL. */
	json_t *(*result_to_json)(const struct o2_answer *answer);
	int (*result_from_json)(const struct o2_case *asked, const json_t *member, struct o2_answer *answer,
				struct o2_error *error);
	/* If the form of a question extends another form: write and read it.  Else NULL. */
	json_t *(*case_to_json)(const struct o2_case *asked);
	int (*case_from_json)(const json_t *form, struct o2_case *asked, struct o2_error *error);
	/* Check a question after its fields were read; NULL: no further rules. */
	int (*question_check)(const struct o2_case *asked, struct o2_error *error);
	/* Check a result after it was read from JSON or from a slot; NULL: no further rules. */
	int (*result_check)(const struct o2_case *asked, const struct o2_answer *answer,
			    struct o2_error *error);

	/* Slots: call the function; put a question into a slot that was reset; get a result and check it. */
	int32_t (*call)(const struct o2_impl_2 *impl, const struct o2_impl_slot *slot);
	void (*put)(const struct o2_case *asked, struct o2_impl_slot *slot);
	void (*get)(const struct o2_case *asked, struct o2_impl_slot *slot, struct o2_answer *answer);

	/* Compute the reference's answer.  Returns 0 with a result, or -errno with *error. */
	int (*reference)(const struct o2_case *asked, struct o2_answer *answer, struct o2_error *error);
	/* Compare two results. */
	void (*compare)(struct o2_comparison *comparison, const struct o2_case *asked,
			const struct o2_answer *expected, const struct o2_answer *found);
};

/* Define the function call() of a stage's file, which calls entry_ of struct o2_impl_2. */
#define O2_STAGE_CALL(entry_, slot_)                                                       \
	static int32_t call(const struct o2_impl_2 *impl, const struct o2_impl_slot *slot) \
	{                                                                                  \
		return impl->entry_(&slot->in->slot_, &slot->out->slot_, slot->refusal);   \
	}

/* Initialisers for every stage: the functions call, put, get and reference of its file, and the checks. */
#define O2_STAGE_OPS(entry_, refused_legal_, error_, rule_, index_, cost_)                       \
	.entry = offsetof(struct o2_impl_2, entry_), .call = call, .put = put, .get = get,       \
	.reference = reference, .refused_legal = refused_legal_, .error = error_, .rule = rule_, \
	.index = index_, .cost = cost_
/* Initialisers for the file's tables question_fields and result_fields, with their offsets. */
#define O2_STAGE_QUESTION(at_) .question = question_fields, .question_at = offsetof(struct o2_case, at_)
#define O2_STAGE_RESULT(at_)   .result = result_fields, .result_at = offsetof(struct o2_answer, at_)
/* A row of such a table for an array of structs whose count is in the same struct. */
#define O2_STAGE_LIST(name_, type_, member_, count_, fields_)                                               \
	{                                                                                                   \
		O2_FIELD(name_, LIST, type_, member_), .part = (fields_),                                   \
						       .stride_bytes = sizeof(((type_ *)NULL)->member_[0]), \
						       .count_bytes = offsetof(type_, count_)               \
	}

/* The operations of a stage; NULL for a stage of version 1. */
const struct o2_stage_ops *o2_stage_ops(enum o2_stage stage);

extern const struct o2_stage_ops o2_stage_device, o2_stage_chain, o2_stage_connect, o2_stage_deliver,
	o2_stage_keys, o2_stage_send, o2_stage_setup, o2_stage_flow;

/* --- functions that these stages share --- */

/* Whether the JSON form can hold each number of the result.  If not, *answer becomes broken. */
bool o2_result_is_legal(const struct o2_field *fields, const void *result, struct o2_answer *answer);

/*
 * Copy the steps of a result from the slot to `steps`, up to the first illegal one, which breaks *answer.
 * Returns count, or 0 if the slot has no room for so many.
 */
uint32_t o2_stage_get_steps(struct o2_impl_slot *slot, enum o2_impl_part part, uint32_t count,
			    size_t step_bytes, bool (*is_legal)(const void *step, struct o2_answer *answer),
			    void *steps, struct o2_answer *answer);
/* Whether count is at most room.  If not, *answer becomes broken. */
bool o2_stage_fits(const char *what, uint32_t count, uint32_t room, struct o2_answer *answer);
/* Check that the numbers of steps and events are equal.  Returns 0, or -EINVAL with *error. */
int o2_stage_one_step_each(const char *rule, uint32_t steps, uint32_t events, struct o2_error *error);

/* The memory of one node as JSON; reading takes it from member `name` of a form. */
json_t *o2_case_node_to_json(const struct o2_case_node *node);
int o2_case_node_from_json(const json_t *form, const char *name, struct o2_case_node *node,
			   struct o2_error *error);

/* Plan the registration of the first nob bytes of a node's memory (docs/oracle.md, "A whole transfer"). */
int o2_node_register(const struct o2_case_node *node, enum o2_side side, uint32_t max_frags, uint64_t nob,
		     struct o2_reg_plan *plan, struct o2_error *error);

/* Write and read the forms of a question and of a result of a version 2 stage. */
json_t *o2_stage_case_to_json(const struct o2_case *asked);
int o2_stage_case_from_json(const json_t *form, struct o2_case *asked, struct o2_error *error);
json_t *o2_stage_result_to_json(const struct o2_case *asked, const struct o2_answer *answer);
int o2_stage_result_from_json(const struct o2_case *asked, const json_t *form, struct o2_answer *answer,
			      struct o2_error *error);

#endif
