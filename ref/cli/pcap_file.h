/* SPDX-License-Identifier: MIT */
#ifndef O2_CLI_PCAP_FILE_H
#define O2_CLI_PCAP_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

/*
 * A capture file in the classic pcap format: 24 bytes, then records of 16 bytes and a packet, in the byte
 * order of the machine that wrote it; times in microseconds or nanoseconds.  It is read as a stream, one
 * record at a time, so that its length does not matter.  Source: pcap-savefile(5).
 */

/* Of a record at most so much is kept; an IP packet is never longer.  The rest is passed over. */
#define O2_PCAP_KEPT_BYTES 65792u

/* Where the bytes come from.  read: the next n, or fewer only at the end; negative errno: it cannot be read.
 */
struct o2_pcap_source {
	ssize_t (*read)(void *context, uint8_t *bytes, size_t n);
	void *context;
};

/* A source that is in memory: context of o2_pcap_read_memory. */
struct o2_pcap_memory {
	const uint8_t *bytes; /* borrowed */
	size_t length_bytes;
	size_t at; /* 0 at first */
};

ssize_t o2_pcap_read_memory(void *context, uint8_t *bytes, size_t n);

struct o2_pcap_file {
	struct o2_pcap_source source;
	bool big_endian;
	bool nanoseconds;
	uint8_t *kept; /* O2_PCAP_KEPT_BYTES, owned: the packet */
};

struct o2_pcap_packet {
	uint64_t number;	/* of the record, from 1, as other tools count */
	uint64_t time_ns;	/* since 1970 */
	uint32_t on_wire_bytes; /* may be more than was captured */
	uint32_t length_bytes;	/* that are kept */
	const uint8_t *bytes;	/* valid until the next one */
};

/*
 * Returns 0, or with rule cli/pcap/...: -EPROTO (not pcap, or cut), -ENOTSUP (pcapng, link type), -ENOMEM, or
 * what the source says (rule cli/pcap/read).  On success the caller closes it.
 */
int o2_pcap_open(struct o2_pcap_file *file, const struct o2_pcap_source *source, struct o2_error *error);
void o2_pcap_close(struct o2_pcap_file *file);

/*
 * *packet: the packet before; its number must be 0 at first.  Returns 1, 0 at the end, -EPROTO: cut short, or
 * what the source says.
 */
int o2_pcap_next(struct o2_pcap_file *file, struct o2_pcap_packet *packet, struct o2_error *error);

#endif
