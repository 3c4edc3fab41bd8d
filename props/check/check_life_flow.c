/* SPDX-License-Identifier: MIT */
#include "props/check/check_life.h"

#include <inttypes.h>
#include <stdio.h>

#include "oracle/stages/flow_end.h"
#include "oracle/stages/flow_follow.h"
#include "wire/msg_type.h"

#define EVENTS	250 /* width of the column with the events */
#define LADDER	330 /* width of a ladder */
#define END_AT	90  /* x in a ladder of this end and of the peer */
#define PEER_AT 300
#define TOP	64
#define ROW	18
#define WIDTH	(EVENTS + 2 * LADDER + 10)
#define INK	"#222"
#define PALE	"#aaa"

struct ladder {
	const struct o2_case_flow *asked;
	const struct o2_answer_flow *answer;
	const struct o2_flow_fault *fault; /* NULL: of the reference */
	uint32_t followed;		   /* events up to the fault */
	struct o2_flow_end end;
	int x;
	FILE *out;
};

static void put_text(FILE *out, int x, int y, const char *colour, const char *text)
{
	fprintf(out, "<text x=\"%d\" y=\"%d\" fill=\"%s\">%s</text>\n", x, y, colour, text);
}

/* --- the events, drawn left of both ladders --- */

static void put_event(FILE *out, const struct o2_case_flow *asked, uint32_t i, int y)
{
	static const char *const names[] = {"queue", "sent", "receive", "repost", "tick", "fail"};
	const struct o2_impl_flow_event *event = &asked->event[i];
	char text[96];

	if (event->kind == O2_IMPL_FLOW_TICK)
		snprintf(text, sizeof(text), "%" PRIu32 ": tick, %" PRIu32 " ms", i, event->ms);
	else if (event->kind == O2_IMPL_FLOW_QUEUE || event->kind == O2_IMPL_FLOW_RECEIVE)
		snprintf(text, sizeof(text), "%" PRIu32 ": %s %s", i, names[event->kind],
			 o2_msg_type_names[event->type]);
	else
		snprintf(text, sizeof(text), "%" PRIu32 ": %s", i, names[event->kind]);
	fprintf(out, "<path d=\"M10 %dH%d\" stroke=\"#eee\"/>\n", y - 13, WIDTH);
	put_text(out, 10, y, INK, text);
}

/* --- one ladder --- */

static bool is_past(const struct ladder *ladder, uint32_t event)
{
	return ladder->fault != NULL && ladder->fault->check != O2_CHECKS && event > ladder->fault->event;
}

static bool is_fault(const struct ladder *ladder, uint32_t event)
{
	return ladder->fault != NULL && ladder->fault->check != O2_CHECKS && event == ladder->fault->event;
}

/* Draw an arrow from `from` to `to`, with its text above it. */
static void put_arrow(const struct ladder *ladder, int from, int to, int y, const char *colour, bool missing,
		      const char *text)
{
	const int head = to > from ? -7 : 7;

	fprintf(ladder->out,
		"<path d=\"M%d %dH%dm%d -4l%d 4l%d 4\" fill=\"none\" stroke=\"%s\" "
		"stroke-width=\"1.5\"%s/>\n",
		ladder->x + from, y + 3, ladder->x + to, head, -head, head, colour,
		missing ? " stroke-dasharray=\"4 3\"" : "");
	put_text(ladder->out, ladder->x + END_AT + 12, y, colour, text);
}

static void put_arrival(const struct ladder *ladder, uint32_t i, int y, const char *colour)
{
	const struct o2_impl_flow_event *event = &ladder->asked->event[i];
	char text[64];

	if (event->kind != O2_IMPL_FLOW_RECEIVE)
		return;
	snprintf(text, sizeof(text), "%s, credits %" PRIu32, o2_msg_type_names[event->type], event->credits);
	put_arrow(ladder, PEER_AT, END_AT, y, colour, false, text);
}

static void put_message(const struct ladder *ladder, const struct o2_impl_flow_message *message, int y,
			const char *colour)
{
	const char *name = o2_msg_type_names[message->type];
	char text[80];

	if (message->type == O2_MSG_NOOP)
		snprintf(text, sizeof(text), "NOOP, credits %u", message->credits);
	else
		snprintf(text, sizeof(text), "%s of %" PRIu32 ", credits %u", name == NULL ? "?" : name,
			 message->of, message->credits);
	put_arrow(ladder, END_AT, PEER_AT, y, colour, false, text);
}

/* Draw a missing message behind the others; write another fault beside the line. */
static void put_fault(const struct ladder *ladder, int y)
{
	const struct o2_flow_fault *fault = ladder->fault;
	char text[3 * O2_FLOW_TEXT_BYTES];

	if (fault->message != O2_NO_INDEX)
		return;
	snprintf(text, sizeof(text), "%s: %s, not %s", fault->field, fault->found, fault->expected);
	if (fault->check == O2_CHECK_FLOW_STUCK || fault->check == O2_CHECK_FLOW_NOOP_MISSING)
		put_arrow(ladder, END_AT, PEER_AT, y, O2_LIFE_RED, true, fault->expected);
	else
		put_text(ladder->out, ladder->x + END_AT + 12, y, O2_LIFE_RED, text);
}

