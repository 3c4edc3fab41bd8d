/* SPDX-License-Identifier: MIT */
/* Transfers: what each request asks for, what its sink describes, and what the message that ends it reports. */
#include "judge/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/monotonic.h"
#include "wire/desc_codec.h"

#define O2_JUDGE_ERRNO_MAX 4095 /* the kernel's MAX_ERRNO */

static void forget(struct o2_judge *judge, struct o2_judge_end *asker, struct o2_judge_transfer *transfer)
{
	TAILQ_REMOVE(&asker->open, transfer, link);
	asker->nopen--;
	asker->nasked -= transfer->step == O2_TRANSFER_PUT_ASKED;
	judge->transfers--;
	free(transfer->frag);
	free(transfer);
}

void o2_judge_transfers_drop(struct o2_judge *judge, struct o2_judge_conn *conn)
{
	for (int side = O2_JUDGE_A; side < O2_JUDGE_SIDES; side++) {
		struct o2_judge_end *end = &conn->end[side];

		while (!TAILQ_EMPTY(&end->open))
			forget(judge, end, TAILQ_FIRST(&end->open));
	}
}

static struct o2_judge_transfer *by_cookie(const struct o2_judge_end *asker, uint64_t cookie)
{
	struct o2_judge_transfer *transfer;

	TAILQ_FOREACH(transfer, &asker->open, link)
		if (transfer->cookie == cookie)
			return transfer;
	return NULL;
}

static struct o2_judge_transfer *by_sink_cookie(const struct o2_judge_end *asker, uint64_t cookie)
{
	struct o2_judge_transfer *transfer;

	TAILQ_FOREACH(transfer, &asker->open, link)
		if (transfer->step == O2_TRANSFER_PUT_OPEN && transfer->sink_cookie == cookie)
			return transfer;
	return NULL;
}

/* The transfer has its time from this event.  If the event has none, an honest answer must not seem late. */
static void date(const struct o2_judging *at, struct o2_judge_transfer *transfer)
{
	transfer->number = at->event->number;
	transfer->time_ns = at->conn->now_ns;
	transfer->undated = at->event->timeless;
	at->conn->undated = at->conn->undated || transfer->undated;
}

void o2_judge_transfers_date(struct o2_judge_conn *conn)
{
	for (int side = O2_JUDGE_A; side < O2_JUDGE_SIDES; side++) {
		struct o2_judge_transfer *transfer;

		TAILQ_FOREACH(transfer, &conn->end[side].open, link) {
			if (transfer->undated)
				transfer->time_ns = conn->now_ns;
			transfer->undated = false;
		}
	}
}

/* Record a request of the sender.  Returns NULL with *rc 0 if it is not followed. */
static struct o2_judge_transfer *begin(const struct o2_judging *at, enum o2_transfer_step step,
				       uint64_t cookie, int *rc)
{
	struct o2_judge_end *from = &at->conn->end[at->from];
	struct o2_judge_transfer *transfer = by_cookie(from, cookie);

	*rc = 0;
	if (transfer != NULL) {
		if (!o2_judge_may_have_ended(at->conn, transfer))
			o2_judge_over(at, O2_JUDGE_TRANSFER_COOKIE_REUSED, transfer->number, "cookie", cookie,
				      O2_NO_LIMIT);
		forget(at->judge, from, transfer);
	}
	if (at->judge->transfers == O2_JUDGE_TRANSFERS_MAX || from->nopen == O2_JUDGE_SIDE_TRANSFERS_MAX) {
		o2_judge_unseen(at);
		return NULL;
	}
	transfer = calloc(1, sizeof(*transfer));
	if (transfer == NULL) {
		*rc = -ENOMEM;
		return NULL;
	}
	transfer->step = step;
	transfer->cookie = cookie;
	date(at, transfer);
	TAILQ_INSERT_TAIL(&from->open, transfer, link);
	from->nopen++;
	from->nasked += step == O2_TRANSFER_PUT_ASKED;
	at->judge->transfers++;
	return transfer;
}

