/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "lnd/ni/counts.h"
#include "mem/kmap.h"
#include "props/talk/sim_internal.h"
#include "props/talk/wrap/alloc_fault.h"

#define POOL_RETRY_MS 1000u

/* Injects faults, and records the outcomes that each permits (docs/simulation.md, "Faults"). */

void o2_sim_codes_add(struct o2_sim_codes *codes, int code)
{
	if (!o2_sim_codes_has(codes, code) && codes->count < O2_SIM_CODES)
		codes->code[codes->count++] = code;
}

bool o2_sim_codes_has(const struct o2_sim_codes *codes, int code)
{
	for (uint32_t i = 0; i < codes->count; i++)
		if (codes->code[i] == code)
			return true;
	return false;
}

bool o2_sim_may_fail(const struct o2_sim_op *op, const struct o2_sim_end *end, int code)
{
	return o2_sim_codes_has(op->end == end ? &op->hit : &op->hit_there, code);
}

static void hit(struct o2_sim_op *op, const struct o2_sim_end *end, int code)
{
	if (op->end == end)
		o2_sim_codes_add(&op->hit, code);
	else if (op->end->other == end)
		o2_sim_codes_add(&op->hit_there, code);
}

/*
 * A pool that failed to grow reports its own error, also during the following second: -ENOMEM for
 * transmits, -EAGAIN for registrations (docs/pools.md).
 */
static void hit_by_pool(struct o2_sim_op *op, const struct o2_sim_end *end)
{
	hit(op, end, -ENOMEM);
	hit(op, end, -EAGAIN);
}

void o2_sim_works_on(struct o2_sim *sim, struct o2_sim_end *end, struct o2_sim_op *op)
{
	const struct o2_sim_node *node = &sim->node[end->node];

	o2_sim_fault_after(sim, end);
	sim->at_work = op;
	if (sim->now_ms < node->no_growth_until_ms)
		hit_by_pool(op, end);
	if (node->gone)
		hit(op, end, -ENETDOWN);
	if (node->place->ni.domain.dma.iommu.fault != O2_DMA_NO_FAULT && end->node == 0) {
		hit(op, end, -EIO);
		hit(op, end, -ENOMEM);
	}
	if (sim->kmaps_taken)
		hit(op, end, -ENOSPC);
}

void o2_sim_may_close(struct o2_sim_end *end, enum o2_fault_side side, int code, const char *rule)
{
	struct o2_sim_reasons *may = &end->may_close;

	for (uint32_t i = 0; i < may->count; i++)
		if (may->reason[i].side == side && may->reason[i].code == code && may->reason[i].rule == rule)
			return;
	if (may->count < O2_SIM_REASONS)
		may->reason[may->count++] = (struct o2_sim_reason){side, code, rule};
}

void o2_sim_is_closed(struct o2_sim_end *end, int code)
{
	o2_sim_may_close(end, code == 0 ? O2_FAULT_NONE : O2_FAULT_CLOSED, code,
			 code == 0 ? NULL : "conn/closed");
}

void o2_sim_break(struct o2_sim_end *end)
{
	end->broken = true;
}

/* --- the device's hooks --- */

static const enum o2_sim_situation situation_of[O2_LOOP_CALLS] = {
	[O2_LOOP_CALL_POST_SEND] = O2_SIM_SEEN_POST_SEND_FAILED,
	[O2_LOOP_CALL_POST_RECV] = O2_SIM_SEEN_POST_RECV_FAILED,
	[O2_LOOP_CALL_REGISTER] = O2_SIM_SEEN_REGISTER_FAILED,
	[O2_LOOP_CALL_MAKE] = O2_SIM_SEEN_MAKE_FAILED,
	[O2_LOOP_CALL_MODIFY] = O2_SIM_SEEN_MODIFY_FAILED,
	[O2_LOOP_CALL_POLL] = O2_SIM_SEEN_POLL_FAILED,
	[O2_LOOP_CALL_EXECUTE] = O2_SIM_SEEN_EXECUTE_FAILED,
};

/* Operations that wait for a window of this node are mapped later, inside whatever call frees the window. */
static void hit_waiting(struct o2_sim *sim, uint32_t node, int code)
{
	for (uint32_t i = 0; i < sim->nops; i++) {
		struct o2_sim_op *op = &sim->op[i];

		if (op->end->node != node || !op->started || op->requested)
			continue;
		hit(op, op->end, code);
		hit_by_pool(op, op->end);
	}
}

/*
 * A stage at this node fails with `code` while it works for one operation: the current one, or one that
 * waited for a window and is being mapped now.
 */
