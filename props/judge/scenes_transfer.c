/* SPDX-License-Identifier: MIT */
/* Scenes about transfers: which message answers which, descriptors, and the status at the end. */
#include "base/monotonic.h"
#include "props/judge/fair.h"
#include "props/judge/scenes.h"

/* Messages of a side awaiting LNet's answer that the judge remembers: docs/judge.md, "Captures". */
#define PROMISES_KNOWN 64u

/* Predict a finding that needs the whole transfer to have been heard. */
static void expect_of(struct o2_hearing *h, const struct o2_hearing_transfer *t, enum o2_judge_rule_id rule,
		      enum o2_judge_side who, const char *field, uint64_t value, uint64_t limit,
		      enum o2_limit_kind kind)
{
	if (t->followed)
		o2_hearing_expect(h, O2_HEARING_BOTH, rule, who, t->number, field, value, limit, kind);
}

static enum o2_judge_side draw_side(struct o2_hearing *h)
{
	return (enum o2_judge_side)o2_draw(h->c, 1);
}

/* Begin a PUT or a GET of either side. */
static struct o2_hearing_transfer *begin_any(struct o2_hearing *h)
{
	const enum o2_judge_side asker = draw_side(h);

	return o2_fair_begin(h, asker, o2_draw_bool(h->c, 1, 1));
}

/* Two requests with one cookie, or two sinks with one cookie. */
static void cookie_reused(struct o2_hearing *h, bool broken)
{
	const enum o2_judge_side asker = draw_side(h), sink = o2_hearing_other(asker);
	const bool of_sink = o2_draw_bool(h->c, 1, 1);
	struct o2_hearing_transfer *first, *again;
	uint64_t cookie, sink_cookie;
	struct o2_msg msg;

	o2_fair_settle(h);
	first = o2_fair_begin(h, asker, !of_sink && o2_draw_bool(h->c, 1, 1));
	if (of_sink) {
		o2_fair_put_ack(h, first, &msg);
		o2_hearing_message(h, sink, &msg);
	}
	cookie = first->cookie;
	sink_cookie = first->sink_cookie;
	if (!broken && !first->described)
		o2_fair_advance(h, first, true);
	if (!broken && first->open)
		o2_fair_done(h, first, -1);
	again = o2_fair_request(h, asker, !of_sink && o2_draw_bool(h->c, 1, 1), &msg);
	/* The first transfer may have had to end, so that another one can begin. */
	broken = broken && first->open && again != first;
	h->over = broken;
	if (of_sink) {
		o2_hearing_message(h, asker, &msg);
		if (broken)
			expect_of(h, again, O2_JUDGE_TRANSFER_COOKIE_REUSED, sink, "ibpam_dst_cookie",
				  sink_cookie, O2_NO_LIMIT, O2_LIMIT_OTHER);
		o2_fair_put_ack(h, again, &msg);
		again->sink_cookie = msg.u.putack.ibpam_dst_cookie = sink_cookie;
		o2_hearing_message(h, sink, &msg);
		return;
	}
	again->cookie = cookie;
	*(again->is_get ? &msg.u.get.ibgm_cookie : &msg.u.putreq.ibprm_cookie) = cookie;
	if (broken) {
		expect_of(h, first, O2_JUDGE_TRANSFER_COOKIE_REUSED, asker, "cookie", first->cookie,
			  O2_NO_LIMIT, O2_LIMIT_OTHER);
		first->open = false;
	}
	o2_hearing_message(h, asker, &msg);
}

/* Build an answer of any type for a cookie. */
static struct o2_msg answer(struct o2_hearing *h, enum o2_judge_side from, enum o2_msg_type type,
			    uint64_t cookie)
{
	struct o2_msg msg = o2_hearing_header(h, from, type);

	if (type != O2_MSG_PUT_ACK) {
		msg.u.completion.ibcm_cookie = cookie;
		return msg;
	}
	msg.u.putack.ibpam_src_cookie = cookie;
	msg.u.putack.ibpam_dst_cookie = ++h->next_cookie;
	msg.u.putack.ibpam_rd.rd_nfrags = 1;
	msg.u.putack.ibpam_rd.rd_frags[0].rf_nob = 1;
	return msg;
}

