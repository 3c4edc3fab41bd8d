/* SPDX-License-Identifier: MIT */
#include "props/explain/explain.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "props/transfer/transfer_internal.h"

/* Wraps the rung's operations; after the transfer, it copies the sink's memory. */
struct tap {
	struct o2_rung_ops ops; /* must be first: the rung's ops point here */
	const struct o2_rung_ops *inner;
	uint8_t *copy; /* of the sink's arena, after the transfer */
	uint64_t copy_bytes;
	bool copied;
};

static int tapped_transfer(struct o2_rung *rung, const struct o2_scenario *scenario,
			   struct o2_observed *observed, struct o2_error *error)
{
	struct tap *tap = (struct tap *)rung->ops;
	const struct o2_arena *arena = tap->inner->arena(rung, O2_SINK, scenario->sink.kind);
	int rc = tap->inner->transfer(rung, scenario, observed, error);

	memcpy(tap->copy, arena->memory, tap->copy_bytes);
	tap->copied = true;
	return rc;
}

/* Is a place in memory part of a side's transfer, and which byte of it? */
static bool byte_of_place(const struct o2_explain_end *end, uint32_t page, uint64_t offset, uint64_t *byte)
{
	uint64_t at = 0;

	for (uint32_t i = 0; i < end->npieces; i++) {
		const struct o2_extent *piece = &end->piece[i];

		if (piece->page == page && offset >= piece->offset &&
		    offset - piece->offset < piece->length) {
			*byte = at + offset - piece->offset;
			return true;
		}
		at += piece->length;
	}
	return false;
}

void o2_explain_keep_wrong(struct o2_explain *explain, const struct o2_explain_wrong *wrong)
{
	struct o2_explain_wrong *kept;

	explain->nwrong_all++;
	if (explain->nwrong == O2_EXPLAIN_WRONGS)
		return;
	kept = &explain->wrong[explain->nwrong++];
	*kept = *wrong;
	kept->in_buffer =
		wrong->expected.kind == O2_FILL_PAGE &&
		byte_of_place(&explain->end[O2_SINK], wrong->page, wrong->offset, &kept->transfer_byte);
	if (wrong->found == O2_FOUND_ORIGIN && wrong->origin.kind == O2_FILL_PAGE)
		kept->origin_in_buffer = byte_of_place(&explain->end[O2_SOURCE], wrong->origin.id,
						       wrong->origin.offset_bytes, &kept->origin_byte);
}

static void keep_wrong(struct o2_explain *explain, const struct o2_diff_run *run, uint64_t place)
{
	const uint64_t page_bytes = explain->end[O2_SINK].page_bytes;
	const struct o2_explain_wrong wrong = {
		.page = (uint32_t)(place / page_bytes),
		.offset = (uint32_t)(place % page_bytes),
		.length = (uint32_t)run->length_bytes,
		.expected = run->expected,
		.found = run->found,
		.origin = run->origin,
		.got = run->got,
		.want = run->want,
	};

	o2_explain_keep_wrong(explain, &wrong);
}

/* Compare ranges of the copy with the expected bytes; keep every wrong run. */
static void compare(struct o2_explain *explain, const struct tap *tap, const struct o2_expect *expect,
		    uint32_t n)
{
	struct o2_transfer_scratch *s = explain->run.scratch;
	const struct o2_image *source = explain->run.image[O2_SOURCE][explain->end[O2_SOURCE].memory->kind];
	const uint64_t seed = source->page[s->source_page[0]].seed; /* for the case's data and poison */
	struct o2_diff_run *found = explain->found;
	size_t all;

	for (uint32_t i = 0; i < s->nsource_pages; i++)
		s->range[i] = (struct o2_origin_range){
			.from = {.kind = O2_FILL_PAGE, .id = s->source_page[i]},
			.length_bytes = explain->end[O2_SOURCE].page_bytes,
		};
	s->range[s->nsource_pages] = (struct o2_origin_range){
		.from = {.kind = O2_FILL_POISON, .id = explain->run.epoch},
		.length_bytes = tap->copy_bytes,
	};
	all = o2_pattern_diff(expect, n, seed, s->range, s->nsource_pages + 1, found, O2_EXPLAIN_WRONGS);
	for (size_t i = 0; i < all && i < O2_EXPLAIN_WRONGS; i++)
		keep_wrong(explain, &found[i],
			   (uint64_t)(expect[found[i].expect_index].actual - tap->copy) +
				   found[i].offset_bytes);
	explain->nwrong_all += all > O2_EXPLAIN_WRONGS ? all - O2_EXPLAIN_WRONGS : 0;
}

