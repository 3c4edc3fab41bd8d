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
 * A case is one question to an implementation: the input of one stage, with room for the data that the input
 * points to.
 *
 * The members are the reference's own structs.  A case contains pointers into itself, so callers fill it in
 * place and must not copy it.
 */

#define O2_CASE_MSG_BYTES 8192u /* received bytes: room for a message and as many bytes behind it */
#define O2_CASE_PIECES	  272u	/* maximum number of pieces of a vector */
#define O2_CASE_RANGES	  4u	/* maximum number of ranges of virtual addresses */
#define O2_CASE_PAGES	  800u	/* maximum number of pages of a range, or of a device with a page table */
static_assert(O2_CASE_MSG_BYTES == 2 * O2_MSG_BYTES, "as many behind it");
static_assert(O2_CASE_PIECES > O2_MAX_FRAGS && O2_CASE_PAGES > O2_MAX_FRAGS,
	      "more than is legal can be asked");
static_assert(O2_CASE_PAGES % 8 == 0, "bits of pages fill their bytes");

/* A buffer, and the address space that contains it. */
struct o2_case_buffer {
	struct o2_buffer buffer;
	struct o2_address_space space;
	struct o2_iov iov[O2_CASE_PIECES];
	struct o2_kiov kiov[O2_CASE_PIECES];
	struct o2_vrange range[O2_CASE_RANGES];
	uint32_t page[O2_CASE_RANGES][O2_CASE_PAGES];
};

/* A device.  Its table pointers are NULL or point to the arrays below. */
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
	uint32_t capacity_bytes; /* room for the encoded message; always O2_MSG_BYTES for a process */
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
	bool get; /* true: a GET; false: a PUT */
	uint32_t max_frags;
	uint32_t wrq_sge;
	struct o2_case_node node[2]; /* by enum o2_side */
};

struct o2_case_chain {
	struct o2_rdma_input rdma;
	struct o2_impl_gather message;
};

struct o2_case_connect {
	struct o2_impl_connect_in in; /* in.bytes is unused; see `bytes` below */
	uint8_t bytes[O2_IMPL_CONNECT_BYTES];
};

struct o2_case_deliver {
	struct o2_impl_deliver_in in; /* in.bytes is unused; see `bytes` below */
	uint8_t bytes[O2_CASE_MSG_BYTES];
};

/* A sequence of events in the life of a fast-registration key. */
struct o2_case_keys {
	uint32_t order; /* enum o2_impl_key_order */
	uint32_t lkey, rkey;
	uint32_t count;
	struct o2_impl_key_event event[O2_IMPL_MAX_EVENTS];
};

/* A message to be posted, and the memory that holds the payload of an IMMEDIATE. */
struct o2_case_send {
	uint32_t max_msg_size;
	uint32_t max_frags;
	uint32_t max_sge;
	uint32_t slot_lkey;
	uint64_t slot_addr;
	struct o2_msg msg; /* without a payload: the payload of an IMMEDIATE is in `memory` */
	struct o2_case_node memory;
};

/* The configuration of a set-up; for each round, which acquisition fails. */
struct o2_case_setup {
	uint32_t mode; /* enum o2_impl_mode */
	uint32_t queue_depth, tx_count, pool_size;
	uint32_t error;
	uint32_t count;
	struct o2_impl_setup_round round[O2_IMPL_MAX_ROUNDS];
};

/* A sequence of events at one end of a connection. */
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
		/* stages of version 2; questions without an array use the ABI's own struct */
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

/* The number of bytes that a transfer moves: the smaller nob of the two buffers. */
static inline uint64_t o2_case_moved(const struct o2_case_transfer *transfer)
{
	uint64_t source = transfer->node[O2_SOURCE].memory.buffer.nob;
	uint64_t sink = transfer->node[O2_SINK].memory.buffer.nob;

	return source < sink ? source : sink;
}

/* The number of bytes that a side publishes: the requester its whole buffer, the other side what will move. */
static inline uint64_t o2_case_published(const struct o2_case_transfer *transfer, enum o2_side side)
{
	const enum o2_side asks = transfer->get ? O2_SINK : O2_SOURCE;

	return side == asks ? transfer->node[side].memory.buffer.nob : o2_case_moved(transfer);
}

/* Whether a gather entry of stage send_plan begins in the message's slot rather than in registered memory. */
static inline bool o2_case_in_slot(const struct o2_case_send *asked, const struct o2_impl_gather *sge)
{
	return sge->lkey == asked->slot_lkey && sge->addr - asked->slot_addr < O2_MSG_BYTES;
}

/* Whether the payload_length of an IMMEDIATE fits into a payload array, so that the payload may be read. */
static inline bool o2_msg_payload_fits(const struct o2_msg *msg)
{
	return msg->ibm_type != O2_MSG_IMMEDIATE || msg->u.immediate.hdr.payload_length <= O2_MSG_BYTES;
}

/* The case as the stage's input form: a new object; NULL if memory runs out or the form cannot express it. */
json_t *o2_case_to_json(const struct o2_case *asked);

/* Read the input form of any stage.  Returns 0, -ENOMEM, or -EINVAL with *error (also if it is too large). */
int o2_case_from_json(const json_t *object, struct o2_case *asked, struct o2_error *error);

#endif
