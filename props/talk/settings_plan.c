/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>

#include "props/talk/settings_plan.h"

/*
 * Plans of every form that a domain accepts, and plans with one member spoiled: a second implementation of
 * docs/modes.md, "Refusals of reg_bind".
 */

#define BIT(mode) (1u << (mode))
#define BY_CHAIN  (BIT(O2_REG_FASTREG) | BIT(O2_REG_FASTREG_GAPS))

bool o2_settings_by_pages(const struct o2_reg_plan *plan)
{
	return plan->mode == O2_REG_FMR || plan->mode == O2_REG_FASTREG || plan->mode == O2_REG_PHYS;
}

static bool permitted(const struct o2_settings_place *p, uint32_t mode)
{
	const bool can[O2_REG_MODES] = {
		[O2_REG_GLOBAL] = p->caps.global,
		[O2_REG_FMR] = p->caps.fmr,
		[O2_REG_FASTREG] = p->caps.fastreg,
		[O2_REG_USER] = true,
		[O2_REG_PHYS] = true,
		[O2_REG_FASTREG_GAPS] = p->caps.fastreg && p->caps.gaps,
	};

	return can[mode];
}

/* --- plans that are good --- */

static void draw_pages(struct o2_choice *c, const struct o2_settings_place *p, struct o2_reg_plan *plan)
{
	const bool wide = o2_draw_bool(c, 7, 1);
	const uint32_t first = (uint32_t)o2_draw(c, p->npages - 1);
	const uint32_t step = o2_draw_bool(c, 1, 1) ? 1 : (uint32_t)o2_draw(c, p->npages - 1);
	const uint64_t iova_page = o2_draw(c, UINT32_MAX);
	uint64_t room, least;

	plan->npages =
		wide ? (uint32_t)o2_draw_range(c, 255, O2_MAX_FRAGS) : (uint32_t)o2_draw_range(c, 1, 5);
	for (uint32_t i = 0; i < plan->npages; i++)
		plan->page[i] = p->base + (uint64_t)((first + i * step) % p->npages) * p->page_bytes;
	plan->page_offset = (uint32_t)o2_draw(c, p->page_bytes - 1);
	plan->iova = iova_page * p->page_bytes + plan->page_offset;
	room = (uint64_t)plan->npages * p->page_bytes - plan->page_offset;
	/* At least one byte of each listed page. */
	least = plan->npages == 1 ? 1 : room - p->page_bytes + 1;
	plan->length = o2_draw_bool(c, 1, 1) ? room : o2_draw_range(c, least, room);
}

static void draw_entries(struct o2_choice *c, const struct o2_settings_place *p, struct o2_reg_plan *plan)
{
	const bool wide = o2_draw_bool(c, 7, 1);
	const uint64_t at = o2_draw(c, p->bytes - 1);
	const uint64_t most = p->bytes - at < 9000 ? p->bytes - at : 9000;
	const uint32_t length = (uint32_t)o2_draw_range(c, 1, wide ? (most < 4000 ? most : 4000) : most);

	plan->nentries =
		wide ? (uint32_t)o2_draw_range(c, 255, O2_MAX_FRAGS) : (uint32_t)o2_draw_range(c, 1, 5);
	for (uint32_t i = 0; i < plan->nentries; i++)
		plan->entry[i] = (struct o2_dma_segment){p->base + at, length};
	if (o2_draw_bool(c, 1, 1)) /* up to the end of the device's memory */
		plan->entry[plan->nentries - 1] =
			(struct o2_dma_segment){p->base + p->bytes - length, length};
	plan->iova = o2_draw(c, UINT32_MAX);
	plan->length = (uint64_t)plan->nentries * length;
}

