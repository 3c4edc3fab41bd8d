/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_CHECK_REPRODUCER_H
#define O2_PROPS_CHECK_REPRODUCER_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#include "oracle/compare.h"

/*
 * A finding as one C file that needs only o2ref/impl.h: the question as initialisers, the reference's answer as
 * constants, and a main that asks a shared object, or an implementation linked with it, and prints both answers
 * (docs/oracle.md, "Reproducers").
 */

/*
 * Write the C file of a finding. library: default path of the shared object that the C file asks. file: name of
 * the C file, for the compile commands in its comment. False: the ABI cannot ask the finding's question, or
 * memory ran out; nothing was written.
 */
bool o2_reproducer(const json_t *finding, enum o2_profile profile, const char *library, const char *file,
		   FILE *out);

/* --- for the files that write its parts --- */

#define O2_REPRODUCER_ARRAYS 8u

/* What is known of a finding.  Large: allocate it on the heap. */
struct o2_reproducer {
	const json_t *finding;
	enum o2_profile profile;
	const char *check; /* the id of the check */
	struct o2_case asked;
	struct o2_answer expected;
	struct o2_comparison comparison; /* of `expected` with itself, for its streams */
	FILE *out;
	uint32_t arrays; /* arrays that end at an inaccessible page */
	char array[O2_REPRODUCER_ARRAYS][32];
};

/* Can questions of this stage be written? */
bool o2_reproducer_writes(enum o2_stage stage);

/* Write the question: `in`, and the arrays that it points to. */
void o2_reproducer_question(struct o2_reproducer *r);

/* Write `out`, its arrays, and the function `compare`, which compares both answers. */
void o2_reproducer_answer(struct o2_reproducer *r);

/* Write the begin and the end of `compare`.  If the reference refuses, the end says that an answer is wrong. */
void o2_reproducer_begin_compare(struct o2_reproducer *r);
void o2_reproducer_end_compare(struct o2_reproducer *r);

/* Write an array that will end at an inaccessible page.  type, name: its C type and name. */
void o2_reproducer_array(struct o2_reproducer *r, const char *type, const char *name, uint32_t count);

/* Write bytes as the initialisers of an array, in lines of twelve. */
void o2_reproducer_bytes(struct o2_reproducer *r, const uint8_t *bytes, uint64_t count);

/* How a question and an answer of a stage of version 2 are written. */
struct o2_reproducer_stage {
	void (*question)(struct o2_reproducer *r);
	void (*answer)(struct o2_reproducer *r);
};

extern const struct o2_reproducer_stage o2_reproducer_chain, o2_reproducer_connect, o2_reproducer_deliver,
	o2_reproducer_device, o2_reproducer_keys, o2_reproducer_send_plan, o2_reproducer_setup,
	o2_reproducer_flow;

/* NULL: the stage is not here, as those of version 1. */
const struct o2_reproducer_stage *o2_reproducer_stage(enum o2_stage stage);

/* Does the id of the check end with this text? */
bool o2_reproducer_is(const struct o2_reproducer *r, const char *end);

/* Call `each` for each number that the message's type has; member: its name in o2ref/impl.h. */
void o2_reproducer_message(const struct o2_msg *msg,
			   void (*each)(struct o2_reproducer *r, const char *member, uint64_t value),
			   struct o2_reproducer *r);

/*
 * Write `in` of this type.  part: prefix of the members of a transfer's writes, "rdma." or "".  more: lines of
 * further members.
 */
void o2_reproducer_rdma(struct o2_reproducer *r, const char *type, const char *part, const char *more,
			const struct o2_rdma_input *asked);

/* Write `in` of send_plan. */
void o2_reproducer_send(struct o2_reproducer *r);

/* Write the arrays of a registration's plan, named with prefix; write the lines that point to them. */
void o2_reproducer_plan_out(struct o2_reproducer *r, const char *prefix);
void o2_reproducer_plan_init(struct o2_reproducer *r, const char *indent, const char *prefix);

/* Write runs of bytes as an array of struct run. */
void o2_reproducer_put_runs(struct o2_reproducer *r, const char *name, const struct o2_stream *stream);

/* Helper functions of the C file: runs of bytes, regions, the shape of work requests, the sink's fragments. */
extern const char o2_reproducer_runs[], o2_reproducer_region[], o2_reproducer_terms[],
	o2_reproducer_published[], o2_reproducer_shape[], o2_reproducer_fragments[];

/* Lines of `compare`: the reference's runs `from` and `to` against the runs found, `local` and `remote`. */
extern const char o2_reproducer_both[];

#endif
