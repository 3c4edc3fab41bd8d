/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_COMMANDS_LIVE_H
#define O2_PROPS_COMMANDS_LIVE_H

#include "props/command/capture_file.h"
#include "props/command/commands.h"
#include "props/command/told_report.h"

/* Can judge listen to an interface that delivers this capture?  Only if the command is called in a child. */
bool o2_commands_can_listen(const struct o2_commands_run *run, const struct o2_capture_file *file);
/* listen: append the words, install the interface, set what differs in the report.  listened: remove it. */
void o2_commands_listen(struct o2_commands_run *run, const struct o2_capture_file *file,
			struct o2_told_report *report);
void o2_commands_listened(struct o2_commands_run *run);
/* Check and cut the findings that judge prints before its report, so that only the report is left. */
void o2_commands_take_findings(struct o2_commands_run *run, const struct o2_told_report *report, bool json);
/* Make one step of listening fail, and expect one line that says so. */
void o2_commands_listen_in_vain(struct o2_commands_run *run, const struct o2_capture_file *file);

#endif