/* Record the descriptor of the sink, which is the sender of this message. */
static int open_sink(const struct o2_judging *at, struct o2_judge_transfer *transfer,
		     const struct o2_rdma_desc *desc)
{
	const uint32_t limit = at->conn->max_frags;

	transfer->rkey = desc->rd_key;
	transfer->nfrags = desc->rd_nfrags;
	transfer->sink_bytes = o2_desc_bytes(desc);
	transfer->frag = calloc(desc->rd_nfrags, sizeof(*transfer->frag));
	if (transfer->frag == NULL) {
		transfer->nfrags = 0;
		return -ENOMEM;
	}
	transfer->low = UINT64_MAX;
	for (uint32_t i = 0; i < desc->rd_nfrags; i++) {
		const struct o2_rdma_frag *frag = &desc->rd_frags[i];

		if (frag->rf_addr < transfer->low)
			transfer->low = frag->rf_addr;
		if (frag->rf_addr + frag->rf_nob > transfer->high)
			transfer->high = frag->rf_addr + frag->rf_nob;
	}
	memcpy(transfer->frag, desc->rd_frags, desc->rd_nfrags * sizeof(*transfer->frag));
	if (limit != 0 && desc->rd_nfrags > limit)
		o2_judge_over(at, O2_JUDGE_TRANSFER_FRAGS, transfer->number, "rd_nfrags", desc->rd_nfrags,
			      limit);
	if (transfer->sink_bytes > transfer->asked_bytes)
		o2_judge_over(at, O2_JUDGE_TRANSFER_SINK, transfer->number, "rd_frags[].rf_nob",
			      transfer->sink_bytes, transfer->asked_bytes);
	if (!at->conn->one_way)
		o2_judge_key_offered(at, transfer);
	return 0;
}

/* Report an answer to no open request, or of the wrong type for *transfer. */
static void judge_stranger(const struct o2_judging *at, const struct o2_judge_transfer *transfer,
			   uint64_t cookie)
{
	if (transfer != NULL)
		o2_judge_over(at, O2_JUDGE_TRANSFER_KIND, transfer->number, "ibm_type",
			      at->event->msg->ibm_type, O2_NO_LIMIT);
	else
		o2_judge_stray_answer(at, cookie);
	if (transfer == NULL && at->conn->whole && !o2_judge_has_ended(at->conn))
		o2_judge_over(at, O2_JUDGE_TRANSFER_UNASKED, 0, "cookie", cookie, O2_NO_LIMIT);
}

/* Remember the key of the transfer that has ended. */
static void close_sink(const struct o2_judging *at, enum o2_judge_side sink,
		       const struct o2_judge_transfer *transfer)
{
	struct o2_judge_end *end = &at->conn->end[sink];

	end->ended[end->next_ended++ % O2_JUDGE_ENDED_MAX] =
		(struct o2_judge_ended){transfer->rkey, at->event->number};
}

/*
 * Judge the status that the writing side, the sender, reports.  exact: it must report all described bytes.
 * Returns whether the numbers of described, written and reported bytes agree.
 */
static bool judge_end(const struct o2_judging *at, const struct o2_judge_transfer *transfer, bool exact)
{
	const int32_t status = at->event->msg->u.completion.ibcm_status;
	const uint64_t moved = status < 0 ? 0 : (uint32_t)status;
	/* A sink that describes more than was asked for is a finding already: the source cannot fill it. */
	const bool fits = transfer->sink_bytes <= transfer->asked_bytes;

	if (status < 0)
		return false;
	/* One finding per cause: if written and reported bytes differ, the descriptor is not checked as well. */
	if (transfer->written_bytes == moved || transfer->shared || transfer->unsure ||
	    at->conn->end[at->from].writes_unseen) {
		if (exact && fits && moved != transfer->sink_bytes)
			o2_judge_differs(at, O2_JUDGE_TRANSFER_STATUS, transfer->number, "ibcm_status", moved,
					 transfer->sink_bytes);
		else if (moved > transfer->sink_bytes)
			o2_judge_over(at, O2_JUDGE_TRANSFER_STATUS, transfer->number, "ibcm_status", moved,
				      transfer->sink_bytes);
		else
			return true;
	} else {
		o2_judge_differs(at, O2_JUDGE_TRANSFER_BYTES, transfer->number, "bytes written",
				 transfer->written_bytes, moved);
	}
	return false;
}

