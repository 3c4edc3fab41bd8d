/* SPDX-License-Identifier: MIT */
#ifndef O2_ORACLE_ANSWER_H
#define O2_ORACLE_ANSWER_H

#include <jansson.h>
#include <stdint.h>

#include "mem/dma_map.h"
#include "mem/sg_build.h"
#include "oracle/case.h"
#include "oracle/check.h"
#include "rdma/rdma_plan.h"
#include "reg/plan.h"
#include "wire/msg.h"

/* The answer of an implementation, or of the reference, to one case. */

enum o2_answer_kind {
	O2_ANSWER_RESULT,
	O2_ANSWER_REFUSED,
	O2_ANSWER_NOT_IMPLEMENTED,
	O2_ANSWER_BROKEN, /* no answer: the implementation crashed, hung, or its answer cannot be read */
};

/* The effect of a refusal on the connection, and the part of a transfer that was refused (o2ref/impl.h). */
enum o2_answer_cost {
	O2_COST_NOT_SAID,
	O2_COST_MESSAGE,
	O2_COST_CONNECTION,
};

enum o2_answer_where {
	O2_WHERE_NOT_SAID,
	O2_WHERE_SOURCE,
	O2_WHERE_SINK,
	O2_WHERE_WRITES,
};

#define O2_ANSWER_NAME_BYTES 64u
#define O2_ANSWER_TEXT_BYTES 256u
#define O2_ANSWER_SITE_BYTES 64u
#define O2_ANSWER_FRAMES     12u

struct o2_answer_refusal {
	int error; /* errno, positive */
	enum o2_answer_cost cost;
	enum o2_answer_where where;
	uint32_t index;			 /* of the offending entry, or O2_NO_INDEX */
	char name[O2_ANSWER_NAME_BYTES]; /* reference: the rule id; implementation: its own name, or "" */
};

/* A fault that does not depend on the content of the answer. */
struct o2_answer_fault {
	enum o2_check_id check; /* O2_CHECKS: no fault */
	char text[O2_ANSWER_TEXT_BYTES];
	/* The place of the fault, the same in each run: "mine.so+0x11b9" or "mine.py:12"; "": unknown. */
	char site[O2_ANSWER_SITE_BYTES];
	uint32_t nframes; /* call stack, innermost frame first, as offsets in the object */
	uint64_t frame[O2_ANSWER_FRAMES];
};

struct o2_answer_msg {
	struct o2_msg msg; /* an IMMEDIATE points to `payload` below */
	uint8_t payload[O2_MSG_BYTES];
};

struct o2_answer_bytes {
	uint32_t length_bytes;
	/* Of an answer that is too long there is one byte more than a message may have. */
	uint8_t bytes[O2_MSG_BYTES + 1];
};

struct o2_answer_transfer {
	struct o2_reg_plan node[2]; /* by enum o2_side */
	struct o2_rdma_plan plan;
};

#define O2_CHAIN_WRS (O2_MAX_FRAGS + 1)
#define O2_CHAIN_SGE (O2_MAX_FRAGS * O2_MAX_WRQ_SGE + 1)

struct o2_answer_chain {
	uint32_t nwr;
	uint32_t nsge;
	struct o2_impl_chain_wr wr[O2_CHAIN_WRS];
	struct o2_impl_gather sge[O2_CHAIN_SGE];
};

struct o2_answer_keys {
	uint32_t count; /* equals the number of events */
	struct o2_impl_key_step step[O2_IMPL_MAX_EVENTS];
};

#define O2_SEND_SGE (O2_MAX_FRAGS + 1)

struct o2_answer_send {
	struct o2_answer_bytes slot;
	uint32_t nsge;
	struct o2_impl_gather sge[O2_SEND_SGE];
	struct o2_reg_plan plan; /* has no fragments if nothing is registered */
};

struct o2_answer_setup {
	uint32_t count;
	struct o2_impl_setup_event event[O2_IMPL_SETUP_EVENTS];
};

struct o2_answer_flow {
	uint32_t count; /* equals the number of events */
	struct o2_impl_flow_step step[O2_IMPL_FLOW_EVENTS];
};

/* About 170 KiB.  Do not copy: the struct contains pointers into itself. */
struct o2_answer {
	enum o2_answer_kind kind;
	struct o2_answer_refusal refusal; /* kind REFUSED */
	struct o2_answer_fault fault;	  /* kind BROKEN */
	struct o2_answer_fault conduct;	  /* any kind: output on stdout, a leak, or an illegal write */
	union {				  /* kind RESULT, by stage */
		struct o2_answer_msg msg_decode;
		struct o2_answer_bytes msg_encode;
		struct o2_sg_list sg;
		struct o2_dma_list dma;
		struct o2_reg_plan reg;
		struct o2_rdma_plan rdma;
		struct o2_answer_transfer transfer;
		struct o2_impl_device_out device;
		struct o2_answer_chain chain;
		struct o2_impl_connect_out connect;
		struct o2_impl_deliver_out deliver;
		struct o2_answer_keys keys;
		struct o2_answer_send send;
		struct o2_answer_setup setup;
		struct o2_answer_flow flow;
	};
};

/* Make *answer a broken answer whose fault is `check`, with a text as from printf. */
void o2_answer_break(struct o2_answer *answer, enum o2_check_id check, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Make *answer a broken answer with this fault, which is copied. */
void o2_answer_break_as(struct o2_answer *answer, const struct o2_answer_fault *fault);

/* Compute the reference's answer. */
void o2_answer_of_reference(const struct o2_case *asked, struct o2_answer *answer);

/*
 * Compute the answer that the reference would give to reg_plan or transfer under the exact gap rule
 * (oracle/gap_rules.h).  Returns false if that rule gives the same verdict for each list.
 */
bool o2_answer_by_exact_gaps(const struct o2_case *asked, struct o2_answer *answer);

/*
 * The answer as the stage's output form, for reports: a new object, or NULL when memory runs out.  The member
 * "fault" marks a broken answer, or a result that the form cannot hold or for which memory ran out.
 */
json_t *o2_answer_to_json(const struct o2_case *asked, const struct o2_answer *answer);

/*
 * Read the member "stages" of an answer (docs/oracle.md, "Process protocol") into absent[]: the stages of
 * version 2 that it does not list are absent.  Without that member, absent[] does not change.
 */
void o2_answer_stages(const json_t *object, bool absent[O2_STAGES]);

/*
 * Read a process's answer to `asked`.  Never fails: an unreadable answer becomes a broken answer.
 * Members that follow from the question are optional (docs/oracle.md, "Process protocol").
 */
void o2_answer_from_json(const struct o2_case *asked, const json_t *object, struct o2_answer *answer);

#endif
