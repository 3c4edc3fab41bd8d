/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_PATTERN_H
#define O2_PROPS_PATTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The data pattern that can be decoded (docs/properties.md, "The data pattern").
 *
 * Every byte that o2_fill writes (source data, poison in a sink, a red zone) is a function of (seed, kind,
 * id, offset).  Each 8-byte word at an 8-byte-aligned offset is an invertible mix of (kind, id, offset / 8),
 * so a word found anywhere reveals its origin.  Bytes of data have even parity, bytes of poison and red zones
 * odd parity: a single byte that was not written is always detected, and poison never equals data at any
 * place.
 */

enum o2_fill_kind {
	O2_FILL_DATA = 0, /* source data; id: buffer, offset: in the buffer */
	O2_FILL_PAGE,	  /* source data by page, so that lists may alias; id: page, offset: in the page */
	O2_FILL_POISON,	  /* a sink before the transfer; id: number of the transfer, offset: in the arena */
	O2_FILL_RED,	  /* must never change; id and offset: any numbering of the red bytes */
};

#define O2_FILL_MAX_ID	   ((1u << 24) - 1) /* ids are reduced modulo this plus 1 */
#define O2_FILL_MAX_OFFSET ((UINT64_C(1) << 33) - 1)

/* The origin of bytes. */
struct o2_origin {
	enum o2_fill_kind kind;
	uint32_t id;
	uint64_t offset_bytes;
};

/* A range that bytes may come from: a source buffer, a page, the poison of a transfer. */
struct o2_origin_range {
	struct o2_origin from;
	uint64_t length_bytes;
};

/*
 * Write the n bytes that belong at origin .. origin + n - 1.  Any sub-range of a range gets the same bytes.
 * offset + n <= O2_FILL_MAX_OFFSET + 1.
 */
void o2_fill(uint8_t *dst, size_t n, uint64_t seed, struct o2_origin origin);

/* The same for data of this buffer. */
void o2_pattern_fill(uint8_t *dst, size_t n, uint64_t seed, uint32_t buffer, uint64_t offset);

/* How many of the n bytes at actual match the pattern from origin on, before the first mismatch. */
size_t o2_fill_match(const uint8_t *actual, size_t n, uint64_t seed, struct o2_origin origin);

/*
 * Decode 8 bytes that were written at an 8-byte-aligned offset.  False if they cannot be from this pattern
 * (mixed parity).  About one random word in 256 passes this check and decodes to a random origin, so compare
 * the result with the possible origins.
 */
bool o2_fill_decode(const uint8_t word[8], uint64_t seed, struct o2_origin *origin);

/* How many of n bytes match from origin on, within the longest range that holds origin. */
size_t o2_pattern_follow(const uint8_t *bytes, size_t n, uint64_t seed, const struct o2_origin_range *ranges,
			 size_t n_ranges, struct o2_origin origin);

/*
 * Find the origin in the ranges that explains the longest prefix of n bytes, by decoding the first whole word
 * under each of its eight alignments.  Returns the number of bytes explained; 0: no origin was found.
 */
size_t o2_pattern_decode(const uint8_t *bytes, size_t n, uint64_t seed, const struct o2_origin_range *ranges,
			 size_t n_ranges, struct o2_origin *best);

/*
 * Find n bytes among the ranges.  Returns the number of places that hold them (0 = none; counted up to
 * O2_FIND_MAX_MATCHES).  *found is the place nearest to *near if that is given (same kind and id first, then
 * distance), else the first.  15 or more bytes always hold a whole word and are decoded; fewer bytes, if
 * decoding gives no result, are searched for in all ranges (about a millisecond for 2 MiB).
 */
#define O2_FIND_MAX_MATCHES 1000u
size_t o2_pattern_find(const uint8_t *bytes, size_t n, uint64_t seed, const struct o2_origin_range *ranges,
		       size_t n_ranges, const struct o2_origin *near, struct o2_origin *found);

/*
 * One range of memory to be checked: what it must hold now, and what it held before the transfer.  For a sink
 * fragment, expected is the source data that should have arrived; for the rest of a sink, which must stay
 * unchanged, it is the poison itself; for a red zone, its red bytes.
 */
struct o2_expect {
	const uint8_t *actual;
	size_t length_bytes;
	struct o2_origin expected;
	struct o2_origin before;
};

/* Explanation of wrong bytes. */
enum o2_found {
	O2_FOUND_BEFORE = 0, /* what was there before the transfer: never written */
	O2_FOUND_ORIGIN,  /* bytes of `origin`: data from elsewhere (moved), old poison (stale), red bytes */
	O2_FOUND_ZERO,	  /* zeros */
	O2_FOUND_BIT,	  /* one byte that differs in one bit: see got and want */
	O2_FOUND_UNKNOWN, /* bytes that the harness never wrote */
};

/*
 * A maximal run of wrong bytes with one explanation.  It may include a few bytes that are right by chance
 * (one in 128 is).
 */
struct o2_diff_run {
	size_t expect_index;   /* index of the o2_expect */
	uint64_t offset_bytes; /* offset in the o2_expect */
	uint64_t length_bytes;
	enum o2_found found;
	struct o2_origin expected; /* of the first byte of the run */
	struct o2_origin origin;   /* ORIGIN: origin of the first byte */
	size_t matches; /* ORIGIN: places that hold these bytes; if above 1, origin is the nearest, a guess */
	uint8_t got;	/* the first byte: got was found, want was expected */
	uint8_t want;
};

/*
 * Compare memory with what it must hold.
 *
 * ranges: possible origins of wrong bytes: every source buffer or page, and the poison and red zones of this
 * and earlier transfers.  runs: at most max_runs are stored, in the order of expect.  Returns the total
 * number of runs: 0 = all bytes are right.
 */
size_t o2_pattern_diff(const struct o2_expect *expect, size_t n_expect, uint64_t seed,
		       const struct o2_origin_range *ranges, size_t n_ranges, struct o2_diff_run *runs,
		       size_t max_runs);

/* True if all bytes are right: the fast path, without explanations. */
bool o2_pattern_equal(const struct o2_expect *expect, size_t n_expect, uint64_t seed);

#endif
