/* SPDX-License-Identifier: MIT */

/* Boundary cases of the headers before the base transport header (docs/cli.md, "Captures"). */

#include <pcap/dlt.h>

#include "cli/roce.h"
#include "tests/lib/unit_test.h"

#define FRAME_BYTES 512u

struct made {
	int link_type;
	uint8_t bytes[FRAME_BYTES];
	size_t length_bytes;
	size_t length_at; /* offset of the field with the length of the rest; unit_bytes is its unit */
	size_t unit_bytes;
};

static void add(struct made *made, const char *hex)
{
	unsigned int byte;
	int read;

	while (sscanf(hex, " %2x%n", &byte, &read) == 1) {
		made->bytes[made->length_bytes++] = (uint8_t)byte;
		hex += read;
	}
}

static void add_zeros(struct made *made, size_t count)
{
	made->length_bytes += count;
}

/* A SEND of 20 bytes of 0xee to queue pair 0x123456, number 0x654321, and its CRC: 36 bytes. */
#define TRANSPORT_BYTES 36u
#define PAYLOAD_BYTES	20u
static void add_transport(struct made *made)
{
	add(made, "0400ffff 00123456 00654321 eeeeeeee eeeeeeee eeeeeeee eeeeeeee eeeeeeee 00000000");
}

static void add_udp(struct made *made)
{
	add(made, "c000 12b7");
	made->length_at = made->length_bytes;
	made->unit_bytes = 1;
	add(made, "002c 0000");
	add_transport(made);
}

static void add_ipv4(struct made *made)
{
	add(made, "45000040 00004000 40110000 0a4d0001 0a4d0002");
	add_udp(made);
}

static void add_ipv6(struct made *made)
{
	add(made, "60000000 002c1140 fe80000000000000 0000000000000001 fe80000000000000 0000000000000002");
	add_udp(made);
}

static void add_global(struct made *made)
{
	add(made, "60000000");
	made->length_at = made->length_bytes;
	made->unit_bytes = 1;
	add(made, "0024 1b40 fe80000000000000 0000000000000001 fe80000000000000 0000000000000002");
	add_transport(made);
}

/* The length field of this header gives the end of the packet, also with a global route header. */
static void add_infiniband(struct made *made, bool is_global)
{
	const size_t at = made->length_bytes;

	add(made, is_global ? "0003 0002 0015 0001" : "0002 0002 000b 0001");
	if (is_global)
		add_global(made);
	else
		add_transport(made);
	made->length_at = at + 4;
	made->unit_bytes = 4;
}

enum way {
	ETHERNET,
	VLAN,
	QINQ,
	ETHERNET_IPV6,
	ROCE_V1,
	COOKED,
	COOKED_2,
	INFINIBAND,
	GLOBAL,
	ERF,
	ERF_EXTENDED,
	WAYS
};

static void make(enum way way, struct made *made)
{
	static const char *const links[] = {
		[ETHERNET] = "000000000000 000000000000 0800",
		[VLAN] = "000000000000 000000000000 8100 0007 0800",
		[QINQ] = "000000000000 000000000000 88a8 0005 8100 0007 0800",
		[ETHERNET_IPV6] = "000000000000 000000000000 86dd",
		[ROCE_V1] = "000000000000 000000000000 8915",
		[COOKED] = "0000 0001 0006 0000000000000000 0800",
		[COOKED_2] = "0800 0000 00000003 0001 00 06 0000000000000000",
		[ERF] = "0000000000000000 15 04 0042 0000 002c",
		[ERF_EXTENDED] = "0000000000000000 95 04 007c 0000 0054 8300000000000000 0500000000000000",
	};
	static const int link_types[] = {[COOKED] = DLT_LINUX_SLL,
					 [COOKED_2] = DLT_LINUX_SLL2,
					 [INFINIBAND] = DLT_INFINIBAND,
					 [GLOBAL] = DLT_INFINIBAND,
					 [ERF] = DLT_ERF,
					 [ERF_EXTENDED] = DLT_ERF};

	memset(made, 0, sizeof(*made));
	made->link_type = link_types[way] == 0 ? DLT_EN10MB : link_types[way];
	if (way != INFINIBAND && way != GLOBAL)
		add(made, links[way]);
	if (way == ETHERNET_IPV6)
		add_ipv6(made);
	else if (way == ROCE_V1)
		add_global(made);
	else if (way >= INFINIBAND)
		add_infiniband(made, way == GLOBAL || way == ERF_EXTENDED);
	else
		add_ipv4(made);
}