static void stage_fails(struct o2_sim *sim, struct o2_sim_end *end, int code)
{
	struct o2_sim_node *node = &sim->node[end->node];

	node->used_up = true;
	o2_sim_codes_add(&node->failed, code);
	node->no_growth_until_ms = sim->now_ms + POOL_RETRY_MS;
	if (sim->at_work != NULL) {
		hit(sim->at_work, end, code);
		hit_by_pool(sim->at_work, end);
	}
	hit_waiting(sim, end->node, code);
}

static void consequences(struct o2_sim *sim, struct o2_sim_end *end, enum o2_loop_call call, int value)
{
	switch (call) {
	case O2_LOOP_CALL_POST_SEND:
	case O2_LOOP_CALL_POST_RECV:
		o2_sim_may_close(end, O2_FAULT_LOCAL_STAGE, -value,
				 call == O2_LOOP_CALL_POST_SEND ? "post/send" : "conn/post-recv");
		o2_sim_codes_add(&sim->node[end->node].failed, -value); /* while it is made */
		break;
	case O2_LOOP_CALL_EXECUTE:
		o2_sim_may_close(end, O2_FAULT_LOCAL_COMPLETION, -EIO, "conn/completion");
		o2_sim_break(end);
		break;
	case O2_LOOP_CALL_POLL:
		o2_sim_may_close(end, O2_FAULT_DEVICE, -EIO, "conn/poll");
		break;
	default:
		stage_fails(sim, end, call == O2_LOOP_CALL_REGISTER ? -value : -ENOMEM);
		break;
	}
}

static int fault_hook(void *arg, enum o2_loop_call call, uint32_t qp_num)
{
	struct o2_sim *sim = arg;
	struct o2_sim_fault *fault = &sim->fault;
	struct o2_sim_end *end = qp_num != 0 ? o2_sim_end_of_qp(sim, qp_num) : sim->acting;

	if (fault->kind != O2_SIM_FAIL_CALL || call != fault->call || --fault->left > 0)
		return 0;
	fault->kind = O2_SIM_NO_FAULT;
	if (end == NULL)
		end = sim->acting;
	if (end == NULL)
		return 0;
	o2_sim_log(sim, O2_SIM_EV_FAULT, end, call, fault->value);
	o2_sim_seen(sim, situation_of[call]);
	consequences(sim, end, call, fault->value);
	return fault->value;
}

static int pick_hook(void *arg, const uint32_t *qp_nums, unsigned int count)
{
	struct o2_sim *sim = arg;
	int next = sim->run_next;

	sim->run_next = -1;
	sim->nrunnable = count < O2_SIM_ENDS ? count : O2_SIM_ENDS;
	for (uint32_t i = 0; i < sim->nrunnable; i++)
		sim->runnable[i] = qp_nums[i];
	return next;
}

void o2_sim_faults_install(struct o2_sim *sim)
{
	sim->fault.kind = O2_SIM_NO_FAULT;
	sim->run_next = -1;
	o2_loop_set_fault(fault_hook, sim);
	o2_loop_set_pick(pick_hook, sim);
	o2_loop_set_tap(o2_sim_tap, sim);
}

void o2_sim_faults_remove(void)
{
	o2_alloc_fault_arm(0);
	o2_loop_set_fault(NULL, NULL);
	o2_loop_set_pick(NULL, NULL);
	o2_loop_set_tap(NULL, NULL);
}

/* --- drawing --- */

static int draw_value(struct o2_sim *sim, enum o2_loop_call call)
{
	static const int errnos[] = {ENOMEM, EIO, EINVAL};
	static const int statuses[] = {
		IBV_WC_LOC_QP_OP_ERR,	  IBV_WC_LOC_PROT_ERR,	IBV_WC_REM_ACCESS_ERR, IBV_WC_REM_INV_REQ_ERR,
		IBV_WC_RNR_RETRY_EXC_ERR, IBV_WC_RETRY_EXC_ERR, IBV_WC_WR_FLUSH_ERR};

	if (call == O2_LOOP_CALL_EXECUTE)
		return statuses[o2_draw_pick(sim->choice, sizeof(statuses) / sizeof(statuses[0]))];
	return errnos[o2_draw_pick(sim->choice, sizeof(errnos) / sizeof(errnos[0]))];
}

void o2_sim_fault_arm(struct o2_sim *sim, enum o2_loop_call call, uint32_t most)
{
	sim->fault = (struct o2_sim_fault){
		.kind = O2_SIM_FAIL_CALL,
		.call = call,
		.left = 1 + (uint32_t)o2_draw(sim->choice, most - 1),
		.value = draw_value(sim, call),
	};
	o2_sim_log(sim, O2_SIM_EV_ARM, NULL, call, (int32_t)sim->fault.left);
}

void o2_sim_fault_arm_allocation(struct o2_sim *sim, uint32_t most)
{
	uint32_t nth = 1 + (uint32_t)o2_draw(sim->choice, most - 1);

	o2_sim_log(sim, O2_SIM_EV_ARM, NULL, O2_LOOP_CALLS, (int32_t)nth);
	o2_alloc_fault_arm(nth);
}

