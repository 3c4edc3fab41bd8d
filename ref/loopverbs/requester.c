/* SPDX-License-Identifier: MIT */
/* The requester's side of executing a send. */

#include "loopverbs/internal.h"

/*
 * Find the peer: the queue pair that the address names, if it is connected back to qp and expects qp's next
 * packet.  Any other queue pair would drop the packet, so the requester would get no answer.
 */
static struct o2l_qp *find_peer(const struct o2l_qp *qp)
{
	struct o2l_qp *peer = o2l_index_get(&o2l_fabric.qps, qp->attr.dest_qp_num);

	if (!peer || peer->device != qp->dest_device || peer->ibv.qp_type != qp->ibv.qp_type)
		return NULL;
	if (peer->state != IBV_QPS_RTR && peer->state != IBV_QPS_RTS && peer->state != IBV_QPS_SQD)
		return NULL;
	if (peer->attr.dest_qp_num != qp->ibv.qp_num || peer->dest_device != qp->device)
		return NULL;
	return peer->rq_psn == qp->sq_psn ? peer : NULL;
}

static void advance_psn(struct o2l_qp *qp, struct o2l_qp *peer, uint32_t packets)
{
	qp->sq_psn = (qp->sq_psn + packets) & O2L_PSN_MASK;
	peer->rq_psn = qp->sq_psn;
	o2l_fabric.counters.packets += packets;
}

static const struct ibv_sge *sges_of(const struct o2l_qp *qp, const struct o2l_send *wr)
{
	return qp->sq_sges ? &qp->sq_sges[(size_t)(wr - qp->sq) * qp->init.cap.max_send_sge] : NULL;
}

/* Gather the data of the request at the head of the queue. */
static void gather(struct o2l_qp *qp, const struct o2l_send *wr, uint32_t mtu_bytes, struct o2l_sgl *sgl)
{
	size_t slot = (size_t)(wr - qp->sq);

	if (wr->length_bytes == 0)
		o2l_sgl_one(sgl, NULL, 0);
	else if (wr->flags & IBV_SEND_INLINE)
		o2l_sgl_one(sgl, qp->sq_inline + slot * qp->init.cap.max_inline_data, wr->length_bytes);
	else
		o2l_sgl_gather(qp->ibv.pd, sges_of(qp, wr), wr->num_sge, wr->length_bytes, mtu_bytes, sgl);
}

static enum o2l_verdict local_fault(struct o2l_outcome *outcome, enum ibv_wc_status status)
{
	o2l_fabric.counters.local_errors++;
	outcome->status = status;
	return O2L_FAILED;
}

static bool is_write(const struct o2l_send *wr)
{
	return wr->opcode == IBV_WR_RDMA_WRITE || wr->opcode == IBV_WR_RDMA_WRITE_WITH_IMM;
}

static void count_out(const struct o2l_send *wr)
{
	if (is_write(wr))
		o2l_fabric.counters.writes++;
	else
		o2l_fabric.counters.sends++;
}

/* Does the message take several packets at one end, and do the ends disagree about their size? */
static bool is_miscut(const struct o2l_qp *qp, const struct o2l_qp *peer, const struct o2l_send *wr)
{
	const enum ibv_mtu ours = qp->attr.path_mtu, theirs = peer->attr.path_mtu;

	return ours != theirs && wr->length_bytes > o2l_mtu_bytes(ours < theirs ? ours : theirs);
}

/* Execute a SEND or RDMA WRITE.  A fault in the local gather list drops the packets from the fault on. */
static enum o2l_verdict execute_out(struct o2l_qp *qp, struct o2l_qp *peer, const struct o2l_send *wr,
				    struct o2l_outcome *outcome)
{
	uint32_t mtu_bytes = o2l_mtu_bytes(qp->attr.path_mtu);
	struct o2l_sgl data;
	struct o2l_request request = {.wr = wr, .data = &data, .mtu_bytes = mtu_bytes};
	enum o2l_verdict verdict;

