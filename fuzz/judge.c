/* SPDX-License-Identifier: MIT */
/*
 * `o2ref judge` on any file.  Judging it twice must give the same findings; its counts must not exceed
 * those of the walk; the report must have a JSON form, and ladders within their limit.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/judge_report.h"
#include "cli/ladder_html.h"
#include "fuzz/common.h"

#define FIRST_EVENTS 8u

struct judging {
	struct o2_links *links;
	struct o2_ladder *ladder;
	struct o2_judge_report *report;
	uint64_t messages, writes;
};

static void hear(void *context, const struct o2_event *event)
{
	struct judging *judging = context;

	judging->ladder->now = event;
	judging->messages += event->kind == O2_EVENT_SEND;
	judging->writes += event->kind == O2_EVENT_WRITE;
	if (o2_links_hear(judging->links, event) != 0)
		o2_fuzz_fail("frame %" PRIu64 ": no memory", event->frame);
}

static void find(void *context, const struct o2_judge_finding *finding)
{
	struct judging *judging = context;

	o2_judge_report_add(judging->report, finding);
	o2_ladder_find(judging->ladder, finding);
}

/* Check the ladders, and write them as the command does. */
static void draw(struct o2_ladder *ladder)
{
	const uint32_t around = O2_LADDER_BEFORE + 1 + O2_LADDER_AFTER;
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	if (out == NULL)
		o2_fuzz_fail("no memory");
	o2_ladder_end(ladder);
	/* Factor 3: each kept event may refer back to an earlier one, and that to another one. */
	if (ladder->kept > 3 * (FIRST_EVENTS + (uint64_t)ladder->findings * (around + 1)))
		o2_fuzz_fail("%" PRIu64 " events are held", ladder->kept);
	o2_ladder_html(ladder, 1, out);
	if (fclose(out) != 0)
		o2_fuzz_fail("no memory");
	if (strstr(text, "<script") != NULL)
		o2_fuzz_fail("a script in the ladders");
	free(text);
}

static void judge(const uint8_t *data, size_t size, struct o2_judge_report *report,
		  struct o2_judge_seen_totals *totals)
{
	const struct o2_wire_options options = O2_WIRE_DEFAULTS;
	const struct o2_judge_options judging_options = {50000, 1000, true, 1};
	struct judging judging = {.report = report, .ladder = o2_ladder_new(FIRST_EVENTS, &options)};
	struct o2_judge *judge = o2_judge_new(&judging_options, find, &judging);
	char why[O2_PCAP_WHY_BYTES];

	judging.links = judge == NULL ? NULL : o2_links_new(judge);
	if (judging.links == NULL || judging.ladder == NULL)
		o2_fuzz_fail("no memory");
	o2_judge_listen(judge, o2_ladder_hear, judging.ladder);
	o2_pcap_walk_bytes(data, size, &options, hear, &judging, &totals->walk, why);
	totals->links = o2_links_totals(judging.links);
	if (totals->links.messages > judging.messages || totals->links.writes > judging.writes)
		o2_fuzz_fail("the judge heard more than there was");
	o2_links_free(judging.links);
	o2_judge_free(judge);
	draw(judging.ladder);
	o2_ladder_free(judging.ladder);
}

/* The report that the command prints. */
static json_t *judged(const uint8_t *data, size_t size)
{
	static struct o2_judge_report report; /* large */
	struct o2_judge_seen_totals totals = {.links = {0}};
	const struct o2_judge_result result = {"file", &report, &totals, NULL};
	json_t *form;

	report = (struct o2_judge_report){.count = 0};
	judge(data, size, &report, &totals);
	form = o2_judge_report_to_json(&result);
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
