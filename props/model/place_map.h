/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_PLACE_MAP_H
#define O2_PROPS_PLACE_MAP_H

#include <stdint.h>

#include "base/limits.h"
#include "props/engine/report.h"

/*
 * Where each byte of a stream lies, as runs.  A place is any number that tells bytes apart: a device address,
 * or page and offset (O2_PLACE); it counts modulo 2^64 as addresses do.
 */

/* Gather entries of the largest plan: no stage makes more runs than this. */
#define O2_PLACE_MAX_RUNS (O2_MAX_FRAGS * O2_MAX_WRQ_SGE)

#define O2_PLACE(page, offset) ((uint64_t)(page) << 32 | (offset))

/* Byte `start` of the stream lies at `place`, the bytes after it at the places after it. */
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

/* Append `length` bytes that start at `place`; 0 appends nothing.  There has to be room. */
void o2_place_add(struct o2_place_map *map, uint64_t place, uint64_t length);

/* The stream byte after the last of run `index`. */
uint64_t o2_place_end(const struct o2_place_map *map, uint32_t index);

/*
 * Fail *report unless every byte has the same place in both.  Between two neighbouring starts of runs (of
 * either map) both maps are straight lines, so one look per stretch is as good as a look at every byte.
 */
void o2_place_compare(const struct o2_place_map *found, const struct o2_place_map *expected,
		      const char *signature, struct o2_report *report);

#endif
