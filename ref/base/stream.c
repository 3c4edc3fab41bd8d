/* SPDX-License-Identifier: MIT */
#include "base/stream.h"

#include "base/mix.h"

#define WORD_BYTES 8u
#define WORDS_MAX  (UINT64_C(1) << 30)

/* Where a stream is being read. */
struct cursor {
	uint64_t key, offset, word;
};

/* Neighbouring seeds and neighbouring streams must have nothing in common. */
static uint64_t key_of(uint64_t seed, uint64_t stream)
{
	return o2_mix64(o2_mix64(seed + O2_MIX_STEP) + ~stream * O2_MIX_STEP);
}

static struct cursor start(uint64_t seed, uint64_t stream, uint64_t offset)
{
	struct cursor cursor = {.key = key_of(seed, stream), .offset = offset};

	cursor.word = o2_mix64(cursor.key + offset / WORD_BYTES * O2_MIX_STEP);
	return cursor;
}

static uint8_t next(struct cursor *cursor)
{
	const uint8_t byte = (uint8_t)(cursor->word >> cursor->offset % WORD_BYTES * 8);

	cursor->offset++;
	if (cursor->offset % WORD_BYTES == 0)
		cursor->word = o2_mix64(cursor->key + cursor->offset / WORD_BYTES * O2_MIX_STEP);
	return byte;
}

void o2_stream_fill(uint8_t *bytes, size_t n, uint64_t seed, uint64_t stream, uint64_t offset)
{
	struct cursor cursor = start(seed, stream, offset);

	for (size_t i = 0; i < n; i++)
		bytes[i] = next(&cursor);
}

size_t o2_stream_match(const uint8_t *bytes, size_t n, uint64_t seed, uint64_t stream, uint64_t offset)
{
	struct cursor cursor = start(seed, stream, offset);
	size_t i = 0;

	while (i < n && bytes[i] == next(&cursor))
		i++;
	return i;
}

bool o2_stream_find(const uint8_t *bytes, size_t n, uint64_t seed, uint64_t stream, uint64_t *offset)
{
	const uint64_t key = key_of(seed, stream);

	if (n < O2_STREAM_FIND_BYTES)
		return false;
	for (unsigned int skip = 0; skip < WORD_BYTES; skip++) {
		uint64_t word = 0;

		for (unsigned int i = 0; i < WORD_BYTES; i++)
			word |= (uint64_t)bytes[skip + i] << 8 * i;
		word = (o2_unmix64(word) - key) * O2_MIX_STEP_INVERSE;
		if (word >= WORDS_MAX || word * WORD_BYTES < skip)
			continue;
		*offset = word * WORD_BYTES - skip;
		if (o2_stream_match(bytes, n, seed, stream, *offset) == n)
			return true;
	}
	return false;
}
