/* SPDX-License-Identifier: MIT */
/* Steps that create and destroy regions of each kind, and windows. */
#include <errno.h>
#include <sys/mman.h>

#include "props/verbs/verbs_internal.h"

#define ALL                                                                                     \
	((uint32_t)(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | \
		    IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_MW_BIND))
#define NO_ATOMIC (ALL & ~(uint32_t)IBV_ACCESS_REMOTE_ATOMIC)
#define RELAXED	  ((uint32_t)IBV_ACCESS_OPTIONAL_RANGE)

static uint32_t draw_access(struct o2_choice *c, uint32_t most)
{
	static const uint32_t wrong[] = {IBV_ACCESS_ZERO_BASED, IBV_ACCESS_ON_DEMAND, IBV_ACCESS_HUGETLB,
					 1u << 30, IBV_ACCESS_RELAXED_ORDERING};

	switch (o2_draw(c, 11)) {
	case 0:
		return (uint32_t)o2_draw(c, ALL);
	case 1:
		return most | (o2_draw_bool(c, 3, 1) ? wrong[o2_draw_pick(c, 5)] : 0);
	case 2:
		return IBV_ACCESS_LOCAL_WRITE;
	case 3:
		return IBV_ACCESS_REMOTE_READ;
	default:
		return most;
	}
}

/* docs/loopverbs.md, "What it offers" and "Differences from soft-RoCE". */
static int access_error(uint32_t access)
{
	const uint32_t refused = IBV_ACCESS_ZERO_BASED | IBV_ACCESS_ON_DEMAND | IBV_ACCESS_HUGETLB;

	if (access & ~(ALL | refused | RELAXED))
		return EINVAL;
	if (access & refused)
		return EOPNOTSUPP;
	if (access & (IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC) &&
	    !(access & IBV_ACCESS_LOCAL_WRITE))
		return EINVAL;
	return 0;
}

/* Draw a piece inside the arena, or (faulty) not: before the arena is a read-only page, after it none. */
static struct o2_verbs_piece draw_piece(struct o2_choice *c, uint32_t most)
{
	struct o2_verbs_piece piece;

	piece.bytes = 1 + (uint32_t)(o2_draw_bool(c, 1, 1) ? o2_draw(c, most - 1) : o2_draw(c, 63));
	piece.at = (uint32_t)o2_draw(c, O2_VERBS_ARENA_BYTES - piece.bytes);
	return piece;
}

static bool kernel_checks(void)
{
	static int known = -1;
	static char probe[2 * O2_VERBS_PAGE];
	char *page = probe + (O2_VERBS_PAGE - (uintptr_t)probe % O2_VERBS_PAGE);

	if (known < 0)
		known = madvise(page, O2_VERBS_PAGE, 22 /* MADV_POPULATE_READ */) == 0;
	return known == 1;
}

static void keep(struct o2_verbs_world *world, struct o2_verbs_side *side, struct o2_verbs_region *region,
		 struct ibv_mr *mr, struct o2_verbs_region made)
{
	made.mr = mr;
	made.key = mr->lkey;
	made.rkey = mr->rkey;
	/* Both keys have the same number.  Only a region for fast registration has one key for both. */
	o2_verbs_expect(world, "the key for the other side", made.rkey == made.key,
			made.kind == O2_VERBS_FAST);
	o2_verbs_expect(world, "the number of that key", made.rkey >> 8, made.key >> 8);
	for (uint32_t s = 0; s < O2_VERBS_SIDES; s++)
		for (uint32_t i = 0; i < O2_VERBS_REGIONS; i++)
			if (world->side[s].region[i].mr != NULL)
				o2_verbs_expect(world, "a key that is another region's",
						world->side[s].region[i].key >> 8 == made.key >> 8, 0);
	*region = made;
	side->pd_users[made.domain]++;
	world->counters.registrations++;
	world->counters.live_mrs++;
	o2_verbs_expect(world, "the region's domain", mr->pd == side->pd[made.domain], 1);
}

