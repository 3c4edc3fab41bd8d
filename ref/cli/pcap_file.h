/* SPDX-License-Identifier: MIT */
#ifndef O2_CLI_PCAP_FILE_H
#define O2_CLI_PCAP_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/*
 * A capture file in the classic pcap format: 24 bytes, then records of 16 bytes and a packet, in the byte
 * order of the machine that wrote it; times in microseconds or nanoseconds.  Source: pcap-savefile(5).
 */
struct o2_pcap_file {
	const uint8_t *bytes; /* borrowed */
	size_t length_bytes;
	size_t at; /* where the next record begins */
	bool big_endian;
	bool nanoseconds;
};

struct o2_pcap_packet {
	uint32_t number;	/* of the record, from 1, as other tools count */
	uint64_t time_ns;	/* since 1970 */
	uint32_t on_wire_bytes; /* may be more than was captured */
	uint32_t length_bytes;
	const uint8_t *bytes; /* into the file */
};

/* Returns 0, or -EPROTO (not pcap, or cut), -ENOTSUP (pcapng, link type) with rule cli/pcap/... */
int o2_pcap_open(struct o2_pcap_file *file, const uint8_t *bytes, size_t length_bytes,
		 struct o2_error *error);

/* *packet: the packet before; its number must be 0 at first.  Returns 1, 0 at the end, or -EPROTO: cut short.
 */
int o2_pcap_next(struct o2_pcap_file *file, struct o2_pcap_packet *packet, struct o2_error *error);

#endif
