/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "props/stage/reg_plan.h"

/*
 * The rules of docs/modes.md, "Refusals of reg_plan", that a request breaks: from that table alone, in 128 bits.
 */

enum {
	MODE,
	SIDE,
	PAGE_SIZE,
	MAX_PAGES,
	PEER_MAX_FRAGS,
	COUNT,
	EMPTY,
	WRAPS,
	TOO_LONG,
	TOO_MANY_PAGES,
	FMR_GAP,
	FASTREG_GAPS,
	FASTREG_SHORT,
	FASTREG_WRAPS,
	USER_RANGE,
	USER_WRAPS,
	PHYS_GAPS,
	PHYS_GAP,
	PHYS_ALIGNMENT,
	PHYS_WRAPS,
	GAPS_ENTRIES,
	GAPS_WRAPS,
	FRAGMENTS,
	ALL_RULES,
};

enum { REQUEST, SEGMENTS, FIRST_OF_MODE, MODES_OWN, PUBLISHED, STAGES };

const struct o2_plan_rule o2_plan_rules[O2_PLAN_RULES] = {
	[MODE] = {"reg/mode", -EINVAL, REQUEST},
	[SIDE] = {"reg/side", -EINVAL, REQUEST},
	[PAGE_SIZE] = {"reg/page-size", -EINVAL, REQUEST},
	[MAX_PAGES] = {"reg/max-pages", -EINVAL, REQUEST},
	[PEER_MAX_FRAGS] = {"reg/peer-max-frags", -EINVAL, REQUEST},
	[COUNT] = {"reg/count", -EINVAL, SEGMENTS},
	[EMPTY] = {"reg/empty-segment", -EINVAL, SEGMENTS},
	[WRAPS] = {"reg/segment-wraps", -EINVAL, SEGMENTS},
	[TOO_LONG] = {"reg/too-long", -EMSGSIZE, SEGMENTS},
	[TOO_MANY_PAGES] = {"reg/too-many-pages", -EINVAL, MODES_OWN},
	[FMR_GAP] = {"reg/fmr/undeclared-gap", -EINVAL, MODES_OWN},
	[FASTREG_GAPS] = {"reg/fastreg/gaps", -EPROTONOSUPPORT, FIRST_OF_MODE},
	[FASTREG_SHORT] = {"reg/fastreg/short-map", -EINVAL, MODES_OWN},
	[FASTREG_WRAPS] = {"reg/fastreg/iova-wraps", -EINVAL, MODES_OWN},
	[USER_RANGE] = {"reg/user/not-contiguous", -EPROTONOSUPPORT, FIRST_OF_MODE},
	[USER_WRAPS] = {"reg/user/address-wraps", -EINVAL, MODES_OWN},
	[PHYS_GAPS] = {"reg/phys/gaps", -EINVAL, FIRST_OF_MODE},
	[PHYS_GAP] = {"reg/phys/undeclared-gap", -EINVAL, MODES_OWN},
	[PHYS_ALIGNMENT] = {"reg/phys/iova-alignment", -EINVAL, MODES_OWN},
	[PHYS_WRAPS] = {"reg/phys/iova-wraps", -EINVAL, MODES_OWN},
	[GAPS_ENTRIES] = {"reg/fastreg_gaps/too-many-entries", -EINVAL, MODES_OWN},
	[GAPS_WRAPS] = {"reg/fastreg_gaps/iova-wraps", -EINVAL, MODES_OWN},
	[FRAGMENTS] = {"reg/more-fragments-than-peer-accepts", -EFBIG, PUBLISHED},
};

static uint32_t bit(uint32_t rule, bool broken)
{
	return broken ? 1u << rule : 0;
}

static bool is_page_size(uint32_t bytes)
{
	return bytes == 4096 || bytes == 16384 || bytes == 65536;
}

static uint32_t broken_by_request(const struct o2_reg_request *r)
{
	const uint32_t mode = r->mode;

	return bit(MODE, mode > O2_REG_FASTREG_GAPS) | bit(SIDE, r->side != O2_SOURCE && r->side != O2_SINK) |
	       bit(PAGE_SIZE, !is_page_size(r->page_bytes)) |
	       bit(MAX_PAGES, r->max_pages != 256 && r->max_pages != 257) |
	       bit(PEER_MAX_FRAGS, r->side == O2_SINK && (r->peer_max_frags < 1 || r->peer_max_frags > 257));
}

