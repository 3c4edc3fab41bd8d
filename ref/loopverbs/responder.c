/* SPDX-License-Identifier: MIT */
/* The responder's side of a request.  It checks in soft-RoCE's order: rights, receive, range, size of packets. */
#include <arpa/inet.h>

#include "loopverbs/internal.h"

static struct o2l_cq *recv_cq(const struct o2l_qp *qp)
{
	return O2L_CONTAINER(qp->ibv.recv_cq, struct o2l_cq, ibv);
}

/* The domain of a receive's memory: that of the queue it was posted to, as when it is overwritten (faults.c). */
static const struct ibv_pd *recv_pd(const struct o2l_qp *qp)
{
	return qp->ibv.srq ? qp->ibv.srq->pd : qp->ibv.pd;
}

/*
 * Refuse the request.  The requester gets status `theirs`; a receive that was taken completes with `ours`; the
 * responder then enters ERR.
 */
static enum o2l_verdict refuse(struct o2l_qp *peer, bool taken, enum ibv_wc_status ours,
			       enum ibv_wc_status theirs, enum ibv_wc_status *status)
{
	*status = theirs;
	if (taken) {
		const struct ibv_wc wc = {.wr_id = peer->rq->ring[peer->rq->head].wr_id,
					  .status = ours,
					  .opcode = IBV_WC_RECV,
					  .qp_num = peer->ibv.qp_num};

		o2l_rq_pop(peer);
		o2l_cq_push(recv_cq(peer), &wc, true);
	}
	peer->broken = peer->ibv.qp_type == IBV_QPT_RC;
	return O2L_FAILED;
}

/* Complete the receive at the head of the queue. */
static void deliver(struct o2l_qp *peer, const struct o2l_send *wr, struct ibv_wc *wc)
{
	wc->wr_id = peer->rq->ring[peer->rq->head].wr_id;
	wc->qp_num = peer->ibv.qp_num;
	if (wr->opcode == IBV_WR_SEND_WITH_IMM || wr->opcode == IBV_WR_RDMA_WRITE_WITH_IMM) {
		wc->imm_data = wr->imm_data;
		wc->wc_flags |= IBV_WC_WITH_IMM;
	}
	o2l_rq_pop(peer);
	o2l_cq_push(recv_cq(peer), wc, wr->flags & IBV_SEND_SOLICITED);
}

/*
 * SEND WITH INVALIDATE of a key that cannot be invalidated: the message has arrived, and the requester's
 * completion says so, but the receive fails and the responder enters ERR (measured).
 */
static enum o2l_verdict deliver_invalidate(struct o2l_qp *peer, const struct o2l_send *wr, struct ibv_wc *wc)
{
	enum ibv_wc_status ignored;

	if (!o2l_mw_invalidate(peer, wr->invalidate_rkey)) {
		refuse(peer, true, IBV_WC_REM_INV_REQ_ERR, IBV_WC_REM_INV_REQ_ERR, &ignored);
		return O2L_DONE;
	}
	wc->wc_flags |= IBV_WC_WITH_INV;
	wc->invalidated_rkey = wr->invalidate_rkey;
	deliver(peer, wr, wc);
	return O2L_DONE;
}

enum o2l_verdict o2l_respond_send(struct o2l_qp *peer, const struct o2l_request *request,
				  enum ibv_wc_status *status)
{
	const struct o2l_send *wr = request->wr;
	const struct o2l_sgl *data = request->data;
	struct ibv_wc wc = {.opcode = IBV_WC_RECV, .byte_len = wr->length_bytes};
	struct o2l_rq *rq = peer->rq;
	struct o2l_sgl to;

	if (rq->count == 0)
		return O2L_RNR;
	if (request->miscut)
		return refuse(peer, true, IBV_WC_REM_INV_REQ_ERR, IBV_WC_REM_INV_REQ_ERR, status);
	o2l_sgl_scatter(recv_pd(peer), o2l_rq_sges(rq), rq->ring[rq->head].num_sge, data->valid_bytes,
			request->mtu_bytes, &to);
	o2l_sgl_copy(&to, data, to.valid_bytes);
	if (to.status != IBV_WC_SUCCESS)
		return refuse(peer, true, IBV_WC_LOC_QP_OP_ERR, IBV_WC_REM_OP_ERR, status);
	if (data->status != IBV_WC_SUCCESS)
		return O2L_DONE; /* the rest never arrives: the receive stays posted until a flush */
	if (wr->opcode == IBV_WR_SEND_WITH_INV)
		return deliver_invalidate(peer, wr, &wc);
	deliver(peer, wr, &wc);
	return O2L_DONE;
}

