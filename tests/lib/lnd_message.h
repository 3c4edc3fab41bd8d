/* SPDX-License-Identifier: MIT */
#ifndef O2_TESTS_LND_MESSAGE_H
#define O2_TESTS_LND_MESSAGE_H

#include "tests/lib/lnd_pair.h"

/* Messages that a test sends past a connection. */

/* Post bytes as a message, past all of the connection's own logic but its account of credits. */
void send_raw(struct side *side, const void *bytes, uint32_t length);

/* The same for a message that the codec finds good: what o2_msg_begin has started and the test has filled. */
void send_msg(struct side *side);

void send_completion(struct side *side, enum o2_msg_type type, uint64_t cookie, int32_t status);

/* A good message of that type, past the connection's own logic. */
void send_plain(struct side *side, enum o2_msg_type type, uint8_t credits);

#endif
