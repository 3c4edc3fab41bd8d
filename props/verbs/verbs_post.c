/* SPDX-License-Identifier: MIT */
/* Steps that post requests: which are refused at once, and which are stored until they run. */
#include <errno.h>
#include <string.h>

#include "props/verbs/verbs_internal.h"

#define LIST	  4u
#define MOST_SENT (UINT64_C(1) << 31)

bool o2_verbs_is_atomic(enum ibv_wr_opcode opcode)
{
	return opcode == IBV_WR_ATOMIC_CMP_AND_SWP || opcode == IBV_WR_ATOMIC_FETCH_AND_ADD;
}

static bool may_send(const struct o2_verbs_qp *qp)
{
	return qp->state == IBV_QPS_RTS || qp->state == IBV_QPS_SQD || qp->state == IBV_QPS_SQE ||
	       qp->state == IBV_QPS_ERR;
}

/* docs/loopverbs.md, "What it offers": the opcodes of each type of queue pair. */
static bool offers(enum ibv_qp_type type, enum ibv_wr_opcode opcode)
{
	if (opcode == IBV_WR_SEND || opcode == IBV_WR_SEND_WITH_IMM)
		return true;
	if (opcode == IBV_WR_RDMA_WRITE || opcode == IBV_WR_RDMA_WRITE_WITH_IMM)
		return type != IBV_QPT_UD;
	return type == IBV_QPT_RC && opcode != IBV_WR_TSO && (int)opcode >= 0;
}

/* ibv_post_send(3): the Sends and RDMA Writes, whose data may be inline. */
static bool is_out(enum ibv_wr_opcode opcode)
{
	return opcode <= IBV_WR_SEND_WITH_IMM || opcode == IBV_WR_SEND_WITH_INV;
}

static int bind_error(const struct o2_verbs_qp *qp, const struct ibv_send_wr *wr,
		      const struct o2_verbs_region *region)
{
	const uint32_t rights = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;
	const uint32_t access = wr->bind_mw.bind_info.mw_access_flags;

	if (wr->opcode == IBV_WR_BIND_MW)
		return wr->bind_mw.mw->type != IBV_MW_TYPE_2 ? EINVAL : 0;
	if (region == NULL || region->kind != O2_VERBS_FAST || region->domain != qp->domain)
		return EINVAL;
	if (access & ~rights || (access & IBV_ACCESS_REMOTE_WRITE && !(access & IBV_ACCESS_LOCAL_WRITE)))
		return EINVAL;
	return 0;
}

static struct o2_verbs_region *region_of(struct o2_verbs_side *side, const struct ibv_mr *mr)
{
	for (uint32_t i = 0; i < O2_VERBS_REGIONS; i++)
		if (mr != NULL && side->region[i].mr == mr)
			return &side->region[i];
	return NULL;
}

static int refusal(struct o2_verbs_world *world, const struct o2_verbs_qp *qp, const struct ibv_send_wr *wr)
{
	const bool binds = wr->opcode == IBV_WR_BIND_MW || wr->opcode == O2_LOOP_WR_REG_MR;
	uint64_t bytes = 0;

	if (wr->num_sge < 0 || wr->num_sge > (int)qp->cap.max_send_sge)
		return EINVAL;
	for (int i = 0; i < wr->num_sge; i++)
		bytes += wr->sg_list[i].length;
	if (!offers(qp->type, wr->opcode) || bytes > MOST_SENT)
		return EINVAL;
	if (o2_verbs_is_atomic(wr->opcode) && (bytes < 8 || wr->wr.atomic.remote_addr % 8 != 0))
		return EINVAL;
	if (wr->send_flags & IBV_SEND_INLINE && (!is_out(wr->opcode) || bytes > qp->cap.max_inline_data))
		return EINVAL;
	if ((wr->opcode == IBV_WR_RDMA_READ || o2_verbs_is_atomic(wr->opcode)) &&
	    qp->attr.max_rd_atomic == 0 && qp->state != IBV_QPS_ERR)
		return EINVAL;
	if (binds && (wr->num_sge > 0 ||
		      bind_error(qp, wr, region_of(&world->side[qp->side], wr->bind_mw.bind_info.mr))))
		return EINVAL;
	if (qp->type == IBV_QPT_UD && (wr->wr.ud.ah == NULL || qp->domain != 0 || bytes > O2_VERBS_PAGE))
		return EINVAL;
	if (qp->sends == qp->cap.max_send_wr) {
		o2_verbs_saw(world, O2_VERBS_SEEN_QUEUE_FULL);
		return ENOMEM;
	}
	return 0;
}

