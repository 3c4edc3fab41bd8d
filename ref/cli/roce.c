/* SPDX-License-Identifier: MIT */
#include "cli/roce.h"

#include <arpa/inet.h>
#include <assert.h>
#include <string.h>

#include "wire/bytes.h"

#define ETHERNET_BYTES	14u
#define ETHERTYPE_IPV4	0x0800u
#define ETHERTYPE_IPV6	0x86ddu
#define ETHERTYPE_VLAN	0x8100u
#define ETHERTYPE_QINQ	0x88a8u
#define VLAN_TAG_BYTES	4u
#define VLAN_TAGS_MAX	2u
#define IPV4_BYTES	20u
#define IPV4_FRAGMENT	0x3fffu /* "more fragments" and the offset */
#define IPV6_BYTES	40u
#define PROTOCOL_UDP	17u
#define UDP_BYTES	8u
#define BTH_BYTES	12u
#define ICRC_BYTES	4u
#define DETH_BYTES	8u
#define RETH_BYTES	16u
#define AETH_BYTES	4u
#define IMMDT_BYTES	4u
#define ATOMICETH_BYTES 28u
#define ATOMICACK_BYTES 8u

/* What is left to read; every step takes from its front after looking whether it is there. */
struct span {
	const uint8_t *bytes;
	size_t length_bytes;
};

static const uint8_t *take(struct span *span, size_t count)
{
	const uint8_t *front = span->bytes;

	if (span->length_bytes < count)
		return NULL;
	span->bytes += count;
	span->length_bytes -= count;
	return front;
}

/*
 * What an opcode says.  Source: the InfiniBand architecture specification, volume 1, "Base transport
 * header".
 */
struct opcode {
	uint8_t code; /* its low 5 bits, for reliable connections */
	enum o2_roce_kind kind;
	bool first, last;
	uint8_t extra_bytes; /* of headers after the base transport header */
};

static const struct opcode opcodes[] = {
	{0x00, O2_ROCE_SEND, true, false, 0},
	{0x01, O2_ROCE_SEND, false, false, 0},
	{0x02, O2_ROCE_SEND, false, true, 0},
	{0x03, O2_ROCE_SEND, false, true, IMMDT_BYTES},
	{0x04, O2_ROCE_SEND, true, true, 0},
	{0x05, O2_ROCE_SEND, true, true, IMMDT_BYTES},
	{0x06, O2_ROCE_WRITE, true, false, RETH_BYTES},
	{0x07, O2_ROCE_WRITE, false, false, 0},
	{0x08, O2_ROCE_WRITE, false, true, 0},
	{0x09, O2_ROCE_WRITE, false, true, IMMDT_BYTES},
	{0x0a, O2_ROCE_WRITE, true, true, RETH_BYTES},
	{0x0b, O2_ROCE_WRITE, true, true, RETH_BYTES + IMMDT_BYTES},
	{0x0c, O2_ROCE_READ, true, true, RETH_BYTES},
	{0x0d, O2_ROCE_READ_RESPONSE, true, false, AETH_BYTES},
	{0x0e, O2_ROCE_READ_RESPONSE, false, false, 0},
	{0x0f, O2_ROCE_READ_RESPONSE, false, true, AETH_BYTES},
	{0x10, O2_ROCE_READ_RESPONSE, true, true, AETH_BYTES},
	{0x11, O2_ROCE_ACK, true, true, AETH_BYTES},
	{0x12, O2_ROCE_ACK, true, true, AETH_BYTES + ATOMICACK_BYTES},
	{0x13, O2_ROCE_ATOMIC, true, true, ATOMICETH_BYTES},
	{0x14, O2_ROCE_ATOMIC, true, true, ATOMICETH_BYTES},
	{0x16, O2_ROCE_SEND, false, true, IMMDT_BYTES}, /* the key to invalidate */
	{0x17, O2_ROCE_SEND, true, true, IMMDT_BYTES},
};

#define SERVICE_RC 0u /* the high 3 bits of an opcode */
#define SERVICE_UD 3u

static const struct opcode *opcode_of(uint8_t code)
{
	if (code >> 5 != SERVICE_RC && code >> 5 != SERVICE_UD)
		return NULL;
	for (size_t i = 0; i < sizeof(opcodes) / sizeof(opcodes[0]); i++)
		if (opcodes[i].code == (code & 0x1f))
			return &opcodes[i];
	return NULL;
}

/* Leaves *span at the IP header; 0 when there is none. */
static uint16_t pass_ethernet(struct span *span)
{
	const uint8_t *header = take(span, ETHERNET_BYTES);
	uint16_t type = header == NULL ? 0 : o2_load16_be(header + 12);

	for (unsigned int i = 0; i < VLAN_TAGS_MAX && (type == ETHERTYPE_VLAN || type == ETHERTYPE_QINQ);
	     i++) {
		header = take(span, VLAN_TAG_BYTES);
		type = header == NULL ? 0 : o2_load16_be(header + 2);
	}
	return type;
}

static void set_address(struct o2_roce_address *address, const uint8_t *bytes, uint8_t count)
{
	memset(address, 0, sizeof(*address));
	address->family_bytes = count;
	memcpy(address->bytes, bytes, count);
}

static enum o2_roce_verdict pass_ipv4(struct span *span, struct o2_roce_packet *packet)
{
	const uint8_t *header = span->bytes;
	size_t header_bytes, total_bytes;

