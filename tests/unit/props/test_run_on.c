/* SPDX-License-Identifier: MIT */
/*
 * A run that lacks a situation goes on for a while (docs/properties.md, "Situations of the properties without a
 * device"); what a run counts; what it says about a sweep; what an export leaves out.
 */

#include "props/engine/run.h"

#include <errno.h>
#include <unistd.h>

#include "props/engine/tally.h"
#include "props/transfer/transfer_internal.h"
#include "props/transfer/transfer_run.h"
#include "tests/lib/unit_test.h"

#define CASES 20u
#define MOST  (3u * CASES)

struct run {
	struct o2_tally tally; /* must be first: props/engine/tally.h */
	uint64_t met_after;    /* number of the case that meets the situation */
};

static enum o2_status run_case(void *context, struct o2_choice *choice, struct o2_report *report)
{
	struct run *run = context;

	o2_report_clear(report);
	o2_draw(choice, 1);
	run->tally.cases++;
	run->tally.seen[0] += run->tally.cases == run->met_after;
	return O2_STATUS_VALID;
}

static void print(const void *context, uint32_t pieces, FILE *out)
{
}

/* enough: the number of cases after which the situation must have occurred. */
static void check_run(uint64_t met_after, uint64_t enough, uint64_t cases, uint64_t missing)
{
	static const struct o2_property_ops ops = {
		.name = "late", .run_case = run_case, .print = print, O2_TALLY_OPS};
	static const char *const situation[] = {"seldom"};
	struct run run = {.met_after = met_after};
	const struct o2_property property = o2_tally_property(&ops, &run.tally, situation, 1, enough);
	const struct o2_run_options options = {.device = "model",
					       .program = "o2props",
					       .again = "",
					       .seed = 1,
					       .cases = CASES,
					       .findings = 1};
	json_t *result;

	assert_int_equal(o2_run(&property, &options, &result), missing > 0);
	assert_int_equal(run.tally.cases, cases);
	assert_int_equal(json_integer_value(json_object_get(result, "cases")), cases);
	assert_int_equal(json_array_size(json_object_get(result, "missing")), missing);
	json_decref(result);
}

TEST(test_what_occurs_late_is_waited_for)
{
	check_run(1, CASES, CASES, 0);
	check_run(CASES, CASES, CASES, 0);
	check_run(CASES + 1, CASES, CASES + 1, 0);
	check_run(MOST, CASES, MOST, 0);
}

TEST(test_what_does_not_occur_is_missing)
{
	check_run(MOST + 1, CASES, MOST, 1);
}

TEST(test_a_short_run_need_not_meet_it)
{
	check_run(CASES + 1, CASES + 1, CASES, 0);
}

/* A case that cannot be run is not counted. */
static enum o2_status cannot_run(void *context, struct o2_choice *choice, struct o2_report *report)
{
	o2_report_clear(report);
	return O2_STATUS_INVALID;
}

TEST(test_a_run_of_nothing_does_not_hold)
{
	static const struct o2_property_ops ops = {
		.name = "none", .run_case = cannot_run, .print = print, O2_TALLY_OPS};
	struct run run = {0};
	const struct o2_property property = o2_tally_property(&ops, &run.tally, NULL, 0, 0);
	struct o2_run_options options = {
		.device = "model", .program = "o2props", .again = "", .cases = 100, .findings = 1};
	json_t *result;

	assert_int_equal(o2_run(&property, &options, &result), 1);
	assert_int_equal(json_array_size(json_object_get(result, "missing")), 1);
	json_decref(result);
	/* A single case may be rejected. */
	options.cases = 1;
	assert_int_equal(o2_run(&property, &options, &result), 0);
	json_decref(result);
}

/* --- memory that is short --- */

static size_t refused_bytes; /* malloc of so many bytes fails; 0: none */

void *__real_malloc(size_t bytes);
void *__wrap_malloc(size_t bytes);

void *__wrap_malloc(size_t bytes)
{
	return refused_bytes != 0 && bytes == refused_bytes ? NULL : __real_malloc(bytes);
}

