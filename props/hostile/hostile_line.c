/* SPDX-License-Identifier: MIT */
#include "props/hostile/hostile_line.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

void o2_line_order(const struct o2_victim_line *line, char text[O2_LINE_BYTES])
{
	if (line->settle)
		snprintf(text, O2_LINE_BYTES, "settle\n");
	else
		snprintf(text, O2_LINE_BYTES, "%s %" PRIu64 " %s\n", o2_victim_act_name(line->order.act),
			 line->order.value, o2_reg_mode_name(line->order.mode));
}

static bool read_mode(const char *name, enum o2_reg_mode *mode)
{
	for (unsigned int i = 0; i < O2_REG_MODES; i++)
		if (strcmp(name, o2_reg_mode_names[i]) == 0) {
			*mode = (enum o2_reg_mode)i;
			return true;
		}
	return false;
}

bool o2_line_read_order(const char *text, struct o2_victim_line *line)
{
	char name[16] = "", mode[16] = "global";

	*line = (struct o2_victim_line){.settle = false};
	if (sscanf(text, "%15s %" SCNu64 " %15s", name, &line->order.value, mode) < 1)
		return false;
	line->settle = strcmp(name, "settle") == 0;
	line->order.act = o2_victim_act_find(name);
	return (line->settle || line->order.act != O2_VICTIM_ACTS) && read_mode(mode, &line->order.mode);
}

void o2_line_answer(const struct o2_victim_answer *answer, uint32_t work, char text[O2_LINE_BYTES])
{
	const struct o2_victim_report *report = &answer->report;

	snprintf(text, O2_LINE_BYTES,
		 "status %d, values 0x%" PRIx64 " 0x%" PRIx64
		 ", work %u, open %d, closed %u code %d side %d rule %s, started %u matched %u done %u "
		 "received %u last %d: %s\n",
		 answer->status, answer->value[0], answer->value[1], work, report->open, report->closed,
		 report->code, (int)report->side, report->rule, report->started, report->matched,
		 report->done, report->received, report->status, answer->why);
}

bool o2_line_read_answer(const char *text, struct o2_victim_answer *answer, uint32_t *work)
{
	struct o2_victim_report *report = &answer->report;
	int open = 0, side = 0, end = 0;

	memset(answer, 0, sizeof(*answer));
	if (sscanf(text,
		   "status %d, values 0x%" SCNx64 " 0x%" SCNx64
		   ", work %u, open %d, closed %u code %d side %d rule %63[^,], started %u matched %u done "
		   "%u received %u last %d:%n",
		   &answer->status, &answer->value[0], &answer->value[1], work, &open, &report->closed,
		   &report->code, &side, report->rule, &report->started, &report->matched, &report->done,
		   &report->received, &report->status, &end) != 14 ||
	    end == 0)
		return false;
	report->open = open != 0;
	report->side = (enum o2_fault_side)side;
	snprintf(answer->why, sizeof(answer->why), "%.*s", (int)strcspn(text + end + 1, "\n"),
		 text + end + 1);
	return true;
}