/* Draw addresses within one of the arena's views. */
static uint32_t draw_range(struct o2_choice *c, const struct o2_settings_place *p, struct o2_reg_plan *plan)
{
	const uint32_t view = p->plain ? 0 : (uint32_t)o2_draw_pick(c, O2_ARENA_VIEWS);
	const uint64_t whole = (uint64_t)O2_MAX_FRAGS * p->page_bytes;
	/* To fill a window, the range must begin early enough. */
	const bool early = p->bytes > whole && o2_draw_bool(c, 1, 1);
	const uint64_t at = o2_draw(c, early ? p->bytes - whole : p->bytes - 1);
	const uint64_t window = whole - at % p->page_bytes;
	uint64_t most = p->bytes - at;

	(void)o2_arena_map_view(&p->ni->arena, view, NULL);
	if (p->bounce && most > window)
		most = window;
	plan->iova = p->ni->arena.view[view].base + at;
	plan->length = o2_draw_bool(c, 1, 1) ? most : o2_draw_range(c, 1, most);
	return view;
}

void o2_settings_draw_plan(struct o2_choice *c, struct o2_settings_place *p)
{
	struct o2_reg_plan *plan = &p->plan;

	plan->mode = (enum o2_reg_mode)o2_draw_pick(c, O2_REG_MODES);
	plan->side = o2_draw_bool(c, 1, 1) ? O2_SINK : O2_SOURCE;
	plan->page_bytes = p->page_bytes;
	plan->access = plan->side == O2_SINK ? O2_ACCESS_LOCAL_WRITE | O2_ACCESS_REMOTE_WRITE : 0;
	plan->nfrags = o2_draw_bool(c, 3, 1) ? O2_MAX_FRAGS : (uint32_t)o2_draw_range(c, 1, 3);
	plan->npages = plan->nentries = 0;
	p->cpt = (uint32_t)o2_draw_pick(c, p->ncpts);
	plan->iova = plan->length = 0;
	if (o2_settings_by_pages(plan))
		draw_pages(c, p, plan);
	else if (plan->mode == O2_REG_FASTREG_GAPS)
		draw_entries(c, p, plan);
	else if (plan->mode == O2_REG_USER)
		(void)draw_range(c, p, plan);
}

/* --- what is spoiled --- */

struct o2_settings_verdict o2_settings_refuse(const char *rule, const char *field, uint64_t value,
					      uint64_t limit)
{
	return o2_settings_bound(-EINVAL, rule, field, value, limit);
}

/* Spoil a member that plans of every mode have.  Returns the situation. */
static uint32_t spoil_any(struct o2_choice *c, struct o2_settings_place *p,
			  struct o2_settings_verdict *expected)
{
	static const uint32_t sizes[] = {0, 4095, 4096, 8192, 16384, 65536};
	struct o2_reg_plan *plan = &p->plan;
	const uint64_t past = o2_draw(c, 2);

	switch (o2_draw(c, 4)) {
	case 0:
		plan->mode = (enum o2_reg_mode)(O2_REG_MODES + past);
		*expected = o2_settings_refuse("bind/mode", "mode", O2_REG_MODES + past, O2_REG_MODES - 1);
		return O2_SETTINGS_BIND_MODE;
	case 1:
		plan->side = (enum o2_side)(O2_SINK + 1 + past);
		*expected = o2_settings_refuse("bind/side", "side", O2_SINK + 1 + past, O2_SINK);
		return O2_SETTINGS_BIND_SIDE;
	case 2:
		p->cpt = p->ncpts + (uint32_t)past;
		*expected = o2_settings_refuse("bind/cpt", "cpt", p->ncpts + past, p->ncpts - 1);
		return O2_SETTINGS_BIND_CPT;
	case 3:
		plan->page_bytes = sizes[o2_draw_pick(c, sizeof(sizes) / sizeof(sizes[0]))];
		plan->page_bytes += plan->page_bytes == p->page_bytes;
		*expected =
			o2_settings_refuse("bind/page-size", "page_bytes", plan->page_bytes, p->page_bytes);
		return O2_SETTINGS_BIND_PAGE_SIZE;
	default:
		plan->nfrags = past == 0 ? 0 : (uint32_t)(O2_MAX_FRAGS + past);
		*expected = o2_settings_refuse("bind/nfrags", "nfrags", plan->nfrags, O2_MAX_FRAGS);
		return O2_SETTINGS_BIND_NFRAGS;
	}
}

