/* SPDX-License-Identifier: MIT */
/*
 * The mutator of messages for AFL++: a shared object that AFL_CUSTOM_MUTATOR_LIBRARY names.  AFL++ also keeps
 * mutating bytes by itself.  O2_WIRE_SHAPE defines the form of the target's input (fuzz/CMakeLists.txt).
 */
#include <stdlib.h>
#include <string.h>

#include "fuzz/wire_mutator.h"

/* Longer than any wire target's max_len (fuzz/targets.txt). */
#define MAX_BYTES 65536u

/* One input in this many is a combination of two. */
#define CROSS_EVERY 8u

struct mutator {
	uint32_t calls;
	uint32_t seed;
	uint8_t out[MAX_BYTES];
};

/* Functions that AFL++ looks up; declared here because AFL++ is not included. */
void *afl_custom_init(void *afl, unsigned int seed);
void afl_custom_deinit(void *data);
size_t afl_custom_fuzz(void *data, uint8_t *buf, size_t buf_size, uint8_t **out_buf, uint8_t *add_buf,
		       size_t add_buf_size, size_t max_size);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);

/* State of the byte mutator: AFL++ runs one mutator in a process. */
static uint32_t noise = 1;

static uint32_t next_noise(void)
{
	noise = noise * 1664525u + 1013904223u;
	return noise >> 8;
}

/* Has the name of libFuzzer's function: changes, inserts or removes a few bytes. */
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size)
{
	const size_t at = size == 0 ? 0 : next_noise() % size;
	const size_t run = 1 + next_noise() % 8;

	if (size == 0 || (next_noise() % 4 == 0 && size + run <= max_size)) {
		if (size + run > max_size)
			return size;
		memmove(data + at + run, data + at, size - at);
		for (size_t i = 0; i < run; i++)
			data[at + i] = (uint8_t)next_noise();
		return size + run;
	}
	switch (next_noise() % 4) {
	case 0:
		if (run < size - at) {
			memmove(data + at, data + at + run, size - at - run);
			return size - run;
		}
		break;
	case 1:
		data[at] = (uint8_t)next_noise();
		break;
	case 2:
		data[at] ^= (uint8_t)(1u << next_noise() % 8);
		break;
	default:
		data[at] = (uint8_t)(data[at] + next_noise() % 33 - 16);
		break;
	}
	return size;
}

void *afl_custom_init(void *afl, unsigned int seed)
{
	struct mutator *mutator = calloc(1, sizeof(*mutator));

	(void)afl;
	if (mutator != NULL)
		mutator->seed = seed;
	noise = seed;
	return mutator;
}

void afl_custom_deinit(void *data)
{
	free(data);
}

size_t afl_custom_fuzz(void *data, uint8_t *buf, size_t buf_size, uint8_t **out_buf, uint8_t *add_buf,
		       size_t add_buf_size, size_t max_size)
{
	struct mutator *mutator = data;
	const size_t most = max_size < MAX_BYTES ? max_size : MAX_BYTES;
	const size_t size = buf_size < most ? buf_size : most;
	const uint32_t seed = mutator->seed + mutator->calls++;

	*out_buf = mutator->out;
	if (add_buf != NULL && add_buf_size > 0 && mutator->calls % CROSS_EVERY == 0)
		return o2_wire_cross(O2_WIRE_SHAPE, buf, size, add_buf, add_buf_size, mutator->out, most,
				     seed);
	memcpy(mutator->out, buf, size);
	return o2_wire_mutate(O2_WIRE_SHAPE, mutator->out, size, most, seed, LLVMFuzzerMutate);
}