	gather(qp, wr, mtu_bytes, &data);
	/* A local fault is reported even if no peer answers. */
	if (data.status != IBV_WC_SUCCESS && (!peer || data.valid_bytes == 0))
		return local_fault(outcome, data.status);
	if (!peer)
		return O2L_LOST;
	request.miscut = is_miscut(qp, peer, wr);
	verdict = is_write(wr) ? o2l_respond_write(peer, &request, &outcome->status)
			       : o2l_respond_send(peer, &request, &outcome->status);
	if (verdict == O2L_FAILED && is_write(wr) && data.status == IBV_WC_SUCCESS)
		o2l_tell_tap(qp, peer, wr, &data);
	if (verdict != O2L_DONE)
		return verdict;
	if (data.status != IBV_WC_SUCCESS) {
		advance_psn(qp, peer, o2l_packets(data.valid_bytes, mtu_bytes));
		return local_fault(outcome, data.status);
	}
	advance_psn(qp, peer, o2l_packets(wr->length_bytes, mtu_bytes));
	count_out(wr);
	o2l_tell_tap(qp, peer, wr, &data);
	outcome->byte_len = wr->length_bytes;
	return O2L_DONE;
}

static enum o2l_verdict execute_read(struct o2l_qp *qp, struct o2l_qp *peer, const struct o2l_send *wr,
				     struct o2l_outcome *outcome)
{
	uint32_t mtu_bytes = o2l_mtu_bytes(qp->attr.path_mtu);
	struct o2l_sgl to, from;
	enum o2l_verdict verdict;
	uint8_t *range;

	verdict = o2l_respond_range(peer, wr, &range, &outcome->status);
	if (verdict != O2L_DONE)
		return verdict;
	if (is_miscut(qp, peer, wr))
		return O2L_LOST; /* the answer's packets are dropped */
	advance_psn(qp, peer, o2l_packets(wr->length_bytes, mtu_bytes));
	o2l_sgl_one(&from, range, wr->length_bytes);
	o2l_sgl_scatter(qp->ibv.pd, sges_of(qp, wr), wr->num_sge, wr->length_bytes, mtu_bytes, &to);
	o2l_sgl_copy(&to, &from, to.valid_bytes);
	if (to.status != IBV_WC_SUCCESS)
		return local_fault(outcome, IBV_WC_LOC_PROT_ERR); /* for every fault, as measured */
	o2l_fabric.counters.reads++;
	outcome->byte_len = wr->length_bytes;
	return O2L_DONE;
}

static enum o2l_verdict execute_atomic(struct o2l_qp *qp, struct o2l_qp *peer, const struct o2l_send *wr,
				       struct o2l_outcome *outcome)
{
	struct o2l_sgl to, from;
	enum o2l_verdict verdict;
	uint64_t old, new;
	uint8_t *range;

	verdict = o2l_respond_range(peer, wr, &range, &outcome->status);
	if (verdict != O2L_DONE)
		return verdict;
	advance_psn(qp, peer, 1);
	memcpy(&old, range, sizeof(old));
	new = old;
	if (wr->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD)
		new = old + wr->atomic.compare_add;
	else if (old == wr->atomic.compare_add)
		new = wr->atomic.swap;
	memcpy(range, &new, sizeof(new));
	o2l_sgl_one(&from, (uint8_t *)&old, sizeof(old));
	o2l_sgl_scatter(qp->ibv.pd, sges_of(qp, wr), wr->num_sge, sizeof(old), O2L_PAGE_BYTES, &to);
	o2l_sgl_copy(&to, &from, to.valid_bytes);
	if (to.status != IBV_WC_SUCCESS)
		return local_fault(outcome, IBV_WC_LOC_PROT_ERR);
	o2l_fabric.counters.atomics++;
	outcome->byte_len = sizeof(old);
	return O2L_DONE;
}

