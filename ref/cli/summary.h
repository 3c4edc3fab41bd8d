/* SPDX-License-Identifier: MIT */
#ifndef O2_CLI_SUMMARY_H
#define O2_CLI_SUMMARY_H

#include <stddef.h>

#include "wire/msg.h"
#include "wire/reject.h"

/*
 * A message on one line: type, the LNet message in it, cookies, key, bytes, status, credits, and a message of
 * LNet selftest.
 */

#define O2_SUMMARY_TEXT_BYTES 512u /* longer than any summary */

void o2_msg_summary(const struct o2_msg *msg, char text[O2_SUMMARY_TEXT_BYTES]);
void o2_reject_summary(const struct o2_reject *reject, char text[O2_SUMMARY_TEXT_BYTES]);

#endif
