/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "lnd/node/negotiate.h"
#include "props/check/check_steer.h"
#include "props/check/draw_stage.h"
#include "wire/bytes.h"

/* Requests, answers and rejects: mostly legal, with limits near those of the receiving node. */

#define OWN_NID	  UINT64_C(0x50000c0a80a01)
#define PEER_NID  UINT64_C(0x50000c0a80a02)
#define OWN_LIFE  UINT64_C(0x5a1b2c3d4e5f6)
#define PEER_LIFE UINT64_C(0x5aabbccddeeff)

/* Draw a number near its limit; seldom 0, or any number up to `most`. */
static uint32_t draw_near(struct o2_choice *c, uint32_t limit, uint32_t most)
{
	static const uint32_t kinds[] = {8, 6, 3, 1, 1};

	switch (o2_draw_weighted(c, kinds, 5)) {
	case 0:
		return limit;
	case 1:
		return (uint32_t)o2_draw(c, limit);
	case 2:
		return limit + 1 <= most ? limit + 1 : most;
	case 3:
		return (uint32_t)o2_draw(c, 3);
	default:
		return (uint32_t)o2_draw(c, most);
	}
}

static uint32_t draw_version(struct o2_choice *c)
{
	return o2_draw_bool(c, 2, 1) ? O2_MSG_VERSION_1 : O2_MSG_VERSION_2;
}

static void draw_node(struct o2_choice *c, struct o2_impl_connect_in *drawn)
{
	drawn->nid = OWN_NID;
	drawn->incarnation = OWN_LIFE;
	drawn->registers = !o2_draw_bool(c, 3, 1);
	drawn->own.ibm_version = o2_draw_bool(c, 3, 1) ? O2_MSG_VERSION_1 : O2_MSG_VERSION_2;
	drawn->own.queue_depth = (uint32_t)o2_draw_range(c, O2_QUEUE_DEPTH_MIN, O2_MAX_QUEUE_DEPTH);
	drawn->own.max_frags = o2_draw_bool(c, 2, 1) ? O2_MAX_FRAGS_LEGACY : O2_MAX_FRAGS;
	drawn->own.max_msg_size = O2_MSG_BYTES;
	drawn->asked = drawn->own;
	if (drawn->own.ibm_version == O2_MSG_VERSION_2)
		drawn->asked.ibm_version = draw_version(c);
	if (drawn->asked.ibm_version == O2_MSG_VERSION_1)
		drawn->asked.queue_depth = O2_QUEUE_DEPTH_V1;
	else if (o2_draw_bool(c, 1, 1))
		drawn->asked.queue_depth =
			(uint32_t)o2_draw_range(c, O2_QUEUE_DEPTH_MIN, drawn->own.queue_depth);
	if (o2_draw_bool(c, 1, 1))
		drawn->asked.max_frags = (uint32_t)o2_draw_range(c, 1, drawn->own.max_frags);
}

static uint64_t draw_stamp(struct o2_choice *c)
{
	static const uint32_t kinds[] = {6, 2, 1, 1};

	switch (o2_draw_weighted(c, kinds, 4)) {
	case 0:
		return OWN_LIFE;
	case 1:
		return 0;
	case 2:
		return UINT64_MAX;
	default:
		return OWN_LIFE + 1;
	}
}

static uint32_t draw_message(struct o2_choice *c, const struct o2_impl_connect_in *in, uint8_t *bytes)
{
	const bool request = in->event == O2_IMPL_GOT_CONNREQ;
	const struct o2_impl_conn_params *bound = request ? &in->own : &in->asked;
	const struct o2_wire_options options = {.max_frags = O2_MAX_FRAGS};
	const bool other_type = o2_draw_bool(c, 30, 1);
	struct o2_msg msg = {
		.order = o2_draw_bool(c, 1, 1) ? O2_BIG_ENDIAN : O2_LITTLE_ENDIAN,
		.ibm_version = (uint16_t)(request ? draw_version(c) : in->asked.ibm_version),
		.ibm_srcnid = PEER_NID,
		.ibm_srcstamp = PEER_LIFE,
	};
	uint32_t depth;
	int length;

	msg.ibm_type = (request != other_type) ? O2_MSG_CONNREQ : O2_MSG_CONNACK;
	if (!request && o2_draw_bool(c, 20, 1))
		msg.ibm_version = (uint16_t)draw_version(c);
	msg.cksum_flavour = (enum o2_cksum_flavour)o2_draw(c, O2_CKSUM_SIGNED);
	msg.ibm_dstnid = OWN_NID + o2_draw_bool(c, 20, 1);
	msg.ibm_dststamp = draw_stamp(c);
	depth = msg.ibm_version == O2_MSG_VERSION_1 ? O2_QUEUE_DEPTH_V1 : bound->queue_depth;
	msg.u.connparams.ibcp_queue_depth = (uint16_t)draw_near(c, depth, UINT16_MAX);
	msg.u.connparams.ibcp_max_frags = (uint16_t)draw_near(c, bound->max_frags, UINT16_MAX);
	msg.u.connparams.ibcp_max_msg_size = O2_MSG_BYTES;
	if (o2_draw_bool(c, 4, 1))
		msg.u.connparams.ibcp_max_msg_size =
			draw_near(c, o2_draw_bool(c, 1, 1) ? O2_MIN_MSG_BYTES : O2_MSG_BYTES, UINT32_MAX);
	length = o2_msg_encode(&msg, &options, bytes, O2_IMPL_CONNECT_BYTES, NULL);
	if (length < 0)
		o2_choice_reject(c);
	return length < 0 ? 0 : (uint32_t)length;
}