/* A failure must be an errno.  nak: it moves no bytes; status 0 says that the sink wants none. */
static void judge_errno(const struct o2_judging *at, const struct o2_judge_transfer *transfer, bool nak)
{
	const int32_t status = at->event->msg->u.completion.ibcm_status;

	if (status < -O2_JUDGE_ERRNO_MAX)
		o2_judge_over(at, O2_JUDGE_TRANSFER_ERRNO, transfer->number, "-ibcm_status",
			      (uint64_t) - (int64_t)status, O2_JUDGE_ERRNO_MAX);
	else if (nak && status > 0)
		o2_judge_over(at, O2_JUDGE_TRANSFER_ERRNO, transfer->number, "ibcm_status", (uint64_t)status,
			      O2_NO_LIMIT);
}

/* The open request that the sender answers, if it is in this step; else report it, and return NULL. */
static struct o2_judge_transfer *answered(const struct o2_judging *at, enum o2_transfer_step step,
					  uint64_t cookie)
{
	struct o2_judge_transfer *transfer = by_cookie(&at->conn->end[at->to], cookie);

	if (transfer != NULL && transfer->step == step)
		return transfer;
	judge_stranger(at, transfer, cookie);
	return NULL;
}

static struct o2_judge_transfer *acked(const struct o2_judging *at)
{
	return by_cookie(&at->conn->end[at->to], at->event->msg->u.putack.ibpam_src_cookie);
}

uint64_t o2_judge_put_number(const struct o2_judging *at)
{
	const struct o2_judge_transfer *transfer = acked(at);

	return transfer != NULL && transfer->step == O2_TRANSFER_PUT_ASKED ? transfer->number : 0;
}

static int take_put_ack(const struct o2_judging *at)
{
	const struct o2_msg *msg = at->event->msg;
	struct o2_judge_end *asker = &at->conn->end[at->to];
	struct o2_judge_transfer *transfer =
		answered(at, O2_TRANSFER_PUT_ASKED, msg->u.putack.ibpam_src_cookie);

	if (transfer == NULL)
		return 0;
	if (by_sink_cookie(asker, msg->u.putack.ibpam_dst_cookie) != NULL)
		o2_judge_over(at, O2_JUDGE_TRANSFER_COOKIE_REUSED, transfer->number, "ibpam_dst_cookie",
			      msg->u.putack.ibpam_dst_cookie, O2_NO_LIMIT);
	transfer->step = O2_TRANSFER_PUT_OPEN;
	asker->nasked--;
	transfer->sink_cookie = msg->u.putack.ibpam_dst_cookie;
	date(at, transfer);
	transfer->late = transfer->unsure = false;
	TAILQ_REMOVE(&asker->open, transfer, link);
	TAILQ_INSERT_TAIL(&asker->open, transfer, link);
	return open_sink(at, transfer, &msg->u.putack.ibpam_rd);
}

static void take_put_nak(const struct o2_judging *at)
{
	struct o2_judge_transfer *transfer =
		answered(at, O2_TRANSFER_PUT_ASKED, at->event->msg->u.completion.ibcm_cookie);

	if (transfer == NULL)
		return;
	judge_errno(at, transfer, true);
	forget(at->judge, &at->conn->end[at->to], transfer);
}

static void take_put_done(const struct o2_judging *at)
{
	const struct o2_msg *msg = at->event->msg;
	struct o2_judge_end *asker = &at->conn->end[at->from];
	struct o2_judge_transfer *transfer = by_sink_cookie(asker, msg->u.completion.ibcm_cookie);

	if (transfer == NULL) {
		judge_stranger(at, NULL, msg->u.completion.ibcm_cookie);
		return;
	}
	judge_errno(at, transfer, false);
	if (judge_end(at, transfer, true)) {
		o2_judge_lnet_moved(asker, transfer->put, (uint32_t)msg->u.completion.ibcm_status);
		if (transfer->asked_bytes == transfer->sink_bytes && !transfer->shared)
			o2_judge_payload_ended(asker, transfer->put);
	}
	close_sink(at, at->to, transfer);
	forget(at->judge, asker, transfer);
}

