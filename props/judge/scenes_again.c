/* SPDX-License-Identifier: MIT */
/*
 * Scenes of what comes before the message that it is for.  Where packets may be missing, that message may have been
 * missed when it came first: docs/judge.md, "What it cannot see".
 */
#include "props/judge/fair.h"
#include "props/judge/scenes.h"

/* A WRITE for no descriptor that was heard.  ended: number of the message that ended its memory's transfer; 0: none. */
static void write_stray(struct o2_hearing *h, enum o2_judge_side from, uint32_t rkey, uint64_t addr,
			uint64_t ended)
{
	o2_hearing_expect(h, O2_HEARING_WHOLE, ended == 0 ? O2_JUDGE_WRITE_KEY : O2_JUDGE_WRITE_ENDED, from,
			  ended, "rkey", rkey, O2_NO_LIMIT, O2_LIMIT_OTHER);
	o2_hearing_write(h, from, rkey, addr, 1);
}

static void answer_stray(struct o2_hearing *h, enum o2_judge_side from)
{
	struct o2_msg msg = o2_hearing_header(h, from, O2_MSG_GET_DONE);

	msg.u.completion.ibcm_cookie = ++h->next_cookie;
	o2_hearing_expect(h, O2_HEARING_WHOLE, O2_JUDGE_TRANSFER_UNASKED, from, 0, "cookie", h->next_cookie,
			  O2_NO_LIMIT, O2_LIMIT_OTHER);
	o2_hearing_message(h, from, &msg);
}

/* Does the judge hear the writer's WRITEs, and has it heard at most so many since the sink's last message? */
static bool can_stray(const struct o2_hearing *h, enum o2_judge_side writer, uint32_t most)
{
	return !h->one_way && !h->writes_unseen[writer] && h->end[o2_hearing_other(writer)].written <= most;
}

/* The first byte of the sink, or the one behind it. */
static uint64_t addr_of(const struct o2_hearing_transfer *t, bool second)
{
	const struct o2_rdma_frag *frag = t->sink.rd_frags;

	return !second ? frag->rf_addr : frag->rf_nob > 1 ? frag->rf_addr + 1 : frag[1].rf_addr;
}

/* A byte was written, or none; then write the rest. */
static void complete(struct o2_hearing *h, struct o2_hearing_transfer *t, bool begun)
{
	t->written_bytes = t->at_byte = begun;
	if (t->at_byte == t->sink.rd_frags[0].rf_nob) {
		t->at_frag = 1;
		t->at_byte = 0;
	}
	o2_fair_fill(h, t, 0);
	o2_fair_done(h, t, (int32_t)t->sink_bytes);
}

/*
 * A WRITE comes before the message that describes its memory.  That message may come again if the WRITE is to the first
 * byte, and follows its PUT_REQ.  Else the WRITE was not for it.
 */
static void early(struct o2_hearing *h, bool broken)
{
	const bool is_get = o2_draw_bool(h->c, 1, 1);
	struct o2_hearing_transfer *t, first;
	bool late, second, again;
	enum o2_judge_side writer;
	uint64_t ended = 0;
	struct o2_msg msg;

	h->next_key += 2;
	t = o2_fair_open(h);
	h->next_key += 2;
	if (t == NULL)
		return;
	writer = o2_fair_writer(t);
	o2_fair_done(h, t, -1);
	first = *t;
	first.number = h->number;
	t = o2_fair_request(h, is_get ? o2_hearing_other(writer) : writer, is_get, &msg);
	if (t == NULL)
		return;
	/* Often the memory is that of the transfer that has ended. */
	if (first.sink_bytes <= t->asked_bytes) {
		ended = first.number;
		t->sink = first.sink;
		t->sink_bytes = first.sink_bytes;
	}
	if (is_get)
		msg.u.get.ibgm_rd = t->sink;
	late = broken && !is_get && o2_draw_bool(h->c, 1, 1);
	second = broken && t->sink_bytes > 1 && (!late || o2_draw_bool(h->c, 1, 1));
	again = h->options.lossy && !late && !(second && h->whole);
	if (!can_stray(h, writer, O2_HEARING_STRAYS - 1) || (!broken && !again)) {
		o2_hearing_message(h, t->asker, &msg);
		return;
	}
	if (!is_get && !late)
		o2_hearing_message(h, writer, &msg);
	write_stray(h, writer, t->sink.rd_key, addr_of(t, second), ended);
	if (late)
		o2_hearing_message(h, writer, &msg);
	if (!is_get)
		o2_fair_put_ack(h, t, &msg);
	*h->early += !again && h->whole && h->options.lossy;
	t->number = h->number + 1;
	t->followed = !again;
	if (again)
		o2_hearing_message_again(h, o2_hearing_other(writer), &msg, false);
	else
		o2_hearing_message(h, o2_hearing_other(writer), &msg);
	complete(h, t, again && !second);
}