	if (span->length_bytes < IPV4_BYTES)
		return O2_ROCE_CUT;
	if (header[0] >> 4 != 4 || header[9] != PROTOCOL_UDP)
		return O2_ROCE_NOT_ROCE;
	/* RoCE packets are never fragmented. */
	if ((o2_load16_be(header + 6) & IPV4_FRAGMENT) != 0)
		return O2_ROCE_NOT_ROCE;
	header_bytes = 4u * (header[0] & 15u);
	total_bytes = o2_load16_be(header + 2);
	if (header_bytes < IPV4_BYTES || total_bytes < header_bytes)
		return O2_ROCE_MALFORMED;
	if (take(span, header_bytes) == NULL)
		return O2_ROCE_CUT;
	set_address(&packet->src, header + 12, 4);
	set_address(&packet->dst, header + 16, 4);
	return O2_ROCE_PACKET;
}

static enum o2_roce_verdict pass_ipv6(struct span *span, struct o2_roce_packet *packet)
{
	const uint8_t *header = take(span, IPV6_BYTES);

	if (header == NULL)
		return O2_ROCE_CUT;
	if (header[0] >> 4 != 6 || header[6] != PROTOCOL_UDP)
		return O2_ROCE_NOT_ROCE;
	set_address(&packet->src, header + 8, 16);
	set_address(&packet->dst, header + 24, 16);
	return O2_ROCE_PACKET;
}

/* Leaves in *span what UDP carries, without the bytes that Ethernet pads short frames with. */
static enum o2_roce_verdict pass_udp(struct span *span)
{
	const uint8_t *header = take(span, UDP_BYTES);
	size_t length_bytes;

	if (header == NULL)
		return O2_ROCE_CUT;
	if (o2_load16_be(header + 2) != O2_ROCE_UDP_PORT)
		return O2_ROCE_NOT_ROCE;
	length_bytes = o2_load16_be(header + 4);
	if (length_bytes < UDP_BYTES + BTH_BYTES + ICRC_BYTES)
		return O2_ROCE_MALFORMED;
	length_bytes -= UDP_BYTES;
	if (span->length_bytes < length_bytes)
		return O2_ROCE_CUT;
	span->length_bytes = length_bytes;
	return O2_ROCE_PACKET;
}

static void read_extra(const struct opcode *opcode, const uint8_t *extra, struct o2_roce_packet *packet)
{
	const bool has_reth =
		opcode->first && (packet->kind == O2_ROCE_WRITE || packet->kind == O2_ROCE_READ);

	if (has_reth) {
		packet->va = o2_load64_be(extra);
		packet->rkey = o2_load32_be(extra + 8);
		packet->dma_bytes = o2_load32_be(extra + 12);
	}
	if (packet->kind == O2_ROCE_ACK)
		packet->syndrome = extra[0];
}

static enum o2_roce_verdict read_transport(struct span *span, struct o2_roce_packet *packet)
{
	const uint8_t *bth = take(span, BTH_BYTES), *extra;
	const struct opcode *opcode;
	size_t tail_bytes;

	assert(bth != NULL); /* pass_udp has seen to it */
	packet->opcode = bth[0];
	packet->datagram = bth[0] >> 5 == SERVICE_UD;
	packet->dest_qp = o2_load32_be(bth + 4) & 0xffffff;
	packet->psn = o2_load32_be(bth + 8) & 0xffffff;
	packet->kind = O2_ROCE_OTHER;
	opcode = opcode_of(bth[0]);
	if (opcode == NULL)
		return O2_ROCE_PACKET;
	packet->kind = opcode->kind;
	packet->first = opcode->first;
	packet->last = opcode->last;
	if (packet->datagram && take(span, DETH_BYTES) == NULL)
		return O2_ROCE_MALFORMED;
	extra = take(span, opcode->extra_bytes);
	tail_bytes = ICRC_BYTES + (bth[1] >> 4 & 3);
	if (extra == NULL || span->length_bytes < tail_bytes)
		return O2_ROCE_MALFORMED;
	read_extra(opcode, extra, packet);
	packet->payload = span->bytes;
	packet->payload_bytes = span->length_bytes - tail_bytes;
	return O2_ROCE_PACKET;
}

enum o2_roce_verdict o2_roce_parse(const uint8_t *bytes, size_t length_bytes, struct o2_roce_packet *packet)
{
	struct span span = {bytes, length_bytes};
	enum o2_roce_verdict verdict;
	uint16_t type;

	memset(packet, 0, sizeof(*packet));
	type = pass_ethernet(&span);
	if (type == ETHERTYPE_IPV4)
		verdict = pass_ipv4(&span, packet);
	else if (type == ETHERTYPE_IPV6)
		verdict = pass_ipv6(&span, packet);
	else
		return O2_ROCE_NOT_ROCE;
	if (verdict == O2_ROCE_PACKET)
		verdict = pass_udp(&span);
	return verdict == O2_ROCE_PACKET ? read_transport(&span, packet) : verdict;
}

void o2_roce_address_text(const struct o2_roce_address *address, char text[O2_ROCE_ADDRESS_TEXT_BYTES])
{
	const int family = address->family_bytes == 4 ? AF_INET : AF_INET6;

	if (inet_ntop(family, address->bytes, text, O2_ROCE_ADDRESS_TEXT_BYTES) == NULL)
		strcpy(text, "?");
}