/* An answer to a request that was never sent, that the same side sent itself, or whose transfer is over. */
static void unasked(struct o2_hearing *h, bool broken)
{
	static const enum o2_msg_type types[] = {O2_MSG_PUT_NAK, O2_MSG_GET_DONE, O2_MSG_PUT_DONE,
						 O2_MSG_PUT_ACK};
	const enum o2_msg_type type = types[o2_draw(h->c, 3)];
	struct o2_hearing_transfer *t;
	enum o2_judge_side from;
	struct o2_msg msg;
	uint64_t cookie;

	t = begin_any(h);
	if (t == NULL)
		return;
	from = t->asker;
	cookie = t->cookie;
	if (!broken || o2_draw_bool(h->c, 1, 1)) {
		from = o2_hearing_other(t->asker);
		while (t->open)
			o2_fair_advance(h, t, true);
		if (type == O2_MSG_PUT_DONE && !t->is_get && t->described) {
			from = t->asker;
			cookie = t->sink_cookie;
		}
	}
	if (!broken)
		return;
	msg = answer(h, from, type, cookie);
	o2_hearing_expect(h, O2_HEARING_WHOLE, O2_JUDGE_TRANSFER_UNASKED, from, 0, "cookie", cookie,
			  O2_NO_LIMIT, O2_LIMIT_OTHER);
	o2_hearing_message(h, from, &msg);
}

/* The wrong answer: PUT_ACK or PUT_NAK for a GET, GET_DONE for a PUT, or an answer after the PUT_ACK. */
static void kind(struct o2_hearing *h, bool broken)
{
	const bool is_get = o2_draw_bool(h->c, 1, 1);
	struct o2_hearing_transfer *t = o2_fair_begin(h, draw_side(h), is_get);
	enum o2_msg_type type = o2_draw_bool(h->c, 1, 1) ? O2_MSG_PUT_NAK : O2_MSG_PUT_ACK;
	enum o2_judge_side from;
	struct o2_msg msg;

	if (t == NULL)
		return;
	from = o2_hearing_other(t->asker);
	if (!is_get && o2_draw_bool(h->c, 1, 1)) {
		o2_fair_put_ack(h, t, &msg);
		o2_hearing_message(h, from, &msg);
	} else if (!is_get) {
		type = O2_MSG_GET_DONE;
	}
	if (broken) {
		expect_of(h, t, O2_JUDGE_TRANSFER_KIND, from, "ibm_type", type, O2_NO_LIMIT, O2_LIMIT_OTHER);
		msg = answer(h, from, type, t->cookie);
		o2_hearing_message(h, from, &msg);
	}
	o2_fair_advance(h, t, true);
}

