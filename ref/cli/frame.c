/* SPDX-License-Identifier: MIT */
#include "cli/frame.h"

#include <pcap/dlt.h>
#include <string.h>

#include "cli/roce_layout.h"
#include "wire/bytes.h"

#define SLL_BYTES	   16u
#define SLL2_BYTES	   20u
#define ETHERTYPE_IPV6	   0x86ddu
#define ETHERTYPE_ROCE	   0x8915u /* RoCE without IP: a global route header follows */
#define ETHERTYPE_VLAN	   0x8100u
#define ETHERTYPE_QINQ	   0x88a8u
#define ETHERTYPE_OLD_QINQ 0x9100u
#define VLAN_TAG_BYTES	   4u
#define VLAN_TAGS_MAX	   2u
#define IPV4_FRAGMENT	   0x3fffu /* "more fragments" and the offset */
#define IPV6_BYTES	   40u
#define IPV6_AT_LENGTH	   4u /* length of what follows the header */

#define ERF_BYTES	    16u
#define ERF_AT_TYPE	    8u
#define ERF_AT_RLEN	    10u	  /* length of the record, its header and padding included */
#define ERF_AT_WLEN	    14u	  /* length of the packet on the wire */
#define ERF_MORE	    0x80u /* bit of a type: an extension header follows */
#define ERF_TYPE	    0x7fu
#define ERF_TYPE_INFINIBAND 21u
#define ERF_EXTENSION_BYTES 8u

#define LRH_BYTES	 8u
#define LRH_NEXT	 3u /* bits of the second byte */
#define LRH_NEXT_BTH	 2u
#define LRH_NEXT_GRH	 3u
#define LRH_LENGTH	 0x7ffu /* in words, from the local route header to the invariant CRC */
#define GRH_BYTES	 40u
#define GRH_PROTOCOL_BTH 0x1bu

/* The least that a frame has after the headers that are passed here. */
#define TRANSPORT_BYTES (O2_BTH_BYTES + O2_ICRC_BYTES)

const uint8_t *o2_span_take(struct o2_span *span, size_t count)
{
	const uint8_t *front = span->bytes;

	if (span->seen_bytes < count)
		return NULL;
	span->bytes += count;
	span->seen_bytes -= count;
	span->length_bytes -= count;
	return front;
}

enum o2_roce_verdict o2_span_short_of(const struct o2_span *span, size_t count)
{
	return span->length_bytes < count ? O2_ROCE_MALFORMED : O2_ROCE_CUT;
}

/* A header gives the length of the rest: bytes beyond it are padding; bytes missing from it were not captured. */
static void limit(struct o2_span *span, size_t length_bytes)
{
	span->length_bytes = length_bytes;
	if (span->seen_bytes > length_bytes)
		span->seen_bytes = length_bytes;
}

static void set_address(struct o2_roce_address *address, const uint8_t *bytes, uint8_t count)
{
	memset(address, 0, sizeof(*address));
	address->family_bytes = count;
	memcpy(address->bytes, bytes, count);
}

/*
 * Was a UDP port captured, behind a header of that length, that is not RoCE's?  Then the packet is another
 * protocol's, even if it is cut or its lengths contradict each other.
 */
static bool is_other_port(const struct o2_span *span, size_t header_bytes)
{
	const size_t at = header_bytes + O2_UDP_AT_DST;

	return span->seen_bytes >= at + sizeof(uint16_t) &&
	       o2_load16(span->bytes + at, O2_BIG_ENDIAN) != O2_ROCE_UDP_PORT;
}

static enum o2_roce_verdict pass_ipv4(struct o2_span *span, struct o2_roce_packet *packet)
{
	const uint8_t *header = span->bytes;
	size_t header_bytes, total_bytes;

	if (span->seen_bytes < O2_IPV4_BYTES)
		return o2_span_short_of(span, O2_IPV4_BYTES);
	if (header[0] >> 4 != 4 || header[O2_IPV4_AT_PROTOCOL] != O2_PROTOCOL_UDP)
		return O2_ROCE_NOT_ROCE;
	/* RoCE packets are never fragmented. */
	if ((o2_load16(header + O2_IPV4_AT_FRAGMENT, O2_BIG_ENDIAN) & IPV4_FRAGMENT) != 0)
		return O2_ROCE_NOT_ROCE;
	header_bytes = 4u * (header[0] & 15u);
	if (header_bytes >= O2_IPV4_BYTES && is_other_port(span, header_bytes))
		return O2_ROCE_NOT_ROCE;
	total_bytes = o2_load16(header + O2_IPV4_AT_TOTAL, O2_BIG_ENDIAN);
	if (header_bytes < O2_IPV4_BYTES || total_bytes < header_bytes || span->length_bytes < total_bytes)
		return O2_ROCE_MALFORMED;
	limit(span, total_bytes);
	if (o2_span_take(span, header_bytes) == NULL)
		return o2_span_short_of(span, header_bytes);
	set_address(&packet->src, header + O2_IPV4_AT_SRC, 4);
	set_address(&packet->dst, header + O2_IPV4_AT_DST, 4);
	return O2_ROCE_PACKET;
}

