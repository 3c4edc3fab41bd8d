/* SPDX-License-Identifier: MIT */
/* Steps that create and destroy domains, queues and queue pairs. */
#include <errno.h>
#include <string.h>

#include "props/verbs/verbs_internal.h"

#define INLINE_ENTRY 16u /* bytes of inline data that equal one entry */
#define SHARED_SGES  27u /* docs/loopverbs.md, "Limits" */

static uint32_t power_less_one(uint32_t entries)
{
	uint32_t bits = 1;

	while ((1u << bits) - 1 < entries)
		bits++;
	return (1u << bits) - 1;
}

/* --- completion queues --- */

void o2_verbs_make_cq(struct o2_verbs_world *world, struct o2_verbs_side *side, uint32_t index)
{
	struct o2_choice *c = world->choice;
	const uint32_t entries =
		(uint32_t)(o2_draw_bool(c, 5, 1) ? o2_draw(c, 3) : o2_draw_range(c, 8, O2_VERBS_ENTRIES));
	const bool other = o2_draw_bool(c, 32, 1) && world->side[1 - (side - world->side)].channel != NULL;
	const int vector = o2_draw_bool(c, 32, 1) ? 1 - 2 * (int)o2_draw(c, 1) : 0;
	const bool channel = index != 2 && (other || o2_draw_bool(c, 1, 3));
	struct ibv_comp_channel *by = world->side[(side - world->side) ^ other].channel;
	struct ibv_cq *cq;
	int error = entries == 0 || vector != 0 || (channel && other) ? EINVAL : 0;

	errno = 0;
	cq = ibv_create_cq(side->context, (int)entries, side, channel ? by : NULL, vector);
	if (error == 0 && o2_verbs_fault(&world->hook, O2_LOOP_CALL_MAKE, 0) != 0)
		error = ENOMEM;
	snprintf(world->text, sizeof(world->text), "ibv_create_cq %td.%u of %u", side - world->side, index,
		 entries);
	if (!o2_verbs_made(world, "ibv_create_cq", cq, error))
		return;
	o2_verbs_expect(world, "cqe", cq->cqe, power_less_one(entries));
	side->cq[index] =
		(struct o2_verbs_cq){.cq = cq, .channel = channel, .entries = power_less_one(entries)};
	world->counters.live_cqs++;
}

static void drop_ready(struct o2_verbs_side *side, uint32_t index)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < side->readies; i++)
		if (side->ready[i] != index)
			side->ready[kept++] = side->ready[i];
	side->readies = kept;
}

static void destroy_cq(struct o2_verbs_world *world, struct o2_verbs_side *side, uint32_t index)
{
	struct o2_verbs_cq *cq = &side->cq[index];
	const void *element = cq->cq;
	const int error = cq->users > 0 || cq->delivered != cq->acked ? EBUSY : 0;

	snprintf(world->text, sizeof(world->text), "ibv_destroy_cq %td.%u", side - world->side, index);
	if (!o2_verbs_destroyed(world, "ibv_destroy_cq", ibv_destroy_cq(cq->cq), error))
		return;
	drop_ready(side, index);
	o2_verbs_forget(side, element);
	memset(cq, 0, sizeof(*cq));
	world->counters.live_cqs--;
}

static void resize_cq(struct o2_verbs_world *world, struct o2_verbs_side *side, uint32_t index)
{
	struct o2_verbs_cq *cq = &side->cq[index];
	const uint32_t entries = (uint32_t)o2_draw(world->choice, O2_VERBS_ENTRIES);
	int found, error = entries == 0 || entries < cq->count ? EINVAL : 0;

	snprintf(world->text, sizeof(world->text), "ibv_resize_cq %td.%u to %u", side - world->side, index,
		 entries);
	o2_verbs_run_short(world);
	found = ibv_resize_cq(cq->cq, (int)entries);
	if (o2_verbs_ran_short(world))
		error = ENOMEM;
	o2_verbs_expect(world, "ibv_resize_cq", found, error);
	if (error == 0) {
		cq->entries = power_less_one(entries);
		o2_verbs_saw(world, O2_VERBS_SEEN_RESIZED);
	}
	o2_verbs_expect(world, "cqe", cq->cq->cqe, cq->entries);
}

