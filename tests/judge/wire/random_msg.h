/* SPDX-License-Identifier: MIT */
#ifndef O2_TESTS_RANDOM_MSG_H
#define O2_TESTS_RANDOM_MSG_H

#include <errno.h>
#include <stdlib.h>

#include "tests/judge/wire/wire_test.h"

/*
 * Random legal messages.  random_start() prints the seed and the command that repeats the run.
 */

static uint64_t random_state;

/* SplitMix64, because it has no weak seeds. */
static inline uint64_t random64(void)
{
	uint64_t z = random_state += 0x9e3779b97f4a7c15u;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

static inline uint32_t random_below(uint32_t limit)
{
	return (uint32_t)(random64() % limit);
}

static inline int random_start(void **state)
{
	const char *seed = getenv("O2_SEED");

	(void)state;
	random_state = seed == NULL ? 20240601 : strtoull(seed, NULL, 0);
	print_message("seed %llu (replay: O2_SEED=%llu %s)\n", (unsigned long long)random_state,
		      (unsigned long long)random_state, program_invocation_name);
	return 0;
}

static inline void random_hdr(struct o2_lnet_hdr *hdr, uint32_t type, uint32_t payload_length)
{
	uint8_t bytes[O2_LNET_HDR_BYTES];

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)random64();
	o2_store32(bytes + O2_LNET_AT_TYPE, O2_LITTLE_ENDIAN, type);
	o2_store32(bytes + O2_LNET_AT_PAYLOAD_LENGTH, O2_LITTLE_ENDIAN, payload_length);
	o2_lnet_hdr_load(bytes, hdr);
}

/* Fragments of at most 1 MiB in all; one in eight ends at the end of the address space. */
static inline void random_desc(struct o2_rdma_desc *desc)
{
	uint32_t room_bytes = O2_MAX_TRANSFER_BYTES;

	desc->rd_key = (uint32_t)random64();
	desc->rd_nfrags = random_below(4) == 0 ? 1 + random_below(O2_MAX_FRAGS) : 1 + random_below(4);
	for (uint32_t i = 0; i < desc->rd_nfrags; i++) {
		const uint32_t left = desc->rd_nfrags - i - 1;
		const uint32_t most =
			room_bytes - left < 8192 || random_below(8) == 0 ? room_bytes - left : 8192;
		const uint32_t nob = 1 + random_below(most);

		desc->rd_frags[i].rf_nob = nob;
		desc->rd_frags[i].rf_addr =
			random_below(8) == 0 ? UINT64_MAX - nob : random64() % (UINT64_MAX - nob);
		room_bytes -= nob;
	}
}

static inline void random_msg(struct o2_msg *msg)
{
	static const uint32_t put_or_reply[] = {O2_LNET_PUT, O2_LNET_REPLY};
	static uint8_t payload[O2_MSG_BYTES];

	o2_test_message(msg, o2_test_types[random_below(O2_TEST_TYPES)],
			random_below(2) == 0 ? O2_LITTLE_ENDIAN : O2_BIG_ENDIAN, 1);
	msg->ibm_version = random_below(4) == 0 ? O2_MSG_VERSION_1 : O2_MSG_VERSION_2;
	msg->ibm_credits = (uint8_t)random64();
	msg->cksum_flavour = (enum o2_cksum_flavour)random_below(3);
	msg->ibm_srcnid = o2_nid_make(O2_LND_O2IB, (uint16_t)random64(), 1 + random_below(UINT32_MAX - 1));
	msg->ibm_dstnid = o2_nid_make(O2_LND_O2IB, (uint16_t)random64(), 1 + random_below(UINT32_MAX - 1));
	msg->ibm_srcstamp = random64();
	msg->ibm_dststamp = random64();
	switch (o2_msg_type_info(msg->ibm_type)->body) {
	case O2_BODY_NONE:
		break;
	case O2_BODY_CONNPARAMS:
		msg->u.connparams.ibcp_queue_depth = (uint16_t)random64();
		msg->u.connparams.ibcp_max_frags = (uint16_t)random64();
		msg->u.connparams.ibcp_max_msg_size = (uint32_t)random64();
		break;
	case O2_BODY_IMMEDIATE:
		random_hdr(&msg->u.immediate.hdr, random_below(O2_LNET_HELLO), 0);
		msg->u.immediate.payload = payload;
		if (msg->u.immediate.hdr.type == O2_LNET_PUT || msg->u.immediate.hdr.type == O2_LNET_REPLY)
			msg->u.immediate.hdr.payload_length = random_below(3977);
		for (size_t i = 0; i < sizeof(payload); i++)
			payload[i] = (uint8_t)random64();
		break;
	case O2_BODY_PUTREQ:
		random_hdr(&msg->u.putreq.hdr, put_or_reply[random_below(2)],
			   random_below(O2_MAX_TRANSFER_BYTES + 1));
		msg->u.putreq.ibprm_cookie = random64();
		break;
	case O2_BODY_PUTACK:
		msg->u.putack.ibpam_src_cookie = random64();
		msg->u.putack.ibpam_dst_cookie = random64();
		random_desc(&msg->u.putack.ibpam_rd);
		break;
	case O2_BODY_GET:
		random_hdr(&msg->u.get.hdr, O2_LNET_GET, 0);
		msg->u.get.ibgm_cookie = random64();
		random_desc(&msg->u.get.ibgm_rd);
		break;
	case O2_BODY_COMPLETION:
		msg->u.completion.ibcm_cookie = random64();
		msg->u.completion.ibcm_status = random_below(2) == 0
							? -(int32_t)random_below(134)
							: (int32_t)random_below(O2_MAX_TRANSFER_BYTES + 1);
		break;
	}
}

#endif
