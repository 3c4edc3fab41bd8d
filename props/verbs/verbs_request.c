/* SPDX-License-Identifier: MIT */
/* Draws requests of each kind: mostly valid, sometimes with one defect. */
#include <string.h>

#include "props/verbs/verbs_internal.h"

void o2_verbs_draw_bind(struct o2_verbs_world *world, struct o2_verbs_side *side,
			struct ibv_mw_bind_info *info, uint32_t access)
{
	struct o2_choice *c = world->choice;
	const struct o2_verbs_region *region = &side->region[o2_draw_pick(c, O2_VERBS_REGIONS)];

	*info = (struct ibv_mw_bind_info){.mr = region->mr, .mw_access_flags = access};
	if (region->mr == NULL || region->bytes == 0)
		return;
	info->length = o2_draw_bool(c, 12, 1) ? 0 : 1 + o2_draw(c, region->bytes - 1);
	info->addr = region->iova + o2_draw(c, region->bytes - info->length);
	if (o2_draw_bool(c, 12, 1))
		info->addr = region->iova + region->bytes - info->length + 1;
}

static bool draw_request_of_window(struct o2_verbs_world *world, struct o2_verbs_qp *qp,
				   struct ibv_send_wr *wr)
{
	struct o2_choice *c = world->choice;
	struct o2_verbs_side *side = &world->side[qp->side];
	struct o2_verbs_window *window = &side->window[o2_draw_pick(c, O2_VERBS_WINDOWS)];

	if (window->mw == NULL)
		return false;
	if (!o2_draw_bool(c, 12, 1) && window->type == IBV_MW_TYPE_2)
		window->mw->rkey = window->key; /* as a program does after the bind has completed */
	wr->bind_mw.mw = window->mw;
	wr->bind_mw.rkey = ibv_inc_rkey(window->key);
	o2_verbs_draw_bind(world, side, &wr->bind_mw.bind_info,
			   IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
				   (o2_draw_bool(c, 3, 1) ? (uint32_t)IBV_ACCESS_ZERO_BASED : 0) |
				   (o2_draw_bool(c, 3, 1) ? (uint32_t)IBV_ACCESS_REMOTE_ATOMIC : 0));
	return true;
}

static bool draw_registration(struct o2_verbs_world *world, struct o2_verbs_qp *qp, struct ibv_send_wr *wr)
{
	static const uint32_t rights[] = {7, 7, 1, 5, 4, 2, 8};
	struct o2_choice *c = world->choice;
	struct o2_verbs_side *side = &world->side[qp->side];
	const uint32_t first = (uint32_t)o2_draw_pick(c, O2_VERBS_REGIONS);
	struct o2_verbs_region *region = &side->region[first];
	const uint64_t wr_id = wr->wr_id;
	uint32_t key;

	for (uint32_t i = 0; i < O2_VERBS_REGIONS && (region->mr == NULL || region->mapped == 0); i++)
		region = &side->region[(first + i) % O2_VERBS_REGIONS];
	if (region->mr == NULL)
		return false;
	key = o2_draw_bool(c, 12, 1) ? region->key ^ 0x100 : ibv_inc_rkey(region->key);
	o2_loop_reg_mr(region->mr, key, rights[o2_draw_pick(c, 7)], wr);
	o2_verbs_expect(world, "a request to register", wr->wr_id == 0 && wr->send_flags == 0, 1);
	wr->wr_id = wr_id;
	return true;
}

/* Draw a key to invalidate: of a window or a region on that side that can be invalidated. */
static uint32_t draw_key(struct o2_verbs_world *world, uint32_t at)
{
	struct o2_choice *c = world->choice;
	struct o2_verbs_side *side = &world->side[at];
	const uint32_t first = (uint32_t)o2_draw_pick(c, O2_VERBS_REGIONS);
	uint32_t key = 0;

	for (uint32_t i = 0; i < O2_VERBS_REGIONS; i++) {
		const struct o2_verbs_region *region = &side->region[(first + i) % O2_VERBS_REGIONS];
		const struct o2_verbs_window *window = &side->window[(first + i) % O2_VERBS_WINDOWS];

		if (region->mr != NULL && region->kind == O2_VERBS_FAST)
			key = region->key;
		if (window->mw != NULL && window->type == IBV_MW_TYPE_2 && window->bound)
			key = window->key;
		if (key != 0)
			break;
	}
	return o2_draw_bool(c, 8, 1) ? key ^ (1u << o2_draw(c, 31)) : key;
}

