/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "mem/kmap.h"
#include "props/talk/settings_plan.h"
#include "props/world/device.h"

/* Binds plans, valid and spoiled ones, several at a time; and checks the domain and the memory under them. */

#define PAGES 16u
#define WIDE  300u /* more pages than a window has */

/* Pages that are not contiguous need a window if the arena has only one view. */
static bool needs_window(const struct o2_settings_place *p)
{
	const struct o2_reg_plan *plan = &p->plan;

	if (!p->plain || !o2_settings_by_pages(plan) || (plan->mode == O2_REG_FASTREG && p->fast))
		return false;
	for (uint32_t i = 1; i < plan->npages; i++)
		if (plan->page[i] != plan->page[i - 1] + p->page_bytes)
			return true;
	return false;
}

static uint32_t windows_held(const struct o2_settings_place *p)
{
	uint32_t held = 0;

	for (uint32_t i = 0; i < O2_SETTINGS_BINDINGS; i++)
		held += p->binding[i].bound && p->has_window[i];
	return held;
}

static void check_bound(struct o2_settings_run *run, struct o2_report *report,
			const struct o2_settings_place *p, const struct o2_binding *binding,
			const struct o2_settings_holds *before)
{
	const struct o2_reg_plan *plan = &p->plan;
	const struct o2_settings_holds after = o2_settings_holds(p->ni);
	const struct o2_reg_domain *domain = &p->ni->domain;
	const bool region = plan->mode != O2_REG_GLOBAL && (plan->mode != O2_REG_FASTREG || !p->fast);
	const struct ibv_mr *mr = plan->mode == O2_REG_FMR ? ((struct o2_region *)binding->fmr->handle)->mr
							   : binding->region.mr;

	o2_settings_same(run, report, "bindings", after.bound, before->bound + 1);
	o2_settings_same(run, report, "regions", after.regions, before->regions + region);
	o2_settings_same(run, report, "the device's regions", after.device.live_mrs,
			 before->device.live_mrs + region);
	o2_settings_same(run, report, "regions of mode fmr", after.fmr_regions,
			 before->fmr_regions + (plan->mode == O2_REG_FMR));
	o2_settings_same(run, report, "pinned bytes", after.pinned_bytes,
			 before->pinned_bytes + (region ? plan->length : 0));
	if (p->plain)
		o2_settings_same(run, report, "windows of the arena", after.windows,
				 p->windows - windows_held(p));
	if (!binding->bound || binding->mode != plan->mode || binding->side != plan->side ||
	    binding->cpt != p->cpt || binding->iova != plan->iova || binding->length != plan->length)
		o2_report_fail(report, "settings/binding", "%s: it is another one's", run->text);
	if (plan->mode == O2_REG_GLOBAL)
		mr = plan->side == O2_SOURCE ? domain->global_local : domain->global_remote;
	else if (mr != NULL && mr->length != plan->length)
		o2_report_fail(report, "settings/binding", "%s: %zu bytes are registered", run->text,
			       mr->length);
	if (mr != NULL && binding->key != (plan->side == O2_SOURCE ? mr->lkey : mr->rkey))
		o2_report_fail(report, "settings/binding", "%s: the key is another one's", run->text);
}

static void try_bind(struct o2_settings_run *run, struct o2_choice *c, struct o2_report *report,
		     struct o2_settings_place *p, uint32_t slot)
{
	struct o2_binding *binding = &p->binding[slot];
	const struct o2_settings_holds before = o2_settings_holds(p->ni);
	const uint32_t held = windows_held(p);
	struct o2_settings_verdict expected = {.code = 0};
	struct o2_error error = {0};
	uint32_t situation;
	int rc;

	o2_settings_draw_plan(c, p);
	snprintf(run->text, sizeof(run->text), "bind %" PRIu64 " bytes at 0x%" PRIx64 " in mode %s, %s",
		 p->plan.length, p->plan.iova, o2_reg_mode_name(p->plan.mode), o2_side_names[p->plan.side]);
	p->entry = O2_NO_INDEX;
	situation = o2_settings_spoil(c, p, &expected);
	p->has_window[slot] = situation == O2_SETTINGS_PLAN_BOUND && needs_window(p);
	if (p->has_window[slot] && p->windows - held <= p->kept) {
		situation = O2_SETTINGS_BIND_NO_WINDOW;
		expected = o2_settings_refuse("arena/window/all-in-use", "windows", held + 1,
					      p->windows - p->kept);
		expected.code = -ENOBUFS;
	}
	rc = o2_reg_bind(&p->ni->domain, p->cpt, &p->plan, binding, &error);
	o2_settings_check_at(run, report, rc, &error, &expected, p->entry);
	run->tally.seen[situation]++;
	if (report->failed)
		return;
	if (rc == 0) {
		check_bound(run, report, p, binding, &before);
	} else {
		const struct o2_settings_holds after = o2_settings_holds(p->ni);

		o2_settings_unchanged(run, report, &before, &after);
		o2_settings_same(run, report, "a binding that is none",
				 !binding->bound && binding->fmr == NULL && binding->frd == NULL &&
					 binding->key == 0 && binding->iova == 0 && binding->length == 0 &&
					 binding->mode == 0 && binding->side == 0 && binding->cpt == 0,
				 true);
	}
}

