/* SPDX-License-Identifier: MIT */
#include <inttypes.h>

#include "lnd/conn/conn_internal.h"
#include "props/talk/sim_internal.h"

/*
 * Checks each post call at the moment it is made.  This shows the order of calls within a step, which
 * matters because a peer does not wait for the step to end (docs/simulation.md, "What is checked").
 */

/* Global, because the calls of a device have no argument for it. */
static struct {
	struct o2_sim *sim;
	int (*post_send)(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad);
	int (*post_recv)(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad);
	int (*poll_cq)(struct ibv_cq *cq, int count, struct ibv_wc *wc);
	struct ibv_cq *held_cq; /* queue from which a completion is held back; NULL: none */
	struct ibv_wc held;
} seam;

/* The end of this queue pair.  One that is still unknown belongs to the acting end, which is being made. */
static struct o2_sim_end *end_of(const struct ibv_qp *qp)
{
	struct o2_sim_end *end = o2_sim_end_of_qp(seam.sim, qp->qp_num);

	return end != NULL ? end : seam.sim->acting;
}

static void leaves(struct o2_sim_end *end, const struct o2_seen_message *message)
{
	struct o2_account account;

	if (o2_receives_leave(&end->receives, end->depth, message, &account) || end->forged ||
	    end->other->forged)
		return;
	o2_report_fail_in(end->sim->report, "sim", account.what,
			  "end %" PRIu32 " sends a message of type 0x%x with %" PRIu32
			  " credits: what may come then, and what has come, takes %" PRIu64
			  " receives, expected %" PRIu64 " at most",
			  end->index, message->type, message->credits, account.is, account.expected);
}

/* A NOOP below the high-water mark is a keep-alive: only an end that has sent nothing for that long may send it. */
static void keeps_alive(struct o2_sim_end *end, const struct o2_seen_message *message)
{
	const uint64_t now_ms = end->sim->node[end->node].told_ms;
	const uint32_t keepalive_ms = end->sim->config.keepalive_ms;

	if (message->type == O2_MSG_NOOP && message->credits < end->limits.high_water &&
	    (keepalive_ms == 0 || now_ms - end->posted_ms <= keepalive_ms))
		o2_report_fail(end->sim->report, "sim/noop-early",
			       "end %" PRIu32 " sends a NOOP with %" PRIu32 " credits, of a mark of %" PRIu32
			       ", %" PRIu64 " ms after its last message, with a keep-alive of %" PRIu32 " ms",
			       end->index, message->credits, end->limits.high_water, now_ms - end->posted_ms,
			       keepalive_ms);
	end->posted_ms = now_ms;
}

#define NOOPS_IN_FLIGHT	   2u
#define NOOPS_IN_FLIGHT_V1 4u /* number of transmits reserved for NOOPs */

/* True if a NOOP can be sent now.  A pool that could not grow has no transmit for it. */
static bool may_speak(const struct o2_sim_end *end)
{
	const struct o2_credits *flow = &end->view.flow;
	const struct o2_sim *sim = end->sim;

	if (flow->in_flight >= end->limits.concurrent_sends ||
	    sim->now_ms < sim->node[end->node].no_growth_until_ms)
		return false;
	if (flow->version == O2_MSG_VERSION_2)
		return flow->noops_in_flight < NOOPS_IN_FLIGHT;
	/* The last credit is reserved for a NOOP that returns credits. */
	return flow->noops_in_flight < NOOPS_IN_FLIGHT_V1 &&
	       (flow->credits > 1 || (flow->credits == 1 && flow->outstanding > 0));
}

void o2_sim_check_silence(const struct o2_sim_end *end)
{
	const uint64_t silent_ms = end->sim->now_ms - end->posted_ms;
	const uint32_t keepalive_ms = end->sim->config.keepalive_ms;

	if (keepalive_ms != 0 && end->view.state == O2_CONN_ESTABLISHED && silent_ms > keepalive_ms &&
	    may_speak(end))
		o2_report_fail(end->sim->report, "sim/silent",
			       "end %" PRIu32 " has sent nothing for %" PRIu64
			       " ms, with a keep-alive of %" PRIu32 " ms",
			       end->index, silent_ms, keepalive_ms);
}

/* Note the operation that a message belongs to, and the credits it returns if it was posted. */
static void note(struct o2_sim_end *end, const struct ibv_send_wr *wr, int rc)
{
	const uint8_t *bytes = (const uint8_t *)(uintptr_t)wr->sg_list[0].addr;
	struct o2_seen_message message;
	struct o2_sim_op *op;

	o2_seen_message(bytes, &message);
	op = o2_sim_op_of(end, bytes, wr->sg_list[0].length, message.type);
	o2_sim_stand_posted(end, wr, op, message.type, rc);
	if (rc != 0)
		return;
	if (op != NULL && op->end == end && message.type != O2_MSG_PUT_DONE)
		op->place = ++end->asked;
	leaves(end, &message);
	keeps_alive(end, &message);
}

