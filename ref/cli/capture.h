/* SPDX-License-Identifier: MIT */
#ifndef O2_CLI_CAPTURE_H
#define O2_CLI_CAPTURE_H

#include <signal.h>
#include <stdint.h>
#include <stdio.h>

#include "cli/roce.h"

/*
 * Frames out of a capture file, or from an interface while they pass, which libpcap reads one at a time.
 * Source: docs/cli.md, "Captures"; docs/judge.md, "While it happens".
 */

struct pcap;

/* When what comes from an interface ends. */
struct o2_capture_end {
	uint64_t seconds, packets; /* after so many, from the opening on; 0: never */
	const volatile sig_atomic_t *stop;
};

struct o2_capture {
	struct pcap *pcap;    /* NULL: not open */
	uint64_t packets;     /* that were read: the last one's number, from 1 as other tools count */
	uint32_t ns_per_tick; /* of libpcap's times */
	bool live;	      /* else from a file */
	struct o2_capture_end end;
	uint64_t end_ns; /* of the monotonic clock */
};

/* Why a file cannot be read to its end: libpcap's words, or a rule cli/pcap/... */
#define O2_PCAP_WHY_BYTES 320u

/*
 * Read the file from where it stands, pcap or pcapng.  It is closed with the capture, also when this fails,
 * unless it is stdin.  Returns 0, or with *why: -EPROTO (no capture), -ENOTSUP (of a link type that is not
 * read), -EIO (it cannot be read).
 */
int o2_capture_open(FILE *file, struct o2_capture *capture, char why[O2_PCAP_WHY_BYTES]);

/*
 * Listen on the interface; buffer_bytes: of the kernel's, for what is not read yet.  Returns 0, or with *why:
 * -EIO (no such interface, no permission, a link type that is not read).
 */
int o2_capture_open_live(const char *interface, int buffer_bytes, const struct o2_capture_end *end,
			 struct o2_capture *capture, char why[O2_PCAP_WHY_BYTES]);
/* Frames that came too fast, so far; 0 for a file. */
uint64_t o2_capture_dropped(const struct o2_capture *capture);

/* May be called for one that could not be opened. */
void o2_capture_close(struct o2_capture *capture);

/*
 * The next frame, for which this waits; its bytes are the capture's until the one after it.  *time_ns: since 1970.  Returns 1, 0 at
 * the end, or with *why: -EPROTO (cut, or it contradicts itself), -EIO.
 */
int o2_capture_next(struct o2_capture *capture, struct o2_frame *frame, uint64_t *time_ns,
		    char why[O2_PCAP_WHY_BYTES]);

#endif
