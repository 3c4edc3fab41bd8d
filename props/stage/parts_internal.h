/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_PARTS_INTERNAL_H
#define O2_PROPS_PARTS_INTERNAL_H

#include <stddef.h>
#include <stdio.h>

#include "props/stage/parts.h"

/* Shared by the files of property parts: its situations, and its cases, one function each. */

#define O2_PARTS_SITUATION_LIST(ENTRY)                      \
	ENTRY(DECODED, "record_decoded")                    \
	ENTRY(DECODE_REFUSED, "record_refused")             \
	ENTRY(ENCODED, "record_encoded")                    \
	ENTRY(ENCODE_REFUSED, "record_not_encoded")         \
	ENTRY(VERSION_1, "version_1")                       \
	ENTRY(IN_BIG_ENDIAN, "big_endian")                  \
	ENTRY(GENERIC_MAGIC, "generic_magic")               \
	ENTRY(NID_WRITTEN, "nid_written")                   \
	ENTRY(NID_AS_NUMBER, "nid_as_a_number")             \
	ENTRY(NID_READ, "nid_read")                         \
	ENTRY(NID_REFUSED, "nid_refused")                   \
	ENTRY(O2_PARTS_OPTIONS_READ, "options_read")        \
	ENTRY(O2_PARTS_OPTION_REFUSED, "option_refused")    \
	ENTRY(O2_PARTS_HELP, "help")                        \
	ENTRY(O2_PARTS_LIST, "list_of_options")             \
	ENTRY(O2_PARTS_ERRNO, "errno")                      \
	ENTRY(O2_PARTS_QUIRKS_ADDED, "quirks_added")        \
	ENTRY(O2_PARTS_QUIRKS_REFUSED, "quirks_refused")    \
	ENTRY(O2_PARTS_FAULT, "fault")                      \
	ENTRY(O2_PARTS_PING_WRITTEN, "ping_written")        \
	ENTRY(O2_PARTS_PING_READ, "ping_read")              \
	ENTRY(O2_PARTS_PING_REFUSED, "ping_refused")        \
	ENTRY(O2_PARTS_MARKUP, "markup")                    \
	ENTRY(O2_PARTS_PATH, "own_path")                    \
	ENTRY(O2_PARTS_ROOM, "room_for_all_words")          \
	ENTRY(O2_PARTS_NO_ROOM, "room_for_some_words")      \
	ENTRY(O2_PARTS_LST_SENT, "lst_may_be_sent")         \
	ENTRY(O2_PARTS_LST_NOT_SENT, "lst_may_not_be_sent") \
	ENTRY(O2_PARTS_LST_WRITTEN, "lst_written")          \
	ENTRY(O2_PARTS_LST_NOT_WRITTEN, "lst_not_written")  \
	ENTRY(O2_PARTS_LST_READ, "lst_read")                \
	ENTRY(O2_PARTS_LST_NOT_READ, "lst_not_read")        \
	ENTRY(O2_PARTS_AT_ONCE, "leaves_at_once")           \
	ENTRY(O2_PARTS_BY_RDMA, "leaves_by_rdma")           \
	ENTRY(O2_PARTS_PATTERN, "lst_word_that_is_checked") \
	ENTRY(O2_PARTS_NO_PATTERN, "lst_word_that_is_not")

enum o2_parts_situation { O2_PARTS_SITUATION_LIST(O2_SITUATION_ID) O2_PARTS_SITUATIONS };

/* Options of a command; errnos as text; the list of quirks. */
void o2_parts_options(struct o2_parts_run *run, struct o2_choice *c, struct o2_report *report);
void o2_parts_errno(struct o2_parts_run *run, struct o2_choice *c, struct o2_report *report);
void o2_parts_quirks(struct o2_parts_run *run, struct o2_choice *c, struct o2_report *report);

/* Descriptions of faults as text. */
void o2_parts_fault(struct o2_parts_run *run, struct o2_choice *c, struct o2_report *report);

/* Which requests of LNet selftest may be sent, and which of its messages can be encoded. */
void o2_parts_lst(struct o2_parts_run *run, struct o2_choice *c, struct o2_report *report);
void o2_parts_lst_code(struct o2_parts_run *run, struct o2_choice *c, struct o2_report *report);
/* The name in a message of a type that has one; NULL: its type has none. */
char *o2_parts_lst_name(struct o2_lst_msg *msg);
/* Which of its messages can be decoded, and the result of encoding these again. */
void o2_parts_lst_read(struct o2_parts_run *run, struct o2_choice *c, struct o2_report *report);

/* Answers to pings. */
void o2_parts_ping(struct o2_parts_run *run, struct o2_choice *c, struct o2_report *report);

/* The test pattern of LNet selftest's bulk data. */
void o2_parts_pattern(struct o2_parts_run *run, struct o2_choice *c, struct o2_report *report);

/* The o2iblnd message type that carries each LNet message. */
void o2_parts_form(struct o2_parts_run *run, struct o2_choice *c, struct o2_report *report);

/* Paths of files in the program's own directory. */
void o2_parts_path(struct o2_parts_run *run, struct o2_choice *c, struct o2_report *report);

/* Text written to a buffer that may be too small. */
void o2_parts_room(struct o2_parts_run *run, struct o2_choice *c, struct o2_report *report);

/* Escaping of text in HTML, SVG and XML. */
void o2_parts_markup(struct o2_parts_run *run, struct o2_choice *c, struct o2_report *report);

/* Break a text into lines of words, as help prints it; column: width already used in the first line. */
void o2_parts_fill(FILE *out, const char *text, size_t column, size_t indent);
/* Print a row of help: an option with its value, which may be NULL, and what it does. */
void o2_parts_fill_row(FILE *out, const char *name, const char *value, const char *help);

/* Print the list of options that property parts makes up, with the command in `which`. */
void o2_parts_list(FILE *out, unsigned int which);

#endif
