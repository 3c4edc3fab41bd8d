/* SPDX-License-Identifier: MIT */
#include "props/judge/fair.h"

#include <string.h>

#include "base/monotonic.h"

#define NO_HANDLE UINT64_MAX /* docs/wire.md: no answer is wanted */

/* --- credits --- */

static uint8_t draw_credits(struct o2_hearing *h, enum o2_judge_side from)
{
	const int64_t owed = o2_hearing_owed(h, from);

	if (owed <= 0)
		return 0;
	switch (o2_draw(h->c, 3)) {
	case 0:
		return 0;
	case 1:
		return (uint8_t)owed;
	default:
		return (uint8_t)o2_draw(h->c, (uint64_t)owed);
	}
}

static bool can_send(const struct o2_hearing *h, enum o2_judge_side side)
{
	return o2_hearing_credits(h, side) > (h->version == O2_MSG_VERSION_1 ? 1 : 0);
}

uint32_t o2_fair_mark(const struct o2_hearing *h)
{
	return h->depth < 3 ? 1 : (h->depth - 1) / 2;
}

void o2_fair_noop(struct o2_hearing *h, enum o2_judge_side from)
{
	struct o2_msg msg = o2_hearing_header(h, from, O2_MSG_NOOP);
	const int64_t owed = o2_hearing_owed(h, from);

	if (owed <= 0 || (h->version == O2_MSG_VERSION_1 && o2_hearing_credits(h, from) <= 0))
		return;
	if (owed < o2_fair_mark(h))
		o2_hearing_pass_ns(h, h->options.keepalive_ms * O2_NS_PER_MS);
	msg.ibm_credits = (uint8_t)owed;
	o2_hearing_message(h, from, &msg);
}

void o2_fair_settle(struct o2_hearing *h)
{
	o2_fair_finish(h);
	for (int i = 0; i < 4; i++)
		o2_fair_noop(h, i % 2 == 0 ? O2_JUDGE_A : O2_JUDGE_B);
}

void o2_fair_ensure(struct o2_hearing *h, enum o2_judge_side side)
{
	if (!can_send(h, side))
		o2_fair_noop(h, o2_hearing_other(side));
	if (!can_send(h, side))
		o2_fair_settle(h);
}

/* --- IMMEDIATEs --- */

static struct o2_lnet_handle handle_of(uint64_t handle)
{
	return handle == 0 ? (struct o2_lnet_handle){NO_HANDLE, NO_HANDLE}
			   : (struct o2_lnet_handle){handle >> 32, handle & UINT32_MAX};
}

struct o2_msg o2_fair_immediate(struct o2_hearing *h, enum o2_judge_side from, uint64_t bytes)
{
	struct o2_msg msg;

	o2_fair_ensure(h, from);
	msg = o2_hearing_header(h, from, O2_MSG_IMMEDIATE);
	msg.ibm_credits = draw_credits(h, from);
	msg.u.immediate.hdr.type = O2_LNET_PUT;
	msg.u.immediate.hdr.payload_length = (uint32_t)bytes;
	msg.u.immediate.hdr.msg.put.ack_wmd = handle_of(0);
	return msg;
}

static struct o2_hearing_promise *new_promise(struct o2_hearing *h, enum o2_judge_side asker, bool is_get,
					      uint64_t bytes)
{
	for (uint32_t i = 0; i < O2_HEARING_PROMISES; i++) {
		struct o2_hearing_promise *promise = &h->promise[i];

		if (promise->open)
			continue;
		/* Two handles may have either half in common. */
		*promise = (struct o2_hearing_promise){
			.open = true,
			.is_get = is_get,
			.heard = !h->deaf && !(h->one_way && asker != h->heard_side),
			.asker = asker,
			.handle = ++h->next_cookie << 32 | (0x80000000u + o2_draw(h->c, 3)),
			.number = h->number + 1,
			.bytes = bytes,
		};
		if (o2_draw_bool(h->c, 1, 1))
			promise->handle = promise->handle << 32 | promise->handle >> 32;
		return promise;
	}
	return NULL;
}

struct o2_hearing_promise *o2_fair_promise(struct o2_hearing *h, enum o2_judge_side asker, bool is_get)
{
	const uint64_t most = o2_hearing_most_bytes(h) - 121;
	const uint64_t bytes = o2_draw(h->c, most < 500 ? most : 500);
	struct o2_msg msg = o2_fair_immediate(h, asker, is_get ? 0 : bytes);
	struct o2_hearing_promise *promise = new_promise(h, asker, is_get, bytes);
	struct o2_lnet_hdr *hdr = &msg.u.immediate.hdr;

