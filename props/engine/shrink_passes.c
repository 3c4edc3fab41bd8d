/* SPDX-License-Identifier: MIT */
#include "props/engine/shrink_internal.h"

#include <string.h>

#define NO_DRAW UINT32_MAX

/* How many draws before a deleted stretch are tried as its element count. */
#define COUNT_CANDIDATES 3u

/* The largest distance of two draws that are changed together; smaller in long cases, to save calls. */
#define PAIR_WINDOW	 8u
#define PAIR_WINDOW_LONG 3u
#define LONG_CASE_DRAWS	 64u
#define EQUAL_PAIRS	 16u /* equal numbers at a larger distance: partners per draw */

/* Where draw i begins in the record; the end of the record for i = draws. */
static uint32_t draw_begin(const struct o2_choice *c, uint32_t i)
{
	return i < c->draws ? c->draw_begin[i] : c->record_bytes;
}

static uint32_t span_end(const struct o2_choice *c, uint32_t i)
{
	const uint32_t end = c->span[i].end_bytes;

	return end < c->record_bytes ? end : c->record_bytes; /* a span left open ends with the record */
}

/* Set draw i of a candidate whose layout up to draw i is still that of best. */
static void put_value(struct o2_shrinker *s, uint32_t i, uint64_t value)
{
	const uint32_t begin = s->best->draw_begin[i];

	for (uint32_t at = draw_begin(s->best, i + 1); at-- > begin; value >>= 8)
		s->candidate[at] = (uint8_t)value;
}

/* Delete bytes begin..end-1, and lower the draw `count` by `by` (NO_DRAW: none). */
static bool try_delete(struct o2_shrinker *s, uint32_t begin, uint32_t end, uint32_t count, uint64_t by)
{
	o2_shrink_copy_best(s);
	if (count != NO_DRAW) {
		const uint64_t value = o2_choice_value(s->best, count);

		if (value < by)
			return false;
		put_value(s, count, value - by);
	}
	memmove(s->candidate + begin, s->candidate + end, s->candidate_bytes - end);
	s->candidate_bytes -= end - begin;
	return o2_shrink_try(s);
}