void o2_verbs_step_queue(struct o2_verbs_world *world)
{
	struct o2_choice *c = world->choice;
	struct o2_verbs_side *side = &world->side[o2_draw(c, 1)];
	const uint32_t index = (uint32_t)o2_draw_pick(c, O2_VERBS_QUEUES);

	if (side->cq[index].cq == NULL)
		o2_verbs_make_cq(world, side, index);
	else if (o2_draw_bool(c, 2, 1))
		destroy_cq(world, side, index);
	else
		resize_cq(world, side, index);
}

/* --- shared receive queues --- */

void o2_verbs_make_srq(struct o2_verbs_world *world, struct o2_verbs_side *side)
{
	struct o2_choice *c = world->choice;
	struct ibv_srq_init_attr init = {
		.attr = {.max_wr = (uint32_t)o2_draw(c, O2_VERBS_DEPTH),
			 .max_sge = o2_draw_bool(c, 3, 1) ? SHARED_SGES : (uint32_t)o2_draw(c, 4),
			 .srq_limit = o2_draw_bool(c, 3, 1) ? (uint32_t)o2_draw(c, O2_VERBS_DEPTH) : 0}};
	const int error = init.attr.max_wr == 0 ? EINVAL : 0;
	const uint32_t domain = o2_draw_bool(c, 12, 1);
	struct ibv_srq *srq;

	if (side->pd[domain] == NULL)
		return;
	errno = 0;
	srq = ibv_create_srq(side->pd[domain], &init);
	if (!o2_verbs_made(world, "ibv_create_srq", srq, error))
		return;
	side->srq = srq;
	side->srq_domain = domain;
	side->srq_users = 0;
	side->srq_limit = 0; /* ibv_create_srq(3): the limit is irrelevant */
	side->shared = (struct o2_verbs_ring){.max = init.attr.max_wr, .max_sge = init.attr.max_sge};
	side->pd_users[domain]++;
	world->counters.live_srqs++;
}

static void modify_srq(struct o2_verbs_world *world, struct o2_verbs_side *side)
{
	struct o2_choice *c = world->choice;
	struct ibv_srq_attr attr = {.max_wr = (uint32_t)o2_draw(c, O2_VERBS_DEPTH),
				    .srq_limit = (uint32_t)o2_draw(c, O2_VERBS_DEPTH)};
	const int mask = (int)o2_draw(c, 3) | (o2_draw_bool(c, 16, 1) ? 4 : 0);
	const uint32_t most = mask & IBV_SRQ_MAX_WR ? attr.max_wr : side->shared.max;
	int found, error = 0;

	if (mask & 4 || (mask & IBV_SRQ_LIMIT && attr.srq_limit > most) ||
	    (mask & IBV_SRQ_MAX_WR &&
	     (attr.max_wr == 0 || attr.max_wr < side->shared.count || attr.max_wr < side->srq_limit)))
		error = EINVAL;
	snprintf(world->text, sizeof(world->text), "ibv_modify_srq %td, mask %d, %u, limit %u",
		 side - world->side, mask, attr.max_wr, attr.srq_limit);
	o2_verbs_run_short(world);
	found = ibv_modify_srq(side->srq, &attr, mask);
	if (o2_verbs_ran_short(world))
		error = ENOMEM;
	o2_verbs_expect(world, "ibv_modify_srq", found, error);
	if (error == 0 && mask & IBV_SRQ_MAX_WR) {
		side->shared.max = attr.max_wr;
		o2_verbs_saw(world, O2_VERBS_SEEN_SHARED_RESIZED);
	}
	if (error == 0 && mask & IBV_SRQ_LIMIT)
		side->srq_limit = attr.srq_limit;
	o2_verbs_expect(world, "ibv_query_srq", ibv_query_srq(side->srq, &attr), 0);
	o2_verbs_expect(world, "max_wr", attr.max_wr, side->shared.max);
	o2_verbs_expect(world, "max_sge", attr.max_sge, side->shared.max_sge);
	o2_verbs_expect(world, "srq_limit", attr.srq_limit, side->srq_limit);
}

