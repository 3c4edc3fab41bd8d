/* SPDX-License-Identifier: MIT */
#ifndef O2_ORACLE_IMPL_SLOT_H
#define O2_ORACLE_IMPL_SLOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "o2ref/impl.h"
#include "oracle/answer.h"
#include "oracle/case.h"

/*
 * Memory that the oracle shares with the process that runs a shared object: one slot holds one question and
 * its answer in the structs of o2ref/impl.h.
 *
 * Each part stands alone between pages that cannot be touched, at the end of its own pages, so that the first
 * byte behind it is such a page; the bytes in front of it are a zone that is looked at afterwards. Addresses
 * are the same in both processes: the memory is mapped before the child is forked.
 */

enum o2_impl_part {
	O2_PART_INPUT,
	O2_PART_BYTES, /* the received bytes of msg_decode: input as well */
	O2_PART_OUT,   /* the out struct and the refusal */
	O2_PART_ARRAYS,
	O2_PART_SGE = O2_PART_ARRAYS, /* arrays of the answer: the large one first */
	O2_PART_WR,
	O2_PART_A, /* the others, by stage */
	O2_PART_B,
	O2_PART_C,
	O2_PART_D,
	O2_PART_E,
	O2_PART_F,
	O2_PARTS,
};

/* One array of the answer. */
struct o2_impl_array {
	const char *name; /* as in o2ref/impl.h: "entry" */
	uint8_t *start;
	uint32_t bytes;
	uint32_t used; /* bytes that the last answer filled: to be poisoned again */
};

union o2_impl_in {
	struct o2_impl_msg_decode_in msg_decode;
	struct o2_impl_msg_encode_in msg_encode;
	struct o2_impl_sg_in sg;
	struct o2_impl_dma_in dma;
	struct o2_impl_reg_in reg;
	struct o2_impl_rdma_in rdma;
	struct o2_impl_transfer_in transfer;
	struct o2_impl_device_in device;
	struct o2_impl_chain_in chain;
	struct o2_impl_connect_in connect;
	struct o2_impl_deliver_in deliver;
	struct o2_impl_keys_in keys;
	struct o2_impl_send_in send;
	struct o2_impl_setup_in setup;
	struct o2_impl_flow_in flow;
};

union o2_impl_out {
	struct o2_impl_msg msg_decode;
	struct o2_impl_bytes msg_encode;
	struct o2_impl_sg_list sg;
	struct o2_impl_dma_list dma;
	struct o2_impl_reg_plan reg;
	struct o2_impl_rdma_plan rdma;
	struct o2_impl_transfer_out transfer;
	struct o2_impl_device_out device;
	struct o2_impl_chain chain;
	struct o2_impl_connect_out connect;
	struct o2_impl_deliver_out deliver;
	struct o2_impl_keys_out keys;
	struct o2_impl_send_out send;
	struct o2_impl_setup_out setup;
	struct o2_impl_flow_out flow;
};

struct o2_impl_slot {
	uint8_t *part[O2_PARTS];
	union o2_impl_in *in;
	size_t in_used;
	union o2_impl_out *out;
	struct o2_impl_refusal *refusal;
	struct o2_impl_array array[O2_PARTS - O2_PART_ARRAYS]; /* name NULL: not in use */
};

struct o2_impl_slots {
	uint8_t *memory;
	size_t bytes;
	uint32_t count;
	struct o2_impl_slot *slot;
};

/* Returns 0 or -errno; free with o2_impl_slots_destroy. */
int o2_impl_slots_create(uint32_t count, struct o2_impl_slots *slots);
void o2_impl_slots_destroy(struct o2_impl_slots *slots);

/* In the child: inputs become read-only. */
int o2_impl_slots_protect(const struct o2_impl_slots *slots);

/* The bytes of a part's pages. */
size_t o2_impl_part_bytes(enum o2_impl_part part);

/* Room in the slot's input for bytes that the input struct points to; as large as any case needs. */
void *o2_impl_slot_input(struct o2_impl_slot *slot, size_t bytes);
/* So many bytes there, copied. */
void *o2_impl_slot_copy(struct o2_impl_slot *slot, const void *from, size_t bytes);

/* Begin a question: forget the input, poison what the last answer used, clear the out struct. */
void o2_impl_slot_reset(struct o2_impl_slot *slot);

/* An array of count elements of size bytes at the end of its part; element sizes are multiples of 8, or 1. */
void *o2_impl_slot_array(struct o2_impl_slot *slot, enum o2_impl_part part, const char *name, uint32_t count,
			 uint32_t size);

/* Was anything written in front of an array or around the out struct?  Says where in text. */
bool o2_impl_slot_spoilt(const struct o2_impl_slot *slot, char *text, size_t text_bytes);

/*
 * What an address that could not be touched has to do with the slots: "0 bytes behind array entry of
 * sg_build". False when it lies in none of them.  overrun: it is behind or in front of something the answer
 * goes to; input: it lies in an input.
 */
bool o2_impl_slots_explain(const struct o2_impl_slots *slots, uint64_t addr, bool *overrun, bool *input,
			   char *text, size_t text_bytes);

/* A message in the ABI's struct and back: all but what stands in arrays. */
void o2_impl_put_msg(const struct o2_msg *msg, struct o2_impl_msg *out);
void o2_impl_get_msg(const struct o2_impl_msg *from, struct o2_msg *msg);

/* A descriptor; its fragments go to the slot's input. */
void o2_impl_put_frags(struct o2_impl_slot *slot, const struct o2_rdma_desc *desc, struct o2_impl_desc *out);

/* The input of rdma_plan; its fragments go to the slot's input. */
void o2_impl_put_rdma(const struct o2_rdma_input *asked, struct o2_impl_slot *slot,
		      struct o2_impl_rdma_in *in);

/* The memory of a node; what it points to goes to the slot's input. */
void o2_impl_put_node(const struct o2_case_node *node, struct o2_impl_slot *slot,
		      struct o2_impl_memory *memory);

/* A plan's arrays, in three parts from `first` on, by their names; and the plan that was answered. */
void o2_impl_plan_arrays(struct o2_impl_slot *slot, struct o2_impl_reg_plan *plan, enum o2_impl_part first,
			 const char *const *names);
void o2_impl_get_plan(struct o2_impl_slot *slot, const struct o2_impl_reg_plan *from, enum o2_impl_part first,
		      enum o2_side side, struct o2_reg_plan *plan, struct o2_answer *answer);

/* Received bytes in the slot, so that what lies behind them cannot be touched. */
const uint8_t *o2_impl_put_bytes(struct o2_impl_slot *slot, const uint8_t *bytes, size_t length_bytes);

/*
 * The array of a part if the answer may have count elements of it; else NULL, and the answer is broken.  What
 * it points to is the oracle's, wherever the answer's own pointer points now.
 */
const void *o2_impl_take(struct o2_impl_slot *slot, enum o2_impl_part part, uint64_t count, uint32_t size,
			 struct o2_answer *answer);

/* Fill a slot with a question. */
void o2_impl_put_case(const struct o2_case *asked, struct o2_impl_slot *slot);

/* Read the answer of a slot; status: what the function returned. */
void o2_impl_get_answer(const struct o2_case *asked, struct o2_impl_slot *slot, int32_t status,
			struct o2_answer *answer);

#endif
