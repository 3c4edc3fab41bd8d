/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "second.h"

/* send_plan: docs/oracle.md, "A message as it is posted". */

enum { IMMEDIATE = 0xd1, HEADERS = 120 };

/* Copy the payload from memory, through a scatter list. */
static int32_t read_payload(const struct o2_impl_memory *memory, uint8_t *payload,
			    struct o2_impl_refusal *refusal)
{
	struct o2_impl_sg_entry entry[O2_IMPL_MAX_FRAGS];
	const struct o2_impl_sg_in in = {
		.max_entries = O2_IMPL_MAX_FRAGS, .buffer = memory->buffer, .space = memory->space};
	struct o2_impl_sg_list list = {.capacity = O2_IMPL_MAX_FRAGS, .entry = entry};
	int32_t status = second_sg_build(&in, &list, refusal);

	for (uint32_t i = 0; status == O2_IMPL_OK && i < list.count; i++)
		for (uint32_t k = 0; k < entry[i].length; k++)
			*payload++ = o2_impl_byte_at(entry[i].page, entry[i].offset + k);
	return status;
}

/* Add gather entries for the payload in place, and return their number; 0: the payload must be copied. */
static uint32_t gather(const struct o2_impl_send_in *in, struct o2_impl_send_out *out)
{
	const struct o2_impl_memory *memory = &in->memory;
	struct o2_impl_refusal unheard;

	if (second_prepare(memory, O2_IMPL_SOURCE, memory->buffer.nob, O2_IMPL_MAX_FRAGS, &out->plan,
			   &unheard) != O2_IMPL_OK ||
	    out->plan.nfrags + 1 > in->max_sge) {
		out->plan.nfrags = 0;
		return 0;
	}
	for (uint32_t i = 0; i < out->plan.nfrags; i++)
		out->sge[i + 1] = (struct o2_impl_gather){.addr = out->plan.frag[i].rf_addr,
							  .length = out->plan.frag[i].rf_nob,
							  .lkey = memory->key};
	return out->plan.nfrags;
}

int32_t second_send_plan(const struct o2_impl_send_in *in, struct o2_impl_send_out *out,
			 struct o2_impl_refusal *refusal)
{
	static uint8_t payload[O2_IMPL_PAYLOAD_BYTES];
	const uint32_t room = in->max_msg_size < O2_IMPL_MSG_BYTES ? in->max_msg_size : O2_IMPL_MSG_BYTES;
	const uint64_t nob = in->msg.ibm_type == IMMEDIATE ? in->memory.buffer.nob : 0;
	struct o2_impl_msg_encode_in question = {.options = {.max_frags = in->max_frags}, .msg = in->msg};
	struct o2_impl_bytes slot = {.bytes = out->slot.bytes, .capacity_bytes = room};
	uint32_t gathered = 0;
	int32_t status;

	if (nob && (room < HEADERS || nob > room - HEADERS))
		return refuse(refusal, EMSGSIZE, "conn/payload-too-long", NO_INDEX);
	if (nob) {
		status = read_payload(&in->memory, payload, refusal);
		if (status != O2_IMPL_OK)
			return status;
		question.msg.payload = payload;
		question.msg.hdr.payload_length = (uint32_t)nob;
	}
	status = second_msg_encode(&question, &slot, refusal);
	if (status != O2_IMPL_OK)
		return status;
	out->slot.length_bytes = slot.length_bytes;
	if (nob)
		gathered = gather(in, out);
	if (gathered)
		out->slot.length_bytes = HEADERS;
	out->sge[0] = (struct o2_impl_gather){
		.addr = in->slot_addr, .length = (uint32_t)out->slot.length_bytes, .lkey = in->slot_lkey};
	out->nsge = 1 + gathered;
	return O2_IMPL_OK;
}
