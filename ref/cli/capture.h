/* SPDX-License-Identifier: MIT */
#ifndef O2_CLI_CAPTURE_H
#define O2_CLI_CAPTURE_H

#include <signal.h>
#include <stdint.h>
#include <stdio.h>

#include "cli/roce.h"

/*
 * Frames from a capture file, or live from an interface.  libpcap reads them one at a time.
 * Source: docs/cli.md, "Captures"; docs/judge.md, "While it happens".
 */

struct pcap;

/* When a live capture ends. */
struct o2_capture_end {
	uint64_t seconds, packets; /* limits, counted from the opening on; 0: none */
	const volatile sig_atomic_t *stop;
};

struct o2_capture {
	struct pcap *pcap;    /* NULL: not open */
	uint64_t packets;     /* read so far, so the number of the last one: from 1, as other tools count */
	uint32_t ns_per_tick; /* nanoseconds in one unit of libpcap's times */
	bool live;	      /* true: from an interface; false: from a file */
	struct o2_capture_end end;
	uint64_t end_ns; /* when to end, by the monotonic clock; 0: never */
};

/* Why a capture cannot be read to its end: libpcap's error text, or an error of a rule cli/pcap/... */
#define O2_PCAP_WHY_BYTES 320u

/*
 * Begin to read a pcap or pcapng file at its current position.  The file is closed together with the capture,
 * also when this fails, unless it is stdin.  Returns 0, or sets *why and returns -EPROTO (not a capture),
 * -ENOTSUP (a link type that is not supported) or -EIO (the file cannot be read).
 */
int o2_capture_open(FILE *file, struct o2_capture *capture, char why[O2_PCAP_WHY_BYTES]);

/*
 * Listen on the interface.  buffer_bytes: the kernel's room for frames that are not read yet.  Returns 0, or
 * sets *why and returns -EIO (no such interface, no permission, a link type that is not supported).
 */
int o2_capture_open_live(const char *interface, int buffer_bytes, const struct o2_capture_end *end,
			 struct o2_capture *capture, char why[O2_PCAP_WHY_BYTES]);
/* Frames lost so far because they came faster than they were read; 0 for a file. */
uint64_t o2_capture_dropped(const struct o2_capture *capture);

/* May also be called for a capture that could not be opened. */
void o2_capture_close(struct o2_capture *capture);

/*
 * Wait for the next frame, whose bytes are valid until the next call.  *time_ns: since 1970.  Returns 1, 0 at
 * the end, or sets *why and returns -EPROTO (the file is cut short or contradicts itself) or -EIO.
 */
int o2_capture_next(struct o2_capture *capture, struct o2_frame *frame, uint64_t *time_ns,
		    char why[O2_PCAP_WHY_BYTES]);

#endif
