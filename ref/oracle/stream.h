/* SPDX-License-Identifier: MIT */
#ifndef O2_ORACLE_STREAM_H
#define O2_ORACLE_STREAM_H

#include <stdbool.h>
#include <stdint.h>

#include "mem/dma_map.h"
#include "mem/sg_build.h"
#include "reg/plan.h"

/*
 * A stream is the sequence of places in memory of the bytes of a list.  Two lists that divide the same bytes
 * differently have the same stream.  A place is a number that identifies a byte: a device address, or a page
 * and an offset.  Places count modulo 2^64, as addresses do.
 */

struct o2_stream_run {
	uint64_t start; /* index of the run's first byte in the stream */
	uint64_t place; /* place of that byte; the following bytes lie at the following places */
};

#define O2_STREAM_RUNS (O2_MAX_FRAGS * O2_MAX_WRQ_SGE + O2_MAX_FRAGS)

struct o2_stream {
	uint32_t count;
	uint64_t nob;
	struct o2_stream_run run[O2_STREAM_RUNS];
};

void o2_stream_clear(struct o2_stream *stream);

/* Append length bytes that start at `place`; false if there is no room.  Adjacent runs are merged. */
bool o2_stream_add(struct o2_stream *stream, uint64_t place, uint64_t length);

/* The place of a byte of the stream. */
uint64_t o2_stream_place(const struct o2_stream *stream, uint64_t byte);

/*
 * Find the first byte whose places differ.  If one stream is a prefix of the other, *byte is the length of
 * the shorter one.  Returns false if the streams are equal.
 */
bool o2_stream_differ(const struct o2_stream *a, const struct o2_stream *b, uint64_t *byte);

/* Page and offset as a place. */
static inline uint64_t o2_stream_page(uint32_t page, uint32_t offset)
{
	return (uint64_t)page << 32 | offset;
}

/* Make the stream of a scatter list, or of a list of segments. */
void o2_stream_of_list(const struct o2_sg_list *list, struct o2_stream *stream);
void o2_stream_of_segments(const struct o2_dma_list *list, struct o2_stream *stream);

/*
 * Append the places of length bytes that start at address addr of a plan's region.  The places are device
 * addresses; in mode user, virtual addresses.  Returns false if a byte lies outside of the region or there is
 * no room; *bad: the first such address.
 */
bool o2_stream_of_region(const struct o2_reg_plan *plan, uint64_t addr, uint64_t length,
			 struct o2_stream *stream, uint64_t *bad);

#endif
