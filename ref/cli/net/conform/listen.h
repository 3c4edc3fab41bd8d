/* SPDX-License-Identifier: MIT */
#ifndef O2_CLI_NET_CONFORM_LISTEN_H
#define O2_CLI_NET_CONFORM_LISTEN_H

#include "cli/net/conform/capture.h"
#include "cli/net/conform/report.h"
#include "cli/net/judging.h"

/*
 * All that the probes' connections say, both ways, goes to the judge, and with --out into a capture.
 * Source: docs/conform.md, "The judge".
 */

struct o2_conform_listener;

/* NULL, after a line on stderr. */
struct o2_conform_listener *o2_conform_listen(const struct o2_net_options *options);
const struct o2_watch *o2_conform_listener_watch(struct o2_conform_listener *listener);

/* From now on what is said belongs to that probe. */
void o2_conform_listener_at(struct o2_conform_listener *listener, const char *probe);

/* What the peer has said last since then, and its first bytes: "a message of 56 bytes: 911be90b ..", or "nothing". */
void o2_conform_listener_heard(const struct o2_conform_listener *listener, char text[O2_CONFORM_HEARD_BYTES]);

/* What is heard now is said by the liar, or not: what our end breaks then it was meant to. */
void o2_conform_listener_lies(struct o2_conform_listener *listener, bool lies);
/* The rules that lies have broken since o2_conform_listener_at, in the order of the table: "a, b", or "". */
void o2_conform_listener_named(const struct o2_conform_listener *listener, char text[O2_CONFORM_NAMED_BYTES]);

/* How many packets are in the capture; 0 without one. */
uint64_t o2_conform_listener_packets(const struct o2_conform_listener *listener);

/* A row for each rule that was broken.  No connection may be left. */
void o2_conform_listener_report(struct o2_conform_listener *listener, struct o2_conform_report *report);

/* NULL is allowed.  False: the capture could not be written; that was said. */
bool o2_conform_listener_free(struct o2_conform_listener *listener);

#endif
