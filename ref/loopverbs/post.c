/* SPDX-License-Identifier: MIT */
/* Posting work requests: the checks at the time of posting, and the copy that is kept until execution. */
#include "loopverbs/internal.h"

static bool is_atomic(enum ibv_wr_opcode opcode)
{
	return opcode == IBV_WR_ATOMIC_CMP_AND_SWP || opcode == IBV_WR_ATOMIC_FETCH_AND_ADD;
}

/* Its list names data to send, not memory for an answer: only then can the data be inline. */
static bool sends_data(enum ibv_wr_opcode opcode)
{
	return opcode == IBV_WR_SEND || opcode == IBV_WR_SEND_WITH_IMM || opcode == IBV_WR_SEND_WITH_INV ||
	       opcode == IBV_WR_RDMA_WRITE || opcode == IBV_WR_RDMA_WRITE_WITH_IMM;
}

/* Does loopverbs offer the opcode for this type (docs/loopverbs.md, "What it offers")? */
static bool opcode_ok(enum ibv_qp_type type, enum ibv_wr_opcode opcode)
{
	switch (opcode) {
	case IBV_WR_SEND:
	case IBV_WR_SEND_WITH_IMM:
		return true;
	case IBV_WR_RDMA_WRITE:
	case IBV_WR_RDMA_WRITE_WITH_IMM:
		return type != IBV_QPT_UD;
	case IBV_WR_SEND_WITH_INV:
	case IBV_WR_RDMA_READ:
	case IBV_WR_ATOMIC_CMP_AND_SWP:
	case IBV_WR_ATOMIC_FETCH_AND_ADD:
	case IBV_WR_LOCAL_INV:
	case IBV_WR_BIND_MW:
	case O2_LOOP_WR_REG_MR:
		return type == IBV_QPT_RC;
	default:
		return false;
	}
}

/* The checks of a driver's post_send.  Keys and ranges are checked when the request is executed. */
static int check_send(const struct o2l_qp *qp, const struct ibv_send_wr *wr, uint64_t length)
{
	const struct ibv_qp_cap *cap = &qp->init.cap;

	if (!opcode_ok(qp->ibv.qp_type, wr->opcode) || length > O2L_MAX_MSG_BYTES)
		return EINVAL;
	if (is_atomic(wr->opcode) && (length < 8 || wr->wr.atomic.remote_addr & 7))
		return EINVAL;
	if (wr->send_flags & IBV_SEND_INLINE && (!sends_data(wr->opcode) || length > cap->max_inline_data))
		return EINVAL;
	/* In ERR the request is flushed, whatever it asks for. */
	if ((wr->opcode == IBV_WR_RDMA_READ || is_atomic(wr->opcode)) && qp->attr.max_rd_atomic == 0 &&
	    qp->state != IBV_QPS_ERR)
		return EINVAL;
	if (wr->opcode == IBV_WR_BIND_MW && (length || wr->num_sge || wr->bind_mw.mw->type != IBV_MW_TYPE_2))
		return EINVAL;
	if (wr->opcode == O2_LOOP_WR_REG_MR && (length || wr->num_sge || o2l_fast_check(qp, wr)))
		return EINVAL;
	if (qp->ibv.qp_type == IBV_QPT_UD &&
	    (!wr->wr.ud.ah || wr->wr.ud.ah->pd != qp->ibv.pd || length > O2L_PAGE_BYTES))
		return EINVAL; /* a datagram must fit in one packet */
	return qp->sq_count == cap->max_send_wr ? ENOMEM : 0;
}

static void take_bind(struct o2l_send *send, const struct ibv_mw *mw, uint32_t new_rkey,
		      const struct ibv_mw_bind_info *info)
{
	send->bind.old_rkey = mw->rkey; /* the program's current key */
	send->bind.new_rkey = new_rkey;
	send->bind.mr_lkey = info->mr ? info->mr->lkey : 0;
	send->bind.access = info->mw_access_flags;
	send->bind.addr = info->addr;
	send->bind.length = info->length;
}

static void take_opcode(struct o2l_send *send, const struct o2l_qp *qp, const struct ibv_send_wr *wr)
{
	send->imm_data = wr->imm_data; /* the same union as invalidate_rkey */
	if (qp->ibv.qp_type == IBV_QPT_UD) {
		const struct o2l_ah *ah = O2L_CONTAINER(wr->wr.ud.ah, struct o2l_ah, ibv);

		send->ud.dgid = ah->attr.grh.dgid;
		send->ud.sgid_index = ah->attr.grh.sgid_index;
		send->ud.qpn = wr->wr.ud.remote_qpn;
		send->ud.qkey = wr->wr.ud.remote_qkey;
	} else if (wr->opcode == IBV_WR_BIND_MW) {
		take_bind(send, wr->bind_mw.mw, wr->bind_mw.rkey, &wr->bind_mw.bind_info);
	} else if (wr->opcode == O2_LOOP_WR_REG_MR) {
		send->bind.mr_lkey = wr->bind_mw.bind_info.mr->lkey; /* for the region's number only */
		send->bind.new_rkey = wr->bind_mw.rkey;
		send->bind.access = wr->bind_mw.bind_info.mw_access_flags;
	} else if (is_atomic(wr->opcode)) {
		send->remote_addr = wr->wr.atomic.remote_addr;
		send->rkey = wr->wr.atomic.rkey;
		send->atomic.compare_add = wr->wr.atomic.compare_add;
		send->atomic.swap = wr->wr.atomic.swap;
	} else {
		send->remote_addr = wr->wr.rdma.remote_addr;
		send->rkey = wr->wr.rdma.rkey;
	}
}

