/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_TOLD_H
#define O2_PROPS_TOLD_H

#include <jansson.h>
#include <stdio.h>

#include "judge/judge.h"
#include "props/command/capture_file.h"
#include "props/engine/choice.h"
#include "props/judge/hearing.h"

/* A conversation as packets, and what o2ref decode has to say of each: as JSON and as text. */

#define O2_TOLD_EVENTS 4096u
#define O2_TOLD_OPEN   26u
#define O2_TOLD_TWINS  12u

/* An event of which the judge is told. */
struct o2_told_step {
	enum o2_judge_event_kind kind;
	enum o2_judge_side from;
	uint64_t packet, time_ns;
	/* Credits of each side after it. */
	uint32_t least[O2_JUDGE_SIDES], most[O2_JUDGE_SIDES];
	uint64_t bytes, addr; /* MESSAGE; WRITE */
	uint32_t rkey, announced;
	uint32_t found; /* so many findings there were when the judge had heard it */
	/* What it says; NULL: nothing, of a reject no message.  Owned. */
	struct o2_msg *msg;
	char *summary, *dump;
	uint32_t behind; /* zeros behind the message */
};

struct o2_told {
	struct o2_choice *c;
	struct o2_hearing *hearing; /* whose judge is listened to */
	struct o2_capture_file *file;
	bool untold;  /* something of it cannot be said in packets */
	bool decoded; /* only decode will read it: what strangers say may be cut or missing */
	uint32_t qp[2], cm_id[2], psn[2], mtu;
	/* Of what a side sends: it has sent something; from where on the last gap is, until it goes back there. */
	bool sent[2], has_gap[2];
	uint32_t gap[2];
	uint64_t base_ns, start_ns;
	uint64_t packet_of[O2_TOLD_EVENTS]; /* by the event's number */
	/*
	 * Others that say the same at the same time, each packet of theirs in front of this one's: over other queue pairs,
	 * or between other hosts.
	 */
	uint32_t ntwins;
	struct {
		bool elsewhere; /* between hosts of their own */
		uint32_t qp[2], cm_id[2];
	} twin[O2_TOLD_TWINS];
	/* Of the connection: its answer was a REP; or a REJ; something was lost; something was not taken; one left. */
	bool answered, rejected, lost, nacked, ended;
	bool fronts; /* packets of which only the front is there, at every place */
	uint64_t sends, writes, write_bytes, cm, acks, naks, repeated, others, cut, refused;
	uint32_t strangers; /* queue pairs that have been heard of besides the two */
	/* What never ends: the packets that would come next, in the order of their queue pairs. */
	struct o2_capture_packet open[O2_TOLD_OPEN];
	uint32_t nopen;
	uint64_t last_ns; /* of the last packet */
	json_t *rows;
	/* The message that was told last. */
	struct o2_msg said;
	uint8_t bytes[O2_MSG_BYTES];
	FILE *text;
	uint32_t nsteps;
	struct o2_told_step step[O2_TOLD_EVENTS];
	struct o2_judge_view view; /* what is known of the connection at the end */
};

void o2_told_start(struct o2_told *told);
/* Behind it, before the first event: others that say the same. */
void o2_told_twins(struct o2_told *told);
/* context: a struct o2_told. */
void o2_told_event(void *context, const struct o2_judge_event *event);
/* The same, after the judge has heard it. */
void o2_told_heard(void *context, const struct o2_judge_conn *conn, const struct o2_judge_event *event);
/* The line at the end. */
void o2_told_end(struct o2_told *told);
/* What it owns. */
void o2_told_free(struct o2_told *told);
/* The line of a message, as docs/cli.md, "Captures", has it. */
void o2_told_summary(FILE *out, const struct o2_msg *msg);
/* The words of a reject record; and its dump, with zeros behind it. */
void o2_told_summary_reject(FILE *out, const struct o2_reject *record);
void o2_told_dump_reject(FILE *out, const struct o2_reject *record, const uint8_t *bytes, size_t behind);
/* What may be odd about one that is dumped. */
struct o2_told_odd {
	const uint8_t *front; /* the IP-CM header in front of it, 36 bytes; NULL: there is none */
	size_t behind;	      /* bytes behind what it says that it has */
	bool all;	      /* asked for: the whole payload */
	/* Its checksum is another one than the two that it may be; it is refused for that. */
	bool wrong, refused;
	uint32_t unsigned_sum, signed_sum;
};

/* The dump of one: bytes are those of the message. */
void o2_told_dump_odd(FILE *out, const struct o2_msg *msg, const uint8_t *bytes,
		      const struct o2_told_odd *odd);
void o2_told_dump(FILE *out, const struct o2_msg *msg, const uint8_t *bytes);
const char *o2_told_type_name(uint8_t type);
/* "-5 EIO". */
void o2_told_status(int32_t status, char *text, size_t text_bytes);

#endif
