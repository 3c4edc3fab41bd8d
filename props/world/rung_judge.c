/* SPDX-License-Identifier: MIT */
#include "props/world/rung_judge.h"

#include <errno.h>
#include <stdlib.h>

#define PAIRS 32u

struct pair {
	struct o2_judge_conn *judged; /* NULL: not in use */
	const void *conn[O2_JUDGE_SIDES];
};

struct o2_rung_judge {
	struct o2_watch watch;
	struct o2_judge *judge;
	struct pair pair[PAIRS];
	uint64_t number;
	struct o2_judged heard;
	struct o2_judged_first first;
	struct o2_judged_form form;
	struct o2_msg msg; /* large */
	struct o2_error refused;
};

static void find(void *context, const struct o2_judge_finding *finding)
{
	struct o2_rung_judge *judge = context;

	o2_judged_keep(&judge->first, finding);
}

static struct pair *pair_of(struct o2_rung_judge *judge, const void *conn, enum o2_judge_side *side)
{
	for (uint32_t i = 0; i < PAIRS; i++)
		for (int end = O2_JUDGE_A; end < O2_JUDGE_SIDES; end++)
			if (judge->pair[i].judged != NULL && judge->pair[i].conn[end] == conn) {
				*side = (enum o2_judge_side)end;
				return &judge->pair[i];
			}
	return NULL;
}

static void judge_it(struct o2_rung_judge *judge, const struct o2_watched *watched)
{
	struct o2_judge_event event = {
		.bytes = watched->length_bytes,
		.addr = watched->addr,
		.rkey = watched->rkey,
		.announced_bytes = (uint32_t)watched->length_bytes,
	};
	struct pair *pair = pair_of(judge, watched->conn, &event.from);

	if (pair == NULL || !watched->ours)
		return;
	if (watched->kind == O2_WATCHED_GONE) {
		o2_judge_part(judge->judge, pair->judged);
		pair->judged = NULL;
		return;
	}
	if (watched->kind == O2_WATCHED_MESSAGE && watched->bytes == NULL)
		event.kind = O2_JUDGE_LOST;
	else if (watched->kind == O2_WATCHED_MESSAGE)
		event.kind = O2_JUDGE_MESSAGE;
	else if (watched->kind == O2_WATCHED_WRITE)
		event.kind = O2_JUDGE_WRITE;
	else
		return;
	if (event.kind == O2_JUDGE_MESSAGE &&
	    o2_msg_decode(watched->bytes, watched->length_bytes, NULL, &judge->msg, &judge->refused) == 0)
		event.msg = &judge->msg;
	else if (event.kind == O2_JUDGE_MESSAGE)
		event.refused = &judge->refused;
	/* There is no clock here, so rules about time are not judged. */
	event.number = event.time_ns = ++judge->number;
	judge->heard.messages += watched->kind == O2_WATCHED_MESSAGE;
	judge->heard.writes += watched->kind == O2_WATCHED_WRITE;
	/* If memory runs out, the judge hears less. */
	(void)o2_judge_hear(judge->judge, pair->judged, &event);
}

static void hear(void *context, const struct o2_watched *watched)
{
	struct o2_rung_judge *judge = context;

	if (o2_judged_deaf)
		return;
	o2_judged_put_aside(true);
	judge_it(judge, watched);
	o2_judged_compare(&judge->form, watched, &judge->first);
	o2_judged_put_aside(false);
}

struct o2_rung_judge *o2_rung_judge_new(void)
{
	struct o2_rung_judge *judge = calloc(1, sizeof(*judge));

	if (judge != NULL)
		judge->judge = o2_judge_new(&O2_JUDGED_OPTIONS, find, judge);
	if (judge == NULL || judge->judge == NULL) {
		free(judge);
		return NULL;
	}
	judge->watch = (struct o2_watch){judge, hear};
	return judge;
}

void o2_rung_judge_free(struct o2_rung_judge *judge)
{
	if (judge == NULL)
		return;
	o2_judged_add(&o2_judged_all, &judge->heard);
	o2_judge_free(judge->judge);
	free(judge);
}

const struct o2_watch *o2_rung_judge_watch(struct o2_rung_judge *judge)
{
	return &judge->watch;
}

int o2_rung_judge_met(struct o2_rung_judge *judge, const void *const conn[O2_JUDGE_SIDES],
		      const struct o2_judge_terms *terms)
{
	for (uint32_t i = 0; i < PAIRS; i++) {
		struct pair *pair = &judge->pair[i];

		if (pair->judged != NULL)
			continue;
		*pair = (struct pair){o2_judge_meet(judge->judge, O2_JUDGE_WHOLE), {conn[0], conn[1]}};
		if (pair->judged == NULL)
			return -ENOMEM;
		judge->heard.connections++;
		o2_judge_agreed(pair->judged, terms);
		return 0;
	}
	return -ENOMEM;
}

struct o2_judged_form *o2_rung_judge_form(struct o2_rung_judge *judge)
{
	return &judge->form;
}

const char *o2_rung_judge_broken(struct o2_rung_judge *judge, struct o2_error *error)
{
	return o2_judged_take(&judge->first, error);
}
