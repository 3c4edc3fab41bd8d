/* SPDX-License-Identifier: MIT */
#ifndef O2_TESTS_LND_MESSAGE_H
#define O2_TESTS_LND_MESSAGE_H

#include "tests/lib/lnd_pair.h"

/* Messages that a test posts to a connection's queue pair itself, bypassing the connection's logic. */

/* Post these bytes as a message.  Of the connection's logic, only the accounting of credits is used. */
void send_raw(struct side *side, const void *bytes, uint32_t length);

/* The same for a valid message, which o2_msg_begin has started and the test has filled in. */
void send_msg(struct side *side);

void send_completion(struct side *side, enum o2_msg_type type, uint64_t cookie, int32_t status);

/* A valid message of this type, sent with send_msg. */
void send_plain(struct side *side, enum o2_msg_type type, uint8_t credits);

#endif
