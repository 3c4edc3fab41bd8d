/* SPDX-License-Identifier: MIT */
#ifndef O2_CLI_NET_EVENT_H
#define O2_CLI_NET_EVENT_H

#include <stdbool.h>
#include <stddef.h>

#include "cli/net/options.h"
#include "lnet/lnet.h"

/* What --verbose says of a request of a peer's. */

/* A ping, or a push: at the place that LNet keeps for them, whatever memory is offered elsewhere. */
bool o2_net_is_ping(const struct o2_lnet_hdr *hdr);

/* "10.77.0.1@o2ib: ping", without a newline. */
void o2_net_event_text(const struct o2_lnet_event *event, char *text, size_t text_bytes);

/* The same as a line on standard output, where the command line asks for it. */
void o2_net_tell_event(const struct o2_net_options *options, const struct o2_lnet_event *event);

#endif
