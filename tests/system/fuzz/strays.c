/* SPDX-License-Identifier: MIT */
/*
 * Fuzz target transfer compares all memory only now and then, and at its end.  Tests that it then names the input that
 * has changed a byte which no transfer names.  Exit status 0, or 1 after what is wrong.
 */
#include <setjmp.h>

#include "props/transfer/transfer_run.h"

static struct o2_property strays(struct o2_transfer_run *run);
static int at_end(void (*function)(void));
#define o2_transfer_property strays
#define atexit		     at_end
#include "fuzz/transfer.c"
#undef o2_transfer_property
#undef atexit

static void (*ending)(void);
static jmp_buf failed; /* where the target would abort */

static int at_end(void (*function)(void))
{
	ending = function;
	return 0;
}

/* An input of two bytes changes a byte of a page that the inputs of this test do not use. */
static enum o2_status run_case(void *context, struct o2_choice *choice, struct o2_report *report)
{
	const struct o2_arena *arena = run.image[0][0]->arena;

	if (choice->input_bytes == 2)
		arena->memory[(O2_SCENARIO_PAGES - 1) * arena->page_bytes] ^= 1;
	return o2_transfer_property(context).ops->run_case(context, choice, report);
}

static struct o2_property strays(struct o2_transfer_run *of)
{
	static struct o2_property_ops ops;
	struct o2_property property = o2_transfer_property(of);

	ops = *property.ops;
	ops.run_case = run_case;
	property.ops = &ops;
	return property;
}

struct o2_choice *o2_fuzz_choice(const uint8_t *data, size_t size)
{
	static struct o2_choice choice;

	o2_choice_replay(&choice, data, size);
	return &choice;
}

void o2_fuzz_found(const struct o2_property *property, const struct o2_report *report)
{
	(void)property;
	fprintf(stderr, "%s\n", report->signature);
	longjmp(failed, 1);
}

void o2_fuzz_report(const char *name, const struct o2_report *report)
{
	fprintf(stderr, "%s: %s, and no input is named\n", name, report->signature);
}

void o2_fuzz_fail(const char *format, ...)
{
	fprintf(stderr, "%s\n", format);
	exit(1);
}

static const struct row {
	uint64_t count, stray; /* so many inputs, of which this one strays */
	uint64_t ran;
	const char *said;
} rows[] = {
	{100, 100, 100, ""},
	/* The first ones are compared at once, so that a file fails when it is replayed alone. */
	{100, 3, 4, "sweep\n"},
	{100, 4, 64, "the cause is 59 inputs back, in hexadecimal: 0000\nsweep\n"},
	{100, 63, 64, "the cause is 0 inputs back, in hexadecimal: 0000\nsweep\n"},
	{100, 64, 100, "the cause is 35 inputs back, in hexadecimal: 0000\nsweep\n"},
	{100, 99, 100, "the cause is 0 inputs back, in hexadecimal: 0000\nsweep\n"},
	{6, 4, 6, "the cause is 1 inputs back, in hexadecimal: 0000\nsweep\n"},
};

static bool holds(const struct row *row)
{
	static const uint8_t zeros[2];
	static char text[200];
	FILE *const said = fmemopen(text, sizeof(text), "w"), *const was = stderr;

	if (said == NULL)
		return false;
	text[0] = '\0';
	run.counters.cases = inputs = 0;
	stderr = said;
	if (setjmp(failed) == 0) {
		for (uint64_t i = 0; i < row->count; i++)
			LLVMFuzzerTestOneInput(zeros, 1 + (i == row->stray));
		ending();
	}
	stderr = was;
	fclose(said);
	o2_transfer_reset(&run);
	if (inputs == row->ran && strcmp(text, row->said) == 0)
		return true;
	fprintf(stderr, "input %llu of %llu: %llu ran, %s\n", (unsigned long long)row->stray,
		(unsigned long long)row->count, (unsigned long long)inputs, text);
	return false;
}

int main(void)
{
	bool good = true;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		good = holds(&rows[i]) && good;
	printf("%zu rows\n", sizeof(rows) / sizeof(rows[0]));
	return good ? 0 : 1;
}
