/* SPDX-License-Identifier: MIT */
#ifndef O2_CLI_CAPTURE_H
#define O2_CLI_CAPTURE_H

#include <stdint.h>
#include <stdio.h>

#include "cli/roce.h"

/* Frames out of a capture file, which libpcap reads one at a time.  Source: docs/cli.md, "Captures". */

struct pcap;

struct o2_capture {
	struct pcap *pcap; /* NULL: not open */
	uint64_t packets;  /* that were read: the last one's number, from 1 as other tools count */
};

/* Why a file cannot be read to its end: libpcap's words, or a rule cli/pcap/... */
#define O2_PCAP_WHY_BYTES 320u

/*
 * Read the file from where it stands, pcap or pcapng.  It is closed with the capture, also when this fails,
 * unless it is stdin.  Returns 0, or with *why: -EPROTO (no capture), -ENOTSUP (of a link type that is not
 * read), -EIO (it cannot be read).
 */
int o2_capture_open(FILE *file, struct o2_capture *capture, char why[O2_PCAP_WHY_BYTES]);
/* May be called for one that is not open. */
void o2_capture_close(struct o2_capture *capture);

/*
 * The next frame; its bytes are the capture's until the one after it.  *time_ns: since 1970.  Returns 1, 0 at
 * the end, or with *why: -EPROTO (cut, or it contradicts itself), -EIO.
 */
int o2_capture_next(struct o2_capture *capture, struct o2_frame *frame, uint64_t *time_ns,
		    char why[O2_PCAP_WHY_BYTES]);

#endif