/* Send a GET_REQ or a PUT_ACK with another descriptor: fragments of one byte each. */
static void describe(struct o2_hearing *h, uint32_t nfrags, uint64_t asked_bytes, bool frags)
{
	const bool is_get = o2_draw_bool(h->c, 1, 1);
	struct o2_hearing_transfer *t;
	struct o2_msg msg;
	enum o2_judge_side sink;

	if (136 + 12 * nfrags > o2_hearing_most_bytes(h))
		return;
	t = o2_fair_request(h, draw_side(h), is_get, &msg);
	if (t == NULL)
		return;
	sink = is_get ? t->asker : o2_hearing_other(t->asker);
	t->asked_bytes = asked_bytes;
	t->sink.rd_key = ++h->next_key;
	h->next_key++;
	t->sink.rd_nfrags = nfrags;
	t->sink_bytes = nfrags;
	for (uint32_t i = 0; i < nfrags; i++)
		t->sink.rd_frags[i] = (struct o2_rdma_frag){1, h->next_addr++};
	if (is_get) {
		msg.u.get.hdr.msg.get.sink_length = (uint32_t)asked_bytes;
		msg.u.get.ibgm_rd = t->sink;
	} else {
		msg.u.putreq.hdr.payload_length = (uint32_t)asked_bytes;
		if (t->promise != O2_HEARING_PROMISES)
			h->promise[t->promise].bytes = asked_bytes;
		o2_hearing_message(h, t->asker, &msg);
		o2_fair_put_ack(h, t, &msg);
	}
	if (frags && nfrags > h->max_frags && (is_get || (!h->one_way && t->followed)))
		o2_hearing_expect(h, O2_HEARING_TERMS, O2_JUDGE_TRANSFER_FRAGS, sink, t->number, "rd_nfrags",
				  nfrags, h->max_frags, O2_LIMIT_BOUND);
	if (nfrags > asked_bytes && (is_get || (!h->one_way && t->followed)))
		o2_hearing_expect(h, O2_HEARING_EVENT, O2_JUDGE_TRANSFER_SINK, sink, t->number,
				  "rd_frags[].rf_nob", nfrags, asked_bytes, O2_LIMIT_BOUND);
	o2_hearing_message(h, sink, &msg);
}

static void frags(struct o2_hearing *h, bool broken)
{
	describe(h, h->max_frags + broken, 300, true);
}

static void sink(struct o2_hearing *h, bool broken)
{
	const uint32_t most = h->max_frags < 20 ? h->max_frags : 20;
	const uint32_t nfrags = 1 + (uint32_t)o2_draw(h->c, most - 1);

	describe(h, nfrags, nfrags - broken, false);
}

/* The status equals the bytes written, but is less than a PUT's sink, or more than a GET's. */
static void status(struct o2_hearing *h, bool broken)
{
	struct o2_hearing_transfer *t = o2_fair_open(h);
	const struct o2_rdma_frag *first;

	if (t == NULL)
		return;
	first = &t->sink.rd_frags[0];
	if (!t->is_get) {
		o2_fair_fill(h, t, broken);
		if (broken)
			expect_of(h, t, O2_JUDGE_TRANSFER_STATUS, t->asker, "ibcm_status", t->sink_bytes - 1,
				  t->sink_bytes, O2_LIMIT_EXACT);
		o2_fair_done(h, t, (int32_t)t->written_bytes);
		return;
	}
	o2_fair_fill(h, t, broken ? 0 : o2_draw(h->c, 1));
	if (broken) {
		expect_of(h, t, O2_JUDGE_WRITE_TWICE, o2_fair_writer(t), "va", first->rf_addr, O2_NO_LIMIT,
			  O2_LIMIT_OTHER);
		o2_hearing_write(h, o2_fair_writer(t), t->sink.rd_key, first->rf_addr, 1);
		t->written_bytes++;
		expect_of(h, t, O2_JUDGE_TRANSFER_STATUS, o2_fair_writer(t), "ibcm_status", t->sink_bytes + 1,
			  t->sink_bytes, O2_LIMIT_BOUND);
	}
	o2_fair_done(h, t, (int32_t)t->written_bytes);
}

/* The largest errno, or one more; or a PUT_NAK with status 0, or 1. */
static void failure(struct o2_hearing *h, bool broken)
{
	const enum o2_judge_side asker = draw_side(h), sink = o2_hearing_other(asker);
	struct o2_hearing_transfer *t;
	struct o2_msg msg;

	if (o2_draw_bool(h->c, 1, 1)) {
		t = o2_fair_open(h);
		if (t == NULL)
			return;
		if (broken)
			expect_of(h, t, O2_JUDGE_TRANSFER_ERRNO, o2_fair_writer(t), "-ibcm_status", 4096,
				  4095, O2_LIMIT_BOUND);
		o2_fair_done(h, t, -4095 - broken);
		return;
	}
	t = o2_fair_begin(h, asker, false);
	if (t == NULL)
		return;
	if (broken)
		expect_of(h, t, O2_JUDGE_TRANSFER_ERRNO, sink, "ibcm_status", 1, O2_NO_LIMIT, O2_LIMIT_OTHER);
	msg = o2_hearing_header(h, sink, O2_MSG_PUT_NAK);
	msg.u.completion.ibcm_cookie = t->cookie;
	msg.u.completion.ibcm_status = broken;
	o2_hearing_message(h, sink, &msg);
	t->open = false;
}

