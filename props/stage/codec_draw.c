/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "props/stage/codec.h"

/* Numbers next to some limit, for fields of any width. */
/* clang-format off */
static const uint64_t edges[] = {
	0, 1, UINT64_MAX, 2, 0x7fffffff, 0x80000000u, 0xffffffffu, 0xfffffffeu, 255, 256, 257, 258,
	330, 335, 336, 1u << 20, (1u << 20) + 1, 4096, 4097, 3976, 3977, 48, 56, 59, 60, 64, 71, 72,
	120, 127, 128, 135, 136, 5, 0x10, 0x11, 0x12, 0x13, 4, UINT64_MAX - 1,
	UINT64_C(0x0005000100000000), UINT64_C(0x00050001ffffffff), UINT64_C(0x000200010a0a0a0a),
	UINT64_C(0x00ff00010a0a0a0a), UINT64_C(0x010500010a0a0a0a), UINT64_C(0x00050000c0a80a01),
};
/* clang-format on */
#define EDGES (sizeof(edges) / sizeof(edges[0]))

static uint64_t draw_value(struct o2_choice *choice, uint32_t bytes)
{
	if (o2_draw_bool(choice, 2, 1))
		return o2_draw(choice, bytes == 8 ? UINT64_MAX : (UINT64_C(1) << 8 * bytes) - 1);
	return edges[o2_draw_pick(choice, EDGES)];
}

static void draw_options(struct o2_choice *choice, struct o2_wire_options *options)
{
	static const uint32_t limit[] = {257, 256, 0, 255, 258, UINT32_MAX};
	static const uint32_t weight[] = {120, 30, 1, 1, 1, 1};

	options->max_frags = limit[o2_draw_weighted(choice, weight, 6)];
	options->require_checksum = o2_draw_bool(choice, 7, 1);
	options->any_lnd = o2_draw_bool(choice, 7, 1);
	options->tolerate_immediate_checksum = o2_draw_bool(choice, 7, 1);
}

static void draw_fields(struct o2_choice *choice, const struct o2_wm_field *field, uint32_t fields,
			void *base)
{
	for (uint32_t i = 0; i < fields; i++) {
		const uint32_t bytes = field[i].bytes;

		o2_wm_set(base, &field[i],
			  o2_draw(choice, bytes == 8 ? UINT64_MAX : (UINT64_C(1) << 8 * bytes) - 1));
	}
}

/* Few fragments, many, or the maximum; together up to 1 MiB, sometimes exactly. */
static void draw_desc(struct o2_choice *choice, struct o2_rdma_desc *desc)
{
	static const uint32_t weight[] = {12, 3, 1, 1};
	static const uint32_t most[] = {4, 64, 257, 257};
	const size_t which = o2_draw_weighted(choice, weight, 4);
	uint32_t room = O2_MAX_TRANSFER_BYTES;
	struct o2_prng prng;

	desc->rd_nfrags = which == 3 ? (uint32_t)o2_draw_range(choice, 254, 257)
				     : (uint32_t)o2_draw_range(choice, 1, most[which]);
	prng = o2_prng_init(o2_draw(choice, UINT32_MAX), 0);
	for (uint32_t i = 0; i < desc->rd_nfrags; i++) {
		const uint64_t random = o2_prng_next(&prng);

		desc->rd_frags[i].rf_nob = 1 + (uint32_t)(random % 4080);
		desc->rd_frags[i].rf_addr = o2_prng_next(&prng) >> (random >> 58);
		if (desc->rd_frags[i].rf_addr > UINT64_MAX - desc->rd_frags[i].rf_nob)
			desc->rd_frags[i].rf_addr = UINT64_MAX - desc->rd_frags[i].rf_nob;
		room -= desc->rd_frags[i].rf_nob;
	}
	if (o2_draw_bool(choice, 7, 1)) /* sometimes all of it, one byte less, or one too many */
		desc->rd_frags[desc->rd_nfrags - 1].rf_nob +=
			o2_draw_bool(choice, 3, 1) ? room + 1 - 2 * (uint32_t)o2_draw(choice, 1) : room;
	if (o2_draw_bool(choice, 7, 1))
		desc->rd_frags[0].rf_addr = UINT64_MAX - desc->rd_frags[0].rf_nob;
}

