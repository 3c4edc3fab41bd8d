/* SPDX-License-Identifier: MIT */
#include "cli/net/conform/packet.h"

#include <assert.h>
#include <pcap/dlt.h>
#include <string.h>

#include "cli/cm_layout.h"
#include "cli/roce_layout.h"
#include "wire/bytes.h"

#define MAX_SEND_BYTES 4096u

#define AT_IPV4	     O2_ETHERNET_BYTES
#define AT_UDP	     (AT_IPV4 + O2_IPV4_BYTES)
#define AT_BTH	     (AT_UDP + O2_UDP_BYTES)
#define AT_EXTENSION (AT_BTH + O2_BTH_BYTES)

static_assert(AT_EXTENSION + O2_RETH_BYTES + MAX_SEND_BYTES + O2_ICRC_BYTES <= O2_PACKET_BYTES,
	      "a packet holds the longest");

#define UDP_PORT_FROM 49152u
#define GSI_QKEY      0x80010000u

static void store16_be(uint8_t *bytes, uint32_t value)
{
	o2_store16(bytes, O2_BIG_ENDIAN, (uint16_t)value);
}

/* A locally administered address, made from the IPv4 address. */
static void put_mac(uint8_t *bytes, uint32_t address)
{
	bytes[0] = 0x02;
	bytes[1] = 0;
	o2_store32(bytes + 2, O2_BIG_ENDIAN, address);
}

static uint16_t ipv4_sum(const uint8_t *header)
{
	uint32_t sum = 0;

	for (unsigned int i = 0; i < O2_IPV4_BYTES; i += 2)
		sum += o2_load16(header + i, O2_BIG_ENDIAN);
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)~sum;
}

/* Write the headers in front of transport_bytes bytes, of which the base transport header is the first part. */
static void put_network(struct o2_packet *packet, uint32_t from, uint32_t to, size_t transport_bytes)
{
	uint8_t *ipv4 = packet->bytes + AT_IPV4, *udp = packet->bytes + AT_UDP;

	packet->length_bytes = AT_BTH + transport_bytes;
	packet->seen_bytes = packet->length_bytes;
	memset(packet->bytes, 0, AT_BTH);
	put_mac(packet->bytes + O2_ETHERNET_AT_DST, to);
	put_mac(packet->bytes + O2_ETHERNET_AT_SRC, from);
	store16_be(packet->bytes + O2_ETHERNET_AT_TYPE, O2_ETHERTYPE_IPV4);
	ipv4[0] = 0x45;
	store16_be(ipv4 + O2_IPV4_AT_TOTAL, (uint32_t)(O2_IPV4_BYTES + O2_UDP_BYTES + transport_bytes));
	store16_be(ipv4 + O2_IPV4_AT_FRAGMENT, 0x4000); /* don't fragment */
	ipv4[O2_IPV4_AT_TTL] = 64;
	ipv4[O2_IPV4_AT_PROTOCOL] = O2_PROTOCOL_UDP;
	o2_store32(ipv4 + O2_IPV4_AT_SRC, O2_BIG_ENDIAN, from);
	o2_store32(ipv4 + O2_IPV4_AT_DST, O2_BIG_ENDIAN, to);
	store16_be(ipv4 + O2_IPV4_AT_SUM, ipv4_sum(ipv4));
	store16_be(udp + O2_UDP_AT_SRC, UDP_PORT_FROM);
	store16_be(udp + O2_UDP_AT_DST, O2_ROCE_UDP_PORT);
	store16_be(udp + O2_UDP_AT_LENGTH, (uint32_t)(O2_UDP_BYTES + transport_bytes));
}

static uint32_t pad_of(size_t payload_bytes)
{
	return (uint32_t)(4 - payload_bytes % 4) % 4;
}

static void put_bth(struct o2_packet *packet, uint8_t opcode, uint32_t pad, uint32_t qp, uint32_t psn)
{
	uint8_t *bth = packet->bytes + AT_BTH;

	bth[O2_BTH_AT_OPCODE] = opcode;
	bth[O2_BTH_AT_FLAGS] = (uint8_t)(0x40 | pad << O2_BTH_PAD_SHIFT);
	store16_be(bth + O2_BTH_AT_PKEY, 0xffff);
	o2_store32(bth + O2_BTH_AT_QP, O2_BIG_ENDIAN, qp);
	o2_store32(bth + O2_BTH_AT_PSN, O2_BIG_ENDIAN, psn & O2_24_BITS);
}

void o2_packet_skip(struct o2_packet_end *from, uint32_t count)
{
	from->psn = (from->psn + count) & O2_24_BITS;
}

