/* SPDX-License-Identifier: MIT */
/* Explanations of wrong bytes (docs/properties.md, "The data pattern"). */

#include "props/engine/prng.h"
#include "tests/unit/props/pattern_ranges.h"

#define RED    64u
#define LENGTH 10000u

static uint8_t image[2 * PAGE], twin[LENGTH];

/* Returns whether two images agree anywhere. */
static bool agree_somewhere(const uint8_t *a, const uint8_t *b, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (a[i] == b[i])
			return true;
	}
	return false;
}

/* A sink of one buffer between red zones; each test overwrites parts of it. */
static uint8_t sink[RED + LENGTH + RED];
static struct o2_expect expect[3];
static struct o2_diff_run runs[32];

static void make_sink(void)
{
	const struct o2_origin red = origin_of(O2_FILL_RED, EPOCH, 0),
			       poison = origin_of(O2_FILL_POISON, EPOCH, 0);
	struct o2_origin red_after = red;

	red_after.offset_bytes = RED;
	o2_fill(sink, RED, SEED, red);
	o2_pattern_fill(sink + RED, LENGTH, SEED, 1, 5000);
	o2_fill(sink + RED + LENGTH, RED, SEED, red_after);
	expect[0] = (struct o2_expect){sink, RED, red, red};
	expect[1] = (struct o2_expect){sink + RED, LENGTH, origin_of(O2_FILL_DATA, 1, 5000), poison};
	expect[2] = (struct o2_expect){sink + RED + LENGTH, RED, red_after, red_after};
}

static size_t diff(void)
{
	memset(runs, 0, sizeof(runs));
	return o2_pattern_diff(expect, 3, SEED, ranges, N_RANGES, runs, 32);
}

/* Asserts one run as given; up to two bytes at either end may be right by chance. */
static void assert_run(size_t index, uint64_t offset, uint64_t length, enum o2_found found)
{
	const struct o2_diff_run *run = &runs[0];

	assert_false(o2_pattern_equal(expect, 3, SEED));
	if (diff() != 1 || run->expect_index != index || run->found != found || run->offset_bytes < offset ||
	    run->offset_bytes > offset + 2 || run->offset_bytes + run->length_bytes > offset + length ||
	    run->offset_bytes + run->length_bytes + 2 < offset + length)
		fail_msg("wanted one run of kind %d, region %zu bytes %lu+%lu; have %zu runs, the first of "
			 "kind %d, region %zu bytes %lu+%lu",
			 (int)found, index, (unsigned long)offset, (unsigned long)length, diff(),
			 (int)run->found, run->expect_index, (unsigned long)run->offset_bytes,
			 (unsigned long)run->length_bytes);
}

TEST(test_diff_right)
{
	make_sink();
	assert_true(o2_pattern_equal(expect, 3, SEED));
	assert_int_equal(diff(), 0);
}

TEST(test_diff_not_written)
{
	for (size_t n = 1; n <= 5000; n = n * 2 + 1) {
		make_sink();
		o2_fill(sink + RED + 33, n, SEED, origin_of(O2_FILL_POISON, EPOCH, 33));
		assert_run(1, 33, n, O2_FOUND_BEFORE);
		assert_int_equal(runs[0].length_bytes, n); /* exact: poison is never right */
	}
	make_sink();
	o2_fill(sink + RED, LENGTH, SEED, origin_of(O2_FILL_POISON, EPOCH - 1, 0));
	assert_run(1, 0, LENGTH, O2_FOUND_ORIGIN);
	assert_origin(runs[0].origin, origin_of(O2_FILL_POISON, EPOCH - 1, 0));
	assert_int_equal(runs[0].length_bytes, LENGTH);
}

/* Data from elsewhere, at every alignment and many lengths. */
TEST(test_diff_moved)
{
	unsigned int checked = 0;

	for (size_t n = 5; n < 6000; n = n * 3 / 2 + 1) {
		for (uint64_t shift = 1; shift < 17; shift++) {
			const struct o2_origin from = origin_of(O2_FILL_DATA, 1, 900000 + 4096 + shift);
			struct o2_origin want = from;
			uint8_t *moved = sink + RED + 1000;

			make_sink();
			memcpy(twin, moved, n);
			o2_fill(moved, n, SEED, from);
			/* A short run that a byte right by chance splits may be too short to be found. */
			if (n < 23 && agree_somewhere(twin, moved, n))
				continue;
			checked++;
			assert_run(1, 1000, n, O2_FOUND_ORIGIN);
			want.offset_bytes += runs[0].offset_bytes - 1000;
			assert_origin(runs[0].origin, want);
			assert_int_equal(runs[0].matches, 1);
		}
	}
	assert_true(checked > 200);
	/* Swap two fragments. */
	make_sink();
	o2_pattern_fill(sink + RED, PAGE, SEED, 1, 5000 + PAGE);
	o2_pattern_fill(sink + RED + PAGE, PAGE, SEED, 1, 5000);
	assert_int_equal(diff(), 2);
	assert_origin(runs[0].origin, origin_of(O2_FILL_DATA, 1, 5000 + PAGE));
	assert_origin(runs[1].origin, origin_of(O2_FILL_DATA, 1, 5000));
	assert_int_equal(runs[1].offset_bytes, PAGE);
}

