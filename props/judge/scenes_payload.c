/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "base/stream.h"
#include "props/judge/fair.h"
#include "props/judge/scenes.h"

/* Payloads with o2ref's pattern: correct; with one wrong byte; continuing at another place of their stream;
 * and with so many wrong bytes that their stream is unrecognizable. */

#define LEAST_BYTES 28u	  /* fit into the smallest message */
#define MOST_BYTES  3976u /* fit into the largest message */
#define SHOWN_BYTES 16u	  /* correct bytes in a row that identify a stream, or a place in it */
#define PORTAL	    7u	  /* used by nobody else */
#define REMEMBERED  32u	  /* PUTs of a side that the judge remembers: docs/judge.md, "Payloads" */

struct payload {
	uint32_t bytes;
	uint8_t byte[MOST_BYTES];
	/* The predicted finding about the first wrong byte. */
	const char *field;
	uint64_t is, expected;
};

/*
 * Make a byte wrong, after enough correct bytes to identify the stream, or before them; or make many wrong
 * from the first few on, so that the stream is identified only late.
 */
static void spoil_bytes(struct o2_hearing *h, struct payload *payload)
{
	const uint32_t last = payload->bytes - 1;
	const bool behind = o2_draw_bool(h->c, 1, 1), many = !behind && o2_draw_bool(h->c, 1, 1);
	const uint32_t least = behind ? SHOWN_BYTES : 0, most = behind ? last : last - SHOWN_BYTES;
	const uint32_t few = most < SHOWN_BYTES ? most : SHOWN_BYTES - 1;
	const uint32_t at = (uint32_t)o2_draw_range(h->c, least, many ? few : most);
	const uint32_t end = many ? (uint32_t)o2_draw_range(h->c, at, most) : at;
	const uint8_t wrong = (uint8_t)(1u << o2_draw(h->c, 7));

	payload->expected = payload->byte[at];
	for (uint32_t i = at; i <= end; i++)
		payload->byte[i] ^= wrong;
	payload->is = payload->byte[at];
}

/*
 * From byte `at` on, continue with bytes of another place.  SHOWN_BYTES of them identify that place; the
 * bytes after the payload would continue there.
 */
static void shift(struct o2_hearing *h, struct payload *payload, uint64_t stream, uint64_t offset)
{
	const bool at_end = payload->bytes >= 2 * SHOWN_BYTES && o2_draw_bool(h->c, 1, 1);
	const uint32_t least = at_end ? payload->bytes - SHOWN_BYTES : SHOWN_BYTES;
	uint32_t at = (uint32_t)o2_draw_range(h->c, least, payload->bytes - 1);
	const uint64_t far = o2_draw_range(h->c, 1, INT32_MAX);
	uint8_t right[MOST_BYTES];

	memcpy(right, payload->byte, payload->bytes);
	o2_stream_fill(payload->byte + at, MOST_BYTES - at, h->options.seed, stream, offset + at + far);
	while (at < payload->bytes && payload->byte[at] == right[at])
		at++;
	if (at == payload->bytes) /* by chance no byte differs */
		payload->byte[--at] ^= 1;
	payload->is = payload->byte[at];
	payload->expected = right[at];
	if (payload->bytes - at < SHOWN_BYTES)
		return;
	payload->field = "place in its stream of payload[]";
	payload->is = offset + at + far;
	payload->expected = offset + at;
}

static uint32_t draw_bytes(struct o2_hearing *h, uint32_t most)
{
	return o2_draw_bool(h->c, 1, 1) ? (uint32_t)o2_draw_range(h->c, LEAST_BYTES, most) : LEAST_BYTES;
}

static uint32_t most_bytes(const struct o2_hearing *h)
{
	return o2_hearing_most_bytes(h) - 120;
}

static void make(struct o2_hearing *h, uint64_t stream, uint64_t offset, uint32_t most, bool broken,
		 struct payload *payload)
{
	payload->bytes = draw_bytes(h, most);
	payload->field = "payload[]";
	o2_stream_fill(payload->byte, payload->bytes, h->options.seed, stream, offset);
	if (broken && o2_draw_bool(h->c, 1, 1))
		shift(h, payload, stream, offset);
	else if (broken)
		spoil_bytes(h, payload);
	else if (o2_draw_bool(h->c, 3, 1)) /* correct rows one byte too short to identify */
		for (uint32_t at = SHOWN_BYTES - 1; at < payload->bytes; at += SHOWN_BYTES)
			payload->byte[at] ^= 0x80;
}

/* What a GET will read: the place, and its contents as bytes of a stream. */
struct place {
	bool routed; /* it is of a node behind the receiver */
	uint64_t match_bits;
	uint32_t offset, bytes; /* bytes: most bytes that the GET reads */
	uint64_t stream, stream_offset;
	/* The judge cannot know the contents: too many PUTs followed, or another may have written there. */
	bool forgotten;
};

