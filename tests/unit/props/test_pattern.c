/* SPDX-License-Identifier: MIT */
/* The data pattern, and finding the origin of bytes (docs/properties.md, "The data pattern"). */

#include <time.h>

#include "props/engine/prng.h"
#include "tests/unit/props/pattern_ranges.h"

static uint8_t image[2 * MIB], twin[2 * MIB];

/* The bytes are a fixed function: changing the pattern would make all stored reports unreadable. */
TEST(test_known_bytes)
{
	uint8_t bytes[16];
	char text[40];

	o2_pattern_fill(bytes, 16, 1, 0, 0);
	for (int i = 0; i < 16; i++)
		snprintf(text + 2 * i, 3, "%02x", bytes[i]);
	assert_string_equal(text, "fce14281bba071c595e109d7c6c51160");
}

TEST(test_any_subrange_agrees)
{
	struct o2_prng prng = o2_prng_init(SEED, 0);

	o2_pattern_fill(image, MIB, SEED, 3, 0);
	for (size_t from = 0; from < 24; from++) {
		for (size_t n = 0; n < 40; n++) {
			twin[n] = 0xa5;
			o2_pattern_fill(twin, n, SEED, 3, from);
			assert_memory_equal(twin, image + from, n);
			assert_int_equal(twin[n], 0xa5); /* not one byte more */
		}
	}
	for (int i = 0; i < 500; i++) {
		const size_t from = o2_prng_upto(&prng, MIB - 1), n = o2_prng_upto(&prng, MIB - from);

		o2_pattern_fill(twin, n, SEED, 3, from);
		assert_memory_equal(twin, image + from, n);
		assert_int_equal(o2_fill_match(image + from, n, SEED, origin_of(O2_FILL_DATA, 3, from)), n);
	}
	for (size_t at = 0; at < 1100; at++) {
		image[at] ^= 1;
		assert_int_equal(o2_fill_match(image, 1100, SEED, origin_of(O2_FILL_DATA, 3, 0)), at);
		image[at] ^= 1;
	}
}

/* Returns how often two images agree, divided by how often they do by chance (1 place in 128). */
static double agreement(const uint8_t *a, const uint8_t *b, size_t n)
{
	size_t same = 0;

	for (size_t i = 0; i < n; i++)
		same += a[i] == b[i];
	return (double)same * 128 / (double)n;
}

static void assert_unrelated(const uint8_t *a, const uint8_t *b, size_t n)
{
	const double share = agreement(a, b, n);

	if (share < 0.9 || share > 1.1) /* 8192 expected in 1 MiB, standard deviation 1.1 % */
		fail_msg("images agree %.3f times as often as by chance", share);
}

TEST(test_no_period)
{
	const size_t n = MIB;

	o2_pattern_fill(image, 2 * MIB, SEED, 0, 0);
	for (size_t shift = 512; shift <= 512 * 1024; shift += 512) {
		if (shift <= 64 * 1024 || shift % PAGE == 0)
			assert_unrelated(image, image + shift, n);
	}
	for (size_t shift = 1; shift <= 64; shift++)
		assert_unrelated(image, image + shift, n);
	for (size_t a = 0; a < n / PAGE; a++) {
		for (size_t b = 0; b < a; b++)
			assert_memory_not_equal(image + a * PAGE, image + b * PAGE, 8);
	}
}

TEST(test_keys_differ)
{
	o2_pattern_fill(image, MIB, SEED, 0, 0);
	o2_pattern_fill(twin, MIB, SEED + 1, 0, 0);
	assert_unrelated(image, twin, MIB);
	o2_pattern_fill(twin, MIB, SEED, 1, 0);
	assert_unrelated(image, twin, MIB);
	o2_fill(twin, MIB, SEED, origin_of(O2_FILL_PAGE, 0, 0));
	assert_unrelated(image, twin, MIB);
	o2_fill(image, MIB, SEED, origin_of(O2_FILL_POISON, EPOCH, 0));
	o2_fill(twin, MIB, SEED, origin_of(O2_FILL_POISON, EPOCH + 1, 0));
	assert_unrelated(image, twin, MIB);
	o2_fill(twin, MIB, SEED, origin_of(O2_FILL_RED, EPOCH, 0));
	assert_unrelated(image, twin, MIB);
}

/* Data has even bytes of all values, poison and red zones have odd bytes: they agree nowhere. */
TEST(test_poison_never_equals_data)
{
	size_t seen[256] = {0};

	o2_pattern_fill(image, MIB, SEED, 0, 0);
	for (uint32_t epoch = 0; epoch < 8; epoch++) {
		o2_fill(twin, MIB, SEED, origin_of(O2_FILL_POISON, epoch, 0));
		for (size_t i = 0; i < MIB; i++)
			assert_int_not_equal(image[i], twin[i]);
		o2_fill(twin, MIB, SEED, origin_of(O2_FILL_RED, epoch, 0));
		for (size_t i = 0; i < MIB; i++)
			assert_int_not_equal(image[i], twin[i]);
	}
	for (size_t i = 0; i < MIB; i++)
		seen[image[i]]++;
	for (int byte = 0; byte < 256; byte++) {
		if (__builtin_parity((unsigned int)byte))
			assert_int_equal(seen[byte], 0);
		else
			assert_uint_in_range(seen[byte], 7700,
					     8700); /* 8192 expected, standard deviation 90 */
	}
}

