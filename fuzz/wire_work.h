/* SPDX-License-Identifier: MIT */
#ifndef O2_FUZZ_WIRE_WORK_H
#define O2_FUZZ_WIRE_WORK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fuzz/wire_mutator.h"

/*
 * The mutator's state for one input: its bytes, its random numbers, and access to its fields and descriptor.
 * Source: docs/wire.md, "Byte order" and "Descriptor".
 */

/* Every function keeps size at most max. */
struct o2_work {
	enum o2_wire_shape shape;
	uint8_t *data;
	size_t size;
	size_t max;
	uint64_t random; /* state of the random numbers */
	bool big;	 /* the sender's order is big-endian */
	bool keep_nob;	 /* the nob field was changed on purpose: leave it */
};

/* The next random number, all bits usable: splitmix64. */
uint64_t o2_work_draw(struct o2_work *w);

/* A random number 0 to n - 1; 0 if n is 0.  n must be small. */
size_t o2_work_below(struct o2_work *w, size_t n);

bool o2_work_once_in(struct o2_work *w, size_t n);

/* Read and write a number of 1 to 8 bytes. */
uint64_t o2_work_get(const uint8_t *at, size_t width, bool big);
void o2_work_put(uint8_t *at, size_t width, bool big, uint64_t value);

/* Resize the input to `size`, at most max.  New bytes are zeros, or occasionally noise. */
void o2_work_resize(struct o2_work *w, size_t size);

/* The type of the message; 0: it has none. */
uint8_t o2_work_type(const struct o2_work *w);

/* True if the input has a descriptor with key and count; *start is its offset. */
bool o2_work_find_desc(const struct o2_work *w, size_t *start);

/* Number of fragments present, whatever the count says. */
size_t o2_work_frags(const struct o2_work *w, size_t start);

/* The first byte of fragment `index`. */
uint8_t *o2_work_frag(const struct o2_work *w, size_t start, size_t index);

/* Find the byte order: from the magic of a message; for a descriptor, the order that makes its count small. */
void o2_work_find_order(struct o2_work *w);

#endif