static void aim(struct o2_lnet_hdr *hdr, uint64_t receiver, const struct place *place)
{
	hdr->dest_nid = receiver ^ place->routed;
	hdr->msg.put.ptl_index = PORTAL;
	hdr->msg.put.match_bits = place->match_bits;
	hdr->msg.put.offset = place->offset;
	hdr->msg.put.hdr_data = place->stream;
}

/* Build a PUT of these bytes into the place. */
static struct o2_msg put_into(struct o2_hearing *h, enum o2_judge_side from, const struct place *place,
			      const struct payload *payload)
{
	struct o2_msg msg = o2_fair_immediate(h, from, payload->bytes);

	aim(&msg.u.immediate.hdr, msg.ibm_dstnid, place);
	msg.u.immediate.payload = payload->byte;
	return msg;
}

/* Begin a PUT by RDMA into the place and leave it open.  NULL: there is no room for one. */
static struct o2_hearing_transfer *begin_put(struct o2_hearing *h, enum o2_judge_side from,
					     const struct place *place)
{
	struct o2_msg msg;
	struct o2_hearing_transfer *t = o2_fair_request(h, from, false, &msg);

	if (t == NULL)
		return NULL;
	t->routed = place->routed;
	aim(&msg.u.putreq.hdr, msg.ibm_dstnid, place);
	o2_hearing_message(h, from, &msg);
	return t;
}

/* The bytes of WRITEs in parts, as packets carry them; if broken, one of them is wrong. */
static void tell_parts(struct o2_hearing *h, const struct o2_hearing_transfer *t, struct payload *payload,
		       bool broken)
{
	const uint32_t wrong = broken ? (uint32_t)o2_draw_pick(h->c, payload->bytes) : payload->bytes;
	bool shown = false, said = !broken;
	uint32_t at = 0;

	if (broken)
		payload->byte[wrong] ^= 1;
	for (uint32_t i = 0, n; i < t->sink.rd_nfrags; i++)
		for (uint32_t in = 0; in < t->sink.rd_frags[i].rf_nob; in += n, at += n) {
			n = t->sink.rd_frags[i].rf_nob - in;
			if (o2_draw_bool(h->c, 1, 1))
				n = (uint32_t)o2_draw_range(h->c, 1, n);
			/* The longest row of correct bytes in this part. */
			if (wrong < at || wrong >= at + n)
				shown = shown || n >= SHOWN_BYTES;
			else
				shown = shown || wrong - at >= SHOWN_BYTES || at + n - wrong > SHOWN_BYTES;
			if (!said && shown && wrong < at + n) {
				o2_hearing_expect(h, O2_HEARING_BOTH, O2_JUDGE_PAYLOAD_PUT, t->asker,
						  t->number, "payload[]", payload->byte[wrong],
						  payload->byte[wrong] ^ 1u, O2_LIMIT_EXACT);
				said = true;
			}
			o2_hearing_tell(h, (struct o2_judge_event){.kind = O2_JUDGE_PART,
								   .from = t->asker,
								   .addr = t->sink.rd_frags[i].rf_addr + in,
								   .rkey = t->sink.rd_key,
								   .bytes = n,
								   .payload = payload->byte + at});
		}
}

static void put_by_rdma(struct o2_hearing *h, enum o2_judge_side from, bool broken)
{
	const struct place place = {.stream = 1 + o2_draw(h->c, UINT32_MAX)};
	struct o2_hearing_transfer *t = begin_put(h, from, &place);
	static struct payload payload; /* large */
	struct o2_msg msg;

	if (t == NULL)
		return;
	o2_fair_put_ack(h, t, &msg);
	o2_hearing_message(h, o2_hearing_other(from), &msg);
	if (t->followed && t->sink_bytes <= MOST_BYTES) {
		payload.bytes = (uint32_t)t->sink_bytes;
		o2_stream_fill(payload.byte, payload.bytes, h->options.seed, place.stream, 0);
		tell_parts(h, t, &payload, broken);
	}
	o2_fair_fill(h, t, 0);
	o2_fair_done(h, t, (int32_t)t->sink_bytes);
}

static void put(struct o2_hearing *h, bool broken)
{
	const enum o2_judge_side from = (enum o2_judge_side)o2_draw(h->c, 1);
	const struct place place = {.stream = 1 + o2_draw(h->c, UINT32_MAX)};
	static struct payload payload; /* large */
	struct o2_msg msg;

	if (o2_draw_bool(h->c, 3, 1)) {
		put_by_rdma(h, from, broken);
		return;
	}
	make(h, place.stream, 0, most_bytes(h), broken, &payload);
	msg = put_into(h, from, &place, &payload);
	if (broken)
		o2_hearing_expect(h, O2_HEARING_EVENT, O2_JUDGE_PAYLOAD_PUT, from, 0, payload.field,
				  payload.is, payload.expected, O2_LIMIT_EXACT);
	o2_hearing_message(h, from, &msg);
}