static void draw_iova(struct o2_choice *c, const struct o2_verbs_side *side, struct o2_verbs_region *region)
{
	const uint64_t own = (uint64_t)(uintptr_t)(side->arena + region->piece[0].at);

	switch (o2_draw(c, 5)) {
	case 0: /* it ends at or past 2^64 */
		region->iova = own % O2_VERBS_PAGE - O2_VERBS_PAGE * o2_draw(c, 7);
		break;
	case 1:
		region->iova = own % O2_VERBS_PAGE + O2_VERBS_PAGE * o2_draw(c, 7);
		break;
	default:
		region->iova = own;
	}
}

/* bad: 1: memory that cannot be written; 2: memory that does not exist. */
static struct ibv_mr *reg_plain(struct o2_verbs_world *world, struct o2_verbs_side *side,
				struct o2_verbs_region *made, int *error)
{
	struct o2_choice *c = world->choice;
	const bool checks = world->option[O2_LOOP_CHECK_PAGES] && kernel_checks();
	const uint64_t bad = o2_draw_bool(c, 12, 1) ? o2_draw_range(c, 1, 2) : 0;
	uint8_t *at = side->arena + made->piece[0].at;
	uint64_t bytes = o2_draw_bool(c, 24, 1) ? 0 : made->bytes;
	const bool skewed = o2_draw_bool(c, 16, 1);

	draw_iova(c, side, made);
	made->iova += skewed;
	*error = o2_verbs_fault(&world->hook, O2_LOOP_CALL_REGISTER, 0);
	if (*error == 0)
		*error = bytes == 0 ? EINVAL : access_error(made->access);
	if (*error == 0 && bad != 0 && checks && made->access & IBV_ACCESS_LOCAL_WRITE) {
		/* Include the last byte before the arena, or the first one after it. */
		bytes = bad == 1 ? made->piece[0].at + made->bytes + 1
				 : O2_VERBS_ARENA_BYTES - made->piece[0].at + 1;
		at = bad == 1 ? side->arena - 1 : at;
		*error = EFAULT;
	}
	if (*error == 0 && skewed)
		*error = EINVAL;
	errno = 0;
	if (made->iova == (uint64_t)(uintptr_t)at)
		return (ibv_reg_mr)(side->pd[made->domain], at, bytes, (int)made->access);
	if (o2_draw_bool(c, 1, 1))
		return (ibv_reg_mr_iova)(side->pd[made->domain], at, bytes, made->iova, (int)made->access);
	return ibv_reg_mr_iova2(side->pd[made->domain], at, bytes, made->iova, made->access);
}

/* Put more entries before those of the model, to reach the limit. */
static uint32_t draw_entries(struct o2_verbs_world *world, struct o2_verbs_side *side,
			     struct o2_verbs_piece *piece, uint32_t count, struct ibv_sge *entry, int *error)
{
	struct o2_choice *c = world->choice;
	const bool checks = world->option[O2_LOOP_CHECK_PAGES] && kernel_checks();

	for (uint32_t i = 0; i < count; i++) {
		piece[i] = draw_piece(c, O2_VERBS_PAGE);
		entry[i] =
			(struct ibv_sge){(uint64_t)(uintptr_t)(side->arena + piece[i].at), piece[i].bytes, 0};
	}
	if (count > 0 && o2_draw_bool(c, 16, 1)) {
		entry[o2_draw_pick(c, count)].length = 0;
		*error = EINVAL;
	} else if (count > 0 && checks && o2_draw_bool(c, 16, 1)) {
		entry[count - 1].addr = (uint64_t)(uintptr_t)(side->arena + O2_VERBS_ARENA_BYTES);
		*error = EFAULT;
	}
	return count;
}

static struct ibv_mr *reg_gaps(struct o2_verbs_world *world, struct o2_verbs_side *side,
			       struct o2_verbs_region *made, int *error)
{
	static struct ibv_sge entry[O2_LOOP_GAP_ENTRIES + 1];
	struct o2_choice *c = world->choice;
	int range_error = 0;
	uint32_t count;

