/* SPDX-License-Identifier: MIT */
/* The shrinker reaches the known smallest case (docs/properties.md, "Shrinking"). */

#include "props/engine/shrink.h"
#include "tests/lib/unit_test.h"

#define SEED	 UINT64_C(0x736872696e6b)
#define MAX_LIST 300u
#define CASES	 40 /* failing cases shrunk per predicate */

static struct o2_choice choice;

/* A list, drawn in one of two ways, and the predicate of bad lists. */
struct list_property {
	bool (*bad)(const uint64_t *list, size_t n);
	uint64_t max_value;
	uint32_t max_length;
	bool counted; /* the length is drawn first; false: "another?" before each element */
};

static size_t draw_list(struct o2_choice *c, const struct list_property *p, uint64_t *list)
{
	const uint64_t count = p->counted ? o2_draw(c, p->max_length) : p->max_length;
	size_t n = 0;

	for (;;) {
		o2_span_begin(c, 1);
		const bool more = p->counted ? n < count : o2_draw_more(c, n, 0, p->max_length, 9);

		if (more)
			list[n++] = o2_draw(c, p->max_value);
		o2_span_end(c);
		if (!more || !o2_choice_ok(c))
			return n;
	}
}

static enum o2_status run_list(void *context, struct o2_choice *c)
{
	const struct list_property *p = context;
	uint64_t list[MAX_LIST];
	const size_t n = draw_list(c, p, list);

	return p->bad(list, n) ? O2_STATUS_INTERESTING : O2_STATUS_VALID;
}

/* Shrinks random failing lists; each must end as `want`. */
static void expect_minimum(struct list_property p, const uint64_t *want, size_t n_want)
{
	for (int counted = 0; counted < 2; counted++) {
		uint64_t index = 0;

		p.counted = counted;
		for (int found = 0; found < CASES; index++) {
			static uint8_t bytes[O2_CHOICE_MAX_BYTES];
			struct o2_shrink_report report;
			uint64_t list[MAX_LIST];
			size_t length;

			assert_true(index < 100000);
			o2_choice_random(&choice, SEED, index);
			if (run_list(&p, &choice) != O2_STATUS_INTERESTING)
				continue;
			found++;
			length = choice.record_bytes;
			memcpy(bytes, choice.record, length);
			assert_int_equal(
				o2_shrink(run_list, &p, bytes, &length, O2_SHRINK_DEFAULT_CALLS, &report), 0);
			assert_false(report.out_of_calls);
			assert_int_equal(report.after_bytes, length);
			o2_choice_replay(&choice, bytes, length);
			const size_t n = draw_list(&choice, &p, list);

			if (n != n_want || memcmp(list, want, n * sizeof(list[0])) != 0)
				fail_msg("case %lu shrank to %zu elements, the first %lu",
					 (unsigned long)index, n, (unsigned long)(n ? list[0] : 0));
		}
	}
}

static bool sum_above_1000(const uint64_t *list, size_t n)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += list[i];
	return sum > 1000;
}

static bool has_77(const uint64_t *list, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (list[i] >= 77)
			return true;
	}
	return false;
}

static bool two_equal(const uint64_t *list, size_t n, uint64_t min)
{
	for (size_t i = 0; i < n; i++) {
		for (size_t j = 0; j < i; j++) {
			if (list[i] == list[j] && list[i] >= min)
				return true;
		}
	}
	return false;
}

static bool two_equal_any(const uint64_t *list, size_t n)
{
	return two_equal(list, n, 0);
}

static bool two_equal_from_50(const uint64_t *list, size_t n)
{
	return two_equal(list, n, 50);
}

static bool step_of_5_from_3(const uint64_t *list, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		if (list[i] == list[i - 1] + 5 && list[i - 1] >= 3)
			return true;
	}
	return false;
}

static bool aligned_from_10000(const uint64_t *list, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (list[i] % 4096 == 0 && list[i] >= 10000)
			return true;
	}
	return false;
}

static bool three_from_200(const uint64_t *list, size_t n)
{
	unsigned int big = 0;

	for (size_t i = 0; i < n; i++)
		big += list[i] >= 200;
	return big >= 3;
}

static bool falls(const uint64_t *list, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		if (list[i] < list[i - 1])
			return true;
	}
	return false;
}

TEST(test_sum)
{
	static const uint64_t one[] = {1001}, two[] = {101, 900};

	expect_minimum((struct list_property){sum_above_1000, 60000, 50, false}, one, 1);
	expect_minimum((struct list_property){sum_above_1000, 900, 50, false}, two, 2);
}

TEST(test_element)
{
	static const uint64_t want[] = {77}, want_aligned[] = {12288};

	expect_minimum((struct list_property){has_77, 100, 30, false}, want, 1);
	expect_minimum((struct list_property){has_77, UINT64_MAX, 30, false}, want, 1);
	expect_minimum((struct list_property){aligned_from_10000, 70000, 300, false}, want_aligned, 1);
}

