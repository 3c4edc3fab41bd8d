/* SPDX-License-Identifier: MIT */
/* Opens and closes the world of a case; and steps that go to the limits that devices report. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>

#include "props/verbs/verbs_internal.h"

/* Create a region with the maximum number of entries; resize a shared queue to its limit. */
static void grow(struct o2_verbs_world *world, struct o2_verbs_side *side, uint32_t past, bool region)
{
	static struct ibv_sge entry[O2_LOOP_GAP_ENTRIES + 1];
	struct ibv_srq_init_attr init = {.attr = {.max_wr = 1}};
	struct ibv_srq_attr attr = {.max_wr = 16384 + past};
	struct ibv_srq *srq;
	struct ibv_mr *mr;
	int error;

	if (!region) {
		srq = ibv_create_srq(side->pd[0], &init);
		o2_verbs_expect(world, "ibv_modify_srq", ibv_modify_srq(srq, &attr, IBV_SRQ_MAX_WR),
				past ? EINVAL : 0);
		o2_verbs_expect(world, "ibv_destroy_srq", ibv_destroy_srq(srq), 0);
		return;
	}
	for (uint32_t i = 0; i <= O2_LOOP_GAP_ENTRIES; i++)
		entry[i] = (struct ibv_sge){(uint64_t)(uintptr_t)side->arena + 2 * i, 1, 0};
	errno = 0;
	mr = o2_loop_reg_gaps(side->pd[0], entry, O2_LOOP_GAP_ENTRIES + past, 0, 0);
	error = past ? EINVAL : o2_verbs_fault(&world->hook, O2_LOOP_CALL_REGISTER, 0);
	if (!o2_verbs_made(world, "o2_loop_reg_gaps", mr, error) || mr == NULL)
		return;
	world->counters.registrations++;
	o2_verbs_expect(world, "ibv_dereg_mr", ibv_dereg_mr(mr), 0);
}

void o2_verbs_step_limits(struct o2_verbs_world *world)
{
	struct o2_choice *c = world->choice;
	struct o2_verbs_side *side = &world->side[o2_draw(c, 1)];
	const uint32_t past = o2_draw_bool(c, 1, 1);
	struct ibv_qp_init_attr init = {
		.send_cq = side->cq[0].cq, .recv_cq = side->cq[0].cq, .qp_type = IBV_QPT_RC};
	struct ibv_srq_init_attr shared = {.attr = {.max_wr = 1}};
	uint32_t *const limit[] = {&init.cap.max_send_wr,  &init.cap.max_recv_wr,     &init.cap.max_send_sge,
				   &init.cap.max_recv_sge, &init.cap.max_inline_data, &shared.attr.max_wr,
				   &shared.attr.max_sge};
	static const uint32_t most[] = {16384, 16384, 32, 32, 512, 16384, 27};
	const size_t which = o2_draw(c, 9);
	void *made;

	snprintf(world->text, sizeof(world->text), "limit %zu, %u more", which, past);
	if (side->pd[0] == NULL || side->cq[0].cq == NULL)
		return;
	o2_verbs_saw(world, O2_VERBS_SEEN_LIMITS);
	o2_verbs_query_device(world, side);
	if (which > 7) {
		grow(world, side, past, which == 8);
		return;
	}
	if (which < 7)
		*limit[which] = most[which] + past;
	errno = 0;
	if (which < 5)
		made = ibv_create_qp(side->pd[0], &init);
	else if (which < 7)
		made = ibv_create_srq(side->pd[0], &shared);
	else
		made = ibv_create_cq(side->context, 32767 + (int)past, NULL, NULL, 0);
	if (past == 0 && (which < 5 || which == 7) &&
	    o2_verbs_fault(&world->hook, O2_LOOP_CALL_MAKE, 0) != 0) {
		o2_verbs_made(world, "at a limit", made, ENOMEM);
		return;
	}
	if (!o2_verbs_made(world, past ? "past a limit" : "at a limit", made, past ? EINVAL : 0))
		return;
	o2_verbs_expect(world, "destroy",
			which < 5   ? ibv_destroy_qp(made)
			: which < 7 ? ibv_destroy_srq(made)
				    : ibv_destroy_cq(made),
			0);
}

/* --- the world --- */