/* PUT correct bytes into the place; sometimes another PUT into the same place comes first. */
static void write_place(struct o2_hearing *h, enum o2_judge_side from, struct place *place)
{
	const uint32_t before = (uint32_t)o2_draw(h->c, 1);
	static struct payload payload; /* large */
	struct o2_msg msg;

	for (uint32_t i = 0; i <= before; i++) {
		place->stream = 1 + o2_draw(h->c, UINT32_MAX);
		payload.bytes = draw_bytes(h, most_bytes(h));
		o2_stream_fill(payload.byte, payload.bytes, h->options.seed, place->stream, 0);
		msg = put_into(h, from, place, &payload);
		o2_hearing_message(h, from, &msg);
	}
	place->bytes = payload.bytes;
}

/* PUT by RDMA into the place.  If the sink takes less, the bytes after that stay as they were. */
static void write_by_rdma(struct o2_hearing *h, enum o2_judge_side from, struct place *place)
{
	struct o2_hearing_transfer *t;
	struct o2_msg msg;

	place->stream = 1 + o2_draw(h->c, UINT32_MAX);
	t = begin_put(h, from, place);
	place->bytes = t == NULL ? 0 : (uint32_t)t->asked_bytes;
	if (t == NULL)
		return;
	place->forgotten = t->asked_bytes != t->sink_bytes;
	o2_fair_put_ack(h, t, &msg);
	o2_hearing_message(h, o2_hearing_other(from), &msg);
	o2_fair_fill(h, t, 0);
	o2_fair_done(h, t, (int32_t)t->sink_bytes);
	if (place->bytes > most_bytes(h))
		place->bytes = most_bytes(h);
}

/*
 * PUT into the place, then PUT `others` into other places; the judge remembers REMEMBERED PUTs, including the
 * first.  If the first is forgotten, no finding is possible.  False: the contents of the place are unknown.
 */
static bool write_first(struct o2_hearing *h, enum o2_judge_side from, bool broken, struct place *place)
{
	const uint32_t most = broken ? REMEMBERED - 1 : REMEMBERED + 1;
	const uint32_t others =
		(uint32_t)(o2_draw_bool(h->c, 2, 1) ? most - o2_draw(h->c, 2) : o2_draw(h->c, 3));
	static struct payload other = {.bytes = LEAST_BYTES};
	const struct o2_hearing_transfer *t = NULL;
	uint64_t cookie;
	uint32_t skip;

	if (!broken && o2_draw_bool(h->c, 3, 1))
		t = begin_put(h, from, place);
	cookie = t == NULL ? 0 : t->cookie;
	if (o2_draw_bool(h->c, 3, 1))
		write_by_rdma(h, from, place);
	else
		write_place(h, from, place);
	if (place->bytes < LEAST_BYTES || (broken && place->forgotten))
		return false;
	if (t != NULL && (!t->open || t->cookie != cookie))
		return false; /* the PUT has ended, before or after */
	place->forgotten = place->forgotten || t != NULL;
	if (!broken && o2_draw_bool(h->c, 7, 1)) {
		o2_hearing_lose(h, from);
		place->forgotten = true;
	}
	for (uint32_t i = 0; i < others; i++) {
		/* Next to the place on either side, with other match bits, or of another node. */
		struct place beside = *place;
		struct o2_msg msg;

		beside.stream = 0;
		beside.offset += i % 4 == 0 ? place->bytes : 0;
		beside.offset -= i % 4 == 1 ? other.bytes : 0;
		beside.match_bits ^= i % 4 == 2 ? UINT64_MAX : 0;
		beside.routed ^= i % 4 == 3;
		msg = put_into(h, from, &beside, &other);
		o2_hearing_message(h, from, &msg);
	}
	place->forgotten = place->forgotten || others >= REMEMBERED;
	if (!broken && o2_draw_bool(h->c, 7, 1)) {
		/* What is read begins before what the PUT wrote, and reaches into it. */
		skip = (uint32_t)o2_draw_range(h->c, 1, LEAST_BYTES - 1);
		place->offset -= skip;
		place->stream_offset = -(uint64_t)skip;
		place->forgotten = true;
		return true;
	}
	skip = (uint32_t)o2_draw(h->c, place->bytes - LEAST_BYTES);
	place->offset += skip;
	place->stream_offset = skip;
	place->bytes -= skip;
	return true;
}