/* Give an atomic a chance to swap: compare with the present value. */
static void guess(struct o2_verbs_world *world, struct o2_verbs_qp *qp, struct ibv_send_wr *wr)
{
	static struct o2_verbs_bytes there;
	struct o2_verbs_qp *peer =
		qp->dest_side < O2_VERBS_SIDES ? &world->side[qp->dest_side].qp[qp->index] : NULL;

	if (peer != NULL && peer->qp != NULL && o2_verbs_is_atomic(wr->opcode) &&
	    o2_draw_bool(world->choice, 1, 1) &&
	    o2_verbs_peek(world, peer, wr->wr.atomic.rkey, wr->wr.atomic.remote_addr, 8, 0, &there))
		memcpy(&wr->wr.atomic.compare_add, there.value, 8);
}

/* Draw the data of a request: the process's own memory (inline), or regions. */
static void draw_data(struct o2_verbs_world *world, struct o2_verbs_qp *qp, struct ibv_send_wr *wr)
{
	struct o2_choice *c = world->choice;
	uint32_t bytes = o2_verbs_draw_bytes(world);

	if (o2_verbs_is_atomic(wr->opcode))
		bytes = 8 + (uint32_t)o2_draw_bool(c, 7, 1) * 8;
	if (o2_draw_bool(c, 6, 1) &&
	    ((wr->opcode != IBV_WR_RDMA_READ && !o2_verbs_is_atomic(wr->opcode)) || o2_draw_bool(c, 3, 1))) {
		wr->send_flags |= IBV_SEND_INLINE;
		if (o2_draw_bool(c, 3, 1))
			bytes = qp->cap.max_inline_data + o2_draw_bool(c, 1, 1);
		else if (bytes > qp->cap.max_inline_data)
			bytes = (uint32_t)o2_draw(c, qp->cap.max_inline_data);
		wr->num_sge = (int)o2_draw_range(c, 1, 2);
		for (int i = 0; i < wr->num_sge; i++) {
			const uint32_t part = i + 1 == wr->num_sge ? bytes : bytes / 2;

			wr->sg_list[i] = (struct ibv_sge){
				(uint64_t)(uintptr_t)world->side[qp->side].arena + o2_draw(c, 4096), part, 0};
			bytes -= part;
		}
		return;
	}
	o2_verbs_draw_list(world, qp->side, qp->domain, bytes, qp->cap.max_send_sge + o2_draw_bool(c, 48, 1),
			   wr->sg_list, &wr->num_sge);
}

/* Draw a request that does not involve the other side. */
static bool draw_local(struct o2_verbs_world *world, struct o2_verbs_qp *qp, struct ibv_send_wr *wr)
{
	if (wr->opcode == IBV_WR_BIND_MW)
		return draw_request_of_window(world, qp, wr);
	if (wr->opcode == O2_LOOP_WR_REG_MR)
		return draw_registration(world, qp, wr);
	wr->invalidate_rkey = draw_key(world, qp->side);
	return true;
}

bool o2_verbs_draw_request(struct o2_verbs_world *world, struct o2_verbs_qp *qp, struct ibv_send_wr *wr,
			   struct ibv_sge *sge)
{
	static const enum ibv_wr_opcode opcodes[] = {IBV_WR_SEND,
						     IBV_WR_RDMA_WRITE,
						     IBV_WR_RDMA_READ,
						     IBV_WR_SEND_WITH_IMM,
						     IBV_WR_RDMA_WRITE_WITH_IMM,
						     IBV_WR_ATOMIC_CMP_AND_SWP,
						     IBV_WR_ATOMIC_FETCH_AND_ADD,
						     IBV_WR_BIND_MW,
						     O2_LOOP_WR_REG_MR,
						     IBV_WR_LOCAL_INV,
						     IBV_WR_SEND_WITH_INV,
						     IBV_WR_TSO};
	static const uint32_t weights[] = {6, 4, 4, 3, 3, 2, 2, 4, 4, 2, 2, 1};
	struct o2_choice *c = world->choice;
	const uint32_t to = qp->dest_side < O2_VERBS_SIDES ? qp->dest_side : 1 - qp->side;