/* Pass an IPv6 header, or a global route header, which has the same form. */
static enum o2_roce_verdict pass_ipv6(struct o2_span *span, uint8_t protocol, struct o2_roce_packet *packet)
{
	const uint8_t *header = o2_span_take(span, IPV6_BYTES);

	if (header == NULL)
		return o2_span_short_of(span, IPV6_BYTES);
	if (header[0] >> 4 != 6 || header[6] != protocol)
		return O2_ROCE_NOT_ROCE;
	set_address(&packet->src, header + 8, 16);
	set_address(&packet->dst, header + 24, 16);
	return O2_ROCE_PACKET;
}

static enum o2_roce_verdict pass_udp(struct o2_span *span)
{
	const uint8_t *header = o2_span_take(span, O2_UDP_BYTES);
	size_t length_bytes;

	if (header == NULL)
		return o2_span_short_of(span, O2_UDP_BYTES);
	if (o2_load16(header + O2_UDP_AT_DST, O2_BIG_ENDIAN) != O2_ROCE_UDP_PORT)
		return O2_ROCE_NOT_ROCE;
	length_bytes = o2_load16(header + O2_UDP_AT_LENGTH, O2_BIG_ENDIAN);
	if (length_bytes < O2_UDP_BYTES + TRANSPORT_BYTES || span->length_bytes < length_bytes - O2_UDP_BYTES)
		return O2_ROCE_MALFORMED;
	limit(span, length_bytes - O2_UDP_BYTES);
	return O2_ROCE_PACKET;
}

/* pass_ipv6, and end the packet where the header's length field says. */
static enum o2_roce_verdict pass_whole_ipv6(struct o2_span *span, uint8_t protocol,
					    struct o2_roce_packet *packet)
{
	const uint8_t *header = span->bytes;
	const enum o2_roce_verdict verdict = pass_ipv6(span, protocol, packet);
	size_t length_bytes;

	if (verdict != O2_ROCE_PACKET)
		return verdict;
	if (protocol == O2_PROTOCOL_UDP && is_other_port(span, 0))
		return O2_ROCE_NOT_ROCE;
	length_bytes = o2_load16(header + IPV6_AT_LENGTH, O2_BIG_ENDIAN);
	if (span->length_bytes < length_bytes)
		return O2_ROCE_MALFORMED;
	limit(span, length_bytes);
	return O2_ROCE_PACKET;
}

/* RoCE without IP: a global route header follows. */
static enum o2_roce_verdict pass_global(struct o2_span *span, struct o2_roce_packet *packet)
{
	const enum o2_roce_verdict verdict = pass_whole_ipv6(span, GRH_PROTOCOL_BTH, packet);

	return verdict == O2_ROCE_PACKET && span->length_bytes < TRANSPORT_BYTES ? O2_ROCE_MALFORMED
										 : verdict;
}

/* Pass VLAN tags, and then what the Ethernet type says. */
static enum o2_roce_verdict pass_ethertype(struct o2_span *span, uint16_t type, struct o2_roce_packet *packet)
{
	enum o2_roce_verdict verdict;

	for (unsigned int i = 0; i < VLAN_TAGS_MAX && (type == ETHERTYPE_VLAN || type == ETHERTYPE_QINQ ||
						       type == ETHERTYPE_OLD_QINQ);
	     i++) {
		const uint8_t *tag = o2_span_take(span, VLAN_TAG_BYTES);

		if (tag == NULL)
			return o2_span_short_of(span, VLAN_TAG_BYTES);
		type = o2_load16(tag + 2, O2_BIG_ENDIAN);
	}
	if (type == ETHERTYPE_ROCE)
		return pass_global(span, packet);
	if (type == O2_ETHERTYPE_IPV4)
		verdict = pass_ipv4(span, packet);
	else if (type == ETHERTYPE_IPV6)
		verdict = pass_whole_ipv6(span, O2_PROTOCOL_UDP, packet);
	else
		return O2_ROCE_NOT_ROCE;
	return verdict == O2_ROCE_PACKET ? pass_udp(span) : verdict;
}

/* The capture does not hold the frame's first header.  A frame shorter than that header is another protocol's. */
static enum o2_roce_verdict no_link(const struct o2_span *span, size_t header_bytes)
{
	return span->length_bytes < header_bytes ? O2_ROCE_NOT_ROCE : O2_ROCE_CUT;
}

/* Pass a link header of header_bytes that has the Ethernet type at type_at. */
static enum o2_roce_verdict pass_link(struct o2_span *span, size_t header_bytes, size_t type_at,
				      struct o2_roce_packet *packet)
{
	const uint8_t *header = o2_span_take(span, header_bytes);

