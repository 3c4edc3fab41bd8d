/* SPDX-License-Identifier: MIT */
#ifndef O2_FUZZ_COMMON_H
#define O2_FUZZ_COMMON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/limits.h"
#include "props/choice.h"

/*
 * What the fuzz targets share: the entry point's prototype, decoding, the byte map that serves as oracle, and
 * the one way to report a violation.  Source: docs/fuzzing.md, "How a target is written".
 *
 * All of it keeps its state in statics that are set anew for each input: nothing of one input may be seen by
 * the next, or a finding does not replay.
 */

/* What every engine calls.  Returns 0; a violation aborts. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Print "o2ref fuzz: " and one line of what is wrong to stderr, then abort(). */
_Noreturn void o2_fuzz_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The choice sequence that reads this input.  One at a time; data must outlive its use. */
struct o2_choice *o2_fuzz_choice(const uint8_t *data, size_t size);

/* --- the byte map: which place byte k of a stream has
 * ------------------------------------------------------------ */

/*
 * Gather entries of the largest plan: more runs than this no stage may produce.  One more run is refused with
 * a violation, not dropped.
 */
#define O2_FUZZ_MAX_RUNS (O2_MAX_FRAGS * O2_MAX_WRQ_SGE)

/* Byte `start` of the stream lies at `place`, the bytes after it at the places after it. */
struct o2_fuzz_run {
	uint64_t start;
	uint64_t place;
};

/*
 * A stream of `nob` bytes as runs.  A place is any number that tells bytes apart: a device address, or page
 * and offset as (page << 32 | offset); it counts modulo 2^64 as addresses do.
 */
struct o2_fuzz_map {
	uint32_t count;
	uint64_t nob;
	struct o2_fuzz_run run[O2_FUZZ_MAX_RUNS];
};

void o2_fuzz_map_clear(struct o2_fuzz_map *map);

/* Append `length` bytes that start at `place`; 0 appends nothing. */
void o2_fuzz_map_add(struct o2_fuzz_map *map, uint64_t place, uint64_t length);

/* The stream byte after the last of run `index`. */
uint64_t o2_fuzz_map_end(const struct o2_fuzz_map *map, uint32_t index);

/*
 * Fail unless every byte has the same place in both.  Between two neighbouring starts of runs (of either map)
 * both maps are straight lines, so one look per stretch is as good as a look at every byte.
 */
void o2_fuzz_map_check_equal(const struct o2_fuzz_map *found, const struct o2_fuzz_map *expected,
			     const char *what);

/* --- the verdict: which refusals would be right
 * ------------------------------------------------------------------ */

/* The errno values of all rules that an input breaks; a stage may refuse for any one of them. */
struct o2_fuzz_refusals {
	uint32_t count;
	int code[8]; /* negative errno */
};

void o2_fuzz_expect(struct o2_fuzz_refusals *refusals, int code);

/*
 * Fail unless rc is 0 exactly when nothing is to be refused, and else one of the expected codes with *error
 * filled in as base/error.h promises.  Returns true if the input was accepted.
 */
bool o2_fuzz_check_verdict(int rc, const struct o2_error *error, const struct o2_fuzz_refusals *refusals);

#endif
