/* SPDX-License-Identifier: MIT */
/* Scenes about RDMA WRITEs: each broken one is one byte off. */
#include "props/judge/fair.h"
#include "props/judge/scenes.h"

/* Ended descriptors of a side that the judge still knows: docs/judge.md, "Captures". */
#define ENDED_KNOWN 32u

/* Open a transfer with a key of its own and no other memory next to its own. */
static struct o2_hearing_transfer *lone(struct o2_hearing *h)
{
	struct o2_hearing_transfer *t;

	h->next_key += 2;
	h->next_addr += 10000;
	t = o2_fair_open(h);
	h->next_key += 2;
	h->next_addr += 10000;
	return t;
}

static void expect_of(struct o2_hearing *h, const struct o2_hearing_transfer *t, enum o2_judge_rule_id rule,
		      const char *field, uint64_t value, uint64_t limit, enum o2_limit_kind kind)
{
	if (t->followed)
		o2_hearing_expect(h, O2_HEARING_BOTH, rule, o2_fair_writer(t), t->number, field, value, limit,
				  kind);
}

static uint64_t next_addr(const struct o2_hearing_transfer *t)
{
	return t->sink.rd_frags[t->at_frag].rf_addr + t->at_byte;
}

static void write_one(struct o2_hearing *h, struct o2_hearing_transfer *t, uint64_t addr)
{
	o2_hearing_write(h, o2_fair_writer(t), t->sink.rd_key, addr, 1);
	t->written_bytes++;
}

/* Write part of the sink. */
static void begin(struct o2_hearing *h, struct o2_hearing_transfer *t)
{
	if (t->sink_bytes > 1)
		o2_fair_fill(h, t, 1 + o2_draw(h->c, t->sink_bytes - 2));
}

static void key(struct o2_hearing *h, bool broken)
{
	struct o2_hearing_transfer *t = lone(h);
	enum o2_judge_side from;
	uint32_t rkey;

	if (t == NULL)
		return;
	if (!broken) {
		o2_fair_advance(h, t, false);
		return;
	}
	from = o2_fair_writer(t);
	rkey = t->sink.rd_key;
	/* A key never offered, or offered to the other side. */
	if (o2_draw_bool(h->c, 1, 1))
		rkey += o2_draw_bool(h->c, 1, 1) ? 1 : 0x80000000u;
	else
		from = o2_hearing_other(from);
	/* Sometimes more findings than can wait for a proof. */
	for (uint64_t times = o2_draw_bool(h->c, 7, 1) ? O2_HEARING_WAITING + 1 : 1; times > 0; times--) {
		o2_hearing_expect(h, O2_HEARING_WHOLE, O2_JUDGE_WRITE_KEY, from, 0, "rkey", rkey, O2_NO_LIMIT,
				  O2_LIMIT_OTHER);
		o2_hearing_write(h, from, rkey, next_addr(t), 1);
	}
}

/* Write to an ended descriptor after `others` more descriptors. */
static void ended_after(struct o2_hearing *h, uint32_t others)
{
	struct o2_hearing_transfer *t, *other;
	uint64_t number;
	enum o2_judge_side writer;
	bool followed;
	uint32_t rkey;

	o2_fair_finish(h);
	t = lone(h);
	if (t == NULL)
		return;
	number = h->number + 1;
	followed = t->followed;
	rkey = t->sink.rd_key;
	writer = o2_fair_writer(t);
	o2_fair_done(h, t, -1);
	for (uint32_t i = 0; i < others && !h->report->failed; i++) {
		h->next_key++;
		other = o2_fair_begin(h, o2_hearing_other(writer), true);
		if (other == NULL)
			return;
		o2_fair_done(h, other, -1);
	}
	if (followed && others < ENDED_KNOWN)
		o2_hearing_expect(h, O2_HEARING_WHOLE, O2_JUDGE_WRITE_ENDED, writer, number, "rkey", rkey,
				  O2_NO_LIMIT, O2_LIMIT_OTHER);
	else
		o2_hearing_expect(h, O2_HEARING_WHOLE, O2_JUDGE_WRITE_KEY, writer, 0, "rkey", rkey,
				  O2_NO_LIMIT, O2_LIMIT_OTHER);
	o2_hearing_write(h, writer, rkey, h->next_addr, 1);
}

static void ended(struct o2_hearing *h, bool broken)
{
	struct o2_hearing_transfer *t;

	if (broken) {
		ended_after(h, o2_draw_bool(h->c, 7, 1) ? ENDED_KNOWN - 1 + (uint32_t)o2_draw(h->c, 1)
							: (uint32_t)o2_draw(h->c, 2));
		return;
	}
	t = lone(h);
	if (t == NULL)
		return;
	o2_fair_fill(h, t, 0);
	o2_fair_done(h, t, (int32_t)t->sink_bytes);
}

