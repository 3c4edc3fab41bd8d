/* SPDX-License-Identifier: MIT */
/* The effect of one request at both ends: docs/loopverbs.md, "Failures". */
#include <string.h>

#include "props/verbs/verbs_internal.h"

static uint32_t packets_of(uint64_t bytes, uint32_t mtu)
{
	return bytes == 0 ? 1 : (uint32_t)((bytes - 1) / mtu) + 1;
}

static uint32_t mtu_of(const struct o2_verbs_qp *qp)
{
	static const uint32_t bytes[] = {[IBV_MTU_256] = 256,
					 [IBV_MTU_512] = 512,
					 [IBV_MTU_1024] = 1024,
					 [IBV_MTU_2048] = 2048,
					 [IBV_MTU_4096] = 4096};

	return qp->attr.path_mtu == 0 ? 128 : bytes[qp->attr.path_mtu];
}

/* The first packet is as long as the requester's path MTU or the message; the responder expects its own. */
static bool is_miscut(const struct o2_verbs_qp *qp, const struct o2_verbs_qp *peer, uint32_t bytes)
{
	const uint32_t sent = bytes < mtu_of(qp) ? bytes : mtu_of(qp);
	const uint32_t expected = bytes < mtu_of(peer) ? bytes : mtu_of(peer);

	return sent != expected;
}

/* Gather the data of a request, up to its first fault, in whole packets. */
static void gather(struct o2_verbs_world *world, struct o2_verbs_qp *qp, const struct o2_verbs_send *send,
		   uint32_t mtu)
{
	if (send->bytes != 0 && send->flags & IBV_SEND_INLINE) {
		world->source.count = send->bytes;
		world->source.status = IBV_WC_SUCCESS;
		memcpy(world->source.value, send->data, send->bytes);
		return;
	}
	o2_verbs_list(&world->side[qp->side], qp->domain, send->sge, send->sges, send->bytes, 0, mtu,
		      &world->source);
	if (world->source.status != IBV_WC_SUCCESS)
		world->source.count -= world->source.count % mtu;
}

static enum o2_verbs_verdict local_fault(struct o2_verbs_world *world, struct o2_verbs_outcome *outcome,
					 enum ibv_wc_status status)
{
	if (status == IBV_WC_LOC_PROT_ERR)
		o2_verbs_saw(world, O2_VERBS_SEEN_LOCAL_RANGE);
	world->counters.local_errors++;
	outcome->status = status;
	return O2_VERBS_FAILED;
}

static void advance(struct o2_verbs_world *world, struct o2_verbs_qp *qp, struct o2_verbs_qp *peer,
		    uint32_t packets)
{
	qp->sq_psn = (qp->sq_psn + packets) % (1u << 24);
	peer->rq_psn = qp->sq_psn;
	world->counters.packets += packets;
	if (packets > 1)
		o2_verbs_saw(world, O2_VERBS_SEEN_MANY_PACKETS);
}

static void tap(struct o2_verbs_world *world, const struct o2_verbs_qp *qp, const struct o2_verbs_qp *peer,
		const struct o2_verbs_send *send, bool is_write)
{
	struct o2_verbs_tapped *tapped = &world->log.tap[world->log.taps % O2_VERBS_LOG];

	world->log.taps++;
	*tapped = (struct o2_verbs_tapped){qp->number, peer->number, is_write, send->bytes, 0, 0, 0, 0};
	if (is_write) {
		tapped->at = send->remote;
		tapped->rkey = send->rkey;
		return;
	}
	tapped->seen = send->bytes < O2_LOOP_SEEN_BYTES ? send->bytes : O2_LOOP_SEEN_BYTES;
	tapped->sum = o2_verbs_sum(world->source.value, world->source.count);
}

static enum o2_verbs_situation situation_of(enum ibv_wr_opcode opcode)
{
	switch ((int)opcode) {
	case IBV_WR_SEND:
		return O2_VERBS_SEEN_SEND;
	case IBV_WR_SEND_WITH_IMM:
		return O2_VERBS_SEEN_SEND_IMM;
	case IBV_WR_SEND_WITH_INV:
		return O2_VERBS_SEEN_SEND_INV;
	case IBV_WR_RDMA_WRITE:
		return O2_VERBS_SEEN_WRITE;
	default:
		return O2_VERBS_SEEN_WRITE_IMM;
	}
}

static enum o2_verbs_verdict execute_out(struct o2_verbs_world *world, struct o2_verbs_qp *qp,
					 struct o2_verbs_qp *peer, const struct o2_verbs_send *send,
					 struct o2_verbs_outcome *outcome)
{
	const bool is_write = send->opcode == IBV_WR_RDMA_WRITE || send->opcode == IBV_WR_RDMA_WRITE_WITH_IMM;
	const uint32_t mtu = mtu_of(qp);
	enum o2_verbs_verdict verdict;

