/* SPDX-License-Identifier: MIT */
#include "fuzz/wire_fields.h"

#include "base/limits.h"
#include "wire/layout.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

#define FIELD(part, at, width, kind, order)  \
	{                                    \
		part, at, width, kind, order \
	}
#define HEADER(at, width, kind)	     FIELD(O2_PART_HEADER, at, width, kind, O2_SPOT_SENDER)
#define LNET(at, width, kind, order) FIELD(O2_PART_LNET_HDR, O2_AT_LNET_HDR + (at), width, kind, order)
#define COOKIE(part, at)	     FIELD(part, at, 8, O2_SPOT_NUMBER, O2_SPOT_OPAQUE)

/* The longest body with fixed offsets ends here, so that offsets fit into a byte. */
_Static_assert(O2_AT_GET_REQ_DESC <= UINT8_MAX, "o2_spot.at");

static const struct o2_spot fields[] = {
	HEADER(O2_AT_MAGIC, 4, O2_SPOT_MAGIC),
	HEADER(O2_AT_VERSION, 2, O2_SPOT_VERSION),
	HEADER(O2_AT_TYPE, 1, O2_SPOT_TYPE),
	HEADER(O2_AT_CREDITS, 1, O2_SPOT_NUMBER),
	HEADER(O2_AT_NOB, 4, O2_SPOT_NOB),
	HEADER(O2_AT_CKSUM, 4, O2_SPOT_CKSUM),
	HEADER(O2_AT_SRCNID, 8, O2_SPOT_NID),
	HEADER(O2_AT_SRCSTAMP, 8, O2_SPOT_NUMBER),
	HEADER(O2_AT_DSTNID, 8, O2_SPOT_NID),
	HEADER(O2_AT_DSTSTAMP, 8, O2_SPOT_NUMBER),

	FIELD(O2_PART_CONNPARAMS, O2_AT_QUEUE_DEPTH, 2, O2_SPOT_NUMBER, O2_SPOT_SENDER),
	FIELD(O2_PART_CONNPARAMS, O2_AT_MAX_FRAGS, 2, O2_SPOT_NFRAGS, O2_SPOT_SENDER),
	FIELD(O2_PART_CONNPARAMS, O2_AT_MAX_MSG_SIZE, 4, O2_SPOT_NOB, O2_SPOT_SENDER),

	LNET(O2_LNET_AT_DEST_NID, 8, O2_SPOT_NID, O2_SPOT_LITTLE),
	LNET(O2_LNET_AT_SRC_NID, 8, O2_SPOT_NID, O2_SPOT_LITTLE),
	LNET(O2_LNET_AT_TYPE, 4, O2_SPOT_LNET_TYPE, O2_SPOT_LITTLE),
	LNET(O2_LNET_AT_PAYLOAD_LENGTH, 4, O2_SPOT_BYTES, O2_SPOT_LITTLE),
	LNET(O2_LNET_AT_UNION, 8, O2_SPOT_NUMBER, O2_SPOT_OPAQUE),
	LNET(O2_LNET_AT_UNION + 32, 8, O2_SPOT_NUMBER, O2_SPOT_LITTLE),

	COOKIE(O2_PART_REQUEST, O2_AT_PUT_REQ_COOKIE),
	COOKIE(O2_PART_COOKIES, O2_AT_SRC_COOKIE),
	COOKIE(O2_PART_COOKIES, O2_AT_DST_COOKIE),
	COOKIE(O2_PART_COMPLETION, O2_AT_COMPLETION_COOKIE),
	FIELD(O2_PART_COMPLETION, O2_AT_STATUS, 4, O2_SPOT_BYTES, O2_SPOT_SENDER),

	FIELD(O2_PART_DESC, O2_DESC_AT_KEY, 4, O2_SPOT_NUMBER, O2_SPOT_SENDER),
	FIELD(O2_PART_DESC, O2_DESC_AT_NFRAGS, 4, O2_SPOT_NFRAGS, O2_SPOT_SENDER),

	FIELD(O2_PART_FRAG, O2_FRAG_AT_NOB, 4, O2_SPOT_BYTES, O2_SPOT_SENDER),
	FIELD(O2_PART_FRAG, O2_FRAG_AT_ADDR, 8, O2_SPOT_ADDR, O2_SPOT_SENDER),
};

const struct o2_spot *o2_spot_next(unsigned int parts, const struct o2_spot *field)
{
	for (field = field == NULL ? fields : field + 1; field < fields + COUNT(fields); field++)
		if ((field->part & parts) != 0)
			return field;
	return NULL;
}

const struct o2_spot *o2_spot_pick(unsigned int parts, uint64_t n)
{
	const struct o2_spot *field = NULL;
	size_t count = 0;

	while ((field = o2_spot_next(parts, field)) != NULL)
		count++;
	if (count == 0)
		return NULL;
	for (uint64_t i = 0; i <= n % count; i++)
		field = o2_spot_next(parts, field);
	return field;
}