static enum o2_roce_verdict parse(const struct made *made, size_t seen_bytes, struct o2_roce_packet *packet)
{
	/* A separate allocation, so that a sanitizer sees a read past its end. */
	uint8_t *bytes = malloc(seen_bytes + (seen_bytes == 0));
	const struct o2_frame frame = {made->link_type, bytes, seen_bytes, made->length_bytes};
	enum o2_roce_verdict verdict;

	assert_non_null(bytes);
	memcpy(bytes, made->bytes, seen_bytes);
	verdict = o2_roce_parse(&frame, packet);
	packet->payload = NULL;
	free(bytes);
	return verdict;
}

static void assert_whole(const struct made *made, size_t seen_bytes)
{
	struct o2_roce_packet packet;

	assert_int_equal(parse(made, seen_bytes, &packet), O2_ROCE_PACKET);
	assert_int_equal(packet.kind, O2_ROCE_SEND);
	assert_true(packet.first && packet.last && !packet.datagram);
	assert_int_equal(packet.dest_qp, 0x123456);
	assert_int_equal(packet.psn, 0x654321);
	assert_int_equal(packet.payload_bytes, PAYLOAD_BYTES);
	assert_int_equal(packet.src.bytes[packet.src.family_bytes - 1], 1);
	assert_int_equal(packet.dst.bytes[packet.dst.family_bytes - 1], 2);
}

static void add_length(struct made *made, int count)
{
	const uint32_t length =
		(uint32_t)(made->bytes[made->length_at] << 8 | made->bytes[made->length_at + 1]);

	made->bytes[made->length_at] = (uint8_t)((length + (uint32_t)count) >> 8);
	made->bytes[made->length_at + 1] = (uint8_t)(length + (uint32_t)count);
}

TEST(a_packet_is_found_in_each_frame)
{
	for (int way = 0; way < WAYS; way++) {
		struct made made;

		make((enum way)way, &made);
		assert_whole(&made, made.length_bytes);
		/* Bytes behind the packet are padding of the frame. */
		add_zeros(&made, 9);
		assert_whole(&made, made.length_bytes);
	}
}

TEST(what_was_captured_is_told_from_what_was_sent)
{
	for (int way = 0; way < WAYS; way++) {
		struct made made;
		struct o2_roce_packet packet;
		size_t payload_at;

		make((enum way)way, &made);
		payload_at = made.length_bytes - 4 - PAYLOAD_BYTES;
		for (size_t seen = 0; seen < payload_at; seen++)
			assert_int_equal(parse(&made, seen, &packet), O2_ROCE_CUT);
		for (size_t seen = payload_at; seen <= made.length_bytes; seen++) {
			const size_t payload = seen - payload_at;

			assert_whole(&made, seen);
			parse(&made, seen, &packet);
			assert_int_equal(packet.seen_bytes,
					 payload < PAYLOAD_BYTES ? payload : PAYLOAD_BYTES);
		}
	}
}

TEST(a_frame_that_is_shorter_than_its_headers_say_is_no_packet)
{
	for (int way = 0; way < WAYS; way++) {
		struct made made;
		struct o2_roce_packet packet;
		size_t whole_bytes;

		make((enum way)way, &made);
		whole_bytes = made.length_bytes;
		for (made.length_bytes = 0; made.length_bytes < whole_bytes; made.length_bytes++) {
			const enum o2_roce_verdict verdict = parse(&made, made.length_bytes, &packet);
			/* Captures of InfiniBand may lack the CRC. */
			const bool may_be = way >= INFINIBAND && made.length_bytes + 4 >= whole_bytes;

			/* An ERF header has the packet's original length. */
			if (may_be || (way >= ERF && verdict == O2_ROCE_PACKET))
				continue;
			assert_true(verdict == O2_ROCE_MALFORMED || verdict == O2_ROCE_NOT_ROCE ||
				    (way >= ERF && verdict == O2_ROCE_CUT));
		}
	}
}

TEST(lengths_are_held_against_the_frame)
{
	for (int way = 0; way < WAYS; way++) {
		struct made made;
		struct o2_roce_packet packet;
		const int more = way >= INFINIBAND ? 2 : 1, units = way >= INFINIBAND ? 4 : 1;

		/* One unit too many (for InfiniBand: too many even if the CRC is missing). */
		make((enum way)way, &made);
		add_length(&made, more);
		assert_int_equal(parse(&made, made.length_bytes, &packet), O2_ROCE_MALFORMED);
		/* Only the base transport header and the CRC; then one unit less. */
		make((enum way)way, &made);
		add_length(&made, -(int)PAYLOAD_BYTES / units);
		assert_int_equal(parse(&made, made.length_bytes, &packet), O2_ROCE_PACKET);
		assert_int_equal(packet.payload_bytes, 0);
		add_length(&made, -1);
		assert_int_equal(parse(&made, made.length_bytes, &packet), O2_ROCE_MALFORMED);
	}
}

