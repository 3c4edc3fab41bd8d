/* SPDX-License-Identifier: MIT */
#ifndef O2_CLI_NET_CONFORM_LISTEN_H
#define O2_CLI_NET_CONFORM_LISTEN_H

#include "cli/net/conform/capture.h"
#include "cli/net/conform/report.h"
#include "cli/net/judging.h"

/*
 * Passes all that the probes' connections send and receive to the judge, and with --out to a capture.  Connections
 * that other nodes than the peer ask us for are left out.
 * Source: docs/conform.md, "The judge".
 */

struct o2_conform_listener;

/* Returns NULL after a line on stderr. */
struct o2_conform_listener *o2_conform_listen(const struct o2_net_options *options);
const struct o2_watch *o2_conform_listener_watch(struct o2_conform_listener *listener);

/* What is heard from now on belongs to that probe. */
void o2_conform_listener_at(struct o2_conform_listener *listener, const char *probe);

/* What the peer sent last in this probe, as "a reply of 56 bytes:" and its first bytes, or as "nothing". */
void o2_conform_listener_heard(const struct o2_conform_listener *listener, char text[O2_CONFORM_HEARD_BYTES]);

/* Whether the peer has sent an IMMEDIATE with a checksum since o2_conform_listener_at. */
bool o2_conform_listener_summed(const struct o2_conform_listener *listener);

/* Whether what is heard from now on is of the liar's connection: then our end breaks rules on purpose. */
void o2_conform_listener_lies(struct o2_conform_listener *listener, bool lies);
/* The rules that lies have broken since o2_conform_listener_at, in the table's order: "a, b", or "". */
void o2_conform_listener_named(const struct o2_conform_listener *listener, char text[O2_CONFORM_NAMED_BYTES]);

/* Number of packets in the capture; 0 without one. */
uint64_t o2_conform_listener_packets(const struct o2_conform_listener *listener);
/* Set first_packet and last_packet of what was said since then; before: the number of packets until then. */
void o2_conform_listener_span(const struct o2_conform_listener *listener, uint64_t before,
			      struct o2_conform_result *result);

/* Add a row for each rule that was broken.  All connections must have ended. */
void o2_conform_listener_report(struct o2_conform_listener *listener, struct o2_conform_report *report);

/* NULL is allowed.  Returns false, after a line on stderr, if the capture could not be written. */
bool o2_conform_listener_free(struct o2_conform_listener *listener);

#endif
