/* SPDX-License-Identifier: MIT */
#include "tests/judge/player/peer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lnd/node/node.h"

#define CQ_ENTRIES 1024
#define SENDS	   64u

/* The wr_id of a receive encodes its line and slot; that of a send has the highest bit set. */
#define SEND_WORK (UINT64_C(1) << 63)

static int post_receive(const struct player_peer *peer, const struct player_line *line, uint32_t slot)
{
	struct ibv_sge sge = {(uintptr_t)line->receive + (uint64_t)slot * O2_MSG_BYTES, O2_MSG_BYTES,
			      line->mr->lkey};
	struct ibv_recv_wr wr = {
		.wr_id = (uint64_t)(line - peer->line) << 32 | slot, .sg_list = &sge, .num_sge = 1};
	struct ibv_recv_wr *bad;

	return ibv_post_recv(line->qp, &wr, &bad);
}

/* Create a line: a queue pair in state INIT, with all receives posted. */
static struct player_line *open_line(struct player_peer *peer)
{
	struct ibv_qp_init_attr init = {
		.send_cq = peer->cq,
		.recv_cq = peer->cq,
		.qp_type = IBV_QPT_RC,
		.sq_sig_all = 1,
		.cap = {.max_send_wr = SENDS,
			.max_recv_wr = PEER_RECEIVES,
			.max_send_sge = 1,
			.max_recv_sge = 1},
	};
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT, .port_num = 1};
	struct player_line *line = &peer->line[peer->nlines];
	int rc;

	if (peer->nlines == PEER_LINES)
		return NULL;
	line->qp = ibv_create_qp(peer->ni.pd, &init);
	line->receive = calloc(PEER_RECEIVES, O2_MSG_BYTES);
	if (line->qp == NULL || line->receive == NULL)
		return NULL;
	peer->nlines++;
	line->mr = ibv_reg_mr(peer->ni.pd, line->receive, (size_t)PEER_RECEIVES * O2_MSG_BYTES,
			      IBV_ACCESS_LOCAL_WRITE);
	attr.qp_access_flags = IBV_ACCESS_REMOTE_WRITE;
	rc = ibv_modify_qp(line->qp, &attr,
			   IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
	for (uint32_t i = 0; rc == 0 && line->mr != NULL && i < PEER_RECEIVES; i++)
		rc = post_receive(peer, line, i);
	return rc == 0 && line->mr != NULL ? line : NULL;
}

static void hear_cm(void *context, const struct o2_cm_event *event)
{
	struct player_peer *peer = context;
	struct player_heard_cm *heard = &peer->heard_cm[peer->nheard_cm];

	if (peer->nheard_cm == PEER_HEARD)
		return;
	peer->nheard_cm++;
	*heard = (struct player_heard_cm){.type = event->type, .id = event->id, .reason = event->reason};
	heard->private_bytes = event->private_bytes < sizeof(heard->private_data)
				       ? event->private_bytes
				       : sizeof(heard->private_data);
	if (heard->private_bytes > 0)
		memcpy(heard->private_data, event->private_data, heard->private_bytes);
}