static unsigned __int128 end_of(const struct o2_dma_segment *segment)
{
	return (unsigned __int128)segment->addr + segment->length;
}

static uint32_t broken_by_segments(const struct o2_dma_list *list)
{
	const bool countable = list->count >= 1 && list->count <= 257;
	uint32_t broken = bit(COUNT, !countable);
	uint64_t total = 0;

	for (uint32_t i = 0; countable && i < list->count; i++) {
		broken |= bit(EMPTY, list->segment[i].length == 0) |
			  bit(WRAPS, end_of(&list->segment[i]) > UINT64_MAX);
		total += list->segment[i].length;
	}
	return broken | bit(TOO_LONG, total > 1u << 20);
}

bool o2_plan_is_dense(const struct o2_plan_run *run)
{
	const uint32_t page_bytes = run->request.page_bytes;

	for (uint32_t i = 1; i < run->list.count; i++) {
		const uint64_t end = (uint64_t)end_of(&run->list.segment[i - 1]);
		const uint64_t start = run->list.segment[i].addr;

		if (start != end && (start % page_bytes != 0 || end % page_bytes != 0))
			return false;
	}
	return true;
}

/* A page list entry is needed for each byte that starts a page or is on another page than the byte before. */
static uint64_t slots_of(const struct o2_plan_run *run, uint32_t count)
{
	const uint32_t page_bytes = run->request.page_bytes;
	uint64_t slots = 0;

	for (uint32_t i = 0; i < count; i++) {
		const struct o2_dma_segment *segment = &run->list.segment[i];
		const struct o2_dma_segment *before = segment - 1;
		const uint64_t first = segment->addr / page_bytes;
		const uint64_t last = (segment->addr + (segment->length - 1)) / page_bytes;
		const bool goes_on = i > 0 && segment->addr % page_bytes != 0 &&
				     (before->addr + (before->length - 1)) / page_bytes == first;

		slots += last - first + !goes_on;
	}
	return slots;
}

uint64_t o2_plan_slots(const struct o2_plan_run *run)
{
	return slots_of(run, run->list.count);
}

static uint32_t broken_by_mode(const struct o2_plan_run *run)
{
	const struct o2_reg_request *r = &run->request;
	const uint64_t first = run->list.segment[0].addr;
	const uint64_t iova_page = r->iova / r->page_bytes * r->page_bytes;
	const bool pages = r->mode == O2_REG_FMR || r->mode == O2_REG_FASTREG || r->mode == O2_REG_PHYS;
	const bool hidden_gap = !r->gaps && !o2_plan_is_dense(run);
	uint32_t broken = bit(TOO_MANY_PAGES, pages && o2_plan_slots(run) > r->max_pages);
	unsigned __int128 total = 0;

	for (uint32_t i = 0; i < run->list.count; i++)
		total += run->list.segment[i].length;
	switch (r->mode) {
	case O2_REG_FMR:
		return broken | bit(FMR_GAP, hidden_gap);
	case O2_REG_FASTREG:
		return broken | bit(FASTREG_GAPS, r->gaps) | bit(FASTREG_SHORT, hidden_gap) |
		       bit(FASTREG_WRAPS, first + total > UINT64_MAX);
	case O2_REG_USER:
		return bit(USER_RANGE, !r->contiguous) | bit(USER_WRAPS, r->iova + total > UINT64_MAX);
	case O2_REG_PHYS:
		return broken | bit(PHYS_GAPS, r->gaps) | bit(PHYS_GAP, hidden_gap) |
		       bit(PHYS_ALIGNMENT, r->iova != iova_page && (r->iova ^ first) % r->page_bytes != 0) |
		       bit(PHYS_WRAPS, iova_page + total + first % r->page_bytes > UINT64_MAX);
	case O2_REG_FASTREG_GAPS:
		return bit(GAPS_ENTRIES, run->list.count > r->max_pages) |
		       bit(GAPS_WRAPS, first + total > UINT64_MAX);
	default:
		return 0;
	}
}

static bool one_per_segment(const struct o2_reg_request *r)
{
	return r->mode == O2_REG_GLOBAL || (r->mode == O2_REG_FMR && r->gaps);
}