static void try_unbind(struct o2_settings_run *run, struct o2_choice *c, struct o2_report *report,
		       struct o2_settings_place *p, uint32_t slot)
{
	const uint64_t unbinds = p->ni->domain.unbinds;
	const uint32_t bound = p->ni->domain.nbound;
	const bool failed = o2_draw_bool(c, 1, 1);

	o2_settings_same(run, report, "release",
			 (uint64_t)o2_reg_unbind(&p->ni->domain, &p->binding[slot], failed, NULL), 0);
	o2_settings_same(run, report, "releases", p->ni->domain.unbinds, unbinds + 1);
	o2_settings_same(run, report, "bindings", p->ni->domain.nbound, bound - 1);
	o2_settings_same(run, report, "a binding that is none", p->binding[slot].bound, false);
	o2_settings_same(run, report, "a free window", o2_reg_window_free(&p->ni->domain),
			 windows_held(p) < p->windows);
}

/* --- what bindings stand on --- */

/* Try to open another domain on the same memory, with a configuration that must be refused. */
static void try_domain(struct o2_settings_run *run, struct o2_choice *c, struct o2_report *report,
		       const struct o2_settings_place *p)
{
	struct o2_reg_config config = {.pd = p->ni->pd, .arena = &p->ni->arena, .base = p->base, .ncpts = 1};
	struct o2_settings_verdict expected;
	struct o2_error error = {0};
	struct o2_reg_domain domain;

	switch (o2_draw(c, 4)) {
	case 0:
		config.ncpts = 0;
		expected = o2_settings_refuse("bind/ncpts", "ncpts", 0, 1);
		break;
	case 1:
		config.kind = (enum o2_dma_kind)o2_draw_range(c, O2_DMA_KINDS, O2_DMA_KINDS + 1);
		expected = o2_settings_refuse("bind/dma-kind", "kind", config.kind, O2_DMA_KINDS - 1);
		break;
	case 2:
		config.base = 0 - o2_draw_range(c, 1, p->npages) * p->page_bytes;
		expected = o2_settings_refuse("bind/base-wraps", "base", config.base, UINT64_MAX - p->bytes);
		break;
	case 3:
		if (p->plain) {
			config.kind = O2_DMA_IOMMU;
			expected =
				o2_settings_refuse("bind/no-iommu-view", "kind", O2_DMA_IOMMU, O2_NO_LIMIT);
			break;
		}
		/* fall through */
	default:
		config.base = p->page_bytes * 7 + o2_draw_range(c, 1, p->page_bytes - 1);
		expected = o2_settings_refuse("bind/base-alignment", "base", config.base, p->page_bytes);
		expected.kind = O2_LIMIT_MULTIPLE;
	}
	snprintf(run->text, sizeof(run->text), "a domain of kind %d from 0x%" PRIx64, (int)config.kind,
		 config.base);
	o2_settings_check(run, report, o2_reg_domain_open(&config, &domain, &error), &error, &expected);
	run->tally.seen[O2_SETTINGS_NO_DOMAIN]++;
}

/* Request a window that must be refused. */
static void try_window(struct o2_settings_run *run, struct o2_choice *c, struct o2_report *report,
		       const struct o2_settings_place *p)
{
	const uint32_t good = (uint32_t)o2_draw_range(c, 1, O2_MAX_FRAGS), past = (uint32_t)o2_draw(c, 2);
	const bool count = o2_draw_bool(c, 1, 1);
	const uint32_t npages = !count ? good : past == 0 ? 0 : O2_MAX_FRAGS + past;
	const uint32_t bad = (uint32_t)o2_draw_pick(c, good), pages = 3 * p->npages; /* bounced ones too */
	struct o2_settings_verdict expected =
		o2_settings_refuse("arena/window/npages", "npages", npages, O2_MAX_FRAGS);
	uint32_t page[O2_MAX_FRAGS + 3];
	struct o2_arena_window window;
	struct o2_error error = {0};
	uint32_t entry = O2_NO_INDEX;
	int rc;

	for (uint32_t i = 0; i < O2_MAX_FRAGS + 3; i++)
		page[i] = i % pages;
	if (!count) {
		page[bad] = pages + past;
		expected = o2_settings_refuse("arena/window/no-such-page", "page[]", pages + past, pages - 1);
		entry = bad;
	}
	snprintf(run->text, sizeof(run->text), "a window of %" PRIu32 " pages", npages);
	rc = o2_arena_window_open(&p->ni->arena, page, npages, &window, &error);
	o2_settings_check_at(run, report, rc, &error, &expected, entry);
	run->tally.seen[O2_SETTINGS_NO_PAGES]++;
}