TEST(test_related_elements)
{
	static const uint64_t zeros[] = {0, 0}, fifties[] = {50, 50}, step[] = {3, 8}, fall[] = {1, 0};

	expect_minimum((struct list_property){two_equal_any, 255, 30, false}, zeros, 2);
	expect_minimum((struct list_property){two_equal_from_50, 999, 30, false}, fifties, 2);
	expect_minimum((struct list_property){step_of_5_from_3, 60, 30, false}, step, 2);
	expect_minimum((struct list_property){falls, 5000, 30, false}, fall, 2);
}

/* Both numbers must occur, in any order. */
static bool has_5_and_16(const uint64_t *list, size_t n)
{
	bool five = false, sixteen = false;

	for (size_t i = 0; i < n; i++) {
		five |= list[i] == 5;
		sixteen |= list[i] == 16;
	}
	return five && sixteen;
}

TEST(test_order)
{
	static const uint64_t want[] = {5, 16};

	expect_minimum((struct list_property){has_5_and_16, 30, 50, false}, want, 2);
}

TEST(test_long_list)
{
	static const uint64_t want[] = {200, 200, 200};

	expect_minimum((struct list_property){three_from_200, 255, 300, false}, want, 3);
}

/* Lists of lists: spans nest.  Bad: three leaves and a flag somewhere. */
static enum o2_status run_nested(void *context, struct o2_choice *c)
{
	uint64_t leaves = 0;
	bool flag = false, more = true, inner;

	for (size_t n = 0; more; n++) {
		o2_span_begin(c, 1);
		more = o2_draw_more(c, n, 0, 20, 4);
		inner = more;
		for (size_t k = 0; inner; k++) {
			o2_span_begin(c, 2);
			inner = o2_draw_more(c, k, 0, 20, 4);
			if (inner) {
				flag |= o2_draw(c, 65535) >= 0x1234;
				leaves++;
			}
			o2_span_end(c);
		}
		o2_span_end(c);
	}
	return leaves >= 3 && flag ? O2_STATUS_INTERESTING : O2_STATUS_VALID;
}

TEST(test_nested)
{
	/* The bytes: outer: more; inner: more 0000, more 0000, more 1234, no; outer: no */
	static const uint8_t want[] = {1, 1, 0, 0, 1, 0, 0, 1, 0x12, 0x34, 0, 0};
	static uint8_t bytes[O2_CHOICE_MAX_BYTES];
	size_t length;
	int found = 0;

	for (uint64_t i = 0; found < CASES; i++) {
		o2_choice_random(&choice, SEED, i);
		if (run_nested(NULL, &choice) != O2_STATUS_INTERESTING)
			continue;
		found++;
		length = choice.record_bytes;
		memcpy(bytes, choice.record, length);
		assert_int_equal(o2_shrink(run_nested, NULL, bytes, &length, O2_SHRINK_DEFAULT_CALLS, NULL),
				 0);
		assert_int_equal(length, sizeof(want));
		assert_memory_equal(bytes, want, sizeof(want));
	}
}

/* A count, then elements of three draws that must be equal.  Bad: one element is large, and there are at
 * least `*context` elements. */
static enum o2_status run_triples(void *context, struct o2_choice *c)
{
	const uint64_t count = o2_draw(c, 200);
	bool large = false;

	for (uint64_t i = 0; i < count; i++) {
		o2_span_begin(c, 1);
		const uint64_t a = o2_draw(c, 255), b = o2_draw(c, 255), third = o2_draw(c, 255);

		o2_span_end(c);
		if (a != b || b != third)
			o2_choice_reject(c);
		large |= a >= 77;
	}
	if (o2_draw(c, 255) != 0x55) /* a case that is cut short loses this byte */
		o2_choice_reject(c);
	return large && count >= *(const uint64_t *)context ? O2_STATUS_INTERESTING : O2_STATUS_VALID;
}

/* Whole elements are removed, with the count; those that must stay become zero; small ones come first. */
TEST(test_triples)
{
	/* The last element cannot shrink: its three numbers would have to shrink together. */
	static const uint8_t want[] = {3, 0, 0, 0, 0, 0, 0, 99, 99, 99, 0x55};
	static uint8_t bytes[O2_CHOICE_MAX_BYTES];
	uint64_t min_count = 3;
	size_t length = 1 + 3 * 40 + 1;
	struct o2_shrink_report report;

	memset(bytes, 99, length);
	bytes[0] = 40;
	bytes[length - 1] = 0x55;
	assert_int_equal(o2_shrink(run_triples, &min_count, bytes, &length, O2_SHRINK_DEFAULT_CALLS, &report),
			 0);
	assert_int_equal(length, sizeof(want));
	assert_memory_equal(bytes, want, sizeof(want));
	assert_uint_in_range(report.calls, 10, 5000);
}

/* Two failures: the smaller one must not replace the one that is being shrunk. */
static enum o2_status run_two_failures(void *context, struct o2_choice *c)
{
	const uint64_t value = o2_draw(c, 65535);
	const int failure = value > 5000 ? 2 : value > 10 ? 1 : 0;

