/* SPDX-License-Identifier: MIT */
#include "base/stream.h"

#include <endian.h>
#include <string.h>

#include "base/mix.h"

#define WORD_BYTES 8u
#define WORDS_MAX  (UINT64_C(1) << 30)

/* The position in a stream. */
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

static void next_word(struct cursor *cursor, uint64_t bytes)
{
	cursor->offset += bytes;
	cursor->word = o2_mix64(cursor->key + cursor->offset / WORD_BYTES * O2_MIX_STEP);
}

static uint8_t next(struct cursor *cursor)
{
	const uint8_t byte = (uint8_t)(cursor->word >> cursor->offset % WORD_BYTES * 8);

	if (cursor->offset % WORD_BYTES == WORD_BYTES - 1)
		next_word(cursor, 1);
	else
		cursor->offset++;
	return byte;
}

static void put_word(uint8_t bytes[WORD_BYTES], uint64_t word)
{
	word = htole64(word);
	memcpy(bytes, &word, sizeof(word));
}

static uint64_t word_at(const uint8_t bytes[WORD_BYTES])
{
	uint64_t word;

	memcpy(&word, bytes, sizeof(word));
	return le64toh(word);
}

/* Most bytes belong to whole words, which are copied word by word. */
void o2_stream_fill(uint8_t *bytes, size_t n, uint64_t seed, uint64_t stream, uint64_t offset)
{
	struct cursor cursor = start(seed, stream, offset);
	size_t i = 0;

	while (i < n && cursor.offset % WORD_BYTES != 0)
		bytes[i++] = next(&cursor);
	for (; n - i >= WORD_BYTES; i += WORD_BYTES) {
		put_word(bytes + i, cursor.word);
		next_word(&cursor, WORD_BYTES);
	}
	while (i < n)
		bytes[i++] = next(&cursor);
}

size_t o2_stream_match(const uint8_t *bytes, size_t n, uint64_t seed, uint64_t stream, uint64_t offset)
{
	struct cursor cursor = start(seed, stream, offset);
	size_t i = 0;

	while (i < n && cursor.offset % WORD_BYTES != 0) {
		if (bytes[i] != next(&cursor))
			return i;
		i++;
	}
	for (; n - i >= WORD_BYTES && word_at(bytes + i) == cursor.word; i += WORD_BYTES)
		next_word(&cursor, WORD_BYTES);
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
		const uint64_t word = (o2_unmix64(word_at(bytes + skip)) - key) * O2_MIX_STEP_INVERSE;

		if (word >= WORDS_MAX || word * WORD_BYTES < skip)
			continue;
		*offset = word * WORD_BYTES - skip;
		if (o2_stream_match(bytes, n, seed, stream, *offset) == n)
			return true;
	}
	return false;
}
