/* SPDX-License-Identifier: MIT */
#ifndef O2_CLI_PCAP_WALK_H
#define O2_CLI_PCAP_WALK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"
#include "cli/capture.h"
#include "cli/cm.h"
#include "cli/roce.h"
#include "wire/msg.h"
#include "wire/reject.h"

/*
 * Walk a capture: assemble packets into SENDs and RDMA WRITEs, decode what they carry, and report each as one
 * event.  Any file is accepted: what cannot be understood is reported as such.  Source: docs/cli.md,
 * "Captures".
 *
 * The frames come from capture.h, one at a time.
 */

enum o2_event_kind {
	O2_EVENT_SEND,	/* a whole message: msg or refused is set */
	O2_EVENT_WRITE, /* a whole RDMA WRITE */
	O2_EVENT_CM,	/* a connection manager's message; msg, reject or refused: what it carries */
	O2_EVENT_NAK,	/* a negative acknowledgement */
	O2_EVENT_NOTE,	/* `note` says what was seen */
	/* The next ones matter only for following connections; they have no text and no JSON form. */
	O2_EVENT_ACK,  /* packets up to psn have arrived at src */
	O2_EVENT_BACK, /* the sender goes back to missing packets; or it has repeated what it sent since */
	O2_EVENT_ANEW, /* whether packets of this direction are missing, if it had any before, is not known */
	O2_EVENT_PART, /* a packet of an RDMA WRITE, before that WRITE: bytes at payload go to va */
};

struct o2_event {
	enum o2_event_kind kind;
	uint64_t frame; /* number of the packet that completed the event, from 1 */
	uint64_t time_ns;
	struct o2_roce_address src, dst;
	uint32_t dest_qp, psn;
	uint32_t packets; /* how many packets it took */
	uint64_t bytes;	  /* SEND, WRITE: payload; PART: bytes at payload; CM: private data */
	/* WRITE: */
	uint64_t va;
	uint32_t rkey;
	uint32_t dma_bytes;	/* length that its first packet announces */
	const uint8_t *payload; /* PART: captured bytes of the packet */
	/* NAK: */
	uint8_t syndrome;
	/* CM: */
	struct o2_cm_mad cm;
	/* SEND, CM: at most one of msg, reject and refused is not NULL; none if there was nothing to decode. */
	const struct o2_msg *msg;
	const struct o2_reject *reject;
	const struct o2_error *refused;
	/* The bytes that were decoded; NULL if none were. */
	const uint8_t *raw;
	size_t raw_bytes;
	/* NOTE: */
	const char *note;
	bool missing; /* something in this direction was not seen; without addresses: in any direction */
	/*
	 * SEND, WRITE, PART: the sender has gone back, and may have sent this before, to a receiver that has handled
	 * it.  Once what it sends is new, there is another O2_EVENT_BACK.
	 */
	bool again;
};

struct o2_walk_totals {
	uint64_t packets;
	uint64_t not_roce;
	uint64_t cut;	  /* packets not captured as a whole */
	uint64_t dropped; /* packets that came too fast to be read; not counted in packets */
	uint64_t sends, writes, write_bytes, cm, acks, naks, notes;
	uint64_t repeated;  /* packets seen before; they make no events */
	uint64_t retry_ns;  /* longest time from a new packet to a repetition of it or of an earlier one */
	uint64_t refused;   /* events with a refusal */
	uint64_t forgotten; /* flows that were forgotten to make room for others: O2_FLOWS_MAX */
};

typedef void (*o2_event_sink)(void *context, const struct o2_event *event);

/*
 * Walk a capture from its current position.  Returns 0, or sets *why and returns an error of o2_capture_next
 * or -ENOMEM; the events before the error have been reported.  An event is valid until the sink returns.
 * Memory is bounded for a capture of any length: docs/cli.md, "Captures".
 */
int o2_capture_walk(struct o2_capture *capture, const struct o2_wire_options *options, o2_event_sink sink,
		    void *context, struct o2_walk_totals *totals, char why[O2_PCAP_WHY_BYTES]);

/* The same for a file, which is closed: see o2_capture_open. */
int o2_pcap_walk(FILE *file, const struct o2_wire_options *options, o2_event_sink sink, void *context,
		 struct o2_walk_totals *totals, char why[O2_PCAP_WHY_BYTES]);

/* The same for a file in memory. */
int o2_pcap_walk_bytes(const uint8_t *bytes, size_t length_bytes, const struct o2_wire_options *options,
		       o2_event_sink sink, void *context, struct o2_walk_totals *totals,
		       char why[O2_PCAP_WHY_BYTES]);

#endif
