/* SPDX-License-Identifier: MIT */
/* Creates an object while the nth allocation fails: the call must fail with errno and leave nothing behind. */
#include <errno.h>
#include <sys/resource.h>

#include "props/verbs/verbs_internal.h"

#define ALLOCATIONS 4u /* no object needs more */

enum kind { DOMAIN, CHANNEL, QUEUE, SHARED, PAIR, REGION, GAPS, FAST, WINDOW, ADDRESS, CONTEXT, LIST, KINDS };

static void *make_pair(struct o2_verbs_side *side)
{
	struct ibv_qp_init_attr init = {.send_cq = side->cq[0].cq,
					.recv_cq = side->cq[0].cq,
					.cap = {4, 4, 2, 2, 16},
					.qp_type = IBV_QPT_RC};

	return ibv_create_qp(side->pd[0], &init);
}

static void *make_gaps(struct o2_verbs_side *side)
{
	const struct ibv_sge entry[2] = {{(uint64_t)(uintptr_t)side->arena, 64, 0},
					 {(uint64_t)(uintptr_t)side->arena + O2_VERBS_PAGE, 64, 0}};

	return o2_loop_reg_gaps(side->pd[0], entry, 2, 0, IBV_ACCESS_LOCAL_WRITE);
}

static void *make_ah(struct o2_verbs_side *side)
{
	struct ibv_ah_attr attr = {.is_global = 1, .port_num = 1, .grh = {.dgid = side->gid[1]}};

	return ibv_create_ah(side->pd[0], &attr);
}

static void *make(struct o2_verbs_side *side, enum kind kind)
{
	struct ibv_srq_init_attr shared = {.attr = {.max_wr = 4, .max_sge = 2}};

	switch (kind) {
	case DOMAIN:
		return ibv_alloc_pd(side->context);
	case CHANNEL:
		return ibv_create_comp_channel(side->context);
	case QUEUE:
		return ibv_create_cq(side->context, 7, NULL, NULL, 0);
	case SHARED:
		return ibv_create_srq(side->pd[0], &shared);
	case PAIR:
		return make_pair(side);
	case REGION:
		return ibv_reg_mr(side->pd[0], side->arena, 64, IBV_ACCESS_LOCAL_WRITE);
	case GAPS:
		return make_gaps(side);
	case FAST:
		return o2_loop_alloc_mr(side->pd[0], 4);
	case WINDOW:
		return ibv_alloc_mw(side->pd[0], IBV_MW_TYPE_2);
	case ADDRESS:
		return make_ah(side);
	case CONTEXT:
		return ibv_open_device(side->context->device);
	default:
		return ibv_get_device_list(NULL);
	}
}

static int unmake(void *object, enum kind kind)
{
	switch (kind) {
	case DOMAIN:
		return ibv_dealloc_pd(object);
	case CHANNEL:
		return ibv_destroy_comp_channel(object);
	case QUEUE:
		return ibv_destroy_cq(object);
	case SHARED:
		return ibv_destroy_srq(object);
	case PAIR:
		return ibv_destroy_qp(object);
	case REGION:
	case GAPS:
	case FAST:
		return ibv_dereg_mr(object);
	case WINDOW:
		return ibv_dealloc_mw(object);
	case ADDRESS:
		return ibv_destroy_ah(object);
	case CONTEXT:
		return ibv_close_device(object);
	default:
		ibv_free_device_list(object);
		return 0;
	}
}

void o2_verbs_run_short(struct o2_verbs_world *world)
{
	if (o2_draw_bool(world->choice, 4, 1) && world->run->fail_allocation != NULL)
		world->run->fail_allocation(1 + (uint32_t)o2_draw(world->choice, 1));
}

bool o2_verbs_ran_short(struct o2_verbs_world *world)
{
	bool failed;

	if (world->run->fail_allocation == NULL)
		return false;
	failed = world->run->allocation_failed();
	world->run->fail_allocation(0);
	if (failed)
		o2_verbs_saw(world, O2_VERBS_SEEN_SHORT_CHANGE);
	return failed;
}

/* Create an object that needs a file descriptor, while the process can have no more of them. */
static void without_descriptors(struct o2_verbs_world *world, struct o2_verbs_side *side)
{
	const enum kind kind = o2_draw_bool(world->choice, 1, 1) ? CHANNEL : CONTEXT;
	struct rlimit before, none;
	void *object;

	snprintf(world->text, sizeof(world->text), "object of kind %d without descriptors", (int)kind);
	if (getrlimit(RLIMIT_NOFILE, &before) != 0)
		return;
	none = (struct rlimit){.rlim_cur = 0, .rlim_max = before.rlim_max};
	if (setrlimit(RLIMIT_NOFILE, &none) != 0)
		return;
	errno = 0;
	object = make(side, kind);
	setrlimit(RLIMIT_NOFILE, &before);
	o2_verbs_made(world, "without descriptors", object, EMFILE);
	o2_verbs_saw(world, O2_VERBS_SEEN_NO_DESCRIPTOR);
}

/* True if nothing else can make creation fail: an armed fault is left for another step. */
static bool may_be_made(const struct o2_verbs_world *world, const struct o2_verbs_side *side)
{
	return side->pd[0] != NULL && side->cq[0].cq != NULL && world->hook.after[O2_LOOP_CALL_MAKE] == 0 &&
	       world->hook.after[O2_LOOP_CALL_REGISTER] == 0;
}

void o2_verbs_step_short(struct o2_verbs_world *world)
{
	const struct o2_verbs_run *run = world->run;
	struct o2_verbs_side *side = &world->side[o2_draw(world->choice, 1)];
	const enum kind kind = (enum kind)o2_draw(world->choice, KINDS - 1);
	const uint32_t nth = 1 + (uint32_t)o2_draw(world->choice, ALLOCATIONS - 1);
	int64_t before;
	void *object;
	bool failed;

	if (o2_draw_bool(world->choice, 3, 1)) {
		without_descriptors(world, side);
		return;
	}
	snprintf(world->text, sizeof(world->text), "object of kind %d without allocation %u", (int)kind, nth);
	if (run->fail_allocation == NULL || !may_be_made(world, side))
		return;
	before = run->allocated();
	errno = 0;
	run->fail_allocation(nth);
	object = make(side, kind);
	failed = run->allocation_failed();
	run->fail_allocation(0);
	if (failed)
		o2_verbs_saw(world, O2_VERBS_SEEN_SHORT);
	else if (kind == REGION || kind == GAPS || kind == FAST)
		world->counters.registrations++;
	if (o2_verbs_made(world, "without an allocation", object, failed ? ENOMEM : 0))
		o2_verbs_expect(world, "its end", unmake(object, kind), 0);
	o2_verbs_expect(world, "allocations that are left", run->allocated() - before, 0);
}