/* Inline data is copied when it is posted: the model's memory has not changed since. */
static void keep_data(const struct o2_verbs_side *side, struct o2_verbs_send *send,
		      const struct ibv_send_wr *wr)
{
	send->sges = (uint32_t)wr->num_sge;
	for (uint32_t i = 0; i < send->sges; i++) {
		send->sge[i] = wr->sg_list[i];
		if (wr->send_flags & IBV_SEND_INLINE)
			memcpy(send->data + send->bytes,
			       side->model + (wr->sg_list[i].addr - (uint64_t)(uintptr_t)side->arena),
			       wr->sg_list[i].length);
		send->bytes += wr->sg_list[i].length;
	}
}

static struct o2_verbs_send *next_send(struct o2_verbs_world *world, struct o2_verbs_qp *qp)
{
	struct o2_verbs_send *send = &qp->send[qp->sends++];

	memset(send, 0, offsetof(struct o2_verbs_send, sge));
	memset(send->data + sizeof(send->data), 0, sizeof(*send) - offsetof(struct o2_verbs_send, imm));
	world->counters.posted_sends++;
	return send;
}

static void keep_bind(struct o2_verbs_world *world, const struct o2_verbs_qp *qp, struct o2_verbs_send *send,
		      const struct ibv_mw_bind_info *info, uint32_t old_key, uint32_t new_key)
{
	const struct o2_verbs_region *region = region_of(&world->side[qp->side], info->mr);

	send->old_key = old_key;
	send->new_key = new_key;
	send->region = region == NULL ? O2_VERBS_NONE : 0;
	send->region_key = region == NULL ? 0 : region->key;
	send->access = info->mw_access_flags;
	send->at = info->addr;
	send->length = info->length;
}

static int keep(struct o2_verbs_world *world, struct o2_verbs_qp *qp, const struct ibv_send_wr *wr)
{
	const struct o2_verbs_side *side = &world->side[qp->side];
	const int error = refusal(world, qp, wr);
	struct o2_verbs_send *send;

	if (error != 0)
		return error;
	send = next_send(world, qp);
	send->wr_id = wr->wr_id;
	send->opcode = wr->opcode;
	send->flags = wr->send_flags;
	send->imm = wr->imm_data;
	keep_data(side, send, wr);
	if (qp->type == IBV_QPT_UD) {
		send->to_side = side->ah_dest;
		send->to_gid = side->ah_gid;
		send->from_gid = side->ah_from;
		send->to_number = wr->wr.ud.remote_qpn;
		send->qkey = wr->wr.ud.remote_qkey;
	} else if (wr->opcode == IBV_WR_BIND_MW || wr->opcode == O2_LOOP_WR_REG_MR) {
		keep_bind(world, qp, send, &wr->bind_mw.bind_info,
			  wr->opcode == IBV_WR_BIND_MW ? wr->bind_mw.mw->rkey : 0, wr->bind_mw.rkey);
	} else {
		send->remote =
			o2_verbs_is_atomic(wr->opcode) ? wr->wr.atomic.remote_addr : wr->wr.rdma.remote_addr;
		send->rkey = o2_verbs_is_atomic(wr->opcode) ? wr->wr.atomic.rkey : wr->wr.rdma.rkey;
		send->compare_add = wr->wr.atomic.compare_add;
		send->swap = wr->wr.atomic.swap;
	}
	return 0;
}

static void start(struct o2_verbs_world *world, struct o2_verbs_qp *qp)
{
	while (qp->state == IBV_QPS_ERR && qp->sends > 0)
		o2_verbs_complete(world, qp, IBV_WC_WR_FLUSH_ERR, 0);
	o2_verbs_kick(world, qp);
	o2_verbs_run(world);
}