	if (promise == NULL)
		return NULL;
	if (is_get) {
		*hdr = (struct o2_lnet_hdr){.type = O2_LNET_GET};
		hdr->msg.get.return_wmd = handle_of(promise->handle);
		hdr->msg.get.sink_length = (uint32_t)bytes;
	} else {
		hdr->msg.put.ack_wmd = handle_of(promise->handle);
	}
	o2_hearing_message(h, asker, &msg);
	return promise;
}

struct o2_msg o2_fair_answer(struct o2_hearing *h, const struct o2_hearing_promise *promise, uint64_t bytes)
{
	struct o2_msg msg =
		o2_fair_immediate(h, o2_hearing_other(promise->asker), promise->is_get ? bytes : 0);
	struct o2_lnet_hdr *hdr = &msg.u.immediate.hdr;

	hdr->type = promise->is_get ? O2_LNET_REPLY : O2_LNET_ACK;
	if (promise->is_get) {
		hdr->msg.reply.dst_wmd = handle_of(promise->handle);
	} else {
		hdr->msg.ack.dst_wmd = handle_of(promise->handle);
		hdr->msg.ack.mlength = (uint32_t)bytes;
	}
	return msg;
}

static void keep_promise(struct o2_hearing *h)
{
	struct o2_hearing_promise *promise = &h->promise[o2_draw(h->c, O2_HEARING_PROMISES - 1)];
	struct o2_msg msg;

	for (uint32_t i = 0; i < O2_HEARING_TRANSFERS; i++)
		if (h->transfer[i].open && &h->promise[h->transfer[i].promise] == promise)
			return;
	if (!promise->open)
		return;
	msg = o2_fair_answer(h, promise, promise->exact ? promise->bytes : o2_draw(h->c, promise->bytes));
	o2_hearing_message(h, o2_hearing_other(promise->asker), &msg);
	promise->open = false;
}

/* --- transfers --- */

enum o2_judge_side o2_fair_writer(const struct o2_hearing_transfer *t)
{
	return t->is_get ? o2_hearing_other(t->asker) : t->asker;
}

/* Draw memory that no other descriptor has; often directly after the previous one, under the same key. */
static void draw_sink(struct o2_hearing *h, struct o2_rdma_desc *sink, uint64_t *sink_bytes)
{
	const uint32_t fit = (o2_hearing_most_bytes(h) - 136) / 12;
	uint32_t most = h->max_frags < O2_HEARING_FRAGS ? h->max_frags : O2_HEARING_FRAGS;

	most = most < fit ? most : fit;
	if (!h->one_key)
		h->next_key += (uint32_t)o2_draw(h->c, 1);
	sink->rd_key = h->next_key;
	sink->rd_nfrags = 1 + (uint32_t)o2_draw(h->c, most - 1);
	*sink_bytes = 0;
	for (uint32_t i = 0; i < sink->rd_nfrags; i++) {
		struct o2_rdma_frag *frag = &sink->rd_frags[i];

		frag->rf_nob = 1 + (uint32_t)(o2_draw_bool(h->c, 1, 1) ? o2_draw(h->c, 5000) : 1);
		h->next_addr += o2_draw_bool(h->c, 1, 1) ? o2_draw(h->c, 5000) : 0;
		frag->rf_addr = h->next_addr;
		h->next_addr += frag->rf_nob;
		*sink_bytes += frag->rf_nob;
	}
}

struct o2_hearing_transfer *o2_fair_request(struct o2_hearing *h, enum o2_judge_side asker, bool is_get,
					    struct o2_msg *msg)
{
	struct o2_hearing_transfer *t = NULL;
	struct o2_hearing_promise *promise = NULL;