/* Put the queue pair into error, as if it failed by itself: all its requests are flushed. */
static void fail_qp(struct o2_sim *sim, struct o2_sim_end *end)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_ERR};

	if (end->conn == NULL || o2_conn_qp(end->conn) == NULL)
		return;
	o2_sim_seen(sim, O2_SIM_SEEN_QP_ERROR);
	o2_sim_log(sim, O2_SIM_EV_FAULT, end, O2_LOOP_CALLS, 0);
	o2_sim_may_close(end, O2_FAULT_LOCAL_COMPLETION, -EIO, "conn/completion");
	o2_sim_break(end);
	ibv_modify_qp(o2_conn_qp(end->conn), &attr, IBV_QP_STATE);
}

static void close_end(struct o2_sim *sim, struct o2_sim_end *end, bool destroy)
{
	int code = destroy ? 0 : -ECONNRESET;

	if (end->conn == NULL)
		return;
	o2_sim_log(sim, O2_SIM_EV_CLOSE, end, destroy, code);
	o2_sim_is_closed(end, code);
	if (o2_conn_get_state(end->conn) == O2_CONN_ESTABLISHED)
		o2_sim_seen(sim, destroy ? O2_SIM_SEEN_DESTROYED : O2_SIM_SEEN_CLOSED_BY_US);
	sim->acting = end;
	if (destroy) {
		o2_conn_destroy(end->conn);
		end->conn = NULL;
	} else {
		o2_conn_close(end->conn, code);
	}
	sim->acting = NULL;
}

/*
 * After failover all pools have failed, and those still in use are kept until they are not.  Check that
 * each pool is accounted for and each descriptor has its window; in a pool that had failed before, a discarded
 * descriptor has none.
 */
static void check_pools(struct o2_sim *sim, uint32_t node, bool had_failed)
{
	struct o2_ni_counts counts;
	uint64_t descriptors, windows;

	o2_ni_get_counts(&sim->node[node].place->ni, &counts);
	for (int kind = 0; kind < O2_NI_POOL_KINDS; kind++) {
		const struct o2_ni_pool_counts *of = &counts.pool[kind];

		if (of->created - of->destroyed != (uint64_t)of->live + of->failed || of->live != 0 ||
		    of->idle > of->elements)
			o2_report_fail(sim->report, "sim/pools",
				       "pools %s: %" PRIu64 " made, %" PRIu64 " gone, %" PRIu32
				       " live, %" PRIu32 " failed; %" PRIu64 " of %" PRIu64 " elements idle",
				       o2_place_pool_names[kind], of->created, of->destroyed, of->live,
				       of->failed, of->idle, of->elements);
	}
	descriptors = counts.pool[O2_NI_POOL_FRD].elements + counts.pool[O2_NI_POOL_FRD_GAPS].elements;
	windows = (uint64_t)counts.live.mws + counts.live.descriptor_regions;
	if (had_failed ? windows > descriptors : windows != descriptors)
		o2_report_fail(sim->report, "sim/pools",
			       "%" PRIu64 " descriptors, and %" PRIu64 " windows and regions of descriptors",
			       descriptors, windows);
}

/* The node's device is lost, and another one replaces it. */
static void fail_over(struct o2_sim *sim, uint32_t node)
{
	struct o2_ni_counts before;

	o2_sim_seen(sim, O2_SIM_SEEN_FAILOVER);
	o2_sim_log(sim, O2_SIM_EV_FAULT, NULL, O2_LOOP_CALLS + 1, (int32_t)node);
	sim->node[node].used_up = true;
	sim->node[node].gone = true;
	hit_waiting(sim, node, -ENETDOWN);
	for (uint32_t i = 0; i < sim->nends; i++)
		if (sim->end[i].node == node)
			o2_sim_may_close(&sim->end[i], O2_FAULT_DEVICE, -ENETDOWN, "pool/failed"),
				o2_sim_may_close(&sim->end[i], O2_FAULT_DEVICE, -ENETDOWN,
						 "pool/other-device");
	o2_ni_get_counts(&sim->node[node].place->ni, &before);
	o2_ni_failover(&sim->node[node].place->ni);
	check_pools(sim, node,
		    before.pool[O2_NI_POOL_FRD].failed + before.pool[O2_NI_POOL_FRD_GAPS].failed > 0);
}