/* Request pages that a view of the arena has side by side: they need none of the windows. */
static void try_view(struct o2_settings_run *run, struct o2_choice *c, struct o2_report *report,
		     struct o2_arena *arena)
{
	const uint32_t view = (uint32_t)o2_draw_range(c, 1, arena->nviews - 1);
	const uint32_t npages = (uint32_t)o2_draw_range(c, 1, arena->npages);
	const uint32_t at = (uint32_t)o2_draw(c, arena->npages - npages);
	const struct o2_settings_verdict none = {.code = 0};
	const uint32_t in_use = arena->windows_in_use;
	struct o2_arena_window window = {.slot = -1};
	struct o2_error error = {0};
	int rc = o2_arena_window_open(arena, &arena->view[view].page[at], npages, &window, &error);

	snprintf(run->text, sizeof(run->text), "%" PRIu32 " pages of view %" PRIu32, npages, view);
	o2_settings_check(run, report, rc, &error, &none);
	o2_settings_same(run, report, "windows in use", arena->windows_in_use, in_use);
	o2_arena_window_close(arena, &window);
}

/* Request the maximum number of mappings at a time, and one more. */
static void try_many(struct o2_settings_run *run, struct o2_choice *c, struct o2_report *report,
		     const struct o2_arena *arena)
{
	struct o2_settings_verdict expected =
		o2_settings_refuse("kmap/too-many", "kmaps", O2_KMAPS_MAX + 1, O2_KMAPS_MAX);
	const struct o2_settings_verdict none = {.code = 0};
	const uint32_t most = (uint32_t)o2_draw_range(c, 1, O2_KMAPS_MAX + 1);
	struct o2_kmapping mapping[O2_KMAPS_MAX + 1];
	uint32_t made = 0;

	expected.code = -ENOSPC;
	for (uint32_t i = 0; i < most; i++) {
		struct o2_error error = {0};
		const int rc = o2_kmap(arena, i % PAGES, &mapping[i], &error);

		o2_settings_check(run, report, rc, &error, i < O2_KMAPS_MAX ? &none : &expected);
		made += rc == 0;
	}
	o2_settings_same(run, report, "mappings at a time", arena->kmaps->live, made);
	while (made-- > 0)
		o2_kunmap(&mapping[made]);
}

/* Remove and restore mappings of pages: exactly the named pages must be without one. */
static void try_mapped(struct o2_settings_run *run, struct o2_choice *c, struct o2_report *report,
		       const struct o2_settings_place *p)
{
	struct o2_arena *arena = &p->ni->arena;
	const uint64_t temporary = arena->kmaps->temporary;
	bool without[WIDE + 1] = {false};
	uint32_t count = 0;

	snprintf(run->text, sizeof(run->text), "pages without a mapping, of %" PRIu32, p->npages);
	for (uint64_t left = o2_draw_range(c, 1, 6); left > 0; left--) {
		const uint32_t page = (uint32_t)o2_draw(c, p->npages); /* up to one past the last page */

		without[page] = !without[page];
		o2_arena_set_mapped(arena, page, !without[page]);
	}
	for (uint32_t page = 0; page < p->npages; page++) {
		struct o2_kmapping mapping;
		struct o2_error error;

		o2_settings_same(run, report, "a mapping of a page", o2_arena_is_mapped(arena, page),
				 !without[page]);
		if (o2_kmap(arena, page, &mapping, &error) != 0)
			continue;
		o2_settings_same(run, report, "a temporary one", mapping.temporary, without[page]);
		o2_kunmap(&mapping);
		count += without[page];
		if (without[page])
			o2_arena_set_mapped(arena, page, true);
	}
	o2_settings_same(run, report, "temporary mappings made", arena->kmaps->temporary, temporary + count);
	try_many(run, c, report, arena);
	o2_settings_same(run, report, "temporary mappings", arena->kmaps->live, 0);
	run->tally.seen[O2_SETTINGS_UNMAPPED]++;
}

