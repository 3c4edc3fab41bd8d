/* SPDX-License-Identifier: MIT */
/* The responder's actions: it checks rights first, then the receive, then the range. */
#include <string.h>

#include "props/verbs/verbs_internal.h"

#define ROUTE_BYTES 40u

struct o2_verbs_ring *o2_verbs_ring_of(struct o2_verbs_world *world, struct o2_verbs_qp *qp)
{
	return qp->shared ? &world->side[qp->side].shared : &qp->own;
}

void o2_verbs_pop(struct o2_verbs_world *world, struct o2_verbs_qp *qp)
{
	struct o2_verbs_side *side = &world->side[qp->side];
	struct o2_verbs_ring *ring = o2_verbs_ring_of(world, qp);

	ring->count--;
	memmove(&ring->recv[0], &ring->recv[1], ring->count * sizeof(ring->recv[0]));
	if (qp->shared && side->srq_limit > ring->count) {
		o2_verbs_saw(world, O2_VERBS_SEEN_SHARED_LIMIT);
		side->srq_limit = 0;
		o2_verbs_tell(side, IBV_EVENT_SRQ_LIMIT_REACHED, side->srq);
	}
}

void o2_verbs_put(struct o2_verbs_world *world, struct o2_verbs_side *side, const struct o2_verbs_bytes *to,
		  const uint8_t *value)
{
	world->counters.data_bytes += to->count;
	for (uint32_t i = 0; i < to->count; i++)
		side->model[to->place[i]] = value[i];
}

/* Scatter `bytes` bytes of a message; a packet that does not fit whole is lost. */
void o2_verbs_scatter(struct o2_verbs_world *world, struct o2_verbs_qp *qp, uint32_t domain,
		      const struct ibv_sge *sge, uint32_t sges, uint64_t bytes, uint32_t mtu)
{
	uint64_t room = 0;

	for (uint32_t i = 0; i < sges; i++)
		room += sge[i].length;
	o2_verbs_list(&world->side[qp->side], domain, sge, sges, room < bytes ? room - room % mtu : bytes,
		      IBV_ACCESS_LOCAL_WRITE, mtu, &world->sink);
	if (room < bytes && world->sink.status == IBV_WC_SUCCESS)
		world->sink.status = IBV_WC_LOC_QP_OP_ERR;
}

/* docs/loopverbs.md, "Differences from soft-RoCE": the memory of a receive belongs to its queue's domain. */
static void scatter_received(struct o2_verbs_world *world, struct o2_verbs_qp *peer, uint64_t bytes,
			     uint32_t mtu)
{
	const struct o2_verbs_recv *recv = &o2_verbs_ring_of(world, peer)->recv[0];

	o2_verbs_scatter(world, peer, peer->shared ? world->side[peer->side].srq_domain : peer->domain,
			 recv->sge, recv->sges, bytes, mtu);
}

static enum o2_verbs_verdict refuse(struct o2_verbs_world *world, struct o2_verbs_qp *peer, bool taken,
				    enum ibv_wc_status ours, enum ibv_wc_status theirs,
				    struct o2_verbs_outcome *outcome)
{
	const struct ibv_wc wc = {.wr_id = o2_verbs_ring_of(world, peer)->recv[0].wr_id,
				  .status = ours,
				  .opcode = IBV_WC_RECV,
				  .qp_num = peer->number};

	outcome->status = theirs;
	if (taken) {
		o2_verbs_pop(world, peer);
		o2_verbs_push(world, &world->side[peer->side], peer->recv_cq, &wc, true);
	}
	peer->broken = peer->type == IBV_QPT_RC;
	return O2_VERBS_FAILED;
}

static void deliver(struct o2_verbs_world *world, struct o2_verbs_qp *peer, const struct o2_verbs_send *send,
		    struct ibv_wc *wc)
{
	wc->wr_id = o2_verbs_ring_of(world, peer)->recv[0].wr_id;
	wc->qp_num = peer->number;
	if (send->opcode == IBV_WR_SEND_WITH_IMM || send->opcode == IBV_WR_RDMA_WRITE_WITH_IMM) {
		wc->wc_flags |= IBV_WC_WITH_IMM;
		wc->imm_data = send->imm;
	} else if (send->opcode == IBV_WR_SEND_WITH_INV) {
		wc->wc_flags |= IBV_WC_WITH_INV;
		wc->invalidated_rkey = send->imm;
	}
	o2_verbs_pop(world, peer);
	o2_verbs_push(world, &world->side[peer->side], peer->recv_cq, wc,
		      (send->flags & IBV_SEND_SOLICITED) != 0);
}