	made->pieces = (uint32_t)o2_draw_range(c, 1, O2_VERBS_PIECES);
	count = draw_entries(world, side, made->piece, made->pieces, entry, &range_error);
	made->iova = o2_draw_bool(c, 1, 1) ? o2_draw(c, 8191) : UINT64_C(0x7f0000000001) * o2_draw(c, 3);
	made->bytes = 0;
	for (uint32_t i = 0; i < made->pieces; i++)
		made->bytes += made->piece[i].bytes;
	*error = access_error(made->access);
	if (*error == 0)
		*error = range_error;
	/* If rights and an entry are invalid, two errors would be possible: so only the empty entry is kept. */
	if (range_error == EINVAL && *error == EOPNOTSUPP)
		made->access = NO_ATOMIC, *error = EINVAL;
	if (*error == 0 && made->access & IBV_ACCESS_REMOTE_ATOMIC)
		*error = EOPNOTSUPP;
	if (o2_draw_bool(c, 24, 1)) {
		count = o2_draw_bool(c, 1, 1) ? 0 : O2_LOOP_GAP_ENTRIES + 1;
		*error = EINVAL;
	}
	if (*error == 0)
		*error = o2_verbs_fault(&world->hook, O2_LOOP_CALL_REGISTER, 0);
	errno = 0;
	return o2_loop_reg_gaps(side->pd[made->domain], entry, count, made->iova, made->access);
}

static struct ibv_mr *alloc_fast(struct o2_verbs_world *world, struct o2_verbs_side *side,
				 struct o2_verbs_region *made, int *error)
{
	static const uint32_t holds[] = {
		2, 1, O2_VERBS_PIECES, O2_LOOP_GAP_ENTRIES, 0, O2_LOOP_GAP_ENTRIES + 1};

	made->holds = holds[o2_draw_pick(world->choice, 6)];
	made->access = 0;
	made->bytes = 0;
	made->iova = 0;
	made->pieces = 0;
	*error = made->holds == 0 || made->holds > O2_LOOP_GAP_ENTRIES ? EINVAL : 0;
	if (*error == 0)
		*error = o2_verbs_fault(&world->hook, O2_LOOP_CALL_REGISTER, 0);
	errno = 0;
	return o2_loop_alloc_mr(side->pd[made->domain], made->holds);
}

static void deregister(struct o2_verbs_world *world, struct o2_verbs_side *side,
		       struct o2_verbs_region *region)
{
	const int expected = region->windows > 0 ? EINVAL : 0;

	snprintf(world->text, sizeof(world->text), "ibv_dereg_mr %td.%td", side - world->side,
		 region - side->region);
	if (!o2_verbs_destroyed(world, "ibv_dereg_mr", ibv_dereg_mr(region->mr), expected))
		return;
	region->mr = NULL;
	side->pd_users[region->domain]--;
	world->counters.live_mrs--;
}

void o2_verbs_step_region(struct o2_verbs_world *world)
{
	static struct ibv_mr *(*const make[])(struct o2_verbs_world *, struct o2_verbs_side *,
					      struct o2_verbs_region *,
					      int *) = {reg_plain, reg_gaps, alloc_fast};
	struct o2_choice *c = world->choice;
	struct o2_verbs_side *side = &world->side[o2_draw(c, 1)];
	struct o2_verbs_region *region = &side->region[o2_draw_pick(c, O2_VERBS_REGIONS)];
	struct o2_verbs_region made = {.pieces = 1};
	struct ibv_mr *mr;
	int error = 0;

	if (region->mr != NULL) {
		if (o2_draw_bool(c, 1, 1))
			deregister(world, side, region);
		return;
	}
	made.kind = (enum o2_verbs_kind)o2_draw_weighted(c, (const uint32_t[]){4, 1, 2}, 3);
	made.domain = o2_draw_bool(c, 12, 1);
	made.piece[0] = draw_piece(c, O2_VERBS_ARENA_BYTES);
	made.bytes = made.piece[0].bytes;
	made.access = draw_access(c, made.kind == O2_VERBS_GAPS ? NO_ATOMIC : ALL);
	if (side->pd[made.domain] == NULL)
		return;
	mr = make[made.kind](world, side, &made, &error);
	snprintf(world->text, sizeof(world->text),
		 "register %td.%td: kind %d, %u bytes at %u, iova 0x%llx, 0x%x", side - world->side,
		 region - side->region, (int)made.kind, (unsigned int)made.bytes, made.piece[0].at,
		 (unsigned long long)made.iova, made.access);
	if (o2_verbs_made(world, "a region", mr, error))
		keep(world, side, region, mr, made);
}

