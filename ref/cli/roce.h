/* SPDX-License-Identifier: MIT */
#ifndef O2_CLI_ROCE_H
#define O2_CLI_ROCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * One packet of an InfiniBand transport: its carrier (RoCEv2 over Ethernet, native InfiniBand and so on:
 * frame.h), base transport header, and headers that its opcode adds.  Source: docs/cli.md, "Captures".
 */

enum o2_roce_kind {
	O2_ROCE_SEND,
	O2_ROCE_WRITE,
	O2_ROCE_READ, /* request */
	O2_ROCE_READ_RESPONSE,
	O2_ROCE_ACK,
	O2_ROCE_ATOMIC, /* request */
	O2_ROCE_OTHER,
};

struct o2_roce_address {
	uint8_t family_bytes; /* 2: a LID; 4: an IPv4 address; 16: an IPv6 address or a GID */
	uint8_t bytes[16];
};

struct o2_roce_packet {
	struct o2_roce_address src, dst;
	uint8_t opcode;
	enum o2_roce_kind kind;
	bool datagram;	  /* service of the opcode: unreliable datagram, else reliable connection */
	bool first, last; /* among the packets of its message; both for an "only" */
	uint32_t dest_qp; /* 24 bits */
	uint32_t psn;	  /* 24 bits */
	/* WRITE first and only, READ requests: */
	uint64_t va;
	uint32_t rkey;
	uint32_t dma_bytes;
	/* ACK: */
	uint8_t syndrome;
	/* The payload without padding and ICRC. */
	const uint8_t *payload; /* points into the frame: seen_bytes */
	size_t payload_bytes;	/* on the wire */
	size_t seen_bytes;	/* bytes that the capture holds, at most payload_bytes */
};

enum o2_roce_verdict {
	O2_ROCE_PACKET,
	O2_ROCE_NOT_ROCE,  /* another protocol */
	O2_ROCE_CUT,	   /* the capture does not hold all of the packet's headers */
	O2_ROCE_MALFORMED, /* its lengths contradict each other */
};

/* A frame as a capture records it. */
struct o2_frame {
	int link_type; /* as in pcap files */
	const uint8_t *bytes;
	size_t seen_bytes;   /* bytes that the capture holds: no other byte is read */
	size_t length_bytes; /* length of the original frame */
};

/* "Ethernet" and so on; NULL: a link type that is not supported. */
const char *o2_frame_link_type_name(int number);

/* For O2_ROCE_CUT and O2_ROCE_MALFORMED *packet holds what was parsed until then. */
enum o2_roce_verdict o2_roce_parse(const struct o2_frame *frame, struct o2_roce_packet *packet);

/* Is the sequence number behind the other one?  They count modulo 2^24: up to half of that behind is older. */
bool o2_roce_psn_behind(uint32_t psn, uint32_t other);

bool o2_roce_address_same(const struct o2_roce_address *a, const struct o2_roce_address *b);

/* The textual form of an address, which needs at least 46 bytes. */
#define O2_ROCE_ADDRESS_TEXT_BYTES 48u
void o2_roce_address_text(const struct o2_roce_address *address, char text[O2_ROCE_ADDRESS_TEXT_BYTES]);

#endif
