/* SPDX-License-Identifier: MIT */
/* Keeps each event for the HTML page, which shows all of them. */
#include <stdlib.h>
#include <string.h>

#include "props/command/told_internal.h"

FILE *o2_told_open(char **text, size_t *bytes)
{
	FILE *out = open_memstream(text, bytes);

	if (out == NULL)
		abort(); /* out of memory: the harness cannot test anything */
	return out;
}

void o2_told_remember(struct o2_told *told, const struct o2_judge_event *event, const struct o2_msg *said,
		      const uint8_t *bytes, uint32_t behind)
{
	struct o2_told_step *step = &told->step[told->nsteps++];
	size_t size;
	FILE *out;

	told->packet_of[event->number] = told->file->packets;
	*step = (struct o2_told_step){.kind = event->kind,
				      .from = event->from,
				      .packet = told->file->packets,
				      .time_ns = event->time_ns,
				      .bytes = event->bytes,
				      .addr = event->addr,
				      .rkey = event->rkey,
				      .announced = event->announced_bytes,
				      .behind = behind};
	if (said == NULL)
		return;
	step->msg = malloc(sizeof(*step->msg));
	if (step->msg == NULL)
		abort();
	*step->msg = *said;
	out = o2_told_open(&step->summary, &size);
	o2_told_summary(out, said);
	fclose(out);
	out = o2_told_open(&step->dump, &size);
	o2_told_dump(out, said, bytes);
	fclose(out);
}

void o2_told_remember_reject(struct o2_told *told, const struct o2_judge_event *event,
			     const struct o2_reject *record, const uint8_t *bytes)
{
	struct o2_told_step *step = &told->step[told->nsteps];
	size_t size;
	FILE *out;

	o2_told_remember(told, event, NULL, NULL, 0);
	out = o2_told_open(&step->summary, &size);
	o2_told_summary_reject(out, record);
	fclose(out);
	out = o2_told_open(&step->dump, &size);
	o2_told_dump_reject(out, record, bytes, O2_REJECT_PRIVATE_BYTES - O2_REJECT_BYTES);
	fclose(out);
}

void o2_told_heard(void *context, const struct o2_judge_conn *conn, const struct o2_judge_event *event)
{
	struct o2_told *told = context;
	struct o2_told_step *step;

	(void)event;
	if (told->untold || told->nsteps == 0)
		return;
	step = &told->step[told->nsteps - 1];
	told->view = o2_judge_view(conn);
	memcpy(step->least, told->view.least_credits, sizeof(step->least));
	memcpy(step->most, told->view.most_credits, sizeof(step->most));
	step->found = told->hearing->nlog;
}

void o2_told_free(struct o2_told *told)
{
	for (uint32_t i = 0; i < told->nsteps; i++) {
		free(told->step[i].msg);
		free(told->step[i].summary);
		free(told->step[i].dump);
	}
	json_decref(told->rows);
}
