/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_TOLD_H
#define O2_PROPS_TOLD_H

#include <jansson.h>
#include <stdio.h>

#include "judge/judge.h"
#include "props/command/capture_file.h"
#include "props/engine/choice.h"
#include "props/judge/hearing.h"

/* A conversation as packets of a capture, and what o2ref decode must print for each, as JSON and as text. */

#define O2_TOLD_EVENTS 4096u
#define O2_TOLD_OPEN   26u
#define O2_TOLD_TWINS  12u

/* An event that the judge gets. */
struct o2_told_step {
	enum o2_judge_event_kind kind;
	enum o2_judge_side from;
	uint64_t packet, time_ns;
	/* Bounds of each side's credits after the event. */
	uint32_t least[O2_JUDGE_SIDES], most[O2_JUDGE_SIDES];
	uint64_t bytes, addr; /* MESSAGE; WRITE */
	uint32_t rkey, announced;
	uint32_t found; /* number of findings after the judge got the event */
	/* The message; NULL: none, or a reject.  Owned. */
	struct o2_msg *msg;
	char *summary, *dump;
	uint32_t behind; /* zero bytes behind the message */
};

struct o2_told {
	struct o2_choice *c;
	struct o2_hearing *hearing; /* its judge is listened to */
	struct o2_capture_file *file;
	bool untold;  /* a part cannot be expressed in packets */
	bool decoded; /* only decode reads the file, so strangers' packets may be cut or missing */
	uint32_t qp[2], cm_id[2], psn[2], mtu;
	bool sent[2]; /* per side: it has sent something */
	uint64_t base_ns, start_ns;
	uint64_t packet_of[O2_TOLD_EVENTS]; /* packet number, by event number */
	/*
	 * Other conversations with the same content at the same time, over other queue pairs or between other
	 * hosts. Each of their packets comes before the one of this conversation.
	 */
	uint32_t ntwins;
	struct {
		bool elsewhere; /* between other hosts */
		uint32_t qp[2], cm_id[2];
	} twin[O2_TOLD_TWINS];
	/* Of the connection: a REP came; a REJ came; a packet was lost; a NAK was sent; a side disconnected. */
	bool answered, rejected, lost, nacked, ended;
	bool fronts; /* there are packets of which only the front was captured */
	uint64_t sends, writes, write_bytes, cm, acks, naks, repeated, others, cut, refused;
	uint32_t strangers; /* queue pairs that occur, besides the two of the connection */
	/* Messages that never end: their next packets, in the order of their queue pairs. */
	struct o2_capture_packet open[O2_TOLD_OPEN];
	uint32_t nopen;
	uint64_t last_ns; /* time of the last packet */
	json_t *rows;
	/* The last message, as it was encoded. */
	struct o2_msg said;
	uint8_t bytes[O2_MSG_BYTES];
	FILE *text;
	uint32_t nsteps;
	struct o2_told_step step[O2_TOLD_EVENTS];
	struct o2_judge_view view; /* the judge's final view of the connection */
};

void o2_told_start(struct o2_told *told);
/* Add twins.  Call it after o2_told_start and before the first event. */
void o2_told_twins(struct o2_told *told);
/* Add the packets of an event; a listener of the hearing.  context: a struct o2_told. */
void o2_told_event(void *context, const struct o2_judge_event *event);
/* Note the judge's state after the event; a listener of the judge. */
void o2_told_heard(void *context, const struct o2_judge_conn *conn, const struct o2_judge_event *event);
/* Print the last line, the totals. */
void o2_told_end(struct o2_told *told);
/* Free what *told owns. */
void o2_told_free(struct o2_told *told);
/* The line of a message: docs/cli.md, "Captures". */
void o2_told_summary(FILE *out, const struct o2_msg *msg);
/* The line of a reject record; and its dump, with `behind` zero bytes behind it. */
void o2_told_summary_reject(FILE *out, const struct o2_reject *record);
void o2_told_dump_reject(FILE *out, const struct o2_reject *record, const uint8_t *bytes, size_t behind);
/* What may be odd about a message that is dumped. */
struct o2_told_odd {
	const uint8_t *front; /* the IP-CM header in front of it, 36 bytes; NULL: none */
	size_t behind;	      /* bytes behind its ibm_nob */
	bool all;	      /* the whole payload is asked for */
	/* Its checksum is neither of the two right ones; it is refused for that. */
	bool wrong, refused;
	uint32_t unsigned_sum, signed_sum;
};

/* The dump of a message; bytes: the encoded message. */
void o2_told_dump_odd(FILE *out, const struct o2_msg *msg, const uint8_t *bytes,
		      const struct o2_told_odd *odd);
void o2_told_dump(FILE *out, const struct o2_msg *msg, const uint8_t *bytes);
const char *o2_told_type_name(uint8_t type);
/* A status as text: "-5 EIO". */
void o2_told_status(int32_t status, char *text, size_t text_bytes);

#endif