/* Spoil page i of the list. */
static uint32_t spoil_page(struct o2_choice *c, struct o2_settings_place *p,
			   struct o2_settings_verdict *expected)
{
	const uint32_t i = (uint32_t)o2_draw_pick(c, p->plan.npages);
	const uint64_t off = o2_draw_range(c, 1, p->page_bytes - 1), end = p->base + p->bytes;
	uint64_t *page = &p->plan.page[i];

	switch (o2_draw(c, 3)) {
	case 0:
		*page += off;
		*expected = o2_settings_refuse("bind/page-alignment", "page[]", *page, p->page_bytes);
		expected->kind = O2_LIMIT_MULTIPLE;
		break;
	case 1:
		*page = end;
		break;
	case 2:
		*page = end + off;
		break;
	default:
		*page = p->base >= p->page_bytes ? p->base - p->page_bytes : end;
	}
	if (expected->rule == NULL)
		*expected = o2_settings_refuse("bind/page-outside-device", "page[]", *page, end);
	p->entry = i;
	return expected->kind == O2_LIMIT_MULTIPLE ? O2_SETTINGS_BIND_ALIGNMENT : O2_SETTINGS_BIND_OUTSIDE;
}

static uint32_t spoil_pages(struct o2_choice *c, struct o2_settings_place *p,
			    struct o2_settings_verdict *expected)
{
	struct o2_reg_plan *plan = &p->plan;
	const uint64_t room = (uint64_t)plan->npages * p->page_bytes - plan->page_offset;
	const uint64_t past = o2_draw(c, 2);

	switch (o2_draw(c, 6)) {
	case 0:
		plan->npages = past == 0 ? 0 : (uint32_t)(O2_MAX_FRAGS + past);
		*expected = o2_settings_refuse("bind/npages", "npages", plan->npages, O2_MAX_FRAGS);
		return O2_SETTINGS_BIND_NPAGES;
	case 1:
		plan->page_offset = p->page_bytes * (uint32_t)(1 + past) + (uint32_t)(past & 1);
		*expected = o2_settings_refuse("bind/page-offset", "page_offset", plan->page_offset,
					       p->page_bytes - 1);
		return O2_SETTINGS_BIND_PAGE_OFFSET;
	case 2:
		plan->iova += o2_draw_range(c, 1, p->page_bytes - 1);
		*expected = o2_settings_refuse("bind/iova-not-congruent", "iova", plan->iova, O2_NO_LIMIT);
		return O2_SETTINGS_BIND_CONGRUENT;
	case 3:
		plan->length = past == 0 ? 0 : room + past;
		*expected = o2_settings_refuse("bind/length", "length", plan->length, room);
		return O2_SETTINGS_BIND_LENGTH;
	default:
		return spoil_page(c, p, expected);
	}
}

static uint32_t spoil_entries(struct o2_choice *c, struct o2_settings_place *p,
			      struct o2_settings_verdict *expected)
{
	struct o2_reg_plan *plan = &p->plan;
	const uint64_t total = plan->length, past = o2_draw(c, 3);
	const uint32_t i = (uint32_t)o2_draw_pick(c, plan->nentries);
	struct o2_dma_segment *entry = &plan->entry[i];

