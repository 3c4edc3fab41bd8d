/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_COMMANDS_H
#define O2_PROPS_COMMANDS_H

#include <jansson.h>

#include "props/command/command.h"
#include "props/engine/property.h"
#include "props/engine/tally.h"
#include "props/judge/hearing.h"

/*
 * The property: o2ref says what it was asked for: of memory that it moves, of command lines that are wrong, and
 * of captures (docs/properties.md, "The commands property").
 */

enum o2_commands_situation {
	O2_COMMANDS_PING,
	O2_COMMANDS_PUT,
	O2_COMMANDS_GET,
	O2_COMMANDS_OTHER_BYTES,
	O2_COMMANDS_NO_ROOM,
	O2_COMMANDS_CONFORM,
	O2_COMMANDS_CONFORM_FOUND,
	O2_COMMANDS_CONFORM_LST,
	O2_COMMANDS_WRONG_NOT,
	O2_COMMANDS_WRONG_REPLY,
	O2_COMMANDS_WRONG_REJECT,
	O2_COMMANDS_WRONG_BYTES,
	O2_COMMANDS_WRONG_PING,
	O2_COMMANDS_WRONG_RETURNS,
	O2_COMMANDS_WRONG_LST,
	O2_COMMANDS_AT_LIMIT,
	O2_COMMANDS_PAST_LIMIT,
	O2_COMMANDS_PORT_TAKEN,
	O2_COMMANDS_ABSENT,
	O2_COMMANDS_MUTE,
	O2_COMMANDS_JUDGED,
	O2_COMMANDS_JUDGED_FOUND,
	O2_COMMANDS_DECODED,
	O2_COMMANDS_MESSAGE,
	O2_COMMANDS_LINES,
	O2_COMMANDS_RECORD,
	O2_COMMANDS_LST,
	O2_COMMANDS_LST_WRONG,
	O2_COMMANDS_LST_REFUSED,
	O2_COMMANDS_LST_REVERSE,
	O2_COMMANDS_LST_FAILED,
	O2_COMMANDS_SERVE,
	O2_COMMANDS_SERVE_BACK,
	O2_COMMANDS_SITUATIONS,
};

struct o2_commands_run {
	struct o2_tally tally; /* first: props/engine/tally.h */
	struct o2_command_run command;
	struct o2_choice *c;
	struct o2_report *report;
	struct o2_hearing hearing;
};

/* *run: zeros at first, the caller's.  It is large: keep it off the stack. */
struct o2_property o2_commands_property(struct o2_commands_run *run);

/* A run of the command that stands in run->command; its status has to be that.  False: the case is over. */
bool o2_commands_go(struct o2_commands_run *run, int status);
/* The output is not what was foretold. */
void o2_commands_wrong(struct o2_commands_run *run, const char *what);
/* '#' in the pattern stands for a number, with or without a point. */
bool o2_commands_fits(const char *text, const char *pattern);
/* The words of a line, which spaces divide. */
void o2_commands_words(struct o2_commands_run *run, const char *line);
/* The whole text has to be that; '#' stands for any number.  what: of the finding. */
void o2_commands_says(struct o2_commands_run *run, const char *what, const char *text, const char *format,
		      ...) __attribute__((format(printf, 4, 5)));
/* Whether the times and rates of a summary fit to each other and to what it counts. */
bool o2_commands_rates_fit(const json_t *summary);

/* Each draws a case, and holds it. */
void o2_commands_net(struct o2_commands_run *run);
void o2_commands_conform(struct o2_commands_run *run);
void o2_commands_wrongly(struct o2_commands_run *run);
void o2_commands_misused(struct o2_commands_run *run);
void o2_commands_gone(struct o2_commands_run *run);
void o2_commands_lines(struct o2_commands_run *run);
void o2_commands_reject(struct o2_commands_run *run);
void o2_commands_lst(struct o2_commands_run *run);
void o2_commands_lst_wrong(struct o2_commands_run *run);
void o2_commands_serve(struct o2_commands_run *run);
void o2_commands_capture(struct o2_commands_run *run);
/* msg: as it was encoded into the bytes. */
void o2_commands_message(struct o2_commands_run *run, const struct o2_msg *msg, const uint8_t *bytes);
/* The same, of which something is odd that a dump shows. */
void o2_commands_odd(struct o2_commands_run *run, const struct o2_msg *msg, const uint8_t *bytes);

#endif
