/* SPDX-License-Identifier: MIT */
#ifndef O2_CLI_PCAP_PRINT_H
#define O2_CLI_PCAP_PRINT_H

#include <stdbool.h>

#include "cli/input.h"
#include "wire/msg.h"

/*
 * Print the exchange in a capture on standard output, one line for each event: as text, or with json as a
 * form o2ref/pcap_event/output.  Returns an exit status (enum o2_cli_status): O2_CLI_REFUSED if the file is
 * cut short or any message in it is refused.  Reads the file as a stream, of any length, and closes it.
 */
int o2_pcap_print(struct o2_stream *stream, const struct o2_wire_options *options, bool json, bool color);

#endif