/* Parse an IPv6 frame with this payload length and this many bytes behind the packet. */
static enum o2_roce_verdict ipv6_of(uint8_t length_bytes, size_t padding_bytes)
{
	struct made made;
	struct o2_roce_packet packet = {.payload_bytes = PAYLOAD_BYTES};
	enum o2_roce_verdict verdict;

	make(ETHERNET_IPV6, &made);
	made.bytes[14 + 5] = length_bytes;
	made.length_bytes += padding_bytes;
	verdict = parse(&made, made.length_bytes, &packet);
	assert_int_equal(packet.payload_bytes, verdict == O2_ROCE_PACKET ? PAYLOAD_BYTES : 0);
	return verdict;
}

TEST(the_length_of_ipv6_is_held_against_that_of_udp)
{
	const uint8_t whole = 8 + TRANSPORT_BYTES;

	assert_int_equal(ipv6_of(whole, 0), O2_ROCE_PACKET);
	assert_int_equal(ipv6_of(whole, 3), O2_ROCE_PACKET);
	assert_int_equal(ipv6_of(whole + 3, 3), O2_ROCE_PACKET);
	assert_int_equal(ipv6_of(whole + 1, 0), O2_ROCE_MALFORMED);
	assert_int_equal(ipv6_of(whole - 1, 0), O2_ROCE_MALFORMED);
	assert_int_equal(ipv6_of(whole - 1, 3), O2_ROCE_MALFORMED);
	assert_int_equal(ipv6_of(7, 0), O2_ROCE_MALFORMED);
	assert_int_equal(ipv6_of(0, 0), O2_ROCE_MALFORMED);
}

/* Parse a frame of this kind with one byte changed. */
static enum o2_roce_verdict with(enum way way, size_t at, uint8_t value)
{
	struct made made;
	struct o2_roce_packet packet;

	make(way, &made);
	made.bytes[at] = value;
	return parse(&made, made.length_bytes, &packet);
}

TEST(other_protocols_are_passed_over)
{
	assert_int_equal(with(ETHERNET, 12, 0x09), O2_ROCE_NOT_ROCE);	   /* type */
	assert_int_equal(with(ETHERNET, 14, 0x55), O2_ROCE_NOT_ROCE);	   /* IP version */
	assert_int_equal(with(ETHERNET, 20, 0x20), O2_ROCE_NOT_ROCE);	   /* more fragments */
	assert_int_equal(with(ETHERNET, 21, 1), O2_ROCE_NOT_ROCE);	   /* a later fragment */
	assert_int_equal(with(ETHERNET, 23, 6), O2_ROCE_NOT_ROCE);	   /* TCP */
	assert_int_equal(with(ETHERNET, 37, 0xb6), O2_ROCE_NOT_ROCE);	   /* UDP port */
	assert_int_equal(with(ETHERNET_IPV6, 14, 0x40), O2_ROCE_NOT_ROCE); /* IP version */
	assert_int_equal(with(ETHERNET_IPV6, 20, 44), O2_ROCE_NOT_ROCE);   /* a fragment */
	assert_int_equal(with(ROCE_V1, 20, 17), O2_ROCE_NOT_ROCE);	   /* next header */
	assert_int_equal(with(COOKED, 14, 0x09), O2_ROCE_NOT_ROCE);
	assert_int_equal(with(COOKED_2, 0, 0x09), O2_ROCE_NOT_ROCE);
	assert_int_equal(with(INFINIBAND, 1, 0), O2_ROCE_NOT_ROCE); /* raw */
	assert_int_equal(with(INFINIBAND, 1, 1), O2_ROCE_NOT_ROCE); /* IPv6 without transport */
	assert_int_equal(with(GLOBAL, 8 + 6, 17), O2_ROCE_NOT_ROCE);
	assert_int_equal(with(ERF, 8, 2), O2_ROCE_NOT_ROCE); /* Ethernet */
}

