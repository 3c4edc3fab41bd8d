/* SPDX-License-Identifier: MIT */
#include "props/pattern/pattern.h"

#include <string.h>

#define DECODE_BYTES 15u /* this many bytes hold a whole word at any alignment */
#define CHUNK_BYTES  4096u

size_t o2_pattern_follow(const uint8_t *bytes, size_t n, uint64_t seed, const struct o2_origin_range *ranges,
			 size_t n_ranges, struct o2_origin origin)
{
	uint64_t longest = 0;

	for (size_t i = 0; i < n_ranges; i++) {
		const struct o2_origin_range *range = &ranges[i];
		const uint64_t skip = origin.offset_bytes - range->from.offset_bytes;

		if (range->from.kind == origin.kind && (range->from.id & O2_FILL_MAX_ID) == origin.id &&
		    origin.offset_bytes >= range->from.offset_bytes && skip < range->length_bytes &&
		    range->length_bytes - skip > longest)
			longest = range->length_bytes - skip;
	}
	return longest == 0 ? 0 : o2_fill_match(bytes, longest < n ? (size_t)longest : n, seed, origin);
}

size_t o2_pattern_decode(const uint8_t *bytes, size_t n, uint64_t seed, const struct o2_origin_range *ranges,
			 size_t n_ranges, struct o2_origin *best)
{
	struct o2_origin origin;
	size_t longest = 0;

	for (size_t shift = 0; shift < 8 && shift + 8 <= n; shift++) {
		size_t length;

		if (!o2_fill_decode(bytes + shift, seed, &origin) || origin.offset_bytes < shift)
			continue;
		origin.offset_bytes -= shift;
		length = o2_pattern_follow(bytes, n, seed, ranges, n_ranges, origin);
		if (length >= shift + 8 && length > longest) {
			longest = length;
			*best = origin;
		}
	}
	return longest;
}

static uint64_t distance(uint64_t a, uint64_t b)
{
	return a < b ? b - a : a - b;
}

/* Is a nearer to near than b is? */
static bool nearer(const struct o2_origin *a, const struct o2_origin *b, const struct o2_origin *near)
{
	const bool a_same = a->kind == near->kind && a->id == near->id;
	const bool b_same = b->kind == near->kind && b->id == near->id;

	if (a_same != b_same)
		return a_same;
	return distance(a->offset_bytes, near->offset_bytes) < distance(b->offset_bytes, near->offset_bytes);
}

/* Count the matching places in one range, starting from `matches`. */
static size_t search_range(const uint8_t *bytes, size_t n, uint64_t seed, const struct o2_origin_range *range,
			   const struct o2_origin *near, size_t matches, struct o2_origin *found)
{
	uint8_t chunk[CHUNK_BYTES + DECODE_BYTES];
	struct o2_origin at = {.kind = range->from.kind, .id = range->from.id & O2_FILL_MAX_ID};

	for (uint64_t done = 0; done + n <= range->length_bytes; done += CHUNK_BYTES) {
		const uint64_t left = range->length_bytes - done;
		const size_t part = left < CHUNK_BYTES + n - 1 ? (size_t)left : CHUNK_BYTES + n - 1;
		const uint8_t *hit = chunk;

		at.offset_bytes = range->from.offset_bytes + done;
		o2_fill(chunk, part, seed, at);
		while ((hit = memmem(hit, (size_t)(chunk + part - hit), bytes, n)) != NULL) {
			at.offset_bytes = range->from.offset_bytes + done + (uint64_t)(hit - chunk);
			if (matches == 0 || (near != NULL && nearer(&at, found, near)))
				*found = at;
			matches += matches < O2_FIND_MAX_MATCHES;
			hit++;
		}
	}
	return matches;
}

/* True if all bytes have the same parity, as in any single range. */
static bool one_parity(const uint8_t *bytes, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		if (__builtin_parity(bytes[i]) != __builtin_parity(bytes[0]))
			return false;
	}
	return true;
}

size_t o2_pattern_find(const uint8_t *bytes, size_t n, uint64_t seed, const struct o2_origin_range *ranges,
		       size_t n_ranges, const struct o2_origin *near, struct o2_origin *found)
{
	struct o2_origin origin = {0};
	size_t matches = 0;

	if (n == 0 || !one_parity(bytes, n))
		return 0;
	if (o2_pattern_decode(bytes, n, seed, ranges, n_ranges, &origin) == n) {
		*found = origin;
		return 1;
	}
	if (n >= DECODE_BYTES)
		return 0;
	for (size_t i = 0; i < n_ranges; i++) {
		const enum o2_fill_kind kind = ranges[i].from.kind;
		const int odd = kind == O2_FILL_POISON || kind == O2_FILL_RED;

		if (odd == __builtin_parity(bytes[0]))
			matches = search_range(bytes, n, seed, &ranges[i], near, matches, found);
	}
	return matches;
}
