/* SPDX-License-Identifier: MIT */
#ifndef O2_ORACLE_STREAM_H
#define O2_ORACLE_STREAM_H

#include <stdbool.h>
#include <stdint.h>

#include "mem/dma_map.h"
#include "mem/sg_build.h"
#include "reg/plan.h"

/*
 * A stream of bytes as the places where they lie, in order: what two lists have in common that cut the same
 * bytes differently.  A place is any number that tells bytes apart: a device address, or a page and an
 * offset; it counts modulo 2^64, as addresses do.
 */

struct o2_stream_run {
	uint64_t start; /* byte of the stream */
	uint64_t place; /* of that byte; those after it lie at the places after it */
};

#define O2_STREAM_RUNS (O2_MAX_FRAGS * O2_MAX_WRQ_SGE + O2_MAX_FRAGS)

struct o2_stream {
	uint32_t count;
	uint64_t nob;
	struct o2_stream_run run[O2_STREAM_RUNS];
};

void o2_stream_clear(struct o2_stream *stream);

/* Append length bytes from place on; false when there is no room.  Runs that join up become one. */
bool o2_stream_add(struct o2_stream *stream, uint64_t place, uint64_t length);

/* The place of a byte of the stream. */
uint64_t o2_stream_place(const struct o2_stream *stream, uint64_t byte);

/*
 * The first byte that is not at the same place in both; the shorter one's length when they are the same as
 * far as it goes.  False when they are equal.
 */
bool o2_stream_differ(const struct o2_stream *a, const struct o2_stream *b, uint64_t *byte);

/* Page and offset as a place. */
static inline uint64_t o2_stream_page(uint32_t page, uint32_t offset)
{
	return (uint64_t)page << 32 | offset;
}

/* The bytes of lists. */
void o2_stream_of_list(const struct o2_sg_list *list, struct o2_stream *stream);
void o2_stream_of_segments(const struct o2_dma_list *list, struct o2_stream *stream);

/*
 * Append length bytes from address addr of a plan's region on, as the device addresses (mode user: virtual
 * ones) that they are.  False when one of them lies outside of the region, or there is no room; *bad: the
 * first such address.
 */
bool o2_stream_of_region(const struct o2_reg_plan *plan, uint64_t addr, uint64_t length,
			 struct o2_stream *stream, uint64_t *bad);

#endif
