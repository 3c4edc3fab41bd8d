/* SPDX-License-Identifier: MIT */
#ifndef O2_CLI_PCAP_PRINT_H
#define O2_CLI_PCAP_PRINT_H

#include <stdbool.h>

#include "cli/input.h"
#include "wire/msg.h"

/*
 * Print the exchange in a capture on standard output, one line for each event: text, or with json one form
 * o2ref/pcap_event/output.  Returns an exit status (enum o2_cli_status): refused if the file is cut or any
 * message in it is refused.  The file is read as a stream: its length does not matter.  It is closed.
 */
int o2_pcap_print(struct o2_stream *stream, const struct o2_wire_options *options, bool json, bool color);

#endif
