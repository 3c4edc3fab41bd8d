/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "props/stage/pools_internal.h"

/* Steps of the pools property: FMR. */

#define LISTS	   8u
#define PAGE_BYTES 4096u

/* Make list 0, or a list that differs from it in one property. */
static void make_list(uint32_t list, uint64_t pages[3], struct o2_fmr_request *request)
{
	pages[0] = list == 1 ? 2 * PAGE_BYTES : PAGE_BYTES;
	pages[1] = 16 * PAGE_BYTES;
	pages[2] = list == 2 ? 33 * PAGE_BYTES : 32 * PAGE_BYTES;
	*request = (struct o2_fmr_request){
		.pages = pages,
		.npages = list == 3 ? 2 : 3,
		.iova = list == 4 ? 64 * PAGE_BYTES : 0,
		.page_offset = list == 5,
		.length = list == 6 ? 101 : 100,
		.access = list == 7,
	};
}

/* Make the list invalid; returns the rule that refuses it. */
static const char *spoil(size_t wrong, struct o2_fmr_request *request)
{
	if (wrong == 3) {
		request->iova += 1;
		return "pool/fmr/iova";
	}
	request->npages = wrong == 1 ? 0 : O2_MAX_FRAGS + 1;
	return "pool/fmr/npages";
}

/* Value and limit of that refusal. */
static void check_spoilt(const struct o2_pool_subject *s, const struct o2_fmr_request *request,
			 const struct o2_error *error, struct o2_report *report)
{
	const bool pages = strcmp(error->rule, "pool/fmr/npages") == 0;
	const uint64_t value = pages ? request->npages : request->iova;
	const uint64_t limit = pages ? s->fmr.config.max_pages : s->fmr.config.page_bytes;

	o2_pools_expect_figures(s, "take", error, value, limit, report);
}

static void check_taken(const struct o2_pool_subject *s, const struct o2_fmr *fmr, uint32_t element,
			const struct o2_fmr_request *request, struct o2_report *report)
{
	const struct o2_fmr_request *mapped = &fmr->mapped;
	const uint32_t key = s->device.element[element].key;

	if (fmr->handle != &s->device.element[element])
		o2_report_fail(report, "pools/region/which", "region %td was given, expected %" PRIu32,
			       (const struct o2_pool_element *)fmr->handle - s->device.element, element);
	else if (fmr->rkey != key || fmr->lkey != key || mapped->npages != request->npages ||
		 mapped->iova != request->iova || mapped->page_offset != request->page_offset ||
		 mapped->length != request->length || mapped->access != request->access)
		o2_report_fail(report, "pools/region/mapping",
			       "region %" PRIu32 " is mapped to another list than was asked for, or under "
			       "another key than the 0x%" PRIx32 " of the device",
			       element, key);
}

void o2_pools_take_fmr(struct o2_pools_run *run, struct o2_pool_subject *s, struct o2_choice *c,
		       struct o2_pool_step *step, struct o2_report *report)
{
	static const uint32_t wrongs[] = {20, 1, 1, 1};
	struct o2_fmr_model *m = &s->fmr_model;
	const size_t wrong = o2_draw_weighted(c, wrongs, 4);
	const struct o2_fmr_model_request asked = {.list = (uint32_t)o2_draw(c, LISTS - 1),
						   .legal = wrong == 0,
						   .strict = o2_draw_bool(c, 3, 1)};
	const uint32_t hits = m->hits, hits_idle = m->hits_idle;
	uint64_t *seen = run->tally.seen;
	struct o2_fmr_request request;
	struct o2_error error = {0};
	struct o2_fmr *fmr = NULL;
	const char *rule = "pool/exhausted", *spoiled = NULL;
	uint32_t element = 0;
	uint64_t pages[3];
	int want;

	run->faults.map_error = o2_draw_bool(c, 9, 1) ? -EIO : 0;
	make_list(asked.list, pages, &request);
	request.strict = asked.strict;
	want = o2_fmr_model_take(m, &asked, &element);
	if (wrong != 0)
		spoiled = spoil(wrong, &request);
	if (want == -EINVAL)
		rule = spoiled;
	if (want == -EBUSY || want == -EIO)
		rule = want == -EIO ? "pool/fmr/map" : "pool/cap";
	seen[O2_POOL_SEEN_CAP] += want == -EBUSY;
	seen[O2_POOL_SEEN_TOO_SOON] += want == -EAGAIN;
	seen[O2_POOL_SEEN_MAP_ERROR] += want == -EIO;
	seen[O2_POOL_SEEN_BAD_REQUEST] += want == -EINVAL;
	seen[O2_POOL_SEEN_CACHE_HIT] += m->hits - hits;
	seen[O2_POOL_SEEN_CACHE_HIT_IDLE] += m->hits_idle - hits_idle;
	step->number = element;
	step->code = o2_fmr_take(&s->fmr, &request, &fmr, &error);
	if (!o2_pools_expect(s, "take", step->code, want, rule, &error, report))
		return;
	if (want == -EINVAL)
		check_spoilt(s, &request, &error, report);
	if (want != 0)
		return;
	check_taken(s, fmr, element, &request, report);
	o2_pools_hold(s, element, fmr);
}