static bool open_side(struct o2_verbs_world *world, struct o2_verbs_side *side, struct ibv_device *device)
{
	struct o2_choice *c = world->choice;
	const uint32_t index = (uint32_t)(side - world->side);
	uint8_t *base;

	side->context = ibv_open_device(device);
	o2_verbs_expect(world, "ibv_open_device", side->context != NULL, true);
	if (side->context == NULL)
		return false;
	base = mmap(NULL, O2_VERBS_ARENA_BYTES + 2 * O2_VERBS_PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS,
		    -1, 0);
	if (base == MAP_FAILED)
		return false;
	side->arena = base + O2_VERBS_PAGE;
	mprotect(side->arena, O2_VERBS_ARENA_BYTES, PROT_READ | PROT_WRITE);
	mprotect(side->arena + O2_VERBS_ARENA_BYTES, O2_VERBS_PAGE, PROT_NONE);
	for (uint32_t i = 0; i < O2_VERBS_ARENA_BYTES; i++)
		side->arena[i] = side->model[i] = (uint8_t)((i * UINT32_C(2654435761) + index * 77) >> 13);
	for (int i = 0; i < 2; i++)
		o2_verbs_expect(world, "ibv_query_gid", ibv_query_gid(side->context, 1, i, &side->gid[i]), 0);
	for (uint32_t i = 0; i < O2_VERBS_DOMAINS; i++)
		side->pd[i] = ibv_alloc_pd(side->context);
	side->channel = ibv_create_comp_channel(side->context);
	o2_verbs_expect(world, "ibv_create_comp_channel", side->channel != NULL, true);
	if (side->channel == NULL)
		return false;
	/* Programs started by execve(2) do not inherit the descriptors. */
	o2_verbs_expect(world, "flags of a channel", fcntl(side->channel->fd, F_GETFD), FD_CLOEXEC);
	o2_verbs_expect(world, "flags of a device", fcntl(side->context->async_fd, F_GETFD), FD_CLOEXEC);
	fcntl(side->channel->fd, F_SETFL, O_NONBLOCK);
	fcntl(side->context->async_fd, F_SETFL, O_NONBLOCK);
	world->counters.live_contexts++;
	world->counters.live_pds += O2_VERBS_DOMAINS;
	world->counters.live_channels++;
	if (o2_draw_bool(c, 1, 1))
		o2_verbs_make_srq(world, side);
	for (uint32_t i = 0; i < O2_VERBS_QUEUES; i++)
		o2_verbs_make_cq(world, side, i);
	return true;
}

static void make_ah(struct o2_verbs_world *world, struct o2_verbs_side *side)
{
	struct o2_choice *c = world->choice;
	struct ibv_ah_attr attr = {.is_global = 1, .port_num = 1};

	side->ah_dest = 1 - (uint32_t)(side - world->side);
	side->ah_gid = (uint32_t)o2_draw(c, 1);
	side->ah_from = (uint32_t)o2_draw(c, 1);
	attr.grh.dgid = world->side[side->ah_dest].gid[side->ah_gid];
	attr.grh.sgid_index = (uint8_t)side->ah_from;
	side->ah = ibv_create_ah(side->pd[0], &attr);
	side->pd_users[0]++;
	world->counters.live_ahs++;
	if (o2_draw_bool(c, 1, 1))
		attr.port_num = (uint8_t)(2 * o2_draw(c, 1));
	else
		attr.grh.sgid_index = 2;
	errno = 0;
	o2_verbs_made(world, "ibv_create_ah", ibv_create_ah(side->pd[0], &attr), EINVAL);
}

static void fault_none(struct o2_verbs_world *world)
{
	memset(&world->hook, 0, sizeof(world->hook));
	memset(&world->device_hook, 0, sizeof(world->device_hook));
}

void o2_verbs_open(struct o2_verbs_world *world)
{
	struct ibv_device **list = ibv_get_device_list(NULL);

	fault_none(world);
	o2_verbs_hook(world);
	for (uint32_t i = 0; i < O2_LOOP_OPTIONS; i++) {
		world->option[i] = i == O2_LOOP_SCRIBBLE ? o2_draw_bool(world->choice, 2, 1)
							 : !o2_draw_bool(world->choice, 5, 1);
		o2_loop_set_option((enum o2_loop_option)i, world->option[i]);
	}
	for (uint32_t i = 0; i < O2_VERBS_SIDES; i++)
		if (!open_side(world, &world->side[i], list[i])) {
			if (!world->report->failed)
				o2_choice_reject(world->choice);
			break;
		}
	ibv_free_device_list(list);
	if (!o2_choice_ok(world->choice) || world->report->failed)
		return;
	for (uint32_t i = 0; i < O2_VERBS_SIDES; i++)
		make_ah(world, &world->side[i]);
	for (uint32_t k = 0; k < O2_VERBS_PAIRS; k++) {
		for (uint32_t i = 0; i < O2_VERBS_SIDES; i++)
			o2_verbs_make_pair(world, &world->side[i], k);
		o2_verbs_connect(world, k);
	}
}

/* Objects that are left end with their device. */
void o2_verbs_close(struct o2_verbs_world *world)
{
	struct o2_loop_counters found;

	for (uint32_t i = 0; i < O2_VERBS_SIDES; i++) {
		struct o2_verbs_side *side = &world->side[i];

		if (side->context != NULL)
			ibv_close_device(side->context);
		if (side->arena != NULL)
			munmap(side->arena - O2_VERBS_PAGE, O2_VERBS_ARENA_BYTES + 2 * O2_VERBS_PAGE);
	}
	o2_loop_get_counters(&found);
	o2_verbs_expect(world, "objects after the devices were closed",
			(int64_t)found.live_contexts + found.live_pds + found.live_mrs + found.live_mws +
				found.live_cqs + found.live_channels + found.live_qps + found.live_srqs +
				found.live_ahs,
			0);
	for (uint32_t i = 0; i < O2_LOOP_OPTIONS; i++)
		o2_loop_set_option((enum o2_loop_option)i, i != O2_LOOP_SCRIBBLE);
}
