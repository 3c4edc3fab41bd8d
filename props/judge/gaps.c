/* SPDX-License-Identifier: MIT */
#include "props/judge/gaps.h"

/* Timeouts are not judged here. */
#define TIMEOUT_MS (UINT64_C(1) << 40)

static void found(void *context, const struct o2_judge_finding *finding)
{
	struct o2_gaps *gaps = context;

	/* A finding that was never proven may be wrong; it is marked as such. */
	if (gaps->found || gaps->unknowable || finding->unproven ||
	    o2_judge_rules[finding->rule].severity == O2_JUDGE_NOTE)
		return;
	/* What came again may have used or given the credits that seem to be wrong: docs/judge.md says so. */
	if (gaps->came && finding->rule >= O2_JUDGE_CREDITS_NONE &&
	    finding->rule <= O2_JUDGE_CREDITS_REQUESTS)
		return;
	gaps->found = true;
	gaps->first = *finding;
}

void o2_gaps_draw(struct o2_gaps *gaps)
{
	gaps->every = o2_draw_bool(gaps->h->c, 3, 1) ? 0 : 2 + (uint32_t)o2_draw(gaps->h->c, 30);
	gaps->repeats = 1 + (uint32_t)o2_draw(gaps->h->c, 15);
	gaps->unheard = o2_draw_bool(gaps->h->c, 1, 1) ? (uint32_t)o2_draw(gaps->h->c, 20) : 0;
}

static bool open(struct o2_gaps *gaps)
{
	const struct o2_judge_options options = {.timeout_ms = TIMEOUT_MS,
						 .keepalive_ms = gaps->h->options.keepalive_ms,
						 .lossy = true,
						 .seed = gaps->h->options.seed};

	if (gaps->judge == NULL)
		gaps->judge = o2_judge_new(&options, found, gaps);
	if (gaps->judge != NULL && gaps->conn == NULL)
		gaps->conn = o2_judge_meet(gaps->judge, gaps->unheard > 0 ? O2_JUDGE_LATER : O2_JUDGE_WHOLE);
	return gaps->conn != NULL;
}

static void hear(struct o2_gaps *gaps, struct o2_judge_event event)
{
	event.number = ++gaps->number;
	o2_judge_hear(gaps->judge, gaps->conn, &event);
}

static void lose(struct o2_gaps *gaps, const struct o2_judge_event *next)
{
	gaps->lost = true;
	hear(gaps,
	     (struct o2_judge_event){.kind = O2_JUDGE_LOST, .from = next->from, .time_ns = next->time_ns});
}

/* --- what comes again --- */

/* The cookie that an answer to this message names; false: no answer does. */
static bool cookie_of(const struct o2_msg *msg, uint64_t *cookie)
{
	switch (msg->ibm_type) {
	case O2_MSG_PUT_REQ:
		*cookie = msg->u.putreq.ibprm_cookie;
		return true;
	case O2_MSG_GET_REQ:
		*cookie = msg->u.get.ibgm_cookie;
		return true;
	case O2_MSG_PUT_ACK:
		*cookie = msg->u.putack.ibpam_dst_cookie;
		return true;
	default:
		return false;
	}
}

/* Is the WRITE for memory that the message describes?  No other descriptor has that memory. */
static bool is_for(const struct o2_judge_event *write, const struct o2_msg *msg)
{
	const struct o2_rdma_desc *desc =
		msg->ibm_type == O2_MSG_GET_REQ ? &msg->u.get.ibgm_rd : &msg->u.putack.ibpam_rd;

	for (uint32_t i = 0; msg->ibm_type != O2_MSG_PUT_REQ && i < desc->rd_nfrags; i++)
		if (write->addr >= desc->rd_frags[i].rf_addr &&
		    write->addr < desc->rd_frags[i].rf_addr + desc->rd_frags[i].rf_nob)
			return true;
	return false;
}