	switch (o2_draw(c, 3)) {
	case 0:
		plan->nentries = past == 0 ? 0 : (uint32_t)(O2_MAX_FRAGS + past);
		*expected = o2_settings_refuse("bind/nentries", "nentries", plan->nentries, O2_MAX_FRAGS);
		return O2_SETTINGS_BIND_NENTRIES;
	case 1:
		plan->length = past == 0 ? total - 1 : total + past;
		if (past == 3) { /* more than a transfer may have, all of it existing */
			plan->nentries = (1u << 20) / 4096;
			for (uint32_t k = 0; k < plan->nentries; k++)
				plan->entry[k] = (struct o2_dma_segment){p->base, k == 0 ? 4097 : 4096};
			plan->length = (1u << 20) + 1;
		}
		*expected = o2_settings_refuse("bind/length", "length", plan->length,
					       past == 3 ? plan->length : total);
		return O2_SETTINGS_BIND_LENGTH;
	default:
		if (past == 0)
			entry->length = 0;
		else if (past == 1)
			entry->addr = p->base + p->bytes - entry->length + 1;
		else if (past == 2 && p->base > 0)
			entry->addr = p->base - 1;
		else
			entry->addr = p->base + p->bytes;
		*expected =
			o2_settings_refuse("bind/entry-outside-device", "entry[].addr", entry->addr, p->base);
		p->entry = i;
		return O2_SETTINGS_BIND_ENTRY_OUTSIDE;
	}
}

static uint32_t spoil_range(struct o2_choice *c, struct o2_settings_place *p,
			    struct o2_settings_verdict *expected)
{
	struct o2_reg_plan *plan = &p->plan;
	const uint64_t kind = o2_draw(c, 3), window = (uint64_t)O2_MAX_FRAGS * p->page_bytes;
	const uint32_t view = draw_range(c, p, plan);
	const uint64_t base = p->ni->arena.view[view].base;

	if (kind == 0) {
		plan->length = 0;
		*expected = o2_settings_refuse("bind/length", "length", 0, O2_NO_LIMIT);
		return O2_SETTINGS_BIND_LENGTH;
	}
	if (kind == 1 && p->bounce && p->bytes > window) {
		const uint64_t offset = o2_draw(c, p->page_bytes - 1);
		const uint64_t more = o2_draw_range(c, 1, p->page_bytes);

		plan->iova = base + offset;
		plan->length = window - offset + more;
		*expected = o2_settings_refuse("bind/npages", "npages", O2_MAX_FRAGS + 1, O2_MAX_FRAGS);
		return O2_SETTINGS_BIND_NPAGES;
	}
	if (kind == 2) { /* only its last byte is past the view */
		plan->length += plan->length == 1;
		plan->iova = base + p->bytes - plan->length + 1;
	} else /* the bounce buffers follow the memory */
		plan->iova = view == 0 ? base + p->bytes : 8;
	*expected = o2_settings_refuse("bind/user/no-such-memory", "iova", plan->iova, O2_NO_LIMIT);
	expected->code = -EFAULT;
	return O2_SETTINGS_BIND_NO_MEMORY;
}

uint32_t o2_settings_spoil(struct o2_choice *c, struct o2_settings_place *p,
			   struct o2_settings_verdict *expected)
{
	struct o2_reg_plan *plan = &p->plan;
	const uint64_t what = o2_draw(c, 7);

	if (!permitted(p, plan->mode)) {
		*expected = o2_settings_refuse("bind/no-way", "mode", plan->mode, O2_NO_LIMIT);
		return O2_SETTINGS_BIND_NO_WAY;
	}
	if (what < 3)
		return O2_SETTINGS_PLAN_BOUND;
	if (what == 3 || plan->mode == O2_REG_GLOBAL)
		return spoil_any(c, p, expected);
	if (what == 4 && (BIT(plan->mode) & BY_CHAIN) != 0 && plan->side == O2_SINK) {
		plan->access = o2_draw_bool(c, 1, 1) ? O2_ACCESS_LOCAL_WRITE : 0;
		*expected = o2_settings_refuse("bind/fastreg/sink-access", "access", plan->access, 2);
		return O2_SETTINGS_BIND_SINK_ACCESS;
	}
	if (plan->mode == O2_REG_USER)
		return spoil_range(c, p, expected);
	return plan->mode == O2_REG_FASTREG_GAPS ? spoil_entries(c, p, expected)
						 : spoil_pages(c, p, expected);
}