	*wr = (struct ibv_send_wr){.wr_id = world->next_id++,
				   .sg_list = sge,
				   .opcode = opcodes[o2_draw_weighted(c, weights, 12)]};
	if (qp->type != IBV_QPT_RC && !o2_draw_bool(c, 16, 1))
		wr->opcode = opcodes[o2_draw(c, 1) * 3];
	if (qp->type == IBV_QPT_UC && o2_draw_bool(c, 1, 1))
		wr->opcode = o2_draw_bool(c, 1, 1) ? IBV_WR_RDMA_WRITE : IBV_WR_RDMA_WRITE_WITH_IMM;
	wr->imm_data = (uint32_t)o2_draw(c, UINT16_MAX);
	if (wr->opcode == IBV_WR_BIND_MW || wr->opcode == O2_LOOP_WR_REG_MR ||
	    wr->opcode == IBV_WR_LOCAL_INV) {
		if (!draw_local(world, qp, wr))
			return false;
		wr->send_flags |= o2_draw_bool(c, 24, 1) ? (unsigned int)IBV_SEND_INLINE : 0;
	} else {
		uint64_t bytes = 0;

		draw_data(world, qp, wr);
		for (int i = 0; i < wr->num_sge; i++)
			bytes += sge[i].length;
		if (wr->opcode == IBV_WR_SEND_WITH_INV)
			wr->invalidate_rkey = draw_key(world, to);
		if (qp->type == IBV_QPT_UD) {
			const struct o2_verbs_qp *peer = &world->side[world->side[qp->side].ah_dest]
								  .qp[o2_draw_bool(c, 3, 1) ? 0 : qp->index];

			wr->wr.ud.ah = o2_draw_bool(c, 24, 1) ? NULL : world->side[qp->side].ah;
			wr->wr.ud.remote_qpn = peer->number;
			wr->wr.ud.remote_qkey = 7;
		} else if (o2_verbs_is_atomic(wr->opcode)) {
			o2_verbs_draw_target(world, to, 16, IBV_ACCESS_REMOTE_ATOMIC,
					     &wr->wr.atomic.remote_addr, &wr->wr.atomic.rkey);
			if (!o2_draw_bool(c, 12, 1))
				wr->wr.atomic.remote_addr = (wr->wr.atomic.remote_addr + 7) & ~UINT64_C(7);
			wr->wr.atomic.compare_add = o2_draw(c, UINT32_MAX);
			wr->wr.atomic.swap = o2_draw(c, UINT32_MAX);
		} else {
			o2_verbs_draw_target(world, to, (uint32_t)bytes,
					     wr->opcode == IBV_WR_RDMA_READ ? IBV_ACCESS_REMOTE_READ
									    : IBV_ACCESS_REMOTE_WRITE,
					     &wr->wr.rdma.remote_addr, &wr->wr.rdma.rkey);
		}
	}
	guess(world, qp, wr);
	wr->send_flags |= (o2_draw_bool(c, 1, 1) ? (unsigned int)IBV_SEND_SIGNALED : 0) |
			  (o2_draw_bool(c, 1, 1) ? (unsigned int)IBV_SEND_SOLICITED : 0) |
			  (o2_draw_bool(c, 7, 1) ? (unsigned int)IBV_SEND_FENCE : 0);
	return true;
}

struct o2_verbs_qp *o2_verbs_draw_pair(struct o2_verbs_world *world)
{
	struct o2_verbs_side *side = &world->side[o2_draw(world->choice, 1)];
	struct o2_verbs_qp *qp = &side->qp[o2_draw_pick(world->choice, O2_VERBS_PAIRS)];

	return qp->qp == NULL ? NULL : qp;
}
