/* SPDX-License-Identifier: MIT */
#ifndef O2REF_IMPL_SEND_H
#define O2REF_IMPL_SEND_H

#include "impl_connection.h"

/*
 * The question and the answer of stage send_plan, which came with version 2: a message as it is posted
 * (docs/oracle.md, "A message as it is posted").  Include o2ref/impl.h.
 */

/* What stands at one place of the memory that a question is about. */
static inline uint8_t o2_impl_byte_at(uint32_t page, uint32_t offset)
{
	return (uint8_t)(91u + page * 167u + offset * 13u + (offset >> 8) * 29u);
}

struct o2_impl_send_in {
	uint32_t max_msg_size; /* bytes of a message that the peer takes, at most 4096 */
	uint32_t max_frags;    /* of the connection: 256 or 257 */
	uint32_t max_sge;      /* gather entries that a send of the queue pair may have: 1 to 32 */
	uint32_t slot_lkey;
	uint64_t slot_addr; /* of the slot for this message, 4096 bytes */
	/*
	 * Any type but CONNREQ and CONNACK; its arrays are for reading only.  IMMEDIATE: payload is NULL and
	 * hdr.payload_length is 0, for the payload is `memory`: buffer.nob bytes, maybe none.
	 */
	struct o2_impl_msg msg;
	struct o2_impl_memory memory; /* of other types: of no bytes */
};

struct o2_impl_send_out {
	struct o2_impl_bytes slot; /* what was written, from the slot's start on */
	uint32_t nsge;
	uint32_t sge_capacity;
	struct o2_impl_gather *sge; /* in the order in which they are sent */
	/* What was registered (as a source) for entries under memory.key; no fragments: nothing was. */
	struct o2_impl_reg_plan plan;
};

#endif
