/* SPDX-License-Identifier: MIT */
/*
 * Messages that come again.  If one was missed, was the last of its side, and its acknowledgement was lost, it comes
 * again and looks new.  What the other side has sent for it until then fits nothing, and shows that it was sent before.
 */
#include "judge/internal.h"

void o2_judge_stray_answer(const struct o2_judging *at, uint64_t cookie)
{
	struct o2_judge_strays *strays = &at->conn->end[at->to].strays;

	if (strays->nanswers++ < O2_JUDGE_STRAYS_MAX)
		strays->answer[strays->nanswers - 1] = cookie;
}

void o2_judge_stray_write(const struct o2_judging *at)
{
	struct o2_judge_strays *strays = &at->conn->end[at->to].strays;
	const struct o2_judge_event *event = at->event;

	strays->last = event->number;
	if (strays->nwrites++ < O2_JUDGE_STRAYS_MAX)
		strays->write[strays->nwrites - 1] =
			(struct o2_judge_stray_write){event->number, event->addr, event->rkey};
}

static bool is_answered(const struct o2_judging *at, uint64_t cookie)
{
	const struct o2_judge_strays *strays = &at->conn->end[at->from].strays;

	for (uint32_t i = 0; i < strays->nanswers && i < O2_JUDGE_STRAYS_MAX; i++)
		if (strays->answer[i] == cookie)
			return true;
	/* One of those that were not kept may be the answer. */
	return !at->conn->whole && strays->nanswers > O2_JUDGE_STRAYS_MAX;
}

static bool holds(const struct o2_rdma_desc *desc, uint64_t addr)
{
	for (uint32_t i = 0; i < desc->rd_nfrags; i++)
		if (addr >= desc->rd_frags[i].rf_addr &&
		    addr - desc->rd_frags[i].rf_addr < desc->rd_frags[i].rf_nob)
			return true;
	return false;
}

/*
 * May a WRITE have been for this descriptor, which the sender offers now?  after: number of the message without which
 * none can be.  Who writes for it begins with its first byte: if all was heard, another WRITE was not for it.
 */
static bool may_be_written(const struct o2_judging *at, const struct o2_rdma_desc *desc, uint64_t after)
{
	const struct o2_judge_strays *strays = &at->conn->end[at->from].strays;

	for (uint32_t i = 0; i < strays->nwrites && i < O2_JUDGE_STRAYS_MAX; i++) {
		const struct o2_judge_stray_write *write = &strays->write[i];

		if (write->number > after && write->rkey == desc->rd_key && holds(desc, write->addr))
			return !at->conn->whole || write->addr == desc->rd_frags[0].rf_addr;
	}
	return !at->conn->whole && strays->nwrites > O2_JUDGE_STRAYS_MAX && strays->last > after;
}

static enum o2_judge_again was_sent(const struct o2_judging *at, uint64_t cookie,
				    const struct o2_rdma_desc *desc, uint64_t after)
{
	if (is_answered(at, cookie))
		return O2_JUDGE_ANSWERED;
	return desc != NULL && may_be_written(at, desc, after) ? O2_JUDGE_UNDER_WAY : O2_JUDGE_NEW;
}

enum o2_judge_again o2_judge_comes_again(const struct o2_judging *at)
{
	const struct o2_judge_end *from = &at->conn->end[at->from];
	const struct o2_msg *msg = at->event->kind == O2_JUDGE_MESSAGE ? at->event->msg : NULL;

	if (!at->judge->options.lossy || msg == NULL)
		return O2_JUDGE_NEW;
	if (msg->ibm_type != O2_MSG_IMMEDIATE && from->strays.nanswers == 0 && from->strays.nwrites == 0)
		return O2_JUDGE_NEW;
	switch (msg->ibm_type) {
	case O2_MSG_IMMEDIATE:
		return from->nwaiting != 0 && o2_judge_lnet_answered(from, &msg->u.immediate.hdr)
			       ? O2_JUDGE_ANSWERED
			       : O2_JUDGE_NEW;
	case O2_MSG_PUT_REQ:
		return was_sent(at, msg->u.putreq.ibprm_cookie, NULL, 0);
	case O2_MSG_GET_REQ:
		return was_sent(at, msg->u.get.ibgm_cookie, &msg->u.get.ibgm_rd, 0);
	case O2_MSG_PUT_ACK:
		return was_sent(at, msg->u.putack.ibpam_dst_cookie, &msg->u.putack.ibpam_rd,
				o2_judge_put_number(at));
	default:
		return O2_JUDGE_NEW;
	}
}
