/* SPDX-License-Identifier: MIT */
#include "props/pattern/pattern.h"

#include <string.h>

#define SURE_BYTES   8u /* an explanation of this many bytes is not chance: 1 in 2^56 */
#define SURE_BEFORE  3u /* the same for unchanged bytes, whose place is known */
#define SURE_ZEROS   4u
#define SEARCH_BYTES 4u	 /* fewer bytes than this occur somewhere by chance */
#define SEARCHES     16u /* searches of all ranges, per diff: each takes milliseconds */
#define WINDOW_BYTES 15u /* holds a whole word whatever the alignment */
#define UNKNOWN_STEP 8u	 /* unknown bytes are skipped in small steps: known ones may follow */
#define UNKNOWN_GAP  4u	 /* unknown runs closer than this are one: bytes between are right by chance */

struct differ {
	uint64_t seed;
	const struct o2_origin_range *ranges;
	size_t n_ranges;
	struct o2_diff_run *runs;
	size_t max_runs;
	size_t count;
	size_t searches;
	struct o2_diff_run last;
};

static struct o2_origin at(struct o2_origin origin, uint64_t bytes)
{
	origin.id &= O2_FILL_MAX_ID;
	origin.offset_bytes += bytes;
	return origin;
}

static uint8_t byte_at(uint64_t seed, struct o2_origin origin)
{
	uint8_t byte;

	o2_fill(&byte, 1, seed, origin);
	return byte;
}

/* The number of consecutive wrong bytes from pos on. */
static size_t wrong_bytes(const struct differ *d, const struct o2_expect *e, size_t pos)
{
	size_t n = 0;

	while (pos + n < e->length_bytes && e->actual[pos + n] != byte_at(d->seed, at(e->expected, pos + n)))
		n++;
	return n;
}

static size_t zero_bytes(const uint8_t *bytes, size_t n)
{
	size_t i = 0;

	while (i < n && bytes[i] == 0)
		i++;
	return i;
}

/* Try the explanations that need no search; returns the length of the longest and describes it in *run. */
static size_t explain_cheaply(const struct differ *d, const struct o2_expect *e, size_t pos,
			      struct o2_diff_run *run)
{
	const uint8_t *bytes = e->actual + pos;
	const size_t left = e->length_bytes - pos;
	const size_t zeros = zero_bytes(bytes, left);
	struct o2_origin origin = {0};
	const size_t moved = o2_pattern_decode(bytes, left, d->seed, d->ranges, d->n_ranges, &origin);
	size_t length = o2_fill_match(bytes, left, d->seed, at(e->before, pos));

	run->found = O2_FOUND_BEFORE;
	if (moved > length) {
		length = moved;
		run->found = O2_FOUND_ORIGIN;
		run->origin = origin;
		run->matches = 1;
	}
	if (zeros >= SURE_ZEROS && zeros > length) {
		length = zeros;
		run->found = O2_FOUND_ZERO;
	}
	return length;
}

/* Does the run follow an unknown run closely?  Then it belongs to that run, unless its explanation is certain. */
static bool follows_unknown(const struct differ *d, const struct o2_diff_run *run)
{
	const struct o2_diff_run *last = &d->last;

	return d->count > 0 && last->found == O2_FOUND_UNKNOWN && last->expect_index == run->expect_index &&
	       run->offset_bytes - (last->offset_bytes + last->length_bytes) <= UNKNOWN_GAP;
}

/* Explain a short run: a flipped bit, a search, or unknown.  wrong: number of consecutive wrong bytes. */
static size_t explain_short(struct differ *d, const struct o2_expect *e, size_t pos, size_t wrong,
			    struct o2_diff_run *run)
{
	const uint8_t *bytes = e->actual + pos;
	struct o2_origin origin = {0};

	run->found = O2_FOUND_UNKNOWN;
	if (follows_unknown(d, run))
		return wrong < UNKNOWN_STEP ? wrong : UNKNOWN_STEP;
	if (wrong == 1 && __builtin_popcount(run->got ^ run->want) == 1) {
		run->found = O2_FOUND_BIT;
		return 1;
	}
	if (wrong >= SEARCH_BYTES && wrong < WINDOW_BYTES && d->searches > 0) {
		d->searches--;
		run->matches = o2_pattern_find(bytes, wrong, d->seed, d->ranges, d->n_ranges, &run->expected,
					       &origin);
		if (run->matches > 0) {
			run->found = O2_FOUND_ORIGIN;
			run->origin = origin;
			return o2_pattern_follow(bytes, e->length_bytes - pos, d->seed, d->ranges,
						 d->n_ranges, origin);
		}
	}
	return wrong < UNKNOWN_STEP ? wrong : UNKNOWN_STEP;
}

static void add_run(struct differ *d, const struct o2_diff_run *run)
{
	if (follows_unknown(d, run) && run->found == O2_FOUND_UNKNOWN) {
		d->last.length_bytes = run->offset_bytes + run->length_bytes - d->last.offset_bytes;
	} else {
		d->last = *run;
		d->count++;
	}
	if (d->count <= d->max_runs)
		d->runs[d->count - 1] = d->last;
}

/* Explain the run of wrong bytes at pos; returns its length. */
static size_t explain(struct differ *d, const struct o2_expect *e, size_t index, size_t pos)
{
	struct o2_diff_run run = {
		.expect_index = index,
		.offset_bytes = pos,
		.expected = at(e->expected, pos),
		.got = e->actual[pos],
		.want = byte_at(d->seed, at(e->expected, pos)),
	};
	size_t length = explain_cheaply(d, e, pos, &run);

	if (length < (run.found == O2_FOUND_BEFORE ? SURE_BEFORE : SURE_BYTES)) {
		const size_t wrong = wrong_bytes(d, e, pos);

		if (length < wrong && !(run.found == O2_FOUND_ZERO))
			length = explain_short(d, e, pos, wrong, &run);
	}
	while (length > 1 &&
	       e->actual[pos + length - 1] == byte_at(d->seed, at(e->expected, pos + length - 1)))
		length--; /* leave out last bytes that are right by chance */
	run.length_bytes = length;
	add_run(d, &run);
	return length;
}

size_t o2_pattern_diff(const struct o2_expect *expect, size_t n_expect, uint64_t seed,
		       const struct o2_origin_range *ranges, size_t n_ranges, struct o2_diff_run *runs,
		       size_t max_runs)
{
	struct differ d = {
		.seed = seed,
		.ranges = ranges,
		.n_ranges = n_ranges,
		.runs = runs,
		.max_runs = max_runs,
		.searches = SEARCHES,
	};

	for (size_t i = 0; i < n_expect; i++) {
		const struct o2_expect *e = &expect[i];
		size_t pos = 0;

		for (;;) {
			pos += o2_fill_match(e->actual + pos, e->length_bytes - pos, seed,
					     at(e->expected, pos));
			if (pos == e->length_bytes)
				break;
			pos += explain(&d, e, i, pos);
		}
	}
	return d.count;
}

bool o2_pattern_equal(const struct o2_expect *expect, size_t n_expect, uint64_t seed)
{
	for (size_t i = 0; i < n_expect; i++) {
		const struct o2_expect *e = &expect[i];

		if (o2_fill_match(e->actual, e->length_bytes, seed, e->expected) != e->length_bytes)
			return false;
	}
	return true;
}