void o2_packet_send(struct o2_packet *packet, struct o2_packet_end *from, const struct o2_packet_end *to,
		    const uint8_t *bytes, size_t length_bytes)
{
	const size_t length = length_bytes < MAX_SEND_BYTES ? length_bytes : MAX_SEND_BYTES;
	const uint32_t pad = pad_of(length);

	put_network(packet, from->address, to->address, O2_BTH_BYTES + length + pad + O2_ICRC_BYTES);
	put_bth(packet, O2_OPERATION_SEND_ONLY, pad, to->qp, from->psn);
	memcpy(packet->bytes + AT_EXTENSION, bytes, length);
	memset(packet->bytes + AT_EXTENSION + length, 0, pad + O2_ICRC_BYTES);
	o2_packet_skip(from, 1);
}

static uint8_t write_operation(bool first, bool last)
{
	if (first)
		return last ? O2_OPERATION_WRITE_ONLY : O2_OPERATION_WRITE_FIRST;
	return last ? O2_OPERATION_WRITE_LAST : O2_OPERATION_WRITE_MIDDLE;
}

void o2_packet_write(struct o2_packet *packet, struct o2_packet_end *from, const struct o2_packet_end *to,
		     const struct o2_watched *write, uint64_t at, uint32_t count)
{
	const bool first = at == 0, last = at + count == write->length_bytes;
	const uint32_t reth = first ? O2_RETH_BYTES : 0, pad = pad_of(count);
	uint8_t *extension = packet->bytes + AT_EXTENSION;

	put_network(packet, from->address, to->address, O2_BTH_BYTES + reth + count + pad + O2_ICRC_BYTES);
	put_bth(packet, write_operation(first, last), pad, to->qp, from->psn);
	if (first) {
		o2_store64(extension + O2_RETH_AT_VA, O2_BIG_ENDIAN, write->addr);
		o2_store32(extension + O2_RETH_AT_RKEY, O2_BIG_ENDIAN, write->rkey);
		o2_store32(extension + O2_RETH_AT_LENGTH, O2_BIG_ENDIAN, (uint32_t)write->length_bytes);
	}
	packet->seen_bytes = AT_EXTENSION + reth;
	o2_packet_skip(from, 1);
}

/* --- the connection manager --- */

static void put_private(uint8_t *data, size_t at, const uint8_t *bytes, size_t count)
{
	if (count > 0)
		memcpy(data + at, bytes, count < O2_MAD_DATA_BYTES - at ? count : O2_MAD_DATA_BYTES - at);
}

/* Write the addresses, which stand in front of the private data. */
static void put_ip_cm(uint8_t *header, const struct o2_packet_end *from, const struct o2_packet_end *to)
{
	header[1] = 0x40;
	store16_be(header + 2, UDP_PORT_FROM);
	o2_store32(header + 16, O2_BIG_ENDIAN, from->address);
	o2_store32(header + 32, O2_BIG_ENDIAN, to->address);
}

static void put_request(uint8_t *data, const struct o2_packet_end *from, const struct o2_packet_end *to,
			uint16_t port, const uint8_t *bytes, size_t count)
{
	o2_store64(data + O2_CM_REQ_AT_SERVICE_ID, O2_BIG_ENDIAN, O2_RDMA_SERVICE_TCP | port);
	o2_store32(data + O2_CM_REQ_AT_QP, O2_BIG_ENDIAN, from->qp << 8);
	o2_store32(data + O2_CM_REQ_AT_PSN, O2_BIG_ENDIAN, 0);
	put_ip_cm(data + O2_CM_REQ_AT_PRIVATE, from, to);
	put_private(data, O2_CM_REQ_AT_PRIVATE + O2_IP_CM_BYTES, bytes, count);
}

