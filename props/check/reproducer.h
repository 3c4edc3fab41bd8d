/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_CHECK_REPRODUCER_H
#define O2_PROPS_CHECK_REPRODUCER_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#include "oracle/compare.h"

/*
 * A finding as one file in C that needs nothing but o2ref/impl.h: the question as initialisers, what the
 * reference answers as constants, and a main that asks a shared object, or an implementation that it is linked
 * with, and shows both (docs/oracle.md, "Reproducers").
 */

/*
 * Write the file of a finding of a result.  library: the shared object that it asks when it is not told
 * another; file: its own name, for the lines that say how to compile it.  False when the finding has no
 * question that the ABI can ask, or memory runs out; then nothing is written.
 */
bool o2_reproducer(const json_t *finding, enum o2_profile profile, const char *library, const char *file,
		   FILE *out);

/* --- for its parts --- */

#define O2_REPRODUCER_ARRAYS 8u

/* What is known of a finding.  Large: on the heap. */
struct o2_reproducer {
	const json_t *finding;
	enum o2_profile profile;
	const char *check; /* its id */
	struct o2_case asked;
	struct o2_answer expected;
	struct o2_comparison comparison; /* of `expected` with itself: its streams */
	FILE *out;
	uint32_t arrays; /* that lie in front of memory that cannot be touched */
	char array[O2_REPRODUCER_ARRAYS][32];
};

/* Is there a way to write questions of this stage? */
bool o2_reproducer_writes(enum o2_stage stage);

/* The question: `in`, and the arrays that it points to. */
void o2_reproducer_question(struct o2_reproducer *r);

/* `out` and its arrays; and how both answers are compared: a function `compare`. */
void o2_reproducer_answer(struct o2_reproducer *r);

/* The function `compare`, around its lines: where the reference refuses it says that an answer is wrong. */
void o2_reproducer_begin_compare(struct o2_reproducer *r);
void o2_reproducer_end_compare(struct o2_reproducer *r);

/* An array of the file; what lies behind it cannot be touched.  type, name: of C. */
void o2_reproducer_array(struct o2_reproducer *r, const char *type, const char *name, uint32_t count);

/* How a stage of version 2 is written. */
struct o2_reproducer_stage {
	void (*question)(struct o2_reproducer *r);
	void (*answer)(struct o2_reproducer *r);
};

extern const struct o2_reproducer_stage o2_reproducer_chain, o2_reproducer_connect, o2_reproducer_deliver,
	o2_reproducer_device, o2_reproducer_keys, o2_reproducer_send_plan, o2_reproducer_setup,
	o2_reproducer_flow;

/* NULL for a stage that has none, as those of version 1. */
const struct o2_reproducer_stage *o2_reproducer_stage(enum o2_stage stage);

/* Does the id of the check end like this? */
bool o2_reproducer_is(const struct o2_reproducer *r, const char *end);

/* Called with each number of a message that its type has; member: its name in o2ref/impl.h. */
void o2_reproducer_message(const struct o2_msg *msg,
			   void (*each)(struct o2_reproducer *r, const char *member, uint64_t value),
			   struct o2_reproducer *r);

/*
 * `in` of this type, whose members of a transfer's writes begin with part: "rdma.", or "".  more: lines of
 * further members.
 */
void o2_reproducer_rdma(struct o2_reproducer *r, const char *type, const char *part, const char *more,
			const struct o2_rdma_input *asked);

/* `in` of send_plan. */
void o2_reproducer_send(struct o2_reproducer *r);

/* The arrays of a registration's plan, whose names begin with prefix; and the lines that point to them. */
void o2_reproducer_plan_out(struct o2_reproducer *r, const char *prefix);
void o2_reproducer_plan_init(struct o2_reproducer *r, const char *indent, const char *prefix);

/* Runs of bytes, as an array of struct run. */
void o2_reproducer_put_runs(struct o2_reproducer *r, const char *name, const struct o2_stream *stream);

/* Functions of the file: runs of bytes, regions, the shape of work requests, the sink's fragments. */
extern const char o2_reproducer_runs[], o2_reproducer_region[], o2_reproducer_terms[],
	o2_reproducer_published[], o2_reproducer_shape[], o2_reproducer_fragments[];

/* Lines of `compare`: the runs `from` and `to` of the reference, and what was found, `local` and `remote`. */
extern const char o2_reproducer_both[];

#endif
