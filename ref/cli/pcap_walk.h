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
 * Walk a capture: put packets together to SENDs and RDMA WRITEs, decode what they carry, and report each as
 * one event.  Any file is fine: what cannot be understood is reported as such.  Source: docs/cli.md,
 * "Captures".
 *
 * The frames come from capture.h, one at a time.
 */

enum o2_event_kind {
	O2_EVENT_SEND,	/* a whole message: msg, or refused */
	O2_EVENT_WRITE, /* a whole RDMA WRITE */
	O2_EVENT_CM,   /* a message of the connection manager, with msg or reject or refused if it carries one
			*/
	O2_EVENT_NAK,  /* a negative acknowledgement */
	O2_EVENT_NOTE, /* note says what was seen */
	/* What only matters to who follows connections; it has no text and no JSON form. */
	O2_EVENT_ACK,  /* packets up to psn have arrived at src */
	O2_EVENT_BACK, /* the sender goes back to packets that were missing: what it sent since comes again */
	O2_EVENT_PART, /* a packet of an RDMA WRITE: bytes at payload, which go to va; in front of the WRITE */
};

struct o2_event {
	enum o2_event_kind kind;
	uint64_t frame; /* number of the packet that completed it, from 1 */
	uint64_t time_ns;
	struct o2_roce_address src, dst;
	uint32_t dest_qp, psn;
	uint32_t packets; /* that it took */
	uint64_t bytes;	  /* SEND, WRITE: that were seen */
	/* WRITE: */
	uint64_t va;
	uint32_t rkey;
	uint32_t dma_bytes;	/* that its first packet announces */
	const uint8_t *payload; /* PART: what of it was captured */
	/* NAK: */
	uint8_t syndrome;
	/* CM: */
	struct o2_cm_mad cm;
	/* SEND, CM: at most one of msg, reject and refused is not NULL; none if nothing was to be decoded. */
	const struct o2_msg *msg;
	const struct o2_reject *reject;
	const struct o2_error *refused;
	/* What they were decoded from; NULL if nothing was. */
	const uint8_t *raw;
	size_t raw_bytes;
	/* NOTE: */
	const char *note;
	bool missing; /* something of this direction was not seen; without addresses: of any */
};

struct o2_walk_totals {
	uint64_t packets;
	uint64_t not_roce;
	uint64_t cut;	  /* of which the capture does not hold all */
	uint64_t dropped; /* that came too fast to be read; not among the packets */
	uint64_t sends, writes, write_bytes, cm, acks, naks, notes;
	uint64_t repeated;  /* packets seen before: no events of their own */
	uint64_t retry_ns;  /* the longest time from a packet to one that repeats it, or one before it */
	uint64_t refused;   /* events with a refusal */
	uint64_t forgotten; /* directions of connections that gave room to others: O2_FLOWS_MAX */
};

typedef void (*o2_event_sink)(void *context, const struct o2_event *event);

/*
 * Walk a capture from where it stands.  Returns 0, or with *why: what o2_capture_next returns, or -ENOMEM; the
 * events before that have been reported.  An event is the sink's until it returns.  Memory is bounded, however
 * long the capture is: docs/cli.md, "Captures".
 */
int o2_capture_walk(struct o2_capture *capture, const struct o2_wire_options *options, o2_event_sink sink,
		    void *context, struct o2_walk_totals *totals, char why[O2_PCAP_WHY_BYTES]);

/* The same for a file, which is closed: o2_capture_open. */
int o2_pcap_walk(FILE *file, const struct o2_wire_options *options, o2_event_sink sink, void *context,
		 struct o2_walk_totals *totals, char why[O2_PCAP_WHY_BYTES]);

/* The same for a file in memory. */
int o2_pcap_walk_bytes(const uint8_t *bytes, size_t length_bytes, const struct o2_wire_options *options,
		       o2_event_sink sink, void *context, struct o2_walk_totals *totals,
		       char why[O2_PCAP_WHY_BYTES]);

#endif
