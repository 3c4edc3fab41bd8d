/* SPDX-License-Identifier: MIT */
#include "props/pattern/pattern.h"

#include "props/engine/prng.h"

#include <assert.h>
#include <endian.h>
#include <string.h>

/*
 * How a word is made from its place (docs/properties.md, "The data pattern"):
 *
 *   place   56 bits: kind (2), id (24), offset / 8 (30)
 *   mix     a keyed bijection of 56-bit numbers: odd multipliers, and xor with shifts by at least half the width
 *   spread  seven bits to each byte, in its bits 1..7
 *   parity  bit 0 makes every byte even (data) or odd (poison, red zone)
 */
#define WORD_BITS   56
#define WORD_MASK   ((UINT64_C(1) << WORD_BITS) - 1)
#define INDEX_BITS  30
#define ID_BITS	    24
#define MULTIPLY_1  UINT64_C(0x9e3779b97f4a7d)
#define MULTIPLY_2  UINT64_C(0xbf58476d1ce4e5)
#define MULTIPLY_3  UINT64_C(0x94d049bb133111)
#define LOW_BITS    UINT64_C(0x0101010101010101)
#define CHUNK_BYTES 512u /* bytes compared at a time */
#define BLOCK_WORDS 8u	 /* words made at a time: compilers vectorize a loop of known length */
#define BLOCK_BYTES (8u * BLOCK_WORDS)

static_assert(O2_FILL_MAX_ID == (1u << ID_BITS) - 1, "ids fill their field");
static_assert(O2_FILL_MAX_OFFSET == (UINT64_C(8) << INDEX_BITS) - 1, "offsets fill their field");

/* For loops whose bounds the callers have checked; they have no branches that depend on the input. */
#if defined(__clang__)
#define UNCHECKED __attribute__((no_sanitize("address", "undefined", "coverage")))
#else
#define UNCHECKED
#endif

struct key {
	uint64_t add;  /* added before the mix */
	uint64_t flip; /* xored in the middle of the mix */
};

static struct key make_key(uint64_t seed)
{
	const uint64_t add = o2_mix64(seed), flip = o2_mix64(~add);

	return (struct key){.add = add & WORD_MASK, .flip = flip & WORD_MASK};
}

static bool is_odd(enum o2_fill_kind kind)
{
	return kind == O2_FILL_POISON || kind == O2_FILL_RED;
}

/* The mix's initial state; the next word of the same range starts MULTIPLY_1 further. */
static uint64_t first_state(struct key key, struct o2_origin origin)
{
	const uint64_t place = (uint64_t)(origin.kind & 3) << (ID_BITS + INDEX_BITS) |
			       (uint64_t)(origin.id & O2_FILL_MAX_ID) << INDEX_BITS | origin.offset_bytes / 8;

	return place * MULTIPLY_1 + key.add;
}

/* Bit 0 of each byte of the result: the parity of that byte of x. */
UNCHECKED static inline uint64_t byte_parity(uint64_t x)
{
	x ^= x >> 4;
	x ^= x >> 2;
	x ^= x >> 1;
	return x & LOW_BITS;
}

UNCHECKED static inline uint64_t make_word(uint64_t state, uint64_t flip, uint64_t odd)
{
	uint64_t x = state & WORD_MASK;

	x ^= x >> 28;
	x = ((x ^ flip) * MULTIPLY_2) & WORD_MASK;
	x ^= x >> 29;
	x = (x * MULTIPLY_3) & WORD_MASK;
	x ^= x >> 28;
	x = (x & UINT64_C(0x0fffffff)) | (x & UINT64_C(0x00fffffff0000000)) << 4;
	x = (x & UINT64_C(0x00003fff00003fff)) | (x & UINT64_C(0x0fffc0000fffc000)) << 2;
	x = (x & UINT64_C(0x007f007f007f007f)) << 1 | (x & UINT64_C(0x3f803f803f803f80)) << 2;
	return htole64((x | byte_parity(x)) ^ odd);
}

/* Write as many whole blocks as fit into n bytes. */
UNCHECKED static inline void make_blocks(uint8_t *dst, size_t n, uint64_t state, uint64_t flip, uint64_t odd)
{
	for (; n >= BLOCK_BYTES; n -= BLOCK_BYTES, dst += BLOCK_BYTES)
		for (unsigned int i = 0; i < BLOCK_WORDS; i++, state += MULTIPLY_1) {
			const uint64_t word = make_word(state, flip, odd);

			memcpy(dst + 8u * i, &word, 8);
		}
}

/*
 * A property spends most of its time making and comparing patterns.  Vectors of four words halve that time;
 * vectors that can also multiply words quarter it again.
 */
#if defined(__x86_64__)
UNCHECKED __attribute__((target("avx2"))) static void make_blocks_avx2(uint8_t *dst, size_t n, uint64_t state,
								       uint64_t flip, uint64_t odd)
{
	make_blocks(dst, n, state, flip, odd);
}