/* A unique handle. */
static struct o2_lnet_handle handle(struct o2_hearing *h)
{
	return (struct o2_lnet_handle){UINT64_C(1) << 63 | PORTAL, ++h->next_cookie};
}

static struct o2_msg get_from(struct o2_hearing *h, enum o2_judge_side asker, const struct place *place,
			      const struct o2_lnet_handle *wanted, uint32_t bytes)
{
	struct o2_msg msg;

	o2_fair_ensure(h, o2_hearing_other(asker));
	o2_fair_ensure(h, asker);
	msg = o2_hearing_header(h, asker, O2_MSG_IMMEDIATE);
	msg.u.immediate.hdr.type = O2_LNET_GET;
	msg.u.immediate.hdr.dest_nid = msg.ibm_dstnid ^ place->routed;
	msg.u.immediate.hdr.msg.get.return_wmd = *wanted;
	msg.u.immediate.hdr.msg.get.ptl_index = PORTAL;
	msg.u.immediate.hdr.msg.get.match_bits = place->match_bits;
	msg.u.immediate.hdr.msg.get.src_offset = place->offset;
	msg.u.immediate.hdr.msg.get.sink_length = bytes;
	return msg;
}

static struct o2_msg reply_to(struct o2_hearing *h, enum o2_judge_side asker,
			      const struct o2_lnet_handle *wanted, const struct payload *payload)
{
	const enum o2_judge_side other = o2_hearing_other(asker);
	struct o2_msg msg;

	o2_fair_ensure(h, other);
	msg = o2_hearing_header(h, other, O2_MSG_IMMEDIATE);
	msg.u.immediate.hdr.type = O2_LNET_REPLY;
	msg.u.immediate.hdr.payload_length = payload->bytes;
	msg.u.immediate.hdr.msg.reply.dst_wmd = *wanted;
	msg.u.immediate.payload = payload->byte;
	return msg;
}

static void get(struct o2_hearing *h, bool broken)
{
	const enum o2_judge_side asker = (enum o2_judge_side)o2_draw(h->c, 1),
				 other = o2_hearing_other(asker);
	const struct o2_lnet_handle wanted = handle(h);
	/* The judge knows that nothing was PUT there if it heard and remembers everything. */
	bool known = h->whole && h->end[asker].puts <= REMEMBERED;
	struct place place = {.routed = o2_draw_bool(h->c, 3, 1),
			      .match_bits = h->next_cookie,
			      .offset = (uint32_t)o2_draw_range(h->c, LEAST_BYTES, INT32_MAX),
			      .bytes = most_bytes(h),
			      .stream = O2_STREAM_MEMORY};
	const bool disturbed = !broken && o2_draw_bool(h->c, 5, 1);
	static struct payload payload, other_bytes = {.bytes = LEAST_BYTES}; /* large */
	struct o2_msg msg;
	uint64_t number, writes;

	if (h->one_way)
		return;
	if (o2_draw_bool(h->c, 1, 1) || (broken && !known)) {
		writes = h->end[asker].writes;
		if (!write_first(h, asker, broken, &place))
			return;
		known = !place.forgotten;
		o2_fair_ensure(h, other);
		o2_fair_ensure(h, asker);
		/* A WRITE of a PUT that was not heard may have gone to the same place. */
		if (!h->whole && h->end[asker].writes != writes)
			return;
	} else {
		place.stream_offset = place.offset;
	}
	make(h, place.stream, place.stream_offset, place.bytes, broken || !known || disturbed, &payload);
	h->dishonest = h->dishonest || !known;
	/* The PUT wrote less than the GET reads: the rest is what was served there before. */
	if (place.forgotten)
		o2_stream_fill(payload.byte + payload.bytes - SHOWN_BYTES, SHOWN_BYTES, h->options.seed,
			       O2_STREAM_MEMORY, place.offset + payload.bytes - SHOWN_BYTES);
	msg = get_from(h, asker, &place, &wanted, payload.bytes);
	o2_hearing_message(h, asker, &msg);
	number = h->number;
	if (disturbed) {
		place.stream = 0;
		msg = put_into(h, asker, &place, &other_bytes);
		o2_hearing_message(h, asker, &msg);
	}
	msg = reply_to(h, asker, &wanted, &payload);
	if (broken)
		o2_hearing_expect(h, O2_HEARING_BOTH, O2_JUDGE_PAYLOAD_GET, other, number, payload.field,
				  payload.is, payload.expected, O2_LIMIT_EXACT);
	o2_hearing_message(h, other, &msg);
}

const struct o2_scene o2_scenes_payload[] = {
	{O2_JUDGE_PAYLOAD_PUT, put},
	{O2_JUDGE_PAYLOAD_GET, get},
};