static void take_data(struct o2l_qp *qp, uint32_t slot, const struct ibv_send_wr *wr)
{
	uint8_t *to;

	if (!(wr->send_flags & IBV_SEND_INLINE)) {
		if (wr->num_sge)
			memcpy(&qp->sq_sges[(size_t)slot * qp->init.cap.max_send_sge], wr->sg_list,
			       sizeof(*wr->sg_list) * (size_t)wr->num_sge);
		return;
	}
	if (wr->num_sge == 0)
		return;
	to = qp->sq_inline + (size_t)slot * qp->init.cap.max_inline_data;
	for (int i = 0; i < wr->num_sge; i++) {
		if (wr->sg_list[i].length)
			memcpy(to, (const void *)(uintptr_t)wr->sg_list[i].addr, wr->sg_list[i].length);
		to += wr->sg_list[i].length;
	}
}

static struct o2l_send *next_slot(struct o2l_qp *qp, uint32_t *slot)
{
	*slot = o2l_ring_at(qp->sq_head, qp->sq_count, qp->init.cap.max_send_wr);
	qp->sq_count++;
	o2l_fabric.counters.posted_sends++;
	return &qp->sq[*slot];
}

static int post_one(struct o2l_qp *qp, const struct ibv_send_wr *wr)
{
	struct o2l_send *send;
	uint64_t length = 0;
	uint32_t slot;
	int error;

	if (wr->num_sge < 0 || (uint32_t)wr->num_sge > qp->init.cap.max_send_sge)
		return EINVAL;
	for (int i = 0; i < wr->num_sge; i++)
		length += wr->sg_list[i].length;
	error = check_send(qp, wr, length);
	if (error)
		return error;
	send = next_slot(qp, &slot);
	send->wr_id = wr->wr_id;
	send->opcode = wr->opcode;
	send->flags = wr->send_flags;
	send->num_sge = (uint32_t)wr->num_sge;
	send->length_bytes = (uint32_t)length;
	take_opcode(send, qp, wr);
	take_data(qp, slot, wr);
	return 0;
}

/* After posting: execute the work, or flush it if the queue pair is in ERR. */
static void start(struct o2l_qp *qp)
{
	while (qp->state == IBV_QPS_ERR && qp->sq_count)
		o2l_complete_send(qp, IBV_WC_WR_FLUSH_ERR, 0);
	o2l_kick(qp);
	o2l_run();
}

static bool may_send(const struct o2l_qp *qp)
{
	return qp->state == IBV_QPS_RTS || qp->state == IBV_QPS_SQD || qp->state == IBV_QPS_SQE ||
	       qp->state == IBV_QPS_ERR;
}

int o2l_post_send(struct ibv_qp *ibv, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	struct o2l_qp *qp = O2L_CONTAINER(ibv, struct o2l_qp, ibv);
	int error = 0;

	o2l_lock();
	if (wr && !may_send(qp)) {
		error = EINVAL;
		*bad = wr;
	}
	for (; wr && !error; wr = wr->next) {
		error = o2l_fault(O2_LOOP_CALL_POST_SEND, ibv->qp_num);
		if (!error)
			error = post_one(qp, wr);
		if (error)
			*bad = wr;
	}
	start(qp);
	o2l_unlock();
	return error;
}

int o2l_post_recv(struct ibv_qp *ibv, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	struct o2l_qp *qp = O2L_CONTAINER(ibv, struct o2l_qp, ibv);
	int error;

	o2l_lock();
	if (wr && (ibv->srq || qp->state == IBV_QPS_RESET)) {
		error = EINVAL;
		*bad = wr;
	} else {
		error = o2l_rq_post(&qp->own_rq, ibv->pd, ibv->qp_num, wr, bad);
	}
	o2l_run();
	o2l_unlock();
	return error;
}

/* Type 1 bind: a posted request whose new key the caller gets at once. */
int o2l_bind_mw(struct ibv_qp *ibv, struct ibv_mw *mw, struct ibv_mw_bind *bind)
{
	struct o2l_qp *qp = O2L_CONTAINER(ibv, struct o2l_qp, ibv);
	struct o2l_send *send;
	uint32_t slot;
	int error = 0;

	if (bind->bind_info.mw_access_flags & IBV_ACCESS_ZERO_BASED || ibv->qp_type != IBV_QPT_RC)
		return EINVAL;
	o2l_lock();
	if (!may_send(qp)) {
		error = EINVAL;
	} else if (qp->sq_count == qp->init.cap.max_send_wr) {
		error = ENOMEM;
	} else if ((error = o2l_fault(O2_LOOP_CALL_POST_SEND, ibv->qp_num)) == 0) {
		send = next_slot(qp, &slot);
		*send = (struct o2l_send){
			.wr_id = bind->wr_id, .opcode = IBV_WR_BIND_MW, .flags = bind->send_flags};
		take_bind(send, mw, ibv_inc_rkey(mw->rkey), &bind->bind_info);
		mw->rkey = send->bind.new_rkey;
		start(qp);
	}
	o2l_unlock();
	return error;
}
