/* SPDX-License-Identifier: MIT */
#include "tests/bench/bare.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>

#include "lnd/conn/conn.h"
#include "lnd/ni/path.h"
#include "wire/layout.h"

#define RECVS	       8u
#define SLOTS	       (RECVS + 1) /* slot 0 holds the message that is sent */
#define ACCESS	       (IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE)
#define COMPLETION_NOB (O2_AT_STATUS + 4u)

static int post_receive(struct o2_bare_end *end, uint64_t slot)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)end->message + slot * O2_MSG_BYTES,
		.length = O2_MSG_BYTES,
		.lkey = end->messages->lkey,
	};
	struct ibv_recv_wr wr = {.wr_id = slot, .sg_list = &sge, .num_sge = 1}, *bad;

	return -ibv_post_recv(end->qp, &wr, &bad);
}

static int make_queues(struct o2_bare_end *end, struct o2_ni *ni)
{
	struct ibv_qp_init_attr init = {
		.qp_type = IBV_QPT_RC,
		.cap = {.max_send_wr = 2 * (O2_BARE_MAX_WRITES + 1),
			.max_recv_wr = RECVS,
			.max_send_sge = 1,
			.max_recv_sge = 1},
	};
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT,
		.port_num = ni->config.port,
		.qp_access_flags = IBV_ACCESS_REMOTE_WRITE,
	};

	end->cq = ibv_create_cq(ni->context, (int)(init.cap.max_send_wr + RECVS), NULL, NULL, 0);
	if (end->cq == NULL)
		return -errno;
	init.send_cq = end->cq;
	init.recv_cq = end->cq;
	end->qp = ibv_create_qp(ni->pd, &init);
	if (end->qp == NULL)
		return -errno;
	return -ibv_modify_qp(end->qp, &attr,
			      IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
}

static int make_end(struct o2_bare_end *end, struct o2_ni *ni)
{
	int rc = make_queues(end, ni);

	if (rc != 0)
		return rc;
	end->message = aligned_alloc(O2_MSG_BYTES, SLOTS * O2_MSG_BYTES);
	if (end->message == NULL)
		return -ENOMEM;
	end->messages = ibv_reg_mr(ni->pd, end->message, SLOTS * O2_MSG_BYTES, IBV_ACCESS_LOCAL_WRITE);
	end->pd = ni->pd;
	end->arena = ibv_reg_mr(ni->pd, (void *)(uintptr_t)ni->arena.view[0].base,
				(size_t)ni->arena.npages * ni->arena.page_bytes, ACCESS);
	end->data = end->arena;
	if (end->messages == NULL || end->arena == NULL)
		return -errno;
	for (uint64_t slot = 1; slot < SLOTS && rc == 0; slot++)
		rc = post_receive(end, slot);
	return rc;
}

static int connect_ends(struct o2_bare *bare, struct o2_ni *ni, struct o2_error *error)
{
	const struct o2_conn_config as_ours = O2_CONN_DEFAULTS;
	int rc = 0;

	for (int i = 0; i < 2 && rc == 0; i++) {
		const struct ibv_qp *peer = bare->end[1 - i].qp;
		const struct o2_qp_path path = {
			.gid = ni[1 - i].gid,
			.dest_qp_num = peer->qp_num,
			.dest_psn = o2_qp_psn(peer),
			.psn = o2_qp_psn(bare->end[i].qp),
			.retry_count = as_ours.retry_count,
			.rnr_retry_count = as_ours.rnr_retry_count,
			.ack_timeout = as_ours.ack_timeout,
		};

		rc = o2_qp_to_rts(&ni[i], bare->end[i].qp, &path, error);
	}
	return rc;
}

int o2_bare_open(struct o2_bare *bare, struct o2_ni *ni, struct o2_error *error)
{
	int rc = make_end(&bare->end[0], &ni[0]);

	*error = (struct o2_error){.rule = "bench/bare"};
	if (rc == 0)
		rc = make_end(&bare->end[1], &ni[1]);
	return rc == 0 ? connect_ends(bare, ni, error) : rc;
}

void o2_bare_close(struct o2_bare *bare)
{
	for (int i = 0; i < 2; i++) {
		struct o2_bare_end *end = &bare->end[i];

		if (end->qp != NULL)
			ibv_destroy_qp(end->qp);
		if (end->cq != NULL)
			ibv_destroy_cq(end->cq);
		if (end->messages != NULL)
			ibv_dereg_mr(end->messages);
		if (end->arena != NULL)
			ibv_dereg_mr(end->arena);
		free(end->message);
		*end = (struct o2_bare_end){.qp = NULL};
	}
}