static enum o2_status fails(void *context, struct o2_choice *choice, struct o2_report *report)
{
	o2_report_clear(report);
	o2_draw(choice, 1);
	o2_report_fail(report, "late/wrong", "it fails");
	return O2_STATUS_INTERESTING;
}

static enum o2_status fails_with_a_byte(void *context, struct o2_choice *choice, struct o2_report *report)
{
	o2_report_clear(report);
	o2_report_fail(report, "late/wrong", "read \xc2, expected a letter");
	return O2_STATUS_INTERESTING;
}

/* JSON holds neither all bytes of a line nor all numbers of a case. */
TEST(test_what_json_cannot_hold_is_in_the_result_all_the_same)
{
	static const struct o2_property_ops ops = {
		.name = "late", .run_case = fails_with_a_byte, .print = print, O2_TALLY_OPS};
	struct run run = {0};
	const struct o2_property property = o2_tally_property(&ops, &run.tally, NULL, 0, 0);
	const struct o2_run_options options = {.device = "model",
					       .program = "o2props",
					       .again = "",
					       .first_case = UINT64_MAX,
					       .cases = 1,
					       .findings = 1};
	const json_t *finding;
	json_t *result;

	assert_int_equal(o2_run(&property, &options, &result), 1);
	finding = json_array_get(json_object_get(result, "findings"), 0);
	assert_string_equal(json_string_value(json_array_get(json_object_get(finding, "lines"), 0)),
			    "read ?, expected a letter");
	assert_string_equal(json_string_value(json_object_get(finding, "case")), "0xffffffffffffffff");
	json_decref(result);
}

/* A finding for which there is no memory cannot be shown, but the run does not hold. */
TEST(test_a_finding_that_cannot_be_kept_counts)
{
	static const struct o2_property_ops ops = {
		.name = "late", .run_case = fails, .print = print, O2_TALLY_OPS};
	struct run run = {0};
	const struct o2_property property = o2_tally_property(&ops, &run.tally, NULL, 0, 0);
	const struct o2_run_options options = {
		.device = "model", .program = "o2props", .again = "", .cases = 1, .findings = 1};
	json_t *result;

	refused_bytes = O2_CHOICE_MAX_BYTES;
	assert_int_equal(o2_run(&property, &options, &result), 1);
	refused_bytes = 0;
	assert_int_equal(json_array_size(json_object_get(result, "findings")), 0);
	json_decref(result);
}

/* --- sweeps --- */

struct swept {
	struct o2_tally tally; /* must be first: props/engine/tally.h */
	uint64_t due;	       /* the case at which a sweep finds the page; at the end too */
	bool changed;	       /* the page is changed, until a reset */
};

static bool sweep(void *context, struct o2_report *report)
{
	struct swept *run = context;

	if (!run->changed)
		return true;
	o2_report_kind(report, "sweep");
	o2_report_add(report, "page 7 changed");
	return false;
}

static enum o2_status run_swept(void *context, struct o2_choice *choice, struct o2_report *report)
{
	struct swept *run = context;

	o2_report_clear(report);
	o2_draw(choice, 1);
	if (run->tally.cases++ == run->due)
		sweep(run, report);
	return report->failed ? O2_STATUS_INTERESTING : O2_STATUS_VALID;
}

static void clean(void *context)
{
	((struct swept *)context)->changed = false;
}

static void do_nothing(void *context)
{
}

