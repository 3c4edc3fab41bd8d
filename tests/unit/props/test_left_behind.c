/* SPDX-License-Identifier: MIT */
/* Resources that a case leaves in the process are a finding of that case (props/engine/left_behind.h). */

#include "props/engine/left_behind.h"

#include <malloc.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "props/engine/case_file.h"
#include "props/engine/tally.h"
#include "tests/lib/unit_test.h"

#define SEED  5u
#define CASES 300u
#define FACES 100u /* one face in so many leaves something */

enum leak { NOTHING, ONE_BYTE, A_LARGE_PIECE, A_DESCRIPTOR, A_PAGE, A_THREAD };

struct run {
	struct o2_tally tally; /* must be first: props/engine/tally.h */
	enum leak leak;
	uint64_t runs, leaky_run; /* the run that leaves a byte, whatever case is run; 0: none */
	void *kept;		  /* allocated by the first case, never freed */
	void *cache;		  /* allocated until give_back */
};

/* Leaked memory, freed at the end of the test; a leak sanitizer sees it as reachable. */
static void *forgotten[1000];
static uint32_t nforgotten;

static void forget(void *piece)
{
	assert_true(nforgotten < sizeof(forgotten) / sizeof(forgotten[0]));
	forgotten[nforgotten++] = piece;
}

static void *wait_for_ever(void *unused)
{
	for (;;)
		pause();
	return unused;
}

static void leave(enum leak leak)
{
	pthread_t thread;

	switch (leak) {
	case ONE_BYTE:
		forget(malloc(1));
		break;
	case A_LARGE_PIECE:
		forget(malloc(1 << 20));
		break;
	case A_DESCRIPTOR:
		assert_true(socket(AF_UNIX, SOCK_STREAM, 0) >= 0);
		break;
	case A_PAGE:
		assert_true(mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED);
		break;
	case A_THREAD:
		assert_int_equal(pthread_create(&thread, NULL, wait_for_ever, NULL), 0);
		break;
	case NOTHING:
		break;
	}
}

/*
 * Resizes a piece so large that malloc maps it; malloc may then account for it differently.  Nothing reads it, so it
 * is not filled with junk, which would be most of this test's time.
 */
static void resize(void)
{
	char *piece, *larger;

	mallopt(M_PERTURB, 0);
	piece = malloc(40u << 20);
	assert_non_null(piece);
	larger = realloc(piece, 48u << 20);
	assert_non_null(larger);
	free(larger);
	mallopt(M_PERTURB, TEST_JUNK);
}

/* Allocates and frees much; keeps little. */
static enum o2_status run_case(void *context, struct o2_choice *choice, struct o2_report *report)
{
	struct run *run = context;
	void *piece[8];
	uint64_t face;

	o2_report_clear(report);
	for (int i = 0; i < 8; i++)
		piece[i] = malloc(1 + o2_draw(choice, 3000));
	if (run->kept == NULL)
		run->kept = malloc(77);
	if (run->cache == NULL)
		run->cache = malloc(5000);
	face = o2_draw(choice, FACES - 1);
	if (++run->runs == run->leaky_run)
		leave(ONE_BYTE);
	if (face == 7)
		leave(run->leak);
	else if (face % 10 == 8)
		resize();
	for (int i = 0; i < 8; i++)
		free(piece[i]);
	run->tally.cases++;
	return O2_STATUS_VALID;
}

static void give_back(void *context)
{
	struct run *run = context;

	free(run->cache);
	run->cache = NULL;
}

static void print(const void *context, uint32_t pieces, FILE *out)
{
}

/* Returns the first leaking case after case 0: what case 0 leaves belongs to the initial state. */
static uint64_t first_to_leave(void)
{
	static struct o2_choice choice;

	for (uint64_t i = 1; i < CASES; i++) {
		o2_choice_random(&choice, SEED, i);
		for (int k = 0; k < 8; k++)
			o2_draw(&choice, 3000);
		if (o2_draw(&choice, FACES - 1) == 7)
			return i;
	}
	fail();
	return 0;
}