int player_peer_open(struct player_peer *peer, struct o2_cm_loop *loop, const struct o2_ni_config *config,
		     uint32_t our_address, struct o2_error *error)
{
	int rc;

	memset(peer, 0, sizeof(*peer));
	peer->our_address = our_address;
	rc = o2_ni_open(config, &peer->ni, error);
	if (rc == 0)
		rc = o2_cm_loop_attach(loop, &peer->ni, (uint32_t)config->nid, &peer->cm, error);
	if (rc != 0)
		return rc;
	peer->cm->handler = hear_cm;
	peer->cm->context = peer;
	rc = peer->cm->ops->listen(peer->cm, O2_SERVICE_PORT, error);
	if (rc != 0)
		return rc;
	peer->cq = ibv_create_cq(peer->ni.context, CQ_ENTRIES, NULL, NULL, 0);
	peer->send = calloc(1, O2_MSG_BYTES);
	peer->data = calloc(1, PEER_DATA_BYTES);
	if (peer->cq == NULL || peer->send == NULL || peer->data == NULL)
		return -ENOMEM;
	peer->send_mr = ibv_reg_mr(peer->ni.pd, peer->send, O2_MSG_BYTES, 0);
	peer->data_mr = ibv_reg_mr(peer->ni.pd, peer->data, PEER_DATA_BYTES,
				   IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	return peer->send_mr == NULL || peer->data_mr == NULL ? -ENOMEM : 0;
}

void player_peer_close(struct player_peer *peer)
{
	for (uint32_t i = 0; i < peer->nlines; i++) {
		struct player_line *line = &peer->line[i];

		if (line->id != NULL)
			line->id->cm->ops->destroy(line->id);
		ibv_destroy_qp(line->qp);
		ibv_dereg_mr(line->mr);
		free(line->receive);
	}
	o2_cm_loop_detach(peer->cm);
	ibv_dereg_mr(peer->send_mr);
	ibv_dereg_mr(peer->data_mr);
	ibv_destroy_cq(peer->cq);
	free(peer->send);
	free(peer->data);
	o2_ni_close(&peer->ni);
}

/* Open a new line, make it current, and fill in *param to connect it.  NULL: there is no room. */
static struct player_line *next_line(struct player_peer *peer, const uint8_t *data, size_t bytes,
				     struct o2_cm_param *param)
{
	struct player_line *line = open_line(peer);

	if (line == NULL)
		return NULL;
	*param = (struct o2_cm_param){
		.qp = line->qp,
		.retry_count = 5,
		.rnr_retry_count = 6,
		.ack_timeout = 14,
		.private_data = data,
		.private_bytes = bytes,
	};
	peer->current = line;
	return line;
}

int player_peer_request(struct player_peer *peer, uint16_t port, const uint8_t *data, size_t bytes)
{
	const struct o2_cm_target target = {
		.address = peer->our_address, .port = port, .resolve_timeout_ms = 1000};
	struct o2_cm_param param;
	struct player_line *line = next_line(peer, data, bytes, &param);

	return line == NULL ? -ENOMEM
			    : peer->cm->ops->connect(peer->cm, &target, &param, line, &line->id, NULL);
}

int player_peer_reply(struct player_peer *peer, struct o2_cm_id *request, const uint8_t *data, size_t bytes)
{
	struct o2_cm_param param;
	struct player_line *line = next_line(peer, data, bytes, &param);

	if (line == NULL)
		return -ENOMEM;
	line->id = request;
	return peer->cm->ops->accept(request, &param, NULL);
}

void player_peer_reject(struct o2_cm_id *request, const uint8_t *data, size_t bytes)
{
	request->cm->ops->reject(request, data, bytes);
	request->cm->ops->destroy(request);
}

void player_peer_disconnect(struct player_peer *peer)
{
	peer->cm->ops->disconnect(peer->current->id);
}

static int post(struct player_peer *peer, struct ibv_send_wr *wr)
{
	struct ibv_send_wr *bad;

	wr->wr_id = SEND_WORK;
	wr->num_sge = 1;
	return -ibv_post_send(peer->current->qp, wr, &bad);
}

int player_peer_send(struct player_peer *peer, const uint8_t *bytes, uint32_t length_bytes)
{
	struct ibv_sge sge = {(uintptr_t)peer->send, length_bytes, peer->send_mr->lkey};
	struct ibv_send_wr wr = {.sg_list = &sge, .opcode = IBV_WR_SEND};

	memcpy(peer->send, bytes, length_bytes);
	return post(peer, &wr);
}

int player_peer_write(struct player_peer *peer, uint64_t addr, uint32_t key, uint32_t length_bytes)
{
	struct ibv_sge sge = {(uintptr_t)peer->data, length_bytes, peer->data_mr->lkey};
	struct ibv_send_wr wr = {.sg_list = &sge, .opcode = IBV_WR_RDMA_WRITE};

	wr.wr.rdma.remote_addr = addr;
	wr.wr.rdma.rkey = key;
	return post(peer, &wr);
}

static void hear(struct player_peer *peer, const struct ibv_wc *wc)
{
	struct player_line *line = &peer->line[wc->wr_id >> 32];
	const uint32_t slot = (uint32_t)wc->wr_id;

	if (peer->nheard < PEER_HEARD) {
		struct player_heard *heard = &peer->heard[peer->nheard++];

		heard->length_bytes = wc->byte_len;
		memcpy(heard->bytes, line->receive + (size_t)slot * O2_MSG_BYTES, wc->byte_len);
	}
	post_receive(peer, line, slot);
}

int player_peer_poll(struct player_peer *peer)
{
	struct ibv_wc wc;
	int n = 0;

	while (ibv_poll_cq(peer->cq, 1, &wc) == 1) {
		n++;
		if (wc.status != IBV_WC_SUCCESS) {
			/* Ignore flushed requests: they only say that the connection is over. */
			if (wc.status != IBV_WC_WR_FLUSH_ERR && peer->failure == 0)
				peer->failure = (int)wc.status;
		} else if ((wc.wr_id & SEND_WORK) == 0) {
			hear(peer, &wc);
		}
	}
	return n;
}

bool player_peer_take(struct player_peer *peer, struct player_heard *heard)
{
	if (peer->nheard == 0)
		return false;
	*heard = peer->heard[0];
	peer->nheard--;
	memmove(peer->heard, peer->heard + 1, peer->nheard * sizeof(peer->heard[0]));
	return true;
}

bool player_peer_take_cm(struct player_peer *peer, enum o2_cm_event_type type, struct player_heard_cm *heard)
{
	uint32_t i = 0;

	while (i < peer->nheard_cm && peer->heard_cm[i].type != type)
		i++;
	if (i == peer->nheard_cm)
		return false;
	*heard = peer->heard_cm[i];
	peer->nheard_cm--;
	memmove(&peer->heard_cm[i], &peer->heard_cm[i + 1],
		(peer->nheard_cm - i) * sizeof(peer->heard_cm[0]));
	return true;
}