/* The number of draws that begin before a byte of the record. */
static uint32_t draws_before(const struct o2_choice *c, uint32_t byte)
{
	uint32_t lo = 0, hi = c->draws;

	while (lo < hi) {
		const uint32_t mid = lo + (hi - lo) / 2;

		if (c->draw_begin[mid] < byte)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* Where the unbroken row of siblings with equal labels that ends with span i begins; their count may stand
 * before it. */
static uint32_t siblings_begin(const struct o2_choice *c, uint32_t i)
{
	const struct o2_choice_span *span = &c->span[i];
	uint32_t begin = span->begin_bytes;

	while (i-- > 0 && c->span[i].depth >= span->depth) {
		if (c->span[i].depth != span->depth)
			continue; /* inside a sibling */
		if (c->span[i].label != span->label || c->span[i].end_bytes != begin)
			break;
		begin = c->span[i].begin_bytes;
	}
	return begin;
}

static bool delete_span(struct o2_shrinker *s, uint32_t i)
{
	const uint32_t begin = s->best->span[i].begin_bytes, end = span_end(s->best, i);
	uint32_t count;

	if (begin >= end)
		return false;
	if (try_delete(s, begin, end, NO_DRAW, 0))
		return true;
	count = draws_before(s->best, siblings_begin(s->best, i));
	for (uint32_t k = 0; k < COUNT_CANDIDATES && count-- > 0; k++) {
		if (try_delete(s, begin, end, count, 1))
			return true;
	}
	return false;
}

/* Delete whole spans, outermost first and from the end, where fewest draws depend on them. */
static bool pass_delete_spans(struct o2_shrinker *s)
{
	bool progress = false;

	for (uint16_t depth = 0; depth < O2_CHOICE_MAX_DEPTH; depth++) {
		bool found = false;

		for (uint32_t i = s->best->spans; i-- > 0;) {
			if (i >= s->best->spans)
				continue; /* the case has become shorter */
			if (s->best->span[i].depth != depth)
				continue;
			found = true;
			progress |= delete_span(s, i);
		}
		if (!found)
			break;
	}
	return progress;
}

/* The greatest power of two that is at most n (n > 0). */
static uint64_t floor_power(uint64_t n)
{
	return UINT64_C(1) << (63 - __builtin_clzll(n));
}

static uint32_t longest_chunk(const struct o2_shrinker *s)
{
	return s->best->draws == 0 ? 0 : (uint32_t)floor_power(s->best->draws);
}

static bool delete_chunk(struct o2_shrinker *s, uint32_t i, uint32_t k)
{
	const uint32_t begin = draw_begin(s->best, i), end = draw_begin(s->best, i + k);

	if (try_delete(s, begin, end, NO_DRAW, 0))
		return true;
	if (i == 0)
		return false;
	return try_delete(s, begin, end, i - 1, k) || (k > 1 && try_delete(s, begin, end, i - 1, 1));
}

/* Delete runs of k draws, long ones first; also with the number before them lowered, which may be their count. */
static bool pass_delete_chunks(struct o2_shrinker *s)
{
	bool progress = false;

	for (uint32_t k = longest_chunk(s); k > 0; k /= 2) {
		for (uint32_t i = s->best->draws; i-- > 0;) {
			if (i + k <= s->best->draws)
				progress |= delete_chunk(s, i, k);
		}
	}
	return progress;
}

static bool try_zero(struct o2_shrinker *s, uint32_t begin, uint32_t end)
{
	o2_shrink_copy_best(s);
	memset(s->candidate + begin, 0, end - begin);
	return o2_shrink_try(s);
}

static bool pass_zero(struct o2_shrinker *s)
{
	bool progress = false;

	for (uint32_t i = 0; i < s->best->spans; i++) {
		if (s->best->span[i].begin_bytes < span_end(s->best, i))
			progress |= try_zero(s, s->best->span[i].begin_bytes, span_end(s->best, i));
	}
	for (uint32_t k = longest_chunk(s); k > 1; k /= 2) {
		for (uint32_t i = 0; i + k <= s->best->draws; i += k)
			progress |= try_zero(s, draw_begin(s->best, i), draw_begin(s->best, i + k));
	}
	return progress;
}

/* Lower draw i by k; and a later draw j by k too (lower_both) or raise it by k. */
static bool try_move(struct o2_shrinker *s, uint32_t i, uint32_t j, bool lower_both, uint64_t k)
{
	o2_shrink_copy_best(s);
	put_value(s, i, o2_choice_value(s->best, i) - k);
	if (j != NO_DRAW)
		put_value(s, j, o2_choice_value(s->best, j) + (lower_both ? -k : k));
	return o2_shrink_try(s);
}

/* The longest step that try_move can take from best; 0 if none. */
static uint64_t longest_move(const struct o2_shrinker *s, uint32_t i, uint32_t j, bool lower_both)
{
	const struct o2_choice *c = s->best;
	uint64_t value, limit;

	if (i >= c->draws || (j != NO_DRAW && j >= c->draws))
		return 0;
	value = o2_choice_value(c, i);
	if (j == NO_DRAW)
		return value;
	limit = lower_both ? o2_choice_value(c, j) : c->draw_max[j] - o2_choice_value(c, j);
	return value < limit ? value : limit;
}

/*
 * Lower as far as the case still fails: first all the way, then by powers of two, large ones first.  This is
 * a binary search where the failure is monotone, and keeps numbers aligned where the failure needs that.
 */
static bool descend(struct o2_shrinker *s, uint32_t i, uint32_t j, bool lower_both)
{
	uint64_t longest = longest_move(s, i, j, lower_both), k;
	bool progress = false;

	if (longest == 0)
		return false;
	if (try_move(s, i, j, lower_both, longest)) {
		progress = true;
		longest = longest_move(s, i, j, lower_both);
	}
	k = longest == 0 ? 0 : floor_power(longest);
	while (k > 0 && !s->report.out_of_calls) {
		if (k <= longest_move(s, i, j, lower_both) && try_move(s, i, j, lower_both, k))
			progress = true;
		else
			k /= 2;
	}
	return progress;
}

static bool pass_lower(struct o2_shrinker *s)
{
	bool progress = false;

	for (uint32_t i = 0; i < s->best->draws; i++)
		progress |= descend(s, i, NO_DRAW, false);
	return progress;
}

static uint32_t pair_window(const struct o2_shrinker *s)
{
	return s->best->draws <= LONG_CASE_DRAWS ? PAIR_WINDOW : PAIR_WINDOW_LONG;
}

/* Are draws i and j probably of one kind, with equal bounds? */
static bool alike(const struct o2_choice *c, uint32_t i, uint32_t j)
{
	return i < c->draws && j < c->draws && c->draw_max[i] == c->draw_max[j];
}

static bool try_swap_draws(struct o2_shrinker *s, uint32_t i, uint32_t j)
{
	const uint64_t first = o2_choice_value(s->best, i), second = o2_choice_value(s->best, j);

	if (first <= second)
		return false;
	o2_shrink_copy_best(s);
	put_value(s, i, second);
	put_value(s, j, first);
	return o2_shrink_try(s);
}

/* Exchange span i and the sibling with the same label right after it. */
static bool try_swap_spans(struct o2_shrinker *s, uint32_t i)
{
	const struct o2_choice *c = s->best;
	const uint32_t begin = c->span[i].begin_bytes, middle = span_end(c, i);
	uint32_t j = i + 1, end;

	while (j < c->spans && c->span[j].depth > c->span[i].depth)
		j++;
	if (j == c->spans || c->span[j].depth != c->span[i].depth || c->span[j].label != c->span[i].label ||
	    c->span[j].begin_bytes != middle)
		return false;
	end = span_end(c, j);
	o2_shrink_copy_best(s);
	memcpy(s->candidate + begin, c->record + middle, end - middle);
	memcpy(s->candidate + begin + (end - middle), c->record + begin, middle - begin);
	return o2_shrink_try(s);
}

/* Move smaller numbers and smaller elements to the front. */
static bool pass_sort(struct o2_shrinker *s)
{
	bool progress = false;

	for (uint32_t i = 0; i < s->best->spans; i++)
		progress |= try_swap_spans(s, i);
	for (uint32_t i = 0; i < s->best->draws; i++) {
		for (uint32_t j = i + 1; j <= i + pair_window(s); j++)
			progress |= alike(s->best, i, j) && try_swap_draws(s, i, j);
	}
	return progress;
}

/* Lower two numbers together (keeps their difference), or move weight to the later one (keeps their sum). */
static bool pass_pairs(struct o2_shrinker *s)
{
	bool progress = false;

	for (uint32_t i = 0; i < s->best->draws; i++) {
		uint32_t equal = 0;

		for (uint32_t j = i + 1; j < s->best->draws; j++) {
			if (!alike(s->best, i, j) || o2_choice_value(s->best, i) == 0)
				continue;
			if (j <= i + pair_window(s)) {
				progress |= descend(s, i, j, true);
				progress |= descend(s, i, j, false);
			} else if (o2_choice_value(s->best, i) == o2_choice_value(s->best, j) &&
				   equal++ < EQUAL_PAIRS) {
				progress |= descend(s, i, j, true);
			}
		}
	}
	return progress;
}

void o2_shrink_to_rest(struct o2_shrinker *s)
{
	static bool (*const passes[])(struct o2_shrinker *) = {
		pass_delete_spans, pass_delete_chunks, pass_zero, pass_lower, pass_sort, pass_pairs,
	};
	bool progress = true;

	while (progress && !s->report.out_of_calls) {
		progress = false;
		for (size_t i = 0; i < sizeof(passes) / sizeof(passes[0]); i++)
			progress |= passes[i](s);
	}
}