	gather(world, qp, send, mtu);
	if (world->source.status == IBV_WC_LOC_QP_OP_ERR)
		o2_verbs_saw(world, O2_VERBS_SEEN_LOCAL_KEY);
	if (world->source.status != IBV_WC_SUCCESS && (peer == NULL || world->source.count == 0))
		return local_fault(world, outcome, world->source.status);
	if (peer == NULL)
		return O2_VERBS_LOST;
	outcome->miscut = is_miscut(qp, peer, send->bytes);
	verdict = is_write ? o2_verbs_write_to(world, peer, send, mtu, outcome)
			   : o2_verbs_arrive(world, peer, send, mtu, outcome);
	if (verdict == O2_VERBS_FAILED && is_write && world->source.status == IBV_WC_SUCCESS)
		tap(world, qp, peer, send, true);
	if (verdict != O2_VERBS_DONE)
		return verdict;
	if (world->source.status != IBV_WC_SUCCESS) {
		o2_verbs_saw(world, O2_VERBS_SEEN_LOCAL_PART);
		advance(world, qp, peer, packets_of(world->source.count, mtu));
		return local_fault(world, outcome, world->source.status);
	}
	advance(world, qp, peer, packets_of(send->bytes, mtu));
	world->counters.writes += is_write;
	world->counters.sends += !is_write;
	o2_verbs_saw(world, situation_of(send->opcode));
	if (send->bytes != 0 && send->flags & IBV_SEND_INLINE)
		o2_verbs_saw(world, O2_VERBS_SEEN_INLINE);
	if (send->sges == O2_VERBS_SGES)
		o2_verbs_saw(world, O2_VERBS_SEEN_LONG_LIST);
	tap(world, qp, peer, send, is_write);
	outcome->bytes = send->bytes;
	return O2_VERBS_DONE;
}

static enum o2_verbs_verdict take_answer(struct o2_verbs_world *world, struct o2_verbs_qp *qp,
					 const struct o2_verbs_send *send, bool is_read,
					 struct o2_verbs_outcome *outcome)
{
	const uint32_t bytes = is_read ? send->bytes : 8;

	o2_verbs_scatter(world, qp, qp->domain, send->sge, send->sges, bytes,
			 is_read ? mtu_of(qp) : O2_VERBS_PAGE);
	o2_verbs_put(world, &world->side[qp->side], &world->sink, world->remote.value);
	if (world->sink.status != IBV_WC_SUCCESS) {
		o2_verbs_saw(world, O2_VERBS_SEEN_READ_FAULT);
		return local_fault(world, outcome, IBV_WC_LOC_PROT_ERR);
	}
	world->counters.reads += is_read;
	world->counters.atomics += !is_read;
	outcome->bytes = bytes;
	return O2_VERBS_DONE;
}

static enum o2_verbs_verdict execute_read(struct o2_verbs_world *world, struct o2_verbs_qp *qp,
					  struct o2_verbs_qp *peer, const struct o2_verbs_send *send,
					  struct o2_verbs_outcome *outcome)
{
	const enum o2_verbs_verdict verdict =
		o2_verbs_ask(world, peer, send, IBV_ACCESS_REMOTE_READ, send->bytes, outcome);

	if (verdict != O2_VERBS_DONE)
		return verdict;
	if (is_miscut(qp, peer, send->bytes))
		return O2_VERBS_LOST;
	advance(world, qp, peer, packets_of(send->bytes, mtu_of(qp)));
	o2_verbs_saw(world, O2_VERBS_SEEN_READ);
	return take_answer(world, qp, send, true, outcome);
}

static enum o2_verbs_verdict execute_atomic(struct o2_verbs_world *world, struct o2_verbs_qp *qp,
					    struct o2_verbs_qp *peer, const struct o2_verbs_send *send,
					    struct o2_verbs_outcome *outcome)
{
	const bool adds = send->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD;
	const enum o2_verbs_verdict verdict =
		o2_verbs_ask(world, peer, send, IBV_ACCESS_REMOTE_ATOMIC, 8, outcome);
	uint64_t old, new;

	if (verdict != O2_VERBS_DONE)
		return verdict;
	advance(world, qp, peer, 1);
	memcpy(&old, world->remote.value, 8);
	new = adds ? old + send->compare_add : old == send->compare_add ? send->swap : old;
	for (uint32_t i = 0; i < 8; i++)
		world->side[peer->side].model[world->remote.place[i]] = ((const uint8_t *)&new)[i];
	if (adds || old == send->compare_add)
		o2_verbs_saw(world, adds ? O2_VERBS_SEEN_ADD : O2_VERBS_SEEN_SWAP);
	return take_answer(world, qp, send, false, outcome);
}

