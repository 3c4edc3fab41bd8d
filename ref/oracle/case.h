/* SPDX-License-Identifier: MIT */
#ifndef O2_ORACLE_CASE_H
#define O2_ORACLE_CASE_H

#include <assert.h>
#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "forms/rdma_json.h"
#include "mem/buffer.h"
#include "mem/dma_map.h"
#include "mem/sg_build.h"
#include "o2ref/impl.h"
#include "oracle/stage.h"
#include "reg/plan.h"
#include "wire/msg.h"

/*
 * One question to an implementation: the input of one stage, with room for all that it points to.
 *
 * The structs are the reference's own.  They point into themselves, so a case is filled in place and never
 * copied.
 */

#define O2_CASE_MSG_BYTES 8192u /* received bytes: a message, and as many behind it */
#define O2_CASE_PIECES	  272u	/* of a vector */
#define O2_CASE_RANGES	  4u	/* of virtual addresses */
#define O2_CASE_PAGES	  800u	/* behind one range, and of a device that has a table of pages */
static_assert(O2_CASE_MSG_BYTES == 2 * O2_MSG_BYTES, "as many behind it");
static_assert(O2_CASE_PIECES > O2_MAX_FRAGS && O2_CASE_PAGES > O2_MAX_FRAGS,
	      "more than is legal can be asked");
static_assert(O2_CASE_PAGES % 8 == 0, "bits of pages fill their bytes");

/* A buffer, and the pages that it lies in. */
struct o2_case_buffer {
	struct o2_buffer buffer;
	struct o2_address_space space;
	struct o2_iov iov[O2_CASE_PIECES];
	struct o2_kiov kiov[O2_CASE_PIECES];
	struct o2_vrange range[O2_CASE_RANGES];
	uint32_t page[O2_CASE_RANGES][O2_CASE_PAGES];
};

/* A device; its tables are those below, or not there. */
struct o2_case_device {
	struct o2_dma_device device;
	uint8_t unmapped[O2_CASE_PAGES / 8];
	uint32_t device_page[O2_CASE_PAGES];
};

struct o2_case_msg_decode {
	struct o2_wire_options options;
	uint32_t length_bytes;
	uint8_t bytes[O2_CASE_MSG_BYTES];
};

struct o2_case_msg_encode {
	struct o2_wire_options options;
	uint32_t capacity_bytes; /* room for the answer; a process always has O2_MSG_BYTES */
	struct o2_msg msg;
	uint8_t payload[O2_MSG_BYTES];
};

struct o2_case_sg {
	uint32_t max_entries;
	struct o2_case_buffer memory;
};

struct o2_case_dma {
	struct o2_sg_list list;
	struct o2_case_device device;
};

struct o2_case_reg {
	struct o2_reg_request request;
	struct o2_dma_list list;
};

/* The memory of one node in a whole transfer. */
struct o2_case_node {
	struct o2_case_buffer memory;
	struct o2_case_device device;
	enum o2_reg_mode mode;
	uint32_t max_pages;
	uint64_t iova;
	uint32_t key;
};

struct o2_case_transfer {
	bool get; /* else a PUT */
	uint32_t max_frags;
	uint32_t wrq_sge;
	struct o2_case_node node[2]; /* by enum o2_side */
};

struct o2_case_chain {
	struct o2_rdma_input rdma;
	struct o2_impl_gather message;
};

struct o2_case_connect {
	struct o2_impl_connect_in in; /* its bytes are those below */
	uint8_t bytes[O2_IMPL_CONNECT_BYTES];
};

struct o2_case_deliver {
	struct o2_impl_deliver_in in; /* its bytes are those below */
	uint8_t bytes[O2_CASE_MSG_BYTES];
};

/* A conversation of the descriptor's holder with its key. */
struct o2_case_keys {
	uint32_t order; /* enum o2_impl_key_order */
	uint32_t lkey, rkey;
	uint32_t count;
	struct o2_impl_key_event event[O2_IMPL_MAX_EVENTS];
};

/* A message that is about to be posted, and where the payload of an IMMEDIATE lies. */
struct o2_case_send {
	uint32_t max_msg_size;
	uint32_t max_frags;
	uint32_t max_sge;
	uint32_t slot_lkey;
	uint64_t slot_addr;
	struct o2_msg msg; /* it has no payload of its own: that is the memory's */
	struct o2_case_node memory;
};

/* The configuration of a set-up, and which acquisition fails in each of its rounds. */
struct o2_case_setup {
	uint32_t mode; /* enum o2_impl_mode */
	uint32_t queue_depth, tx_count, pool_size;
	uint32_t error;
	uint32_t count;
	struct o2_impl_setup_round round[O2_IMPL_MAX_ROUNDS];
};

/* A conversation over a connection, as one end has it. */
struct o2_case_flow {
	uint32_t ibm_version, queue_depth, high_water, concurrent_sends, keepalive_ms;
	uint32_t count;
	struct o2_impl_flow_event event[O2_IMPL_FLOW_EVENTS];
};

struct o2_case {
	enum o2_stage stage;
	union {
		struct o2_case_msg_decode msg_decode;
		struct o2_case_msg_encode msg_encode;
		struct o2_case_sg sg;
		struct o2_case_dma dma;
		struct o2_case_reg reg;
		struct o2_rdma_input rdma;
		struct o2_case_transfer transfer;
		/* of version 2: what is no list is the ABI's own struct */
		struct o2_impl_device_in device;
		struct o2_case_chain chain;
		struct o2_case_connect connect;
		struct o2_case_deliver deliver;
		struct o2_case_keys keys;
		struct o2_case_send send;
		struct o2_case_setup setup;
		struct o2_case_flow flow;
	};
};

/* What a transfer moves: the smaller of what the two sides ask for. */
static inline uint64_t o2_case_moved(const struct o2_case_transfer *transfer)
{
	uint64_t source = transfer->node[O2_SOURCE].memory.buffer.nob;
	uint64_t sink = transfer->node[O2_SINK].memory.buffer.nob;

	return source < sink ? source : sink;
}

/* What a side publishes: who asks does not know yet what moves, and the other end gives no byte more. */
static inline uint64_t o2_case_published(const struct o2_case_transfer *transfer, enum o2_side side)
{
	const enum o2_side asks = transfer->get ? O2_SINK : O2_SOURCE;

	return side == asks ? transfer->node[side].memory.buffer.nob : o2_case_moved(transfer);
}

/* A gather entry of stage send_plan that begins in the slot of the message, not in what is registered. */
static inline bool o2_case_in_slot(const struct o2_case_send *asked, const struct o2_impl_gather *sge)
{
	return sge->lkey == asked->slot_lkey && sge->addr - asked->slot_addr < O2_MSG_BYTES;
}

/* An IMMEDIATE claims no more payload than there is room for, so that its bytes may be looked at. */
static inline bool o2_msg_payload_fits(const struct o2_msg *msg)
{
	return msg->ibm_type != O2_MSG_IMMEDIATE || msg->u.immediate.hdr.payload_length <= O2_MSG_BYTES;
}

/* The stage's input form; a new object, NULL when memory runs out or a form cannot say it. */
json_t *o2_case_to_json(const struct o2_case *asked);

/*
 * Read an input form of any stage.  Returns 0, -EINVAL with *error filled (also for what does not fit into a
 * case) or -ENOMEM.
 */
int o2_case_from_json(const json_t *object, struct o2_case *asked, struct o2_error *error);

#endif
