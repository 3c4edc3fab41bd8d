/* SPDX-License-Identifier: MIT */
#include "fuzz/wire_mutator.h"

#include <stdbool.h>
#include <string.h>

#include "base/limits.h"
#include "fuzz/wire_fields.h"
#include "fuzz/wire_work.h"
#include "wire/layout.h"

/* --- one field --- */

static bool is_big(const struct o2_work *w, const struct o2_spot *field)
{
	return field->order == O2_SPOT_SENDER && w->big;
}

static uint64_t changed(struct o2_work *w, const struct o2_spot *field, uint64_t value)
{
	switch (o2_work_below(w, 8)) {
	case 0:
		return value + 1;
	case 1:
		return value - 1;
	case 2:
		return value ^ (uint64_t)1 << o2_work_below(w, 8u * field->width);
	case 3:
		return o2_work_draw(w) >> o2_work_below(w, 64);
	default:
		return o2_spot_edge((enum o2_spot_kind)field->kind, o2_work_draw(w));
	}
}

static void change_field(struct o2_work *w, const struct o2_spot *field, size_t start)
{
	uint8_t *at = w->data + start + field->at;

	if (start + field->at + field->width > w->size)
		return;
	o2_work_put(at, field->width, is_big(w, field),
		    changed(w, field, o2_work_get(at, field->width, is_big(w, field))));
	w->keep_nob |= field->part == O2_PART_HEADER && field->kind == O2_SPOT_NOB;
}

/* --- descriptors --- */

static void set_count(struct o2_work *w, size_t start, uint64_t nfrags)
{
	o2_work_put(w->data + start + O2_DESC_AT_NFRAGS, 4, w->big, nfrags);
}

/* Write a valid fragment of at most 4080 bytes: 257 of them fit into 1 MiB. */
static void fill_frag(struct o2_work *w, uint8_t *at)
{
	o2_work_put(at + O2_FRAG_AT_NOB, 4, w->big,
		    o2_work_once_in(w, 4) ? 1 + o2_work_below(w, 4080) : 4080);
	o2_work_put(at + O2_FRAG_AT_ADDR, 8, w->big, o2_work_draw(w) >> 16 & ~(uint64_t)4095);
}

/* Give the descriptor n fragments, new ones valid; the message ends with them. */
static void set_frags(struct o2_work *w, size_t start, size_t n)
{
	const size_t room = (w->max - start - O2_DESC_AT_FRAGS) / O2_FRAG_BYTES;
	size_t present = o2_work_frags(w, start);

	n = n < room ? n : room;
	o2_work_resize(w, start + O2_DESC_AT_FRAGS + n * O2_FRAG_BYTES);
	for (; present < n; present++)
		fill_frag(w, o2_work_frag(w, start, present));
	set_count(w, start, n);
}

/* Long descriptors are expensive, so few are drawn. */
static size_t some_frags(struct o2_work *w)
{
	static const uint16_t edges[] = {255, 256, 257, 258};

	return o2_work_once_in(w, 16)  ? edges[o2_work_below(w, 4)]
	       : o2_work_once_in(w, 8) ? o2_work_below(w, 64)
				       : 1 + o2_work_below(w, 4);
}

static void change_frags(struct o2_work *w, size_t start)
{
	const size_t present = o2_work_frags(w, start);
	const size_t index = o2_work_below(w, present);

	if (present == 0 || o2_work_once_in(w, 4)) {
		set_frags(w, start, some_frags(w));
	} else if (o2_work_once_in(w, 3)) {
		fill_frag(w, o2_work_frag(w, start, index));
	} else if (o2_work_once_in(w, 4)) {
		memcpy(o2_work_frag(w, start, index), o2_work_frag(w, start, o2_work_below(w, present)),
		       O2_FRAG_BYTES);
	} else if (o2_work_once_in(w, 3)) {
		/* Remove a fragment: those after it move up. */
		memmove(o2_work_frag(w, start, index), o2_work_frag(w, start, index + 1),
			(present - index - 1) * O2_FRAG_BYTES);
		set_frags(w, start, present - 1);
	} else {
		change_field(w, o2_spot_pick(O2_PART_FRAG, o2_work_draw(w)),
			     (size_t)(o2_work_frag(w, start, index) - w->data));
	}
}

