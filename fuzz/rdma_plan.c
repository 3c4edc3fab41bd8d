/* SPDX-License-Identifier: MIT */
/*
 * rdma_plan: byte k of the source goes to byte k of the sink, in the fewest work requests and within every
 * limit; impossible descriptors get an answer too.  Draws: source, sink (fragments: more?, shape, its
 * numbers; count), nob, limits.
 */
#include "fuzz/common.h"
#include "props/scenario/draw.h"
#include "props/stage/rdma.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct o2_rdma_input drawn;
	static struct o2_rdma_outcome outcome;
	struct o2_report report;

	o2_report_clear(&report);
	o2_draw_rdma(o2_fuzz_choice(data, size), &drawn);
	o2_rdma_check(&drawn, &outcome, &report);
	o2_fuzz_report("rdma", &report);
	return 0;
}