/* due: as in struct swept.  at: the case that the only finding must name. */
static void check_swept(uint64_t due, uint64_t at)
{
	static const struct o2_property_ops ops = {.name = "swept",
						   .run_case = run_swept,
						   .reset = clean,
						   .sweep = sweep,
						   .sweep_always = do_nothing,
						   .print = print,
						   O2_TALLY_OPS};
	struct swept run = {.due = due, .changed = true};
	struct o2_property property = o2_tally_property(&ops, &run.tally, NULL, 0, 0);
	const struct o2_run_options options = {
		.device = "model", .program = "o2props", .again = "", .cases = CASES, .findings = 2};
	json_t *result, *finding;

	property.keeps = true;
	property.sweep_cases = 8;
	assert_int_equal(o2_run(&property, &options, &result), 1);
	assert_int_equal(run.tally.cases, CASES);
	assert_int_equal(json_array_size(json_object_get(result, "findings")), 1);
	finding = json_array_get(json_object_get(result, "findings"), 0);
	assert_string_equal(json_string_value(json_object_get(finding, "signature")), "sweep");
	assert_int_equal(json_integer_value(json_object_get(finding, "case")), at);
	assert_string_equal(json_string_value(json_array_get(json_object_get(finding, "lines"), 0)),
			    "page 7 changed");
	json_decref(result);
}

TEST(test_the_search_for_the_case_of_a_sweep_neither_counts_nor_forgets)
{
	check_swept(12, 12);
}

TEST(test_a_sweep_at_the_end_is_a_finding_like_others)
{
	check_swept(CASES, CASES - 1);
}

/* Otherwise a sweep after the next case would accuse that case. */
TEST(test_a_reset_cleans_what_the_last_case_did_not_use)
{
	static struct o2_transfer_run run;
	struct o2_report report = {0};
	struct o2_rung *rung;
	struct o2_image *image;
	struct o2_property property;

	assert_int_equal(o2_rung_open_model(&rung, NULL), 0);
	assert_int_equal(o2_transfer_run_open(rung, &run), 0);
	property = o2_transfer_property(&run);
	run.scenario.sink.kind = O2_DMA_VIRTUAL;
	image = run.image[O2_SINK][O2_DMA_BUS];
	o2_image_init(image, image->arena, O2_TRANSFER_RED_SEED);
	image->arena->memory[5] ^= 1;
	assert_false(property.ops->sweep(&run, &report));
	property.ops->reset(&run);
	assert_true(property.ops->sweep(&run, &report));
	o2_transfer_run_close(&run);
	rung->ops->close(rung);
}

/* --- export --- */

enum { MET, NOT_HERE, NEVER, MET_TOO, EXPORTED };

static enum o2_status run_exported(void *context, struct o2_choice *choice, struct o2_report *report)
{
	struct run *run = context;

	o2_report_clear(report);
	run->tally.seen[o2_draw(choice, 1) == 0 ? MET : MET_TOO]++;
	return O2_STATUS_VALID;
}

/* Which situations have a file in the folder; the folder is removed. */
static uint32_t take_files(const char *folder, const char *const *situation)
{
	uint32_t found = 0;
	char path[200];

	for (uint32_t i = 0; i < EXPORTED; i++) {
		snprintf(path, sizeof(path), "%s/%s", folder, situation[i]);
		found |= (unlink(path) == 0 ? 1u : 0u) << i;
	}
	assert_int_equal(rmdir(folder), 0);
	return found;
}

TEST(test_a_situation_that_is_not_met_does_not_end_an_export)
{
	static const struct o2_property_ops ops = {
		.name = "some", .run_case = run_exported, .print = print, O2_TALLY_OPS};
	static const char *const situation[] = {"met", "not_here", "never", "met_too"};
	struct run run = {.tally.excused[NOT_HERE] = true};
	const struct o2_property property = o2_tally_property(&ops, &run.tally, situation, EXPORTED, 0);
	char folder[] = "/tmp/o2ref-export-XXXXXX";

	assert_non_null(mkdtemp(folder));
	assert_int_equal(o2_export_situations(&property, folder, 1), 1);
	assert_int_equal(take_files(folder, situation), 1u << MET | 1u << MET_TOO);
	run.tally.excused[NEVER] = true;
	assert_int_equal(o2_export_situations(&property, folder, 1), 0);
	assert_int_equal(take_files(folder, situation), 1u << MET | 1u << MET_TOO);
	assert_int_equal(o2_export_situations(&property, "/dev/null/folder", 1), -ENOTDIR);
}
