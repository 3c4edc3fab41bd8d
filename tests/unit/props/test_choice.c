/* SPDX-License-Identifier: MIT */
/* The choice engine (docs/properties.md, "Choice sequences") and case files. */

#include <math.h>
#include <unistd.h>

#include "props/engine/case_file.h"
#include "props/engine/choice.h"
#include "tests/lib/unit_test.h"

#define SEED UINT64_C(0x6f32726566)

static struct o2_choice choice, other; /* 100 KiB each: too large for a small stack */

TEST(test_encoding)
{
	static const uint8_t bytes[] = {0x01, 0x02, 0xff, 0x07, 0x12, 0x34, 0x56};

	assert_int_equal(o2_choice_width_bytes(0), 0);
	assert_int_equal(o2_choice_width_bytes(1), 1);
	assert_int_equal(o2_choice_width_bytes(255), 1);
	assert_int_equal(o2_choice_width_bytes(256), 2);
	assert_int_equal(o2_choice_width_bytes(65535), 2);
	assert_int_equal(o2_choice_width_bytes(65536), 3);
	assert_int_equal(o2_choice_width_bytes(UINT64_MAX >> 8), 7);
	assert_int_equal(o2_choice_width_bytes(UINT64_MAX), 8);

	o2_choice_replay(&choice, bytes, sizeof(bytes));
	assert_int_equal(o2_draw(&choice, 0xffff), 0x0102);
	assert_int_equal(o2_draw(&choice, 0), 0);
	assert_int_equal(o2_draw(&choice, 9), 255 % 10);
	assert_int_equal(o2_draw_range(&choice, 10, 19), 17);
	assert_int_equal(o2_draw_range(&choice, 5, 5), 5);
	assert_int_equal(o2_draw_range(&choice, 5, 4), 5);
	assert_int_equal(o2_draw(&choice, 0xffffff), 0x123456);
	assert_false(choice.past_end);
	assert_int_equal(choice.draws, 4);
	assert_int_equal(choice.record_bytes, 7);
	assert_int_equal(choice.record[2], 5); /* reduced to the range, and recorded so */
	assert_int_equal(o2_choice_value(&choice, 0), 0x0102);
	assert_int_equal(o2_choice_value(&choice, 3), 0x123456);
}

TEST(test_past_end_gives_zero)
{
	static const uint8_t bytes[] = {9, 9, 9};

	o2_choice_replay(&choice, bytes, sizeof(bytes));
	assert_int_equal(o2_draw(&choice, 0xffff), 0x0909);
	assert_false(choice.past_end);
	assert_int_equal(o2_draw(&choice, 0xffff), 0); /* half a number reads as 0 */
	assert_true(choice.past_end);
	assert_int_equal(o2_draw(&choice, 0xff), 0);
	assert_int_equal(choice.record_bytes, 5);
	assert_int_equal(o2_choice_status(&choice, O2_STATUS_VALID), O2_STATUS_VALID);

	o2_choice_replay(&choice, NULL, 0);
	assert_int_equal(o2_draw_range(&choice, 7, UINT64_MAX), 7);
	assert_false(o2_draw_bool(&choice, 1, 1000));
	assert_int_equal(o2_draw_pick(&choice, 5), 0);
	assert_true(choice.past_end);
}

/* Draws values of all kinds, and folds them into one number. */
static uint64_t fold_case(struct o2_choice *c)
{
	static const uint32_t weights[] = {0, 3, 1, 0, 96};
	uint64_t fold = 0;

	for (size_t n = 0;; n++) {
		o2_span_begin(c, 1);
		const bool more = o2_draw_more(c, n, 2, 40, 5);

		if (more) {
			const uint64_t max = o2_draw(c, UINT64_MAX) >> o2_draw(c, 63);
			const uint64_t value = o2_draw(c, max);

			assert_true(value <= max);
			fold = o2_mix64(fold ^ value) + o2_draw_weighted(c, weights, 5);
			fold = fold * 3 + o2_draw_bool(c, 2, 1) + 7 * o2_draw_pick(c, n);
		}
		o2_span_end(c);
		if (!more)
			break;
	}
	return fold;
}