/* Predict ibv_post_send. */
static int foretell(struct o2_verbs_world *world, struct o2_verbs_qp *qp, struct ibv_send_wr *wr,
		    struct ibv_send_wr **bad)
{
	int error = may_send(qp) ? 0 : EINVAL;

	*bad = error == 0 ? NULL : wr;
	for (; wr != NULL && error == 0; wr = wr->next) {
		error = o2_verbs_fault(&world->hook, O2_LOOP_CALL_POST_SEND, qp->number);
		if (error == 0)
			error = keep(world, qp, wr);
		if (error != 0)
			*bad = wr;
	}
	start(world, qp);
	return error;
}

void o2_verbs_step_send(struct o2_verbs_world *world)
{
	static struct ibv_sge sge[LIST][O2_VERBS_SGES + 1];
	struct ibv_send_wr wr[LIST], *bad = NULL, *expected_bad;
	struct o2_verbs_qp *qp = o2_verbs_draw_pair(world);
	uint32_t count;
	int found, expected;

	if (qp == NULL)
		return;
	count = (uint32_t)o2_draw_range(world->choice, 1, LIST);
	for (uint32_t i = 0; i < count; i++) {
		if (!o2_verbs_draw_request(world, qp, &wr[i], sge[i])) {
			count = i;
			break;
		}
		if (i > 0)
			wr[i - 1].next = &wr[i];
	}
	if (count == 0)
		return;
	wr[count - 1].next = NULL;
	snprintf(world->text, sizeof(world->text), "post %u of opcode %d first to %u.%u, type %d, state %d",
		 count, (int)wr[0].opcode, qp->side, qp->index, (int)qp->type, (int)qp->state);
	found = ibv_post_send(qp->qp, wr, &bad);
	expected = foretell(world, qp, wr, &expected_bad);
	o2_verbs_expect(world, "ibv_post_send", found, expected);
	o2_verbs_expect(world, "request refused", bad == NULL ? -1 : bad - wr,
			expected_bad == NULL ? -1 : expected_bad - wr);
}

/* --- receives --- */

static int keep_recv(struct o2_verbs_world *world, struct o2_verbs_side *side, uint32_t domain,
		     struct o2_verbs_ring *ring, const struct ibv_recv_wr *wr)
{
	struct o2_verbs_recv *recv;

	if (wr->num_sge < 0 || wr->num_sge > (int)ring->max_sge)
		return EINVAL;
	if (ring->count == ring->max) {
		o2_verbs_saw(world, O2_VERBS_SEEN_RECVS_FULL);
		return ENOMEM;
	}
	recv = &ring->recv[ring->count++];
	recv->wr_id = wr->wr_id;
	recv->sges = (uint32_t)wr->num_sge;
	memcpy(recv->sge, wr->sg_list, recv->sges * sizeof(recv->sge[0]));
	world->counters.posted_recvs++;
	o2_verbs_scribble(world, side, domain, recv);
	return 0;
}