	if (header == NULL)
		return no_link(span, header_bytes);
	return pass_ethertype(span, o2_load16(header + type_at, O2_BIG_ENDIAN), packet);
}

static enum o2_roce_verdict pass_ethernet(struct o2_span *span, struct o2_roce_packet *packet)
{
	return pass_link(span, O2_ETHERNET_BYTES, O2_ETHERNET_AT_TYPE, packet);
}

static enum o2_roce_verdict pass_sll(struct o2_span *span, struct o2_roce_packet *packet)
{
	return pass_link(span, SLL_BYTES, 14, packet);
}

static enum o2_roce_verdict pass_sll2(struct o2_span *span, struct o2_roce_packet *packet)
{
	return pass_link(span, SLL2_BYTES, 0, packet);
}

/*
 * The two ends are told apart by their LIDs even if there is a global route header, because on one connection
 * some packets may have that header and others not.  A capture may leave out the CRCs.
 */
static enum o2_roce_verdict pass_infiniband(struct o2_span *span, struct o2_roce_packet *packet)
{
	const uint8_t *header = span->bytes;
	struct o2_roce_packet global;
	size_t length_bytes;
	uint8_t next;

	if (span->seen_bytes < LRH_BYTES)
		return no_link(span, LRH_BYTES);
	next = header[1] & LRH_NEXT;
	if (next != LRH_NEXT_BTH && next != LRH_NEXT_GRH)
		return O2_ROCE_NOT_ROCE;
	length_bytes = 4u * (o2_load16(header + 4, O2_BIG_ENDIAN) & LRH_LENGTH);
	if (length_bytes < LRH_BYTES + TRANSPORT_BYTES + (next == LRH_NEXT_GRH ? GRH_BYTES : 0) ||
	    span->length_bytes + O2_ICRC_BYTES < length_bytes)
		return O2_ROCE_MALFORMED;
	limit(span, length_bytes);
	o2_span_take(span, LRH_BYTES);
	set_address(&packet->src, header + 6, 2);
	set_address(&packet->dst, header + 2, 2);
	if (next == LRH_NEXT_BTH)
		return O2_ROCE_PACKET;
	return pass_ipv6(span, GRH_PROTOCOL_BTH, &global);
}

static enum o2_roce_verdict pass_erf(struct o2_span *span, struct o2_roce_packet *packet)
{
	const uint8_t *header = o2_span_take(span, ERF_BYTES);
	size_t passed_bytes = ERF_BYTES, record_bytes, wire_bytes;
	uint8_t type;

	if (header == NULL)
		return no_link(span, ERF_BYTES);
	type = header[ERF_AT_TYPE];
	if ((type & ERF_TYPE) != ERF_TYPE_INFINIBAND)
		return O2_ROCE_NOT_ROCE;
	while (type & ERF_MORE) {
		const uint8_t *extension = o2_span_take(span, ERF_EXTENSION_BYTES);

		if (extension == NULL)
			return o2_span_short_of(span, ERF_EXTENSION_BYTES);
		type = extension[0];
		passed_bytes += ERF_EXTENSION_BYTES;
	}
	record_bytes = o2_load16(header + ERF_AT_RLEN, O2_BIG_ENDIAN);
	wire_bytes = o2_load16(header + ERF_AT_WLEN, O2_BIG_ENDIAN);
	if (record_bytes < passed_bytes)
		return O2_ROCE_MALFORMED;
	limit(span, record_bytes - passed_bytes);
	limit(span, wire_bytes);
	return pass_infiniband(span, packet);
}

static const struct link_type {
	int number;
	const char *name;
	enum o2_roce_verdict (*pass)(struct o2_span *span, struct o2_roce_packet *packet);
} link_types[] = {
	{DLT_EN10MB, "Ethernet", pass_ethernet},
	{DLT_LINUX_SLL, "Linux cooked", pass_sll},
	{DLT_LINUX_SLL2, "Linux cooked, version 2", pass_sll2},
	{DLT_ERF, "ERF", pass_erf},
	{DLT_INFINIBAND, "InfiniBand", pass_infiniband},
};

const char *o2_frame_link_type_name(int number)
{
	for (size_t i = 0; i < sizeof(link_types) / sizeof(link_types[0]); i++)
		if (link_types[i].number == number)
			return link_types[i].name;
	return NULL;
}

enum o2_roce_verdict o2_frame_pass(const struct o2_frame *frame, struct o2_span *span,
				   struct o2_roce_packet *packet)
{
	*span = (struct o2_span){frame->bytes, frame->seen_bytes, frame->length_bytes};
	if (span->length_bytes < span->seen_bytes)
		span->length_bytes = span->seen_bytes;
	for (size_t i = 0; i < sizeof(link_types) / sizeof(link_types[0]); i++)
		if (link_types[i].number == frame->link_type)
			return link_types[i].pass(span, packet);
	return O2_ROCE_NOT_ROCE;
}