static struct o2_verbs_qp *find(struct o2_verbs_world *world, uint32_t side, uint32_t number,
				enum ibv_qp_type type)
{
	for (uint32_t i = 0; side < O2_VERBS_SIDES && i < O2_VERBS_PAIRS; i++) {
		struct o2_verbs_qp *qp = &world->side[side].qp[i];

		if (qp->qp != NULL && qp->number == number && qp->type == type &&
		    (qp->state == IBV_QPS_RTR || qp->state == IBV_QPS_RTS || qp->state == IBV_QPS_SQD))
			return qp;
	}
	return NULL;
}

static enum o2_verbs_verdict execute_local(struct o2_verbs_world *world, struct o2_verbs_qp *qp,
					   const struct o2_verbs_send *send, struct o2_verbs_outcome *outcome)
{
	enum ibv_wc_status status;

	if (send->opcode == IBV_WR_BIND_MW)
		status = o2_verbs_bind(world, qp, send);
	else if (send->opcode == O2_LOOP_WR_REG_MR)
		status = o2_verbs_register(world, qp, send) ? IBV_WC_SUCCESS : IBV_WC_LOC_QP_OP_ERR;
	else {
		status = o2_verbs_invalidate(world, qp, send->imm) ? IBV_WC_SUCCESS : IBV_WC_LOC_QP_OP_ERR;
		o2_verbs_saw(world, status == IBV_WC_SUCCESS ? O2_VERBS_SEEN_LOCAL_INV
							     : O2_VERBS_SEEN_LOCAL_INV_WRONG);
	}
	return status == IBV_WC_SUCCESS ? O2_VERBS_DONE : local_fault(world, outcome, status);
}

static enum o2_verbs_verdict execute_unreliable(struct o2_verbs_world *world, struct o2_verbs_qp *qp,
						const struct o2_verbs_send *send,
						struct o2_verbs_outcome *outcome)
{
	const bool ud = qp->type == IBV_QPT_UD;
	const bool is_send = send->opcode == IBV_WR_SEND || send->opcode == IBV_WR_SEND_WITH_IMM;
	struct o2_verbs_qp *peer = ud ? find(world, send->to_side, send->to_number, IBV_QPT_UD)
				      : find(world, qp->dest_side, qp->attr.dest_qp_num, IBV_QPT_UC);
	const uint32_t mtu = ud ? O2_VERBS_PAGE : mtu_of(qp);
	struct o2_verbs_outcome ignored = {0};
	enum o2_verbs_verdict verdict;

	gather(world, qp, send, mtu);
	if (world->source.status != IBV_WC_SUCCESS)
		return local_fault(world, outcome, world->source.status);
	outcome->bytes = send->bytes;
	if (peer == NULL)
		return O2_VERBS_DONE;
	if (ud) {
		o2_verbs_datagram(world, qp, peer, send);
		return O2_VERBS_DONE;
	}
	verdict = is_send ? o2_verbs_arrive(world, peer, send, mtu, &ignored)
			  : o2_verbs_write_to(world, peer, send, mtu, &ignored);
	if (verdict == O2_VERBS_DONE) {
		world->counters.packets += packets_of(send->bytes, mtu);
		world->counters.sends += is_send;
		world->counters.writes += !is_send;
		o2_verbs_saw(world, O2_VERBS_SEEN_UNRELIABLE);
	}
	return O2_VERBS_DONE;
}

enum o2_verbs_verdict o2_verbs_execute(struct o2_verbs_world *world, struct o2_verbs_qp *qp,
				       const struct o2_verbs_send *send, struct o2_verbs_outcome *outcome)
{
	struct o2_verbs_qp *peer;

	if (send->opcode == IBV_WR_BIND_MW || send->opcode == IBV_WR_LOCAL_INV ||
	    send->opcode == O2_LOOP_WR_REG_MR)
		return execute_local(world, qp, send, outcome);
	if (qp->type != IBV_QPT_RC)
		return execute_unreliable(world, qp, send, outcome);
	peer = find(world, qp->dest_side, qp->attr.dest_qp_num, IBV_QPT_RC);
	if (peer != NULL && (peer->attr.dest_qp_num != qp->number || peer->dest_side != qp->side ||
			     peer->rq_psn != qp->sq_psn))
		peer = NULL;
	outcome->peer = peer;
	switch (send->opcode) {
	case IBV_WR_RDMA_READ:
		return peer == NULL ? O2_VERBS_LOST : execute_read(world, qp, peer, send, outcome);
	case IBV_WR_ATOMIC_CMP_AND_SWP:
	case IBV_WR_ATOMIC_FETCH_AND_ADD:
		return peer == NULL ? O2_VERBS_LOST : execute_atomic(world, qp, peer, send, outcome);
	default:
		return execute_out(world, qp, peer, send, outcome);
	}
}
