/* SPDX-License-Identifier: MIT */
#ifndef O2_FUZZ_WIRE_WORK_H
#define O2_FUZZ_WIRE_WORK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fuzz/wire_mutator.h"

/*
 * An input that the mutator works on: its bytes, its numbers, and where its descriptor stands.
 * Source: docs/wire.md, "Byte order" and "Descriptor".
 */

/* Every operation leaves size at most max. */
struct o2_work {
	enum o2_wire_shape shape;
	uint8_t *data;
	size_t size;
	size_t max;
	uint64_t random; /* state */
	bool big;	 /* the sender's order */
	bool keep_nob;	 /* set on purpose: not fixed */
};

/* Numbers from the seed, all bits good: the step and the finish of splitmix64. */
uint64_t o2_work_draw(struct o2_work *w);

/* 0 to n - 1; 0 when n is 0.  n is small. */
size_t o2_work_below(struct o2_work *w, size_t n);

bool o2_work_once_in(struct o2_work *w, size_t n);

/* A number of 1 to 8 bytes. */
uint64_t o2_work_get(const uint8_t *at, size_t width, bool big);
void o2_work_put(uint8_t *at, size_t width, bool big, uint64_t value);

/* Make the input this long, or as long as it may be; what is new is zeros, or now and then noise. */
void o2_work_resize(struct o2_work *w, size_t size);

/* A message's type; 0 when there is none. */
uint8_t o2_work_type(const struct o2_work *w);

/* True when there is a descriptor with its key and count; *start is where. */
bool o2_work_find_desc(const struct o2_work *w, size_t *start);

/* Fragments that are there, whatever the count says. */
size_t o2_work_frags(const struct o2_work *w, size_t start);

/* The first byte of a fragment. */
uint8_t *o2_work_frag(const struct o2_work *w, size_t start, size_t index);

/* The order of a message stands in its magic; that of a descriptor is the one that makes its count small. */
void o2_work_find_order(struct o2_work *w);

#endif
