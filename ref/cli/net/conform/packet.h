/* SPDX-License-Identifier: MIT */
#ifndef O2_CLI_NET_CONFORM_PACKET_H
#define O2_CLI_NET_CONFORM_PACKET_H

#include <stddef.h>
#include <stdint.h>

#include "cli/cm.h"
#include "lnd/ni/watch.h"

/*
 * Packets of RoCEv2 over IPv4 and Ethernet, and the blocks of a pcapng file around them.
 * Source: the InfiniBand architecture specification, volume 1, "Base transport header", "Communication
 * management"; annex A17 (RoCEv2); the pcapng specification (IETF opsawg), "Block types".
 */

#define O2_PACKET_BYTES	     (4096u + 128u)
#define O2_PCAPNG_HEAD_BYTES 128u

/* One end of a connection. */
struct o2_packet_end {
	uint32_t address; /* IPv4, as a number */
	uint32_t qp;	  /* 24 bits */
	uint32_t cm_id;
	uint32_t psn; /* 24 bits: of the next packet that it sends; begins at 0 */
};

struct o2_packet {
	uint8_t bytes[O2_PACKET_BYTES];
	size_t seen_bytes;   /* bytes that the capture holds */
	size_t length_bytes; /* of the frame */
};

/* A REQ, REP, REJ or DREQ; port: of the requested service.  Private data that does not fit is cut. */
void o2_packet_cm(struct o2_packet *packet, enum o2_cm_kind kind, const struct o2_packet_end *from,
		  const struct o2_packet_end *to, uint16_t port, const uint8_t *private_data,
		  size_t private_bytes);

/* A SEND; bytes beyond 4096 are cut. */
void o2_packet_send(struct o2_packet *packet, struct o2_packet_end *from, const struct o2_packet_end *to,
		    const uint8_t *bytes, size_t length_bytes);

/* One packet of an RDMA WRITE: `count` bytes from byte `at` on. */
void o2_packet_write(struct o2_packet *packet, struct o2_packet_end *from, const struct o2_packet_end *to,
		     const struct o2_watched *write, uint64_t at, uint32_t count);

/* That end sends `count` packets that are not in the capture. */
void o2_packet_skip(struct o2_packet_end *from, uint32_t count);

/* Make the head of a file.  Returns its length in bytes. */
size_t o2_pcapng_head(uint8_t bytes[O2_PCAPNG_HEAD_BYTES]);

/* What stands before and after a packet's captured bytes. */
struct o2_pcapng_block {
	uint8_t head[28], tail[8];
	size_t head_bytes, tail_bytes;
};

void o2_pcapng_packet(const struct o2_packet *packet, uint64_t time_ns, struct o2_pcapng_block *block);

#endif
