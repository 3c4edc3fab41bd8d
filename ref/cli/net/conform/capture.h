/* SPDX-License-Identifier: MIT */
#ifndef O2_CLI_NET_CONFORM_CAPTURE_H
#define O2_CLI_NET_CONFORM_CAPTURE_H

#include <stdbool.h>
#include <stdint.h>

#include "lnd/ni/watch.h"

/*
 * Writes what was sent and received as a capture that `o2ref decode --pcap` and `o2ref judge` read: a pcapng
 * file of RoCEv2 over Ethernet.  The capture is made from what our end sees, so it needs no right to listen
 * on an interface.  What an end does not see of its packets is made up (queue pairs, sequence numbers,
 * Ethernet addresses, the connection manager's ids), and what the peer has written to our memory is a gap in
 * its sequence numbers.  Source: docs/conform.md, "The capture".
 */

struct o2_conform_capture;

/* Returns NULL, after a line on stderr, if the file cannot be written or memory runs out. */
struct o2_conform_capture *o2_conform_capture_open(const char *path, uint64_t our_nid, uint64_t peer_nid,
						   uint16_t port);

void o2_conform_capture_hear(struct o2_conform_capture *capture, const struct o2_watched *watched);

/* Number of packets so far, which is the last packet's number. */
uint64_t o2_conform_capture_packets(const struct o2_conform_capture *capture);

/* NULL is allowed.  Returns false, after a line on stderr, if not all of the capture could be written. */
bool o2_conform_capture_close(struct o2_conform_capture *capture);

#endif