void o2_packet_cm(struct o2_packet *packet, enum o2_cm_kind kind, const struct o2_packet_end *from,
		  const struct o2_packet_end *to, uint16_t port, const uint8_t *private_data,
		  size_t private_bytes)
{
	uint8_t *deth = packet->bytes + AT_EXTENSION, *mad = deth + O2_DETH_BYTES,
		*data = mad + O2_MAD_AT_DATA;

	put_network(packet, from->address, to->address,
		    O2_BTH_BYTES + O2_DETH_BYTES + O2_MAD_BYTES + O2_ICRC_BYTES);
	put_bth(packet, O2_SERVICE_UD << O2_SERVICE_SHIFT | O2_OPERATION_SEND_ONLY, 0, O2_GSI_QP, 0);
	memset(deth, 0, O2_DETH_BYTES + O2_MAD_BYTES + O2_ICRC_BYTES);
	o2_store32(deth + O2_DETH_AT_QKEY, O2_BIG_ENDIAN, GSI_QKEY);
	o2_store32(deth + O2_DETH_AT_QP, O2_BIG_ENDIAN, O2_GSI_QP);
	mad[0] = 1; /* version of the datagram */
	mad[O2_MAD_AT_CLASS] = O2_MAD_CLASS_CM;
	mad[2] = 2; /* version of the class */
	mad[3] = 3; /* Send */
	o2_store32(mad + O2_MAD_AT_TRANSACTION, O2_BIG_ENDIAN, from->cm_id);
	store16_be(mad + O2_MAD_AT_ATTRIBUTE, kind);
	o2_store32(data + O2_CM_AT_LOCAL_ID, O2_BIG_ENDIAN, from->cm_id);
	if (kind == O2_CM_REQ) {
		put_request(data, from, to, port, private_data, private_bytes);
		return;
	}
	o2_store32(data + O2_CM_AT_REMOTE_ID, O2_BIG_ENDIAN, to->cm_id);
	if (kind == O2_CM_REP) {
		o2_store32(data + O2_CM_REP_AT_QP, O2_BIG_ENDIAN, from->qp << 8);
		o2_store32(data + O2_CM_REP_AT_PSN, O2_BIG_ENDIAN, 0);
		put_private(data, O2_CM_REP_AT_PRIVATE, private_data, private_bytes);
	} else if (kind == O2_CM_REJ) {
		store16_be(data + O2_CM_REJ_AT_REASON, O2_CM_REASON_CONSUMER);
		put_private(data, O2_CM_REJ_AT_PRIVATE, private_data, private_bytes);
	}
}

/* --- pcapng, little-endian --- */

#define BLOCK_SECTION	0x0a0d0d0au
#define BLOCK_INTERFACE 1u
#define BLOCK_PACKET	6u
#define BYTE_ORDER	0x1a2b3c4du
#define OPTION_TSRESOL	9u
#define SECTION_BYTES	28u
#define INTERFACE_BYTES 32u
#define PACKET_FIXED	32u

static_assert(SECTION_BYTES + INTERFACE_BYTES <= O2_PCAPNG_HEAD_BYTES, "the head has room");

size_t o2_pcapng_head(uint8_t bytes[O2_PCAPNG_HEAD_BYTES])
{
	uint8_t *interface = bytes + SECTION_BYTES;

	memset(bytes, 0, O2_PCAPNG_HEAD_BYTES);
	o2_store32(bytes, O2_LITTLE_ENDIAN, BLOCK_SECTION);
	o2_store32(bytes + 4, O2_LITTLE_ENDIAN, SECTION_BYTES);
	o2_store32(bytes + 8, O2_LITTLE_ENDIAN, BYTE_ORDER);
	o2_store16(bytes + 12, O2_LITTLE_ENDIAN, 1);	      /* version 1.0 */
	o2_store64(bytes + 16, O2_LITTLE_ENDIAN, UINT64_MAX); /* the section's length is not given */
	o2_store32(bytes + 24, O2_LITTLE_ENDIAN, SECTION_BYTES);
	o2_store32(interface, O2_LITTLE_ENDIAN, BLOCK_INTERFACE);
	o2_store32(interface + 4, O2_LITTLE_ENDIAN, INTERFACE_BYTES);
	o2_store16(interface + 8, O2_LITTLE_ENDIAN, DLT_EN10MB);
	o2_store32(interface + 12, O2_LITTLE_ENDIAN, O2_PACKET_BYTES);
	o2_store16(interface + 16, O2_LITTLE_ENDIAN, OPTION_TSRESOL);
	o2_store16(interface + 18, O2_LITTLE_ENDIAN, 1);
	interface[20] = 9; /* nanoseconds; an option's value is padded, and four zeros end the list */
	o2_store32(interface + 28, O2_LITTLE_ENDIAN, INTERFACE_BYTES);
	return SECTION_BYTES + INTERFACE_BYTES;
}

void o2_pcapng_packet(const struct o2_packet *packet, uint64_t time_ns, struct o2_pcapng_block *block)
{
	const uint32_t pad = pad_of(packet->seen_bytes);
	const uint32_t total = PACKET_FIXED + (uint32_t)packet->seen_bytes + pad;

	memset(block, 0, sizeof(*block));
	o2_store32(block->head, O2_LITTLE_ENDIAN, BLOCK_PACKET);
	o2_store32(block->head + 4, O2_LITTLE_ENDIAN, total);
	o2_store32(block->head + 12, O2_LITTLE_ENDIAN, (uint32_t)(time_ns >> 32));
	o2_store32(block->head + 16, O2_LITTLE_ENDIAN, (uint32_t)time_ns);
	o2_store32(block->head + 20, O2_LITTLE_ENDIAN, (uint32_t)packet->seen_bytes);
	o2_store32(block->head + 24, O2_LITTLE_ENDIAN, (uint32_t)packet->length_bytes);
	block->head_bytes = sizeof(block->head);
	o2_store32(block->tail + pad, O2_LITTLE_ENDIAN, total);
	block->tail_bytes = pad + 4;
}