static void destroy_srq(struct o2_verbs_world *world, struct o2_verbs_side *side)
{
	const int error = side->srq_users > 0 ? EBUSY : 0;
	const void *element = side->srq;

	snprintf(world->text, sizeof(world->text), "ibv_destroy_srq %td", side - world->side);
	if (!o2_verbs_destroyed(world, "ibv_destroy_srq", ibv_destroy_srq(side->srq), error))
		return;
	side->shared.count = 0;
	o2_verbs_forget(side, element);
	side->pd_users[side->srq_domain]--;
	side->srq = NULL;
	world->counters.live_srqs--;
}

void o2_verbs_step_shared(struct o2_verbs_world *world)
{
	struct o2_verbs_side *side = &world->side[o2_draw(world->choice, 1)];

	if (side->srq == NULL)
		o2_verbs_make_srq(world, side);
	else if (o2_draw_bool(world->choice, 4, 1))
		destroy_srq(world, side);
	else
		modify_srq(world, side);
}

/* --- queue pairs --- */

static struct ibv_qp_init_attr draw_init(struct o2_verbs_world *world, struct o2_verbs_side *side,
					 struct o2_verbs_qp *made)
{
	static const uint32_t sges[] = {4, O2_VERBS_SGES, 4, 1, 8, O2_VERBS_SGES, 2, 0},
			      bytes[] = {0, 64, 512, 17, 15};
	const struct o2_verbs_qp *other = &world->side[1 - made->side].qp[made->index];
	struct o2_choice *c = world->choice;

	made->type = o2_draw_bool(c, 5, 1) ? (o2_draw_bool(c, 1, 1) ? IBV_QPT_UC : IBV_QPT_UD) : IBV_QPT_RC;
	if (other->qp != NULL && !o2_draw_bool(c, 32, 1))
		made->type = other->type;
	made->domain = o2_draw_bool(c, 12, 1);
	made->send_cq = (uint32_t)o2_draw_pick(c, O2_VERBS_QUEUES);
	made->recv_cq = (uint32_t)o2_draw_pick(c, O2_VERBS_QUEUES);
	made->shared = side->srq != NULL && o2_draw_bool(c, 2, 1);
	made->sig_all = o2_draw_bool(c, 1, 1);
	made->cap = (struct ibv_qp_cap){
		.max_send_wr =
			(uint32_t)(o2_draw_bool(c, 1, 3) ? O2_VERBS_DEPTH - o2_draw(c, 3) : o2_draw(c, 4)),
		.max_recv_wr = (uint32_t)(O2_VERBS_DEPTH - o2_draw(c, O2_VERBS_DEPTH)),
		.max_send_sge = sges[o2_draw_pick(c, 8)],
		.max_recv_sge = sges[o2_draw_pick(c, 8)],
		.max_inline_data = bytes[o2_draw_pick(c, 5)],
	};
	return (struct ibv_qp_init_attr){
		.qp_context = side,
		.send_cq = side->cq[made->send_cq].cq,
		.recv_cq = side->cq[made->recv_cq].cq,
		.srq = made->shared ? side->srq : NULL,
		.cap = made->cap,
		.qp_type = made->type,
		.sq_sig_all = made->sig_all,
	};
}

/* Round the capabilities as the device does: entries and inline data share the same room. */
static void grant(struct ibv_qp_cap *cap, bool shared)
{
	while (cap->max_send_sge * INLINE_ENTRY < cap->max_inline_data)
		cap->max_send_sge++;
	cap->max_inline_data = cap->max_send_sge * INLINE_ENTRY;
	if (shared)
		cap->max_recv_wr = cap->max_recv_sge = 0;
}