static void outside(struct o2_hearing *h, bool broken)
{
	struct o2_hearing_transfer *t = lone(h);
	const struct o2_rdma_frag *frag;
	uint64_t addr, room;

	if (t == NULL)
		return;
	begin(h, t);
	frag = &t->sink.rd_frags[t->at_frag];
	room = frag->rf_nob - t->at_byte;
	if (broken && o2_draw_bool(h->c, 1, 1)) {
		frag = &t->sink.rd_frags[o2_draw_bool(h->c, 1, 1) ? 0 : t->sink.rd_nfrags - 1];
		addr = frag == &t->sink.rd_frags[0] && o2_draw_bool(h->c, 1, 1) ? frag->rf_addr - 1 : 0;
		frag = &t->sink.rd_frags[t->sink.rd_nfrags - 1];
		addr = addr != 0 ? addr : frag->rf_addr + frag->rf_nob;
		/* If not all was heard, the key may have been offered before for that memory. */
		if (h->whole)
			expect_of(h, t, O2_JUDGE_WRITE_OUTSIDE, "va", addr, O2_NO_LIMIT, O2_LIMIT_OTHER);
		write_one(h, t, addr);
	} else {
		if (broken)
			expect_of(h, t, O2_JUDGE_WRITE_OUTSIDE, "bytes", room + 1, room, O2_LIMIT_BOUND);
		o2_hearing_write(h, o2_fair_writer(t), t->sink.rd_key, next_addr(t), room + broken);
		t->written_bytes += room + broken;
		t->at_frag++;
		t->at_byte = 0;
	}
	/* The writes continue at the same place, or in the next fragment. */
	if (t->at_frag < t->sink.rd_nfrags && t->sink_bytes > t->written_bytes)
		write_one(h, t, next_addr(t));
	o2_fair_done(h, t, -5);
}

static void twice(struct o2_hearing *h, bool broken)
{
	struct o2_hearing_transfer *t = lone(h);
	const struct o2_rdma_frag *frag;
	uint64_t addr;

	if (t == NULL)
		return;
	begin(h, t);
	if (broken && t->written_bytes > 0) {
		frag = &t->sink.rd_frags[t->at_byte > 0 ? t->at_frag : t->at_frag - 1];
		addr = frag->rf_addr + (t->at_byte > 0 ? t->at_byte : frag->rf_nob) - 1;
		expect_of(h, t, O2_JUDGE_WRITE_TWICE, "va", addr, O2_NO_LIMIT, O2_LIMIT_OTHER);
		write_one(h, t, addr);
	}
	/* A repeated write does not move the place of the next one. */
	if (t->at_frag < t->sink.rd_nfrags)
		write_one(h, t, next_addr(t));
	o2_fair_done(h, t, -5);
}

static void order(struct o2_hearing *h, bool broken)
{
	struct o2_hearing_transfer *t = lone(h);
	uint64_t expected, addr;
	uint32_t left;

	if (t == NULL)
		return;
	begin(h, t);
	if (t->at_frag == t->sink.rd_nfrags)
		return;
	addr = expected = next_addr(t);
	left = t->sink.rd_frags[t->at_frag].rf_nob - t->at_byte;
	if (broken && t->at_frag + 1 < t->sink.rd_nfrags && (left == 1 || o2_draw_bool(h->c, 1, 1))) {
		t->at_byte = 0;
		addr = t->sink.rd_frags[++t->at_frag].rf_addr;
	} else if (broken && left > 1) {
		t->at_byte++;
		addr++;
	}
	if (addr != expected)
		expect_of(h, t, O2_JUDGE_WRITE_ORDER, "va", addr, expected, O2_LIMIT_EXACT);
	write_one(h, t, addr);
	/* The byte behind those left out was written. */
	if (addr == expected + 1 && left > 1 && o2_draw_bool(h->c, 1, 1)) {
		expect_of(h, t, O2_JUDGE_WRITE_TWICE, "va", expected, O2_NO_LIMIT, O2_LIMIT_OTHER);
		o2_hearing_write(h, o2_fair_writer(t), t->sink.rd_key, expected, 2);
	}
	/* The bytes left out may be written later, once.  The first finding makes room for the severer ones. */
	if (addr != expected && o2_draw_bool(h->c, 1, 1)) {
		write_one(h, t, expected);
		for (uint32_t times = O2_HEARING_WAITING; times > 0; times--) {
			expect_of(h, t, O2_JUDGE_WRITE_TWICE, "va", expected, O2_NO_LIMIT, O2_LIMIT_OTHER);
			write_one(h, t, expected);
		}
	}
	if (++t->at_byte == t->sink.rd_frags[t->at_frag].rf_nob) {
		t->at_frag++;
		t->at_byte = 0;
	}
	if (t->at_frag < t->sink.rd_nfrags)
		write_one(h, t, next_addr(t));
	o2_fair_done(h, t, -5);
}