enum o2_verbs_verdict o2_verbs_arrive(struct o2_verbs_world *world, struct o2_verbs_qp *peer,
				      const struct o2_verbs_send *send, uint32_t mtu,
				      struct o2_verbs_outcome *outcome)
{
	struct o2_verbs_ring *ring = o2_verbs_ring_of(world, peer);
	struct ibv_wc wc = {.opcode = IBV_WC_RECV, .byte_len = send->bytes};
	uint64_t room = 0;

	if (ring->count == 0)
		return O2_VERBS_RNR;
	if (outcome->miscut)
		return refuse(world, peer, true, IBV_WC_REM_INV_REQ_ERR, IBV_WC_REM_INV_REQ_ERR, outcome);
	for (uint32_t i = 0; i < ring->recv[0].sges; i++)
		room += ring->recv[0].sge[i].length;
	scatter_received(world, peer, world->source.count, mtu);
	o2_verbs_put(world, &world->side[peer->side], &world->sink, world->source.value);
	if (world->sink.status != IBV_WC_SUCCESS) {
		o2_verbs_saw(world,
			     room < world->source.count ? O2_VERBS_SEEN_TOO_LONG : O2_VERBS_SEEN_RECV_FAULT);
		return refuse(world, peer, true, IBV_WC_LOC_QP_OP_ERR, IBV_WC_REM_OP_ERR, outcome);
	}
	if (world->source.status != IBV_WC_SUCCESS)
		return O2_VERBS_DONE;
	if (peer->shared)
		o2_verbs_saw(world, O2_VERBS_SEEN_SHARED);
	if (send->opcode == IBV_WR_SEND_WITH_INV && !o2_verbs_invalidate(world, peer, send->imm)) {
		struct o2_verbs_outcome ignored;

		o2_verbs_saw(world, O2_VERBS_SEEN_INVALIDATE_WRONG);
		refuse(world, peer, true, IBV_WC_REM_INV_REQ_ERR, IBV_WC_REM_INV_REQ_ERR, &ignored);
		return O2_VERBS_DONE;
	}
	deliver(world, peer, send, &wc);
	return O2_VERBS_DONE;
}

enum o2_verbs_verdict o2_verbs_write_to(struct o2_verbs_world *world, struct o2_verbs_qp *peer,
					const struct o2_verbs_send *send, uint32_t mtu,
					struct o2_verbs_outcome *outcome)
{
	const bool imm = send->opcode == IBV_WR_RDMA_WRITE_WITH_IMM;
	struct ibv_wc wc = {.opcode = IBV_WC_RECV_RDMA_WITH_IMM, .byte_len = send->bytes};

	if (!(peer->attr.qp_access_flags & IBV_ACCESS_REMOTE_WRITE)) {
		o2_verbs_saw(world, O2_VERBS_SEEN_REMOTE_RIGHT);
		return refuse(world, peer, false, 0, IBV_WC_REM_INV_REQ_ERR, outcome);
	}
	if (imm && o2_verbs_ring_of(world, peer)->count == 0)
		return O2_VERBS_RNR;
	if (send->bytes != 0) {
		if (!o2_verbs_reach(world, peer, send->rkey, send->remote, send->bytes,
				    IBV_ACCESS_REMOTE_WRITE, &world->remote)) {
			o2_verbs_saw(world, O2_VERBS_SEEN_REMOTE_ACCESS);
			world->counters.refused_access++;
			return refuse(world, peer, imm && send->bytes <= mtu, IBV_WC_REM_ACCESS_ERR,
				      IBV_WC_REM_ACCESS_ERR, outcome);
		}
		if (outcome->miscut)
			return refuse(world, peer, imm && send->bytes <= mtu, IBV_WC_REM_INV_REQ_ERR,
				      IBV_WC_REM_INV_REQ_ERR, outcome);
		world->remote.count = world->source.count;
		o2_verbs_put(world, &world->side[peer->side], &world->remote, world->source.value);
	}
	if (imm && world->source.status == IBV_WC_SUCCESS)
		deliver(world, peer, send, &wc);
	return O2_VERBS_DONE;
}

