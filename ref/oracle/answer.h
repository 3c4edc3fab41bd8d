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

/* What an implementation, or the reference, says to a case. */

enum o2_answer_kind {
	O2_ANSWER_RESULT,
	O2_ANSWER_REFUSED,
	O2_ANSWER_NOT_IMPLEMENTED,
	O2_ANSWER_BROKEN, /* no answer: it crashed, hung, or what it said cannot be read */
};

/* What a refusal costs a connection, and in whose work it happened; 0: not said (o2ref/impl.h). */
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
	uint32_t index;			 /* or O2_NO_INDEX */
	char name[O2_ANSWER_NAME_BYTES]; /* the reference: the rule; others: their own name, or "" */
};

/* What is wrong with an answer whatever its content. */
struct o2_answer_fault {
	enum o2_check_id check; /* O2_CHECKS: nothing */
	char text[O2_ANSWER_TEXT_BYTES];
	/* Where it happened, the same each time: "mine.so+0x11b9", or "mine.py:12"; "": not known. */
	char site[O2_ANSWER_SITE_BYTES];
	uint32_t nframes; /* of the calls that led there, the innermost first: offsets in the object */
	uint64_t frame[O2_ANSWER_FRAMES];
};

struct o2_answer_msg {
	struct o2_msg msg; /* its payload is the one below */
	uint8_t payload[O2_MSG_BYTES];
};

struct o2_answer_bytes {
	uint32_t length_bytes;
	uint8_t bytes[O2_MSG_BYTES];
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
	uint32_t count; /* as many as there are events */
	struct o2_impl_key_step step[O2_IMPL_MAX_EVENTS];
};

#define O2_SEND_SGE (O2_MAX_FRAGS + 1)

struct o2_answer_send {
	struct o2_answer_bytes slot;
	uint32_t nsge;
	struct o2_impl_gather sge[O2_SEND_SGE];
	struct o2_reg_plan plan; /* nothing registered: no fragments */
};

struct o2_answer_setup {
	uint32_t count;
	struct o2_impl_setup_event event[O2_IMPL_SETUP_EVENTS];
};

struct o2_answer_flow {
	uint32_t count; /* as many as there are events */
	struct o2_impl_flow_step step[O2_IMPL_FLOW_EVENTS];
};

/* About 170 KiB; it points into itself and is not to be copied. */
struct o2_answer {
	enum o2_answer_kind kind;
	struct o2_answer_refusal refusal; /* REFUSED */
	struct o2_answer_fault fault;	  /* BROKEN */
	struct o2_answer_fault conduct;	  /* any: it printed, leaked, or wrote where it must not */
	union {				  /* RESULT, by stage */
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

/* Make *answer a broken one, under `check`; format as printf. */
void o2_answer_break(struct o2_answer *answer, enum o2_check_id check, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* The same with all that is known of it. */
void o2_answer_break_as(struct o2_answer *answer, const struct o2_answer_fault *fault);

/* What the reference answers. */
void o2_answer_of_reference(const struct o2_case *asked, struct o2_answer *answer);

/*
 * What it would answer if it judged gaps by the exact rule (oracle/gap_rules.h), of reg_plan and of a whole
 * transfer; false: no list is judged otherwise.
 */
bool o2_answer_by_exact_gaps(const struct o2_case *asked, struct o2_answer *answer);

/*
 * The stage's output form, for reports; a new object, NULL when memory runs out.  A broken answer: "fault"; so
 * is a result that the form cannot hold, or for which memory ran out.
 */
json_t *o2_answer_to_json(const struct o2_case *asked, const struct o2_answer *answer);

/*
 * Which stages the program says in an answer that it has (docs/oracle.md, "Process protocol"): of version 2
 * all others are absent.  Nothing changes where it does not say.
 */
void o2_answer_stages(const json_t *object, bool absent[O2_STAGES]);

/*
 * Read what a process answered to `asked`.  Never fails: what cannot be read is a broken answer.
 * Members that the question implies need not be there (docs/oracle.md, "Process protocol").
 */
void o2_answer_from_json(const struct o2_case *asked, const json_t *object, struct o2_answer *answer);

#endif
