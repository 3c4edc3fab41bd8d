/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_COMMANDS_H
#define O2_PROPS_COMMANDS_H

#include <jansson.h>

#include "props/command/command.h"
#include "props/engine/property.h"
#include "props/engine/tally.h"
#include "props/judge/hearing.h"

/*
 * The property: o2ref reports correctly what it was asked to do: move memory, refuse wrong command lines, read
 * captures (docs/properties.md, "The commands property").
 */

#define O2_COMMANDS_SITUATION_LIST(ENTRY)                                       \
	ENTRY(O2_COMMANDS_PING, "ping")                                         \
	ENTRY(O2_COMMANDS_NO_ANSWER, "ping_with_an_answer_that_is_none")        \
	ENTRY(O2_COMMANDS_ODD_ANSWER, "ping_with_an_odd_answer")                \
	ENTRY(O2_COMMANDS_PUT, "put")                                           \
	ENTRY(O2_COMMANDS_GET, "get")                                           \
	ENTRY(O2_COMMANDS_OTHER_BYTES, "other_bytes_than_expected")             \
	ENTRY(O2_COMMANDS_NO_ROOM, "past_the_end")                              \
	ENTRY(O2_COMMANDS_CONFORM, "conform")                                   \
	ENTRY(O2_COMMANDS_CONFORM_FOUND, "conform_with_a_quirk")                \
	ENTRY(O2_COMMANDS_CONFORM_LST, "conform_of_a_test_node")                \
	ENTRY(O2_COMMANDS_CONFORM_HOSTILE, "conform_with_misbehaviours")        \
	ENTRY(O2_COMMANDS_LIAR, "conform_with_a_liar")                          \
	ENTRY(O2_COMMANDS_LIAR_GONE, "conform_with_a_liar_that_does_not_end")   \
	ENTRY(O2_COMMANDS_LIAR_NAMED, "conform_with_a_liar_that_breaks_rules")  \
	ENTRY(O2_COMMANDS_LIAR_UNSTARTED, "conform_without_a_liar_to_start")    \
	ENTRY(O2_COMMANDS_WRONG_NOT, "conform_of_a_peer_that_says_what_it_may") \
	ENTRY(O2_COMMANDS_WRONG_REPLY, "conform_of_a_wrong_reply")              \
	ENTRY(O2_COMMANDS_WRONG_REJECT, "conform_of_a_wrong_reject")            \
	ENTRY(O2_COMMANDS_WRONG_BYTES, "conform_of_wrong_bytes")                \
	ENTRY(O2_COMMANDS_WRONG_PING, "conform_of_a_wrong_ping")                \
	ENTRY(O2_COMMANDS_WRONG_RETURNS, "conform_of_wrong_returns")            \
	ENTRY(O2_COMMANDS_WRONG_LST, "conform_of_a_wrong_test_node")            \
	ENTRY(O2_COMMANDS_WRONG_BUSY, "conform_of_a_test_node_that_is_taken")   \
	ENTRY(O2_COMMANDS_PLACES, "conform_of_other_places")                    \
	ENTRY(O2_COMMANDS_UNWRITTEN, "conform_that_cannot_write")               \
	ENTRY(O2_COMMANDS_WRONG_LATE, "conform_of_a_peer_that_takes_its_time")  \
	ENTRY(O2_COMMANDS_LIAR_ALONE, "conform_whose_children_nobody_awaits")   \
	ENTRY(O2_COMMANDS_AT_LIMIT, "option_at_its_limit")                      \
	ENTRY(O2_COMMANDS_PAST_LIMIT, "option_past_its_limit")                  \
	ENTRY(O2_COMMANDS_PORT_TAKEN, "port_taken")                             \
	ENTRY(O2_COMMANDS_ABSENT, "peer_not_there")                             \
	ENTRY(O2_COMMANDS_MUTE, "peer_says_nothing")                            \
	ENTRY(O2_COMMANDS_JUDGED, "capture_judged")                             \
	ENTRY(O2_COMMANDS_JUDGED_FOUND, "capture_with_a_finding")               \
	ENTRY(O2_COMMANDS_JUDGED_SEVERAL, "capture_of_several_conversations")   \
	ENTRY(O2_COMMANDS_JUDGED_LOST, "capture_judged_with_a_loss")            \
	ENTRY(O2_COMMANDS_JUDGED_NAK, "capture_judged_with_a_nak")              \
	ENTRY(O2_COMMANDS_JUDGED_REJECT, "capture_judged_with_a_reject")        \
	ENTRY(O2_COMMANDS_JUDGED_ENDED, "capture_judged_to_its_end")            \
	ENTRY(O2_COMMANDS_JUDGED_FILES, "several_files_judged")                 \
	ENTRY(O2_COMMANDS_LIVE, "interface_judged")                             \
	ENTRY(O2_COMMANDS_PAGE_REJECT, "page_with_a_reject")                    \
	ENTRY(O2_COMMANDS_PAGE_SEVERAL, "page_of_several_conversations")        \
	ENTRY(O2_COMMANDS_DECODED, "capture_decoded")                           \
	ENTRY(O2_COMMANDS_NO_CAPTURE, "capture_that_is_none")                   \
	ENTRY(O2_COMMANDS_BROKEN, "input_that_fails")                           \
	ENTRY(O2_COMMANDS_FRONTS, "capture_of_fronts_of_packets")               \
	ENTRY(O2_COMMANDS_MIDDLE, "capture_from_its_middle")                    \
	ENTRY(O2_COMMANDS_MANY, "capture_of_more_than_are_followed")            \
	ENTRY(O2_COMMANDS_MESSAGE, "message")                                   \
	ENTRY(O2_COMMANDS_LINES, "line")                                        \
	ENTRY(O2_COMMANDS_RECORD, "reject_record")                              \
	ENTRY(O2_COMMANDS_LST, "lst")                                           \
	ENTRY(O2_COMMANDS_LST_WRONG, "lst_with_a_wrong_bit")                    \
	ENTRY(O2_COMMANDS_LST_REFUSED, "lst_out_of_range")                      \
	ENTRY(O2_COMMANDS_LST_REVERSE, "lst_reverse")                           \
	ENTRY(O2_COMMANDS_LST_FAILED, "lst_with_a_wrong_reply")                 \
	ENTRY(O2_COMMANDS_SERVE, "serve")                                       \
	ENTRY(O2_COMMANDS_SERVE_BACK, "serve_whose_client_comes_back")          \
	ENTRY(O2_COMMANDS_SERVE_FAILED, "serve_with_a_transfer_that_fails")     \
	ENTRY(O2_COMMANDS_SHORT, "short_of_memory")                             \
	ENTRY(O2_COMMANDS_SHORT_INSIDE, "capture_or_message_short_of_memory")   \
	ENTRY(O2_COMMANDS_DEVICE, "device_looked_for")                          \
	ENTRY(O2_COMMANDS_DEVICE_LOST, "device_lost")                           \
	ENTRY(O2_COMMANDS_OWN, "own_words")                                     \
	ENTRY(O2_COMMANDS_FULL, "full_files")                                   \
	ENTRY(O2_COMMANDS_OPTIONS, "numbers_of_a_command")

