/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "props/check/check_steer.h"
#include "props/check/draw_stage.h"
#include "props/scenario/draw.h"
#include "props/stage/codec.h"
#include "wire/layout.h"

/*
 * Messages to post: IMMEDIATEs with a payload of up to what a message holds, in the same kinds of memory as
 * transfers, and messages of all other types.
 */

#define SLOT_BASE   UINT64_C(0x380000000)
#define SLOT_KEY    0x53u
#define SOME_NID    UINT64_C(0x50000c0a80a01)
#define OTHER_NID   UINT64_C(0x50000c0a80a02)
#define MAX_PAYLOAD (O2_MSG_BYTES - (uint32_t)O2_AT_PAYLOAD)

static void draw_immediate(struct o2_choice *c, struct o2_msg *msg)
{
	static const uint32_t flavours[] = {2, 2, 1};
	static const enum o2_cksum_flavour flavour[] = {O2_CKSUM_SIGNED, O2_CKSUM_UNSIGNED, O2_CKSUM_NONE};
	struct o2_lnet_hdr *hdr = &msg->u.immediate.hdr;

	memset(msg, 0, sizeof(*msg));
	msg->ibm_version = O2_MSG_VERSION_2;
	msg->ibm_type = O2_MSG_IMMEDIATE;
	msg->order = o2_draw_bool(c, 1, 1) ? O2_BIG_ENDIAN : O2_LITTLE_ENDIAN;
	msg->cksum_flavour = flavour[o2_draw_weighted(c, flavours, 3)];
	msg->ibm_credits = (uint8_t)o2_draw(c, UINT8_MAX);
	msg->ibm_srcnid = SOME_NID;
	msg->ibm_dstnid = OTHER_NID;
	hdr->src_nid = SOME_NID;
	hdr->dest_nid = OTHER_NID;
	hdr->type = O2_LNET_PUT;
	if (o2_draw_bool(c, 3, 1))
		hdr->type = O2_LNET_REPLY;
	else
		hdr->msg.put.match_bits = o2_draw(c, UINT64_MAX);
}

/* Draw any message that can be posted, legal or not. */
static void draw_other(struct o2_choice *c, struct o2_case_send *drawn)
{
	static struct o2_codec_case codec;

	o2_codec_draw(c, &codec);
	drawn->msg = codec.msg;
	if (codec.msg.ibm_type == O2_MSG_CONNREQ || codec.msg.ibm_type == O2_MSG_CONNACK ||
	    codec.msg.order > O2_BIG_ENDIAN || codec.msg.cksum_flavour > O2_CKSUM_UNVERIFIED)
		o2_choice_reject(c);
	if (codec.msg.ibm_type == O2_MSG_IMMEDIATE) {
		drawn->msg.u.immediate.payload = NULL;
		drawn->msg.u.immediate.hdr.payload_length = 0;
	}
	drawn->memory.memory.buffer.nob = 0;
}

/* Draw the capacity of the peer: mostly the largest, else about what this payload needs. */
static uint32_t draw_room(struct o2_choice *c, uint64_t nob)
{
	static const uint32_t kinds[] = {6, 2, 1, 1};

	switch (o2_draw_weighted(c, kinds, 4)) {
	case 0:
		return O2_MSG_BYTES;
	case 1:
		return (uint32_t)(O2_AT_PAYLOAD + nob);
	case 2:
		return (uint32_t)(O2_AT_PAYLOAD + nob - (nob > 0));
	default:
		return (uint32_t)o2_draw_range(c, O2_MSG_HEADER_BYTES, O2_MSG_BYTES);
	}
}

static void draw(struct o2_choice *c, struct o2_case *asked)
{
	static const struct o2_scenario_space space = {.mode_weight = {1, 1, 1, 1, 1, 1},
						       .max_nob = MAX_PAYLOAD};
	static struct o2_scenario scenario;
	struct o2_case_send *drawn = &asked->send;
	const bool other = o2_draw_bool(c, 2, 1);
	uint64_t slot;

	o2_scenario_draw(c, &space, &scenario);
	if (!o2_case_of_side(&scenario.source, O2_SOURCE, &drawn->memory))
		o2_choice_reject(c);
	drawn->max_frags = o2_draw_bool(c, 6, 1) ? O2_MAX_FRAGS_LEGACY : O2_MAX_FRAGS;
	if (other)
		draw_other(c, drawn);
	else
		draw_immediate(c, &drawn->msg);
	drawn->max_msg_size = draw_room(c, drawn->memory.memory.buffer.nob);
	drawn->max_sge = (uint32_t)o2_draw_range(c, 1, o2_draw_bool(c, 7, 1) ? O2_MAX_WRQ_SGE : 5);
	slot = o2_draw(c, 255);
	drawn->slot_addr = SLOT_BASE + slot * O2_MSG_BYTES;
	/* Mode global: one region covers all memory, so there is one key. */
	drawn->slot_lkey = drawn->memory.mode == O2_REG_GLOBAL ? drawn->memory.key : SLOT_KEY;
	o2_draw_max_pages(c, &drawn->memory);
}

static void features(const struct o2_case *asked, uint8_t *f)
{
	const struct o2_case_send *send = &asked->send;

	f[0] = (uint8_t)send->memory.mode & 15;
	f[1] = (uint8_t)send->memory.device.device.kind & 15;
	f[2] = send->msg.ibm_type & 15;
	f[3] = o2_steer_size(send->memory.memory.buffer.nob / 16);
	f[4] = o2_steer_size(send->memory.memory.buffer.count);
	f[5] = o2_steer_size(send->max_sge);
	f[6] = (uint8_t)(send->memory.memory.buffer.kind * 4 + send->msg.order * 2 +
			 (send->max_frags == O2_MAX_FRAGS)) &
	       15;
	f[7] = send->max_msg_size == O2_MSG_BYTES;
}

const struct o2_draw_stage o2_draw_send = {.draw = draw, .features = features};