static const struct o2_property_ops ops = {
	.name = "leaky",
	.run_case = run_case,
	.give_back = give_back,
	.print = print,
	O2_TALLY_OPS,
};

static json_t *run_with(enum leak leak, uint64_t first, uint64_t cases, int expected)
{
	struct run run = {.leak = leak};
	const struct o2_property property = o2_tally_property(&ops, &run.tally, NULL, 0, 0);
	const struct o2_run_options options = {.device = "model",
					       .program = "o2props",
					       .again = "",
					       .seed = SEED,
					       .first_case = first,
					       .cases = cases,
					       .findings = 1};
	json_t *result, *findings;

	assert_int_equal(o2_run(&property, &options, &result), expected);
	if (expected == 0)
		assert_int_equal(run.tally.cases, cases);
	findings = json_incref(json_object_get(result, "findings"));
	json_decref(result);
	give_back(&run);
	free(run.kept);
	return findings;
}

static void check_found(enum leak leak, const char *words)
{
	const uint64_t at = first_to_leave();
	const uint64_t first[] = {0, at}, cases[] = {CASES, 1};

	/* Find it in a run of many cases, and with the command that the finding prints. */
	for (int i = 0; i < 2; i++) {
		json_t *findings = run_with(leak, first[i], cases[i], 1);
		const json_t *finding = json_array_get(findings, 0);
		const json_t *lines = json_object_get(finding, "lines");

		assert_string_equal(json_string_value(json_object_get(finding, "signature")),
				    "leaky/left-behind-process");
		assert_int_equal(json_integer_value(json_object_get(finding, "case")), at);
		assert_non_null(strstr(json_string_value(json_array_get(lines, 0)), words));
		json_decref(findings);
	}
	while (nforgotten > 0)
		free(forgotten[--nforgotten]);
}

TEST(test_nothing_is_left)
{
	json_decref(run_with(NOTHING, 0, CASES, 0));
	json_decref(run_with(NOTHING, 0, 1, 0));
}

TEST(test_what_is_left_is_found)
{
	check_found(ONE_BYTE, "bytes of heap more");
	check_found(A_LARGE_PIECE, "bytes of heap more");
	check_found(A_DESCRIPTOR, "1 sockets more");
	check_found(A_THREAD, "1 threads more");
	/* A sanitizer maps and unmaps memory of its own. */
	if (!o2_process_held_sanitized())
		check_found(A_PAGE, "4096 bytes mapped more");
}

/* No case leaves anything when it is run again: the finding has the last case before the reading. */
TEST(test_what_no_case_leaves_by_itself_is_found)
{
	static struct o2_choice last;
	static uint8_t bytes[O2_CHOICE_MAX_BYTES];
	struct run run = {.leaky_run = 100};
	const struct o2_property property = o2_tally_property(&ops, &run.tally, NULL, 0, 0);
	char folder[] = "/tmp/o2ref-left-XXXXXX", path[64], name[O2_CASE_NAME_BYTES];
	const struct o2_run_options options = {.device = "model",
					       .program = "o2props",
					       .again = "",
					       .seed = SEED,
					       .cases = CASES,
					       .findings = 1,
					       .out_dir = mkdtemp(folder)};
	struct run other = {.leak = NOTHING};
	struct o2_report report = {0};
	json_t *result;
	size_t length;

	assert_int_equal(o2_run(&property, &options, &result), 1);
	o2_choice_random(&last, SEED, 127);
	run_case(&other, &last, &report);
	o2_case_name(last.record, last.record_bytes, name);
	snprintf(path, sizeof(path), "%s/leaky-%s", folder, name);
	assert_int_equal(o2_case_read(path, bytes, &length), 0);
	assert_int_equal(length, last.record_bytes);
	assert_memory_equal(bytes, last.record, length);
	assert_int_equal(unlink(path) + rmdir(folder), 0);
	json_decref(result);
	give_back(&run);
	give_back(&other);
	free(run.kept);
	free(other.kept);
	while (nforgotten > 0)
		free(forgotten[--nforgotten]);
}
