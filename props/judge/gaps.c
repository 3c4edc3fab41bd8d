/* SPDX-License-Identifier: MIT */
#include "props/judge/gaps.h"

/* Timeouts are not judged here. */
#define TIMEOUT_MS (UINT64_C(1) << 40)

static void found(void *context, const struct o2_judge_finding *finding)
{
	struct o2_gaps *gaps = context;

	/* A finding that was never proven may be wrong; it is marked as such. */
	if (gaps->found || finding->unproven || o2_judge_rules[finding->rule].severity == O2_JUDGE_NOTE)
		return;
	gaps->found = true;
	gaps->first = *finding;
}

void o2_gaps_draw(struct o2_gaps *gaps)
{
	gaps->every = 2 + (uint32_t)o2_draw(gaps->h->c, 30);
	gaps->unheard = o2_draw_bool(gaps->h->c, 1, 1) ? (uint32_t)o2_draw(gaps->h->c, 20) : 0;
}

static bool open(struct o2_gaps *gaps)
{
	const struct o2_judge_options options = {.timeout_ms = TIMEOUT_MS,
						 .keepalive_ms = gaps->h->options.keepalive_ms,
						 .lossy = true,
						 .seed = gaps->h->options.seed};

	if (gaps->judge == NULL)
		gaps->judge = o2_judge_new(&options, found, gaps);
	if (gaps->judge != NULL && gaps->conn == NULL)
		gaps->conn = o2_judge_meet(gaps->judge, gaps->unheard > 0 ? O2_JUDGE_LATER : O2_JUDGE_WHOLE);
	return gaps->conn != NULL;
}

static void hear(struct o2_gaps *gaps, struct o2_judge_event event)
{
	event.number = ++gaps->number;
	o2_judge_hear(gaps->judge, gaps->conn, &event);
}

void o2_gaps_hear(void *context, const struct o2_judge_event *event)
{
	struct o2_gaps *gaps = context;

	/* Parts are not heard: a part belongs to a later WRITE, which may be missing. */
	if (!open(gaps) || event->kind == O2_JUDGE_PART || gaps->number++ < gaps->unheard)
		return;
	if ((event->kind == O2_JUDGE_MESSAGE || event->kind == O2_JUDGE_WRITE) &&
	    o2_draw_bool(gaps->h->c, gaps->every, 1)) {
		gaps->missing[event->from] = true;
		return;
	}
	if (gaps->missing[event->from])
		hear(gaps, (struct o2_judge_event){
				   .kind = O2_JUDGE_LOST, .from = event->from, .time_ns = event->time_ns});
	gaps->missing[event->from] = false;
	hear(gaps, *event);
}

void o2_gaps_close(struct o2_gaps *gaps)
{
	const struct o2_judge_finding *first = &gaps->first;

	if (gaps->judge == NULL)
		return;
	o2_judge_free(gaps->judge);
	gaps->judge = NULL;
	if (gaps->found && !gaps->h->dishonest && !gaps->h->report->failed)
		o2_report_fail_in(gaps->h->report, "verdicts/gaps", o2_judge_rules[first->rule].id,
				  "of an honest conversation with gaps: by %c at event %llu, about %llu",
				  first->who == O2_JUDGE_A ? 'A' : 'B', (unsigned long long)first->number,
				  (unsigned long long)first->earlier);
}