static void take_get_done(const struct o2_judging *at)
{
	struct o2_judge_transfer *transfer =
		answered(at, O2_TRANSFER_GET_OPEN, at->event->msg->u.completion.ibcm_cookie);

	if (transfer == NULL)
		return;
	judge_errno(at, transfer, false);
	judge_end(at, transfer, false);
	close_sink(at, at->to, transfer);
	forget(at->judge, &at->conn->end[at->to], transfer);
}

static int take_request(const struct o2_judging *at)
{
	const struct o2_msg *msg = at->event->msg;
	const bool is_put = msg->ibm_type == O2_MSG_PUT_REQ;
	struct o2_judge_transfer *transfer;
	int rc;

	transfer = begin(at, is_put ? O2_TRANSFER_PUT_ASKED : O2_TRANSFER_GET_OPEN,
			 is_put ? msg->u.putreq.ibprm_cookie : msg->u.get.ibgm_cookie, &rc);
	if (transfer == NULL)
		return rc;
	if (!is_put) {
		transfer->asked_bytes = msg->u.get.hdr.msg.get.sink_length;
		o2_judge_payload_get(at, &msg->u.get.hdr, &transfer->pattern);
		return open_sink(at, transfer, &msg->u.get.ibgm_rd);
	}
	transfer->asked_bytes = msg->u.putreq.hdr.payload_length;
	transfer->put = at->event->number;
	if (msg->u.putreq.hdr.type == O2_LNET_REPLY)
		o2_judge_lnet_reply(at, &msg->u.putreq.hdr, transfer);
	else
		o2_judge_payload_put(at, &msg->u.putreq.hdr, &transfer->pattern);
	return 0;
}

int o2_judge_transfer(const struct o2_judging *at)
{
	switch (at->event->msg->ibm_type) {
	case O2_MSG_PUT_REQ:
	case O2_MSG_GET_REQ:
		return take_request(at);
	case O2_MSG_PUT_ACK:
		return take_put_ack(at);
	case O2_MSG_PUT_NAK:
		take_put_nak(at);
		return 0;
	case O2_MSG_PUT_DONE:
		take_put_done(at);
		return 0;
	case O2_MSG_GET_DONE:
		take_get_done(at);
		return 0;
	default:
		return 0;
	}
}

void o2_judge_transfer_unsure(const struct o2_judging *at)
{
	const struct o2_msg *msg = at->event->msg;
	struct o2_judge_transfer *transfer =
		msg->ibm_type == O2_MSG_PUT_ACK ? acked(at)
						: by_cookie(&at->conn->end[at->from], msg->u.get.ibgm_cookie);

	if (transfer != NULL)
		transfer->unsure = true;
}

/* The side that must send the next message of a transfer that `asker` requested. */
static enum o2_judge_side whose_turn(enum o2_judge_side asker, const struct o2_judge_transfer *transfer)
{
	return transfer->step == O2_TRANSFER_PUT_OPEN ? asker : o2_judge_other(asker);
}

void o2_judge_transfer_time(const struct o2_judging *at)
{
	const uint64_t limit_ms = at->judge->options.timeout_ms;

	for (int side = O2_JUDGE_A; side < O2_JUDGE_SIDES; side++) {
		struct o2_judge_transfer *transfer;

		TAILQ_FOREACH(transfer, &at->conn->end[side].open, link) {
			const uint64_t age_ms = (at->conn->now_ns - transfer->time_ns) / O2_NS_PER_MS;

			/* The list is sorted by time: all further ones are younger. */
			if (age_ms <= limit_ms)
				break;
			if (transfer->late || transfer->unsure)
				continue;
			transfer->late = true;
			o2_judge_broken(at, O2_JUDGE_TRANSFER_UNANSWERED,
					whose_turn((enum o2_judge_side)side, transfer), transfer->number,
					"milliseconds", age_ms, limit_ms, O2_LIMIT_BOUND);
		}
	}
}
