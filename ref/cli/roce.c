/* SPDX-License-Identifier: MIT */
#include "cli/roce.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include "cli/frame.h"
#include "cli/roce_layout.h"
#include "wire/bytes.h"

#define AETH_BYTES	4u
#define IMMDT_BYTES	4u
#define ATOMICETH_BYTES 28u
#define ATOMICACK_BYTES 8u

/*
 * What an opcode means.  Source: the InfiniBand architecture specification, volume 1, "Base transport
 * header".
 */
struct opcode {
	uint8_t code; /* O2_OPERATION_.. */
	enum o2_roce_kind kind;
	bool first, last;
	uint8_t extra_bytes; /* of headers after the base transport header */
};

static const struct opcode opcodes[] = {
	{O2_OPERATION_SEND_FIRST, O2_ROCE_SEND, true, false, 0},
	{O2_OPERATION_SEND_MIDDLE, O2_ROCE_SEND, false, false, 0},
	{O2_OPERATION_SEND_LAST, O2_ROCE_SEND, false, true, 0},
	{0x03, O2_ROCE_SEND, false, true, IMMDT_BYTES},
	{O2_OPERATION_SEND_ONLY, O2_ROCE_SEND, true, true, 0},
	{0x05, O2_ROCE_SEND, true, true, IMMDT_BYTES},
	{O2_OPERATION_WRITE_FIRST, O2_ROCE_WRITE, true, false, O2_RETH_BYTES},
	{O2_OPERATION_WRITE_MIDDLE, O2_ROCE_WRITE, false, false, 0},
	{O2_OPERATION_WRITE_LAST, O2_ROCE_WRITE, false, true, 0},
	{0x09, O2_ROCE_WRITE, false, true, IMMDT_BYTES},
	{O2_OPERATION_WRITE_ONLY, O2_ROCE_WRITE, true, true, O2_RETH_BYTES},
	{0x0b, O2_ROCE_WRITE, true, true, O2_RETH_BYTES + IMMDT_BYTES},
	{0x0c, O2_ROCE_READ, true, true, O2_RETH_BYTES},
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

static const struct opcode *opcode_of(uint8_t code)
{
	const unsigned int service = code >> O2_SERVICE_SHIFT;

	if (service != O2_SERVICE_RC && service != O2_SERVICE_UD)
		return NULL;
	for (size_t i = 0; i < sizeof(opcodes) / sizeof(opcodes[0]); i++)
		if (opcodes[i].code == (code & O2_OPERATION))
			return &opcodes[i];
	return NULL;
}

static void read_extra(const struct opcode *opcode, const uint8_t *extra, struct o2_roce_packet *packet)
{
	const bool has_reth =
		opcode->first && (packet->kind == O2_ROCE_WRITE || packet->kind == O2_ROCE_READ);

	if (has_reth) {
		packet->va = o2_load64(extra + O2_RETH_AT_VA, O2_BIG_ENDIAN);
		packet->rkey = o2_load32_be(extra + O2_RETH_AT_RKEY);
		packet->dma_bytes = o2_load32_be(extra + O2_RETH_AT_LENGTH);
	}
	if (packet->kind == O2_ROCE_ACK)
		packet->syndrome = extra[0];
}

static enum o2_roce_verdict read_transport(struct o2_span *span, struct o2_roce_packet *packet)
{
	const uint8_t *bth = o2_span_take(span, O2_BTH_BYTES), *extra;
	const struct opcode *opcode;
	size_t extra_bytes, tail_bytes;

	if (bth == NULL)
		return o2_span_short_of(span, O2_BTH_BYTES);
	packet->opcode = bth[O2_BTH_AT_OPCODE];
	packet->datagram = packet->opcode >> O2_SERVICE_SHIFT == O2_SERVICE_UD;
	packet->dest_qp = o2_load32_be(bth + O2_BTH_AT_QP) & O2_24_BITS;
	packet->psn = o2_load32_be(bth + O2_BTH_AT_PSN) & O2_24_BITS;
	packet->kind = O2_ROCE_OTHER;
	opcode = opcode_of(packet->opcode);
	if (opcode == NULL)
		return O2_ROCE_PACKET;
	packet->kind = opcode->kind;
	packet->first = opcode->first;
	packet->last = opcode->last;
	extra_bytes = opcode->extra_bytes + (packet->datagram ? O2_DETH_BYTES : 0);
	tail_bytes = O2_ICRC_BYTES + (bth[O2_BTH_AT_FLAGS] >> O2_BTH_PAD_SHIFT & O2_BTH_PAD_MAX);
	if (span->length_bytes < extra_bytes + tail_bytes)
		return O2_ROCE_MALFORMED;
	extra = o2_span_take(span, extra_bytes);
	if (extra == NULL)
		return O2_ROCE_CUT;
	read_extra(opcode, extra + (packet->datagram ? O2_DETH_BYTES : 0), packet);
	packet->payload = span->bytes;
	packet->payload_bytes = span->length_bytes - tail_bytes;
	packet->seen_bytes =
		span->seen_bytes < packet->payload_bytes ? span->seen_bytes : packet->payload_bytes;
	return O2_ROCE_PACKET;
}

enum o2_roce_verdict o2_roce_parse(const struct o2_frame *frame, struct o2_roce_packet *packet)
{
	struct o2_span span;
	enum o2_roce_verdict verdict;

	memset(packet, 0, sizeof(*packet));
	verdict = o2_frame_pass(frame, &span, packet);
	return verdict == O2_ROCE_PACKET ? read_transport(&span, packet) : verdict;
}

bool o2_roce_psn_behind(uint32_t psn, uint32_t other)
{
	return ((psn - other) & O2_24_BITS) > O2_24_BITS / 2;
}

bool o2_roce_address_same(const struct o2_roce_address *a, const struct o2_roce_address *b)
{
	return a->family_bytes == b->family_bytes && memcmp(a->bytes, b->bytes, sizeof(a->bytes)) == 0;
}

void o2_roce_address_text(const struct o2_roce_address *address, char text[O2_ROCE_ADDRESS_TEXT_BYTES])
{
	const int family = address->family_bytes == 4 ? AF_INET : AF_INET6;

	if (address->family_bytes == 2)
		snprintf(text, O2_ROCE_ADDRESS_TEXT_BYTES, "lid %u",
			 o2_load16(address->bytes, O2_BIG_ENDIAN));
	else if (inet_ntop(family, address->bytes, text, O2_ROCE_ADDRESS_TEXT_BYTES) == NULL)
		strcpy(text, "?");
}