static void bytes(struct o2_hearing *h, bool broken)
{
	struct o2_hearing_transfer *t = o2_fair_open(h);
	const bool fewer = o2_draw_bool(h->c, 1, 1);

	if (t == NULL)
		return;
	if (!broken) {
		o2_fair_fill(h, t, o2_draw(h->c, 1));
		o2_fair_done(h, t,
			     t->written_bytes < t->sink_bytes && !t->is_get ? -5 : (int32_t)t->written_bytes);
		return;
	}
	o2_fair_fill(h, t, fewer);
	if (h->writes_unseen[o2_fair_writer(t)]) {
		/* The bytes written are unknown; those described are known. */
		if (!fewer && !t->is_get)
			expect_of(h, t, O2_JUDGE_TRANSFER_STATUS, t->asker, "ibcm_status", t->sink_bytes - 1,
				  t->sink_bytes, O2_LIMIT_EXACT);
		o2_fair_done(h, t, (int32_t)(fewer ? t->sink_bytes : t->sink_bytes - 1));
		return;
	}
	expect_of(h, t, O2_JUDGE_TRANSFER_BYTES, o2_fair_writer(t), "bytes written", t->written_bytes,
		  fewer ? t->sink_bytes : t->sink_bytes - 1, O2_LIMIT_EXACT);
	o2_fair_done(h, t, (int32_t)(fewer ? t->sink_bytes : t->sink_bytes - 1));
}

/* The answer comes in the last nanosecond that is in time, or one later; a PUT_ACK restarts the time. */
static void unanswered(struct o2_hearing *h, bool broken)
{
	const uint64_t last_ns = (h->options.timeout_ms + 1) * O2_NS_PER_MS - 1;
	struct o2_hearing_transfer *t;

	o2_fair_settle(h);
	t = begin_any(h);
	if (o2_draw_bool(h->c, 1, 1))
		begin_any(h);
	while (t->open && !h->report->failed) {
		o2_hearing_pass_ns(h, last_ns + broken);
		o2_fair_advance(h, t, true);
		broken = broken && o2_draw_bool(h->c, 1, 1);
	}
}

/* Send more messages that ask LNet for an answer.  Returns whether earlier ones are still remembered. */
static bool more_promises(struct o2_hearing *h, enum o2_judge_side asker, uint32_t count)
{
	for (uint32_t i = 0; i < count && !h->report->failed; i++) {
		struct o2_msg msg = o2_fair_immediate(h, asker, 0);

		msg.u.immediate.hdr.msg.put.ack_wmd = (struct o2_lnet_handle){1, ++h->next_cookie};
		o2_hearing_message(h, asker, &msg);
	}
	return count < PROMISES_KNOWN;
}

