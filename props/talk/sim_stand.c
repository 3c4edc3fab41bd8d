/* SPDX-License-Identifier: MIT */
#include <inttypes.h>

#include "lnd/conn/conn_internal.h"
#include "props/talk/sim_internal.h"

/*
 * The progress of operations at an end: what it has posted for each, what of that has completed, and what
 * it has received.  This determines what a late operation waits for, the health that its end reports, and
 * which operation an error of the device belongs to (docs/transport.md, "Time", "Errors" and "Health").
 */

static struct o2_sim_stand *stand_of(struct o2_sim_op *op, const struct o2_sim_end *end)
{
	return &op->stand[op->end != end];
}

/* --- what happens --- */

void o2_sim_stand_due(struct o2_sim_op *op, const struct o2_sim_end *end)
{
	stand_of(op, end)->due++;
}

void o2_sim_stand_heard(struct o2_sim_end *end, uint8_t type, struct o2_sim_op *op)
{
	struct o2_sim_stand *stand = stand_of(op, end);

	end->hearing = op;
	if (type == O2_MSG_PUT_ACK)
		stand->due++; /* for the PUT_DONE */
	else if (type == O2_MSG_PUT_NAK || type == O2_MSG_PUT_DONE || type == O2_MSG_GET_DONE)
		stand->answered = true;
}

/* The newest open operation that uses this transmit; an ended operation may have used it before. */
static struct o2_sim_op *of_request(struct o2_sim_end *end, uint64_t wr_id)
{
	struct o2_sim *sim = end->sim;

	for (uint32_t i = sim->nops; i-- > 0 && O2_WR_ID_WORK(wr_id) != O2_WORK_RECV;) {
		struct o2_sim_op *op = &sim->op[i];

		if ((op->end == end ? !op->ended : op->end->other == end && !op->ended_there) &&
		    stand_of(op, end)->transmit == O2_TX_OF(wr_id))
			return op;
	}
	return NULL;
}

void o2_sim_stand_posted(struct o2_sim_end *end, const struct ibv_send_wr *wr, struct o2_sim_op *op,
			 uint8_t type, int rc)
{
	struct o2_sim_stand *stand = op == NULL ? NULL : stand_of(op, end);

	if (stand != NULL)
		stand->transmit = O2_TX_OF(wr->wr_id);
	if (rc != 0) {
		end->blamed = wr->opcode == IBV_WR_SEND ? op : of_request(end, wr->wr_id);
		end->cause = IBV_WC_GENERAL_ERR; /* all flushes from now on are consequences */
		return;
	}
	end->sends++;
	if (stand == NULL)
		return;
	stand->posted++;
	stand->last = type;
}

void o2_sim_stand_completed(struct o2_sim_end *end, const struct ibv_wc *wc)
{
	struct o2_sim_op *op;

	if (wc->status != IBV_WC_SUCCESS)
		return;
	end->invalidates -= O2_WR_ID_WORK(wc->wr_id) == O2_WORK_INV;
	if (O2_WR_ID_WORK(wc->wr_id) != O2_WORK_MESSAGE)
		return;
	end->sends--;
	op = of_request(end, wc->wr_id);
	if (op != NULL && stand_of(op, end)->acked < stand_of(op, end)->posted)
		stand_of(op, end)->acked++;
}

/* The first failure that is not a flush causes all others.  If there is none, the first flush is the cause. */
void o2_sim_stand_failed(struct o2_sim_end *end, const struct ibv_wc *wc)
{
	if (wc->status == IBV_WC_SUCCESS ||
	    (end->cause != IBV_WC_SUCCESS && end->cause != IBV_WC_WR_FLUSH_ERR) ||
	    (end->cause == IBV_WC_WR_FLUSH_ERR && wc->status == IBV_WC_WR_FLUSH_ERR))
		return;
	end->cause = wc->status;
	end->blamed = of_request(end, wc->wr_id);
}

/* --- what follows from it --- */

#define BIT(wait) (1u << (wait))

/* True if a message of the operation is still to be posted. */
static bool is_queued(const struct o2_sim_stand *stand)
{
	return stand->posted < stand->due;
}

/*
 * True if the queued request of this end holds a reservation.  Those that are posted and not answered hold one
 * each; the remaining ones go to queued requests in the order of their starts.
 */
static bool is_reserved(const struct o2_sim_end *end, const struct o2_sim_op *request)
{
	const struct o2_sim *sim = end->sim;
	uint32_t before = 0;

	for (uint32_t i = 0; i < sim->nops; i++) {
		const struct o2_sim_op *op = &sim->op[i];
		const struct o2_sim_stand *stand = &op->stand[0];

		before += op->end == end && op->started && op->op != O2_OP_SEND && !stand->answered &&
			  stand->due == 1 && (stand->posted > 0 || i < request->id);
	}
	return before < end->depth;
}

/* The waits that are possible for a queued message of the operation. */
static uint32_t queues_of(const struct o2_sim_end *end, const struct o2_sim_op *op)
{
	const uint32_t turn =
		end->sends < end->limits.concurrent_sends ? BIT(O2_WAIT_CREDIT) : BIT(O2_WAIT_SEND_ROOM);
	const uint32_t window = end->sim->small ? BIT(O2_WAIT_WINDOW) : 0;

	if (op->end != end || op->stand[0].posted > 0)
		return BIT(O2_WAIT_SEND_ROOM);
	if (op->op == O2_OP_SEND)
		return turn;
	return window | (is_reserved(end, op) ? turn : BIT(O2_WAIT_RESERVATION));
}