enum o2l_verdict o2l_respond_write(struct o2l_qp *peer, const struct o2l_request *request,
				   enum ibv_wc_status *status)
{
	const struct o2l_send *wr = request->wr;
	const struct o2l_sgl *data = request->data;
	bool imm = wr->opcode == IBV_WR_RDMA_WRITE_WITH_IMM;
	bool one_packet = wr->length_bytes <= request->mtu_bytes;
	struct ibv_wc wc = {.opcode = IBV_WC_RECV_RDMA_WITH_IMM, .byte_len = wr->length_bytes};
	uint8_t *range = NULL;
	struct o2l_sgl to;

	if (!(peer->attr.qp_access_flags & IBV_ACCESS_REMOTE_WRITE))
		return refuse(peer, false, IBV_WC_REM_INV_REQ_ERR, IBV_WC_REM_INV_REQ_ERR, status);
	if (imm && peer->rq->count == 0)
		return O2L_RNR;
	if (wr->length_bytes) /* the key of an access of 0 bytes is not checked */
		range = o2l_remote_range(peer, wr->rkey, wr->remote_addr, wr->length_bytes,
					 IBV_ACCESS_REMOTE_WRITE);
	if (wr->length_bytes && !range) {
		o2l_fabric.counters.refused_access++;
		/* A WRITE takes a receive with its last packet; here its first packet was refused. */
		return refuse(peer, imm && one_packet, IBV_WC_REM_ACCESS_ERR, IBV_WC_REM_ACCESS_ERR, status);
	}
	if (request->miscut)
		return refuse(peer, imm && one_packet, IBV_WC_REM_INV_REQ_ERR, IBV_WC_REM_INV_REQ_ERR,
			      status);
	o2l_sgl_one(&to, range, data->valid_bytes);
	o2l_sgl_copy(&to, data, data->valid_bytes);
	if (imm && data->status == IBV_WC_SUCCESS)
		deliver(peer, wr, &wc);
	return O2L_DONE;
}

enum o2l_verdict o2l_respond_range(struct o2l_qp *peer, const struct o2l_send *wr, uint8_t **range,
				   enum ibv_wc_status *status)
{
	bool read = wr->opcode == IBV_WR_RDMA_READ;
	unsigned int access = read ? IBV_ACCESS_REMOTE_READ : IBV_ACCESS_REMOTE_ATOMIC;
	uint64_t length = read ? wr->length_bytes : sizeof(uint64_t);

	*range = NULL;
	if (!(peer->attr.qp_access_flags & access) || peer->attr.max_dest_rd_atomic == 0)
		return refuse(peer, false, IBV_WC_REM_INV_REQ_ERR, IBV_WC_REM_INV_REQ_ERR, status);
	if (length == 0)
		return O2L_DONE;
	*range = o2l_remote_range(peer, wr->rkey, wr->remote_addr, length, access);
	if (!*range) {
		o2l_fabric.counters.refused_access++;
		return refuse(peer, false, IBV_WC_REM_ACCESS_ERR, IBV_WC_REM_ACCESS_ERR, status);
	}
	return O2L_DONE;
}

/*
 * A datagram is delivered behind a 40-byte route header, or dropped if it does not fit or has a wrong Q_Key.
 */
void o2l_respond_ud(struct o2l_qp *peer, const struct o2l_request *request)
{
	const struct o2l_send *wr = request->wr;
	struct ibv_grh grh = {
		.version_tclass_flow = htonl(6u << 28),
		.paylen = htons((uint16_t)wr->length_bytes),
		.next_hdr = 0x1b, /* InfiniBand transport */
		.hop_limit = UINT8_MAX,
		.sgid = request->sgid,
		.dgid = wr->ud.dgid,
	};
	struct ibv_wc wc = {
		.opcode = IBV_WC_RECV,
		.byte_len = wr->length_bytes + O2L_GRH_BYTES,
		.src_qp = request->src_qp,
		.wc_flags = IBV_WC_GRH,
	};
	struct o2l_rq *rq = peer->rq;
	struct o2l_sgl to, from;

	if (wr->ud.qkey != peer->attr.qkey)
		return;
	from.segment[0] = (struct o2l_segment){(uint8_t *)&grh, sizeof(grh)};
	memcpy(&from.segment[1], request->data->segment, sizeof(from.segment[0]) * request->data->count);
	o2l_sgl_scatter(recv_pd(peer), o2l_rq_sges(rq), rq->ring[rq->head].num_sge, wc.byte_len,
			O2L_PAGE_BYTES + O2L_GRH_BYTES, &to);
	if (to.status != IBV_WC_SUCCESS)
		return;
	o2l_sgl_copy(&to, &from, wc.byte_len);
	o2l_fabric.counters.packets++;
	o2l_fabric.counters.sends++;
	deliver(peer, wr, &wc);
}