/* The send queue has room for so many: docs/transport.md, "Sizes". */
static void invalidates(struct o2_sim_end *end)
{
	const uint32_t full = end->limits.made > end->limits.concurrent_sends ? end->limits.made
									      : end->limits.concurrent_sends;

	if (++end->invalidates == full)
		o2_sim_seen(end->sim, O2_SIM_SEEN_INVALIDATES_LIMITED);
	if (end->invalidates > full)
		o2_report_fail(end->sim->report, "sim/invalidates",
			       "end %" PRIu32 " has %" PRIu32 " invalidates in flight, expected %" PRIu32
			       " at most",
			       end->index, end->invalidates, full);
}

/* A message that the device refuses was never sent; the refusal closes the connection. */
static int post_send(struct ibv_qp *qp, struct ibv_send_wr *list, struct ibv_send_wr **bad)
{
	struct o2_sim_end *end = end_of(qp);
	int rc = seam.post_send(qp, list, bad);

	for (const struct ibv_send_wr *wr = list; end != NULL && wr != NULL; wr = wr->next)
		if (wr->opcode == IBV_WR_SEND)
			note(end, wr, rc);
		else if (rc != 0 && wr->next == NULL) /* a single LOCAL_INV */
			o2_sim_stand_posted(end, wr, NULL, 0, rc);
		else if (rc == 0 && O2_WR_ID_WORK(wr->wr_id) == O2_WORK_INV)
			invalidates(end);
	return rc;
}

static int post_recv(struct ibv_qp *qp, struct ibv_recv_wr *list, struct ibv_recv_wr **bad)
{
	struct o2_sim_end *end = end_of(qp);
	int rc = seam.post_recv(qp, list, bad);

	for (const struct ibv_recv_wr *wr = list; rc == 0 && end != NULL && wr != NULL; wr = wr->next)
		if ((!o2_receives_post(&end->receives, O2_RX_OF(wr->wr_id)) ||
		     wr->sg_list[0].length != O2_MSG_BYTES) &&
		    !end->forged)
			o2_report_fail(end->sim->report, "sim/receive-posted",
				       "end %" PRIu32 " posts receive %" PRIu32 " of %" PRIu32
				       " bytes, which was posted before, or is none",
				       end->index, O2_RX_OF(wr->wr_id), wr->sg_list[0].length);
	return rc;
}

static bool is_cause(const struct ibv_wc *wc)
{
	return wc->status != IBV_WC_SUCCESS && wc->status != IBV_WC_WR_FLUSH_ERR;
}

/* Move a failed completion behind the flushes that follow it.  False: no flush follows. */
static bool put_off(struct ibv_wc *wc, int taken)
{
	for (int i = 0; i + 1 < taken; i++)
		if (is_cause(&wc[i]) && wc[i + 1].status == IBV_WC_WR_FLUSH_ERR) {
			const struct ibv_wc cause = wc[i];

			for (; i + 1 < taken && wc[i + 1].status == IBV_WC_WR_FLUSH_ERR; i++)
				wc[i] = wc[i + 1];
			wc[i] = cause;
			return true;
		}
	return false;
}

/*
 * Some devices report flushes before the completion that failed (docs/transport.md, "Errors").  In cases with a
 * keep-alive the failed completion is moved behind the flushes polled with it, or else behind the next one.
 */
static int poll_late(struct ibv_cq *cq, int count, struct ibv_wc *wc)
{
	struct ibv_wc next;
	int taken;

	if (seam.held_cq == cq) {
		seam.held_cq = NULL;
		*wc = seam.held;
		return 1;
	}
	taken = seam.poll_cq(cq, count, wc);
	if (seam.sim->config.keepalive_ms == 0)
		return taken;
	if (put_off(wc, taken))
		return taken;
	if (taken < 1 || !is_cause(&wc[taken - 1]) || seam.poll_cq(cq, 1, &next) != 1)
		return taken;
	seam.held = next.status == IBV_WC_WR_FLUSH_ERR ? wc[taken - 1] : next;
	seam.held_cq = cq;
	if (next.status == IBV_WC_WR_FLUSH_ERR)
		wc[taken - 1] = next;
	return taken;
}

static int poll_cq(struct ibv_cq *cq, int count, struct ibv_wc *wc)
{
	const int taken = poll_late(cq, count, wc);

	for (uint32_t i = 0; i < seam.sim->nends; i++) {
		struct o2_sim_end *end = &seam.sim->end[i];

		for (int k = 0; end->conn != NULL && o2_conn_cq(end->conn) == cq && k < taken; k++) {
			o2_sim_stand_failed(end, &wc[k]);
			if (end->in_progress)
				o2_sim_stand_completed(end, &wc[k]);
		}
	}
	return taken;
}

void o2_sim_posts_watch(struct o2_sim *sim, struct ibv_context *context)
{
	seam.sim = sim;
	seam.held_cq = NULL;
	if (context->ops.post_send == post_send)
		return;
	seam.post_send = context->ops.post_send;
	seam.post_recv = context->ops.post_recv;
	context->ops.post_send = post_send;
	context->ops.post_recv = post_recv;
	seam.poll_cq = context->ops.poll_cq;
	context->ops.poll_cq = poll_cq;
}
