/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_CAPTURE_FILE_H
#define O2_PROPS_CAPTURE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A packet capture of RoCEv2 that is made up: a pcap file in memory.
 * Source: docs/cli.md, "Captures", and the InfiniBand architecture specification, volume 1.
 */

#define O2_CAPTURE_BYTES (1u << 22)
#define O2_CAPTURE_MAD	 256u

enum o2_capture_link {
	O2_CAPTURE_ETHERNET,
	O2_CAPTURE_COOKED,  /* Linux */
	O2_CAPTURE_COOKED2, /* of version 2 */
	O2_CAPTURE_ERF,
	O2_CAPTURE_INFINIBAND,
	O2_CAPTURE_LINKS,
};

/* Behind the link's header, on the first three. */
enum o2_capture_net {
	O2_CAPTURE_IPV4,
	O2_CAPTURE_IPV6,
	O2_CAPTURE_GLOBAL, /* RoCE without IP */
	O2_CAPTURE_NETS,
};

struct o2_capture_file {
	bool big_endian; /* the file's own numbers */
	/* How packets are carried. */
	enum o2_capture_link link;
	enum o2_capture_net net;
	uint32_t tags;	     /* of virtual networks, at most 2 */
	uint32_t options;    /* words behind an IPv4 header, at most 10 */
	uint32_t extensions; /* headers behind that of ERF, at most 2 */
	bool global;	     /* InfiniBand: with a global route header */
	uint32_t padding;    /* bytes behind each frame, at most 8; InfiniBand: or 4 less, without a CRC */
	bool full;	     /* there was no room: what is there is not all */
	uint32_t packets;
	size_t length, last_record; /* where the last packet begins */
	/*
	 * Of the last packet, how many bytes tell between which hosts it goes, and how many to which queue pair; a frame of
	 * another protocol is known as such by so many.
	 */
	size_t hosts_bytes, pair_bytes, other_bytes;
	uint8_t bytes[O2_CAPTURE_BYTES];
};

struct o2_capture_packet {
	int from;      /* of two hosts, 0 and 1 */
	uint32_t pair; /* of hosts: the first is 0 */
	uint8_t opcode;
	uint32_t dest_qp, psn;
	uint8_t extra[28]; /* headers behind the base transport header */
	size_t extra_bytes;
	const uint8_t *payload;
	size_t payload_bytes;
	size_t unseen_bytes; /* at its end, that were not captured */
	uint64_t time_ns;
};

/* "10.0.0.1" and so on, of the first pair of hosts; and of any. */
#define O2_CAPTURE_ADDRESS 24u
const char *o2_capture_address(const struct o2_capture_file *file, int host);
void o2_capture_address_of(const struct o2_capture_file *file, uint32_t pair, int host,
			   char text[O2_CAPTURE_ADDRESS]);

/* The bytes of a number, the highest first. */
void o2_capture_store(uint8_t *bytes, size_t count, uint64_t value);

void o2_capture_start(struct o2_capture_file *file);
void o2_capture_add(struct o2_capture_file *file, const struct o2_capture_packet *packet);
/* The last packet once more. */
void o2_capture_repeat(struct o2_capture_file *file);
/* Of the last packet no more bytes were captured. */
void o2_capture_cut(struct o2_capture_file *file, size_t bytes);
/* The last packet, of which less was captured, had so many bytes and no more. */
void o2_capture_set_length(struct o2_capture_file *file, size_t bytes);
/* A frame of another protocol; which: up to O2_CAPTURE_OTHERS. */
#define O2_CAPTURE_OTHERS 4u
void o2_capture_add_other(struct o2_capture_file *file, uint32_t which, uint64_t time_ns);

#endif
