/* SPDX-License-Identifier: MIT */
/* judge listens to an interface that delivers a capture: docs/judge.md, "While it happens". */
#include <inttypes.h>
#include <pcap/pcap.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "props/command/commands.h"
#include "props/command/commands_live.h"
#include "props/model/wire_model.h"

#define INTERFACE "o2wire0"

/* Static, as it must outlive the call: the command's process is forked from this one. */
static struct o2_pcap_live live;

static uint32_t load32(const struct o2_capture_file *file, size_t at)
{
	return (uint32_t)o2_wm_load(file->bytes + at, 4, !file->big_endian);
}

/* Are all time stamps whole microseconds? */
static bool has_whole_micros(const struct o2_capture_file *file)
{
	for (size_t at = 24; at + 16 <= file->length; at += 16 + load32(file, at + 8))
		if (load32(file, at + 4) % 1000 != 0)
			return false;
	return true;
}

static void arm(struct o2_commands_run *run, const struct o2_capture_file *file)
{
	live = (struct o2_pcap_live){.interface = INTERFACE,
				     .bytes = file->bytes,
				     .length = file->length,
				     .fails = O2_PCAP_NOTHING_FAILS,
				     .warns = o2_draw_bool(run->c, 1, 1),
				     .micro = o2_draw_bool(run->c, 1, 1) && has_whole_micros(file),
				     .empty = (uint32_t)o2_draw(run->c, 5)};
	run->command.memory->pcap_live(&live);
}

bool o2_commands_can_listen(const struct o2_commands_run *run, const struct o2_capture_file *file)
{
	return run->inside && run->command.memory != NULL && file->packets != 0;
}

void o2_commands_listen(struct o2_commands_run *run, const struct o2_capture_file *file,
			struct o2_told_report *report)
{
	const uint64_t ends = o2_draw(run->c, 10);

	arm(run, file);
	if (o2_draw_bool(run->c, 1, 1)) {
		live.dropped = (uint32_t)o2_draw(run->c, UINT32_MAX);
		live.lost = (uint32_t)o2_draw(run->c, UINT32_MAX);
	}
	report->dropped = (uint64_t)live.dropped + live.lost;
	o2_commands_words(run, "--live=" INTERFACE);
	if (ends == 10)
		o2_commands_words(run, "--seconds=1");
	else if (ends > 5)
		o2_command_word(&run->command, "--packets=%" PRIu32, file->packets);
	else
		live.signal = ends % 2 == 0 ? SIGINT : SIGTERM;
	report->file[0] = (struct o2_told_file){.name = INTERFACE};
	report->nfiles = 1;
	run->greeting = "o2ref: listening on " INTERFACE "\n";
	run->tally.seen[O2_COMMANDS_LIVE]++;
}

void o2_commands_listened(struct o2_commands_run *run)
{
	run->greeting = NULL;
	if (run->command.memory != NULL)
		run->command.memory->pcap_live(NULL);
}

/* Is the line a finding of a broken rule, as text or as a JSON object? */
static bool is_finding(const struct o2_told_report *report, const char *line, bool json)
{
	char text[512];

	if (json != (line[0] == '{'))
		return false;
	snprintf(text, sizeof(text), "%.*s", (int)strcspn(line, "\n"), line);
	for (uint32_t i = 0; i < report->nfound; i++)
		if (strstr(text, report->found[i].rule->id) != NULL)
			return true;
	return false;
}

void o2_commands_take_findings(struct o2_commands_run *run, const struct o2_told_report *report, bool json)
{
	char *line = run->command.out;
	uint64_t left = 0;

	for (int severity = 0; severity < O2_JUDGE_SEVERITIES; severity++)
		left += report->times[severity];
	for (; left > 0 && is_finding(report, line, json); left--)
		line += strcspn(line, "\n") + 1;
	if (left > 0)
		o2_commands_wrong(run, "live-finding");
	memmove(run->command.out, line, strlen(line) + 1);
}

void o2_commands_listen_in_vain(struct o2_commands_run *run, const struct o2_capture_file *file)
{
	const char *const why = "it is a wall";
	char place[48] = "";
	bool silent;

	arm(run, file);
	live.fails = (enum o2_pcap_step)o2_draw_range(run->c, O2_PCAP_CREATE, O2_PCAP_STEPS - 1);
	silent = live.fails >= O2_PCAP_SNAPLEN && live.fails <= O2_PCAP_BUFFER && o2_draw_bool(run->c, 1, 1);
	live.why = silent ? "" : why;
	run->command.words = 0;
	o2_commands_words(run, "judge --live=" INTERFACE " --packets=1000000");
	if (live.fails == O2_PCAP_PACKET) {
		run->greeting = "o2ref: listening on " INTERFACE "\n";
		snprintf(place, sizeof(place), "packet %" PRIu32 ": ", file->packets + 1);
	}
	if (o2_commands_go(run, 2)) {
		o2_commands_complains(run, "o2ref: " INTERFACE ": %s%s\n", place,
				      silent ? pcap_statustostr(PCAP_ERROR_ACTIVATED) : why);
		if (live.fails != O2_PCAP_PACKET && run->command.out[0] != '\0')
			o2_commands_wrong(run, "live-output");
	}
	o2_commands_listened(run);
}