static bool answers(const struct o2_judge_event *event, const struct o2_msg *msg)
{
	uint64_t cookie = 0;

	if (event->kind == O2_JUDGE_WRITE)
		return is_for(event, msg);
	if (event->kind != O2_JUDGE_MESSAGE || event->msg == NULL || !cookie_of(msg, &cookie))
		return false;
	switch (event->msg->ibm_type) {
	case O2_MSG_PUT_ACK:
		return msg->ibm_type == O2_MSG_PUT_REQ && event->msg->u.putack.ibpam_src_cookie == cookie;
	case O2_MSG_PUT_NAK:
	case O2_MSG_PUT_DONE:
	case O2_MSG_GET_DONE:
		return event->msg->u.completion.ibcm_cookie == cookie;
	default:
		return false;
	}
}

/* The event is not recorded.  If it is a request or a PUT_ACK, and its acknowledgement is lost as well, it comes again. */
static bool miss(struct o2_gaps *gaps, const struct o2_judge_event *event)
{
	struct o2_gap_again *again = &gaps->again[event->from];
	uint64_t cookie;

	if (event->kind != O2_JUDGE_MESSAGE && event->kind != O2_JUDGE_WRITE)
		return false;
	if (event->kind == O2_JUDGE_MESSAGE && event->msg != NULL && !gaps->missing[event->from] &&
	    cookie_of(event->msg, &cookie) && o2_draw_bool(gaps->h->c, gaps->repeats, 1)) {
		again->comes = true;
		again->answered = false;
		again->msg = *event->msg;
		again->event = *event;
		again->event.msg = &again->msg;
		return true;
	}
	if (gaps->every == 0 || !o2_draw_bool(gaps->h->c, gaps->every, 1))
		return false;
	/* Of several messages that come again, the first may have no answer yet: docs/judge.md says so. */
	again->comes = false;
	return true;
}

/* The message comes again, maybe, after an event of the other side was heard. */
static void come_again(struct o2_gaps *gaps, const struct o2_judge_event *heard)
{
	struct o2_gap_again *again = &gaps->again[o2_judge_other(heard->from)];

	if (!again->comes)
		return;
	again->answered = again->answered || answers(heard, &again->msg);
	if (o2_draw_bool(gaps->h->c, 3, 1))
		return;
	if (again->answered)
		*(gaps->lost || gaps->unheard > 0 ? &gaps->came_in_gaps : &gaps->came_whole) += 1;
	gaps->came = true;
	again->event.time_ns = heard->time_ns;
	hear(gaps, again->event);
	again->comes = gaps->missing[again->event.from] = false;
}

static bool misses_something(const struct o2_gaps *gaps)
{
	return gaps->unheard > 0 || gaps->lost || gaps->came || gaps->missing[O2_JUDGE_A] ||
	       gaps->missing[O2_JUDGE_B];
}

void o2_gaps_hear(void *context, const struct o2_judge_event *event)
{
	struct o2_gaps *gaps = context;

	/* Parts are not heard: a part belongs to a later WRITE, which may be missing. */
	if (!open(gaps) || event->kind == O2_JUDGE_PART)
		return;
	gaps->unknowable = gaps->unknowable || (gaps->h->again != O2_HEARING_NEW && misses_something(gaps));
	if (gaps->number++ < gaps->unheard)
		return;
	if (miss(gaps, event)) {
		gaps->missing[event->from] = true;
		/* If its answer is missing as well, it is a new message for all that is known. */
		gaps->again[o2_judge_other(event->from)].comes = false;
		return;
	}
	if (gaps->missing[event->from])
		lose(gaps, event);
	gaps->missing[event->from] = gaps->again[event->from].comes = false;
	hear(gaps, *event);
	come_again(gaps, event);
}

void o2_gaps_close(struct o2_gaps *gaps)
{
	const struct o2_judge_finding *first = &gaps->first;

	if (gaps->judge == NULL)
		return;
	o2_judge_free(gaps->judge);
	gaps->judge = NULL;
	if (gaps->found && !gaps->h->dishonest && !gaps->h->report->failed)
		o2_report_fail_in(gaps->h->report, "verdicts/gaps", o2_judge_rules[first->rule].id,
				  "of an honest conversation with gaps: by %c at event %llu, about %llu",
				  first->who == O2_JUDGE_A ? 'A' : 'B', (unsigned long long)first->number,
				  (unsigned long long)first->earlier);
}