static void change_desc(struct o2_work *w)
{
	size_t start;

	if (!o2_work_find_desc(w, &start))
		return;
	if (o2_work_once_in(w, 3))
		change_field(w, o2_spot_pick(O2_PART_DESC, o2_work_draw(w)), start);
	else
		change_frags(w, start);
}

/* --- whole messages --- */

/* Make the body of this type valid; the message is a header and zeros so far. */
static void fill_body(struct o2_work *w, uint8_t type)
{
	static const uint8_t immediate_types[] = {O2_LNET_ACK, O2_LNET_PUT, O2_LNET_GET, O2_LNET_REPLY};
	uint8_t *lnet = w->data + O2_AT_LNET_HDR;
	uint8_t lnet_type = O2_LNET_GET;
	uint64_t length = 0;

	if ((o2_parts_of(type) & O2_PART_LNET_HDR) != 0) {
		if (type == O2_MSG_IMMEDIATE)
			lnet_type = immediate_types[o2_work_below(w, 4)];
		if (type == O2_MSG_PUT_REQ)
			lnet_type = o2_work_once_in(w, 2) ? O2_LNET_PUT : O2_LNET_REPLY;
		if (lnet_type == O2_LNET_PUT || lnet_type == O2_LNET_REPLY)
			length = o2_work_once_in(w, 8) ? O2_MSG_BYTES - O2_AT_PAYLOAD : o2_work_below(w, 64);
		if (type == O2_MSG_IMMEDIATE)
			o2_work_resize(w, O2_AT_PAYLOAD + length);
		o2_work_put(lnet + O2_LNET_AT_DEST_NID, 8, false, o2_spot_edge(O2_SPOT_NID, 0));
		o2_work_put(lnet + O2_LNET_AT_SRC_NID, 8, false, o2_spot_edge(O2_SPOT_NID, 1));
		o2_work_put(lnet + O2_LNET_AT_TYPE, 4, false, lnet_type);
		o2_work_put(lnet + O2_LNET_AT_PAYLOAD_LENGTH, 4, false, length);
	}
	if ((o2_parts_of(type) & O2_PART_COMPLETION) != 0)
		o2_work_put(w->data + O2_AT_STATUS, 4, w->big, o2_work_once_in(w, 2) ? (uint64_t)-61 : 4096);
	if (o2_desc_start(type) != 0)
		set_frags(w, o2_desc_start(type), some_frags(w));
}

/* Make a valid message of any type, or a valid descriptor. */
static void make_fresh(struct o2_work *w)
{
	static const uint8_t types[] = {O2_MSG_CONNREQ, O2_MSG_CONNACK, O2_MSG_NOOP,	O2_MSG_IMMEDIATE,
					O2_MSG_PUT_REQ, O2_MSG_PUT_NAK, O2_MSG_PUT_ACK, O2_MSG_PUT_DONE,
					O2_MSG_GET_REQ, O2_MSG_GET_DONE};
	const uint8_t type = types[o2_work_below(w, sizeof(types))];

	w->big = o2_work_once_in(w, 2);
	w->size = 0;
	if (w->shape == O2_WIRE_SHAPE_DESCRIPTOR) {
		o2_work_resize(w, O2_DESC_AT_FRAGS);
		set_frags(w, 0, some_frags(w));
		return;
	}
	memset(w->data, 0, o2_fixed_bytes(type));
	w->size = o2_fixed_bytes(type);
	o2_work_put(w->data + O2_AT_MAGIC, 4, w->big, O2_MSG_MAGIC);
	o2_work_put(w->data + O2_AT_VERSION, 2, w->big,
		    o2_work_once_in(w, 4) ? O2_MSG_VERSION_1 : O2_MSG_VERSION_2);
	w->data[O2_AT_TYPE] = type;
	w->data[O2_AT_CREDITS] = (uint8_t)o2_work_draw(w);
	o2_work_put(w->data + O2_AT_SRCNID, 8, w->big, o2_spot_edge(O2_SPOT_NID, 0));
	o2_work_put(w->data + O2_AT_DSTNID, 8, w->big, o2_spot_edge(O2_SPOT_NID, 1));
	o2_work_put(w->data + O2_AT_SRCSTAMP, 8, w->big, o2_work_draw(w));
	o2_work_put(w->data + O2_AT_DSTSTAMP, 8, w->big, o2_work_draw(w));
	fill_body(w, type);
}

