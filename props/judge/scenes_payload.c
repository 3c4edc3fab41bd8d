/* SPDX-License-Identifier: MIT */
#include "base/stream.h"
#include "props/judge/fair.h"
#include "props/judge/scenes.h"

/* Payloads that o2ref would send, whole and with one byte that is another one. */

#define PAYLOAD_BYTES 28u /* the least message has room for them */
#define PORTAL	      7u  /* nobody else's */

/* Which byte is wrong: behind enough right ones for it to be seen whose they are, or before. */
static uint32_t spoil(struct o2_hearing *h, uint8_t bytes[PAYLOAD_BYTES], bool broken)
{
	const uint32_t at = (uint32_t)(o2_draw_bool(h->c, 1, 1) ? 16 + o2_draw(h->c, PAYLOAD_BYTES - 17)
								: o2_draw(h->c, PAYLOAD_BYTES - 17));

	bytes[at] ^= broken ? 1u << o2_draw(h->c, 7) : 0;
	return at;
}

static void put(struct o2_hearing *h, bool broken)
{
	const enum o2_judge_side from = (enum o2_judge_side)o2_draw(h->c, 1);
	const uint64_t stream = 1 + o2_draw(h->c, UINT32_MAX);
	struct o2_msg msg = o2_fair_immediate(h, from, PAYLOAD_BYTES);
	uint8_t bytes[PAYLOAD_BYTES];
	uint8_t right;
	uint32_t at;

	o2_stream_fill(bytes, PAYLOAD_BYTES, h->options.seed, stream, 0);
	at = spoil(h, bytes, broken);
	o2_stream_fill(&right, 1, h->options.seed, stream, at);
	msg.u.immediate.hdr.msg.put.ptl_index = PORTAL;
	msg.u.immediate.hdr.msg.put.hdr_data = stream;
	msg.u.immediate.payload = bytes;
	if (broken)
		o2_hearing_expect(h, O2_HEARING_EVENT, O2_JUDGE_PAYLOAD_PUT, from, 0, "payload[]", bytes[at],
				  right, O2_LIMIT_EXACT);
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
	struct o2_msg msg;
	uint8_t bytes[PAYLOAD_BYTES];
	uint8_t right;
	uint64_t number;
	uint32_t at;

	if (h->one_way)
		return;
	o2_fair_ensure(h, other);
	o2_fair_ensure(h, asker);
	msg = o2_hearing_header(h, asker, O2_MSG_IMMEDIATE);
	msg.u.immediate.hdr.type = O2_LNET_GET;
	msg.u.immediate.hdr.msg.get.return_wmd = wanted;
	msg.u.immediate.hdr.msg.get.ptl_index = PORTAL;
	msg.u.immediate.hdr.msg.get.match_bits = h->next_cookie;
	msg.u.immediate.hdr.msg.get.src_offset = offset;
	msg.u.immediate.hdr.msg.get.sink_length = PAYLOAD_BYTES;
	o2_hearing_message(h, asker, &msg);
	number = h->number;
	o2_fair_ensure(h, other);
	msg = o2_hearing_header(h, other, O2_MSG_IMMEDIATE);
	msg.u.immediate.hdr.type = O2_LNET_REPLY;
	msg.u.immediate.hdr.payload_length = PAYLOAD_BYTES;
	msg.u.immediate.hdr.msg.reply.dst_wmd = wanted;
	o2_stream_fill(bytes, PAYLOAD_BYTES, h->options.seed, O2_STREAM_MEMORY, offset);
	at = spoil(h, bytes, broken);
	o2_stream_fill(&right, 1, h->options.seed, O2_STREAM_MEMORY, (uint64_t)offset + at);
	msg.u.immediate.payload = bytes;
	if (broken)
		o2_hearing_expect(h, O2_HEARING_BOTH, O2_JUDGE_PAYLOAD_GET, other, number, "payload[]",
				  bytes[at], right, O2_LIMIT_EXACT);
	o2_hearing_message(h, other, &msg);
}

const struct o2_scene o2_scenes_payload[] = {
	{O2_JUDGE_PAYLOAD_PUT, put},
	{O2_JUDGE_PAYLOAD_GET, get},
};
