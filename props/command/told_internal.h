/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_TOLD_INTERNAL_H
#define O2_PROPS_TOLD_INTERNAL_H

#include "props/command/told.h"

#define O2_TOLD_PSN_MASK 0xffffffu

/* Opcodes of reliable connections; a datagram's SEND. */
#define O2_TOLD_SEND_FIRST  0x00u
#define O2_TOLD_WRITE_FIRST 0x06u
#define O2_TOLD_ACK	    0x11u
#define O2_TOLD_UD_SEND	    0x64u
/* From the first one of a kind on. */
#define O2_TOLD_MIDDLE	  1u
#define O2_TOLD_LAST	  2u
#define O2_TOLD_SEND_ONLY 4u
#define O2_TOLD_IMMEDIATE 1u /* more than O2_TOLD_LAST, or than an only one */

/* The end of a noun of which there are so many. */
const char *o2_told_plural(uint64_t count);

/* How packets are carried is drawn, and a file of them begins. */
void o2_told_carrier(struct o2_choice *c, struct o2_capture_file *file);
/* As open_memstream(3); it does not fail. */
FILE *o2_told_open(char **text, size_t *bytes);
/* Numbers of a row. */
json_t *o2_told_hex(uint64_t value);
json_t *o2_told_number(uint64_t value);
/* Its addresses are not there. */
#define O2_TOLD_NOBODY (-1)
/* A row of the packet that was added last, which told->rows owns; of the text it is the beginning. */
json_t *o2_told_row(struct o2_told *told, const char *what, int from, uint32_t dest_qp, uint32_t psn,
		    uint64_t time_ns);
/* The event as a step, of the packet that was added last: said, if it says something, is in bytes. */
void o2_told_remember(struct o2_told *told, const struct o2_judge_event *event, const struct o2_msg *said,
		      const uint8_t *bytes, uint32_t behind);
/* The same of a reject: its record, and the bytes that it has been captured with. */
void o2_told_remember_reject(struct o2_told *told, const struct o2_judge_event *event,
			     const struct o2_reject *record, const uint8_t *bytes);
/* A packet of the conversation, and of each twin. */
void o2_told_add(struct o2_told *told, const struct o2_capture_packet *packet);
void o2_told_ack(struct o2_told *told, int from, uint8_t syndrome, uint64_t time_ns);
void o2_told_set_message(json_t *object, const struct o2_msg *msg);
/* The message in any order, with a sum if it has one.  Returns its length; 0: it cannot be said. */
size_t o2_told_encode(struct o2_told *told, const struct o2_msg *msg, struct o2_msg *said,
		      uint8_t bytes[O2_MSG_BYTES]);
/* What the connection manager says of an event. */
void o2_told_terms(struct o2_told *told, const struct o2_judge_event *event, uint64_t time_ns);
void o2_told_reject(struct o2_told *told, const struct o2_judge_event *event, uint64_t time_ns);
void o2_told_disconnect(struct o2_told *told, const struct o2_judge_event *event, uint64_t time_ns);
/* A datagram to queue pair 1 that is of no connection here. */
void o2_told_management(struct o2_told *told, uint64_t time_ns);
/* A packet that shows that something before it was not captured. */
void o2_told_lost(struct o2_told *told, const struct o2_judge_event *event, uint64_t time_ns);
/* Behind an event what has nothing to do with it. */
void o2_told_noise(struct o2_told *told, const struct o2_judge_event *event, uint64_t time_ns);
/* The packet is a stranger's, who speaks LNet selftest in it; row: that of the packet that was added last. */
void o2_told_tests(struct o2_told *told, struct o2_capture_packet *packet,
		   json_t *(*row)(struct o2_told *told, const struct o2_capture_packet *packet,
				  const char *what));
void o2_told_selftest(struct o2_told *told, uint64_t time_ns);
/* The same: of a packet only the front is there. */
void o2_told_lost_front(struct o2_told *told, const struct o2_judge_event *event, bool is_known,
			uint64_t time_ns);
/* At the end, packets of which only the front is there. */
void o2_told_cuts(struct o2_told *told, uint64_t time_ns);
/* At the end: what never ends. */
void o2_told_unfinished(struct o2_told *told);

#endif
