/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>

#include "props/hostile/hostile_internal.h"

/* The liar: sends and receives plain bytes. */

#define HEARD_FIRST O2_MSG_NOOP

void o2_liar_be(struct o2_liar *liar, const struct o2_liar *as)
{
	memcpy(liar, as, offsetof(struct o2_liar, begun));
}

/* Post the receives of `count` slots, from slot first on. */
static int post_receives(struct o2_liar *liar, uint32_t first, uint32_t count)
{
	struct ibv_recv_wr wr[O2_LIAR_RECVS], *bad;
	struct ibv_sge sge[O2_LIAR_RECVS];

	for (uint32_t i = 0; i < count; i++) {
		const uint64_t slot = first + i;

		sge[i] = (struct ibv_sge){(uintptr_t)liar->slots + slot * O2_MSG_BYTES, O2_MSG_BYTES,
					  liar->mr->lkey};
		wr[i] = (struct ibv_recv_wr){.wr_id = slot,
					     .next = i + 1 < count ? &wr[i + 1] : NULL,
					     .sg_list = &sge[i],
					     .num_sge = 1};
	}
	return ibv_post_recv(liar->qp, wr, &bad);
}

static int take_to_init(const struct o2_liar *liar)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT,
		.port_num = liar->ni->config.port,
		.qp_access_flags = IBV_ACCESS_REMOTE_WRITE,
	};

	return ibv_modify_qp(liar->qp, &attr,
			     IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS) == 0
		       ? 0
		       : -EIO;
}

uint8_t *o2_liar_map(void)
{
	void *slots = mmap(NULL, O2_LIAR_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return slots == MAP_FAILED ? NULL : slots;
}

int o2_liar_open(struct o2_liar *liar, const struct o2_ni *ni)
{
	struct ibv_qp_init_attr init = {
		.qp_type = IBV_QPT_RC,
		.sq_sig_all = 1,
		.cap = {O2_LIAR_SENDS, O2_LIAR_RECVS, 1, 1, 0},
	};

	liar->ni = ni;
	if (!liar->lent)
		liar->slots = o2_liar_map();
	liar->cq = ibv_create_cq(ni->context, 2 * (O2_LIAR_RECVS + O2_LIAR_SENDS), NULL, NULL, 0);
	if (liar->slots == NULL || liar->cq == NULL)
		return -ENOMEM;
	init.send_cq = init.recv_cq = liar->cq;
	liar->qp = ibv_create_qp(ni->pd, &init);
	liar->mr = ibv_reg_mr(ni->pd, liar->slots, O2_LIAR_BYTES,
			      IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	if (liar->qp == NULL || liar->mr == NULL)
		return -ENOMEM;
	if (take_to_init(liar) != 0)
		return -EIO;
	return post_receives(liar, 0, O2_LIAR_RECVS) == 0 ? 0 : -EIO;
}

void o2_liar_fail(struct o2_liar *liar)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_ERR};

	if (liar->qp != NULL)
		ibv_modify_qp(liar->qp, &attr, IBV_QP_STATE);
}

void o2_liar_tell(const struct o2_liar *liar, enum o2_watched_kind kind, bool ours, const uint8_t *bytes,
		  size_t length_bytes)
{
	if (liar->ni != NULL)
		o2_watch_tell_cm(liar->ni->config.watch, liar->qp, kind, ours, bytes, length_bytes);
}

/* Zero the slots that messages used; slots are used in turn. */
static void renew_slots(struct o2_liar *liar)
{
	const uint32_t sends = liar->next_send < O2_LIAR_SENDS ? liar->next_send : O2_LIAR_SENDS;
	struct ibv_wc wc;

	while (liar->cq != NULL && ibv_poll_cq(liar->cq, 1, &wc) == 1)
		liar->received += wc.status == IBV_WC_SUCCESS && wc.wr_id < O2_LIAR_RECVS;
	memset(liar->slots, 0,
	       (size_t)(liar->received < O2_LIAR_RECVS ? liar->received : O2_LIAR_RECVS) * O2_MSG_BYTES);
	memset(liar->slots + (size_t)O2_LIAR_RECVS * O2_MSG_BYTES, 0, (size_t)sends * O2_MSG_BYTES);
}

