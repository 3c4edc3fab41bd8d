/* SPDX-License-Identifier: MIT */
#include "oracle/flavour.h"

#include <assert.h>
#include <errno.h>

#include "wire/bytes.h"
#include "wire/checksum.h"
#include "wire/layout.h"

#define SUM_RULE   "wire/header/checksum"
#define SOME_NID   UINT64_C(0x00050000c0a80a01) /* 192.168.10.1@o2ib */
#define OTHER_NID  UINT64_C(0x00050000c0a80a02)
#define SOME_DEPTH 8u

const enum o2_stage o2_flavour_stages[O2_FLAVOUR_STAGES] = {O2_STAGE_MSG_DECODE, O2_STAGE_DELIVER,
							    O2_STAGE_CONNECT};

static uint32_t encode(const struct o2_msg *msg, uint8_t *bytes, size_t bytes_max)
{
	const int length = o2_msg_encode(msg, &O2_WIRE_DEFAULTS, bytes, bytes_max, NULL);

	assert(length > 0);
	return (uint32_t)length;
}

static void connreq_question(enum o2_cksum_flavour flavour, struct o2_case_connect *asked)
{
	const struct o2_impl_conn_params params = {.ibm_version = O2_MSG_VERSION_2,
						   .queue_depth = SOME_DEPTH,
						   .max_frags = O2_MAX_FRAGS,
						   .max_msg_size = O2_MSG_BYTES};
	const struct o2_msg request = {.order = O2_LITTLE_ENDIAN,
				       .ibm_version = O2_MSG_VERSION_2,
				       .ibm_type = O2_MSG_CONNREQ,
				       .cksum_flavour = flavour,
				       .ibm_srcnid = SOME_NID,
				       .ibm_srcstamp = 1,
				       .ibm_dstnid = OTHER_NID,
				       .u.connparams = {.ibcp_queue_depth = SOME_DEPTH,
							.ibcp_max_frags = O2_MAX_FRAGS,
							.ibcp_max_msg_size = O2_MSG_BYTES}};

	asked->in = (struct o2_impl_connect_in){.event = O2_IMPL_GOT_CONNREQ,
						.nid = OTHER_NID,
						.incarnation = 1,
						.registers = true,
						.own = params,
						.asked = params};
	asked->in.length_bytes = encode(&request, asked->bytes, sizeof(asked->bytes));
}

void o2_flavour_question(enum o2_stage stage, enum o2_cksum_flavour flavour, struct o2_case *asked)
{
	const struct o2_msg noop = {.order = O2_LITTLE_ENDIAN,
				    .ibm_version = O2_MSG_VERSION_2,
				    .ibm_type = O2_MSG_NOOP,
				    .ibm_credits = 1,
				    .cksum_flavour = flavour,
				    .ibm_srcnid = SOME_NID,
				    .ibm_dstnid = OTHER_NID};

	asked->stage = stage;
	if (stage == O2_STAGE_CONNECT) {
		connreq_question(flavour, &asked->connect);
	} else if (stage == O2_STAGE_DELIVER) {
		asked->deliver.in = (struct o2_impl_deliver_in){.max_frags = O2_MAX_FRAGS};
		asked->deliver.in.length_bytes =
			encode(&noop, asked->deliver.bytes, sizeof(asked->deliver.bytes));
	} else {
		asked->msg_decode.options = O2_WIRE_DEFAULTS;
		asked->msg_decode.length_bytes =
			encode(&noop, asked->msg_decode.bytes, sizeof(asked->msg_decode.bytes));
	}
}

enum o2_cksum_flavour o2_flavour_of(bool takes_unsigned, bool takes_signed)
{
	if (takes_unsigned == takes_signed)
		return O2_CKSUM_NONE;
	return takes_unsigned ? O2_CKSUM_UNSIGNED : O2_CKSUM_SIGNED;
}

/* Whether a refusal is about the checksum: by its name, or by its errno if the name is unknown. */
static bool is_about_the_sum(const struct o2_comparison *comparison, const struct o2_answer_refusal *refusal)
{
	enum o2_map_answer answer = O2_MAP_UNKNOWN;

	if (refusal->name[0] != '\0')
		answer = o2_error_map_compare(comparison->map, refusal->name, SUM_RULE);
	return answer == O2_MAP_AGREES || (answer == O2_MAP_UNKNOWN && refusal->error == EPROTO);
}

/* The received message of a question; NULL: the question has none. */
static const uint8_t *message_of(const struct o2_case *asked, uint64_t *length_bytes)
{
	switch (asked->stage) {
	case O2_STAGE_MSG_DECODE:
		*length_bytes = asked->msg_decode.length_bytes;
		return asked->msg_decode.bytes;
	case O2_STAGE_CONNECT:
		*length_bytes = asked->connect.in.length_bytes;
		return asked->connect.bytes;
	case O2_STAGE_DELIVER:
		*length_bytes = asked->deliver.in.length_bytes;
		return asked->deliver.bytes;
	default:
		return NULL;
	}
}

bool o2_flavour_matters(const struct o2_case *asked)
{
	uint64_t length_bytes;

	return message_of(asked, &length_bytes) != NULL;
}

bool o2_flavour_explains(const struct o2_comparison *comparison, const struct o2_case *asked,
			 const struct o2_answer_refusal *refusal)
{
	uint64_t length_bytes = 0;
	const uint8_t *bytes = message_of(asked, &length_bytes);
	const bool tolerates =
		asked->stage == O2_STAGE_MSG_DECODE && asked->msg_decode.options.tolerate_immediate_checksum;
	const bool takes_signed = comparison->flavour == O2_CKSUM_SIGNED;
	enum o2_byte_order order;
	struct o2_checksums sums;
	uint32_t nob, word;

	if (comparison->flavour == O2_CKSUM_NONE || bytes == NULL || length_bytes < O2_MSG_HEADER_BYTES ||
	    !is_about_the_sum(comparison, refusal))
		return false;
	order = o2_load32_le(bytes) == O2_MSG_MAGIC ? O2_LITTLE_ENDIAN : O2_BIG_ENDIAN;
	nob = o2_load32(bytes + O2_AT_NOB, order);
	word = o2_load32(bytes + O2_AT_CKSUM, order);
	if (nob > length_bytes || word == 0)
		return false;
	sums = o2_msg_checksum_both(bytes, nob);
	if (word == (takes_signed ? sums.of_signed : sums.of_unsigned))
		return false;
	return word == (takes_signed ? sums.of_unsigned : sums.of_signed) ||
	       (tolerates && bytes[O2_AT_TYPE] == O2_MSG_IMMEDIATE);
}