TEST(test_diff_red_zone)
{
	make_sink(); /* one byte too many */
	o2_pattern_fill(sink + RED + LENGTH, 1, SEED, 1, 5000 + LENGTH);
	assert_int_equal(diff(), 1);
	assert_int_equal(runs[0].expect_index, 2);
	assert_int_equal(runs[0].expected.kind, O2_FILL_RED);
	make_sink(); /* twenty bytes before the start */
	o2_pattern_fill(sink + RED - 20, 20, SEED, 1, 5000 - 20);
	assert_run(0, RED - 20, 20, O2_FOUND_ORIGIN);
	assert_origin(runs[0].origin, origin_of(O2_FILL_DATA, 1, 5000 - 20));
	make_sink(); /* red bytes carried into the data */
	memcpy(sink + RED + 500, sink + 3, 30);
	assert_run(1, 500, 30, O2_FOUND_ORIGIN);
	assert_origin(runs[0].origin, origin_of(O2_FILL_RED, EPOCH, 3));
}

TEST(test_diff_zero_bit_unknown)
{
	struct o2_prng prng = o2_prng_init(SEED, 9);

	make_sink();
	memset(sink + RED + 100, 0, 3000);
	assert_run(1, 100, 3000, O2_FOUND_ZERO);
	make_sink();
	sink[RED + 77] ^= 0x10;
	assert_run(1, 77, 1, O2_FOUND_BIT);
	assert_int_equal(runs[0].got ^ runs[0].want, 0x10);
	for (int i = 0; i < 100; i++) {
		make_sink();
		for (size_t k = 0; k < 2000; k++)
			sink[RED + 300 + k] = (uint8_t)o2_prng_next(&prng);
		assert_run(1, 300, 2000, O2_FOUND_UNKNOWN);
	}
	make_sink(); /* noise, then known bytes: both are found */
	for (size_t k = 0; k < 100; k++)
		sink[RED + 300 + k] = (uint8_t)(0x5a + k * k);
	o2_pattern_fill(sink + RED + 400, 100, SEED, 0, 4321);
	assert_int_equal(diff(), 2);
	assert_int_equal(runs[0].found, O2_FOUND_UNKNOWN);
	assert_int_equal(runs[1].found, O2_FOUND_ORIGIN);
	assert_int_equal(runs[1].origin.id, 0);
	assert_int_equal(runs[1].origin.offset_bytes - runs[1].offset_bytes, 4321 - 400);
}

/* Aliased source pages: each page has its own key, so a wrong page is identified. */
TEST(test_diff_pages)
{
	struct o2_expect pages[2];

	o2_fill(image, PAGE, SEED, origin_of(O2_FILL_PAGE, 77, 0));
	o2_fill(image + PAGE, 100, SEED, origin_of(O2_FILL_PAGE, 300, 50));
	pages[0] = (struct o2_expect){image, PAGE, origin_of(O2_FILL_PAGE, 77, 0),
				      origin_of(O2_FILL_POISON, EPOCH, 0)};
	pages[1] = (struct o2_expect){image + PAGE, 100, origin_of(O2_FILL_PAGE, 78, 50),
				      origin_of(O2_FILL_POISON, EPOCH, PAGE)};
	assert_int_equal(o2_pattern_diff(pages, 2, SEED, ranges, N_RANGES, runs, 32), 1);
	assert_int_equal(runs[0].expect_index, 1);
	assert_int_equal(runs[0].origin.kind, O2_FILL_PAGE);
	assert_int_equal(runs[0].origin.id, 300);
}

TEST(test_diff_many_runs)
{
	make_sink();
	for (size_t i = 0; i < 50; i++)
		sink[RED + i * 100] ^= 1;
	assert_int_equal(o2_pattern_diff(expect, 3, SEED, ranges, N_RANGES, runs, 4), 50);
	assert_int_equal(runs[3].offset_bytes, 300);
	assert_int_equal(o2_pattern_diff(expect, 3, SEED, NULL, 0, NULL, 0), 50);
}