static uint32_t waits_of(const struct o2_sim_end *end, struct o2_sim_op *op)
{
	const struct o2_sim_stand *stand = stand_of(op, end);
	const uint32_t sending = stand->acked < stand->posted ? BIT(O2_WAIT_SEND) : 0;

	if (is_queued(stand))
		return queues_of(end, op);
	if (stand->answered)
		return BIT(O2_WAIT_INVALIDATE) | sending;
	if (sending != 0)
		return sending;
	return stand->last == O2_MSG_PUT_REQ   ? BIT(O2_WAIT_PUT_ACK)
	       : stand->last == O2_MSG_PUT_ACK ? BIT(O2_WAIT_PUT_DONE)
					       : BIT(O2_WAIT_GET_DONE);
}

static enum o2_health health_of(const struct o2_sim_end *end, struct o2_sim_op *op,
				const struct o2_transfer_result *result)
{
	const struct o2_transfer_fault *why = o2_conn_get_fault(end->conn);
	const struct o2_sim_stand *stand = stand_of(op, end);
	const bool late = result->fault.side == O2_FAULT_DEADLINE ||
			  (result->fault.side == O2_FAULT_CLOSED && why->code == -ETIMEDOUT);

	if (why->side == O2_FAULT_LOCAL_COMPLETION && end->blamed == op)
		return O2_HEALTH_REMOTE_DROPPED;
	if (result->fault.side == O2_FAULT_PEER_STATUS)
		return O2_HEALTH_REMOTE_ERROR;
	if (!late)
		return result->fault.side == O2_FAULT_CLOSED && is_queued(stand) ? O2_HEALTH_LOCAL_ERROR
										 : O2_HEALTH_OK;
	if (is_queued(stand))
		return O2_HEALTH_LOCAL_TIMEOUT;
	if (stand->acked < stand->posted)
		return O2_HEALTH_NETWORK_TIMEOUT;
	return stand->answered ? O2_HEALTH_OK : O2_HEALTH_REMOTE_TIMEOUT;
}

/* --- what is judged --- */

/* What ends with its connection: first requests that were never posted, then queued answers, then all others. */
static void check_order(struct o2_sim *sim, struct o2_sim_end *end, const struct o2_sim_op *op,
			const struct o2_sim_stand *stand)
{
	const uint32_t rank = !is_queued(stand) ? 3 : op->end == end && stand->posted == 0 ? 1 : 2;

	if (o2_conn_get_state(end->conn) != O2_CONN_CLOSING || end->hearing == op)
		return;
	if (rank < end->rank_ended)
		o2_report_fail(sim->report, "sim/order",
			       "operation %" PRIu32 " ends with its connection in rank %" PRIu32
			       ", after one of rank %" PRIu32,
			       op->id, rank, end->rank_ended);
	end->rank_ended = rank;
}

void o2_sim_stand_judge(struct o2_sim *sim, struct o2_sim_end *end, struct o2_sim_op *op,
			const struct o2_transfer_result *result)
{
	const struct o2_sim_stand *stand = stand_of(op, end);
	const bool late = result->fault.side == O2_FAULT_DEADLINE;
	enum o2_health health;

	/* While a message of an unanswered operation is being handled, its health may or may not reflect it. */
	if (end->forged || end->other->forged || end->in_progress ||
	    (end->hearing == op && !stand->answered && result->fault.side == O2_FAULT_CLOSED))
		return;
	if (result->fault.side == O2_FAULT_CLOSED)
		check_order(sim, end, op, stand);
	health = health_of(end, op, result);
	if (result->health != health)
		o2_report_fail(sim->report, "sim/health",
			       "operation %" PRIu32 " ends at its %s with health %d, expected %d", op->id,
			       result->initiator ? "initiator" : "target", (int)result->health, (int)health);
	if (late && (waits_of(end, op) >> result->fault.wait & 1) == 0)
		o2_report_fail(sim->report, "sim/wait",
			       "operation %" PRIu32 " was late at its %s, and says that it has waited for "
			       "%s: %" PRIu32 " of %" PRIu32 " messages posted, %" PRIu32 " delivered%s",
			       op->id, result->initiator ? "initiator" : "target",
			       o2_wait_text(result->fault.wait), stand->posted, stand->due, stand->acked,
			       stand->answered ? ", answered" : "");
	if (!late || result->fault.error.value < end->oldest_ms)
		return;
	end->oldest_sent =
		!is_queued(stand) || (end->oldest_sent && result->fault.error.value == end->oldest_ms);
	end->oldest_ms = result->fault.error.value;
}

/* A deadline closes with the oldest operation's wait.  Among equals a sent one counts: queued ones wait for it. */
bool o2_sim_stand_oldest(const struct o2_sim_end *end, const struct o2_transfer_fault *fault)
{
	const uint32_t queues =
		BIT(O2_WAIT_CREDIT) | BIT(O2_WAIT_SEND_ROOM) | BIT(O2_WAIT_RESERVATION) | BIT(O2_WAIT_WINDOW);

	if (fault->error.value != end->oldest_ms)
		return fault->error.value > end->oldest_ms;
	return !end->oldest_sent || (queues >> fault->wait & 1) == 0;
}