	if (h->end[asker].unanswered >= h->depth)
		o2_fair_finish(h);
	o2_fair_ensure(h, asker);
	o2_hearing_renew(h, asker);
	for (uint32_t i = 0; i < O2_HEARING_TRANSFERS && t == NULL; i++)
		if (!h->transfer[i].open)
			t = &h->transfer[i];
	if (t == NULL)
		return NULL;
	*t = (struct o2_hearing_transfer){
		.open = true,
		.is_get = is_get,
		.described = is_get,
		.followed = !h->deaf && !(h->one_way && asker != h->heard_side),
		.asker = asker,
		.cookie = ++h->next_cookie,
		.number = h->number + 1,
		.time_ns = h->now_ns,
		.promise = O2_HEARING_PROMISES,
	};
	*msg = o2_hearing_header(h, asker, is_get ? O2_MSG_GET_REQ : O2_MSG_PUT_REQ);
	msg->ibm_credits = draw_credits(h, asker);
	draw_sink(h, &t->sink, &t->sink_bytes);
	t->asked_bytes = t->sink_bytes + o2_draw(h->c, 3);
	if (is_get) {
		msg->u.get.ibgm_cookie = t->cookie;
		msg->u.get.ibgm_rd = t->sink;
		msg->u.get.hdr.type = O2_LNET_GET;
		msg->u.get.hdr.msg.get.sink_length = (uint32_t)t->asked_bytes;
		return t;
	}
	if (o2_draw_bool(h->c, 1, 1))
		promise = new_promise(h, asker, false, t->asked_bytes);
	if (promise != NULL)
		t->promise = (uint32_t)(promise - h->promise);
	msg->u.putreq.ibprm_cookie = t->cookie;
	msg->u.putreq.hdr.type = O2_LNET_PUT;
	t->routed = o2_draw_bool(h->c, 3, 1);
	msg->u.putreq.hdr.dest_nid = msg->ibm_dstnid ^ t->routed;
	msg->u.putreq.hdr.payload_length = (uint32_t)t->asked_bytes;
	msg->u.putreq.hdr.msg.put.ack_wmd = handle_of(promise == NULL ? 0 : promise->handle);
	return t;
}

struct o2_hearing_transfer *o2_fair_begin(struct o2_hearing *h, enum o2_judge_side asker, bool is_get)
{
	struct o2_msg msg;
	struct o2_hearing_transfer *t = o2_fair_request(h, asker, is_get, &msg);

	if (t != NULL)
		o2_hearing_message(h, asker, &msg);
	return t;
}

void o2_fair_put_ack(struct o2_hearing *h, struct o2_hearing_transfer *t, struct o2_msg *msg)
{
	const enum o2_judge_side from = o2_hearing_other(t->asker);

	o2_hearing_renew(h, from);
	*msg = o2_hearing_header(h, from, O2_MSG_PUT_ACK);
	msg->ibm_credits = draw_credits(h, from);
	o2_hearing_expect_times(h);
	t->described = true;
	t->late = false;
	t->sink_cookie = ++h->next_cookie;
	t->number = h->number + 1;
	t->time_ns = h->now_ns;
	msg->u.putack.ibpam_src_cookie = t->cookie;
	msg->u.putack.ibpam_dst_cookie = t->sink_cookie;
	msg->u.putack.ibpam_rd = t->sink;
}

struct o2_hearing_transfer *o2_fair_open(struct o2_hearing *h)
{
	const bool is_get = o2_draw_bool(h->c, 1, 1);
	struct o2_hearing_transfer *t = o2_fair_begin(h, (enum o2_judge_side)o2_draw(h->c, 1), is_get);
	struct o2_msg msg;

	if (t == NULL || is_get)
		return t;
	o2_fair_put_ack(h, t, &msg);
	o2_hearing_message(h, o2_hearing_other(t->asker), &msg);
	return t;
}

static void write_next(struct o2_hearing *h, struct o2_hearing_transfer *t, uint64_t bytes)
{
	const struct o2_rdma_frag *frag = &t->sink.rd_frags[t->at_frag];

	o2_hearing_write(h, o2_fair_writer(t), t->sink.rd_key, frag->rf_addr + t->at_byte, bytes);
	t->written_bytes += bytes;
	t->at_byte += (uint32_t)bytes;
	if (t->at_byte == frag->rf_nob) {
		t->at_frag++;
		t->at_byte = 0;
	}
}

void o2_fair_fill(struct o2_hearing *h, struct o2_hearing_transfer *t, uint64_t leave)
{
	while (t->at_frag < t->sink.rd_nfrags && t->sink_bytes - t->written_bytes > leave) {
		const uint64_t room = t->sink.rd_frags[t->at_frag].rf_nob - t->at_byte;
		const uint64_t left = t->sink_bytes - t->written_bytes - leave;
		uint64_t bytes = room < left ? room : left;

		if (bytes > 1 && o2_draw_bool(h->c, 1, 1))
			bytes = 1 + o2_draw(h->c, bytes - 1);
		write_next(h, t, bytes);
	}
}

