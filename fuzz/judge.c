/* SPDX-License-Identifier: MIT */
/*
 * `o2ref judge` on any file: it is judged twice with the same findings, what it counts is what was walked, and
 * the report has its JSON form.
 */
#include <inttypes.h>

#include "cli/judge_report.h"
#include "fuzz/common.h"

struct judging {
	struct o2_links *links;
	uint64_t messages, writes;
};

static void hear(void *context, const struct o2_event *event)
{
	struct judging *judging = context;

	judging->messages += event->kind == O2_EVENT_SEND;
	judging->writes += event->kind == O2_EVENT_WRITE;
	if (o2_links_hear(judging->links, event) != 0)
		o2_fuzz_fail("frame %" PRIu64 ": no memory", event->frame);
}

static void judge(const uint8_t *data, size_t size, struct o2_judge_report *report,
		  struct o2_judge_seen_totals *totals)
{
	const struct o2_wire_options options = O2_WIRE_DEFAULTS;
	const struct o2_judge_options judging_options = {50000, 1000, true};
	struct o2_judge *judge = o2_judge_new(&judging_options, o2_judge_report_add, report);
	struct judging judging = {.links = judge == NULL ? NULL : o2_links_new(judge)};
	char why[O2_PCAP_WHY_BYTES];

	if (judging.links == NULL)
		o2_fuzz_fail("no memory");
	o2_pcap_walk_bytes(data, size, &options, hear, &judging, &totals->walk, why);
	totals->links = o2_links_totals(judging.links);
	if (totals->links.messages > judging.messages || totals->links.writes > judging.writes)
		o2_fuzz_fail("the judge heard more than there was");
	o2_links_free(judging.links);
	o2_judge_free(judge);
}

/* As the command would print it. */
static json_t *judged(const uint8_t *data, size_t size)
{
	static struct o2_judge_report report; /* large */
	struct o2_judge_seen_totals totals = {.links = {0}};
	json_t *form;

	report = (struct o2_judge_report){.count = 0};
	judge(data, size, &report, &totals);
	form = o2_judge_report_to_json(&report, "file", &totals);
	if (form == NULL)
		o2_fuzz_fail("the report has no JSON form");
	return form;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	json_t *first = judged(data, size), *second = judged(data, size);

	if (json_equal(first, second) == 0)
		o2_fuzz_fail("two judgements differ");
	json_decref(first);
	json_decref(second);
	return 0;
}
