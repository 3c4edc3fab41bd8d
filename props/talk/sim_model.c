/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>

#include "props/talk/sim_internal.h"

/*
 * The credit account, by the definitions of docs/transport.md, "Flow control", computed from the reports
 * of both ends and from the traffic seen on the fabric between them.
 */

static void fail(struct o2_sim *sim, const char *signature, const struct o2_sim_end *end, uint64_t is,
		 uint64_t expected)
{
	o2_report_fail(sim->report, signature, "end %" PRIu32 ": %" PRIu64 ", expected %" PRIu64, end->index,
		       is, expected);
}

static void fail_account(struct o2_sim *sim, const struct o2_sim_end *end, const struct o2_account *account)
{
	char signature[64];

	snprintf(signature, sizeof(signature), "sim/%s", account->what);
	fail(sim, signature, end, account->is, account->expected);
}

/* Check the direction from a to b. */
static void check_direction(struct o2_sim *sim, const struct o2_sim_end *a, const struct o2_sim_end *b)
{
	const struct o2_conn_view *va = &a->view, *vb = &b->view;
	const uint32_t depth = a->depth;
	struct o2_account account;

	if (!o2_account_sizes(va, &a->limits, &account))
		fail_account(sim, a, &account);
	if (!o2_account_pair(va, vb, depth, &account))
		fail_account(sim, a, &account);
	/* The same from the fabric alone: credits used, and credits returned. */
	if (va->flow.credits != depth + b->wire.handled_credits - va->flow.messages_sent)
		fail(sim, "sim/credits-seen", a, va->flow.credits,
		     depth + b->wire.handled_credits - va->flow.messages_sent);
	if (a->wire.credit_messages > va->flow.messages_sent || a->wire.credits > va->flow.credits_sent ||
	    a->wire.noops > va->flow.noops_sent)
		fail(sim, "sim/more-on-the-fabric-than-sent", a, a->wire.credit_messages,
		     va->flow.messages_sent);
	if (a->wire.credit_messages > vb->flow.messages_handled + depth)
		fail(sim, "sim/credits-overdrawn", a, a->wire.credit_messages,
		     vb->flow.messages_handled + depth);
}

/* Number of NOOPs not handled by the other end that return a high-water mark of credits. */
static uint32_t giving_noops(const struct o2_sim_end *end)
{
	const struct o2_sim_wire *wire = &end->wire;
	uint32_t count = 0;

	for (uint32_t k = 0; k < wire->count; k++) {
		const struct o2_sim_message *message =
			&wire->on_the_way[(wire->first + k) % O2_SIM_ON_THE_WAY];

		count += message->type == O2_MSG_NOOP && message->credits >= end->limits.high_water;
	}
	return count;
}

/* Check what an end reports alone, and that it has reposted each receive that holds no unhandled message. */
static void check_own(struct o2_sim *sim, const struct o2_sim_end *end)
{
	const uint32_t unhandled = end->other->wire.count + end->view.parked;
	struct o2_account account;

	if (end->receives.holding != unhandled || end->receives.waiting + unhandled != end->limits.recv_wrs)
		fail(sim, "sim/receive-unposted", end, end->receives.waiting,
		     end->limits.recv_wrs - unhandled);
	if (!o2_account_end(&end->view, &end->limits, &account))
		fail_account(sim, end, &account);
}

/* In any state, queues hold no more than they were made for. */
static void check_queues(struct o2_sim *sim, const struct o2_sim_end *end)
{
	const struct o2_conn_view *view = &end->view;
	uint32_t entries = o2_loop_cq_entries(o2_conn_cq(end->conn));
	struct o2_account account;

	if (!o2_account_queues(view, &end->limits, &account))
		fail_account(sim, end, &account);
	if (entries > end->limits.cq_entries)
		fail(sim, "sim/completion-queue", end, entries, end->limits.cq_entries);
	if (giving_noops(end) > 2 && view->flow.version == O2_MSG_VERSION_2 &&
	    end->sim->config.keepalive_ms == 0)
		fail(sim, "sim/noops-waiting", end, giving_noops(end), 2);
}

static void count_situations(struct o2_sim *sim, const struct o2_conn_view *view)
{
	bool credits_needed = view->queued > 0;

	if (credits_needed && view->flow.credits == 0)
		o2_sim_seen(sim, O2_SIM_SEEN_NO_CREDITS);
	if (view->queued_reserved > 0 && view->flow.reserved == 0)
		o2_sim_seen(sim, O2_SIM_SEEN_NO_RESERVED);
	if (view->flow.in_flight == view->flow.concurrent_sends)
		o2_sim_seen(sim, O2_SIM_SEEN_SENDS_LIMITED);
	if (view->flow.in_flight > UINT8_MAX)
		o2_sim_seen(sim, O2_SIM_SEEN_MANY_IN_FLIGHT);
	if (view->queued_nocred > 0 || credits_needed)
		o2_sim_seen(sim, O2_SIM_SEEN_QUEUED);
	if (view->parked > 0)
		o2_sim_seen(sim, O2_SIM_SEEN_PARKED);
	if (view->queued_window > 0)
		o2_sim_seen(sim, O2_SIM_SEEN_WINDOW_AWAITED);
	if (view->parked_for_window)
		o2_sim_seen(sim, O2_SIM_SEEN_WINDOW_PARKED);
}

