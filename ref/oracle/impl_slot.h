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
 * its answer, in the structs of o2ref/impl.h.
 *
 * Each part of a slot has pages of its own between inaccessible pages.  An array ends at the end of its pages,
 * so that the first byte behind it is inaccessible.  The bytes before it are a zone that is checked after the
 * call.  Addresses are the same in both processes, because the memory is mapped before the child is forked.
 */

enum o2_impl_part {
	O2_PART_INPUT,
	O2_PART_BYTES, /* received bytes of a message, which are input too */
	O2_PART_OUT,   /* the out struct and the refusal */
	O2_PART_ARRAYS,
	O2_PART_SGE = O2_PART_ARRAYS, /* the first and largest array of the answer */
	O2_PART_WR,
	O2_PART_A, /* A to F: other arrays of the answer, by stage */
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
	uint32_t used; /* bytes that the last answer filled, to be poisoned again */
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
	struct o2_impl_array array[O2_PARTS - O2_PART_ARRAYS]; /* name is NULL if unused */
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

/* Make the inputs read-only; called in the child.  Returns 0 or -errno. */
int o2_impl_slots_protect(const struct o2_impl_slots *slots);

/* The size of a part's accessible pages. */
size_t o2_impl_part_bytes(enum o2_impl_part part);

/* Allocate room in the slot's input part for data that the input struct points to.  Any case fits. */
void *o2_impl_slot_input(struct o2_impl_slot *slot, size_t bytes);
/* As o2_impl_slot_input, and copy the bytes there. */
void *o2_impl_slot_copy(struct o2_impl_slot *slot, const void *from, size_t bytes);

/* Begin a question: free the input part, poison the bytes that the last answer used, clear the out struct. */
void o2_impl_slot_reset(struct o2_impl_slot *slot);

/* Place an array of count elements of size bytes at the end of its part.  size is 1 or a multiple of 8. */
void *o2_impl_slot_array(struct o2_impl_slot *slot, enum o2_impl_part part, const char *name, uint32_t count,
			 uint32_t size);

/* Whether bytes before an array, or next to the out struct or the refusal, were written.  text: which ones. */
bool o2_impl_slot_spoilt(const struct o2_impl_slot *slot, char *text, size_t text_bytes);

/*
 * Describe an address at which an access failed, by its place in the slots: "at array entry, 0 bytes behind its
 * end".  Returns false if it lies outside of the slots' memory.  current: index of the slot whose question was
 * asked.  *overrun: it belongs to a part for output; *input: it lies inside an input.
 */
bool o2_impl_slots_explain(const struct o2_impl_slots *slots, uint32_t current, uint64_t addr, bool *overrun,
			   bool *input, char *text, size_t text_bytes);

/* Convert a message to the ABI's struct and back, except for its arrays. */
void o2_impl_put_msg(const struct o2_msg *msg, struct o2_impl_msg *out);
void o2_impl_get_msg(const struct o2_impl_msg *from, struct o2_msg *msg);

/* Convert a descriptor; the fragments are copied to the slot's input part. */
void o2_impl_put_frags(struct o2_impl_slot *slot, const struct o2_rdma_desc *desc, struct o2_impl_desc *out);

/* Convert the input of rdma_plan; the fragments are copied to the slot's input part. */
void o2_impl_put_rdma(const struct o2_rdma_input *asked, struct o2_impl_slot *slot,
		      struct o2_impl_rdma_in *in);

/* Convert the memory of a node; the arrays are copied to the slot's input part. */
void o2_impl_put_node(const struct o2_case_node *node, struct o2_impl_slot *slot,
		      struct o2_impl_memory *memory);

/* Place a plan's three arrays in the parts from `first` on, with these names.  Read the plan of an answer. */
void o2_impl_plan_arrays(struct o2_impl_slot *slot, struct o2_impl_reg_plan *plan, enum o2_impl_part first,
			 const char *const *names);
void o2_impl_get_plan(struct o2_impl_slot *slot, const struct o2_impl_reg_plan *from, enum o2_impl_part first,
		      enum o2_side side, struct o2_reg_plan *plan, struct o2_answer *answer);

/* Copy received bytes to the slot, such that the byte behind them is inaccessible. */
const uint8_t *o2_impl_put_bytes(struct o2_impl_slot *slot, const uint8_t *bytes, size_t length_bytes);

/*
 * The array of a part, if it has room for count elements; otherwise NULL, and *answer becomes broken.  The
 * result is the oracle's own pointer; an implementation may have changed the pointer in the out struct.
 */
const void *o2_impl_take(struct o2_impl_slot *slot, enum o2_impl_part part, uint64_t count, uint32_t size,
			 struct o2_answer *answer);

/* Fill a slot with a question. */
void o2_impl_put_case(const struct o2_case *asked, struct o2_impl_slot *slot);

/* Read the answer from a slot.  status: the stage function's return value. */
void o2_impl_get_answer(const struct o2_case *asked, struct o2_impl_slot *slot, int32_t status,
			struct o2_answer *answer);

#endif
