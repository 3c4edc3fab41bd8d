/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "second.h"

/* deliver: docs/oracle.md, "A message that has arrived". */

enum {
	CONNREQ = 0xc0,
	CONNACK = 0xc1,
	IMMEDIATE = 0xd1,
	PUT_REQ = 0xd2,
	PUT_NAK = 0xd3,
	PUT_ACK = 0xd4,
	PUT_DONE = 0xd5,
	GET_REQ = 0xd6,
	GET_DONE = 0xd7,
};

static int32_t close_for(struct o2_impl_refusal *refusal, const char *rule)
{
	int32_t status = refuse(refusal, EPROTO, rule, NO_INDEX);

	refusal->cost = O2_IMPL_COST_CONNECTION;
	return status;
}

/* The message that an answer of this type answers: enum o2_impl_awaits. */
static uint32_t answers(uint8_t type)
{
	if (type == GET_DONE)
		return O2_IMPL_SENT_GET_REQ;
	return type == PUT_DONE ? O2_IMPL_SENT_PUT_ACK : O2_IMPL_SENT_PUT_REQ;
}

/* The number of bytes that the peer reports as moved, after checking it. */
static int32_t moved(const struct o2_impl_deliver_in *in, const struct o2_impl_msg *msg, uint64_t *length,
		     struct o2_impl_refusal *refusal)
{
	const uint64_t nob = (uint64_t)msg->ibcm_status;

	if (msg->ibm_type == PUT_NAK && nob > 0)
		return close_for(refusal, "conn/nak-status");
	if (msg->ibm_type == PUT_DONE && nob != in->nob)
		return close_for(refusal, "conn/put-done-status");
	if (msg->ibm_type == GET_DONE && nob > in->nob)
		return close_for(refusal, "conn/get-done-status");
	*length = nob;
	return O2_IMPL_OK;
}

static uint64_t held(const struct o2_impl_desc *desc)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < desc->rd_nfrags; i++)
		sum += desc->rd_frags[i].rf_nob;
	return sum;
}

int32_t second_deliver(const struct o2_impl_deliver_in *in, struct o2_impl_deliver_out *out,
		       struct o2_impl_refusal *refusal)
{
	static struct o2_impl_frag frags[O2_IMPL_MAX_FRAGS];
	static uint8_t payload[O2_IMPL_PAYLOAD_BYTES];
	const struct o2_impl_msg_decode_in question = {.options = {.max_frags = in->max_frags},
						       .bytes = in->bytes,
						       .length_bytes = in->length_bytes};
	struct o2_impl_msg msg = {.rd = {.capacity = O2_IMPL_MAX_FRAGS, .rd_frags = frags},
				  .payload = payload,
				  .payload_capacity_bytes = sizeof(payload)};
	int32_t status = second_msg_decode(&question, &msg, refusal);

	if (status != O2_IMPL_OK)
		return status;
	*out = (struct o2_impl_deliver_out){.length = 0};
	if (msg.ibm_type == CONNREQ || msg.ibm_type == CONNACK)
		return close_for(refusal, "conn/unexpected-type");
	if (msg.ibm_type == IMMEDIATE || msg.ibm_type == PUT_REQ)
		out->length = msg.hdr.payload_length;
	if (msg.ibm_type == GET_REQ)
		out->length = held(&msg.rd);
	if (msg.ibm_type == PUT_ACK) {
		if (in->awaits != O2_IMPL_SENT_PUT_REQ || msg.ibpam_src_cookie != in->cookie)
			return close_for(refusal, "conn/unknown-cookie");
		out->length = held(&msg.rd);
	}
	if (msg.ibm_type != PUT_NAK && msg.ibm_type != PUT_DONE && msg.ibm_type != GET_DONE)
		return O2_IMPL_OK;
	if (in->awaits != answers(msg.ibm_type) || msg.cookie != in->cookie)
		return close_for(refusal, "conn/unknown-cookie");
	if (msg.ibcm_status < 0)
		out->status = msg.ibcm_status;
	else
		status = moved(in, &msg, &out->length, refusal);
	return status;
}