/* READ and atomics: read the peer's bytes, if access is permitted. */
enum o2_verbs_verdict o2_verbs_ask(struct o2_verbs_world *world, struct o2_verbs_qp *peer,
				   const struct o2_verbs_send *send, uint32_t right, uint32_t bytes,
				   struct o2_verbs_outcome *outcome)
{
	world->remote.count = 0;
	if (!(peer->attr.qp_access_flags & right) || peer->attr.max_dest_rd_atomic == 0) {
		o2_verbs_saw(world, O2_VERBS_SEEN_REMOTE_RIGHT);
		return refuse(world, peer, false, 0, IBV_WC_REM_INV_REQ_ERR, outcome);
	}
	if (bytes != 0 &&
	    !o2_verbs_reach(world, peer, send->rkey, send->remote, bytes, right, &world->remote)) {
		o2_verbs_saw(world, O2_VERBS_SEEN_REMOTE_ACCESS);
		world->counters.refused_access++;
		return refuse(world, peer, false, 0, IBV_WC_REM_ACCESS_ERR, outcome);
	}
	return O2_VERBS_DONE;
}

/* The data follows the global route header: 40 bytes, with the addresses in the last 32. */
void o2_verbs_datagram(struct o2_verbs_world *world, struct o2_verbs_qp *qp, struct o2_verbs_qp *peer,
		       const struct o2_verbs_send *send)
{
	static struct o2_verbs_bytes whole;
	struct o2_verbs_ring *ring = o2_verbs_ring_of(world, peer);
	struct ibv_wc wc = {.opcode = IBV_WC_RECV,
			    .byte_len = send->bytes + ROUTE_BYTES,
			    .src_qp = qp->number,
			    .wc_flags = IBV_WC_GRH};
	uint8_t *route = whole.value;

	if (ring->count == 0 || send->qkey != peer->attr.qkey)
		return;
	memset(route, 0, ROUTE_BYTES);
	route[0] = 0x60;
	route[4] = (uint8_t)(send->bytes >> 8);
	route[5] = (uint8_t)send->bytes;
	route[6] = 0x1b;
	route[7] = 0xff;
	memcpy(route + 8, world->side[qp->side].gid[send->from_gid].raw, 16);
	memcpy(route + 24, world->side[send->to_side].gid[send->to_gid].raw, 16);
	memcpy(route + ROUTE_BYTES, world->source.value, world->source.count);
	scatter_received(world, peer, wc.byte_len, O2_VERBS_PAGE + ROUTE_BYTES);
	if (world->sink.status != IBV_WC_SUCCESS)
		return;
	o2_verbs_put(world, &world->side[peer->side], &world->sink, whole.value);
	world->counters.packets++;
	world->counters.sends++;
	o2_verbs_saw(world, O2_VERBS_SEEN_DATAGRAM);
	deliver(world, peer, send, &wc);
}

bool o2_verbs_forge(struct o2_verbs_world *world, struct o2_verbs_qp *qp, const uint8_t *bytes,
		    uint32_t count)
{
	const struct o2_verbs_send send = {.opcode = IBV_WR_SEND, .bytes = count};
	struct o2_verbs_outcome ignored = {0};
	bool arrived;

	if (qp->type == IBV_QPT_UD || (qp->state != IBV_QPS_RTR && qp->state != IBV_QPS_RTS))
		return false;
	world->source.count = count;
	world->source.status = IBV_WC_SUCCESS;
	memcpy(world->source.value, bytes, count);
	arrived = o2_verbs_arrive(world, qp, &send, O2_VERBS_PAGE, &ignored) == O2_VERBS_DONE;
	o2_verbs_break_peer(world, qp);
	return arrived;
}

void o2_verbs_scribble(struct o2_verbs_world *world, struct o2_verbs_side *side, uint32_t domain,
		       const struct o2_verbs_recv *recv)
{
	uint64_t room = 0;

	if (!world->option[O2_LOOP_SCRIBBLE])
		return;
	for (uint32_t i = 0; i < recv->sges; i++)
		room += recv->sge[i].length;
	o2_verbs_list(side, domain, recv->sge, recv->sges, room, IBV_ACCESS_LOCAL_WRITE, O2_VERBS_PAGE,
		      &world->sink);
	/* The device chooses the fill value; bytes that had another value before show that it was written. */
	for (uint32_t i = 0; i < world->sink.count; i++)
		side->model[world->sink.place[i]] = 0xdb;
}