	return failure == *(int *)context ? O2_STATUS_INTERESTING : O2_STATUS_VALID;
}

TEST(test_keeps_signature)
{
	uint8_t bytes[O2_CHOICE_MAX_BYTES] = {0xff, 0xf0};
	size_t length = 2;
	int failure = 2;

	assert_int_equal(o2_shrink(run_two_failures, &failure, bytes, &length, 1000, NULL), 0);
	assert_int_equal(length, 2);
	assert_int_equal(bytes[0] << 8 | bytes[1], 5001);
	failure = 1;
	assert_int_equal(o2_shrink(run_two_failures, &failure, bytes, &length, 1000, NULL), -ESTALE);
}

/* The case runs in another process: only its bytes are known.  Bad: 0x42 and later a byte from 0x17 on. */
static enum o2_status run_elsewhere(void *context, struct o2_choice *c)
{
	const uint8_t *hit = c->input_bytes == 0 ? NULL : memchr(c->input, 0x42, c->input_bytes);

	o2_choice_opaque(c);
	for (; hit != NULL && hit + 1 < c->input + c->input_bytes; hit++) {
		if (hit[1] >= 0x17)
			return O2_STATUS_INTERESTING;
	}
	return O2_STATUS_VALID;
}

TEST(test_opaque)
{
	static uint8_t bytes[O2_CHOICE_MAX_BYTES];
	size_t length = 700;

	memset(bytes, 0x99, length);
	bytes[200] = 0x42;
	assert_int_equal(o2_shrink(run_elsewhere, NULL, bytes, &length, O2_SHRINK_DEFAULT_CALLS, NULL), 0);
	assert_int_equal(length, 2);
	assert_int_equal(bytes[0], 0x42);
	assert_int_equal(bytes[1], 0x17);
}

/* Fails on the first `context` calls. */
static enum o2_status run_flaky(void *context, struct o2_choice *c)
{
	uint32_t *left = context;

	o2_draw(c, 65535);
	return *left > 0 && (*left)-- > 0 ? O2_STATUS_INTERESTING : O2_STATUS_VALID;
}

TEST(test_refusals)
{
	uint8_t bytes[O2_CHOICE_MAX_BYTES] = {0x12, 0x34};
	size_t length = 2, too_long = O2_CHOICE_MAX_BYTES + 1;
	uint32_t left = 2;

	assert_int_equal(o2_shrink(run_flaky, &left, bytes, &length, 100, NULL), -ESTALE);
	assert_int_equal(length, 2);
	assert_int_equal(bytes[0], 0x12);
	assert_int_equal(bytes[1], 0x34);
	assert_int_equal(o2_shrink(run_flaky, &left, bytes, &length, 100, NULL), -ESTALE);
	assert_int_equal(o2_shrink(run_flaky, &left, bytes, &too_long, 100, NULL), -EINVAL);
	assert_int_equal(o2_shrink(run_flaky, &left, bytes, &length, 2, NULL), -EINVAL);
	assert_int_equal(o2_shrink(run_flaky, &left, bytes, &length, O2_SHRINK_MAX_CALLS + 1, NULL), -EINVAL);
}

struct counted_run {
	const struct list_property *property;
	uint32_t calls;
};

static enum o2_status run_counted(void *context, struct o2_choice *c)
{
	struct counted_run *run = context;

	run->calls++;
	return run_list((void *)(uintptr_t)run->property, c);
}

/* The budget is kept, a larger one never gives a larger case, and the same call gives the same result. */
TEST(test_budget)
{
	static const struct list_property property = {three_from_200, 255, 300, true};
	static uint8_t bytes[O2_CHOICE_MAX_BYTES], last[O2_CHOICE_MAX_BYTES];
	size_t last_length = O2_CHOICE_MAX_BYTES;

	for (uint32_t budget = 3; budget < 3000; budget = budget * 3 / 2 + 1) {
		for (int twice = 0; twice < 2; twice++) {
			struct counted_run run = {.property = &property};
			struct o2_shrink_report report;
			size_t length;

			o2_choice_random(&choice, SEED, 3);
			assert_int_equal(run_counted(&run, &choice), O2_STATUS_INTERESTING);
			run.calls = 0;
			length = choice.record_bytes;
			memcpy(bytes, choice.record, length);
			assert_int_equal(o2_shrink(run_counted, &run, bytes, &length, budget, &report), 0);
			assert_int_equal(report.calls, run.calls);
			assert_true(run.calls <= budget);
			assert_int_equal(report.before_bytes, choice.record_bytes);
			assert_true(o2_shortlex(bytes, length, last, last_length) <= 0);
			if (twice)
				assert_memory_equal(bytes, last, length);
			memcpy(last, bytes, length);
			last_length = length;
		}
	}
	assert_int_equal(last_length, 2 + 3); /* the count, and three elements */
}
