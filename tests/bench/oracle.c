/* SPDX-License-Identifier: MIT */
/*
 * The cost of asking an implementation: the reference as a shared object in a process of its own, and as a
 * program that speaks the process protocol, beside a direct call.  Each measurement runs batches of drawn
 * cases of one stage.
 *
 *   bench_oracle LIBRARY.so PROGRAM [MILLISECONDS]     of each measurement, default 100
 *
 * Prints figures, one line per stage, and no verdict (tests/bench/beside.h says how they are measured).
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "oracle/compare.h"
#include "oracle/host.h"
#include "props/scenario/draw.h"
#include "tests/bench/beside.h"

#define SEED	   1u
#define TIMEOUT_MS 10000u
#define GROWTH_MIB 1024u
#define BATCH	   4 /* rounds between two clock reads */

static struct {
	struct o2_case *asked[O2_HOST_BATCH];
	struct o2_host *library;
	struct o2_host *program;
	struct o2_answer *answer;
	struct o2_answer *expected;
	struct o2_comparison *comparison;
	struct o2_error_map map;
	uint32_t differences;
} bench;

static void fail(const char *what, const char *why)
{
	fprintf(stderr, "bench_oracle: %s: %s\n", what, why);
	exit(1);
}

static void *memory(size_t bytes)
{
	void *at = calloc(1, bytes);

	if (at == NULL)
		fail("memory", "cannot be had");
	return at;
}

static void call_directly(void)
{
	for (uint32_t i = 0; i < O2_HOST_BATCH; i++)
		o2_answer_of_reference(bench.asked[i], bench.answer);
	o2_bench_forget(bench.answer);
}

static void answered(void *context, uint32_t index, const struct o2_answer *answer)
{
	(void)context;
	o2_answer_of_reference(bench.asked[index], bench.expected);
	o2_compare(bench.comparison, bench.asked[index], bench.expected, answer);
	bench.differences += bench.comparison->count;
}

/* Does what o2ref check does: ask the implementation, compute the reference's answer, compare. */
static void check(struct o2_host *host)
{
	if (host->ops->ask(host, bench.asked, O2_HOST_BATCH, answered, NULL) != 0 || bench.differences > 0)
		fail(host->name, "does not agree with the reference");
}

static void check_library(void)
{
	check(bench.library);
}

static void check_program(void)
{
	check(bench.program);
}

static void draw(enum o2_stage stage)
{
	static struct o2_choice choice;
	static struct o2_scenario scenario;
	uint64_t index = 0;

	for (uint32_t i = 0; i < O2_HOST_BATCH; i++) {
		do {
			o2_choice_random(&choice, SEED, index++);
			o2_draw_case(&choice, stage, bench.asked[i], &scenario);
		} while (!o2_choice_ok(&choice));
		if (stage == O2_STAGE_MSG_ENCODE)
			bench.asked[i]->msg_encode.capacity_bytes = O2_MSG_BYTES;
	}
}

static void measure(enum o2_stage stage, uint64_t min_ns)
{
	struct o2_beside library, program;

	draw(stage);
	library = o2_measure_beside(check_library, call_directly, BATCH, min_ns);
	program = o2_measure_beside(check_program, call_directly, BATCH, min_ns);
	printf("  %-11s direct %9.0f/s   shared object %8.0f/s (1/%.1f)   program %7.0f/s (1/%.0f)\n",
	       o2_stage_name(stage), 1e9 * O2_HOST_BATCH / library.yardstick_ns,
	       1e9 * O2_HOST_BATCH / library.ours_ns, library.ratio, 1e9 * O2_HOST_BATCH / program.ours_ns,
	       program.ratio);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	const struct o2_host_options options = {.timeout_ms = TIMEOUT_MS, .growth_mib = GROWTH_MIB};
	char *words[2] = {NULL, NULL};
	char text[256];
	uint64_t min_ns;

	if (argc < 3) {
		fprintf(stderr, "usage: bench_oracle LIBRARY.so PROGRAM [MILLISECONDS]\n");
		return 2;
	}
	min_ns = o2_bench_ns(argc - 2, argv + 2);
	words[0] = argv[2];
	signal(SIGPIPE, SIG_IGN);
	for (uint32_t i = 0; i < O2_HOST_BATCH; i++)
		bench.asked[i] = memory(sizeof(*bench.asked[i]));
	bench.answer = memory(sizeof(*bench.answer));
	bench.expected = memory(sizeof(*bench.expected));
	bench.comparison = memory(sizeof(*bench.comparison));
	bench.comparison->map = &bench.map;
	if (o2_host_open_object(argv[1], &options, &bench.library, text, sizeof(text)) != 0)
		fail(argv[1], text);
	if (o2_host_open_program(words, &options, &bench.program, text, sizeof(text)) != 0)
		fail(argv[2], text);
	for (uint32_t i = 0; i < O2_STAGES; i++)
		measure((enum o2_stage)i, min_ns);
	bench.library->ops->close(bench.library);
	bench.program->ops->close(bench.program);
	return 0;
}