TEST(test_replay_equals_record)
{
	uint64_t distinct = 0, last = 0;

	for (uint64_t i = 0; i < 2000; i++) {
		o2_choice_random(&choice, SEED, i);
		const uint64_t fold = fold_case(&choice);

		o2_choice_random(&other, SEED, i);
		assert_int_equal(fold_case(&other), fold); /* deterministic */
		o2_choice_replay(&other, choice.record, choice.record_bytes);
		assert_int_equal(fold_case(&other), fold);
		assert_false(other.past_end);
		assert_int_equal(other.input_next, choice.record_bytes);
		assert_int_equal(other.record_bytes, choice.record_bytes);
		assert_memory_equal(other.record, choice.record, choice.record_bytes);
		assert_int_equal(other.draws, choice.draws);
		assert_int_equal(other.spans, choice.spans);
		assert_memory_equal(other.span, choice.span, choice.spans * sizeof(choice.span[0]));
		distinct += fold != last;
		last = fold;
	}
	assert_true(distinct > 1990);
	o2_choice_random(&other, SEED + 1, 1999);
	assert_int_not_equal(fold_case(&other), last);
}

#define STEPS 600u

static bool count_step(void *context)
{
	uint32_t *steps = context;

	++*steps;
	return true;
}

static uint32_t steps_of(struct o2_choice *c, uint32_t weight_more)
{
	uint32_t steps = 0;

	o2_draw_steps(c, 1, STEPS, weight_more, count_step, &steps);
	return steps;
}

/* With weight W and no bound, 1 case in 16 expects W steps, 3 expect W / 4, and 12 expect W / 32, at least 3. */
TEST(test_most_cases_at_random_are_short)
{
	static const uint32_t weights[] = {0, 1, 2, 3, 47, 127};
	const uint32_t cases = 16000;

	for (size_t w = 0; w < sizeof(weights) / sizeof(weights[0]); w++) {
		const double weight = weights[w], few = weight / 32 < 3 ? 3 : (double)(weights[w] / 32);
		const double expected =
			weight <= 3 ? weight : (weight + 3.0 * (weights[w] / 4) + 12 * few) / 16;
		uint64_t all = 0, longest = 0;

		for (uint64_t i = 0; i < cases; i++) {
			o2_choice_random(&choice, SEED, i);
			const uint32_t steps = steps_of(&choice, weights[w]);

			o2_choice_replay(&other, choice.record, choice.record_bytes);
			assert_int_equal(steps_of(&other, weights[w]), steps);
			assert_int_equal(other.record_bytes, choice.record_bytes);
			assert_memory_equal(other.record, choice.record, choice.record_bytes);
			all += steps;
			longest = steps > longest ? steps : longest;
		}
		assert_true(fabs((double)all / cases - expected) <= expected / 10);
		assert_true((double)longest >= 3 * weight);
	}
	for (uint64_t i = 0; i < cases; i++) {
		o2_choice_random(&choice, SEED, i);
		assert_true(steps_of(&choice, 1u << 20) <= STEPS);
	}
}

/* Of four numbers one is any, and three are at most an eighth of the maximum. */
TEST(test_numbers_at_random_are_few)
{
	const uint32_t cases = 16000;
	uint32_t few = 0, halves = 0;

	for (uint64_t i = 0; i < cases; i++) {
		o2_choice_random(&choice, SEED, i);
		const uint64_t number = o2_draw_few(&choice, 300);

		o2_choice_replay(&other, choice.record, choice.record_bytes);
		assert_int_equal(o2_draw_few(&other, 300), number);
		assert_int_equal(other.record_bytes, choice.record_bytes);
		assert_memory_equal(other.record, choice.record, choice.record_bytes);
		assert_true(number <= 300);
		few += number <= 37;
		halves += number > 150;
	}
	/* 12,505 and 1,993 are expected, with standard deviations of 52 and 42. */
	assert_uint_in_range(few, 12245, 12765);
	assert_uint_in_range(halves, 1783, 2203);
	o2_choice_random(&choice, SEED, 0);
	assert_int_equal(o2_draw_few(&choice, 0), 0);
	assert_int_equal(choice.draws, 0);
}