/* Post one chain: nwr unsignalled WRITEs of the transfer's parts, then a signalled SEND. */
static void post(struct o2_bare *bare, int from, const struct o2_bare_shape *shape, uint32_t nwr,
		 uint32_t message_bytes)
{
	struct o2_bare_end *end = &bare->end[from];
	const struct ibv_mr *sink = bare->end[1 - from].data;
	struct ibv_send_wr wr[O2_BARE_MAX_WRITES + 1], *bad;
	struct ibv_sge sge[O2_BARE_MAX_WRITES + 1];

	for (uint32_t i = 0; i < nwr; i++) {
		const uint64_t offset = (uint64_t)shape->transfer_bytes / nwr * i;

		sge[i] = (struct ibv_sge){(uintptr_t)end->data->addr + offset, shape->transfer_bytes / nwr,
					  end->data->lkey};
		wr[i] = (struct ibv_send_wr){.sg_list = &sge[i], .num_sge = 1, .opcode = IBV_WR_RDMA_WRITE};
		wr[i].next = &wr[i + 1];
		wr[i].wr.rdma.remote_addr = (uintptr_t)sink->addr + offset;
		wr[i].wr.rdma.rkey = sink->rkey;
	}
	sge[nwr] = (struct ibv_sge){(uintptr_t)end->message, message_bytes, end->messages->lkey};
	wr[nwr] = (struct ibv_send_wr){
		.sg_list = &sge[nwr],
		.num_sge = 1,
		.opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED,
	};
	if (bare->failed == 0)
		bare->failed = -ibv_post_send(end->qp, wr, &bad);
}

/* Poll both ends until the SEND has completed at its sender and the message has arrived at the peer. */
static void deliver(struct o2_bare *bare)
{
	int missing = 2;

	while (missing > 0 && bare->failed == 0) {
		const int before = missing;
		struct ibv_wc wc;

		for (int i = 0; i < 2 && bare->failed == 0; i++) {
			if (ibv_poll_cq(bare->end[i].cq, 1, &wc) != 1)
				continue;
			missing--;
			if (wc.status != IBV_WC_SUCCESS)
				bare->failed = -EIO;
			else if (wc.opcode == IBV_WC_RECV)
				bare->failed = post_receive(&bare->end[i], wc.wr_id);
		}
		if (missing == before)
			sched_yield();
	}
}

static void begin(struct o2_bare *bare, const struct o2_bare_shape *shape)
{
	for (int i = 0; i < 2 && shape->registers && bare->failed == 0; i++) {
		struct o2_bare_end *end = &bare->end[i];

		end->data = ibv_reg_mr(end->pd, end->arena->addr, shape->transfer_bytes, ACCESS);
		if (end->data == NULL) {
			end->data = end->arena;
			bare->failed = -errno;
		}
	}
}

static int finish(struct o2_bare *bare)
{
	for (int i = 0; i < 2; i++) {
		struct o2_bare_end *end = &bare->end[i];

		if (end->data != end->arena)
			ibv_dereg_mr(end->data);
		end->data = end->arena;
	}
	return bare->failed;
}

static uint32_t desc_bytes(const struct o2_bare_shape *shape)
{
	return O2_DESC_AT_FRAGS + shape->nfrags * O2_FRAG_BYTES;
}

int o2_bare_put(struct o2_bare *bare, const struct o2_bare_shape *shape)
{
	begin(bare, shape);
	post(bare, 0, shape, 0, O2_AT_PUT_REQ_COOKIE + 8);
	deliver(bare);
	post(bare, 1, shape, 0, O2_AT_PUT_ACK_DESC + desc_bytes(shape));
	deliver(bare);
	post(bare, 0, shape, shape->nwr, COMPLETION_NOB);
	deliver(bare);
	return finish(bare);
}

int o2_bare_get(struct o2_bare *bare, const struct o2_bare_shape *shape)
{
	begin(bare, shape);
	post(bare, 0, shape, 0, O2_AT_GET_REQ_DESC + desc_bytes(shape));
	deliver(bare);
	post(bare, 1, shape, shape->nwr, COMPLETION_NOB);
	deliver(bare);
	return finish(bare);
}
