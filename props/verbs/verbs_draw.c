/* SPDX-License-Identifier: MIT */
/* Draws gather lists and remote addresses: mostly valid, sometimes with one defect. */
#include "props/verbs/verbs_internal.h"

uint32_t o2_verbs_draw_bytes(struct o2_verbs_world *world)
{
	static const uint32_t edges[] = {256, 512, 1024, 2048, 4096, 8192};
	struct o2_choice *c = world->choice;

	switch (o2_draw(c, 3)) {
	case 0:
		return (uint32_t)o2_draw(c, 32);
	case 1:
		return edges[o2_draw_pick(c, 6)] + (uint32_t)o2_draw(c, 2) - 1;
	case 2:
		return (uint32_t)o2_draw(c, 700);
	default:
		return (uint32_t)o2_draw(c, 10000);
	}
}

/* A region of that domain with room for `bytes` and these rights; if none, any region. */
static const struct o2_verbs_region *pick(struct o2_verbs_world *world, const struct o2_verbs_side *side,
					  uint32_t domain, uint32_t bytes, uint32_t access)
{
	struct o2_choice *c = world->choice;
	const struct o2_verbs_region *found = NULL;
	const uint32_t first = (uint32_t)o2_draw_pick(c, O2_VERBS_REGIONS);

	for (uint32_t i = 0; i < O2_VERBS_REGIONS; i++) {
		const struct o2_verbs_region *region = &side->region[(first + i) % O2_VERBS_REGIONS];

		if (region->mr == NULL)
			continue;
		if (found == NULL)
			found = region;
		if (region->domain == domain && region->bytes > bytes && (region->access & access) == access)
			return region;
	}
	return found;
}

/* Draw an entry of `bytes` bytes, or as many as the region has. */
static struct ibv_sge draw_entry(struct o2_verbs_world *world, uint32_t side, uint32_t domain, uint32_t bytes,
				 bool *may_fail)
{
	struct o2_choice *c = world->choice;
	const struct o2_verbs_region *region =
		pick(world, &world->side[side], domain, bytes, IBV_ACCESS_LOCAL_WRITE);
	struct ibv_sge sge = {.addr = o2_draw(c, UINT32_MAX), .length = bytes, .lkey = 0x12345678};

	if (region != NULL) {
		sge.length = region->bytes < bytes ? (uint32_t)region->bytes : bytes;
		sge.addr = region->iova + o2_draw(c, region->bytes - sge.length);
		sge.lkey = region->key;
	}
	if (!*may_fail || !o2_draw_bool(c, 60, 1))
		return sge;
	*may_fail = false; /* one wild entry is enough */
	switch (o2_draw(c, 3)) {
	case 0:
		sge.lkey ^= 1u << o2_draw(c, 31);
		break;
	case 1: /* it ends past the region, by one byte or more */
		sge.addr = (region == NULL ? 0 : region->iova + region->bytes) - sge.length + 1 +
			   (o2_draw_bool(c, 1, 1) ? o2_draw(c, sge.length) : 0);
		break;
	case 2:
		sge.length = o2_draw_bool(c, 1, 1) ? UINT32_C(1) << 31 : UINT32_MAX - (uint32_t)o2_draw(c, 9);
		break;
	default:
		sge.addr -= o2_draw(c, 4096);
	}
	return sge;
}

void o2_verbs_draw_list(struct o2_verbs_world *world, uint32_t side, uint32_t domain, uint32_t bytes,
			uint32_t most, struct ibv_sge *sge, int *sges)
{
	struct o2_choice *c = world->choice;
	uint32_t count = o2_draw_bool(c, 12, 1) ? most : (uint32_t)o2_draw_range(c, 1, 4);
	uint32_t left = bytes < O2_VERBS_LIST_BYTES ? bytes : O2_VERBS_LIST_BYTES;
	bool may_fail = true;

	if (count > most)
		count = most;
	*sges = (int)count;
	for (uint32_t i = 0; i < count; i++) {
		uint32_t part = i + 1 == count ? left : (uint32_t)o2_draw(c, left);

		if (count > 8 && part > left / 2)
			part = left / 8;
		sge[i] = draw_entry(world, side, domain, part, &may_fail);
		left -= sge[i].length < left ? sge[i].length : left;
	}
}

static const struct o2_verbs_window *pick_window(struct o2_verbs_world *world,
						 const struct o2_verbs_side *side, uint32_t access)
{
	const uint32_t first = (uint32_t)o2_draw_pick(world->choice, O2_VERBS_WINDOWS);

	for (uint32_t i = 0; i < O2_VERBS_WINDOWS; i++) {
		const struct o2_verbs_window *window = &side->window[(first + i) % O2_VERBS_WINDOWS];

		if (window->mw != NULL && window->bound && (window->access & access) == access)
			return window;
	}
	return NULL;
}

void o2_verbs_draw_target(struct o2_verbs_world *world, uint32_t side, uint32_t bytes, uint32_t right,
			  uint64_t *at, uint32_t *key)
{
	struct o2_choice *c = world->choice;
	const uint32_t access = o2_draw_bool(c, 40, 1) ? 0 : right;
	const struct o2_verbs_window *window =
		o2_draw_bool(c, 1, 1) ? pick_window(world, &world->side[side], access) : NULL;
	const struct o2_verbs_region *region =
		pick(world, &world->side[side], o2_draw_bool(c, 40, 1), bytes, access);
	uint64_t base = 0, room = 0;

	*key = 0x4711;
	if (window != NULL) {
		base = window->access & IBV_ACCESS_ZERO_BASED ? 0 : window->at;
		room = window->bytes;
		*key = window->key;
	} else if (region != NULL) {
		base = region->iova;
		room = region->bytes;
		*key = region->rkey;
	}
	*at = base + (room > bytes ? o2_draw(c, room - bytes) : 0);
	if (o2_draw_bool(c, 40, 1))
		*at = o2_draw_bool(c, 1, 1) ? base + room - bytes + 1 : base - 1;
	if (o2_draw_bool(c, 40, 1))
		*key ^= 1u << o2_draw(c, 31);
}
