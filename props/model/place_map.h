/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_PLACE_MAP_H
#define O2_PROPS_PLACE_MAP_H

#include <stdint.h>

#include "base/limits.h"
#include "props/engine/report.h"

/*
 * Maps each byte of a stream to the place where it lies, as runs.  A place is any number that identifies a byte: a
 * device address, or page and offset (O2_PLACE).  Places wrap modulo 2^64, as addresses do.
 */

/* Gather entries of the largest plan: no stage produces more runs. */
#define O2_PLACE_MAX_RUNS (O2_MAX_FRAGS * O2_MAX_WRQ_SGE)

#define O2_PLACE(page, offset) ((uint64_t)(page) << 32 | (offset))

/* Byte `start` of the stream lies at `place`; the bytes after it follow contiguously. */
struct o2_place_run {
	uint64_t start;
	uint64_t place;
};

struct o2_place_map {
	uint32_t count;
	uint64_t nob;
	struct o2_place_run run[O2_PLACE_MAX_RUNS];
};

void o2_place_clear(struct o2_place_map *map);

/* Append `length` bytes that start at `place`; 0 appends nothing.  The map must have room for the run. */
void o2_place_add(struct o2_place_map *map, uint64_t place, uint64_t length);

/* The position in the stream just after run `index`. */
uint64_t o2_place_end(const struct o2_place_map *map, uint32_t index);

/*
 * Fail *report unless every byte has the same place in both maps.  Between two neighbouring starts of runs (of
 * either map) both maps are linear, so comparing one byte per stretch compares them all.
 */
void o2_place_compare(const struct o2_place_map *found, const struct o2_place_map *expected,
		      const char *signature, struct o2_report *report);

#endif