void o2_fair_done(struct o2_hearing *h, struct o2_hearing_transfer *t, int32_t status)
{
	const enum o2_judge_side from = o2_fair_writer(t);
	struct o2_msg msg = o2_hearing_header(h, from, t->is_get ? O2_MSG_GET_DONE : O2_MSG_PUT_DONE);

	msg.ibm_credits = draw_credits(h, from);
	msg.u.completion.ibcm_cookie = t->is_get ? t->cookie : t->sink_cookie;
	msg.u.completion.ibcm_status = status;
	o2_hearing_message(h, from, &msg);
	t->open = false;
	if (t->promise == O2_HEARING_PROMISES || status < 0 || !t->followed ||
	    (t->written_bytes != (uint32_t)status && !h->writes_unseen[from]) ||
	    t->sink_bytes != (uint32_t)status)
		return;
	h->promise[t->promise].exact = !t->routed;
	h->promise[t->promise].bytes = (uint32_t)status;
}

static void nak(struct o2_hearing *h, struct o2_hearing_transfer *t)
{
	const enum o2_judge_side from = o2_hearing_other(t->asker);
	struct o2_msg msg = o2_hearing_header(h, from, O2_MSG_PUT_NAK);

	msg.ibm_credits = draw_credits(h, from);
	msg.u.completion.ibcm_cookie = t->cookie;
	msg.u.completion.ibcm_status = -(int32_t)o2_draw(h->c, 100);
	o2_hearing_message(h, from, &msg);
	t->open = false;
}

void o2_fair_advance(struct o2_hearing *h, struct o2_hearing_transfer *t, bool whole)
{
	const bool full = t->at_frag == t->sink.rd_nfrags;
	struct o2_msg msg;

	if (!t->described && o2_draw_bool(h->c, 3, 1)) {
		nak(h, t);
	} else if (!t->described) {
		o2_fair_put_ack(h, t, &msg);
		o2_hearing_message(h, o2_hearing_other(t->asker), &msg);
	} else if (!full && !o2_draw_bool(h->c, 5, 1)) {
		const uint64_t room = t->sink.rd_frags[t->at_frag].rf_nob - t->at_byte;

		write_next(h, t, whole ? room : 1 + o2_draw(h->c, room - 1));
	} else if (o2_draw_bool(h->c, 5, 1) || (!full && !t->is_get)) {
		o2_fair_done(h, t, -1 - (int32_t)o2_draw(h->c, 100));
	} else {
		o2_fair_done(h, t, (int32_t)t->written_bytes);
	}
}

void o2_fair_finish(struct o2_hearing *h)
{
	for (uint32_t i = 0; i < O2_HEARING_TRANSFERS; i++)
		while (h->transfer[i].open)
			o2_fair_advance(h, &h->transfer[i], true);
}

/* --- any step --- */

static void step(struct o2_hearing *h)
{
	const enum o2_judge_side side = h->one_way ? h->heard_side : (enum o2_judge_side)o2_draw(h->c, 1);
	const uint64_t kind = o2_draw(h->c, 15);
	struct o2_hearing_transfer *t = &h->transfer[o2_draw(h->c, O2_HEARING_TRANSFERS - 1)];
	struct o2_msg msg;

	o2_hearing_pass_ns(h, o2_draw(h->c, 2 * O2_NS_PER_MS));
	if (kind < 2) {
		msg = o2_fair_immediate(h, side,
					o2_draw(h->c, h->end[o2_hearing_other(side)].max_msg_bytes - 120));
		o2_hearing_message(h, side, &msg);
	} else if (kind < 4) {
		o2_fair_begin(h, side, kind == 2);
	} else if (kind < 11) {
		if (t->open)
			o2_fair_advance(h, t, o2_draw_bool(h->c, 1, 1));
	} else if (kind == 11) {
		o2_fair_noop(h, side);
	} else if (kind == 12) {
		o2_fair_promise(h, side, o2_draw_bool(h->c, 1, 1));
	} else if (kind < 15) {
		keep_promise(h);
	} else {
		o2_hearing_pass_ns(h, o2_draw(h->c, h->options.timeout_ms / 8) * O2_NS_PER_MS);
	}
}

void o2_fair_steps(struct o2_hearing *h, uint32_t steps)
{
	while (steps-- > 0 && !h->report->failed && o2_choice_ok(h->c))
		step(h);
}
