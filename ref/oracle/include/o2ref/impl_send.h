/* SPDX-License-Identifier: MIT */
#ifndef O2REF_IMPL_SEND_H
#define O2REF_IMPL_SEND_H

#include "impl_connection.h"

/*
 * The question and the answer of stage send_plan (version 2): the slot contents and the gather entries with
 * which a message is posted (docs/oracle.md, "A message as it is posted").  Include o2ref/impl.h.
 */

/* The byte at one offset of a page of the question's memory: tests use this pattern as the content. */
static inline uint8_t o2_impl_byte_at(uint32_t page, uint32_t offset)
{
	return (uint8_t)(91u + page * 167u + offset * 13u + (offset >> 8) * 29u);
}

struct o2_impl_send_in {
	uint32_t max_msg_size; /* maximum length of a message that the peer accepts, at most 4096 */
	uint32_t max_frags;    /* of the connection: 256 or 257 */
	uint32_t max_sge;      /* maximum number of gather entries of a SEND on the queue pair: 1 to 32 */
	uint32_t slot_lkey;
	uint64_t slot_addr; /* address of the message's slot of 4096 bytes */
	/*
	 * Any type except CONNREQ and CONNACK; its arrays are read-only.  IMMEDIATE: payload is NULL and
	 * hdr.payload_length is 0, because the payload is in `memory`: buffer.nob bytes, 0 or more.
	 */
	struct o2_impl_msg msg;
	struct o2_impl_memory memory; /* payload of an IMMEDIATE; empty for other types */
};

struct o2_impl_send_out {
	struct o2_impl_bytes slot; /* bytes written to the slot, from its start */
	uint32_t nsge;
	uint32_t sge_capacity;
	struct o2_impl_gather *sge; /* in sending order */
	/* The registration (as a source) for gather entries under memory.key; no fragments: none. */
	struct o2_impl_reg_plan plan;
};

#endif