void o2_verbs_step_recv(struct o2_verbs_world *world)
{
	static struct ibv_sge sge[LIST][O2_VERBS_SGES + 1];
	struct o2_choice *c = world->choice;
	struct ibv_recv_wr wr[LIST], *bad = NULL, *expected_bad = NULL;
	struct o2_verbs_qp *qp = o2_verbs_draw_pair(world);
	struct o2_verbs_side *side;
	struct o2_verbs_ring *ring;
	bool shared;
	uint32_t count, domain, bytes, before;
	int found, error = 0;

	if (qp == NULL)
		return;
	side = &world->side[qp->side];
	shared = qp->shared ? !o2_draw_bool(c, 12, 1) : side->srq != NULL && o2_draw_bool(c, 12, 1);
	ring = shared ? &side->shared : &qp->own;
	domain = shared ? side->srq_domain : qp->domain;
	count = (uint32_t)o2_draw_range(c, 1, LIST);
	for (uint32_t i = 0; i < count; i++) {
		wr[i] = (struct ibv_recv_wr){
			.wr_id = world->next_id++, .sg_list = sge[i], .next = &wr[i + 1]};
		bytes = o2_draw_bool(c, 3, 1) ? o2_verbs_draw_bytes(world) : O2_VERBS_LIST_BYTES;
		o2_verbs_draw_list(world, qp->side, o2_draw_bool(c, 12, 1) ? qp->domain : domain, bytes,
				   ring->max_sge + o2_draw_bool(c, 48, 1), sge[i], &wr[i].num_sge);
	}
	wr[count - 1].next = NULL;
	snprintf(world->text, sizeof(world->text), "receive %u at %s%u.%u, state %d", count,
		 shared ? "the shared queue of " : "", qp->side, qp->index, (int)qp->state);
	found = shared ? ibv_post_srq_recv(side->srq, wr, &bad) : ibv_post_recv(qp->qp, wr, &bad);
	if (!shared && (qp->shared || qp->state == IBV_QPS_RESET)) {
		error = EINVAL;
		expected_bad = wr;
	}
	before = ring->count;
	for (uint32_t i = 0; i < count && error == 0; i++) {
		error = o2_verbs_fault(&world->hook, O2_LOOP_CALL_POST_RECV, shared ? 0 : qp->number);
		if (error == 0)
			error = keep_recv(world, side, domain, ring, &wr[i]);
		expected_bad = error == 0 ? NULL : &wr[i];
	}
	if (ring->count > before)
		o2_verbs_wake(world, ring, NULL);
	o2_verbs_run(world);
	o2_verbs_expect(world, "ibv_post_recv", found, error);
	o2_verbs_expect(world, "receive refused", bad == NULL ? -1 : bad - wr,
			expected_bad == NULL ? -1 : expected_bad - wr);
}

/* --- type 1 --- */

void o2_verbs_step_bind(struct o2_verbs_world *world)
{
	struct o2_choice *c = world->choice;
	struct o2_verbs_qp *qp = o2_verbs_draw_pair(world);
	struct ibv_mw_bind bind = {.wr_id = world->next_id++, .send_flags = IBV_SEND_SIGNALED};
	const struct o2_verbs_region *region;
	struct o2_verbs_window *window;
	struct o2_verbs_send *send;
	uint32_t told;
	int found, error = 0;

	if (qp == NULL)
		return;
	window = &world->side[qp->side].window[o2_draw_pick(c, O2_VERBS_WINDOWS)];
	if (window->mw == NULL)
		return;
	o2_verbs_draw_bind(world, &world->side[qp->side], &bind.bind_info,
			   IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
				   (o2_draw_bool(c, 12, 1) ? (uint32_t)IBV_ACCESS_ZERO_BASED : 0));
	told = window->mw->rkey;
	region = region_of(&world->side[qp->side], bind.bind_info.mr);
	snprintf(world->text, sizeof(world->text), "ibv_bind_mw at %u.%u", qp->side, qp->index);
	found = ibv_bind_mw(qp->qp, window->mw, &bind);
	if (window->type == IBV_MW_TYPE_1 && region != NULL && region->domain != window->domain)
		error = EPERM; /* returned by libibverbs itself */
	else if (window->type != IBV_MW_TYPE_1 || bind.bind_info.mw_access_flags & IBV_ACCESS_ZERO_BASED ||
		 qp->type != IBV_QPT_RC || !may_send(qp))
		error = EINVAL;
	else if (qp->sends == qp->cap.max_send_wr)
		error = ENOMEM;
	else
		error = o2_verbs_fault(&world->hook, O2_LOOP_CALL_POST_SEND, qp->number);
	if (error == 0) {
		send = next_send(world, qp);
		send->wr_id = bind.wr_id;
		send->opcode = IBV_WR_BIND_MW;
		send->flags = bind.send_flags;
		keep_bind(world, qp, send, &bind.bind_info, told, ibv_inc_rkey(told));
		start(world, qp);
	}
	o2_verbs_expect(world, "ibv_bind_mw", found, error);
	o2_verbs_expect(world, "the key told", window->mw->rkey, error == 0 ? ibv_inc_rkey(told) : told);
	if (o2_draw_bool(c, 1, 1))
		window->mw->rkey = window->key; /* as a program does after a failed bind */
}