enum o2_commands_situation { O2_COMMANDS_SITUATION_LIST(O2_SITUATION_ID) O2_COMMANDS_SITUATIONS };

struct o2_commands_run {
	struct o2_tally tally; /* must be first: props/engine/tally.h */
	struct o2_command_run command;
	struct o2_choice *c;
	struct o2_report *report;
	struct o2_hearing hearing;
	/* Commands without a network run in a child of this program (inside), some without memory (starved). */
	bool inside, starved;
	/* Text that standard error begins with and that is no complaint; NULL: none. */
	const char *greeting;
};

/* *run: zeros at first; the caller owns it.  It is large: keep it off the stack. */
struct o2_property o2_commands_property(struct o2_commands_run *run);

/* Run run->command and expect this exit status.  False: that failed, and the case is over. */
bool o2_commands_go(struct o2_commands_run *run, int status);
/* Report that the output is not the predicted one. */
void o2_commands_wrong(struct o2_commands_run *run, const char *what);
/* Does the text match the pattern?  '#' stands for a number, with or without a decimal point. */
bool o2_commands_fits(const char *text, const char *pattern);
/* Append the words of a line, separated by spaces. */
void o2_commands_words(struct o2_commands_run *run, const char *line);
/* Expect exactly this text; '#' stands for any number.  what: name of the finding. */
void o2_commands_says(struct o2_commands_run *run, const char *what, const char *text, const char *format,
		      ...) __attribute__((format(printf, 4, 5)));
#define o2_commands_complains(run, ...) o2_commands_says(run, "complaint", (run)->command.err, __VA_ARGS__)
/* Report a finding "PART/WHAT" with both texts, each up to the end of its line. */
void o2_commands_other_line(struct o2_report *report, const char *part, const char *what,
			    const char *expected, const char *found);
/* Returns the index of the first byte that differs; *line: where the line with that byte begins. */
size_t o2_commands_differ_at(const char *expected, const char *found, size_t *line);
/* Expect this output of decode; otherwise report the first line that differs. */
void o2_commands_decodes(struct o2_commands_run *run, const char *what, const char *expected);
/* Do the times and rates of a summary agree with each other and with its counts? */
bool o2_commands_rates_fit(const json_t *summary);

/* Each function draws a case and checks it. */
void o2_commands_net(struct o2_commands_run *run);
void o2_commands_conform(struct o2_commands_run *run);
void o2_commands_wrongly(struct o2_commands_run *run);
void o2_commands_places(struct o2_commands_run *run);
void o2_commands_answer(struct o2_commands_run *run);
void o2_commands_misused(struct o2_commands_run *run);
void o2_commands_gone(struct o2_commands_run *run);
void o2_commands_liar(struct o2_commands_run *run);
void o2_commands_lines(struct o2_commands_run *run);
void o2_commands_reject(struct o2_commands_run *run);
void o2_commands_lst(struct o2_commands_run *run);
void o2_commands_lst_wrong(struct o2_commands_run *run);
void o2_commands_serve(struct o2_commands_run *run);
void o2_commands_options(struct o2_commands_run *run);
void o2_commands_own(struct o2_commands_run *run);
void o2_commands_device(struct o2_commands_run *run);
void o2_commands_short(struct o2_commands_run *run);
void o2_commands_capture(struct o2_commands_run *run);
void o2_commands_middle(struct o2_commands_run *run);
/* msg: the message that is encoded in bytes. */
void o2_commands_message(struct o2_commands_run *run, const struct o2_msg *msg, const uint8_t *bytes);
/* Like o2_commands_message, with something odd that a dump shows. */
void o2_commands_odd(struct o2_commands_run *run, const struct o2_msg *msg, const uint8_t *bytes);

#endif