static void draw_lnet(struct o2_choice *choice, const struct o2_wm_type *type, struct o2_codec_case *drawn)
{
	struct o2_lnet_hdr *hdr = (void *)((uint8_t *)&drawn->msg + type->lnet_hdr);
	const struct o2_wm_field *variant;
	uint32_t admitted[4], n = 0, fields;
	struct o2_prng prng;

	for (uint32_t t = 0; t < 4; t++)
		if ((type->lnet_types >> t & 1) != 0)
			admitted[n++] = t;
	draw_fields(choice, o2_wm_lnet, 4, hdr);
	hdr->type = admitted[o2_draw_pick(choice, n)];
	variant = o2_wm_variant(hdr->type, &fields);
	/* Members that a header of this type has no field for are not sent. */
	memset(&hdr->msg, 0xa5, sizeof(hdr->msg));
	draw_fields(choice, variant, fields, hdr);
	hdr->payload_length = 0;
	if (hdr->type != O2_LNET_PUT && hdr->type != O2_LNET_REPLY)
		return;
	if (type->type != O2_MSG_IMMEDIATE) {
		hdr->payload_length = (uint32_t)o2_draw(choice, O2_MAX_TRANSFER_BYTES);
		return;
	}
	hdr->payload_length = (uint32_t)o2_draw(choice, o2_draw_bool(choice, 7, 1) ? 3976 : 64);
	if (o2_draw_bool(choice, 31, 1)) /* the maximum length, or a few bytes less */
		hdr->payload_length = 3976 - (uint32_t)o2_draw(choice, 2);
	drawn->msg.u.immediate.payload = drawn->payload;
	memset(drawn->payload, 0, sizeof(drawn->payload));
	prng = o2_prng_init(o2_draw(choice, UINT32_MAX), 1);
	for (uint32_t i = 0; i < hdr->payload_length; i += 8) {
		const uint64_t random = o2_prng_next(&prng);

		memcpy(drawn->payload + i, &random, 8);
	}
}

/*
 * Aim at the rare checksum 0: choose the last 32 bytes of a payload, all 0 or 1, so that the sum becomes
 * 0.  Carries sometimes prevent that, so it is tried a few times.
 */
static void aim_at_zero(struct o2_codec_case *drawn)
{
	const uint32_t length = drawn->msg.u.immediate.hdr.payload_length;
	uint8_t *last = drawn->payload + length - 32;
	uint32_t target = 0;

	for (int tries = 0; tries < 12; tries++) {
		uint32_t nob, sum;

		for (int i = 0; i < 32; i++)
			last[i] = target >> (31 - i) & 1;
		nob = o2_wm_write(&drawn->msg, drawn->bytes);
		sum = o2_wm_sum(drawn->bytes, nob, drawn->msg.cksum_flavour == O2_CKSUM_SIGNED);
		if (sum == 0)
			return;
		target -= sum;
	}
}

/* Draw a valid message, then set at most two fields to any value. */
static const struct o2_wm_type *draw_msg(struct o2_choice *choice, struct o2_codec_case *drawn)
{
	static const uint32_t wrong[] = {20, 5, 1};
	const struct o2_wm_type *type = &o2_wm_types[o2_draw_pick(choice, O2_WM_TYPES)];
	struct o2_msg *msg = &drawn->msg;

	memset(msg, 0, sizeof(*msg));
	draw_fields(choice, o2_wm_header, o2_wm_header_fields, msg);
	msg->ibm_type = type->type;
	msg->order = o2_draw_bool(choice, 1, 1) ? O2_BIG_ENDIAN : O2_LITTLE_ENDIAN;
	msg->ibm_version = o2_draw_bool(choice, 3, 1) ? 0x11 : 0x12;
	msg->cksum_flavour = (enum o2_cksum_flavour)o2_draw(choice, 3);
	msg->ibm_srcnid = UINT64_C(0x0005000000000001) + (msg->ibm_srcnid & 0x7fffffff);
	msg->ibm_dstnid = UINT64_C(0x0005000000000001) + (msg->ibm_dstnid & 0xffff7fffffff);
	msg->ibm_dstnid &= UINT64_C(0x0005ffffffffffff);
	draw_fields(choice, type->field, type->fields, msg);
	if (type->has_status && o2_draw_bool(choice, 1, 1))
		msg->u.completion.ibcm_status &= O2_MAX_TRANSFER_BYTES - 1;
	if (type->lnet_hdr != O2_WM_NONE)
		draw_lnet(choice, type, drawn);
	if (type->desc != O2_WM_NONE)
		draw_desc(choice, (void *)((uint8_t *)msg + type->desc));
	if (type->type == O2_MSG_IMMEDIATE && msg->u.immediate.hdr.payload_length >= 32 &&
	    o2_draw_bool(choice, 15, 1))
		aim_at_zero(drawn);
	for (size_t n = o2_draw_weighted(choice, wrong, 3); n > 0; n--) {
		const struct o2_wm_field *field = &o2_wm_header[o2_draw_pick(choice, o2_wm_header_fields)];
		void *base = msg;

		if (type->fields > 0 && o2_draw_bool(choice, 1, 1)) {
			field = &type->field[o2_draw_pick(choice, type->fields)];
		} else if (type->lnet_hdr != O2_WM_NONE && o2_draw_bool(choice, 1, 1)) {
			field = &o2_wm_lnet[o2_draw_pick(choice, o2_wm_lnet_fields)];
			base = (uint8_t *)msg + type->lnet_hdr;
		}
		o2_wm_set(base, field, draw_value(choice, field->bytes));
	}
	if (o2_draw_bool(choice, 127, 1))
		msg->order = (enum o2_byte_order)o2_draw(choice, 3);
	if (o2_draw_bool(choice, 127, 1))
		msg->cksum_flavour = (enum o2_cksum_flavour)o2_draw(choice, 5);
	/* Whatever type and length have become: the payload pointer refers to that many bytes, or is NULL. */
	if (msg->ibm_type == O2_MSG_IMMEDIATE && type->type != O2_MSG_IMMEDIATE)
		memset(drawn->payload, 0, sizeof(drawn->payload));
	if (msg->ibm_type == O2_MSG_IMMEDIATE)
		msg->u.immediate.payload = o2_draw_bool(choice, 63, 1) ? NULL : drawn->payload;
	return type;
}

