/* SPDX-License-Identifier: MIT */
#ifndef O2_CLI_FRAME_H
#define O2_CLI_FRAME_H

#include "cli/roce.h"

/*
 * What lies in front of the base transport header: link, network and UDP headers of a captured frame.
 * Source: docs/cli.md, "Captures"; the headers of link types as the libpcap project lists them; the InfiniBand
 * architecture specification, volume 1, "Local route header", "Global route header".
 */

/* What is left to read; every step takes from its front after looking whether it is there. */
struct o2_span {
	const uint8_t *bytes;
	size_t seen_bytes;   /* that the capture holds */
	size_t length_bytes; /* of the packet, as its headers say: not less */
};

/* The front of the span, which then begins behind it.  NULL: the capture does not hold so much. */
const uint8_t *o2_span_take(struct o2_span *span, size_t count);
/* Why it could not be taken: the rest was not captured, or there is none. */
enum o2_roce_verdict o2_span_short_of(const struct o2_span *span, size_t count);

/*
 * Pass what is in front of the base transport header: *span is then what follows, up to the invariant CRC,
 * which may not be there.  Sets the packet's addresses.
 */
enum o2_roce_verdict o2_frame_pass(const struct o2_frame *frame, struct o2_span *span,
				   struct o2_roce_packet *packet);

#endif
