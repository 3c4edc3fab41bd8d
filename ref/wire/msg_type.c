/* SPDX-License-Identifier: MIT */
#include "wire/msg_type.h"

#include <assert.h>
#include <stddef.h>

#include "wire/layout.h"
#include "wire/rules.h"

#define FIRST O2_MSG_CONNREQ
#define LAST  O2_MSG_GET_DONE

#define CARRIES(type) (1u << (type))

#define CONNPARAMS_BYTES 56u /* header and 8 bytes of parameters */
#define COMPLETION_BYTES 60u /* header, cookie and status */
static_assert(CONNPARAMS_BYTES == O2_AT_MAX_MSG_SIZE + 4, "parameters end with the size of messages");
static_assert(COMPLETION_BYTES == O2_AT_STATUS + 4, "completions end with the status");
static_assert(O2_LNET_HELLO < 32, "a set of LNet types has 32 bits");

// clang-format off
static const struct o2_msg_type_info types[LAST - FIRST + 1] = {
	[O2_MSG_CONNREQ - FIRST] = {CONNPARAMS_BYTES, O2_BODY_CONNPARAMS, .nob_rule = O2_RULE_CONNREQ_NOB},
	[O2_MSG_CONNACK - FIRST] = {CONNPARAMS_BYTES, O2_BODY_CONNPARAMS, .nob_rule = O2_RULE_CONNACK_NOB},
	[O2_MSG_NOOP - FIRST] = {O2_MSG_HEADER_BYTES, O2_BODY_NONE, .nob_rule = O2_RULE_NOOP_NOB},
	[O2_MSG_IMMEDIATE - FIRST] = {O2_AT_PAYLOAD, O2_BODY_IMMEDIATE,
		.lnet_types = CARRIES(O2_LNET_ACK) | CARRIES(O2_LNET_PUT) | CARRIES(O2_LNET_GET) |
			      CARRIES(O2_LNET_REPLY),
		.nob_rule = O2_RULE_IMMEDIATE_NOB,
		.lnet_type_rule = O2_RULE_IMMEDIATE_LNET_TYPE,
		.payload_not_zero_rule = O2_RULE_IMMEDIATE_PAYLOAD_NOT_ZERO,
		.payload_over_limit_rule = O2_RULE_IMMEDIATE_PAYLOAD_OVER_LIMIT},
	[O2_MSG_PUT_REQ - FIRST] = {O2_AT_PUT_REQ_COOKIE + 8, O2_BODY_PUTREQ,
		.lnet_types = CARRIES(O2_LNET_PUT) | CARRIES(O2_LNET_REPLY),
		.nob_rule = O2_RULE_PUT_REQ_NOB,
		.lnet_type_rule = O2_RULE_PUT_REQ_LNET_TYPE,
		.payload_over_limit_rule = O2_RULE_PUT_REQ_PAYLOAD_OVER_LIMIT},
	[O2_MSG_PUT_NAK - FIRST] = {COMPLETION_BYTES, O2_BODY_COMPLETION,
		.nob_rule = O2_RULE_PUT_NAK_NOB, .status_rule = O2_RULE_PUT_NAK_STATUS},
	[O2_MSG_PUT_ACK - FIRST] = {O2_AT_PUT_ACK_DESC + O2_DESC_AT_FRAGS, O2_BODY_PUTACK,
		.nob_rule = O2_RULE_PUT_ACK_NOB, .desc_rule = O2_RULE_PUT_ACK_DESC},
	[O2_MSG_PUT_DONE - FIRST] = {COMPLETION_BYTES, O2_BODY_COMPLETION,
		.nob_rule = O2_RULE_PUT_DONE_NOB, .status_rule = O2_RULE_PUT_DONE_STATUS},
	[O2_MSG_GET_REQ - FIRST] = {O2_AT_GET_REQ_DESC + O2_DESC_AT_FRAGS, O2_BODY_GET,
		.lnet_types = CARRIES(O2_LNET_GET),
		.nob_rule = O2_RULE_GET_REQ_NOB,
		.lnet_type_rule = O2_RULE_GET_REQ_LNET_TYPE,
		.payload_not_zero_rule = O2_RULE_GET_REQ_PAYLOAD_NOT_ZERO,
		.desc_rule = O2_RULE_GET_REQ_DESC},
	[O2_MSG_GET_DONE - FIRST] = {COMPLETION_BYTES, O2_BODY_COMPLETION,
		.nob_rule = O2_RULE_GET_DONE_NOB, .status_rule = O2_RULE_GET_DONE_STATUS},
};
// clang-format on

const struct o2_msg_type_info *o2_msg_type_info(uint8_t type)
{
	if (type < FIRST || type > LAST || types[type - FIRST].minimum_nob == 0)
		return NULL;
	return &types[type - FIRST];
}

const char *const o2_msg_type_names[] = {
	[O2_MSG_CONNREQ] = "CONNREQ",	  [O2_MSG_CONNACK] = "CONNACK",	  [O2_MSG_NOOP] = "NOOP",
	[O2_MSG_IMMEDIATE] = "IMMEDIATE", [O2_MSG_PUT_REQ] = "PUT_REQ",	  [O2_MSG_PUT_NAK] = "PUT_NAK",
	[O2_MSG_PUT_ACK] = "PUT_ACK",	  [O2_MSG_PUT_DONE] = "PUT_DONE", [O2_MSG_GET_REQ] = "GET_REQ",
	[O2_MSG_GET_DONE] = "GET_DONE",
};

const char *o2_msg_type_name(uint8_t type)
{
	return type <= LAST ? o2_msg_type_names[type] : NULL;
}

uint64_t o2_msg_canonical_bytes(const struct o2_msg *msg)
{
	const struct o2_msg_type_info *info = o2_msg_type_info(msg->ibm_type);
	const struct o2_rdma_desc *desc = o2_msg_desc(msg);

	if (info == NULL)
		return 0;
	if (info->body == O2_BODY_IMMEDIATE)
		return info->minimum_nob + (uint64_t)msg->u.immediate.hdr.payload_length;
	if (desc != NULL)
		return info->minimum_nob + (uint64_t)desc->rd_nfrags * O2_FRAG_BYTES;
	return info->minimum_nob;
}