/* Any bytes are a case; its record is canonical: never larger, and its replay gives the same case. */
TEST(test_record_is_canonical)
{
	struct o2_prng prng = o2_prng_init(SEED, 1);
	uint8_t bytes[300];

	for (int i = 0; i < 2000; i++) {
		const size_t n = o2_prng_upto(&prng, sizeof(bytes));

		for (size_t k = 0; k < n; k++)
			bytes[k] = (uint8_t)o2_prng_next(&prng);
		o2_choice_replay(&choice, bytes, n);
		const uint64_t fold = fold_case(&choice);

		if (!choice.past_end)
			assert_true(o2_shortlex(choice.record, choice.record_bytes, bytes, n) <= 0);
		o2_choice_replay(&other, choice.record, choice.record_bytes);
		assert_int_equal(fold_case(&other), fold);
		assert_int_equal(other.record_bytes, choice.record_bytes);
		assert_memory_equal(other.record, choice.record, choice.record_bytes);
	}
}

TEST(test_uniform_in_bounds)
{
	unsigned int seen[10] = {0};
	struct o2_prng prng = o2_prng_init(SEED, 2);

	o2_choice_random(&choice, SEED, 0);
	for (int i = 0; i < 8000; i++)
		seen[o2_draw(&choice, 9)]++;
	for (int i = 0; i < 10; i++)
		assert_uint_in_range(seen[i], 680, 920); /* 800 expected, standard deviation 27 */
	/* A plain remainder of 2^64 would be below 2^62 every second time, not every third. */
	seen[0] = 0;
	for (int i = 0; i < 9000; i++)
		seen[0] += o2_prng_upto(&prng, UINT64_MAX / 4 * 3) < UINT64_MAX / 4;
	assert_uint_in_range(seen[0], 2800, 3200);
	for (int i = 0; i < 10000; i++) {
		const uint64_t max = o2_prng_next(&prng) >> o2_prng_upto(&prng, 63);

		assert_true(o2_prng_upto(&prng, max) <= max);
	}
}

TEST(test_overrun)
{
	o2_choice_random(&choice, SEED, 0);
	for (uint32_t i = 0; i < O2_CHOICE_MAX_BYTES - 1; i++)
		o2_draw(&choice, 255);
	assert_true(o2_choice_ok(&choice));
	assert_int_equal(o2_draw(&choice, 256), 0); /* needs two bytes, has room for one */
	assert_true(choice.overrun);
	assert_int_equal(o2_draw(&choice, 255), 0); /* the failed state persists */
	assert_false(o2_draw_more(&choice, 0, 5, 10, 1));
	assert_int_equal(choice.record_bytes, O2_CHOICE_MAX_BYTES - 1);
	assert_int_equal(o2_choice_status(&choice, O2_STATUS_INTERESTING), O2_STATUS_OVERRUN);

	o2_choice_random(&choice, SEED, 0);
	o2_choice_reject(&choice);
	assert_int_equal(o2_draw(&choice, 255), 0);
	assert_int_equal(choice.draws, 0);
	assert_int_equal(o2_choice_status(&choice, O2_STATUS_INTERESTING), O2_STATUS_INVALID);
}

TEST(test_weights)
{
	static const uint32_t weights[] = {0, 10, 0, 20, 70}, none[] = {0, 0}, one[] = {0, 0, 9};
	unsigned int seen[5] = {0}, random_seen[5] = {0};

	for (unsigned int byte = 0; byte < 100; byte++) {
		const uint8_t bytes[1] = {(uint8_t)byte};

		o2_choice_replay(&choice, bytes, 1);
		seen[o2_draw_weighted(&choice, weights, 5)]++;
		assert_int_equal(choice.record[0], byte < 10 ? 0 : byte < 30 ? 10 : 30);
	}
	assert_int_equal(seen[1], 10);
	assert_int_equal(seen[3], 20);
	assert_int_equal(seen[4], 70);

	o2_choice_random(&choice, SEED, 0);
	for (int i = 0; i < 5000; i++)
		random_seen[o2_draw_weighted(&choice, weights, 5)]++;
	assert_int_equal(random_seen[0] + random_seen[2], 0);
	assert_uint_in_range(random_seen[1], 400, 600);
	assert_uint_in_range(random_seen[3], 850, 1150);

	o2_choice_random(&choice, SEED, 0);
	assert_int_equal(o2_draw_weighted(&choice, none, 2), 0);
	assert_int_equal(o2_draw_weighted(&choice, one, 3), 2);
	assert_false(o2_draw_bool(&choice, 1, 0));
	assert_true(o2_draw_bool(&choice, 0, 1));
	assert_int_equal(o2_draw_pick(&choice, 0), 0);
	assert_int_equal(choice.draws, 0);
}

