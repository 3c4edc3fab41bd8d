/* SPDX-License-Identifier: MIT */
#include <stddef.h>
#include <string.h>

#include "wire.h"

/* The tables of docs/wire.md, "Header", "Bodies" and "LNet header". */

#define MEMBER(name) offsetof(struct o2_impl_msg, name), sizeof(((struct o2_impl_msg *)0)->name)
#define SENDER(at, name)            \
	{                           \
		at, MEMBER(name), 0 \
	}
#define LITTLE(at, name)            \
	{                           \
		at, MEMBER(name), 1 \
	}
#define VARIANT(at, name) LITTLE(LNET_VARIANT + at, hdr.name)
#define FIELDS(array)                                     \
	{                                                 \
		array, sizeof(array) / sizeof((array)[0]) \
	}

#define LNET_COMMON                                                                  \
	LITTLE(48, hdr.dest_nid), LITTLE(56, hdr.src_nid), LITTLE(64, hdr.dest_pid), \
		LITTLE(68, hdr.src_pid), LITTLE(72, hdr.type), LITTLE(76, hdr.payload_length)

static const struct field header[] = {
	SENDER(4, ibm_version), SENDER(6, ibm_type),	  SENDER(7, ibm_credits), SENDER(8, ibm_nob),
	SENDER(16, ibm_srcnid), SENDER(24, ibm_srcstamp), SENDER(32, ibm_dstnid), SENDER(40, ibm_dststamp),
};
static const struct field connparams[] = {SENDER(48, ibcp_queue_depth), SENDER(50, ibcp_max_frags),
					  SENDER(52, ibcp_max_msg_size)};
static const struct field immediate[] = {LNET_COMMON};
static const struct field request[] = {LNET_COMMON, LITTLE(120, cookie)};
static const struct field put_ack[] = {LITTLE(48, ibpam_src_cookie), LITTLE(56, ibpam_dst_cookie),
				       SENDER(64, rd.rd_key), SENDER(68, rd.rd_nfrags)};
static const struct field get_req[] = {LNET_COMMON, LITTLE(120, cookie), SENDER(128, rd.rd_key),
				       SENDER(132, rd.rd_nfrags)};
static const struct field completion[] = {LITTLE(48, cookie), SENDER(56, ibcm_status)};

static const struct field ack[] = {VARIANT(0, wmd_interface_cookie), VARIANT(8, wmd_object_cookie),
				   VARIANT(16, match_bits), VARIANT(24, mlength)};
static const struct field put[] = {VARIANT(0, wmd_interface_cookie), VARIANT(8, wmd_object_cookie),
				   VARIANT(16, match_bits),	     VARIANT(24, hdr_data),
				   VARIANT(32, ptl_index),	     VARIANT(36, offset)};
static const struct field get[] = {VARIANT(0, wmd_interface_cookie), VARIANT(8, wmd_object_cookie),
				   VARIANT(16, match_bits),	     VARIANT(24, ptl_index),
				   VARIANT(28, src_offset),	     VARIANT(32, sink_length)};
static const struct field reply[] = {VARIANT(0, wmd_interface_cookie), VARIANT(8, wmd_object_cookie)};

const struct fields header_fields = FIELDS(header);

enum { ACK = 1 << 0, PUT = 1 << 1, GET = 1 << 2, REPLY = 1 << 3 };

const struct layout *layout_of(uint8_t ibm_type)
{
	static const struct layout connection[] = {
		{"connreq", 56, FIELDS(connparams), 0, 0, false},
		{"connack", 56, FIELDS(connparams), 0, 0, false},
	};
	static const struct layout data[] = {
		{"noop", 48, {NULL, 0}, 0, 0, false},
		{"immediate", 120, FIELDS(immediate), ACK | PUT | GET | REPLY, 0, false},
		{"put_req", 128, FIELDS(request), PUT | REPLY, 0, false},
		{"put_nak", 60, FIELDS(completion), 0, 0, true},
		{"put_ack", 72, FIELDS(put_ack), 0, 64, false},
		{"put_done", 60, FIELDS(completion), 0, 0, true},
		{"get_req", 136, FIELDS(get_req), GET, 128, false},
		{"get_done", 60, FIELDS(completion), 0, 0, true},
	};

	if (ibm_type >= 0xc0 && ibm_type <= 0xc1)
		return &connection[ibm_type - 0xc0];
	if (ibm_type >= 0xd0 && ibm_type <= 0xd7)
		return &data[ibm_type - 0xd0];
	return NULL;
}

struct fields variant_of(uint32_t lnet_type)
{
	static const struct fields variant[] = {FIELDS(ack), FIELDS(put), FIELDS(get), FIELDS(reply)};

	return lnet_type < 4 ? variant[lnet_type] : (struct fields){NULL, 0};
}

uint64_t load(const uint8_t *bytes, uint32_t count, bool big_endian)
{
	uint64_t value = 0;

	for (uint32_t i = 0; i < count; i++)
		value = value << 8 | bytes[big_endian ? i : count - 1 - i];
	return value;
}

void store(uint8_t *bytes, uint32_t count, bool big_endian, uint64_t value)
{
	for (uint32_t i = 0; i < count; i++, value >>= 8)
		bytes[big_endian ? count - 1 - i : i] = (uint8_t)value;
}

void load_fields(struct fields fields, const uint8_t *bytes, struct o2_impl_msg *msg)
{
	for (const struct field *field = fields.field; field < fields.field + fields.count; field++) {
		uint64_t value = load(bytes + field->wire, field->bytes, msg->big_endian && !field->little);
		char *member = (char *)msg + field->member;

		switch (field->bytes) {
		case 1:
			*(uint8_t *)member = (uint8_t)value;
			break;
		case 2:
			memcpy(member, &(uint16_t){(uint16_t)value}, 2);
			break;
		case 4:
			memcpy(member, &(uint32_t){(uint32_t)value}, 4);
			break;
		default:
			memcpy(member, &value, 8);
		}
	}
}

void store_fields(struct fields fields, const struct o2_impl_msg *msg, uint8_t *bytes)
{
	for (const struct field *field = fields.field; field < fields.field + fields.count; field++) {
		const char *member = (const char *)msg + field->member;
		uint64_t value = 0;
		uint32_t four;
		uint16_t two;

		switch (field->bytes) {
		case 1:
			value = *(const uint8_t *)member;
			break;
		case 2:
			memcpy(&two, member, 2);
			value = two;
			break;
		case 4:
			memcpy(&four, member, 4);
			value = four;
			break;
		default:
			memcpy(&value, member, 8);
		}
		store(bytes + field->wire, field->bytes, msg->big_endian && !field->little, value);
	}
}

struct sums checksums(const uint8_t *bytes, uint32_t nob)
{
	struct sums sums = {0, 0};

	for (uint32_t i = 0; i < nob; i++) {
		uint32_t byte = i >= 12 && i < 16 ? 0 : bytes[i];

		sums.plain = (sums.plain << 1 | sums.plain >> 31) + byte;
		sums.with_sign =
			(sums.with_sign << 1 | sums.with_sign >> 31) + byte - (byte >= 0x80 ? 0x100 : 0);
	}
	sums.plain += sums.plain == 0;
	sums.with_sign += sums.with_sign == 0;
	return sums;
}
