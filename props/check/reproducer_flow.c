/* SPDX-License-Identifier: MIT */
#include <inttypes.h>

#include "props/check/reproducer.h"
#include "wire/msg_type.h"

/* A conversation of stage flow in C: its events, and the messages and state after each. */

static void put_event(FILE *out, const struct o2_impl_flow_event *event)
{
	static const char *const kinds[] = {"QUEUE", "SENT", "RECEIVE", "REPOST", "TICK", "FAIL"};

	fprintf(out, "\t{.kind = O2_IMPL_FLOW_%s", kinds[event->kind]);
	if (event->type != 0)
		fprintf(out, ", .type = 0x%" PRIx32 "u /* %s */", event->type,
			o2_msg_type_names[event->type]);
	if (event->credits != 0)
		fprintf(out, ", .credits = %" PRIu32 "u", event->credits);
	if (event->ms != 0)
		fprintf(out, ", .ms = %" PRIu32 "u", event->ms);
	fputs("},\n", out);
}

static void put_flow(struct o2_reproducer *r)
{
	const struct o2_case_flow *asked = &r->asked.flow;

	fputs("static const struct o2_impl_flow_event events[] = {\n", r->out);
	for (uint32_t i = 0; i < asked->count; i++)
		put_event(r->out, &asked->event[i]);
	/* C has no arrays of no elements. */
	fprintf(r->out,
		"%s};\nstatic const struct o2_impl_flow_in in = {\n\t.ibm_version = 0x%" PRIx32
		"u, .queue_depth = %" PRIu32 "u, .high_water = %" PRIu32 "u,\n\t.concurrent_sends = %" PRIu32
		"u, .keepalive_ms = %" PRIu32 "u,\n\t.count = %" PRIu32 "u, .event = events,\n};\n",
		asked->count == 0 ? "\t{0},\n" : "", asked->ibm_version, asked->queue_depth,
		asked->high_water, asked->concurrent_sends, asked->keepalive_ms, asked->count);
}

static void put_step(FILE *out, const struct o2_impl_flow_step *step)
{
	fprintf(out, "\t{.closed = %" PRIu32 "u, .queued = %" PRIu32 "u, .count = %" PRIu32 "u", step->closed,
		step->queued, step->count);
	for (uint32_t i = 0; i < step->count; i++)
		fprintf(out, ",\n\t .message[%" PRIu32 "] = {0x%x /* %s */, %u, %" PRIu32 "u}", i,
			step->message[i].type, o2_msg_type_names[step->message[i].type],
			step->message[i].credits, step->message[i].of);
	fputs("},\n", out);
}

static const char text_of_compare[] =
	"static void compare(void)\n"
	"{\n"
	"\tuint32_t i, k;\n\n"
	"\tsay(\"steps\", in.count, out.count, 1);\n"
	"\tfor (i = 0; i < in.count && i < out.count; i++) {\n"
	"\t\tprintf(\"  event %\" PRIu32 \"\\n\", i);\n"
	"\t\tsay(\"    closed\", right[i].closed, out_step[i].closed, 1);\n"
	"\t\tsay(\"    queued\", right[i].queued, out_step[i].queued, 1);\n"
	"\t\tsay(\"    messages\", right[i].count, out_step[i].count, 1);\n"
	"\t\tfor (k = 0; k < right[i].count && k < out_step[i].count; k++) {\n"
	"\t\t\tsay(\"    type\", right[i].message[k].type, out_step[i].message[k].type, 1);\n"
	"\t\t\tsay(\"    credits\", right[i].message[k].credits, out_step[i].message[k].credits, 1);\n"
	"\t\t\tsay(\"    of\", right[i].message[k].of, out_step[i].message[k].of, 1);\n"
	"\t\t}\n"
	"\t}\n"
	"}\n\n";

static void compare_flow(struct o2_reproducer *r)
{
	const struct o2_answer_flow *right = &r->expected.flow;

	o2_reproducer_array(r, "struct o2_impl_flow_step", "out_step", O2_IMPL_FLOW_EVENTS);
	fputs("static struct o2_impl_flow_out out = {.capacity = O2_IMPL_FLOW_EVENTS, .step = out_step};\n\n"
	      "static const struct o2_impl_flow_step right[] = {\n",
	      r->out);
	for (uint32_t i = 0; i < right->count; i++)
		put_step(r->out, &right->step[i]);
	fprintf(r->out, "%s};\n\n%s", right->count == 0 ? "\t{0},\n" : "", text_of_compare);
}

const struct o2_reproducer_stage o2_reproducer_flow = {.question = put_flow, .answer = compare_flow};