/* Which page lists a view contains is not computed here: domains with views get enough windows for all plans. */
static void keep_windows(struct o2_choice *c, struct o2_settings_place *p)
{
	p->kept = (uint32_t)o2_draw(c, p->windows - (p->plain ? 0 : O2_SETTINGS_BINDINGS));
	o2_reg_keep_windows(&p->ni->domain, p->kept);
}

static void use_domain(struct o2_settings_run *run, struct o2_choice *c, struct o2_report *report,
		       struct o2_settings_place *p)
{
	if (o2_draw_bool(c, 1, 1))
		keep_windows(c, p);
	for (uint64_t steps = o2_draw(c, 12); steps > 0 && !report->failed; steps--) {
		const uint32_t slot = (uint32_t)o2_draw_pick(c, O2_SETTINGS_BINDINGS);
		const uint64_t what = o2_draw(c, 16);

		if (what == 16) {
			try_mapped(run, c, report, p);
		} else if (what == 15) {
			keep_windows(c, p);
		} else if (what == 14) {
			try_domain(run, c, report, p);
		} else if (what == 13) {
			if (!p->plain && o2_draw_bool(c, 1, 1))
				try_view(run, c, report, &p->ni->arena);
			else
				try_window(run, c, report, p);
		} else if (p->binding[slot].bound) {
			try_unbind(run, c, report, p, slot);
		} else {
			try_bind(run, c, report, p, slot);
		}
	}
	for (uint32_t i = 0; i < O2_SETTINGS_BINDINGS; i++)
		(void)o2_reg_unbind(&p->ni->domain, &p->binding[i], false, NULL);
}

void o2_settings_bind(struct o2_settings_run *run, struct o2_choice *c, struct o2_report *report)
{
	static const enum o2_dma_kind kinds[] = {O2_DMA_BUS, O2_DMA_VIRTUAL, O2_DMA_IOMMU};
	struct o2_ni_config config = o2_settings_good_ni((uint32_t)o2_draw(c, 1));
	static struct o2_settings_place place; /* large */
	struct o2_settings_holds before, after;
	struct o2_error error = {0};
	struct o2_ni ni;

	place = (struct o2_settings_place){.ni = &ni};
	place.page_bytes = (uint32_t)sysconf(_SC_PAGESIZE);
	place.plain = o2_draw_bool(c, 1, 1);
	place.bounce = o2_draw_bool(c, 1, 1);
	place.fast = o2_draw_bool(c, 1, 1);
	place.ncpts = (uint32_t)o2_draw_range(c, 1, 3);
	place.npages = place.plain && o2_draw_bool(c, 1, 1) ? WIDE : PAGES;
	place.caps.global = !o2_draw_bool(c, 3, 1);
	place.caps.fmr = !o2_draw_bool(c, 3, 1);
	place.caps.fastreg = !o2_draw_bool(c, 3, 1);
	place.caps.gaps = !o2_draw_bool(c, 3, 1);
	place.windows = place.plain ? (uint32_t)o2_draw_range(c, 2, 4) : O2_ARENA_WINDOWS;
	config.dma_kind = kinds[o2_draw_pick(c, place.plain ? 2 : 3)];
	config.dma_base = o2_draw(c, 1000) * 65536;
	if (o2_draw_bool(c, 7, 1)) /* all but the last possible page */
		config.dma_base = 0 - ((uint64_t)place.npages + 1) * place.page_bytes;
	config.reg_gaps = o2_draw_bool(c, 1, 1) ? o2_loop_reg_gaps : NULL;
	config.reg_fast = place.fast ? o2_device_reg_fast() : NULL;
	config.plain_arena = place.plain;
	config.bounce = place.bounce;
	config.arena_pages = place.npages;
	config.windows = place.windows;
	config.tunables.ncpts = place.ncpts;
	config.caps = &place.caps;
	snprintf(run->text, sizeof(run->text), "an interface for plans");
	if (o2_ni_open(&config, &ni, &error) != 0) {
		o2_report_fail(report, "settings/open", "%s: %s", run->text, error.rule);
		return;
	}
	place.bytes = (uint64_t)place.npages * place.page_bytes;
	place.base = config.dma_kind == O2_DMA_VIRTUAL ? (uintptr_t)ni.arena.memory : config.dma_base;
	before = o2_settings_holds(&ni);
	use_domain(run, c, report, &place);
	after = o2_settings_holds(&ni);
	snprintf(run->text, sizeof(run->text), "all of it given back");
	o2_settings_unchanged(run, report, &before, &after);
	o2_ni_close(&ni);
}
