/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_CODEC_H
#define O2_PROPS_CODEC_H

#include "props/engine/property.h"
#include "props/model/wire_model.h"

/*
 * The property: the codec and an independent model of it (props/model/wire_model.h) agree on every message and on
 * every change of its bytes: same bytes, same fields, same rule (docs/properties.md, "The codec property").  It
 * needs no device.
 */

/* Most bytes given to a decoder: a message, and as much again behind it. */
#define O2_CODEC_BYTES 8192u

struct o2_codec_case {
	struct o2_wire_options options;
	struct o2_msg msg;     /* valid, or invalid on purpose */
	size_t capacity_bytes; /* room for the encoder */
	uint8_t payload[O2_MSG_BYTES];
	uint8_t bytes[O2_CODEC_BYTES]; /* input of the decoder: a message with some bytes changed */
	size_t length_bytes;
	size_t desc_at; /* a bare descriptor is decoded from this offset */
};

struct o2_codec_counters {
	uint64_t cases;
	uint64_t encoded, encode_refused;
	uint64_t decoded, decode_refused;
	uint64_t type[O2_WM_TYPES]; /* messages decoded, in the order of o2_wm_types */
	uint64_t big_endian, fragments[4], longest, unverified, payload, shortened, desc_decoded;
	/* fragments: messages of 254, 255, 256, 257; longest: of 4096 bytes */
	uint64_t rules[128]; /* refusals by rule, in the order of the library's table */
};

struct o2_codec_run {
	struct o2_codec_case now;
	struct o2_codec_counters counters;
	struct o2_wm_verdict verdict; /* the model's verdict on the bytes */
	struct o2_msg decoded, by_model;
	uint8_t wire[O2_MSG_BYTES + 64], wire_by_model[O2_MSG_BYTES + 64];
	uint8_t unchanged[O2_CODEC_BYTES];
	/* If a decoder ignores a limit, it writes here and not into the program's other memory. */
	uint8_t spare[1u << 16];
};

/* Draw a case (docs/properties.md, "The codec property"). */
void o2_codec_draw(struct o2_choice *choice, struct o2_codec_case *drawn);

/* *run: owned by the caller, zeroed before the first case. */
struct o2_property o2_codec_property(struct o2_codec_run *run);

#endif
