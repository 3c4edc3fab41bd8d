/* SPDX-License-Identifier: MIT */
/* Buffers of any pieces in any mode over loopverbs: the property transfer. */
#include "fuzz/property.h"
#include "props/transfer/transfer_run.h"

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
	if (o2_transfer_run_open(rung, &run) != 0)
		o2_fuzz_fail("transfer: no memory for a run");
	return &run;
}

/* Memory around the pages in use is checked only every few inputs; a finding then names the last few. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct o2_property property = o2_transfer_property(open_once());

	o2_fuzz_property(&property, data, size);
	return 0;
}
