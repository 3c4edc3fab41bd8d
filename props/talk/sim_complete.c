/* SPDX-License-Identifier: MIT */
#include "props/talk/sim_internal.h"

/* Passes completions to a connection one at a time (docs/simulation.md, "Steps"). */

bool o2_sim_has_completion(const struct o2_sim_end *end)
{
	return end->conn != NULL && o2_conn_get_state(end->conn) != O2_CONN_DISCONNECTED &&
	       o2_loop_cq_entries(o2_conn_cq(end->conn)) > 0;
}

static void handle(struct o2_sim *sim, struct o2_sim_end *end, const struct ibv_wc *wc)
{
	o2_sim_log(sim, O2_SIM_EV_COMPLETION, end, wc->status == IBV_WC_SUCCESS ? wc->opcode : 0,
		   (int32_t)wc->status);
	if (wc->status == IBV_WC_WR_FLUSH_ERR)
		o2_sim_seen(sim, O2_SIM_SEEN_FLUSHED);
	if (wc->status == IBV_WC_SUCCESS && wc->opcode == IBV_WC_RECV)
		o2_sim_wire_handled(end, 1);
	o2_sim_stand_completed(end, wc);
	sim->acting = end;
	o2_conn_complete(end->conn, wc);
	sim->acting = NULL;
	end->hearing = NULL;
	o2_sim_fault_after(sim, end);
}

/*
 * Completions of requests and of receives have no order relative to each other: if an acknowledgement is
 * lost, a later one stands for it, and the peer's answer may arrive before that.  The simulation does this
 * in cases that limit the messages in flight, where an answer may then find no room to continue.
 */
static bool may_be_overtaken(const struct o2_sim *sim, const struct ibv_wc *wc)
{
	return sim->config.concurrent_sends != 0 && wc->status == IBV_WC_SUCCESS && wc->opcode == IBV_WC_SEND;
}

void o2_sim_complete(struct o2_sim *sim, struct o2_sim_end *end)
{
	struct ibv_wc wc, next;
	bool both;

	if (ibv_poll_cq(o2_conn_cq(end->conn), 1, &wc) != 1)
		return;
	both = may_be_overtaken(sim, &wc) && ibv_poll_cq(o2_conn_cq(end->conn), 1, &next) == 1;
	if (both && next.opcode == IBV_WC_RECV && next.status == IBV_WC_SUCCESS) {
		handle(sim, end, &next);
		both = false;
	}
	if (end->conn != NULL)
		handle(sim, end, &wc);
	if (both && end->conn != NULL)
		handle(sim, end, &next);
}
