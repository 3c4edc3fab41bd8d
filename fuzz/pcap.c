/* SPDX-License-Identifier: MIT */
/*
 * `o2ref decode --pcap` on any file.  Two walks must give the same events and totals, and each event must
 * have a text and a JSON form.  Needs the sources of ref/cli/ except main.c, decode.c and encode.c.
 */
#include <inttypes.h>
#include <string.h>

#include "cli/pcap_json.h"
#include "cli/pcap_walk.h"
#include "cli/summary.h"
#include "fuzz/common.h"

/*
 * The number of events of a file whose forms are made.  Making all of them takes three times as long as
 * the walk, and an event that is late in one file is early in another.
 */
#define FORMS 4u

/* The number of events, and a hash of their frames and kinds. */
struct trace {
	uint64_t count, mix;
};

/* A form depends on the event alone, so the first walk's suffice. */
static void take_forms(const struct o2_event *event)
{
	json_t *form = o2_event_to_json(event);
	char text[O2_SUMMARY_TEXT_BYTES];

	if (form == NULL)
		o2_fuzz_fail("an event of frame %" PRIu64 " has no JSON form", event->frame);
	json_decref(form);
	if (event->msg != NULL)
		o2_msg_summary(event->msg, text);
	if (event->reject != NULL)
		o2_reject_summary(event->reject, text);
}

static void take(void *context, const struct o2_event *event)
{
	struct trace *trace = context;

	if ((event->msg != NULL) + (event->reject != NULL) + (event->refused != NULL) > 1)
		o2_fuzz_fail("frame %" PRIu64 " holds two things", event->frame);
	trace->count++;
	trace->mix = trace->mix * 31 + event->frame * 8u + (unsigned int)event->kind;
}

static void take_first(void *context, const struct o2_event *event)
{
	take(context, event);
	if (event->kind <= O2_EVENT_NOTE && ((const struct trace *)context)->count <= FORMS)
		take_forms(event);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct o2_wire_options options = O2_WIRE_DEFAULTS;
	struct trace traces[2] = {{0, 0}, {0, 0}};
	struct o2_walk_totals totals[2];
	char why[O2_PCAP_WHY_BYTES];
	int rc[2];

	for (unsigned int i = 0; i < 2; i++)
		rc[i] = o2_pcap_walk_bytes(data, size, &options, i == 0 ? take_first : take, &traces[i],
					   &totals[i], why);
	if (rc[0] != rc[1] || memcmp(&traces[0], &traces[1], sizeof(traces[0])) != 0 ||
	    memcmp(&totals[0], &totals[1], sizeof(totals[0])) != 0)
		o2_fuzz_fail("two walks differ");
	if (totals[0].refused > totals[0].sends + totals[0].cm || totals[0].packets > size / 16)
		o2_fuzz_fail("the totals cannot be");
	return 0;
}
