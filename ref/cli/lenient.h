/* SPDX-License-Identifier: MIT */
#ifndef O2_CLI_LENIENT_H
#define O2_CLI_LENIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/msg.h"

/* How strict the command is with messages: the codec's options, and one more. */
struct o2_lenient {
	struct o2_wire_options wire;
	/*
	 * Accept a wrong checksum of an IMMEDIATE that has a payload, and of nothing else: some peers send
	 * those with the checksum of other bytes.  Source: docs/cli.md, "A wrong checksum".
	 */
	bool payload_checksum;
};

/*
 * o2_msg_decode with these options.  *tolerated: the message was accepted although its checksum is wrong; its
 * cksum_flavour is then O2_CKSUM_NONE.
 */
int o2_lenient_decode(const uint8_t *bytes, size_t length_bytes, const struct o2_lenient *lenient,
		      struct o2_msg *msg, bool *tolerated, struct o2_error *error);

#endif
