/* SPDX-License-Identifier: MIT */
/* Buffers of any pieces in any mode over loopverbs: the property transfer. */
#include "fuzz/property.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "props/transfer/transfer_run.h"

static struct o2_transfer_run run;
static uint64_t inputs;

/*
 * All memory is compared only every O2_SWEEP_CASES inputs, at the end, and after each of the first few, so that
 * a file fails when it is replayed alone.
 */
#define SWEPT_ALWAYS 4u

/* The inputs since the last comparison: one of them is the cause of what it finds. */
static struct {
	uint8_t bytes[O2_CHOICE_MAX_BYTES];
	size_t size;
} kept[O2_SWEEP_CASES];

static void keep(uint64_t number, const uint8_t *data, size_t size)
{
	kept[number % O2_SWEEP_CASES].size = size < O2_CHOICE_MAX_BYTES ? size : O2_CHOICE_MAX_BYTES;
	memcpy(kept[number % O2_SWEEP_CASES].bytes, data, kept[number % O2_SWEEP_CASES].size);
}

/* Run the kept inputs again.  The engine saves its last input, so the one that fails now is printed. */
static void blame(const struct o2_property *property)
{
	static struct o2_report report;

	run.sweep_always = true;
	for (uint64_t i = inputs > O2_SWEEP_CASES ? inputs - O2_SWEEP_CASES : 0; i < inputs; i++) {
		const uint8_t *bytes = kept[i % O2_SWEEP_CASES].bytes;
		const size_t size = kept[i % O2_SWEEP_CASES].size;

		property->ops->reset(&run);
		if (property->ops->run_case(&run, o2_fuzz_choice(bytes, size), &report) !=
		    O2_STATUS_INTERESTING)
			continue;
		fprintf(stderr, "the cause is %llu inputs back, in hexadecimal: ",
			(unsigned long long)(inputs - 1 - i));
		for (size_t k = 0; k < size; k++)
			fprintf(stderr, "%02x", bytes[k]);
		fputc('\n', stderr);
		o2_fuzz_found(property, &report);
	}
}

static void sweep_last(void)
{
	static struct o2_report report;
	const struct o2_property property = o2_transfer_property(&run);

	if (o2_transfer_sweep(&run, &report))
		return;
	blame(&property);
	o2_fuzz_report("transfer", &report);
}

static void open_once(void)
{
	struct o2_error error = {0};
	struct o2_rung *rung;
	char text[200];

	if (run.rung != NULL)
		return;
	if (o2_rung_open_verbs("loop0", "loop1", 1, &rung, &error) != 0) {
		o2_error_text(&error, text, sizeof(text));
		o2_fuzz_fail("transfer: cannot open loopverbs: %s", text);
	}
	if (o2_transfer_run_open(rung, &run) != 0 || atexit(sweep_last) != 0)
		o2_fuzz_fail("transfer: no memory for a run");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct o2_report report;
	const struct o2_property property = o2_transfer_property(&run);

	open_once();
	run.sweep_always = inputs < SWEPT_ALWAYS;
	keep(inputs++, data, size);
	if (property.ops->run_case(&run, o2_fuzz_choice(data, size), &report) != O2_STATUS_INTERESTING)
		return 0;
	if (!run.sweep_always && strcmp(report.signature, "sweep") == 0)
		blame(&property);
	o2_fuzz_found(&property, &report);
	return 0;
}