TEST(test_decode_inverts)
{
	struct o2_prng prng = o2_prng_init(SEED, 1);
	uint8_t word[8];
	struct o2_origin back;
	unsigned int accepted = 0;

	for (int i = 0; i < 100000; i++) {
		const struct o2_origin origin = origin_of((enum o2_fill_kind)o2_prng_upto(&prng, 3),
							  (uint32_t)o2_prng_upto(&prng, O2_FILL_MAX_ID),
							  o2_prng_upto(&prng, O2_FILL_MAX_OFFSET / 8) * 8);
		const uint64_t seed = o2_prng_next(&prng);

		o2_fill(word, 8, seed, origin);
		assert_true(o2_fill_decode(word, seed, &back));
		assert_origin(back, origin);
		word[o2_prng_upto(&prng, 7)] ^= (uint8_t)(1u << o2_prng_upto(&prng, 7));
		assert_false(o2_fill_decode(word, seed, &back)); /* one flipped bit is mixed parity */
	}
	for (int i = 0; i < 100000; i++) {
		const uint64_t random = o2_prng_next(&prng);

		memcpy(word, &random, 8);
		accepted += o2_fill_decode(word, SEED, &back);
	}
	assert_uint_in_range(accepted, 300, 500); /* 1 in 256: 391 */
}

static void check_find(struct o2_origin origin, size_t n)
{
	struct o2_origin found;
	uint8_t bytes[64];

	o2_fill(bytes, n, SEED, origin);
	assert_int_equal(o2_pattern_find(bytes, n, SEED, ranges, N_RANGES, NULL, &found), 1);
	assert_origin(found, origin);
}

TEST(test_find)
{
	struct o2_origin found;
	uint8_t bytes[64];

	for (size_t shift = 0; shift < 16; shift++) {
		for (size_t n = 15; n <= 40; n++) {
			check_find(origin_of(O2_FILL_DATA, 0, shift), n);
			check_find(origin_of(O2_FILL_DATA, 1, 1234560 + shift), n);
			check_find(origin_of(O2_FILL_DATA, 1, 2 * MIB - n - shift), n);
			check_find(origin_of(O2_FILL_PAGE, 300, 2000 + shift), n);
			check_find(origin_of(O2_FILL_POISON, EPOCH - 1, 5000 + shift), n);
			check_find(origin_of(O2_FILL_RED, EPOCH, 60000 + shift), n);
		}
	}
	/* Out of the ranges, even by one byte; with another seed; with one wrong byte: nothing is found. */
	o2_fill(bytes, 32, SEED, origin_of(O2_FILL_DATA, 2, 0));
	assert_int_equal(o2_pattern_find(bytes, 32, SEED, ranges, N_RANGES, NULL, &found), 0);
	o2_fill(bytes, 32, SEED, origin_of(O2_FILL_DATA, 1, 2 * MIB - 31));
	assert_int_equal(o2_pattern_find(bytes, 32, SEED, ranges, N_RANGES, NULL, &found), 0);
	assert_int_equal(o2_pattern_find(bytes, 31, SEED, ranges, N_RANGES, NULL, &found), 1);
	assert_int_equal(o2_pattern_find(bytes, 31, SEED + 1, ranges, N_RANGES, NULL, &found), 0);
	bytes[30] ^= 3;
	assert_int_equal(o2_pattern_find(bytes, 31, SEED, ranges, N_RANGES, NULL, &found), 0);
	assert_int_equal(o2_pattern_find(bytes, 0, SEED, ranges, N_RANGES, NULL, &found), 0);
}

/* Fewer than 15 bytes: 5 or more have one origin; of fewer, the nearest match is returned, with the count. */
TEST(test_find_short)
{
	for (uint64_t at = 3 * PAGE - 8; at < 3 * PAGE + 8;
	     at++) /* across the pieces that the search splits a range into */
		check_find(origin_of(O2_FILL_DATA, 0, at), 6);
	for (size_t n = 1; n < 15; n++) {
		for (size_t shift = 0; shift < 16; shift++) {
			const struct o2_origin origin = origin_of(O2_FILL_DATA, 1, 700000 + 4096 * n + shift);
			struct o2_origin found, near = origin;
			uint8_t bytes[16];
			size_t matches;

			near.offset_bytes +=
				3; /* for n > 1 the true origin is nearer than any match by chance */
			o2_fill(bytes, n, SEED, origin);
			matches = o2_pattern_find(bytes, n, SEED, ranges, N_RANGES, &near, &found);
			if (n > 1)
				assert_origin(found, origin);
			if (n >= 5)
				assert_int_equal(matches, 1);
			if (n <= 2)
				assert_true(matches > 50);
			assert_true(matches <= O2_FIND_MAX_MATCHES);
		}
	}
}

/* Prints a figure for information; it is not a test. */
static void print_throughput(void)
{
	struct timespec begin, end;
	double seconds;

	o2_pattern_fill(image, sizeof(image), SEED, 0, 1);
	clock_gettime(CLOCK_MONOTONIC, &begin);
	for (uint32_t i = 0; i < 50; i++)
		o2_pattern_fill(image, sizeof(image), SEED, i, 1);
	clock_gettime(CLOCK_MONOTONIC, &end);
	seconds = (double)(end.tv_sec - begin.tv_sec) + (double)(end.tv_nsec - begin.tv_nsec) * 1e-9;
	printf("pattern fill: %.2f GB/s\n", 50.0 * sizeof(image) / seconds / 1e9);
}

int main(void)
{
	print_throughput();
	return tests_run();
}