static bool up(const struct o2_sim_end *end)
{
	return end->conn != NULL && end->view.state == O2_CONN_ESTABLISHED;
}

static void look(struct o2_sim *sim, struct o2_sim_end *end)
{
	uint32_t known = 0;

	if (end->conn == NULL)
		return;
	o2_conn_view(end->conn, &end->view);
	if (end->view.flow.noops_in_flight == 0 && end->view.queued_noops == 0 &&
	    end->view.queued_nocred == 0)
		end->no_noops_ms = sim->now_ms;
	for (uint32_t i = 0; end->silent_since_ms != 0 && i < sim->nops; i++) {
		const struct o2_sim_op *op = &sim->op[i];

		known += op->end == end && op->started && !op->ended;
		known += op->end->other == end && op->matched && !op->ended_there;
	}
	if (end->silent_since_ms != 0 && known == end->view.open)
		end->silent_since_ms = 0;
	if (end->view.state == O2_CONN_ESTABLISHED) {
		check_queues(sim, end);
		count_situations(sim, &end->view);
	}
}

/*
 * There is a receive for each message that takes a credit, for each answer, and for two NOOPs.  Only
 * keep-alive NOOPs can exceed this, if the peer handles nothing.  True if each receive of the other end
 * holds a message and there is a third NOOP.
 */
static bool has_third_noop(const struct o2_sim_end *from)
{
	const struct o2_sim_end *to = from->other;
	struct o2_conn_view here, there;

	if (from->sim->config.version != O2_MSG_VERSION_2 || from->sim->config.keepalive_ms == 0 ||
	    from->conn == NULL || to->conn == NULL)
		return false;
	o2_conn_view(from->conn, &here);
	o2_conn_view(to->conn, &there);
	return from->wire.count + there.parked == 2 * from->depth + 2 &&
	       here.flow.noops_sent - there.flow.noops_received > 2;
}

void o2_sim_not_ready(struct o2_sim *sim, struct o2_sim_end *from)
{
	const bool foretold = has_third_noop(from);

	from->rnr_waits++;
	if (!foretold && !sim->faults)
		fail(sim, "sim/receiver-not-ready", from, from->wire.count, 2 * from->depth + 2);
	if (!foretold || from->rnr_waits <= sim->config.rnr_retry_count)
		return;
	from->never_ready = true;
	o2_sim_seen(sim, O2_SIM_SEEN_NEVER_READY);
	o2_sim_break(from);
}

/*
 * Limit the messages of a that b has not handled: at most one per credit and one per answer.  NOOPs of
 * version 2 use neither: a slow peer may have any number of them.
 */
static void check_on_the_way(struct o2_sim *sim, const struct o2_sim_end *a)
{
	bool v1 = sim->config.version == O2_MSG_VERSION_1;
	uint32_t count = 0;

	for (uint32_t k = 0; k < a->wire.count; k++)
		count +=
			v1 || a->wire.on_the_way[(a->wire.first + k) % O2_SIM_ON_THE_WAY].type != O2_MSG_NOOP;
	if (count > 2 * a->depth)
		fail(sim, "sim/on-the-way", a, count, 2 * a->depth);
}

static bool honest(const struct o2_sim_end *end)
{
	return up(end) && up(end->other) && !end->forged && !end->other->forged;
}

void o2_sim_check(struct o2_sim *sim)
{
	struct o2_loop_counters counters;

	for (uint32_t i = 0; i < sim->nends; i++)
		look(sim, &sim->end[i]);
	for (uint32_t i = 0; i < sim->nends; i++)
		if (honest(&sim->end[i])) {
			check_direction(sim, &sim->end[i], sim->end[i].other);
			check_on_the_way(sim, &sim->end[i]);
		}
	for (uint32_t i = 0; i < sim->nends; i++)
		if (honest(&sim->end[i]))
			check_own(sim, &sim->end[i]);
	o2_loop_get_counters(&counters);
	if (counters.rnr_waits > sim->rnr_waits)
		o2_sim_seen(sim, O2_SIM_SEEN_RNR);
	sim->rnr_waits = counters.rnr_waits;
	if (counters.overruns > sim->overruns)
		fail(sim, "sim/overrun", &sim->end[0], counters.overruns - sim->overruns, 0);
}

/* Two established ends without pending work owe each other nothing. */
static void check_pair(struct o2_sim *sim, const struct o2_sim_end *a)
{
	const struct o2_conn_view *view = &a->view;
	struct o2_account account;

	if (!o2_account_rest(view, &a->other->view, &a->limits, &account))
		fail_account(sim, a, &account);
	if (a->wire.credit_messages != view->flow.messages_sent || a->wire.credits != view->flow.credits_sent)
		fail(sim, "sim/seen-at-rest", a, a->wire.credits, view->flow.credits_sent);
	for (uint32_t i = 0; i < sim->nops; i++) {
		const struct o2_sim_op *op = &sim->op[i];

		if (op->end == a && op->started && op->op == O2_OP_SEND && !op->received)
			fail(sim, "sim/never-received", a, op->id, 0);
	}
}

void o2_sim_check_rest(struct o2_sim *sim)
{
	if (o2_sim_ok(sim))
		o2_sim_check(sim);
	for (uint32_t i = 0; i < sim->nends && o2_sim_ok(sim); i++)
		if (up(&sim->end[i]) && up(sim->end[i].other))
			check_pair(sim, &sim->end[i]);
}
