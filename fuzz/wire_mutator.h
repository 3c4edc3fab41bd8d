/* SPDX-License-Identifier: MIT */
#ifndef O2_FUZZ_WIRE_MUTATOR_H
#define O2_FUZZ_WIRE_MUTATOR_H

#include <stddef.h>
#include <stdint.h>

/*
 * A mutator that knows the wire format: one source for libFuzzer and AFL++.
 * Source: docs/fuzzing.md, "The mutator"; the format is that of docs/wire.md.
 *
 * It uses only the codec's names of offsets (wire/layout.h).  Lengths and checksums are computed here, so that a
 * mistake in the codec is not repeated in its input.
 */

/* The form of a target's input. */
enum o2_wire_shape {
	O2_WIRE_SHAPE_MESSAGE,	  /* header and body */
	O2_WIRE_SHAPE_DESCRIPTOR, /* only key, count and fragments */
};

/* An engine's own byte mutator: changes data in place and returns the new size, at most max_size. */
typedef size_t o2_byte_mutator(uint8_t *data, size_t size, size_t max_size);

/*
 * Mutate data in place: size bytes of at most max_size.  The result is a function of the arguments, if mutate_bytes
 * is deterministic.  Returns the new size, 1 to max_size.
 */
size_t o2_wire_mutate(enum o2_wire_shape shape, uint8_t *data, size_t size, size_t max_size, uint32_t seed,
		      o2_byte_mutator *mutate_bytes);

/*
 * Write a message that combines both inputs to out: the header of one with the body of the other, or the message of
 * one with the other's fragments.  out has max_size bytes and overlaps neither.  Returns the size.
 */
size_t o2_wire_cross(enum o2_wire_shape shape, const uint8_t *one, size_t one_size, const uint8_t *other,
		     size_t other_size, uint8_t *out, size_t max_size, uint32_t seed);

#endif
