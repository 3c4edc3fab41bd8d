/* SPDX-License-Identifier: MIT */
/* The judge's own limits: transfers that it follows, fragments that it compares, memory that it gets. */
#include <inttypes.h>

#include "props/judge/fair.h"
#include "props/judge/scenes.h"

/* docs/judge.md, "Captures". */
#define SIDE_TRANSFERS 512u
#define TRANSFERS      4096u
#define PAIRS	       4096u

static void check_open(struct o2_hearing *h, enum o2_judge_side side, uint32_t expected)
{
	const uint32_t open = o2_judge_view(h->conn).open[side];

	if (open != expected)
		o2_report_fail(h->report, "verdicts/view/followed", "%" PRIu32 " followed, expected %" PRIu32,
			       open, expected);
}

/* Send a GET of one byte, and a message of the other side that returns its credit. */
static void ask(struct o2_hearing *h, enum o2_judge_side asker)
{
	struct o2_msg msg = o2_hearing_header(h, asker, O2_MSG_GET_REQ);

	msg.ibm_credits = o2_hearing_owed(h, asker) > 0;
	msg.u.get.ibgm_cookie = ++h->next_cookie;
	msg.u.get.hdr.type = O2_LNET_GET;
	msg.u.get.hdr.msg.get.sink_length = 1;
	msg.u.get.ibgm_rd.rd_key = ++h->next_key;
	msg.u.get.ibgm_rd.rd_nfrags = 1;
	msg.u.get.ibgm_rd.rd_frags[0] = (struct o2_rdma_frag){1, h->next_addr};
	o2_hearing_message(h, asker, &msg);
	msg = o2_hearing_header(h, o2_hearing_other(asker), O2_MSG_IMMEDIATE);
	msg.ibm_credits = 1;
	o2_hearing_message(h, o2_hearing_other(asker), &msg);
}

void o2_scene_many(struct o2_hearing *h)
{
	const uint32_t conns = o2_draw_bool(h->c, 1, 1) ? TRANSFERS / SIDE_TRANSFERS + 1 : 1;
	enum o2_judge_side asker = O2_JUDGE_A;

	h->over = true;
	h->knows_terms = false;
	h->scene = "more transfers than are followed";
	o2_hearing_part(h);
	for (uint32_t i = 0; i < conns && !h->report->failed; i++) {
		asker = (enum o2_judge_side)o2_draw(h->c, 1);
		if (!o2_hearing_meet(h, O2_JUDGE_LATER))
			return;
		for (uint32_t open = 0; open < SIDE_TRANSFERS && i * SIDE_TRANSFERS < TRANSFERS; open++)
			ask(h, asker);
		check_open(h, asker, i * SIDE_TRANSFERS < TRANSFERS ? SIDE_TRANSFERS : 0);
	}
	ask(h, asker);
	check_open(h, asker, 0);
	ask(h, asker);
	check_open(h, asker, conns == 1 ? 1 : 0);
}

void o2_scene_no_memory(struct o2_hearing *h)
{
	struct o2_hearing_transfer *t;
	enum o2_judge_side asker;
	struct o2_msg msg;

	h->scene = "no memory";
	if (h->fail_allocation == NULL || h->one_way)
		return;
	asker = (enum o2_judge_side)o2_draw(h->c, 1);
	t = o2_fair_request(h, asker, o2_draw_bool(h->c, 1, 1), &msg);
	if (t == NULL)
		return;
	if (!t->is_get && o2_draw_bool(h->c, 1, 1)) {
		o2_hearing_message(h, t->asker, &msg);
		o2_fair_put_ack(h, t, &msg);
		h->fail_nth = t->followed;
		o2_hearing_message(h, o2_hearing_other(t->asker), &msg);
	} else {
		h->fail_nth = 1 + (t->is_get ? (uint32_t)o2_draw(h->c, 1) : 0);
		o2_hearing_message(h, t->asker, &msg);
	}
	h->over = true;
}

void o2_scene_wide(struct o2_hearing *h)
{
	uint32_t nfrags[2] = {64 + (uint32_t)o2_draw(h->c, 1), 64 + (uint32_t)o2_draw(h->c, 1)};
	uint64_t number = 0;

	h->over = true;
	h->scene = "many fragments under one key";
	h->max_frags = 65;
	h->end[O2_JUDGE_A].max_msg_bytes = h->end[O2_JUDGE_B].max_msg_bytes = 4096;
	h->knows_terms = false;
	o2_hearing_part(h);
	if (!o2_hearing_meet(h, O2_JUDGE_LATER))
		return;
	for (int i = 0; i < 2; i++) {
		struct o2_msg msg = o2_hearing_header(h, O2_JUDGE_A, O2_MSG_GET_REQ);
		struct o2_rdma_desc *desc = &msg.u.get.ibgm_rd;

		msg.u.get.ibgm_cookie = ++h->next_cookie;
		msg.u.get.hdr.type = O2_LNET_GET;
		msg.u.get.hdr.msg.get.sink_length = 130;
		desc->rd_key = h->next_key;
		desc->rd_nfrags = nfrags[i];
		for (uint32_t k = 0; k < nfrags[i]; k++)
			desc->rd_frags[k] = (struct o2_rdma_frag){1, h->next_addr + k};
		if (i == 1 && nfrags[0] * nfrags[1] <= PAIRS)
			o2_hearing_expect(h, O2_HEARING_BOTH, O2_JUDGE_KEY_IN_USE, O2_JUDGE_A, number,
					  "rd_key", desc->rd_key, O2_NO_LIMIT, O2_LIMIT_OTHER);
		number = h->number + 1;
		o2_hearing_message(h, O2_JUDGE_A, &msg);
	}
}