void o2_pools_put_fmr(struct o2_pools_run *run, struct o2_pool_subject *s, uint32_t at, struct o2_choice *c,
		      struct o2_pool_step *step, struct o2_report *report)
{
	static const uint32_t ways[] = {6, 1, 1}; /* plain, the transfer has failed, twice */
	const size_t way = o2_draw_weighted(c, ways, 3);
	const uint32_t element = s->held[at].element;
	struct o2_fmr *fmr = s->held[at].object;
	const bool strict = fmr->mapped.strict;
	struct o2_error error = {0};
	int want;

	step->number = element;
	step->how = way == 1 ? " after its transfer has failed" : "";
	o2_pools_let_go(s, at);
	want = o2_fmr_model_put(&s->fmr_model, element, way == 1);
	run->tally.seen[O2_POOL_SEEN_STRICT] += strict && want == 0;
	run->tally.seen[O2_POOL_SEEN_STRICT_ALIVE] += strict && want != 0;
	step->code = o2_fmr_put(&s->fmr, fmr, way == 1, &error);
	if (!o2_pools_expect(s, "put", step->code, want, "pool/fmr/key-alive", &error, report))
		return;
	if (way == 2 && o2_pools_fate(s, element) != O2_POOL_GONE && s->device.element[element].held == 0) {
		step->how = " twice";
		o2_pools_expect(s, "put", o2_fmr_put(&s->fmr, fmr, false, &error), -EINVAL,
				"pool/put/not-in-use", &error, report);
		run->tally.seen[O2_POOL_SEEN_PUT_TWICE]++;
	}
}

/* --- where the regions are --- */

struct comparison {
	struct o2_pool_subject *subject;
	struct o2_report *report;
	uint32_t next; /* index of the next live pool */
};

static void compare_pool(void *context, struct o2_pool *base)
{
	struct comparison *at = context;
	struct o2_pool_subject *s = at->subject;
	const struct o2_set_model *set = &s->pools;
	const struct o2_fmr_model_pool *p;
	const struct o2_fmr_pool *pool = (const struct o2_fmr_pool *)base;
	uint32_t places[O2_FMR_PLACES] = {0}, used = 0;

	if (at->next == set->nlive) {
		o2_report_fail(at->report, "pools/region/pools", "there are more than %" PRIu32 " live pools",
			       set->nlive);
		return;
	}
	p = &s->fmr_model.pool[set->live[at->next++]];
	for (uint32_t i = 0; i < set->size; i++) {
		const struct o2_pool_element *element = &s->device.element[p->first + i];

		places[pool->fmr[i].place]++;
		used += p->refs[i] > 0;
		if ((element->key != 0) != (p->remaps[i] > 0) ||
		    (p->refs[i] > 0 && element->key != p->key[i]))
			o2_report_fail(at->report, "pools/region/keys",
				       "region %" PRIu32 ": key 0x%" PRIx32 " is alive, expected 0x%" PRIx32,
				       p->first + i, element->key, p->remaps[i] > 0 ? p->key[i] : 0);
	}
	if (places[O2_FMR_FREE] != p->nunused || places[O2_FMR_DIRTY] != p->ndirty ||
	    places[O2_FMR_USED] != used)
		o2_report_fail(at->report, "pools/region/places",
			       "free, dirty, used: %" PRIu32 ", %" PRIu32 ", %" PRIu32 "; expected %" PRIu32
			       ", %" PRIu32 ", %" PRIu32,
			       places[O2_FMR_FREE], places[O2_FMR_DIRTY], places[O2_FMR_USED], p->nunused,
			       p->ndirty, used);
}

void o2_pools_compare_fmr(struct o2_pool_subject *s, struct o2_report *report)
{
	struct comparison at = {.subject = s, .report = report};

	o2_pool_set_visit(&s->fmr.set, compare_pool, &at);
	if (at.next != s->pools.nlive && !report->failed)
		o2_report_fail(report, "pools/region/pools", "%" PRIu32 " live pools, expected %" PRIu32,
			       at.next, s->pools.nlive);
}