/* The length in LNet's ACK: for an IMMEDIATE at most its payload, for a PUT by RDMA exactly the bytes moved. */
static void ack(struct o2_hearing *h, bool broken)
{
	struct o2_hearing_promise *promise = NULL;
	struct o2_hearing_transfer *t;
	struct o2_msg msg;
	bool known = true;
	uint64_t said;

	if (o2_draw_bool(h->c, 1, 1)) {
		promise = o2_fair_promise(h, draw_side(h), false);
	} else {
		t = o2_fair_open(h);
		if (t != NULL && t->promise != O2_HEARING_PROMISES) {
			promise = &h->promise[t->promise];
			o2_fair_fill(h, t, 0);
			o2_fair_done(h, t, o2_draw_bool(h->c, 3, 1) ? -1 : (int32_t)t->sink_bytes);
		}
	}
	if (promise == NULL || !promise->open)
		return;
	if (o2_draw_bool(h->c, 15, 1))
		known = more_promises(h, promise->asker, PROMISES_KNOWN - 1 + (uint32_t)o2_draw(h->c, 1));
	said = promise->bytes;
	if (broken)
		said = promise->exact && o2_draw_bool(h->c, 1, 1) ? said - 1 : said + 1;
	msg = o2_fair_answer(h, promise, said);
	promise->open = false;
	if (broken && promise->heard && known)
		o2_hearing_expect(h, O2_HEARING_WHOLE, O2_JUDGE_LNET_ACK, o2_hearing_other(promise->asker),
				  promise->number, "hdr.msg.ack.mlength", said, promise->bytes,
				  promise->exact ? O2_LIMIT_EXACT : O2_LIMIT_BOUND);
	o2_hearing_message(h, o2_hearing_other(promise->asker), &msg);
	/* The promise is kept: another answer does not belong to it. */
	h->dishonest = true;
	msg = o2_fair_answer(h, promise, promise->bytes + 1);
	o2_hearing_message(h, o2_hearing_other(promise->asker), &msg);
}

static void reply(struct o2_hearing *h, bool broken)
{
	struct o2_hearing_promise *promise = o2_fair_promise(h, draw_side(h), true);
	struct o2_msg msg;

	if (promise == NULL)
		return;
	msg = o2_fair_answer(h, promise, promise->bytes + broken);
	promise->open = false;
	if (broken && promise->heard)
		o2_hearing_expect(h, O2_HEARING_WHOLE, O2_JUDGE_LNET_REPLY, o2_hearing_other(promise->asker),
				  promise->number, "hdr.payload_length", promise->bytes + 1, promise->bytes,
				  O2_LIMIT_BOUND);
	o2_hearing_message(h, o2_hearing_other(promise->asker), &msg);
}

/* An ACK with the handle that means that no answer is wanted; each half of the handle must say so. */
static void unwanted(struct o2_hearing *h, bool broken)
{
	const struct o2_hearing_promise nobody = {.asker = draw_side(h)};
	struct o2_msg msg = o2_fair_answer(h, &nobody, o2_draw(h->c, 500));
	struct o2_lnet_handle *handle = &msg.u.immediate.hdr.msg.ack.dst_wmd;
	const uint64_t none = UINT64_MAX;

	*handle = (struct o2_lnet_handle){none, none};
	if (!broken && o2_draw_bool(h->c, 1, 1))
		handle->wh_interface_cookie--;
	else if (!broken)
		handle->wh_object_cookie--;
	if (broken)
		o2_hearing_expect(h, O2_HEARING_EVENT, O2_JUDGE_LNET_UNASKED, o2_hearing_other(nobody.asker),
				  0, "hdr.msg.ack.dst_wmd", none, none - 1, O2_LIMIT_BOUND);
	o2_hearing_message(h, o2_hearing_other(nobody.asker), &msg);
}

const struct o2_scene o2_scenes_transfer[] = {
	{O2_JUDGE_TRANSFER_COOKIE_REUSED, cookie_reused},
	{O2_JUDGE_TRANSFER_UNASKED, unasked},
	{O2_JUDGE_TRANSFER_KIND, kind},
	{O2_JUDGE_TRANSFER_FRAGS, frags},
	{O2_JUDGE_TRANSFER_SINK, sink},
	{O2_JUDGE_TRANSFER_STATUS, status},
	{O2_JUDGE_TRANSFER_ERRNO, failure},
	{O2_JUDGE_TRANSFER_BYTES, bytes},
	{O2_JUDGE_TRANSFER_UNANSWERED, unanswered},
	{O2_JUDGE_LNET_ACK, ack},
	{O2_JUDGE_LNET_REPLY, reply},
	{O2_JUDGE_LNET_UNASKED, unwanted},
};
