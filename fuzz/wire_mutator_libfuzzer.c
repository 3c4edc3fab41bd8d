/* SPDX-License-Identifier: MIT */
/*
 * The mutator of messages for libFuzzer.  Linked into a target it replaces the engine's own, which it still
 * calls for some mutations.  O2_WIRE_SHAPE defines the form of the target's input (fuzz/CMakeLists.txt).
 */
#include "fuzz/wire_mutator.h"

/* Functions that libFuzzer provides or looks up; it has no header. */
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed);
size_t LLVMFuzzerCustomCrossOver(const uint8_t *one, size_t one_size, const uint8_t *other, size_t other_size,
				 uint8_t *out, size_t max_size, unsigned int seed);

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed)
{
	return o2_wire_mutate(O2_WIRE_SHAPE, data, size, max_size, seed, LLVMFuzzerMutate);
}

size_t LLVMFuzzerCustomCrossOver(const uint8_t *one, size_t one_size, const uint8_t *other, size_t other_size,
				 uint8_t *out, size_t max_size, unsigned int seed)
{
	return o2_wire_cross(O2_WIRE_SHAPE, one, one_size, other, other_size, out, max_size, seed);
}