unsigned int o2_parts_of(uint8_t type)
{
	switch (type) {
	case O2_MSG_CONNREQ:
	case O2_MSG_CONNACK:
		return O2_PART_HEADER | O2_PART_CONNPARAMS;
	case O2_MSG_IMMEDIATE:
		return O2_PART_HEADER | O2_PART_LNET_HDR;
	case O2_MSG_PUT_REQ:
	case O2_MSG_GET_REQ:
		return O2_PART_HEADER | O2_PART_LNET_HDR | O2_PART_REQUEST;
	case O2_MSG_PUT_ACK:
		return O2_PART_HEADER | O2_PART_COOKIES;
	case O2_MSG_PUT_NAK:
	case O2_MSG_PUT_DONE:
	case O2_MSG_GET_DONE:
		return O2_PART_HEADER | O2_PART_COMPLETION;
	default:
		return O2_PART_HEADER;
	}
}

size_t o2_desc_start(uint8_t type)
{
	return type == O2_MSG_PUT_ACK ? O2_AT_PUT_ACK_DESC : type == O2_MSG_GET_REQ ? O2_AT_GET_REQ_DESC : 0;
}

size_t o2_fixed_bytes(uint8_t type)
{
	const struct o2_spot *field = NULL;
	const unsigned int parts = o2_parts_of(type);
	size_t end = O2_MSG_HEADER_BYTES;

	if (o2_desc_start(type) != 0)
		return o2_desc_start(type) + O2_DESC_AT_FRAGS;
	while ((field = o2_spot_next(parts, field)) != NULL)
		if ((size_t)field->at + field->width > end)
			end = (size_t)field->at + field->width;
	return end;
}

/* The o2ib type and network 0, the high bits of a NID. */
#define O2IB 0x0005000000000000u
#define MIB  O2_MAX_TRANSFER_BYTES

uint64_t o2_spot_edge(enum o2_spot_kind kind, uint64_t pick)
{
	static const uint64_t numbers[] = {0,	      1,	   UINT8_MAX,  INT16_MAX, UINT16_MAX,
					   INT32_MAX, 0x80000000u, UINT32_MAX, INT64_MAX, UINT64_MAX};
	static const uint64_t magics[] = {O2_MSG_MAGIC, O2_MSG_MAGIC ^ 1, 0x45726963};
	static const uint64_t versions[] = {0, 1, 0x10, 0x11, 0x12, 0x13, 0x1100, 0x1200};
	static const uint64_t types[] = {0xc0, 0xc1, 0xd0, 0xd1, 0xd2, 0xd3, 0xd4, 0xd5,
					 0xd6, 0xd7, 0,	   0xbf, 0xc2, 0xcf, 0xd8, 0xff};
	static const uint64_t nobs[] = {0,    47,	  48,	     49,	  55,	     56,   59,
					60,   71,	  72,	     119,	  120,	     127,  128,
					135,  136,	  3156,	     3220,	  4095,	     4096, 4097,
					8192, UINT16_MAX, INT32_MAX, 0x80000000u, UINT32_MAX};
	static const uint64_t nids[] = {O2IB | 0xc0a80a01,
					O2IB | 0xc0a80a02,
					O2IB | 0x700000000 | 1,
					O2IB,
					O2IB | UINT32_MAX,
					0x00020000c0a80a01,
					0x00090000c0a80a01,
					0x00ff0000c0a80a01,
					0x01050000c0a80a01,
					0x80050000c0a80a01,
					0,
					UINT64_MAX,
					UINT64_MAX - 1,
					0x0002000000000000};
	static const uint64_t lnet_types[] = {0, 1, 2, 3, 4, 5, 31, 32, 33, 0x01000000, UINT32_MAX};
	static const uint64_t bytes[] = {0,    1,    4096, 65536,     MIB - 1,	   MIB,	       MIB + 1,
					 3975, 3976, 3977, INT32_MAX, 0x80000000u, UINT32_MAX, (uint64_t)-61};
	static const uint64_t counts[] = {0,   1,     2,	 255,	      256,	 257,
					  258, 65535, INT32_MAX, 0x80000000u, UINT32_MAX};
	static const uint64_t addresses[] = {0,
					     1,
					     4095,
					     4096,
					     INT64_MAX,
					     UINT64_MAX - MIB,
					     UINT64_MAX - 4096,
					     UINT64_MAX - 4095,
					     UINT64_MAX - 1,
					     UINT64_MAX};

	static const struct {
		const uint64_t *value;
		size_t count;
	} edges[] = {
		[O2_SPOT_NUMBER] = {numbers, COUNT(numbers)},
		[O2_SPOT_MAGIC] = {magics, COUNT(magics)},
		[O2_SPOT_VERSION] = {versions, COUNT(versions)},
		[O2_SPOT_TYPE] = {types, COUNT(types)},
		[O2_SPOT_NOB] = {nobs, COUNT(nobs)},
		[O2_SPOT_CKSUM] = {numbers, COUNT(numbers)},
		[O2_SPOT_NID] = {nids, COUNT(nids)},
		[O2_SPOT_LNET_TYPE] = {lnet_types, COUNT(lnet_types)},
		[O2_SPOT_BYTES] = {bytes, COUNT(bytes)},
		[O2_SPOT_NFRAGS] = {counts, COUNT(counts)},
		[O2_SPOT_ADDR] = {addresses, COUNT(addresses)},
	};

	return edges[kind].value[pick % edges[kind].count];
}