uint32_t o2_plan_broken(const struct o2_plan_run *run)
{
	const struct o2_reg_request *r = &run->request;
	uint32_t broken = broken_by_request(r), first = 0;

	if (broken == 0)
		broken = broken_by_segments(&run->list);
	if (broken != 0)
		return broken;
	broken = broken_by_mode(run);
	for (uint32_t i = 0; i < O2_PLAN_RULES; i++)
		first |= bit(i, (broken & 1u << i) != 0 && o2_plan_rules[i].stage == FIRST_OF_MODE);
	if (broken != 0)
		return first != 0 ? first : broken;
	return bit(FRAGMENTS,
		   r->side == O2_SINK && one_per_segment(r) && run->list.count > r->peer_max_frags);
}

/* --- what a refusal says --- */

/* The figures of the first segment that breaks the rule. */
static struct o2_plan_figures of_segments(const struct o2_plan_run *run, uint32_t rule)
{
	const struct o2_dma_segment *segment = run->list.segment;
	const uint64_t page_bytes = run->request.page_bytes;
	uint64_t total = 0;

	for (uint32_t i = 0; i < run->list.count; i++) {
		const uint64_t start = segment[i].addr;
		const uint64_t end = i == 0 ? start : (uint64_t)end_of(&segment[i - 1]);

		total += segment[i].length;
		if (rule == EMPTY && segment[i].length == 0)
			return (struct o2_plan_figures){i, 0, 1};
		if (rule == WRAPS && end_of(&segment[i]) > UINT64_MAX)
			return (struct o2_plan_figures){i, segment[i].length, UINT64_MAX - start};
		if (rule == TOO_LONG && total > 1u << 20)
			return (struct o2_plan_figures){i, total, 1u << 20};
		if (rule == TOO_MANY_PAGES && slots_of(run, i + 1) > run->request.max_pages)
			return (struct o2_plan_figures){i, run->request.max_pages + UINT64_C(1),
							run->request.max_pages};
		if ((rule == FMR_GAP || rule == FASTREG_SHORT || rule == PHYS_GAP) && start != end &&
		    (start % page_bytes != 0 || end % page_bytes != 0))
			return (struct o2_plan_figures){i, start, end};
	}
	return (struct o2_plan_figures){O2_NO_INDEX, 0, 0};
}

struct o2_plan_figures o2_plan_figures(const struct o2_plan_run *run, uint32_t rule)
{
	const struct o2_reg_request *r = &run->request;
	/* Not evaluated for a request that is invalid. */
	const uint32_t page_bytes = is_page_size(r->page_bytes) ? r->page_bytes : 1;
	const uint64_t first = run->list.segment[0].addr;
	uint64_t total = 0;

	for (uint32_t i = 0; rule > COUNT && i < run->list.count; i++)
		total += run->list.segment[i].length;
	switch (rule) {
	case MODE:
		return (struct o2_plan_figures){O2_NO_INDEX, r->mode, O2_REG_FASTREG_GAPS};
	case SIDE:
		return (struct o2_plan_figures){O2_NO_INDEX, r->side, O2_SINK};
	case PAGE_SIZE:
		return (struct o2_plan_figures){O2_NO_INDEX, r->page_bytes, 65536};
	case MAX_PAGES:
		return (struct o2_plan_figures){O2_NO_INDEX, r->max_pages, 257};
	case PEER_MAX_FRAGS:
		return (struct o2_plan_figures){O2_NO_INDEX, r->peer_max_frags, 257};
	case COUNT:
		return (struct o2_plan_figures){O2_NO_INDEX, run->list.count, 257};
	case FASTREG_GAPS:
	case PHYS_GAPS:
		return (struct o2_plan_figures){O2_NO_INDEX, 1, 0};
	case USER_RANGE:
		return (struct o2_plan_figures){O2_NO_INDEX, 0, 1};
	case FASTREG_WRAPS:
	case GAPS_WRAPS:
		return (struct o2_plan_figures){0, total, UINT64_MAX - first};
	case USER_WRAPS:
		return (struct o2_plan_figures){O2_NO_INDEX, total, UINT64_MAX - r->iova};
	case PHYS_ALIGNMENT:
		return (struct o2_plan_figures){O2_NO_INDEX, r->iova, r->page_bytes};
	case PHYS_WRAPS:
		return (struct o2_plan_figures){O2_NO_INDEX, first % page_bytes + total,
						UINT64_MAX - r->iova / page_bytes * page_bytes};
	case GAPS_ENTRIES:
		return (struct o2_plan_figures){O2_NO_INDEX, run->list.count, r->max_pages};
	case FRAGMENTS:
		return (struct o2_plan_figures){O2_NO_INDEX, run->list.count, r->peer_max_frags};
	default:
		return of_segments(run, rule);
	}
}