static void swap_part(struct o2_work *w, unsigned int parts, size_t start)
{
	const struct o2_spot *field = NULL;

	while ((field = o2_spot_next(parts, field)) != NULL) {
		uint8_t *at = w->data + start + field->at;

		if (field->order == O2_SPOT_SENDER && start + field->at + field->width <= w->size)
			o2_work_put(at, field->width, !w->big, o2_work_get(at, field->width, w->big));
	}
}

/* Convert the message to the other byte order. */
static void swap_order(struct o2_work *w)
{
	size_t start;

	if (w->shape == O2_WIRE_SHAPE_MESSAGE)
		swap_part(w, o2_parts_of(o2_work_type(w)), 0);
	if (o2_work_find_desc(w, &start)) {
		swap_part(w, O2_PART_DESC, start);
		for (size_t i = 0; i < o2_work_frags(w, start); i++)
			swap_part(w, O2_PART_FRAG, (size_t)(o2_work_frag(w, start, i) - w->data));
	}
	w->big = !w->big;
}

/* Cut the input or append bytes, near the offsets where something ends. */
static void change_size(struct o2_work *w)
{
	static const uint16_t ends[] = {1, 6, 7, 8, 12, 47, 48, 4095, 4096, 4097};
	const size_t fixed =
		w->shape == O2_WIRE_SHAPE_MESSAGE ? o2_fixed_bytes(o2_work_type(w)) : O2_DESC_AT_FRAGS;

	switch (o2_work_below(w, 4)) {
	case 0:
		o2_work_resize(w, fixed - 2 + o2_work_below(w, 4));
		break;
	case 1:
		o2_work_resize(w, o2_work_once_in(w, 4)
					  ? ends[o2_work_below(w, sizeof(ends) / sizeof(ends[0]))]
					  : w->size + 1);
		break;
	case 2:
		o2_work_resize(w, w->size + 1 + o2_work_below(w, 32));
		break;
	default:
		o2_work_resize(w, w->size - o2_work_below(w, w->size < 16 ? w->size : 16));
		break;
	}
}

static void operate(struct o2_work *w, o2_byte_mutator *mutate_bytes)
{
	const size_t at = o2_work_below(w, w->size + 1);

	switch (o2_work_below(w, 12)) {
	case 0:
		swap_order(w);
		break;
	case 1:
		change_size(w);
		break;
	case 2:
		/* The engine's own mutation, from some offset on. */
		if (w->size > at)
			w->size = at + mutate_bytes(w->data + at, w->size - at, w->max - at);
		break;
	case 3:
	case 4:
		change_field(w, o2_spot_pick(O2_PART_HEADER, o2_work_draw(w)), 0);
		break;
	case 5:
	case 6:
	case 7:
		if (o2_parts_of(o2_work_type(w)) != O2_PART_HEADER) {
			change_field(
				w,
				o2_spot_pick(o2_parts_of(o2_work_type(w)) & ~(unsigned int)O2_PART_HEADER,
					     o2_work_draw(w)),
				0);
			break;
		}
		/* fall through */
	default:
		change_desc(w);
		break;
	}
}

/* --- the end: length and checksum --- */

/* By docs/wire.md, "Checksum": rotate and add, the checksum's own bytes counted as zero, result never 0. */
static uint32_t checksum(const uint8_t *data, size_t nob, bool is_signed)
{
	uint32_t sum = 0;

	for (size_t i = 0; i < nob; i++) {
		uint32_t byte = i >= O2_AT_CKSUM && i < O2_AT_SRCNID ? 0 : data[i];

		if (is_signed && byte >= 0x80)
			byte |= 0xffffff00u;
		sum = (sum << 1 | sum >> 31) + byte;
	}
	return sum == 0 ? 1 : sum;
}

