/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <string.h>

#include "oracle/stages/setup_judge.h"
#include "props/check/check_life.h"

/* Set-ups: a bar for each resource, from its acquisition to its release; rounds one below the other. */

#define LEFT   90
#define COLUMN 16 /* width of an event */
#define ROW    18
#define HEAD   26 /* height of a round's head */

struct bars {
	const struct o2_case_setup *asked;
	const struct o2_answer_setup *found;
	struct o2_setup_fault fault[O2_SETUP_FAULTS];
	uint32_t nfaults;
	FILE *out;
};

static bool is_wrong(const struct bars *bars, uint32_t event)
{
	for (uint32_t i = 0; i < bars->nfaults; i++)
		if (bars->fault[i].event == event)
			return true;
	return false;
}

/* The index behind the last event of the round that begins at `first`. */
static uint32_t end_of(const struct bars *bars, uint32_t first)
{
	uint32_t end = first;

	while (end < bars->found->count && bars->found->event[end].round == bars->found->event[first].round)
		end++;
	return end;
}

/* The event that releases what event `from` acquired; `end`: none. */
static uint32_t release_of(const struct bars *bars, uint32_t from, uint32_t end)
{
	uint32_t i = from + 1;

	while (i < end && (bars->found->event[i].op != O2_IMPL_SETUP_RELEASE ||
			   bars->found->event[i].handle != bars->found->event[from].handle))
		i++;
	return i;
}

/* Draw the bar of an acquisition, also of a failed one. */
static void put_bar(const struct bars *bars, uint32_t i, uint32_t first, uint32_t end, int y)
{
	const struct o2_impl_setup_event *event = &bars->found->event[i];
	const uint32_t gone = release_of(bars, i, end);
	const int x = LEFT + (int)(i - first) * COLUMN;
	const bool fails = event->op == O2_IMPL_SETUP_FAIL;
	const bool red = is_wrong(bars, i) || (gone < end && is_wrong(bars, gone)) || (gone == end && !fails);

	o2_check_life_text(bars->out, 10, y + 12, red, o2_setup_kind_names[event->kind]);
	if (fails)
		o2_check_life_text(bars->out, x, y + 12, red, "fails");
	else
		fprintf(bars->out,
			"<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"%s\"><title>handle "
			"%" PRIu32 "</title></rect>\n",
			x, y, (int)(gone - i) * COLUMN, ROW - 4, red ? O2_LIFE_RED : "#9fb4cc",
			event->handle);
}

static int put_round(const struct bars *bars, uint32_t first, uint32_t end, int y)
{
	const uint32_t round = bars->found->event[first].round, n = bars->asked->round[round].fails_at;
	const int top = y;
	char text[64];

	snprintf(text, sizeof(text),
		 n == 0 ? "round %" PRIu32 ": nothing fails"
			: "round %" PRIu32 ": acquisition %" PRIu32 " fails",
		 round, n);
	o2_check_life_text(bars->out, 10, y + 14, false, text);
	y += HEAD;
	for (uint32_t i = first; i < end; i++) {
		const uint32_t op = bars->found->event[i].op;

		if (op != O2_IMPL_SETUP_ACQUIRE && op != O2_IMPL_SETUP_FAIL)
			continue;
		put_bar(bars, i, first, end, y);
		y += ROW;
	}
	for (uint32_t i = first; i < end; i++) {
		const int x = LEFT + (int)(i - first) * COLUMN;

		if (bars->found->event[i].op != O2_IMPL_SETUP_RETURN)
			continue;
		fprintf(bars->out, "<path d=\"M%d %dV%d\" stroke=\"#222\" stroke-dasharray=\"4 3\"/>\n", x,
			top + HEAD - 6, y);
		snprintf(text, sizeof(text), "returns %" PRIu32, bars->found->event[i].status);
		o2_check_life_text(bars->out, x, y + 12, is_wrong(bars, i), text);
	}
	return y + HEAD;
}

static int put_faults(const struct bars *bars, int y)
{
	char text[256];

	for (uint32_t i = 0; i < bars->nfaults; i++, y += ROW) {
		const struct o2_setup_fault *fault = &bars->fault[i];

		snprintf(text, sizeof(text), "event %" PRIu32 ": %s: expected %s, found %s", fault->event,
			 o2_check_name(fault->check), fault->expected, fault->found);
		o2_check_life_text(bars->out, 10, y + 12, true, text);
	}
	return y;
}

void o2_check_life_setup(const struct o2_check_both *both, FILE *out)
{
	struct bars bars = {.asked = &both->asked.setup, .found = &both->found.setup, .out = out};
	uint32_t rows = 0, widest = 0;
	int width, height, y = 24;

	bars.nfaults = o2_setup_judge(bars.asked, bars.found, bars.fault);
	for (uint32_t i = 0; i < bars.found->count; i++)
		rows += bars.found->event[i].op == O2_IMPL_SETUP_ACQUIRE ||
			bars.found->event[i].op == O2_IMPL_SETUP_FAIL;
	for (uint32_t first = 0; first < bars.found->count; first = end_of(&bars, first))
		if (end_of(&bars, first) - first > widest)
			widest = end_of(&bars, first) - first;
	width = LEFT + (int)widest * COLUMN + 460;
	height = y + (int)(rows + bars.nfaults) * ROW + (int)bars.asked->count * 2 * HEAD + ROW;
	o2_check_life_open(out, width, height);
	o2_check_life_text(out, 10, 16, false, "what the implementation holds, event by event");
	for (uint32_t first = 0; first < bars.found->count; first = end_of(&bars, first))
		y = put_round(&bars, first, end_of(&bars, first), y);
	(void)put_faults(&bars, y);
	fputs("</svg>", out);
}