void o2_verbs_step_map(struct o2_verbs_world *world)
{
	struct o2_choice *c = world->choice;
	struct o2_verbs_side *side = &world->side[o2_draw(c, 1)];
	struct o2_verbs_region *region = &side->region[o2_draw_pick(c, O2_VERBS_REGIONS)];
	struct o2_verbs_piece next[O2_VERBS_PIECES];
	struct ibv_sge entry[O2_VERBS_PIECES];
	const uint64_t iova = o2_draw(c, 8191);
	uint32_t count = (uint32_t)o2_draw_range(c, 0, O2_VERBS_PIECES);
	int error = 0;

	if (region->mr == NULL)
		return;
	count = draw_entries(world, side, next, count, entry, &error);
	if (region->kind != O2_VERBS_FAST || count == 0 || count > region->holds)
		error = EINVAL;
	snprintf(world->text, sizeof(world->text), "map %td.%td, %u pieces", side - world->side,
		 region - side->region, count);
	o2_verbs_expect(world, "o2_loop_map_mr", o2_loop_map_mr(region->mr, entry, count, iova),
			error != 0 ? -error : (int)count);
	if (error != 0)
		return;
	region->mapped = count;
	region->mapped_iova = iova;
	for (uint32_t i = 0; i < count; i++)
		region->next[i] = next[i];
}

void o2_verbs_step_window(struct o2_verbs_world *world)
{
	struct o2_choice *c = world->choice;
	struct o2_verbs_side *side = &world->side[o2_draw(c, 1)];
	struct o2_verbs_window *window = &side->window[o2_draw_pick(c, O2_VERBS_WINDOWS)];
	const uint32_t type =
		o2_draw_bool(c, 24, 1) ? 3 * (uint32_t)o2_draw(c, 1) : (uint32_t)o2_draw_range(c, 1, 2);
	struct ibv_mw *mw;
	int error;

	if (window->mw != NULL) {
		snprintf(world->text, sizeof(world->text), "ibv_dealloc_mw %td.%td", side - world->side,
			 window - side->window);
		o2_verbs_expect(world, "ibv_dealloc_mw", ibv_dealloc_mw(window->mw), 0);
		o2_verbs_unbind(side, window);
		window->mw = NULL;
		side->pd_users[window->domain]--;
		world->counters.live_mws--;
		return;
	}
	window->domain = o2_draw_bool(c, 12, 1);
	if (side->pd[window->domain] == NULL)
		return;
	errno = 0;
	mw = ibv_alloc_mw(side->pd[window->domain], (enum ibv_mw_type)type);
	error = type != IBV_MW_TYPE_1 && type != IBV_MW_TYPE_2	     ? EINVAL
		: o2_verbs_fault(&world->hook, O2_LOOP_CALL_MAKE, 0) ? ENOMEM
								     : 0;
	snprintf(world->text, sizeof(world->text), "window %td.%td of type %u", side - world->side,
		 window - side->window, type);
	if (!o2_verbs_made(world, "ibv_alloc_mw", mw, error) || mw == NULL)
		return;
	*window = (struct o2_verbs_window){
		.mw = mw, .type = (enum ibv_mw_type)type, .domain = window->domain, .key = mw->rkey};
	o2_verbs_expect(world, "the window's type", mw->type, type);
	side->pd_users[window->domain]++;
	world->counters.live_mws++;
}