/* Write the state after the event, unless there was a fault. */
static void put_state(struct ladder *ladder, uint32_t i, int y, const char *colour)
{
	const struct o2_impl_flow_step *step = &ladder->answer->step[i];
	char text[64];

	if (step->closed != 0)
		put_text(ladder->out, ladder->x + 6, y, colour, "closed");
	if (step->closed != 0 || i >= ladder->followed)
		return;
	(void)o2_flow_take(&ladder->end, i);
	for (uint32_t k = 0; k < step->count; k++)
		o2_flow_post(&ladder->end, &step->message[k]);
	snprintf(text, sizeof(text), "%" PRIu32 " / %" PRIu32 " / %" PRIu32, ladder->end.credits.credits,
		 ladder->end.credits.outstanding, step->queued);
	put_text(ladder->out, ladder->x + 6, y, colour, text);
}

static void put_step(struct ladder *ladder, uint32_t i, int y)
{
	const struct o2_impl_flow_step *step = &ladder->answer->step[i];
	const char *colour = is_past(ladder, i) ? PALE : INK;
	const bool arrives = ladder->asked->event[i].kind == O2_IMPL_FLOW_RECEIVE;

	put_state(ladder, i, y, colour);
	put_arrival(ladder, i, y, colour);
	y += arrives ? ROW : 0;
	for (uint32_t k = 0; k < step->count; k++, y += ROW)
		put_message(ladder, &step->message[k], y,
			    is_fault(ladder, i) && ladder->fault->message == k ? O2_LIFE_RED : colour);
	if (is_fault(ladder, i))
		put_fault(ladder, y);
}

/* --- both ladders --- */

/* Rows that an event takes: one for what arrives, and one per message that is sent or missing. */
static int rows_of(const struct o2_check_both *both, const struct o2_flow_fault *fault, uint32_t i)
{
	const uint32_t arrives = both->asked.flow.event[i].kind == O2_IMPL_FLOW_RECEIVE;
	const uint32_t right = both->expected.flow.step[i].count;
	const uint32_t is = both->found.flow.step[i].count +
			    (fault->check != O2_CHECKS && fault->event == i && fault->message == O2_NO_INDEX);
	const uint32_t rows = arrives + (right > is ? right : is);

	return rows == 0 ? 1 : (int)rows;
}

static void put_head(const struct ladder *ladder, const char *name, int bottom)
{
	fprintf(ladder->out, "<text x=\"%d\" y=\"34\" font-weight=\"bold\">%s</text>\n", ladder->x + 6, name);
	put_text(ladder->out, ladder->x + END_AT - 20, 50, INK, "this end");
	put_text(ladder->out, ladder->x + PEER_AT - 12, 50, INK, "peer");
	fprintf(ladder->out, "<path d=\"M%d 54V%dM%d 54V%d\" stroke=\"#888\"/>\n", ladder->x + END_AT, bottom,
		ladder->x + PEER_AT, bottom);
}

void o2_check_life_flow(const struct o2_check_both *both, FILE *out)
{
	const struct o2_case_flow *asked = &both->asked.flow;
	struct o2_flow_fault fault, waits;
	struct ladder ladder[2] = {{.asked = asked,
				    .answer = &both->expected.flow,
				    .followed = asked->count,
				    .x = EVENTS,
				    .out = out},
				   {.asked = asked,
				    .answer = &both->found.flow,
				    .fault = &fault,
				    .x = EVENTS + LADDER,
				    .out = out}};
	int y = TOP + 6, bottom = TOP;

	ladder[1].followed = o2_flow_follow(asked, &both->found.flow, &fault, &waits);
	if (fault.check == O2_CHECKS)
		fault = waits;
	for (uint32_t i = 0; i < asked->count; i++)
		bottom += rows_of(both, &fault, i) * ROW;
	o2_check_life_open(out, WIDTH, bottom + 10);
	put_text(out, 10, 16, INK,
		 "the flow of the connection; after each event: credits at hand / owed / messages that wait");
	for (uint32_t who = 0; who < 2; who++) {
		put_head(&ladder[who], who == 0 ? "reference" : "implementation", bottom);
		o2_flow_begin(&ladder[who].end, asked);
	}
	for (uint32_t i = 0; i < asked->count; i++) {
		put_event(out, asked, i, y);
		put_step(&ladder[0], i, y);
		put_step(&ladder[1], i, y);
		y += rows_of(both, &fault, i) * ROW;
	}
	fputs("</svg>", out);
}