/* Two GET_REQs come again, one after the other: what was written for the second is not forgotten with the first. */
static void both(struct o2_hearing *h, bool broken)
{
	const enum o2_judge_side sink = (enum o2_judge_side)o2_draw(h->c, 1);
	struct o2_hearing_transfer *t[2];
	struct o2_msg msg[2];

	/* Both requests must find room: to make some, open transfers would end. */
	if (broken || !h->options.lossy || !can_stray(h, o2_hearing_other(sink), 0) ||
	    h->end[sink].answered > 0 || o2_hearing_credits(h, sink) < 3 ||
	    h->end[sink].unanswered + 2 > h->depth)
		return;
	for (int i = 0; i < 2; i++) {
		h->next_key += 2;
		t[i] = o2_fair_request(h, sink, true, &msg[i]);
		if (t[i] == NULL)
			break;
	}
	h->next_key += 2;
	if (t[0] == NULL)
		return;
	if (t[1] == NULL) {
		o2_hearing_message(h, sink, &msg[0]);
		return;
	}
	msg[1].ibm_credits = 0;
	for (int i = 0; i < 2; i++)
		write_stray(h, o2_hearing_other(sink), t[i]->sink.rd_key, addr_of(t[i], false), 0);
	for (int i = 0; i < 2; i++) {
		o2_hearing_message_again(h, sink, &msg[i], false);
		t[i]->followed = false;
	}
	for (int i = 0; i < 2; i++)
		complete(h, t[i], true);
}

/* Give back more credits than the judge can know to be owed. */
static void overpay(struct o2_hearing *h, enum o2_judge_side from, struct o2_msg *msg)
{
	const int64_t owed = o2_hearing_owed_most(h, from);

	h->anew = owed >= 0 && owed < h->depth;
	if (h->anew)
		msg->ibm_credits = (uint8_t)(owed + 1);
}

/*
 * WRITEs for other memory or answers to other requests come, and then a GET_REQ or PUT_ACK.  It is new: if fewer bytes
 * are written for it than are reported, this is found.  But where not all was heard, something that is not remembered
 * may have been for it; and what was, before a known loss, still may be.  Not so if it came before the PUT_REQ.
 */
static void strays(struct o2_hearing *h, bool broken)
{
	const enum o2_judge_side sink = (enum o2_judge_side)o2_draw(h->c, 1), writer = o2_hearing_other(sink);
	const bool is_get = o2_draw_bool(h->c, 1, 1), late = !is_get && o2_draw_bool(h->c, 1, 1);
	const bool lost = o2_draw_bool(h->c, 1, 1), answers = !lost && o2_draw_bool(h->c, 1, 1);
	uint64_t n = lost ? 1 : o2_draw(h->c, 1) + (o2_draw_bool(h->c, 1, 1) ? O2_HEARING_STRAYS : 1);
	struct o2_hearing_transfer *t;
	struct o2_msg request, msg;
	bool again;

	h->next_key += 2;
	t = o2_fair_request(h, is_get ? sink : writer, is_get, &request);
	h->next_key += 2;
	if (t == NULL)
		return;
	if (!can_stray(h, writer, 0) || h->end[sink].answered > 0) {
		o2_hearing_message(h, t->asker, &request);
		return;
	}
	h->dishonest = true;
	msg = request;
	if (!is_get)
		o2_fair_put_ack(h, t, &msg);
	if (!is_get && !late)
		o2_hearing_message(h, writer, &request);
	again = h->options.lossy && (lost ? !late : !h->whole && n > O2_HEARING_STRAYS && (answers || !late));
	for (; n > 0; n--) {
		if (answers)
			answer_stray(h, writer);
		else
			write_stray(h, writer, t->sink.rd_key + !lost, t->sink.rd_frags[0].rf_addr, 0);
	}
	if (lost)
		o2_hearing_lose(h, o2_draw_bool(h->c, 1, 1) ? sink : writer);
	if (late)
		o2_hearing_message(h, writer, &request);
	t->number = h->number + 1;
	t->followed = !again && (is_get || late || !lost);
	if (again && !answers)
		overpay(h, sink, &msg);
	if (again)
		o2_hearing_message_again(h, sink, &msg, answers);
	else
		o2_hearing_message(h, sink, &msg);
	if (broken && t->followed)
		o2_hearing_expect(h, O2_HEARING_BOTH, O2_JUDGE_TRANSFER_BYTES, writer, t->number,
				  "bytes written", 0, 1, O2_LIMIT_EXACT);
	o2_fair_done(h, t, broken && (is_get || t->followed) ? 1 : -5);
}

const struct o2_scene o2_scenes_again[] = {
	{O2_JUDGE_WRITE_KEY, early},
	{O2_JUDGE_TRANSFER_BYTES, strays},
	{O2_JUDGE_WRITE_ORDER, both},
};
