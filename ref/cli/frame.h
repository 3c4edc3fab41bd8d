/* SPDX-License-Identifier: MIT */
#ifndef O2_CLI_FRAME_H
#define O2_CLI_FRAME_H

#include "cli/roce.h"

/*
 * What lies in front of the base transport header: link, network and UDP headers of a captured frame.
 * Source: docs/cli.md, "Captures"; the headers of link types as the libpcap project lists them; the InfiniBand
 * architecture specification, volume 1, "Local route header", "Global route header".
 */

/* The unread part of a packet.  Each step takes bytes from its front, after checking that they are there. */
struct o2_span {
	const uint8_t *bytes;
	size_t seen_bytes;   /* bytes that the capture holds */
	size_t length_bytes; /* bytes of the packet, as its headers say: at least seen_bytes */
};

/* Take `count` bytes from the front, and return them.  NULL: the capture does not hold so many. */
const uint8_t *o2_span_take(struct o2_span *span, size_t count);
/* Why they could not be taken: O2_ROCE_CUT (not captured), O2_ROCE_MALFORMED (the packet is shorter). */
enum o2_roce_verdict o2_span_short_of(const struct o2_span *span, size_t count);

/*
 * Pass what is in front of the base transport header.  *span is then the rest of the packet, its invariant
 * CRC included, whose bytes the capture may lack.  Sets the packet's addresses.
 */
enum o2_roce_verdict o2_frame_pass(const struct o2_frame *frame, struct o2_span *span,
				   struct o2_roce_packet *packet);

#endif