/* Overwrite one field of the bytes, in the sender's order. */
static void change_field(struct o2_choice *choice, const struct o2_wm_type *type, uint8_t *bytes, bool little)
{
	static const struct o2_wm_field frame[] = {
		{.at = 8, .bytes = 4}, {.at = 12, .bytes = 4}, {.at = 0, .bytes = 4}};
	const struct o2_wm_field *field = &o2_wm_header[o2_draw_pick(choice, o2_wm_header_fields)];
	uint32_t at = 0;

	switch (o2_draw(choice, 4)) {
	case 0:
		break;
	case 1:
		field = &frame[o2_draw_pick(choice, 3)];
		break;
	case 2:
		if (type->fields > 0)
			field = &type->field[o2_draw_pick(choice, type->fields)];
		break;
	case 3:
		if (type->lnet_hdr != O2_WM_NONE) {
			field = &o2_wm_lnet[o2_draw_pick(choice, o2_wm_lnet_fields)];
			at = 48;
		}
		break;
	default:
		if (type->desc != O2_WM_NONE) {
			const uint32_t i = (uint32_t)o2_draw(choice, o2_draw_bool(choice, 3, 1) ? 256 : 3);
			const bool addr = o2_draw_bool(choice, 1, 1);

			at = type->desc_at + 8 + 12 * i + (addr ? 4 : 0);
			o2_wm_store(bytes + at, addr ? 8 : 4, little, draw_value(choice, addr ? 8 : 4));
			return;
		}
	}
	o2_wm_store(bytes + at + field->at, field->bytes, little || field->little,
		    draw_value(choice, field->bytes));
}

/* Draw the decoder's input: the bytes of the message, some of them changed, perhaps cut or extended. */
static void draw_bytes(struct o2_choice *choice, const struct o2_wm_type *type, struct o2_codec_case *drawn)
{
	static const uint32_t changes[] = {4, 4, 2, 1};
	static const uint32_t sealing[] = {14, 1, 1};
	const bool little = drawn->msg.order == O2_LITTLE_ENDIAN;
	const uint32_t nob = o2_wm_write(&drawn->msg, drawn->bytes);
	uint8_t *bytes = drawn->bytes;
	uint64_t said;

	drawn->length_bytes = nob;
	if (o2_draw_bool(choice, 3, 1)) {
		/* Append zeros, or other bytes. */
		const uint32_t more =
			(uint32_t)o2_draw_range(choice, 1, o2_draw_bool(choice, 7, 1) ? 4096 : 16);

		memset(bytes + nob, (int)o2_draw(choice, 255), more);
		drawn->length_bytes += more;
		if (o2_draw_bool(choice, 1, 1))
			o2_wm_store(bytes + 8, 4, little, nob + o2_draw(choice, more));
	} else {
		memset(bytes + nob, 0, 64);
	}
	for (size_t n = o2_draw_weighted(choice, changes, 4); n > 0; n--) {
		if (o2_draw_bool(choice, 2, 1))
			bytes[o2_draw(choice, drawn->length_bytes - 1)] = (uint8_t)o2_draw(choice, 255);
		else
			change_field(choice, type, bytes, little);
	}
	said = o2_wm_load(bytes + 8, 4, little);
	/* Most messages get a correct checksum, so that later checks are reached; the others none, or any. */
	switch (o2_draw_weighted(choice, sealing, 3)) {
	case 0:
		o2_wm_seal(bytes, said < drawn->length_bytes ? said : drawn->length_bytes, little,
			   (uint32_t)drawn->msg.cksum_flavour <= O2_CKSUM_UNVERIFIED
				   ? drawn->msg.cksum_flavour
				   : O2_CKSUM_UNSIGNED);
		break;
	case 1:
		o2_wm_store(bytes + 12, 4, little, draw_value(choice, 4));
		break;
	default:
		break; /* leave the checksum unchanged */
	}
	if (o2_draw_bool(choice, 7, 1))
		drawn->length_bytes = o2_draw(choice, drawn->length_bytes);
	drawn->desc_at = SIZE_MAX;
	if (type->desc != O2_WM_NONE && drawn->length_bytes > type->desc_at && o2_draw_bool(choice, 1, 1))
		drawn->desc_at = type->desc_at;
}

void o2_codec_draw(struct o2_choice *choice, struct o2_codec_case *drawn)
{
	const struct o2_wm_type *type;

	draw_options(choice, &drawn->options);
	type = draw_msg(choice, drawn);
	drawn->capacity_bytes = O2_MSG_BYTES;
	if (o2_draw_bool(choice, 31, 1))
		drawn->capacity_bytes = o2_draw(choice, 200);
	draw_bytes(choice, type, drawn);
}
