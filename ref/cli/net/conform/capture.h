/* SPDX-License-Identifier: MIT */
#ifndef O2_CLI_NET_CONFORM_CAPTURE_H
#define O2_CLI_NET_CONFORM_CAPTURE_H

#include <stdbool.h>
#include <stdint.h>

#include "lnd/ni/watch.h"

/*
 * What was said, as a capture that `o2ref decode --pcap` and `o2ref judge` read: a pcapng file of RoCEv2 over
 * Ethernet.  It is written from what our end has sent and received, so it needs no right to listen to an
 * interface; and so what an end does not know of its packets is made up (queue pairs, sequence numbers,
 * Ethernet addresses, the connection manager's ids), and what the peer has written to our memory is a gap in
 * its sequence numbers.  Source: docs/conform.md, "The capture".
 */

struct o2_conform_capture;

/* NULL, after a line on stderr: the file cannot be written, or no memory. */
struct o2_conform_capture *o2_conform_capture_open(const char *path, uint64_t our_nid, uint64_t peer_nid,
						   uint16_t port);

void o2_conform_capture_hear(struct o2_conform_capture *capture, const struct o2_watched *watched);

/* How many packets there are so far: the number of the last one. */
uint64_t o2_conform_capture_packets(const struct o2_conform_capture *capture);

/* NULL is allowed.  False, after a line on stderr: not all of it could be written. */
bool o2_conform_capture_close(struct o2_conform_capture *capture);

#endif