static void announced(struct o2_hearing *h, bool broken)
{
	struct o2_hearing_transfer *t = lone(h);
	const bool known = t != NULL && t->followed && !h->one_way;
	uint32_t said;

	if (t == NULL)
		return;
	said = 1 + (broken ? 1 : 0);
	if (broken && o2_draw_bool(h->c, 1, 1))
		said = 0;
	if (broken)
		o2_hearing_expect(h, O2_HEARING_EVENT, O2_JUDGE_WRITE_ANNOUNCED, o2_fair_writer(t),
				  known ? t->number : 0, "bytes", 1, said, O2_LIMIT_EXACT);
	o2_hearing_tell(h, (struct o2_judge_event){.kind = O2_JUDGE_WRITE,
						   .from = o2_fair_writer(t),
						   .addr = next_addr(t),
						   .rkey = t->sink.rd_key,
						   .bytes = 1,
						   .announced_bytes = said});
	o2_fair_done(h, t, -5);
}

/* Change other's descriptor to the same key, with memory next to the first's, or sharing one byte with it. */
static void beside(struct o2_hearing *h, const struct o2_hearing_transfer *t,
		   struct o2_hearing_transfer *other, bool broken)
{
	const struct o2_rdma_frag *first = &t->sink.rd_frags[0], *last = first + t->sink.rd_nfrags - 1;
	const uint32_t bytes = 1 + (uint32_t)o2_draw(h->c, 99);

	struct o2_rdma_frag *frag = other->sink.rd_frags;

	other->sink = (struct o2_rdma_desc){.rd_key = t->sink.rd_key, .rd_nfrags = 1};
	other->sink_bytes = bytes;
	/* Sometimes another fragment, far away, comes first. */
	if (h->max_frags > 1 && o2_hearing_most_bytes(h) >= 160 && o2_draw_bool(h->c, 1, 1)) {
		*frag++ = (struct o2_rdma_frag){1, o2_draw_bool(h->c, 1, 1) ? first->rf_addr - 5000
									    : h->next_addr++};
		other->sink.rd_nfrags++;
		other->sink_bytes++;
	}
	*frag = (struct o2_rdma_frag){bytes, last->rf_addr + last->rf_nob - broken};
	if (o2_draw_bool(h->c, 1, 1))
		frag->rf_addr = first->rf_addr - bytes + broken;
	other->asked_bytes = 5000;
}

static void in_use(struct o2_hearing *h, bool broken)
{
	struct o2_hearing_transfer *t = lone(h), *other;
	const bool is_get = o2_draw_bool(h->c, 1, 1);
	enum o2_judge_side sink;
	struct o2_msg msg;

	if (t == NULL)
		return;
	sink = o2_hearing_other(o2_fair_writer(t));
	other = o2_fair_request(h, is_get ? sink : o2_hearing_other(sink), is_get, &msg);
	if (other == NULL)
		return;
	if (!t->open || other == t) {
		/* The first transfer had to end, so that another one can begin. */
		o2_hearing_message(h, other->asker, &msg);
		return;
	}
	beside(h, t, other, broken);
	if (is_get) {
		msg.u.get.ibgm_rd = other->sink;
		msg.u.get.hdr.msg.get.sink_length = 5000;
	} else {
		msg.u.putreq.hdr.payload_length = 5000;
		if (other->promise != O2_HEARING_PROMISES)
			h->promise[other->promise].bytes = 5000;
		o2_hearing_message(h, other->asker, &msg);
		o2_fair_put_ack(h, other, &msg);
	}
	if (broken && t->followed)
		o2_hearing_expect(h, O2_HEARING_BOTH, O2_JUDGE_KEY_IN_USE, sink, t->number, "rd_key",
				  t->sink.rd_key, O2_NO_LIMIT, O2_LIMIT_OTHER);
	o2_hearing_message(h, sink, &msg);
	o2_fair_done(h, t, -5);
	o2_fair_done(h, other, -5);
}

const struct o2_scene o2_scenes_write[] = {
	{O2_JUDGE_WRITE_KEY, key},     {O2_JUDGE_WRITE_ENDED, ended}, {O2_JUDGE_WRITE_OUTSIDE, outside},
	{O2_JUDGE_WRITE_TWICE, twice}, {O2_JUDGE_WRITE_ORDER, order}, {O2_JUDGE_WRITE_ANNOUNCED, announced},
	{O2_JUDGE_KEY_IN_USE, in_use},
};