void o2_liar_close(struct o2_liar *liar)
{
	o2_liar_tell(liar, O2_WATCHED_GONE, true, NULL, 0);
	if (liar->lent)
		renew_slots(liar);
	if (liar->qp != NULL)
		ibv_destroy_qp(liar->qp);
	if (liar->cq != NULL)
		ibv_destroy_cq(liar->cq);
	if (liar->mr != NULL)
		ibv_dereg_mr(liar->mr);
	if (liar->slots != NULL && !liar->lent)
		munmap(liar->slots, O2_LIAR_BYTES);
	memset(liar, 0, offsetof(struct o2_liar, nid));
}

static void hear(struct o2_liar *liar, const uint8_t *bytes, uint32_t length_bytes)
{
	struct o2_msg msg;

	if (o2_msg_decode(bytes, length_bytes, NULL, &msg, NULL) != 0 || msg.ibm_type < HEARD_FIRST)
		return;
	liar->heard[msg.ibm_type - HEARD_FIRST] = msg;
	liar->nheard[msg.ibm_type - HEARD_FIRST]++;
}

int o2_liar_progress(struct o2_liar *liar)
{
	struct ibv_wc wc;
	int count = 0;

	/* Receive slots have the lowest wr_id; a failed completion is identified only by its wr_id. */
	for (; liar->cq != NULL && ibv_poll_cq(liar->cq, 1, &wc) == 1; count++) {
		liar->sends_open -= wc.wr_id >= O2_LIAR_RECVS;
		if (wc.status != IBV_WC_SUCCESS) {
			liar->errors++;
		} else if (wc.opcode & IBV_WC_RECV) {
			liar->received++;
			o2_liar_tell(liar, O2_WATCHED_MESSAGE, false, liar->slots + wc.wr_id * O2_MSG_BYTES,
				     wc.byte_len);
			hear(liar, liar->slots + wc.wr_id * O2_MSG_BYTES, wc.byte_len);
			post_receives(liar, (uint32_t)wc.wr_id, 1);
		}
	}
	return count;
}

static void fill_request(const struct o2_liar *liar, struct o2_msg *msg)
{
	struct o2_lnet_hdr hdr = {
		.dest_nid = liar->victim_nid,
		.src_nid = liar->nid,
		.dest_pid = O2_LNET_PID,
		.src_pid = O2_LNET_PID,
		.type = msg->ibm_type == O2_MSG_GET_REQ ? O2_LNET_GET : O2_LNET_PUT,
	};

	if (hdr.type == O2_LNET_PUT) {
		hdr.msg.put.ack_wmd = (struct o2_lnet_handle){UINT64_MAX, UINT64_MAX};
		hdr.msg.put.ptl_index = liar->portal;
		hdr.msg.put.match_bits = liar->match_bits;
	} else {
		hdr.msg.get.ptl_index = liar->portal;
		hdr.msg.get.match_bits = liar->match_bits;
		hdr.msg.get.sink_length = 5000;
	}

	if (msg->ibm_type == O2_MSG_IMMEDIATE) {
		msg->u.immediate.hdr = hdr;
	} else if (msg->ibm_type == O2_MSG_PUT_REQ) {
		hdr.payload_length = 5000;
		msg->u.putreq.hdr = hdr;
		msg->u.putreq.ibprm_cookie = 0x1234;
	} else if (msg->ibm_type == O2_MSG_GET_REQ) {
		msg->u.get.hdr = hdr;
		msg->u.get.ibgm_cookie = 0x1234;
	}
}

struct o2_msg *o2_liar_begin(struct o2_hostile *h, enum o2_msg_type type)
{
	struct o2_msg *msg = &h->liar.begun;
	struct o2_rdma_desc *desc = type == O2_MSG_GET_REQ ? &msg->u.get.ibgm_rd : &msg->u.putack.ibpam_rd;

	*msg = (struct o2_msg){
		.order = O2_LITTLE_ENDIAN,
		.ibm_version = O2_MSG_VERSION_2,
		.ibm_type = (uint8_t)type,
		.ibm_srcnid = h->liar.nid,
		.ibm_srcstamp = h->liar.stamp,
		.ibm_dstnid = h->liar.victim_nid,
		.ibm_dststamp = h->liar.victim_stamp,
	};
	fill_request(&h->liar, msg);
	if (type == O2_MSG_GET_REQ || type == O2_MSG_PUT_ACK) {
		desc->rd_key = h->liar.mr->rkey;
		desc->rd_nfrags = 1;
		desc->rd_frags[0] =
			(struct o2_rdma_frag){.rf_nob = 5000, .rf_addr = o2_liar_memory(&h->liar)};
	}
	return msg;
}

