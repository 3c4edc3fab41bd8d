/* SPDX-License-Identifier: MIT */
#ifndef O2_CLI_PCAP_JSON_H
#define O2_CLI_PCAP_JSON_H

#include <jansson.h>

#include "cli/pcap_walk.h"

/*
 * An event of kind O2_EVENT_NOTE or before, as the form o2ref/pcap_event/output (docs/cli.md, "Captures").  NULL when memory runs out; the
 * caller owns it.
 */
#define O2_PCAP_EVENT_FORM "o2ref/pcap_event/output"

json_t *o2_event_to_json(const struct o2_event *event);

#endif
