/* SPDX-License-Identifier: MIT */
#ifndef O2_JUDGE_WATCH_LINE_H
#define O2_JUDGE_WATCH_LINE_H

#include "lnd/ni/watch.h"
#include "wire/layout.h"

/*
 * One event of an interface's watch as a line of text, for a listener in another process:
 * "wire CONN KIND SIDE LENGTH ADDR RKEY BYTES", with BYTES in hexadecimal, or "-" if there are none.
 * Source: docs/conform.md, "Misbehaviours".
 */

/* The word that `o2props hostile --tell` writes before such a line, or before the next misbehaviour. */
#define O2_HOSTILE_SAID_LIAR   "liar"
#define O2_HOSTILE_SAID_HONEST "honest"
#define O2_HOSTILE_SAID_TRY    "try"

#define O2_WATCH_LINE_BYTES (2u * O2_MSG_BYTES + 128u)

/* Format *watched without an end of line, with at most the first O2_MSG_BYTES of its bytes. */
void o2_watch_line_put(const struct o2_watched *watched, char text[O2_WATCH_LINE_BYTES]);

/*
 * Parse a line.  Returns false if it is malformed or has more bytes than any message.  watched->bytes points to
 * bytes, or is NULL; watched->conn identifies the connection, and must not be dereferenced.
 */
bool o2_watch_line_read(const char *line, uint8_t bytes[O2_MSG_BYTES], struct o2_watched *watched);

#endif