static void tell_posted(const struct o2_liar *liar, const struct ibv_send_wr *wr)
{
	const struct o2_watched watched = {
		.kind = O2_WATCHED_WRITE,
		.ours = true,
		.conn = liar->qp,
		.length_bytes = wr->sg_list[0].length,
		.addr = wr->wr.rdma.remote_addr,
		.rkey = wr->wr.rdma.rkey,
	};

	if (wr->opcode == IBV_WR_RDMA_WRITE)
		o2_watch_tell(liar->ni->config.watch, &watched);
	else
		o2_liar_tell(liar, O2_WATCHED_MESSAGE, true, (const uint8_t *)(uintptr_t)wr->sg_list[0].addr,
			     wr->sg_list[0].length);
}

static bool post(struct o2_hostile *h, struct ibv_send_wr *wr, uint32_t length_bytes)
{
	struct o2_liar *liar = &h->liar;
	uint32_t slot = O2_LIAR_RECVS + liar->next_send % O2_LIAR_SENDS;
	struct ibv_sge sge = {(uintptr_t)liar->slots + (uint64_t)slot * O2_MSG_BYTES, length_bytes,
			      liar->mr->lkey};
	struct ibv_send_wr *bad;

	wr->sg_list = &sge;
	wr->num_sge = 1;
	wr->wr_id = slot;
	liar->next_send++;
	if (ibv_post_send(liar->qp, wr, &bad) != 0)
		return false;
	liar->sends_open++;
	tell_posted(liar, wr);
	return true;
}

static uint8_t *send_slot(struct o2_hostile *h)
{
	uint32_t slot = O2_LIAR_RECVS + h->liar.next_send % O2_LIAR_SENDS;

	return h->liar.slots + (uint64_t)slot * O2_MSG_BYTES;
}

bool o2_liar_send_bytes(struct o2_hostile *h, const void *bytes, uint32_t length_bytes)
{
	struct ibv_send_wr wr = {.opcode = IBV_WR_SEND};

	o2_liar_progress(&h->liar);
	memcpy(send_slot(h), bytes, length_bytes);
	return post(h, &wr, length_bytes);
}

uint32_t o2_liar_spoil(const struct o2_liar_spoil *spoil, uint8_t *bytes, uint32_t length_bytes)
{
	for (uint32_t i = 0; i < spoil->width; i++)
		bytes[spoil->offset + i] = (uint8_t)(spoil->value >> 8 * i);
	if (spoil->turn)
		bytes[spoil->offset] ^= 0x55;
	return spoil->length != 0 ? spoil->length : length_bytes;
}

bool o2_liar_send_spoiled(struct o2_hostile *h, const struct o2_liar_spoil *spoil)
{
	uint8_t bytes[O2_MSG_BYTES] = {0};
	int length = o2_msg_encode(&h->liar.begun, NULL, bytes, sizeof(bytes), NULL);

	return length >= 0 && o2_liar_send_bytes(h, bytes, o2_liar_spoil(spoil, bytes, (uint32_t)length));
}

bool o2_liar_send(struct o2_hostile *h)
{
	return o2_liar_send_spoiled(h, &(struct o2_liar_spoil){.width = 0});
}

bool o2_liar_heard(struct o2_hostile *h, enum o2_msg_type type, struct o2_msg *msg)
{
	uint32_t index = (uint32_t)(type - HEARD_FIRST);

	if (h->liar.nheard[index] == 0)
		return false;
	*msg = h->liar.heard[index];
	h->liar.nheard[index] = 0;
	return true;
}

bool o2_liar_hears(struct o2_hostile *h, enum o2_msg_type type, struct o2_msg *msg)
{
	h->awaited = type;
	o2_hostile_settle(h);
	h->awaited = 0;
	return o2_liar_heard(h, type, msg);
}

bool o2_liar_write(struct o2_hostile *h, uint64_t addr, uint32_t rkey, uint32_t length)
{
	struct ibv_send_wr wr = {.opcode = IBV_WR_RDMA_WRITE};

	memset(send_slot(h), 0xbd, O2_MSG_BYTES);
	wr.wr.rdma.remote_addr = addr;
	wr.wr.rdma.rkey = rkey;
	return post(h, &wr, length);
}
