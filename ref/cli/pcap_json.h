/* SPDX-License-Identifier: MIT */
#ifndef O2_CLI_PCAP_JSON_H
#define O2_CLI_PCAP_JSON_H

#include <jansson.h>

#include "cli/pcap_walk.h"

/*
 * An event as the form o2ref/pcap_event/output (docs/cli.md, "Captures"); its kind is O2_EVENT_NOTE or one
 * before it in the enum.  NULL when memory runs out; the caller owns the object.
 */
#define O2_PCAP_EVENT_FORM "o2ref/pcap_event/output"

json_t *o2_event_to_json(const struct o2_event *event);

#endif