TEST(test_spans)
{
	o2_choice_replay(&choice, NULL, 0);
	o2_span_begin(&choice, 7);
	o2_draw(&choice, 255);
	o2_span_begin(&choice, 8);
	o2_draw(&choice, 65535);
	o2_span_end(&choice);
	o2_span_end(&choice);
	assert_int_equal(choice.spans, 2);
	assert_int_equal(choice.span[0].label, 7);
	assert_int_equal(choice.span[0].depth, 0);
	assert_int_equal(choice.span[0].begin_bytes, 0);
	assert_int_equal(choice.span[0].end_bytes, 3);
	assert_int_equal(choice.span[1].depth, 1);
	assert_int_equal(choice.span[1].begin_bytes, 1);
	assert_int_equal(choice.span[1].end_bytes, 3);

	/* Too many spans, or too deeply nested: they are not recorded, and do no harm. */
	for (int i = 0; i < 40; i++)
		o2_span_begin(&choice, 1);
	for (int i = 0; i < 40; i++)
		o2_span_end(&choice);
	for (uint32_t i = 0; i < O2_CHOICE_MAX_SPANS + 10; i++) {
		o2_span_begin(&choice, 2);
		o2_span_end(&choice);
	}
	assert_int_equal(choice.depth, 0);
	assert_int_equal(choice.spans, O2_CHOICE_MAX_SPANS);
}

TEST(test_opaque_and_shortlex)
{
	static const uint8_t bytes[] = {3, 2, 1};

	o2_choice_replay(&choice, bytes, sizeof(bytes));
	o2_choice_opaque(&choice);
	assert_int_equal(choice.draws, 3);
	assert_int_equal(choice.record_bytes, 3);
	assert_memory_equal(choice.record, bytes, 3);

	assert_true(o2_shortlex(NULL, 0, NULL, 0) == 0);
	assert_true(o2_shortlex((const uint8_t *)"\xff", 1, bytes, 3) < 0);
	assert_true(o2_shortlex(bytes, 3, bytes, 2) > 0);
	assert_true(o2_shortlex((const uint8_t *)"\x03\x02\x00", 3, bytes, 3) < 0);
}

TEST(test_case_file)
{
	static uint8_t bytes[O2_CHOICE_MAX_BYTES + 1], back[O2_CHOICE_MAX_BYTES];
	char directory[] = "/tmp/o2_case_XXXXXX", path[64], name[O2_CASE_NAME_BYTES],
	     twin[O2_CASE_NAME_BYTES];
	static const size_t lengths[] = {0, 1, 100, O2_CHOICE_MAX_BYTES};
	size_t n;

	assert_non_null(mkdtemp(directory));
	snprintf(path, sizeof(path), "%s/case", directory);
	assert_int_equal(o2_case_read(path, back, &n), -ENOENT);
	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)(i * 7 + i / 256);
	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		assert_int_equal(o2_case_write(path, bytes, lengths[i]), 0);
		assert_int_equal(o2_case_read(path, back, &n), 0);
		assert_int_equal(n, lengths[i]);
		assert_memory_equal(back, bytes, n);
	}
	assert_int_equal(o2_case_write(path, bytes, sizeof(bytes)), 0);
	assert_int_equal(o2_case_read(path, back, &n), -EFBIG);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(rmdir(directory), 0); /* no temporary file is left */
	assert_int_equal(o2_case_write(path, bytes, 1), -ENOENT);
	assert_int_equal(o2_case_read("/tmp", back, &n), -EISDIR);

	o2_case_name(bytes, 100, name);
	o2_case_name(bytes, 100, twin);
	assert_string_equal(name, twin);
	assert_int_equal(strlen(name), 16);
	o2_case_name(bytes, 99, twin);
	assert_string_not_equal(name, twin);
}
