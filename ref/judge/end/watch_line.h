/* SPDX-License-Identifier: MIT */
#ifndef O2_JUDGE_WATCH_LINE_H
#define O2_JUDGE_WATCH_LINE_H

#include "lnd/ni/watch.h"
#include "wire/layout.h"

/*
 * What an interface's connections say, as a line of text, for who listens in another process:
 * "wire CONN KIND SIDE LENGTH ADDR RKEY BYTES", with BYTES in hexadecimal, or "-".
 * Source: docs/conform.md, "Misbehaviours".
 */

/* Words of `o2props hostile --tell` in front of such a line, or of a misbehaviour that comes next. */
#define O2_HOSTILE_SAID_LIAR   "liar"
#define O2_HOSTILE_SAID_HONEST "honest"
#define O2_HOSTILE_SAID_TRY    "try"

#define O2_WATCH_LINE_BYTES (2u * O2_MSG_BYTES + 128u)

/* No more than O2_MSG_BYTES of its bytes.  Without an end of line. */
void o2_watch_line_put(const struct o2_watched *watched, char text[O2_WATCH_LINE_BYTES]);

/*
 * False: it is no such line, or one with more bytes than any message has.  watched->bytes is *bytes, or NULL;
 * its name is as good as a name of this process.
 */
bool o2_watch_line_read(const char *line, uint8_t bytes[O2_MSG_BYTES], struct o2_watched *watched);

#endif