/* Set or clear a fault of the IOMMU of the first node's device: while set, it maps nothing. */
static void fail_mapping(struct o2_sim *sim)
{
	enum o2_dma_fault *fault = &sim->node[0].place->ni.domain.dma.iommu.fault;

	*fault = *fault != O2_DMA_NO_FAULT
			 ? O2_DMA_NO_FAULT
			 : (enum o2_dma_fault)(1 + o2_draw_pick(sim->choice, O2_DMA_FAULTS - 1));
	o2_sim_log(sim, O2_SIM_EV_FAULT, NULL, O2_LOOP_CALLS + 3, (int32_t)*fault);
	sim->node[0].used_up = true;
	hit_waiting(sim, 0, -EIO);
}

/*
 * Take all temporary mappings that a thread may have, or give them back.  While they are taken, no node copies bytes
 * of pages: for a device that bounces, for staging, for the payload of an IMMEDIATE.
 */
void o2_sim_fault_kmaps(struct o2_sim *sim)
{
	const struct o2_arena *arena = &sim->node[0].place->ni.arena;

	for (uint32_t i = 0; i < O2_KMAPS_MAX; i++)
		if (sim->kmaps_taken)
			o2_kunmap(&sim->kmap[i]);
		else if (o2_kmap(arena, 0, &sim->kmap[i], NULL) != 0)
			o2_report_fail(sim->report, "sim/kmaps",
				       "%" PRIu32 " temporary mappings are all that there are", i);
	sim->kmaps_taken = !sim->kmaps_taken;
	o2_sim_log(sim, O2_SIM_EV_FAULT, NULL, O2_LOOP_CALLS + 4, sim->kmaps_taken ? -ENOSPC : 0);
	for (uint32_t i = 0; i < sim->nnodes && sim->kmaps_taken; i++)
		hit_waiting(sim, i, -ENOSPC);
}

void o2_sim_fault_at_end(struct o2_sim *sim, struct o2_sim_end *end, struct o2_sim_op *op)
{
	o2_sim_fault_after(sim, end);
	if (sim->kmaps_taken)
		hit(op, end, -ENOSPC);
}

void o2_sim_fault_reason(struct o2_sim *sim, const struct o2_error *error)
{
	if (error->rule != NULL && strncmp(error->rule, "dma/iommu/", strlen("dma/iommu/")) == 0)
		o2_sim_seen(sim, O2_SIM_SEEN_MAPPING_FAILED);
	if (error->rule != NULL && strcmp(error->rule, "kmap/too-many") == 0)
		o2_sim_seen(sim, O2_SIM_SEEN_KMAPS_TAKEN);
}

void o2_sim_fault_draw(struct o2_sim *sim)
{
	const uint32_t weights[] = {
		4, 4, 4, 3, 2, 2, 3, 2, 2, 1, 1, 1, sim->remapped ? 6 : 0, sim->kmaps_taken ? 0 : 3};
	static const enum o2_loop_call calls[] = {O2_LOOP_CALL_EXECUTE,	 O2_LOOP_CALL_POST_SEND,
						  O2_LOOP_CALL_REGISTER, O2_LOOP_CALL_POST_RECV,
						  O2_LOOP_CALL_MAKE,	 O2_LOOP_CALL_POLL};
	size_t kind = o2_draw_weighted(sim->choice, weights, sizeof(weights) / sizeof(weights[0]));
	struct o2_sim_end *end = &sim->end[o2_draw_pick(sim->choice, sim->nends)];

	if (kind < sizeof(calls) / sizeof(calls[0]))
		o2_sim_fault_arm(sim, calls[kind], 8);
	else if (kind == 6)
		o2_sim_fault_arm_allocation(sim, 6);
	else if (kind == 7)
		fail_qp(sim, end);
	else if (kind == 8)
		close_end(sim, end, false);
	else if (kind == 9)
		close_end(sim, end, true);
	else if (kind == 10)
		sim->close_inside = true;
	else if (kind == 12)
		fail_mapping(sim);
	else if (kind == 13)
		o2_sim_fault_kmaps(sim);
	else
		fail_over(sim, end->node);
}

void o2_sim_fault_disarm(struct o2_sim *sim)
{
	sim->fault.kind = O2_SIM_NO_FAULT;
	sim->close_inside = false;
	sim->node[0].place->ni.domain.dma.iommu.fault = O2_DMA_NO_FAULT;
	if (sim->kmaps_taken)
		o2_sim_fault_kmaps(sim);
	o2_alloc_fault_arm(0);
}

/* An allocation failed in code of this end: whatever that code did may be refused for it, but nothing worse. */
void o2_sim_fault_after(struct o2_sim *sim, struct o2_sim_end *end)
{
	if (!o2_alloc_fault_fired())
		return;
	o2_sim_seen(sim, O2_SIM_SEEN_ALLOCATION_FAILED);
	o2_sim_log(sim, O2_SIM_EV_FAULT, end, O2_LOOP_CALLS + 2, -ENOMEM);
	stage_fails(sim, end, -ENOMEM);
}
