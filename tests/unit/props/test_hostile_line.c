/* SPDX-License-Identifier: MIT */

#include "props/engine/prng.h"
#include "props/hostile/hostile_line.h"
#include "tests/lib/unit_test.h"

/*
 * The lines to and from a victim in another process are read back as they were written; invalid lines are
 * refused.
 */

TEST(orders_come_back)
{
	char text[O2_LINE_BYTES];
	struct o2_victim_line line, back;

	for (int act = 0; act < O2_VICTIM_ACTS; act++) {
		line = (struct o2_victim_line){
			.order = {(enum o2_victim_act)act, UINT64_MAX - 5, O2_REG_FASTREG}};
		o2_line_order(&line, text);
		assert_true(o2_line_read_order(text, &back));
		assert_false(back.settle);
		assert_int_equal(back.order.act, act);
		assert_true(back.order.value == UINT64_MAX - 5);
		assert_int_equal(back.order.mode, O2_REG_FASTREG);
	}
	line = (struct o2_victim_line){.settle = true};
	o2_line_order(&line, text);
	assert_true(o2_line_read_order(text, &back) && back.settle);
}

TEST(people_may_say_less)
{
	struct o2_victim_line line;

	assert_true(o2_line_read_order("look", &line));
	assert_int_equal(line.order.act, O2_ACT_LOOK);
	assert_true(o2_line_read_order("put 5000", &line));
	assert_int_equal(line.order.value, 5000);
	assert_int_equal(line.order.mode, O2_REG_GLOBAL);
	for (const char *const *bad = (const char *const[]){"", " ", "nonsense", "put 1 fast", "lookalike",
							    "put5000", "averyveryverylongword 3", NULL};
	     *bad != NULL; bad++)
		assert_false(o2_line_read_order(*bad, &line));
}

TEST(answers_come_back)
{
	struct o2_victim_answer answer, back;
	struct o2_victim_report *const report = &answer.report;
	char text[O2_LINE_BYTES];
	uint32_t work;

	memset(&answer, 0, sizeof(answer));
	answer.status = -52;
	answer.value[0] = UINT64_MAX;
	answer.value[1] = 7;
	/* Set member by member: a compiler may leave the padding of a literal undefined. */
	report->open = true;
	report->code = -71;
	report->side = O2_FAULT_DEADLINE;
	snprintf(report->rule, sizeof(report->rule), "wire/header/magic");
	report->started = 1;
	report->matched = 2;
	report->done = 3;
	report->received = 4;
	report->closed = 5;
	report->status = -5;
	snprintf(answer.why, sizeof(answer.why), "ni/leak: descriptors is 1, limit 0 (x)");
	o2_line_answer(&answer, 99, text);
	assert_true(o2_line_read_answer(text, &back, &work));
	assert_int_equal(work, 99);
	assert_memory_equal(&back.report, &answer.report, sizeof(answer.report));
	assert_string_equal(back.why, answer.why);
	assert_true(back.status == answer.status && back.value[0] == answer.value[0] && back.value[1] == 7);

	/* Nothing is wrong, so there is no reason. */
	answer.why[0] = '\0';
	snprintf(answer.report.rule, sizeof(answer.report.rule), "-");
	o2_line_answer(&answer, 0, text);
	assert_true(o2_line_read_answer(text, &back, &work));
	assert_string_equal(back.why, "");
	assert_string_equal(back.report.rule, "-");
}

/* An answer with a missing or changed byte is refused, or read as another answer. */
TEST(spoiled_answers_do_no_harm)
{
	const char *seed_text = getenv("O2REF_SEED");
	uint64_t seed = seed_text != NULL ? strtoull(seed_text, NULL, 0) : 20240601;
	struct o2_victim_answer answer = {.report.rule = "-"}, back;
	char good[O2_LINE_BYTES], text[O2_LINE_BYTES];
	struct o2_prng prng = o2_prng_init(seed, 0);
	uint32_t work;
	size_t length;

	print_message("again: O2REF_SEED=0x%llx\n", (unsigned long long)seed);
	o2_line_answer(&answer, 0, good);
	length = strlen(good);
	for (size_t cut = 0; cut + 3 < length; cut++) {
		snprintf(text, sizeof(text), "%.*s", (int)cut, good);
		assert_false(o2_line_read_answer(text, &back, &work));
	}
	for (int i = 0; i < 100000; i++) {
		snprintf(text, sizeof(text), "%s", good);
		for (uint64_t n = 1 + o2_prng_next(&prng) % 3; n > 0; n--)
			text[o2_prng_next(&prng) % length] = (char)(o2_prng_next(&prng) % 127 + 1);
		if (o2_line_read_answer(text, &back, &work))
			assert_true(strlen(back.report.rule) < sizeof(back.report.rule));
	}
}