static enum o2l_verdict execute_local(struct o2l_qp *qp, const struct o2l_send *wr,
				      struct o2l_outcome *outcome)
{
	enum ibv_wc_status status;

	if (wr->opcode == IBV_WR_BIND_MW)
		status = o2l_mw_bind(qp, wr);
	else if (wr->opcode == O2_LOOP_WR_REG_MR)
		status = o2l_fast_register(qp, wr) ? IBV_WC_SUCCESS : IBV_WC_LOC_QP_OP_ERR;
	else
		status = o2l_mw_invalidate(qp, wr->invalidate_rkey) ? IBV_WC_SUCCESS : IBV_WC_LOC_QP_OP_ERR;
	return status == IBV_WC_SUCCESS ? O2L_DONE : local_fault(outcome, status);
}

/* Unreliable types: the request completes when the packet is sent, whether or not a peer receives it. */
static enum o2l_verdict execute_unreliable(struct o2l_qp *qp, const struct o2l_send *wr,
					   struct o2l_outcome *outcome)
{
	bool ud = qp->ibv.qp_type == IBV_QPT_UD;
	struct o2l_qp *peer = o2l_index_get(&o2l_fabric.qps, ud ? wr->ud.qpn : qp->attr.dest_qp_num);
	struct o2l_device *device = ud ? o2l_device_by_gid(&wr->ud.dgid) : qp->dest_device;
	struct o2l_sgl data;
	struct o2l_request request = {.wr = wr, .data = &data, .src_qp = qp->ibv.qp_num};
	enum o2l_verdict verdict = O2L_LOST;
	enum ibv_wc_status ignored;

	request.mtu_bytes = ud ? O2L_PAGE_BYTES : o2l_mtu_bytes(qp->attr.path_mtu);
	if (ud)
		request.sgid = qp->device->gid[wr->ud.sgid_index];
	gather(qp, wr, request.mtu_bytes, &data);
	if (data.status != IBV_WC_SUCCESS)
		return local_fault(outcome, data.status);
	outcome->byte_len = wr->length_bytes;
	if (!peer || peer->device != device || peer->ibv.qp_type != qp->ibv.qp_type ||
	    (peer->state != IBV_QPS_RTR && peer->state != IBV_QPS_RTS && peer->state != IBV_QPS_SQD))
		return O2L_DONE;
	if (ud && peer->rq->count)
		o2l_respond_ud(peer, &request);
	else if (!ud)
		verdict = is_write(wr) ? o2l_respond_write(peer, &request, &ignored)
				       : o2l_respond_send(peer, &request, &ignored);
	if (verdict == O2L_DONE) {
		o2l_fabric.counters.packets += o2l_packets(wr->length_bytes, request.mtu_bytes);
		count_out(wr);
	}
	return O2L_DONE;
}

enum o2l_verdict o2l_execute(struct o2l_qp *qp, const struct o2l_send *wr, struct o2l_outcome *outcome)
{
	struct o2l_qp *peer;

	if (wr->opcode == IBV_WR_BIND_MW || wr->opcode == IBV_WR_LOCAL_INV || wr->opcode == O2_LOOP_WR_REG_MR)
		return execute_local(qp, wr, outcome);
	if (qp->ibv.qp_type != IBV_QPT_RC)
		return execute_unreliable(qp, wr, outcome);
	peer = find_peer(qp);
	outcome->peer = peer;
	switch (wr->opcode) {
	case IBV_WR_RDMA_READ:
		return peer ? execute_read(qp, peer, wr, outcome) : O2L_LOST;
	case IBV_WR_ATOMIC_CMP_AND_SWP:
	case IBV_WR_ATOMIC_FETCH_AND_ADD:
		return peer ? execute_atomic(qp, peer, wr, outcome) : O2L_LOST;
	default:
		return execute_out(qp, peer, wr, outcome);
	}
}