UNCHECKED __attribute__((target("avx512f,avx512dq,avx512vl"))) static void make_blocks_avx512(
	uint8_t *dst, size_t n, uint64_t state, uint64_t flip, uint64_t odd)
{
	make_blocks(dst, n, state, flip, odd);
}

static void fill_blocks(uint8_t *dst, size_t n, uint64_t state, uint64_t flip, uint64_t odd)
{
	if (__builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
		make_blocks_avx512(dst, n, state, flip, odd);
	else if (__builtin_cpu_supports("avx2"))
		make_blocks_avx2(dst, n, state, flip, odd);
	else
		make_blocks(dst, n, state, flip, odd);
}
#else
static void fill_blocks(uint8_t *dst, size_t n, uint64_t state, uint64_t flip, uint64_t odd)
{
	make_blocks(dst, n, state, flip, odd);
}
#endif

void o2_fill(uint8_t *dst, size_t n, uint64_t seed, struct o2_origin origin)
{
	const struct key key = make_key(seed);
	const uint64_t odd = is_odd(origin.kind) ? LOW_BITS : 0;
	const size_t skip = origin.offset_bytes % 8;
	uint64_t state = first_state(key, origin), word;
	size_t blocks;

	assert(origin.offset_bytes <= O2_FILL_MAX_OFFSET &&
	       n <= O2_FILL_MAX_OFFSET + 1 - origin.offset_bytes);
	if (skip != 0 && n > 0) {
		const size_t head = n < 8 - skip ? n : 8 - skip;

		word = make_word(state, key.flip, odd);
		memcpy(dst, (const uint8_t *)&word + skip, head);
		state += MULTIPLY_1;
		dst += head;
		n -= head;
	}
	blocks = n / BLOCK_BYTES;
	fill_blocks(dst, n, state, key.flip, odd);
	dst += blocks * BLOCK_BYTES;
	n -= blocks * BLOCK_BYTES;
	state += blocks * BLOCK_WORDS * MULTIPLY_1;
	for (; n >= 8; n -= 8, dst += 8, state += MULTIPLY_1) {
		word = make_word(state, key.flip, odd);
		memcpy(dst, &word, 8);
	}
	if (n > 0) {
		word = make_word(state, key.flip, odd);
		memcpy(dst, &word, n);
	}
}

void o2_pattern_fill(uint8_t *dst, size_t n, uint64_t seed, uint32_t buffer, uint64_t offset)
{
	o2_fill(dst, n, seed, (struct o2_origin){.kind = O2_FILL_DATA, .id = buffer, .offset_bytes = offset});
}

size_t o2_fill_match(const uint8_t *actual, size_t n, uint64_t seed, struct o2_origin origin)
{
	uint8_t chunk[CHUNK_BYTES];
	size_t done, i;

	for (done = 0; done < n; done += CHUNK_BYTES) {
		const size_t part = n - done < CHUNK_BYTES ? n - done : CHUNK_BYTES;

		o2_fill(chunk, part, seed, origin);
		origin.offset_bytes += part;
		if (memcmp(chunk, actual + done, part) == 0)
			continue;
		for (i = 0; chunk[i] == actual[done + i];)
			i++;
		return done + i;
	}
	return n;
}

/* The inverse of an odd number modulo 2^64: each step doubles the number of correct bits. */
static uint64_t inverse_of(uint64_t odd)
{
	uint64_t inverse = odd;

	for (int i = 0; i < 5; i++)
		inverse *= 2 - odd * inverse;
	return inverse;
}

/* The inverse of make_word(). */
static uint64_t unmake_word(uint64_t x, struct key key)
{
	x = (x >> 1 & UINT64_C(0x007f007f007f007f)) | (x >> 2 & UINT64_C(0x3f803f803f803f80));
	x = (x & UINT64_C(0x00003fff00003fff)) | (x >> 2 & UINT64_C(0x0fffc0000fffc000));
	x = (x & UINT64_C(0x0fffffff)) | (x >> 4 & UINT64_C(0x00fffffff0000000));
	x ^= x >> 28;
	x = (x * inverse_of(MULTIPLY_3)) & WORD_MASK;
	x ^= x >> 29;
	x = ((x * inverse_of(MULTIPLY_2)) ^ key.flip) & WORD_MASK;
	x ^= x >> 28;
	return ((x - key.add) * inverse_of(MULTIPLY_1)) & WORD_MASK;
}

bool o2_fill_decode(const uint8_t word[8], uint64_t seed, struct o2_origin *origin)
{
	uint64_t x, parity, place;

	memcpy(&x, word, 8);
	x = le64toh(x);
	parity = byte_parity(x);
	if (parity != 0 && parity != LOW_BITS)
		return false;
	place = unmake_word(x, make_key(seed));
	origin->kind = (enum o2_fill_kind)(place >> (ID_BITS + INDEX_BITS));
	origin->id = (uint32_t)(place >> INDEX_BITS) & O2_FILL_MAX_ID;
	origin->offset_bytes = (place & ((UINT64_C(1) << INDEX_BITS) - 1)) * 8;
	return is_odd(origin->kind) == (parity != 0);
}