/* A packet to another port is not RoCE's, whatever its lengths say, as soon as its port has been captured. */
TEST(another_port_is_seen_before_the_lengths)
{
	static const size_t port_at[] = {[VLAN] = 40, [ETHERNET_IPV6] = 56, [COOKED] = 38};
	static const size_t length_at[] = {[VLAN] = 20, [ETHERNET_IPV6] = 18, [COOKED] = 18};

	for (int way = 0; way <= COOKED; way++) {
		struct made made;
		struct o2_roce_packet packet;

		if (port_at[way] == 0)
			continue;
		for (uint8_t length = 0; length < 0xff; length++) {
			make((enum way)way, &made);
			made.bytes[port_at[way]] = 0;
			made.bytes[port_at[way] + 1] = 53;
			made.bytes[length_at[way]] = length;
			made.bytes[length_at[way] + 1] = length;
			assert_int_equal(parse(&made, made.length_bytes, &packet), O2_ROCE_NOT_ROCE);
			assert_int_equal(parse(&made, port_at[way] + 2, &packet), O2_ROCE_NOT_ROCE);
		}
		/* The port itself was not captured as a whole. */
		assert_int_not_equal(parse(&made, port_at[way] + 1, &packet), O2_ROCE_NOT_ROCE);
	}
}

TEST(headers_that_cannot_be)
{
	assert_int_equal(with(ETHERNET, 14, 0x44), O2_ROCE_MALFORMED); /* IPv4 header of 16 bytes */
	assert_int_equal(with(ETHERNET, 17, 19), O2_ROCE_MALFORMED);   /* shorter than its header */
	assert_int_equal(with(ERF, 11, 15), O2_ROCE_MALFORMED);	       /* record shorter than its header */
	assert_int_equal(with(ERF_EXTENDED, 11, 31), O2_ROCE_MALFORMED);
}

TEST(extension_headers_that_fill_the_record)
{
	struct made made;
	struct o2_roce_packet packet;

	make(ERF, &made);
	memset(made.bytes + 16, 0x80, FRAME_BYTES - 16);
	made.bytes[8] |= 0x80;
	made.length_bytes = FRAME_BYTES;
	assert_int_equal(parse(&made, made.length_bytes, &packet), O2_ROCE_MALFORMED);
	assert_int_equal(parse(&made, made.length_bytes - 1, &packet), O2_ROCE_CUT);
}

TEST(at_most_two_tags)
{
	struct made made;
	struct o2_roce_packet packet;

	memset(&made, 0, sizeof(made));
	made.link_type = DLT_EN10MB;
	add(&made, "000000000000 000000000000 88a8 0005 8100 0007 8100 0007 0800");
	add_ipv4(&made);
	assert_int_equal(parse(&made, made.length_bytes, &packet), O2_ROCE_NOT_ROCE);
}

TEST(padding_and_headers_of_the_transport)
{
	struct made made;
	struct o2_roce_packet packet;

	/* Three bytes of padding; then more padding than payload. */
	make(ETHERNET, &made);
	made.bytes[43] = 0x30;
	assert_int_equal(parse(&made, made.length_bytes, &packet), O2_ROCE_PACKET);
	assert_int_equal(packet.payload_bytes, PAYLOAD_BYTES - 3);
	add_length(&made, -18);
	assert_int_equal(parse(&made, made.length_bytes, &packet), O2_ROCE_MALFORMED);
	/* An RDMA WRITE needs 16 bytes of header: a payload of 20 bytes is enough, one of 15 is not. */
	make(ETHERNET, &made);
	made.bytes[42] = 0x0a;
	assert_int_equal(parse(&made, made.length_bytes, &packet), O2_ROCE_PACKET);
	assert_int_equal(packet.rkey, 0xeeeeeeee);
	assert_int_equal(packet.payload_bytes, PAYLOAD_BYTES - 16);
	assert_int_equal(parse(&made, made.length_bytes - 4 - 5, &packet), O2_ROCE_CUT);
	add_length(&made, -5);
	assert_int_equal(parse(&made, made.length_bytes, &packet), O2_ROCE_MALFORMED);
}

TEST(what_ip_says_ends_the_packet)
{
	static const uint8_t bad[] = {19, 20, 63, 65}; /* the UDP length is 44; the frame ends there */
	struct made made;
	struct o2_roce_packet packet;

	make(ETHERNET, &made);
	assert_int_equal(parse(&made, made.length_bytes, &packet), O2_ROCE_PACKET);
	for (size_t i = 0; i < sizeof(bad); i++) {
		made.bytes[17] = bad[i];
		assert_int_equal(parse(&made, made.length_bytes, &packet), O2_ROCE_MALFORMED);
	}
}

TEST(a_link_type_that_is_not_read)
{
	struct made made;
	struct o2_roce_packet packet;

	make(ETHERNET, &made);
	made.link_type = DLT_PPP;
	assert_null(o2_frame_link_type_name(DLT_PPP));
	assert_non_null(o2_frame_link_type_name(DLT_ERF));
	assert_int_equal(parse(&made, made.length_bytes, &packet), O2_ROCE_NOT_ROCE);
}
