/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_TOLD_H
#define O2_PROPS_TOLD_H

#include <jansson.h>
#include <stdio.h>

#include "judge/judge.h"
#include "props/command/capture_file.h"
#include "props/engine/choice.h"

/* A conversation as packets, and what o2ref decode has to say of each: as JSON and as text. */

#define O2_TOLD_EVENTS 4096u

struct o2_told {
	struct o2_choice *c;
	struct o2_capture_file *file;
	bool untold; /* something of it cannot be said in packets */
	uint32_t qp[2], cm_id[2], psn[2], mtu;
	uint64_t base_ns, start_ns;
	uint64_t packet_of[O2_TOLD_EVENTS]; /* by the event's number */
	uint64_t sends, writes, write_bytes, cm, acks, naks, repeated, others;
	json_t *rows;
	/* The message that was told last. */
	struct o2_msg said;
	uint8_t bytes[O2_MSG_BYTES];
	FILE *text;
};

void o2_told_start(struct o2_told *told);
/* context: a struct o2_told. */
void o2_told_event(void *context, const struct o2_judge_event *event);
/* The line at the end. */
void o2_told_end(struct o2_told *told);
/* The line of a message, as docs/cli.md, "Captures", has it. */
void o2_told_summary(FILE *out, const struct o2_msg *msg);
/* The dump of one: bytes are those of the message. */
void o2_told_dump(FILE *out, const struct o2_msg *msg, const uint8_t *bytes);
const char *o2_told_type_name(uint8_t type);
/* "-5 EIO". */
void o2_told_status(int32_t status, char *text, size_t text_bytes);

#endif
