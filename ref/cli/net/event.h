/* SPDX-License-Identifier: MIT */
#ifndef O2_CLI_NET_EVENT_H
#define O2_CLI_NET_EVENT_H

#include <stdbool.h>
#include <stddef.h>

#include "cli/net/options.h"
#include "lnet/lnet.h"

/* What --verbose prints about a peer's request. */

/* Is it a ping or a push?  Those go to a portal and match bits of their own, whatever memory is offered there. */
bool o2_net_is_ping(const struct o2_lnet_hdr *hdr);

/* "10.77.0.1@o2ib: ping", without a newline. */
void o2_net_event_text(const struct o2_lnet_event *event, char *text, size_t text_bytes);

/* The same as a line on standard output, if options->verbose is set and options->json is not. */
void o2_net_tell_event(const struct o2_net_options *options, const struct o2_lnet_event *event);

#endif
