/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>

#include "base/mutant.h"
#include "lnd/conn_internal.h"

struct o2_msg *o2_msg_begin(struct o2_conn *conn, enum o2_msg_type type)
{
	struct o2_msg *msg = &conn->tx_msg;

	memset(msg, 0, sizeof(*msg));
	msg->order = conn->config.order;
	msg->cksum_flavour = conn->config.cksum_flavour;
	msg->ibm_version = O2_MSG_VERSION_2;
	msg->ibm_type = (uint8_t)type;
	msg->ibm_srcnid = conn->self.nid;
	msg->ibm_srcstamp = conn->self.incarnation;
	msg->ibm_dstnid = conn->peer.nid;
	msg->ibm_dststamp = conn->peer.incarnation;
	return msg;
}

struct o2_lnet_hdr o2_conn_lnet_hdr(const struct o2_conn *conn, enum o2_lnet_type type, uint64_t match_bits,
				    uint64_t nob)
{
	struct o2_lnet_hdr hdr = {
		.dest_nid = conn->peer.nid,
		.src_nid = conn->self.nid,
		.dest_pid = O2_LNET_PID,
		.src_pid = O2_LNET_PID,
		.type = (uint32_t)type,
	};

	if (type == O2_LNET_PUT) {
		hdr.msg.put.match_bits = match_bits;
		/* No LNet acknowledgement is asked for: that is what a handle of all ones says. */
		hdr.msg.put.ack_wmd = (struct o2_lnet_handle){UINT64_MAX, UINT64_MAX};
	} else if (type == O2_LNET_GET) {
		hdr.msg.get.match_bits = match_bits;
		hdr.msg.get.sink_length = (uint32_t)nob;
		hdr.msg.get.return_wmd = (struct o2_lnet_handle){conn->self.incarnation, conn->next_cookie};
	}
	return hdr;
}

/*
 * The queue pair has taken some of the chain.  A bind among them may be executed, whatever became of the
 * requests behind it, so its window counts as bound.
 */
static void note_bind(struct o2_tx *tx, uint32_t bind_at, uint32_t nposted)
{
	if (tx->binding.state == O2_BINDING_PREPARED && bind_at < nposted)
		o2_binding_posted(&tx->binding);
}

int o2_msg_post(struct o2_conn *conn, struct o2_tx *tx, const struct o2_rdma_plan *plan,
		struct o2_error *error)
{
	uint32_t index = (uint32_t)(tx - conn->tx);
	struct o2_transfer_fault fault = {.side = O2_FAULT_LOCAL_STAGE};
	uint8_t *slot = o2_tx_slot_bytes(conn, tx);
	struct o2_post_message message = {.addr = (uintptr_t)slot, .lkey = o2_tx_slot_lkey(conn, tx)};
	struct o2_wire_options options = O2_WIRE_DEFAULTS;
	uint32_t bind_at, nposted;
	int rc = o2_msg_encode(&conn->tx_msg, &options, slot, O2_MSG_BYTES, error);

	if (rc < 0)
		return rc;
	message.length = (uint32_t)rc;
	o2_chain_reset(&conn->chain);
	if (plan != NULL)
		o2_chain_add_plan(&conn->chain, plan, o2_wr_id(O2_WORK_SILENT, index));
	bind_at = conn->chain.nwr;
	if (tx->binding.state == O2_BINDING_PREPARED)
		o2_binding_bind_wr(&tx->binding, o2_wr_id(O2_WORK_SILENT, index), o2_chain_add(&conn->chain));
	if (tx->binding.state == O2_BINDING_PREPARED && o2_mutant(BIND_TWICE)) {
		o2_mutant_differs(true);
		o2_binding_bind_wr(&tx->binding, o2_wr_id(O2_WORK_SILENT, index), o2_chain_add(&conn->chain));
	}
	o2_chain_add_message(&conn->chain, &message, o2_wr_id(O2_WORK_MESSAGE, index));
	rc = o2_chain_post(&conn->chain, conn->qp, &nposted, &fault.error);
	note_bind(tx, bind_at, nposted);
	if (rc == 0) {
		tx->nsends++;
		return 0;
	}
	fault.code = rc;
	if (error != NULL)
		*error = fault.error;
	o2_conn_fail(conn, &fault, tx);
	return rc;
}

void o2_msg_answer(struct o2_conn *conn, struct o2_tx *tx, const struct o2_rdma_plan *plan)
{
	struct o2_transfer_fault fault = {.side = O2_FAULT_LOCAL_STAGE};

	fault.code = o2_msg_post(conn, tx, plan, &fault.error);
	if (fault.code != 0)
		o2_conn_fail(conn, &fault, tx);
}

void o2_msg_complete(struct o2_conn *conn, struct o2_tx *tx, enum o2_msg_type type, uint64_t cookie,
		     int64_t status, const struct o2_rdma_plan *plan)
{
	struct o2_msg *msg = o2_msg_begin(conn, type);

	msg->u.completion.ibcm_cookie = cookie;
	msg->u.completion.ibcm_status = (int32_t)status;
	o2_msg_answer(conn, tx, plan);
}

int o2_recv_post(struct o2_conn *conn, uint32_t slot, struct o2_error *error)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)o2_recv_slot(conn, slot),
		.length = O2_MSG_BYTES,
		.lkey = conn->slot_mr->lkey,
	};
	struct ibv_recv_wr wr = {
		.wr_id = o2_wr_id(O2_WORK_RECV, slot),
		.sg_list = &sge,
		.num_sge = 1,
	};
	struct ibv_recv_wr *bad = NULL;
	int rc = ibv_post_recv(conn->qp, &wr, &bad);

	if (rc == 0)
		return 0;
	return o2_refuse(error, -(rc > 0 ? rc : EIO), "conn/post-recv", "slot", O2_NO_INDEX, slot,
			 conn->nrecv);
}
