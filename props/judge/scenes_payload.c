/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "base/stream.h"
#include "props/judge/fair.h"
#include "props/judge/scenes.h"

/* Payloads that o2ref would send: whole; with a byte that is another one; that go on at another place of their
 * stream; and with so many wrong ones that nobody can tell whose they are. */

#define LEAST_BYTES 28u	  /* the least message has room for them */
#define MOST_BYTES  3976u /* and the largest for these */
#define SHOWN_BYTES 16u	  /* right ones in a row, by which they are known; so many show a place */
#define PORTAL	    7u	  /* nobody else's */

struct payload {
	uint32_t bytes;
	uint8_t byte[MOST_BYTES];
	/* What is said of the first wrong byte. */
	const char *field;
	uint64_t is, expected;
};

/* A byte is wrong: behind enough right ones for it to be seen whose they are, or before. */
static void spoil_byte(struct o2_hearing *h, struct payload *payload)
{
	const uint32_t last = payload->bytes - 1;
	const bool behind = o2_draw_bool(h->c, 1, 1);
	const uint32_t least = behind ? SHOWN_BYTES : 0, most = behind ? last : last - SHOWN_BYTES;
	const uint32_t at = (uint32_t)o2_draw_range(h->c, least, most);

	payload->expected = payload->byte[at];
	payload->byte[at] ^= (uint8_t)(1u << o2_draw(h->c, 7));
	payload->is = payload->byte[at];
}

/* From one on they are those of another place.  So many of them are enough to be found there. */
static void shift(struct o2_hearing *h, struct payload *payload, uint64_t stream, uint64_t offset)
{
	uint32_t at = (uint32_t)o2_draw_range(h->c, SHOWN_BYTES, payload->bytes - 1);
	const uint64_t far = o2_draw_range(h->c, 1, INT32_MAX);
	uint8_t right[MOST_BYTES];

	memcpy(right, payload->byte, payload->bytes);
	o2_stream_fill(payload->byte + at, payload->bytes - at, h->options.seed, stream, offset + at + far);
	while (at < payload->bytes && payload->byte[at] == right[at])
		at++;
	if (at == payload->bytes) /* by chance nothing is another one */
		payload->byte[--at] ^= 1;
	payload->is = payload->byte[at];
	payload->expected = right[at];
	if (payload->bytes - at < SHOWN_BYTES)
		return;
	payload->field = "place in its stream of payload[]";
	payload->is = offset + at + far;
	payload->expected = offset + at;
}

static void make(struct o2_hearing *h, uint64_t stream, uint64_t offset, bool broken, struct payload *payload)
{
	const uint32_t most = h->max_msg_bytes - 120;
	const bool large = o2_draw_bool(h->c, 1, 1);

	payload->bytes = large ? (uint32_t)o2_draw_range(h->c, LEAST_BYTES, most) : LEAST_BYTES;
	payload->field = "payload[]";
	o2_stream_fill(payload->byte, payload->bytes, h->options.seed, stream, offset);
	if (broken && o2_draw_bool(h->c, 1, 1))
		shift(h, payload, stream, offset);
	else if (broken)
		spoil_byte(h, payload);
	else if (o2_draw_bool(h->c, 3, 1)) /* one row too short, as often as there is room */
		for (uint32_t at = SHOWN_BYTES - 1; at < payload->bytes; at += SHOWN_BYTES)
			payload->byte[at] ^= 0x80;
}

static void put(struct o2_hearing *h, bool broken)
{
	const enum o2_judge_side from = (enum o2_judge_side)o2_draw(h->c, 1);
	const uint64_t stream = 1 + o2_draw(h->c, UINT32_MAX);
	static struct payload payload; /* large */
	struct o2_msg msg;

	make(h, stream, 0, broken, &payload);
	msg = o2_fair_immediate(h, from, payload.bytes);
	msg.u.immediate.hdr.msg.put.ptl_index = PORTAL;
	msg.u.immediate.hdr.msg.put.hdr_data = stream;
	msg.u.immediate.payload = payload.byte;
	if (broken)
		o2_hearing_expect(h, O2_HEARING_EVENT, O2_JUDGE_PAYLOAD_PUT, from, 0, payload.field,
				  payload.is, payload.expected, O2_LIMIT_EXACT);
	o2_hearing_message(h, from, &msg);
}

/* The two halves of a handle that nobody else has. */
static struct o2_lnet_handle handle(struct o2_hearing *h)
{
	return (struct o2_lnet_handle){UINT64_C(1) << 63 | PORTAL, ++h->next_cookie};
}

static void get(struct o2_hearing *h, bool broken)
{
	const enum o2_judge_side asker = (enum o2_judge_side)o2_draw(h->c, 1),
				 other = o2_hearing_other(asker);
	const uint32_t offset = (uint32_t)o2_draw(h->c, UINT32_MAX);
	const struct o2_lnet_handle wanted = handle(h);
	static struct payload payload; /* large */
	struct o2_msg msg;
	uint64_t number;

	if (h->one_way)
		return;
	make(h, O2_STREAM_MEMORY, offset, broken, &payload);
	o2_fair_ensure(h, other);
	o2_fair_ensure(h, asker);
	msg = o2_hearing_header(h, asker, O2_MSG_IMMEDIATE);
	msg.u.immediate.hdr.type = O2_LNET_GET;
	msg.u.immediate.hdr.msg.get.return_wmd = wanted;
	msg.u.immediate.hdr.msg.get.ptl_index = PORTAL;
	msg.u.immediate.hdr.msg.get.match_bits = h->next_cookie;
	msg.u.immediate.hdr.msg.get.src_offset = offset;
	msg.u.immediate.hdr.msg.get.sink_length = payload.bytes;
	o2_hearing_message(h, asker, &msg);
	number = h->number;
	o2_fair_ensure(h, other);
	msg = o2_hearing_header(h, other, O2_MSG_IMMEDIATE);
	msg.u.immediate.hdr.type = O2_LNET_REPLY;
	msg.u.immediate.hdr.payload_length = payload.bytes;
	msg.u.immediate.hdr.msg.reply.dst_wmd = wanted;
	msg.u.immediate.payload = payload.byte;
	if (broken)
		o2_hearing_expect(h, O2_HEARING_BOTH, O2_JUDGE_PAYLOAD_GET, other, number, payload.field,
				  payload.is, payload.expected, O2_LIMIT_EXACT);
	o2_hearing_message(h, other, &msg);
}

const struct o2_scene o2_scenes_payload[] = {
	{O2_JUDGE_PAYLOAD_PUT, put},
	{O2_JUDGE_PAYLOAD_GET, get},
};