/* Keep a page that no transfer names but that changed, from the first changed byte to the last. */
static void compare_red_page(struct o2_explain *explain, const struct tap *tap, uint32_t page)
{
	const struct o2_image *image = explain->run.image[O2_SINK][explain->end[O2_SINK].memory->kind];
	const struct o2_page_state *state = &image->page[page];
	const uint32_t page_bytes = explain->end[O2_SINK].page_bytes;
	const uint8_t *actual = tap->copy + (uint64_t)page * page_bytes;
	size_t first = o2_fill_match(actual, page_bytes, state->seed, state->origin), last = page_bytes;
	struct o2_expect expect;

	while (last > first) {
		struct o2_origin origin = state->origin;

		origin.offset_bytes += last - 1;
		if (o2_fill_match(actual + last - 1, 1, state->seed, origin) == 0)
			break;
		last--;
	}
	if (first >= last)
		return;
	expect = (struct o2_expect){.actual = actual + first, .length_bytes = last - first};
	/* Red bytes have a seed of their own; with the case's seed, data is told from poison. */
	expect.expected = (struct o2_origin){
		.kind = O2_FILL_POISON,
		.id = explain->run.epoch,
		.offset_bytes = (uint64_t)page * page_bytes + first,
	};
	expect.before = expect.expected;
	compare(explain, tap, &expect, 1);
}

/* Bytes from elsewhere come first: they say more than missing bytes. */
static int by_interest(const void *a, const void *b)
{
	const struct o2_explain_wrong *x = a, *y = b;

	if ((x->found == O2_FOUND_ORIGIN) != (y->found == O2_FOUND_ORIGIN))
		return x->found == O2_FOUND_ORIGIN ? -1 : 1;
	if (x->in_buffer != y->in_buffer)
		return x->in_buffer ? 1 : -1;
	if (x->in_buffer && x->transfer_byte != y->transfer_byte)
		return x->transfer_byte < y->transfer_byte ? -1 : 1;
	if (x->page != y->page)
		return x->page < y->page ? -1 : 1;
	return x->offset < y->offset ? -1 : x->offset > y->offset;
}

static void find_wrong(struct o2_explain *explain, const struct tap *tap)
{
	struct o2_transfer_scratch *s = explain->run.scratch;
	const struct o2_arena *arena = o2_explain_arena(explain, O2_SINK);
	uint8_t named[O2_SCENARIO_PAGES] = {0};

	/* The property has set the expectations, but the memory was cleaned since; compare the copy. */
	for (uint32_t i = 0; i < s->nexpect; i++)
		s->expect[i].actual = tap->copy + (s->expect[i].actual - arena->memory);
	compare(explain, tap, s->expect, s->nexpect);
	for (uint32_t i = 0; i < s->nsink_pages; i++)
		named[s->sink_page[i]] = 1;
	for (uint32_t page = 0; page < O2_SCENARIO_PAGES; page++)
		if (!named[page])
			compare_red_page(explain, tap, page);
	qsort(explain->wrong, explain->nwrong, sizeof(explain->wrong[0]), by_interest);
}

int o2_explain_open(struct o2_explain **explain, struct o2_error *error)
{
	struct o2_explain *made = calloc(1, sizeof(*made));
	struct o2_rung *rung = NULL;
	int rc = made == NULL ? -ENOMEM : o2_rung_open_model(&rung, error);

	if (rc == 0)
		rc = o2_transfer_run_open(rung, &made->run);
	if (rc != 0) {
		if (rung != NULL)
			rung->ops->close(rung);
		free(made);
		return rc;
	}
	made->run.sweep_always = true;
	*explain = made;
	return 0;
}

void o2_explain_close(struct o2_explain *explain)
{
	struct o2_rung *rung = explain->run.rung;

	o2_transfer_run_close(&explain->run);
	rung->ops->close(rung);
	free(explain);
}

int o2_explain_scenario(struct o2_explain *explain)
{
	struct o2_transfer_run *run = &explain->run;
	struct tap tap = {.ops = *run->rung->ops, .inner = run->rung->ops};
	enum o2_status status;

	if (o2_explain_stages(explain) != 0)
		return -EINVAL;
	tap.ops.transfer = tapped_transfer;
	tap.copy_bytes = (uint64_t)O2_SCENARIO_PAGES * explain->end[O2_SINK].page_bytes;
	tap.copy = malloc(tap.copy_bytes);
	if (tap.copy == NULL)
		return -ENOMEM;
	run->rung->ops = &tap.ops;
	status = o2_transfer_scenario(run, &explain->report);
	run->rung->ops = tap.inner;
	explain->held = status == O2_STATUS_VALID;
	if (status == O2_STATUS_INTERESTING && tap.copied)
		find_wrong(explain, &tap);
	free(tap.copy);
	return status == O2_STATUS_VALID || status == O2_STATUS_INTERESTING ? 0 : -EINVAL;
}
