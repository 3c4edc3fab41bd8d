/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "props/check/check_steer.h"
#include "props/check/draw_stage.h"
#include "props/stage/codec.h"
#include "wire/layout.h"

/* Messages of all kinds; mostly answers to a pending request, with values close to what was asked for. */

#define COOKIE UINT64_C(0x1122334455667788)

static int32_t draw_status(struct o2_choice *c, uint64_t nob)
{
	static const uint32_t kinds[] = {6, 2, 2, 1, 2, 1};

	switch (o2_draw_weighted(c, kinds, 6)) {
	case 0:
		return (int32_t)nob;
	case 1:
		return (int32_t)o2_draw(c, nob);
	case 2:
		return (int32_t)nob + 1;
	case 3:
		return (int32_t)o2_draw(c, O2_MAX_TRANSFER_BYTES);
	case 4:
		return -(int32_t)o2_draw_range(c, 1, 133);
	default:
		return INT32_MIN + (int32_t)o2_draw(c, 4);
	}
}

static void draw_completion(struct o2_choice *c, const struct o2_impl_deliver_in *in, struct o2_msg *msg)
{
	static const uint8_t types[] = {O2_MSG_PUT_NAK, O2_MSG_PUT_DONE, O2_MSG_GET_DONE};
	uint8_t type = types[o2_draw(c, 2)];

	if (!o2_draw_bool(c, 3, 1) && in->awaits != O2_IMPL_AWAITS_NOTHING)
		type = types[in->awaits - 1];
	*msg = (struct o2_msg){
		.order = o2_draw_bool(c, 1, 1) ? O2_BIG_ENDIAN : O2_LITTLE_ENDIAN,
		.ibm_version = O2_MSG_VERSION_2,
		.ibm_type = type,
		.ibm_srcnid = UINT64_C(0x50000c0a80a02),
		.ibm_dstnid = UINT64_C(0x50000c0a80a01),
	};
	msg->u.completion.ibcm_cookie = in->cookie + o2_draw_bool(c, 12, 1);
	msg->u.completion.ibcm_status = draw_status(c, in->nob);
	if (msg->ibm_type == O2_MSG_PUT_NAK && o2_draw_bool(c, 1, 2))
		msg->u.completion.ibcm_status = -(int32_t)o2_draw(c, 133);
}

/* Draw any message, legal or not; a request that it answers may be pending. */
static void draw_any(struct o2_choice *c, struct o2_case_deliver *drawn)
{
	static struct o2_codec_case codec;

	o2_codec_draw(c, &codec);
	drawn->in.length_bytes = codec.length_bytes;
	memcpy(drawn->bytes, codec.bytes, codec.length_bytes);
	if (codec.msg.ibm_type == O2_MSG_PUT_ACK && o2_draw_bool(c, 1, 3)) {
		drawn->in.awaits = O2_IMPL_SENT_PUT_REQ;
		drawn->in.cookie = codec.msg.u.putack.ibpam_src_cookie;
	}
}

static void draw(struct o2_choice *c, struct o2_case *asked)
{
	const struct o2_wire_options options = {.max_frags = O2_MAX_FRAGS};
	struct o2_case_deliver *drawn = &asked->deliver;
	struct o2_msg msg;
	int length;

	memset(&drawn->in, 0, sizeof(drawn->in));
	drawn->in.awaits = (uint32_t)o2_draw(c, O2_IMPL_SENT_GET_REQ);
	drawn->in.max_frags = o2_draw_bool(c, 6, 1) ? O2_MAX_FRAGS_LEGACY : O2_MAX_FRAGS;
	drawn->in.cookie = COOKIE;
	drawn->in.nob = o2_draw(c, O2_MAX_TRANSFER_BYTES);
	if (!o2_draw_bool(c, 2, 1)) {
		draw_completion(c, &drawn->in, &msg);
		length = o2_msg_encode(&msg, &options, drawn->bytes, O2_MSG_BYTES, NULL);
		if (length < 0)
			o2_choice_reject(c);
		drawn->in.length_bytes = length < 0 ? 0 : (uint64_t)length;
	} else {
		draw_any(c, drawn);
	}
}

static void features(const struct o2_case *asked, uint8_t *f)
{
	const struct o2_impl_deliver_in *in = &asked->deliver.in;

	f[0] = (uint8_t)in->awaits;
	f[1] = o2_steer_size(in->length_bytes / 16);
	if (in->length_bytes > O2_AT_TYPE) {
		f[2] = asked->deliver.bytes[O2_AT_TYPE] & 15;
		f[3] = (uint8_t)(asked->deliver.bytes[O2_AT_TYPE] >> 4);
		f[4] = asked->deliver.bytes[0] & 15;
	}
	f[5] = in->max_frags == O2_MAX_FRAGS;
	f[6] = o2_steer_size(in->nob / 256);
}

const struct o2_draw_stage o2_draw_deliver = {.draw = draw, .features = features};