static uint32_t draw_reject(struct o2_choice *c, struct o2_impl_connect_in *in, uint8_t *bytes)
{
	static const uint32_t reasons[] = {O2_CM_REJECT_CONSUMER, O2_CM_REJECT_STALE,
					   O2_CM_REJECT_NO_LISTENER, 1};
	static const uint32_t weights[] = {16, 1, 1, 1};
	struct o2_reject reject = {
		.order = o2_draw_bool(c, 1, 1) ? O2_BIG_ENDIAN : O2_LITTLE_ENDIAN,
		.ibr_version = (uint16_t)draw_version(c),
	};

	in->cm_reason = reasons[o2_draw_weighted(c, weights, 4)];
	if (o2_draw_bool(c, 30, 1))
		in->cm_reason = (uint32_t)o2_draw(c, 64);
	reject.ibr_why = (uint8_t)o2_draw_range(c, O2_REJECT_CONN_RACE, O2_REJECT_EARLY);
	if (o2_draw_bool(c, 1, 1))
		reject.ibr_why = o2_draw_bool(c, 1, 1) ? O2_REJECT_RDMA_FRAGS : O2_REJECT_MSG_QUEUE_SIZE;
	if (reject.ibr_version == O2_MSG_VERSION_2) {
		reject.ibr_incarnation = PEER_LIFE;
		reject.ibr_cp.ibcp_queue_depth = (uint16_t)draw_near(c, in->asked.queue_depth, UINT16_MAX);
		reject.ibr_cp.ibcp_max_frags = (uint16_t)draw_near(c, in->asked.max_frags, UINT16_MAX);
		reject.ibr_cp.ibcp_max_msg_size = O2_MSG_BYTES;
	}
	if (o2_reject_encode(&reject, bytes, O2_IMPL_CONNECT_BYTES, NULL) < 0)
		o2_choice_reject(c);
	return o2_draw_bool(c, 1, 1) ? O2_REJECT_PRIVATE_BYTES : O2_REJECT_BYTES;
}

/* Spoil bytes: cut them, change one, set LNet's magic, or pad them as connection managers do. */
static uint32_t spoil(struct o2_choice *c, uint8_t *bytes, uint32_t length)
{
	static const uint32_t kinds[] = {12, 2, 2, 1, 1};
	uint32_t at;

	switch (o2_draw_weighted(c, kinds, 5)) {
	case 1:
		return (uint32_t)o2_draw(c, length);
	case 2:
		at = (uint32_t)o2_draw(c, length > 0 ? length - 1 : 0);
		bytes[at] = (uint8_t)o2_draw(c, UINT8_MAX);
		return length;
	case 3:
		if (o2_draw_bool(c, 1, 1))
			o2_store32(bytes, O2_LITTLE_ENDIAN, O2_LNET_PROTO_MAGIC);
		else
			o2_store32(bytes, O2_BIG_ENDIAN, O2_LNET_PROTO_MAGIC);
		return length;
	case 4:
		return O2_IMPL_CONNECT_BYTES;
	default:
		return length;
	}
}

static void draw(struct o2_choice *c, struct o2_case *asked)
{
	struct o2_case_connect *drawn = &asked->connect;
	uint32_t length;

	memset(drawn, 0, sizeof(*drawn));
	drawn->in.event = (uint32_t)o2_draw(c, O2_IMPL_GOT_REJECT);
	draw_node(c, &drawn->in);
	if (drawn->in.event == O2_IMPL_GOT_REJECT)
		length = draw_reject(c, &drawn->in, drawn->bytes);
	else
		length = draw_message(c, &drawn->in, drawn->bytes);
	drawn->in.length_bytes = spoil(c, drawn->bytes, length);
}

static void features(const struct o2_case *asked, uint8_t *f)
{
	const struct o2_impl_connect_in *in = &asked->connect.in;

	f[0] = (uint8_t)in->event;
	f[1] = in->cm_reason & 15;
	f[2] = in->own.ibm_version & 15;
	f[3] = in->asked.ibm_version & 15;
	f[4] = (uint8_t)in->registers;
	f[5] = o2_steer_size(in->length_bytes);
	f[6] = asked->connect.bytes[0] & 15;
	f[7] = asked->connect.bytes[6] & 15;
}

const struct o2_draw_stage o2_draw_connect = {.draw = draw, .features = features};