/* Mostly make nob and checksum valid: otherwise a receiver checks nothing else. */
static void finish(struct o2_work *w)
{
	uint64_t nob;

	if (w->shape != O2_WIRE_SHAPE_MESSAGE || w->size < O2_MSG_HEADER_BYTES)
		return;
	if (!w->keep_nob && !o2_work_once_in(w, 16))
		o2_work_put(w->data + O2_AT_NOB, 4, w->big, w->size <= O2_MSG_BYTES ? w->size : O2_MSG_BYTES);
	nob = o2_work_get(w->data + O2_AT_NOB, 4, w->big);
	if (o2_work_once_in(w, 16))
		return;
	if (nob > w->size || nob > O2_MSG_BYTES || o2_work_once_in(w, 2))
		o2_work_put(w->data + O2_AT_CKSUM, 4, w->big, 0);
	else
		o2_work_put(w->data + O2_AT_CKSUM, 4, w->big, checksum(w->data, nob, o2_work_once_in(w, 2)));
}

static struct o2_work begin(enum o2_wire_shape shape, uint8_t *data, size_t size, size_t max_size,
			    uint32_t seed)
{
	struct o2_work w = {.shape = shape, .data = data, .size = size, .max = max_size, .random = seed};

	o2_work_draw(&w);
	return w;
}

/* Whether there is room for the fixed part of any message, or for a descriptor with one fragment. */
static bool has_room(const struct o2_work *w)
{
	return w->max >= (w->shape == O2_WIRE_SHAPE_MESSAGE ? O2_AT_GET_REQ_DESC + O2_DESC_AT_FRAGS
							    : O2_DESC_AT_FRAGS + O2_FRAG_BYTES);
}

size_t o2_wire_mutate(enum o2_wire_shape shape, uint8_t *data, size_t size, size_t max_size, uint32_t seed,
		      o2_byte_mutator *mutate_bytes)
{
	struct o2_work w = begin(shape, data, size, max_size, seed);
	const size_t least = shape == O2_WIRE_SHAPE_MESSAGE ? O2_MSG_HEADER_BYTES : O2_DESC_AT_FRAGS;

	/* One input in eight is left to the engine alone. */
	if (!has_room(&w) || (size > 0 && o2_work_once_in(&w, 8)))
		return mutate_bytes(data, size, max_size);
	o2_work_find_order(&w);
	if (size < least || o2_work_once_in(&w, 16))
		make_fresh(&w);
	for (size_t left = 1 + o2_work_below(&w, 3); left > 0; left--)
		operate(&w, mutate_bytes);
	finish(&w);
	return w.size > 0 ? w.size : mutate_bytes(data, 0, max_size);
}

size_t o2_wire_cross(enum o2_wire_shape shape, const uint8_t *one, size_t one_size, const uint8_t *other,
		     size_t other_size, uint8_t *out, size_t max_size, uint32_t seed)
{
	const size_t kept = one_size < max_size ? one_size : max_size;
	struct o2_work w = begin(shape, out, kept, max_size, seed);
	struct o2_work from = begin(shape, (uint8_t *)(uintptr_t)other, other_size, other_size, seed);
	size_t start, from_start, bytes;

	if (kept == 0) {
		out[0] = 0;
		return 1;
	}
	memcpy(out, one, kept);
	o2_work_find_order(&w);
	o2_work_find_order(&from);
	if (o2_work_find_desc(&w, &start) && o2_work_find_desc(&from, &from_start) &&
	    !o2_work_once_in(&w, 4)) {
		/* The other's fragments after some of one's. */
		start = (size_t)(o2_work_frag(&w, start, o2_work_below(&w, o2_work_frags(&w, start) + 1)) -
				 w.data);
		from_start += O2_DESC_AT_FRAGS;
	} else {
		/* The other's body after one's header. */
		start = from_start = shape == O2_WIRE_SHAPE_MESSAGE ? O2_MSG_HEADER_BYTES : O2_DESC_AT_FRAGS;
		if (w.size < start || other_size < start)
			return kept;
		if (shape == O2_WIRE_SHAPE_MESSAGE)
			out[O2_AT_TYPE] = other[O2_AT_TYPE];
	}
	bytes = other_size - from_start < max_size - start ? other_size - from_start : max_size - start;
	memcpy(out + start, other + from_start, bytes);
	w.size = start + bytes;
	if (o2_work_find_desc(&w, &start))
		set_count(&w, start, o2_work_frags(&w, start));
	finish(&w);
	return w.size;
}
