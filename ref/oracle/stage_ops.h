/* SPDX-License-Identifier: MIT */
#ifndef O2_ORACLE_STAGE_OPS_H
#define O2_ORACLE_STAGE_OPS_H

#include "base/fields.h"
#include "oracle/answer.h"
#include "oracle/case.h"
#include "oracle/compare.h"
#include "oracle/impl_slot.h"

/*
 * All that the oracle does with a stage of version 2 of the ABI, in one file each (oracle/stages/).  What it
 * does with those of version 1 stands beside what they share: o2_case_to_json, o2_impl_put_case and so on.
 */
struct o2_stage_ops {
	size_t entry; /* of its function in struct o2_impl_2 */
	/* The checks of a refusal; O2_CHECKS: not asked of it. */
	enum o2_check_id refused_legal; /* it is refused, and the reference admits it */
	enum o2_check_id error, rule, index, cost;
	const char *request; /* a legal question, as JSON: what a program is tried with */

	/*
	 * Forms.  The members of a question stand in struct o2_case at question_at; its bytes, where it has some,
	 * are one member more, "bytes".  Those of a result stand in struct o2_answer at result_at.
	 */
	const struct o2_field *question, *result;
	size_t question_at, result_at;
	struct o2_stage_bytes {
		size_t at, room_bytes; /* room_bytes 0: there are none */
		size_t length_at;      /* a uint64_t */
	} bytes;
	const char *member; /* that holds the result; NULL: its members are the form's own */
	/* Results with more than fields, which are in the member: all of it, and what is no field; else NULL. */
	json_t *(*result_to_json)(const struct o2_answer *answer);
	int (*result_from_json)(const struct o2_case *asked, const json_t *member, struct o2_answer *answer,
				struct o2_error *error);
	/* Questions whose form is another one's and more; else NULL. */
	json_t *(*case_to_json)(const struct o2_case *asked);
	int (*case_from_json)(const json_t *form, struct o2_case *asked, struct o2_error *error);
	/* What a question that was read has to keep to, beyond its fields; NULL: nothing. */
	int (*question_check)(const struct o2_case *asked, struct o2_error *error);
	/* So of a result, from a form as from the structs; NULL: nothing. */
	int (*result_check)(const struct o2_case *asked, const struct o2_answer *answer,
			    struct o2_error *error);

	/* The structs of o2ref/impl.h.  put: into a slot that was reset; get: a result, checked. */
	int32_t (*call)(const struct o2_impl_2 *impl, const struct o2_impl_slot *slot);
	void (*put)(const struct o2_case *asked, struct o2_impl_slot *slot);
	void (*get)(const struct o2_case *asked, struct o2_impl_slot *slot, struct o2_answer *answer);

	/* What the reference answers.  Returns 0 with a result, or -errno with *error. */
	int (*reference)(const struct o2_case *asked, struct o2_answer *answer, struct o2_error *error);
	/* Two results. */
	void (*compare)(struct o2_comparison *comparison, const struct o2_case *asked,
			const struct o2_answer *expected, const struct o2_answer *found);
};

/* The functions of a stage's file are called as the members are; this one calls entry_ of struct o2_impl_2. */
#define O2_STAGE_CALL(entry_, slot_)                                                       \
	static int32_t call(const struct o2_impl_2 *impl, const struct o2_impl_slot *slot) \
	{                                                                                  \
		return impl->entry_(&slot->in->slot_, &slot->out->slot_, slot->refusal);   \
	}

/* What every stage has: its function, and the checks as they stand above. */
#define O2_STAGE_OPS(entry_, refused_legal_, error_, rule_, index_, cost_)                       \
	.entry = offsetof(struct o2_impl_2, entry_), .call = call, .put = put, .get = get,       \
	.reference = reference, .refused_legal = refused_legal_, .error = error_, .rule = rule_, \
	.index = index_, .cost = cost_
/* Its tables question_fields and result_fields, and where in the structs they begin. */
#define O2_STAGE_QUESTION(at_) .question = question_fields, .question_at = offsetof(struct o2_case, at_)
#define O2_STAGE_RESULT(at_)   .result = result_fields, .result_at = offsetof(struct o2_answer, at_)
/* A row of such a table: a list of structs, with its count in the same struct. */
#define O2_STAGE_LIST(name_, type_, member_, count_, fields_)                                               \
	{                                                                                                   \
		O2_FIELD(name_, LIST, type_, member_), .part = (fields_),                                   \
						       .stride_bytes = sizeof(((type_ *)NULL)->member_[0]), \
						       .count_bytes = offsetof(type_, count_)               \
	}

/* NULL for a stage of version 1. */
const struct o2_stage_ops *o2_stage_ops(enum o2_stage stage);

extern const struct o2_stage_ops o2_stage_device, o2_stage_chain, o2_stage_connect, o2_stage_deliver,
	o2_stage_keys, o2_stage_send, o2_stage_setup, o2_stage_flow;

/* --- what such stages share --- */

/* Is what a number of the answer's struct holds one that its form can say?  Else the answer is broken. */
bool o2_result_is_legal(const struct o2_field *fields, const void *result, struct o2_answer *answer);

/*
 * Steps of a result, of which each is legal, into an array of the answer's.  Returns how many the implementation
 * has made; 0 where they cannot be read.
 */
uint32_t o2_stage_get_steps(struct o2_impl_slot *slot, enum o2_impl_part part, uint32_t count,
			    size_t step_bytes, bool (*is_legal)(const void *step, struct o2_answer *answer),
			    void *steps, struct o2_answer *answer);
/* Has a step no more parts than there is room for? */
bool o2_stage_fits(const char *what, uint32_t count, uint32_t room, struct o2_answer *answer);
/* Is there a step for each event? */
int o2_stage_one_step_each(const char *rule, uint32_t steps, uint32_t events, struct o2_error *error);

/* The memory of one node, as member `name` of a form. */
json_t *o2_case_node_to_json(const struct o2_case_node *node);
int o2_case_node_from_json(const json_t *form, const char *name, struct o2_case_node *node,
			   struct o2_error *error);

/* One node makes the first nob bytes of its memory ready (docs/oracle.md, "A whole transfer"). */
int o2_node_register(const struct o2_case_node *node, enum o2_side side, uint32_t max_frags, uint64_t nob,
		     struct o2_reg_plan *plan, struct o2_error *error);

/* The forms of a question and of a result, of a stage of version 2. */
json_t *o2_stage_case_to_json(const struct o2_case *asked);
int o2_stage_case_from_json(const json_t *form, struct o2_case *asked, struct o2_error *error);
json_t *o2_stage_result_to_json(const struct o2_case *asked, const struct o2_answer *answer);
int o2_stage_result_from_json(const struct o2_case *asked, const json_t *form, struct o2_answer *answer,
			      struct o2_error *error);

#endif
