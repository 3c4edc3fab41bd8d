/* SPDX-License-Identifier: MIT */
#include "props/world/end_watch.h"

#include <stdlib.h>

struct o2_end_watch {
	struct o2_watch hook;
	struct o2_end_judge *judge;
	struct o2_report *report;
	struct o2_judged_first first;
	struct o2_judged_form form;
};

static void find(void *context, const struct o2_judge_finding *finding)
{
	struct o2_end_watch *watch = context;

	if (watch->report != NULL)
		o2_judged_fail(watch->report, finding);
	else
		o2_judged_keep(&watch->first, finding);
}

static void hear(void *context, const struct o2_watched *watched)
{
	struct o2_end_watch *watch = context;

	if (o2_judged_deaf)
		return;
	o2_judged_put_aside(true);
	o2_watch_tell(o2_end_judge_watch(watch->judge), watched);
	o2_judged_compare(&watch->form, watched, &watch->first);
	o2_judged_put_aside(false);
}

struct o2_end_watch *o2_end_watch_new(const uint64_t *now_ms, struct o2_report *report)
{
	const struct o2_end_judge_options options = {
		.judge = O2_JUDGED_OPTIONS, .wire = O2_WIRE_DEFAULTS, .now_ms = now_ms};
	struct o2_end_watch *watch = calloc(1, sizeof(*watch));

	if (watch != NULL)
		watch->judge = o2_end_judge_new(&options, find, watch);
	if (watch == NULL || watch->judge == NULL) {
		free(watch);
		return NULL;
	}
	watch->hook = (struct o2_watch){watch, hear};
	watch->report = report;
	return watch;
}

void o2_end_watch_free(struct o2_end_watch *watch)
{
	struct o2_end_heard heard;

	if (watch == NULL)
		return;
	/* If memory ran out, the judge has heard less. */
	heard = o2_end_judge_heard(watch->judge);
	o2_judged_add(&o2_judged_all, &(struct o2_judged){heard.connections, heard.messages, heard.writes});
	o2_end_judge_free(watch->judge);
	free(watch);
}

const struct o2_watch *o2_end_watch_hook(const struct o2_end_watch *watch)
{
	return &watch->hook;
}

struct o2_judged_form *o2_end_watch_form(struct o2_end_watch *watch)
{
	return &watch->form;
}

const char *o2_end_watch_broken(struct o2_end_watch *watch, struct o2_error *error)
{
	return o2_judged_take(&watch->first, error);
}
