/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_COMMANDS_LIVE_H
#define O2_PROPS_COMMANDS_LIVE_H

#include "props/command/capture_file.h"
#include "props/command/commands.h"
#include "props/command/told_report.h"

/* judge of an interface that the capture passes; only where the command is called in a process of ours. */
bool o2_commands_can_listen(const struct o2_commands_run *run, const struct o2_capture_file *file);
/* The words for it, and what differs in the report. */
void o2_commands_listen(struct o2_commands_run *run, const struct o2_capture_file *file,
			struct o2_told_report *report);
void o2_commands_listened(struct o2_commands_run *run);
/* What is found is said at once, before the report: what is left is the report. */
void o2_commands_take_findings(struct o2_commands_run *run, const struct o2_told_report *report, bool json);
/* One step of it fails: one line says so. */
void o2_commands_listen_in_vain(struct o2_commands_run *run, const struct o2_capture_file *file);

#endif
