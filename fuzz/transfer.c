/* SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "fuzz/common.h"
#include "props/transfer/transfer.h"

/*
 * The transfer property on loopverbs: the input is a choice sequence, the same as o2props runs, so that a
 * finding replays there (docs/fuzzing.md).
 */

static struct o2_transfer_run *open_once(void)
{
	static struct o2_transfer_run run;
	struct o2_error error = {0};
	struct o2_rung *rung;
	char text[200];

	if (run.rung != NULL)
		return &run;
	if (o2_rung_open_verbs("loop0", "loop1", 1, &rung, &error) != 0) {
		o2_error_text(&error, text, sizeof(text));
		o2_fuzz_fail("transfer: cannot open loopverbs: %s", text);
	}
	if (o2_transfer_run_open(rung, 1, &run) != 0)
		o2_fuzz_fail("transfer: no memory for a run");
	return &run;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct o2_choice choice;
	static struct o2_report report;
	struct o2_transfer_run *run = open_once();

	o2_choice_replay(&choice, data, size);
	/*
	 * Memory beside the pages in use is looked at every so often; a hit then names the last few inputs.
	 */
	if (o2_transfer_case(run, &choice, &report) == O2_STATUS_INTERESTING) {
		for (uint32_t i = 0; i < report.lines; i++)
			fprintf(stderr, "  %s\n", report.line[i]);
		o2_fuzz_fail("transfer: %s", report.signature);
	}
	return 0;
}
