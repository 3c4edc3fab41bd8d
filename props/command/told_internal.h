/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_TOLD_INTERNAL_H
#define O2_PROPS_TOLD_INTERNAL_H

#include "props/command/told.h"

#define O2_TOLD_PSN_MASK 0xffffffu

/* Opcodes of reliable connections; the last one is the SEND of a datagram. */
#define O2_TOLD_SEND_FIRST  0x00u
#define O2_TOLD_WRITE_FIRST 0x06u
#define O2_TOLD_ACK	    0x11u
#define O2_TOLD_UD_SEND	    0x64u
/* Distance from the FIRST opcode of an operation. */
#define O2_TOLD_MIDDLE	  1u
#define O2_TOLD_LAST	  2u
#define O2_TOLD_SEND_ONLY 4u
#define O2_TOLD_IMMEDIATE 1u /* added to O2_TOLD_LAST, or to an ONLY opcode */

/* The plural ending of a noun for this count. */
const char *o2_told_plural(uint64_t count);

/* Draw how packets are carried, and start the file. */
void o2_told_carrier(struct o2_choice *c, struct o2_capture_file *file);
/* Like open_memstream(3), but aborts on failure. */
FILE *o2_told_open(char **text, size_t *bytes);
/* Numbers for a row, as JSON. */
json_t *o2_told_hex(uint64_t value);
json_t *o2_told_number(uint64_t value);
/* The packet's addresses were not captured. */
#define O2_TOLD_NOBODY (-1)
/* Add a row, and the start of its text, for the last packet added.  told->rows owns the row. */
json_t *o2_told_row(struct o2_told *told, const char *what, int from, uint32_t dest_qp, uint32_t psn,
		    uint64_t time_ns);
/* Keep the event as a step of the last packet added.  said: its message, encoded in bytes; NULL: none. */
void o2_told_remember(struct o2_told *told, const struct o2_judge_event *event, const struct o2_msg *said,
		      const uint8_t *bytes, uint32_t behind);
/* The same for a reject: its record, and the bytes that were captured of it. */
void o2_told_remember_reject(struct o2_told *told, const struct o2_judge_event *event,
			     const struct o2_reject *record, const uint8_t *bytes);
/* Add a packet for the conversation, and one for each twin. */
void o2_told_add(struct o2_told *told, const struct o2_capture_packet *packet);
void o2_told_ack(struct o2_told *told, int from, uint8_t syndrome, uint64_t time_ns);
void o2_told_set_message(json_t *object, const struct o2_msg *msg);
/* Encode the message in a drawn byte order, with a checksum if it has one.  Returns its length; 0: impossible. */
size_t o2_told_encode(struct o2_told *told, const struct o2_msg *msg, struct o2_msg *said,
		      uint8_t bytes[O2_MSG_BYTES]);
/* Add the connection manager's packet for the event. */
void o2_told_terms(struct o2_told *told, const struct o2_judge_event *event, uint64_t time_ns);
void o2_told_reject(struct o2_told *told, const struct o2_judge_event *event, uint64_t time_ns);
void o2_told_disconnect(struct o2_told *told, const struct o2_judge_event *event, uint64_t time_ns);
/* Add a datagram to queue pair 1 that belongs to no connection here. */
void o2_told_management(struct o2_told *told, uint64_t time_ns);
/* Add a packet which shows that an earlier one was not captured. */
void o2_told_lost(struct o2_told *told, const struct o2_judge_event *event, uint64_t time_ns);
/* Add unrelated packets behind an event. */
void o2_told_noise(struct o2_told *told, const struct o2_judge_event *event, uint64_t time_ns);
/* Let a stranger speak LNet selftest in this packet; row: adds the row for the last packet added. */
void o2_told_tests(struct o2_told *told, struct o2_capture_packet *packet,
		   json_t *(*row)(struct o2_told *told, const struct o2_capture_packet *packet,
				  const char *what));
void o2_told_selftest(struct o2_told *told, uint64_t time_ns);
/* A packet of which only the front was captured.  is_known: with its hosts and queue pair (docs/judge.md). */
void o2_told_lost_front(struct o2_told *told, const struct o2_judge_event *event, bool is_known,
			uint64_t time_ns);
/* Add packets, at the end, of which only the front was captured. */
void o2_told_cuts(struct o2_told *told, uint64_t time_ns);
/* Add messages, at the end, that are never completed. */
void o2_told_unfinished(struct o2_told *told);

#endif