void o2_verbs_make_pair(struct o2_verbs_world *world, struct o2_verbs_side *side, uint32_t index)
{
	struct o2_choice *c = world->choice;
	struct o2_verbs_qp made = {.side = (uint32_t)(side - world->side), .index = index};
	struct ibv_qp_init_attr init = draw_init(world, side, &made);
	int error = init.send_cq == NULL || init.recv_cq == NULL ? EINVAL : 0;
	struct ibv_cq *foreign = world->side[1 - made.side].cq[0].cq;

	if (side->pd[made.domain] == NULL)
		return;
	if (foreign != NULL && o2_draw_bool(c, 32, 1)) {
		*(o2_draw_bool(c, 1, 1) ? &init.send_cq : &init.recv_cq) = foreign;
		error = EINVAL;
	}
	if (o2_draw_bool(c, 32, 1)) {
		init.qp_type = IBV_QPT_RAW_PACKET;
		error = EOPNOTSUPP;
	}
	errno = 0;
	made.qp = ibv_create_qp(side->pd[made.domain], &init);
	if (error == 0 && o2_verbs_fault(&world->hook, O2_LOOP_CALL_MAKE, 0) != 0)
		error = ENOMEM;
	snprintf(world->text, sizeof(world->text), "ibv_create_qp %u.%u of type %d", made.side, index,
		 (int)made.type);
	if (!o2_verbs_made(world, "ibv_create_qp", made.qp, error))
		return;
	grant(&made.cap, made.shared);
	o2_verbs_expect(world, "granted", memcmp(&init.cap, &made.cap, sizeof(init.cap)), 0);
	made.number = made.qp->qp_num;
	made.dest_side = O2_VERBS_NONE;
	made.own = (struct o2_verbs_ring){.max = made.cap.max_recv_wr, .max_sge = made.cap.max_recv_sge};
	side->qp[index] = made;
	side->cq[made.send_cq].users++;
	side->cq[made.recv_cq].users++;
	side->srq_users += made.shared;
	side->pd_users[made.domain]++;
	world->counters.live_qps++;
}

static void destroy_pair(struct o2_verbs_world *world, struct o2_verbs_side *side, struct o2_verbs_qp *qp)
{
	const int error = qp->bound > 0 ? EBUSY : 0;
	const void *element = qp->qp;

	snprintf(world->text, sizeof(world->text), "ibv_destroy_qp %u.%u", qp->side, qp->index);
	if (!o2_verbs_destroyed(world, "ibv_destroy_qp", ibv_destroy_qp(qp->qp), error))
		return;
	o2_verbs_reset(world, qp);
	o2_verbs_forget(side, element);
	side->cq[qp->send_cq].users--;
	side->cq[qp->recv_cq].users--;
	side->srq_users -= qp->shared;
	side->pd_users[qp->domain]--;
	qp->qp = NULL;
	world->counters.live_qps--;
}

void o2_verbs_step_pair(struct o2_verbs_world *world)
{
	struct o2_choice *c = world->choice;
	const uint32_t index = (uint32_t)o2_draw_pick(c, O2_VERBS_PAIRS);
	struct o2_verbs_side *side = &world->side[o2_draw(c, 1)];

	if (side->qp[index].qp == NULL)
		o2_verbs_make_pair(world, side, index);
	else if (o2_draw_bool(c, 8, 1))
		destroy_pair(world, side, &side->qp[index]);
	else
		o2_verbs_connect(world, index);
}

/* --- domains --- */

void o2_verbs_step_domain(struct o2_verbs_world *world)
{
	struct o2_choice *c = world->choice;
	struct o2_verbs_side *side = &world->side[o2_draw(c, 1)];
	const uint32_t domain = (uint32_t)o2_draw_pick(c, O2_VERBS_DOMAINS);
	const int error = side->pd_users[domain] > 0 ? EBUSY : 0;

	snprintf(world->text, sizeof(world->text), "domain %td.%u", side - world->side, domain);
	if (side->pd[domain] == NULL) {
		side->pd[domain] = ibv_alloc_pd(side->context);
		world->counters.live_pds++;
		return;
	}
	o2_verbs_expect(world, "ibv_dealloc_pd", ibv_dealloc_pd(side->pd[domain]), error);
	if (error != 0) {
		o2_verbs_saw(world, O2_VERBS_SEEN_BUSY);
		return;
	}
	side->pd[domain] = NULL;
	world->counters.live_pds--;
}
