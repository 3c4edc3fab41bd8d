/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_CAPTURE_FILE_H
#define O2_PROPS_CAPTURE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A synthetic packet capture of RoCEv2: a pcap file in memory.
 * Source: docs/cli.md, "Captures", and the InfiniBand architecture specification, volume 1.
 */

#define O2_CAPTURE_BYTES (1u << 22)
#define O2_CAPTURE_MAD	 256u

enum o2_capture_link {
	O2_CAPTURE_ETHERNET,
	O2_CAPTURE_COOKED,  /* Linux cooked capture */
	O2_CAPTURE_COOKED2, /* Linux cooked capture, version 2 */
	O2_CAPTURE_ERF,
	O2_CAPTURE_INFINIBAND,
	O2_CAPTURE_LINKS,
};

/* The network header of the first three links. */
enum o2_capture_net {
	O2_CAPTURE_IPV4,
	O2_CAPTURE_IPV6,
	O2_CAPTURE_GLOBAL, /* RoCE without IP */
	O2_CAPTURE_NETS,
};

struct o2_capture_file {
	bool big_endian; /* byte order of the pcap headers */
	/* How packets are carried. */
	enum o2_capture_link link;
	enum o2_capture_net net;
	uint32_t tags;	     /* VLAN tags, at most 2 */
	uint32_t options;    /* words of IPv4 options, at most 10 */
	uint32_t extensions; /* ERF extension headers, at most 2 */
	bool global;	     /* InfiniBand: with a global route header */
	uint32_t padding;    /* bytes behind each frame, at most 8; InfiniBand: or 4 less, without a CRC */
	bool full;	     /* no room was left: packets are missing */
	uint32_t packets;
	size_t length, last_record; /* last_record: offset of the last packet */
	/*
	 * Of the last packet: bytes up to where the hosts are known, and up to where the queue pair is known.
	 * other_bytes: bytes that identify a frame of another protocol.
	 */
	size_t hosts_bytes, pair_bytes, other_bytes;
	uint8_t bytes[O2_CAPTURE_BYTES];
};

struct o2_capture_packet {
	int from;      /* index of the sending host, 0 or 1 */
	uint32_t pair; /* of hosts; 0 is the first */
	uint8_t opcode;
	uint32_t dest_qp, psn;
	uint8_t extra[28]; /* headers behind the base transport header */
	size_t extra_bytes;
	const uint8_t *payload;
	size_t payload_bytes;
	size_t unseen_bytes; /* bytes at the end that were not captured */
	uint64_t time_ns;
};

/* The address of a host of the first pair ("10.0.0.1" and so on), or of any pair. */
#define O2_CAPTURE_ADDRESS 24u
const char *o2_capture_address(const struct o2_capture_file *file, int host);
void o2_capture_address_of(const struct o2_capture_file *file, uint32_t pair, int host,
			   char text[O2_CAPTURE_ADDRESS]);

/* Store a number in big-endian order. */
void o2_capture_store(uint8_t *bytes, size_t count, uint64_t value);

void o2_capture_start(struct o2_capture_file *file);
void o2_capture_add(struct o2_capture_file *file, const struct o2_capture_packet *packet);
/* Add the last packet once more. */
void o2_capture_repeat(struct o2_capture_file *file);
/* Truncate the last packet to `bytes` captured bytes. */
void o2_capture_cut(struct o2_capture_file *file, size_t bytes);
/* Set the original length of the last packet, of which less was captured. */
void o2_capture_set_length(struct o2_capture_file *file, size_t bytes);
/* Add a frame of another protocol; which: 0 to O2_CAPTURE_OTHERS - 1. */
#define O2_CAPTURE_OTHERS 4u
void o2_capture_add_other(struct o2_capture_file *file, uint32_t which, uint64_t time_ns);

#endif
